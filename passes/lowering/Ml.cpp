//===- Ml.cpp - ai.onnx.ml: preprocessing, labels and shared parts --------===//
#include "optc/passes/lowering/Ml.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "optc/passes/lowering/Pointwise.h"

using namespace mlir;
using namespace optc;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

template <typename T> static Value denseConstant(Lowering &l, ArrayRef<T> values, Type elem) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, elem);
  return arith::ConstantOp::create(l.b, l.loc, DenseElementsAttr::get(type, values));
}
Value optc::constantOf(Lowering &l, ArrayRef<int64_t> values) { return denseConstant(l, values, l.b.getI64Type()); }
Value optc::constantOf(Lowering &l, ArrayRef<float> values) { return denseConstant(l, values, l.b.getF32Type()); }
Value optc::constantOf(Lowering &l, ArrayRef<double> values) { return denseConstant(l, values, l.b.getF64Type()); }

Value optc::constantOf(Lowering &l, ArrayAttr strings) {
  SmallVector<StringRef> values;
  for (auto s : strings.getAsRange<StringAttr>())
    values.push_back(s.getValue());
  return stringConstant(l, values, {static_cast<int64_t>(values.size())});
}

FailureOr<SmallVector<double>> optc::readNumbers(ElementsAttr attr) {
  SmallVector<double> out;
  Type elem = attr.getElementType();
  ArrayRef<char> raw;
  bool splat = false;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      raw = blob->getData();
  } else if (auto dense = dyn_cast<DenseElementsAttr>(attr);
             dense && elem.isIntOrFloat() && elem.getIntOrFloatBitWidth() >= 8) {
    raw = dense.getRawData();
    splat = dense.isSplat();
  }
  int64_t count = attr.getNumElements(), width = elem.isIntOrFloat() ? elem.getIntOrFloatBitWidth() / 8 : 0;
  if (!width || static_cast<int64_t>(raw.size()) < (splat ? 1 : count) * width)
    return failure();
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    memcpy(&bits, raw.data() + (splat ? 0 : i * width), width);
    APInt value(width * 8, bits);
    if (auto f = dyn_cast<FloatType>(elem)) {
      APFloat number(f.getFloatSemantics(), value);
      bool loses;
      number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
      out.push_back(number.convertToDouble());
    } else {
      out.push_back(elem.isUnsignedInteger() ? value.roundToDouble(false) : value.roundToDouble(true));
    }
  }
  return out;
}

//===----------------------------------------------------------------------===//
// Scores and labels
//===----------------------------------------------------------------------===//

FailureOr<Lowering::Input> optc::rowsOf(Operation *op, Lowering &l, Value x) {
  if (failed(requireRanked(op, l)))
    return failure();
  Lowering::Input in = l.input(x);
  if (in.dims.size() == 1) {
    in.dims.insert(in.dims.begin(), l.shapes.constant(1));
    in.lowered = l.view(in.lowered, in.elem, in.dims);
  }
  if (in.dims.size() != 2 || isString(in.elem))
    return unsupported(op,
                       "an input of rank " + Twine(in.dims.size()) + "; supported are numeric tensors [N, C] and [C]");
  return in;
}

namespace {
/// One score, given the largest of its row; softmax kinds are divided by the sum afterwards.
using ScoreFn = Value (*)(const ScalarOps &s, Value x, Value largest);
struct PostTransform {
  StringRef name;
  ScoreFn score;
  bool divide;
};
} // namespace

static Value logistic(const ScalarOps &s, Value x, Value) {
  Value one = s.constant(1), e = math::ExpOp::create(s.b, s.loc, s.neg(math::AbsFOp::create(s.b, s.loc, x)));
  Value v = s.div(one, s.add(one, e));
  return s.select(s.lt(x, s.constant(0)), s.sub(one, v), v);
}
static Value softmaxTerm(const ScalarOps &s, Value x, Value largest) {
  return math::ExpOp::create(s.b, s.loc, s.sub(x, largest));
}
static Value softmaxZeroTerm(const ScalarOps &s, Value x, Value largest) {
  Value isZero = s.le(math::AbsFOp::create(s.b, s.loc, x), s.constant(0.0000001));
  return s.select(isZero, s.mul(x, math::ExpOp::create(s.b, s.loc, s.neg(largest))), softmaxTerm(s, x, largest));
}
/// sqrt(2) times an approximation of the inverse error function, the one that ONNX's reference uses.
static Value probit(const ScalarOps &s, Value p, Value) {
  Value one = s.constant(1), x = s.sub(s.mul(p, s.constant(2)), one);
  Value rest = s.mul(s.sub(one, x), s.add(one, x));
  Value log = math::LogOp::create(s.b, s.loc, rest);
  Value v = s.add(s.constant(2.0 / (3.14159265358979323846 * 0.147)), s.mul(s.constant(0.5), log));
  Value inner = math::SqrtOp::create(s.b, s.loc, s.sub(s.mul(v, v), s.mul(s.constant(1.0 / 0.147), log)));
  Value root = math::SqrtOp::create(s.b, s.loc, s.sub(inner, v));
  root = s.select(s.lt(x, s.constant(0)), s.neg(root), root);
  root = s.select(s.eq(rest, s.constant(0)), s.constant(0), root);
  return s.mul(s.constant(1.41421356), root);
}

static const PostTransform postTransforms[] = {{"NONE", nullptr, false},
                                               {"SOFTMAX", softmaxTerm, true},
                                               {"LOGISTIC", logistic, false},
                                               {"SOFTMAX_ZERO", softmaxZeroTerm, true},
                                               {"PROBIT", probit, false}};

FailureOr<Value> optc::postTransform(Operation *op, Lowering &l, const Lowering::Input &scores, StringRef kind) {
  const PostTransform *found = llvm::find_if(postTransforms, [&](auto &t) { return t.name == kind; });
  if (found == std::end(postTransforms))
    return unsupported(op, "attribute post_transform \"" + kind +
                               "\"; supported are NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO and PROBIT");
  if (!found->score)
    return scores.lowered;
  Type elem = scores.elem;
  SmallVector<Dim> rows{scores.dims[0]}, column{scores.dims[0], l.shapes.constant(1)};
  auto fold = [&](StringRef label, const Lowering::Input &in, Value init,
                  Value (ScalarOps::*combine)(Value, Value) const) {
    Value folded = l.reduce(
        label, in, {1}, elem, init, [](OpBuilder &, Location, Value x) { return x; },
        [&](OpBuilder &b, Location loc, Value a, Value x) { return (ScalarOps{b, loc, elem}.*combine)(a, x); });
    return Lowering::Input{l.view(folded, elem, column), elem, column};
  };
  ScalarOps host{l.b, l.loc, elem};
  SmallVector<Lowering::Input> inputs{scores};
  if (found->divide)
    inputs.push_back(fold("row_max", scores, host.lowest(), &ScalarOps::max));
  Value terms = l.elementwise(inputs, elem, scores.dims, [&](OpBuilder &b, Location loc, ValueRange x) {
    return found->score(ScalarOps{b, loc, elem}, x[0], x.size() > 1 ? x[1] : Value());
  });
  if (!found->divide)
    return terms;
  Lowering::Input term{terms, elem, scores.dims};
  Lowering::Input sums = fold("row_sum", term, host.constant(0), &ScalarOps::add);
  return l.elementwise({term, sums}, elem, scores.dims, [&](OpBuilder &b, Location loc, ValueRange x) {
    ScalarOps s{b, loc, elem};
    return s.select(s.eq(x[1], s.constant(0)), s.constant(0.5), s.div(x[0], x[1]));
  });
}

Value optc::gatherStrings(Lowering &l, ArrayAttr strings, Value positions, ArrayRef<Dim> dims) {
  Type string = onnx::StringType::get(l.b.getContext()), i64 = l.b.getI64Type();
  return callLibrary(l, kernel::LibraryFn::string_gather, {constantOf(l, strings), positions}, {string, i64},
                     l.tensorType(string, dims), {string}, {/*axis=*/0})[0];
}

Value optc::bestLabels(Lowering &l, const Lowering::Input &scores, ArrayRef<int64_t> ints, ArrayAttr strings) {
  SmallVector<Dim> dims{scores.dims[0]};
  Value width = l.index(scores.dims[1]);
  Value labels = strings ? Value() : constantOf(l, ints);
  Value count = l.constIndex(strings ? strings.size() : ints.size());
  Type i64 = l.b.getI64Type();
  Value best = l.generate("best_label", i64, dims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    IndexBuilder m{b, loc};
    ScalarOps s{b, loc, scores.elem};
    auto loop = scf::ForOp::create(
        b, loc, m.cst(0), width, m.cst(1), ValueRange{m.cst(0), s.lowest()},
        [&](OpBuilder &b, Location loc, Value i, ValueRange carried) {
          ScalarOps s{b, loc, scores.elem};
          Value x = l.load(b, loc, scores.lowered, scores.elem, {at[0], i});
          Value better = s.lt(carried[1], x);
          scf::YieldOp::create(b, loc,
                               {IndexBuilder{b, loc}.select(better, i, carried[0]), s.select(better, x, carried[1])});
        });
    Value i = m.clamp(loop.getResult(0), m.cst(0), m.sub(count, m.cst(1)));
    return labels ? l.load(b, loc, labels, i64, i) : arith::IndexCastOp::create(b, loc, i64, i).getResult();
  });
  return strings ? gatherStrings(l, strings, best, dims) : best;
}

//===----------------------------------------------------------------------===//
// Preprocessing
//===----------------------------------------------------------------------===//

/// Element `column` of an attribute with one value per column, or one for all.
static Value perColumn(Lowering &l, OpBuilder &b, Location loc, Value values, int64_t count, Type elem, Value column) {
  IndexBuilder m{b, loc};
  return l.load(b, loc, values, elem, count == 1 ? m.cst(0) : m.min(column, m.cst(count - 1)));
}

static LogicalResult lowerBinarizer(Operation *o, Lowering &l) {
  auto op = cast<onnx::MLBinarizerOp>(o);
  Type elem = l.elem(op.getX());
  double threshold = op.getThreshold().convertToDouble();
  l.set(op.getY(), l.elementwise(op.getX(), elem, l.dims(op.getY()), [&](OpBuilder &b, Location loc, ValueRange x) {
    // Integers are compared as numbers, too: the threshold may lie between two of them.
    Type wide = isa<FloatType>(elem) ? elem : Type(b.getF64Type());
    ScalarOps s{b, loc, elem}, w{b, loc, wide};
    Value above = w.lt(w.constant(threshold), castScalar(b, loc, x[0], elem, wide));
    return s.select(above, s.constant(1), s.constant(0));
  }));
  return success();
}

static LogicalResult lowerScaler(Operation *o, Lowering &l) {
  auto op = cast<onnx::MLScalerOp>(o);
  SmallVector<float> offset = llvm::to_vector(orEmpty(op.getOffset())), scale = llvm::to_vector(orEmpty(op.getScale()));
  if (offset.empty())
    offset.push_back(0);
  if (scale.empty())
    scale.push_back(1);
  Value offsets = constantOf(l, offset), scales = constantOf(l, scale);
  Lowering::Input in = l.input(op.getX());
  if (in.dims.empty())
    return unsupported(op, "an input of rank 0");
  Type f32 = l.b.getF32Type();
  l.set(op.getY(), l.generate("scaler", f32, l.dims(op.getY()), [&](OpBuilder &b, Location loc, ValueRange at) {
    ScalarOps s{b, loc, f32};
    Value x = castScalar(b, loc, l.load(b, loc, in.lowered, in.elem, at), in.elem, f32);
    x = s.sub(x, perColumn(l, b, loc, offsets, offset.size(), f32, at.back()));
    return s.mul(x, perColumn(l, b, loc, scales, scale.size(), f32, at.back()));
  }));
  return success();
}

static LogicalResult lowerImputer(Operation *o, Lowering &l) {
  auto op = cast<onnx::MLImputerOp>(o);
  Lowering::Input in = l.input(op.getX());
  bool floats = isa<FloatType>(in.elem);
  ArrayRef<float> floatValues = orEmpty(op.getImputedValueFloats());
  ArrayRef<int64_t> intValues = orEmpty(op.getImputedValueInt64s());
  int64_t count = floats ? floatValues.size() : intValues.size();
  if (!count || in.dims.empty())
    return unsupported(op, Twine("attribute ") + (floats ? "imputed_value_floats" : "imputed_value_int64s") +
                               " is missing, which an input of type " + onnx::dataTypeName(in.elem) + " needs");
  Value values = floats ? constantOf(l, floatValues) : constantOf(l, intValues);
  Type valueElem = floats ? Type(l.b.getF32Type()) : Type(l.b.getI64Type());
  l.set(op.getY(), l.generate("imputer", in.elem, l.dims(op.getY()), [&](OpBuilder &b, Location loc, ValueRange at) {
    ScalarOps s{b, loc, in.elem};
    Value x = l.load(b, loc, in.lowered, in.elem, at), missing;
    double replaced = op.getReplacedValueFloat().convertToDouble();
    if (floats && std::isnan(replaced))
      missing = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
    else
      missing = s.eq(x, floats ? s.constant(replaced) : s.constantInt(op.getReplacedValueInt64()));
    Value value = perColumn(l, b, loc, values, count, valueElem, at.back());
    return s.select(missing, castScalar(b, loc, value, valueElem, in.elem), x);
  }));
  return success();
}

namespace {
struct Norm {
  StringRef name;
  Value (*term)(const ScalarOps &s, Value x);
  Value (ScalarOps::*combine)(Value, Value) const;
  bool root;
};
} // namespace
static Value absOf(const ScalarOps &s, Value x) { return math::AbsFOp::create(s.b, s.loc, x); }
static Value squareOf(const ScalarOps &s, Value x) { return s.mul(x, x); }
static const Norm norms[] = {{"MAX", absOf, &ScalarOps::max, false},
                             {"L1", absOf, &ScalarOps::add, false},
                             {"L2", squareOf, &ScalarOps::add, true}};

static LogicalResult lowerNormalizer(Operation *o, Lowering &l) {
  auto op = cast<onnx::MLNormalizerOp>(o);
  FailureOr<Lowering::Input> in = rowsOf(op, l, op.getX());
  if (failed(in))
    return failure();
  const Norm *norm = llvm::find_if(norms, [&](auto &n) { return n.name == op.getNorm(); });
  if (norm == std::end(norms))
    return unsupported(op, "attribute norm \"" + op.getNorm() + "\"; supported are MAX, L1 and L2");
  Type f32 = l.b.getF32Type();
  SmallVector<Dim> column{in->dims[0], l.shapes.constant(1)};
  Value folded = l.reduce(
      "norm", *in, {1}, f32, ScalarOps{l.b, l.loc, f32}.constant(0),
      [&](OpBuilder &b, Location loc, Value x) {
        return norm->term(ScalarOps{b, loc, f32}, castScalar(b, loc, x, in->elem, f32));
      },
      [&](OpBuilder &b, Location loc, Value a, Value x) { return (ScalarOps{b, loc, f32}.*norm->combine)(a, x); });
  Lowering::Input size{l.view(folded, f32, column), f32, column};
  Value y = l.elementwise({*in, size}, f32, in->dims, [&](OpBuilder &b, Location loc, ValueRange v) {
    ScalarOps s{b, loc, f32};
    Value length = norm->root ? Value(math::SqrtOp::create(b, loc, v[1])) : v[1];
    return s.div(castScalar(b, loc, v[0], in->elem, f32), s.max(length, s.constant(1e-30)));
  });
  l.set(op.getY(), l.view(y, f32, l.dims(op.getY())));
  return success();
}

/// The position of x in a list of keys, -1 without one.
static Value findKey(Lowering &l, OpBuilder &b, Location loc, Value keys, int64_t count, Type keyElem, Value x) {
  IndexBuilder m{b, loc};
  auto loop = scf::ForOp::create(
      b, loc, m.cst(0), m.cst(count), m.cst(1), m.cst(-1), [&](OpBuilder &b, Location loc, Value i, ValueRange found) {
        Value key = l.load(b, loc, keys, keyElem, i), same = ScalarOps{b, loc, keyElem}.eq(key, x);
        if (isa<FloatType>(keyElem)) { // NaN is a key like any other.
          Value bothNan =
              arith::AndIOp::create(b, loc, arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, key, key),
                                    arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x));
          same = arith::OrIOp::create(b, loc, same, bothNan);
        }
        scf::YieldOp::create(b, loc, IndexBuilder{b, loc}.select(same, i, found[0]));
      });
  return loop.getResult(0);
}

static LogicalResult lowerOneHotEncoder(Operation *o, Lowering &l) {
  auto op = cast<onnx::MLOneHotEncoderOp>(o);
  Lowering::Input in = l.input(op.getX());
  ArrayRef<int64_t> ints = orEmpty(op.getCatsInt64s());
  Type f32 = l.b.getF32Type(), i64 = l.b.getI64Type();
  Value positions; // of strings among the categories
  if (isString(in.elem)) {
    if (!op.getCatsStrings())
      return unsupported(op, "attribute cats_strings is missing, which an input of strings needs");
    SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, op.getCatsStrings()->size()));
    positions = callLibrary(
        l, kernel::LibraryFn::label_encoder,
        {in.lowered, constantOf(l, *op.getCatsStrings()), constantOf(l, numbers), constantOf(l, ArrayRef<int64_t>{-1})},
        {in.elem, in.elem, i64, i64}, l.tensorType(i64, in.dims), {i64}, {})[0];
  } else if (ints.empty()) {
    return unsupported(op, "attribute cats_int64s is missing, which a numeric input needs");
  }
  Value keys = positions ? Value() : constantOf(l, ints);
  l.set(op.getY(),
        l.generate("one_hot_encoder", f32, l.dims(op.getY()), [&](OpBuilder &b, Location loc, ValueRange at) {
          Value wanted = arith::IndexCastOp::create(b, loc, i64, at.back()), x;
          if (positions) {
            x = l.load(b, loc, positions, i64, at.drop_back());
          } else {
            x = castScalar(b, loc, l.load(b, loc, in.lowered, in.elem, at.drop_back()), in.elem, i64);
            wanted = l.load(b, loc, keys, i64, at.back());
          }
          ScalarOps s{b, loc, f32};
          return s.select(ScalarOps{b, loc, i64}.eq(x, wanted), s.constant(1), s.constant(0));
        }));
  return success();
}

static LogicalResult lowerFeatureVectorizer(Operation *o, Lowering &l) {
  auto op = cast<onnx::MLFeatureVectorizerOp>(o);
  ArrayRef<int64_t> widths = orEmpty(op.getInputdimensions());
  if (widths.size() != op.getX().size())
    return unsupported(op, "attribute inputdimensions has " + Twine(widths.size()) + " entries for " +
                               Twine(op.getX().size()) + " inputs");
  Type f32 = l.b.getF32Type();
  struct Part {
    Lowering::Input in;
    int64_t begin, end;
    Value width;
  };
  SmallVector<Part> parts;
  int64_t offset = 0;
  for (auto [x, width] : llvm::zip(op.getX(), widths)) {
    Lowering::Input in = l.input(x);
    if (in.dims.size() == 1) {
      in.dims.push_back(l.shapes.constant(1));
      in.lowered = l.view(in.lowered, in.elem, in.dims);
    }
    if (in.dims.size() != 2 || width < 0 || width > INT32_MAX)
      return unsupported(op, "an input of rank " + Twine(in.dims.size()) + " with " + Twine(width) +
                                 " columns; supported are [N] and [N, C]");
    checkSameSize(l, in.dims[0], l.dims(op.getY())[0], "the inputs have different numbers of rows");
    parts.push_back({in, offset, offset + width, l.index(in.dims[1])});
    offset += width;
  }
  l.set(op.getY(),
        l.generate("feature_vectorizer", f32, l.dims(op.getY()), [&](OpBuilder &b, Location loc, ValueRange at) {
          IndexBuilder m{b, loc};
          Value result = ScalarOps{b, loc, f32}.constant(0);
          for (const Part &part : parts) {
            Value column = m.sub(at[1], m.cst(part.begin));
            Value here = m.all(m.ge(column, m.cst(0)), m.all(m.lt(at[1], m.cst(part.end)), m.lt(column, part.width)));
            result = scf::IfOp::create(
                         b, loc, here,
                         [&](OpBuilder &b, Location loc) {
                           Value x = l.load(b, loc, part.in.lowered, part.in.elem, {at[0], column});
                           scf::YieldOp::create(b, loc, castScalar(b, loc, x, part.in.elem, f32));
                         },
                         [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, result); })
                         .getResult(0);
          }
          return result;
        }));
  return success();
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

namespace {
/// A list of keys or values: a lowered constant [n], its element type and length.
struct Labels {
  Value lowered;
  Type elem;
  int64_t count = 0;
};
} // namespace

/// The list that is given, out of four attributes.
static FailureOr<Labels> labelsOf(Operation *op, Lowering &l, StringRef what) {
  auto attr = [&](const char *suffix) { return op->getAttr((what + suffix).str()); };
  Labels out;
  if (auto tensor = dyn_cast_or_null<ElementsAttr>(attr("_tensor"))) {
    out.elem = tensor.getElementType();
    out.count = tensor.getNumElements();
    out.lowered = l.constant(tensor, out.elem);
    if (!out.lowered)
      return unsupported(op, "attribute " + what + "_tensor cannot be read");
    out.lowered = l.view(out.lowered, out.elem, {l.shapes.constant(out.count)});
  } else if (auto strings = dyn_cast_or_null<ArrayAttr>(attr("_strings")); strings && !strings.empty()) {
    out = {constantOf(l, strings), onnx::StringType::get(op->getContext()), static_cast<int64_t>(strings.size())};
  } else if (auto ints = dyn_cast_or_null<DenseI64ArrayAttr>(attr("_int64s")); ints && !ints.empty()) {
    out = {constantOf(l, ints.asArrayRef()), l.b.getI64Type(), ints.size()};
  } else if (auto floats = dyn_cast_or_null<DenseF32ArrayAttr>(attr("_floats")); floats && !floats.empty()) {
    out = {constantOf(l, floats.asArrayRef()), l.b.getF32Type(), floats.size()};
  } else {
    return unsupported(op, "none of the attributes " + what + "_tensor, " + what + "_strings, " + what +
                               "_int64s and " + what + "_floats is given");
  }
  return out;
}

static LogicalResult lowerLabelEncoder(Operation *o, Lowering &l) {
  auto op = cast<onnx::MLLabelEncoderOp>(o);
  FailureOr<Labels> keys = labelsOf(op, l, "keys"), values = labelsOf(op, l, "values");
  if (failed(keys) || failed(values))
    return failure();
  if (keys->count != values->count)
    return unsupported(op, Twine(keys->count) + " keys for " + Twine(values->count) + " values");
  Type outElem = l.elem(op.getY());
  Value otherwise;
  if (ElementsAttr tensor = op.getDefaultTensorAttr()) {
    otherwise = l.constant(tensor, tensor.getElementType());
    if (otherwise)
      otherwise = l.view(otherwise, tensor.getElementType(), {l.shapes.constant(1)});
  } else if (isString(outElem)) {
    otherwise = stringConstant(l, {op.getDefaultString()}, {1});
  } else if (isa<FloatType>(outElem)) {
    otherwise = outElem.isF64() ? constantOf(l, ArrayRef<double>{op.getDefaultFloat().convertToDouble()})
                                : constantOf(l, ArrayRef<float>{op.getDefaultFloat().convertToFloat()});
  } else {
    otherwise = constantOf(l, ArrayRef<int64_t>{static_cast<int64_t>(op.getDefaultInt64())});
  }
  if (!otherwise)
    return unsupported(op, "attribute default_tensor cannot be read");
  Lowering::Input in = l.input(op.getX());
  if (isString(in.elem) || isString(outElem)) {
    ValueRange made = callLibrary(
        l, kernel::LibraryFn::label_encoder, {in.lowered, keys->lowered, values->lowered, otherwise},
        {in.elem, keys->elem, values->elem, outElem}, l.tensorType(outElem, l.dims(op.getY())), {outElem}, {});
    l.set(op.getY(), made[0]);
    return success();
  }
  Type otherElem = op.getDefaultTensorAttr() ? op.getDefaultTensorAttr().getElementType()
                   : isa<FloatType>(outElem) ? (outElem.isF64() ? outElem : Type(l.b.getF32Type()))
                                             : Type(l.b.getI64Type());
  l.set(op.getY(),
        l.generate("label_encoder", outElem, l.dims(op.getY()), [&](OpBuilder &b, Location loc, ValueRange at) {
          IndexBuilder m{b, loc};
          Value x = castScalar(b, loc, l.load(b, loc, in.lowered, in.elem, at), in.elem, keys->elem);
          Value position = findKey(l, b, loc, keys->lowered, keys->count, keys->elem, x);
          Value found = m.ge(position, m.cst(0));
          Value value = castScalar(b, loc, l.load(b, loc, values->lowered, values->elem, m.max(position, m.cst(0))),
                                   values->elem, outElem);
          Value other = castScalar(b, loc, l.load(b, loc, otherwise, otherElem, m.cst(0)), otherElem, outElem);
          return ScalarOps{b, loc, outElem}.select(found, value, other);
        }));
  return success();
}

static LogicalResult lowerCategoryMapper(Operation *o, Lowering &l) {
  auto op = cast<onnx::MLCategoryMapperOp>(o);
  ArrayRef<int64_t> ints = orEmpty(op.getCatsInt64s());
  if (!op.getCatsStrings() || op.getCatsStrings()->size() != ints.size() || ints.empty())
    return unsupported(op, "attributes cats_int64s and cats_strings must list the same number of categories");
  Lowering::Input in = l.input(op.getX());
  bool fromStrings = isString(in.elem);
  Type string = onnx::StringType::get(op.getContext()), i64 = l.b.getI64Type(), outElem = fromStrings ? i64 : string;
  Value numbers = constantOf(l, ints), names = constantOf(l, *op.getCatsStrings());
  Value otherwise = fromStrings ? constantOf(l, ArrayRef<int64_t>{static_cast<int64_t>(op.getDefaultInt64())})
                                : stringConstant(l, {op.getDefaultString()}, {1});
  l.set(op.getY(),
        callLibrary(l, kernel::LibraryFn::label_encoder,
                    {in.lowered, fromStrings ? names : numbers, fromStrings ? numbers : names, otherwise},
                    {in.elem, in.elem, outElem, outElem}, l.tensorType(outElem, l.dims(op.getY())), {outElem}, {})[0]);
  return success();
}

void optc::registerMlLowerings(LoweringTable &table) {
  static const LoweringRow rows[] = {
      {"onnx.ml.Binarizer", ranked<lowerBinarizer>},
      {"onnx.ml.Scaler", ranked<lowerScaler>},
      {"onnx.ml.Imputer", ranked<lowerImputer>},
      {"onnx.ml.Normalizer", lowerNormalizer},
      {"onnx.ml.OneHotEncoder", ranked<lowerOneHotEncoder>},
      {"onnx.ml.FeatureVectorizer", ranked<lowerFeatureVectorizer>},
      {"onnx.ml.LabelEncoder", ranked<lowerLabelEncoder>},
      {"onnx.ml.CategoryMapper", ranked<lowerCategoryMapper>},
  };
  registerRows(table, rows);
  registerTreeLowerings(table);
  registerLinearLowerings(table);
  registerStringLowerings(table);
}
