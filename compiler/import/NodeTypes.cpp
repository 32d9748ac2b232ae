//===- NodeTypes.cpp - types of the results of nodes ----------------------===//
//
// Kinds and element types are exact. Shapes are what can be said without looking at values: shape inference refines
// them later, the rules for old opsets need the ranks already here.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Traits.h"
#include "optc/compiler/import/Importer.h"
#include "optc/dialects/onnx/Types.h"

using namespace mlir;
using namespace optc;
using namespace optc::import;
using onnx::OpInfo;
using onnx::ValueInfo;
using optc_onnx::AttributeProto;
using optc_onnx::TensorProto;

Type optc::import::joinTypes(Type a, Type b) {
  if (a == b)
    return a;
  auto ta = dyn_cast<TensorType>(a), tb = dyn_cast<TensorType>(b);
  if (ta && tb) {
    if (ta.getElementType() != tb.getElementType())
      return {};
    if (!ta.hasRank() || !tb.hasRank() || ta.getRank() != tb.getRank())
      return UnrankedTensorType::get(ta.getElementType());
    SmallVector<int64_t> shape;
    for (auto [da, db] : llvm::zip(ta.getShape(), tb.getShape()))
      shape.push_back(da == db ? da : ShapedType::kDynamic);
    return RankedTensorType::get(shape, ta.getElementType());
  }
  auto nested = [](auto x, auto y, auto make) -> Type {
    Type element = joinTypes(x.getElementType(), y.getElementType());
    return element ? make(element) : Type();
  };
  if (auto sa = dyn_cast<onnx::SeqType>(a))
    if (auto sb = dyn_cast<onnx::SeqType>(b))
      return nested(sa, sb, [](Type e) { return Type(onnx::SeqType::get(e.getContext(), e)); });
  if (auto oa = dyn_cast<onnx::OptType>(a))
    if (auto ob = dyn_cast<onnx::OptType>(b))
      return nested(oa, ob, [](Type e) { return Type(onnx::OptType::get(e.getContext(), e)); });
  if (auto ma = dyn_cast<onnx::MapType>(a))
    if (auto mb = dyn_cast<onnx::MapType>(b))
      if (ma.getKeyType() == mb.getKeyType())
        if (Type value = joinTypes(ma.getValueType(), mb.getValueType()))
          return onnx::MapType::get(a.getContext(), ma.getKeyType(), value);
  return {};
}

namespace {

/// What the rules see of a node.
struct Facts {
  const Node &node;
  const OpInfo &info;
  ArrayRef<Value> operands;
  ArrayRef<std::vector<Type>> yields;
  ArrayRef<NamedAttribute> attributes;
  MLIRContext &ctx;

  Type operand(size_t i) const { return i < operands.size() && operands[i] ? operands[i].getType() : Type(); }
  TensorType tensor(size_t i) const {
    Type t = operand(i);
    return t ? dyn_cast<TensorType>(t) : TensorType();
  }
  RankedTensorType ranked(size_t i) const {
    Type t = operand(i);
    return t ? dyn_cast<RankedTensorType>(t) : RankedTensorType();
  }
  int64_t intAttr(const char *name, int64_t otherwise) const {
    const AttributeProto *a = node.attribute(name);
    return a ? a->i() : otherwise;
  }
  Type element(int64_t number) const {
    return number > 0 && number < 64 ? onnx::elementTypeOf(&ctx, static_cast<int>(number)) : Type();
  }
  Type elementOf(size_t i) const {
    TensorType t = tensor(i);
    return t ? t.getElementType() : Type();
  }
  Type unranked(Type e) const { return e ? Type(UnrankedTensorType::get(e)) : Type(); }
};

//===----------------------------------------------------------------------===//
// Kinds and element types that the table of operators does not tell
//===----------------------------------------------------------------------===//

using KindRule = Type (*)(const Facts &, size_t output);

Type dtypeOrInput(const Facts &f, size_t) {
  int64_t dtype = f.intAttr("dtype", 0);
  return f.unranked(dtype ? f.element(dtype) : f.elementOf(0));
}
template <int Default> Type dtypeOr(const Facts &f, size_t) {
  return f.unranked(f.element(f.intAttr("dtype", Default)));
}
Type outputDatatype(const Facts &f, size_t) { return f.unranked(f.element(f.intAttr("output_datatype", 1))); }
Type castTo(const Facts &f, size_t) { return f.unranked(f.element(f.intAttr("to", 0))); }
Type quantized(const Facts &f, size_t) {
  if (Type zero = f.elementOf(2))
    return f.unranked(zero);
  int64_t dtype = f.intAttr("output_dtype", 0);
  return f.unranked(f.element(dtype ? dtype : TensorProto::UINT8));
}
Type dequantized(const Facts &f, size_t) {
  int64_t dtype = f.intAttr("output_dtype", 0);
  return f.unranked(dtype ? f.element(dtype) : f.elementOf(1));
}
/// Floats without a zero point for the result.
Type quantizedProduct(const Facts &f, size_t) {
  Type zero = f.elementOf(8);
  return f.unranked(zero ? zero : f.element(TensorProto::FLOAT));
}
Type constantOfShape(const Facts &f, size_t) {
  const AttributeProto *value = f.node.attribute("value");
  return f.unranked(f.element(value ? value->t().data_type() : TensorProto::FLOAT));
}
Type seqElement(const Facts &f, size_t) {
  auto seq = dyn_cast_or_null<onnx::SeqType>(f.operand(0));
  return seq ? seq.getElementType() : Type();
}
Type shapeless(Type type) {
  auto tensor = dyn_cast_or_null<TensorType>(type);
  return tensor ? UnrankedTensorType::get(tensor.getElementType()) : type;
}
Type concatFromSequence(const Facts &f, size_t output) { return shapeless(seqElement(f, output)); }
Type seqOf(const Facts &f, Type element) {
  auto quiet = [] { return InFlightDiagnostic(); };
  return element ? Type(onnx::SeqType::getChecked(quiet, &f.ctx, element)) : Type();
}
Type sequenceEmpty(const Facts &f, size_t) { return seqOf(f, f.unranked(f.element(f.intAttr("dtype", 1)))); }
Type sequenceConstruct(const Facts &f, size_t) {
  Type element = f.operand(0);
  for (size_t i = 1; element && i < f.operands.size(); ++i)
    element = joinTypes(element, f.operand(i));
  return seqOf(f, element);
}
Type sequenceInsert(const Facts &f, size_t) {
  auto seq = dyn_cast_or_null<onnx::SeqType>(f.operand(0));
  Type inserted = f.operand(1);
  return seq && inserted ? seqOf(f, joinTypes(seq.getElementType(), inserted)) : Type();
}
Type splitToSequence(const Facts &f, size_t) { return seqOf(f, f.unranked(f.elementOf(0))); }
Type sequenceMap(const Facts &f, size_t output) {
  return output < f.yields[0].size() ? seqOf(f, f.yields[0][output]) : Type();
}
Type optionalOf(const Facts &f, size_t) {
  Type element = f.operand(0);
  for (NamedAttribute attribute : f.attributes)
    if (auto type = dyn_cast<TypeAttr>(attribute.getValue()); type && !element)
      element = type.getValue();
  auto quiet = [] { return InFlightDiagnostic(); };
  return element ? Type(onnx::OptType::getChecked(quiet, &f.ctx, element)) : Type();
}
Type optionalElement(const Facts &f, size_t) {
  auto optional = dyn_cast_or_null<onnx::OptType>(f.operand(0));
  return optional ? optional.getElementType() : f.operand(0);
}
Type branches(const Facts &f, size_t output) {
  Type type;
  for (const std::vector<Type> &yield : f.yields) {
    if (output >= yield.size())
      return {};
    type = type ? joinTypes(type, yield[output]) : yield[output];
    if (!type)
      return {};
  }
  return type;
}
/// A type with an axis of unknown size in front.
Type stacked(Type type, bool inFront = true) {
  auto ranked = dyn_cast_or_null<RankedTensorType>(type);
  if (!ranked || !inFront)
    return shapeless(type);
  SmallVector<int64_t> shape{ShapedType::kDynamic};
  llvm::append_range(shape, ranked.getShape());
  return RankedTensorType::get(shape, ranked.getElementType());
}
Type loop(const Facts &f, size_t output) {
  // The body yields a condition first; its carried values are those of the operands after the first two.
  size_t carried = f.operands.size() > 2 ? f.operands.size() - 2 : 0;
  if (output + 1 >= f.yields[0].size())
    return {};
  Type yielded = f.yields[0][output + 1];
  if (output >= carried)
    return isa<TensorType>(yielded) ? stacked(yielded) : Type();
  Type initial = f.operand(output + 2);
  return initial ? joinTypes(initial, yielded) : Type();
}
Type scan(const Facts &f, size_t output) {
  size_t scans = f.intAttr("num_scan_inputs", 0);
  size_t states = f.operands.size() > scans ? f.operands.size() - scans : 0;
  if (output >= f.yields[0].size())
    return {};
  Type yielded = f.yields[0][output];
  if (output >= states)
    return isa<TensorType>(yielded) ? stacked(yielded, !f.node.attribute("scan_output_axes")) : Type();
  Type initial = f.operand(output);
  return initial ? joinTypes(initial, yielded) : Type();
}
Type stashed(const Facts &f, size_t output) {
  return f.unranked(output == 0 ? f.elementOf(0) : f.element(f.intAttr("stash_type", 1)));
}
template <int WithStrings, int Without> Type labels(const Facts &f, size_t output) {
  static const char *const names[] = {"classlabels_strings", "cats_strings"};
  bool strings = llvm::any_of(names, [&](const char *n) {
    const AttributeProto *a = f.node.attribute(n);
    return a && a->strings_size();
  });
  return f.unranked(f.element(output == 0 ? (strings ? WithStrings : Without) : TensorProto::FLOAT));
}
Type categoryMapper(const Facts &f, size_t) {
  bool strings = isa_and_nonnull<onnx::StringType>(f.elementOf(0));
  return f.unranked(f.element(strings ? TensorProto::INT64 : TensorProto::STRING));
}
Type labelEncoder(const Facts &f, size_t) {
  if (const AttributeProto *tensor = f.node.attribute("values_tensor"))
    return f.unranked(f.element(tensor->t().data_type()));
  const std::pair<const char *, int> kinds[] = {{"values_strings", TensorProto::STRING},
                                                {"values_int64s", TensorProto::INT64},
                                                {"values_floats", TensorProto::FLOAT}};
  for (auto [name, number] : kinds)
    if (f.node.attribute(name))
      return f.unranked(f.element(number));
  return {};
}
Type zipMap(const Facts &f, size_t) {
  const AttributeProto *strings = f.node.attribute("classlabels_strings");
  Type key = f.element(strings && strings->strings_size() ? TensorProto::STRING : TensorProto::INT64);
  Type value = RankedTensorType::get({}, f.element(TensorProto::FLOAT));
  return seqOf(f, onnx::MapType::get(&f.ctx, key, value));
}
Type castMap(const Facts &f, size_t) {
  const AttributeProto *to = f.node.attribute("cast_to");
  StringRef name = to ? StringRef(to->s()) : "TO_FLOAT";
  return f.unranked(f.element(name == "TO_STRING"  ? TensorProto::STRING
                              : name == "TO_INT64" ? TensorProto::INT64
                                                   : TensorProto::FLOAT));
}
Type dictVectorizer(const Facts &f, size_t) {
  auto map = dyn_cast_or_null<onnx::MapType>(f.operand(0));
  return map ? shapeless(map.getValueType()) : Type();
}

const std::pair<StringRef, KindRule> kindRules[] = {
    {"onnx.Cast", castTo},
    {"onnx.BitCast", castTo},
    {"onnx.EyeLike", dtypeOrInput},
    {"onnx.Bernoulli", dtypeOrInput},
    {"onnx.RandomNormalLike", dtypeOrInput},
    {"onnx.RandomUniformLike", dtypeOrInput},
    {"onnx.RandomNormal", dtypeOr<TensorProto::FLOAT>},
    {"onnx.RandomUniform", dtypeOr<TensorProto::FLOAT>},
    {"onnx.Multinomial", dtypeOr<TensorProto::INT32>},
    {"onnx.BlackmanWindow", outputDatatype},
    {"onnx.HammingWindow", outputDatatype},
    {"onnx.HannWindow", outputDatatype},
    {"onnx.MelWeightMatrix", outputDatatype},
    {"onnx.QuantizeLinear", quantized},
    {"onnx.DequantizeLinear", dequantized},
    {"onnx.ms.QuantizeLinear", quantized},
    {"onnx.ms.DequantizeLinear", dequantized},
    {"onnx.ms.QGemm", quantizedProduct},
    {"onnx.ConstantOfShape", constantOfShape},
    {"onnx.SequenceAt", seqElement},
    {"onnx.ConcatFromSequence", concatFromSequence},
    {"onnx.SequenceEmpty", sequenceEmpty},
    {"onnx.SequenceConstruct", sequenceConstruct},
    {"onnx.SequenceInsert", sequenceInsert},
    {"onnx.SplitToSequence", splitToSequence},
    {"onnx.SequenceMap", sequenceMap},
    {"onnx.Optional", optionalOf},
    {"onnx.OptionalGetElement", optionalElement},
    {"onnx.If", branches},
    {"onnx.Loop", loop},
    {"onnx.Scan", scan},
    {"onnx.LayerNormalization", stashed},
    {"onnx.ml.CategoryMapper", categoryMapper},
    {"onnx.ml.LabelEncoder", labelEncoder},
    {"onnx.ml.ZipMap", zipMap},
    {"onnx.ml.CastMap", castMap},
    {"onnx.ml.DictVectorizer", dictVectorizer},
    {"onnx.ml.LinearClassifier", labels<TensorProto::STRING, TensorProto::INT64>},
    {"onnx.ml.SVMClassifier", labels<TensorProto::STRING, TensorProto::INT64>},
    {"onnx.ml.TreeEnsembleClassifier", labels<TensorProto::STRING, TensorProto::INT64>},
};

/// The kind and element type of an output, unranked where it is a tensor.
Type kindOf(const Facts &f, size_t output, const ValueInfo &formal) {
  for (const auto &[name, rule] : kindRules)
    if (name == f.info.mlirName)
      return rule(f, output);
  // The type of an input with the same variable.
  if (formal.typeVariable >= 0) {
    for (auto [i, operand] : llvm::enumerate(f.operands)) {
      if (f.info.inputs.empty() || !operand)
        continue;
      const ValueInfo &in = f.info.inputs[std::min(i, f.info.inputs.size() - 1)];
      if (in.typeVariable == formal.typeVariable && in.homogeneous)
        return shapeless(operand.getType());
    }
  }
  // Only one type is possible.
  if (llvm::isPowerOf2_64(formal.types))
    if (Type element = f.element(llvm::Log2_64(formal.types)))
      return f.unranked(element);
  // Else what came in, where it may come out.
  Type first = shapeless(f.operand(0));
  return first && onnx::allowed(first, formal.types) ? first : Type();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// How the shape of the first result follows from the operands.
enum class ShapeKind { Same, SameRank, Broadcast, Fixed, Window };

struct ShapeRule {
  const char *op;
  ShapeKind kind;
  int value = 0; ///< Same, SameRank: the operand; Fixed: the rank
};

const ShapeRule shapeRules[] = {
    {"Abs", ShapeKind::Same},
    {"Acos", ShapeKind::Same},
    {"Acosh", ShapeKind::Same},
    {"Asin", ShapeKind::Same},
    {"Asinh", ShapeKind::Same},
    {"Atan", ShapeKind::Same},
    {"Atanh", ShapeKind::Same},
    {"Bernoulli", ShapeKind::Same},
    {"BatchNormalization", ShapeKind::Same},
    {"BitCast", ShapeKind::SameRank},
    {"BitwiseNot", ShapeKind::Same},
    {"Cast", ShapeKind::Same},
    {"CastLike", ShapeKind::Same},
    {"Ceil", ShapeKind::Same},
    {"Celu", ShapeKind::Same},
    {"Clip", ShapeKind::Same},
    {"Cos", ShapeKind::Same},
    {"Cosh", ShapeKind::Same},
    {"CumSum", ShapeKind::Same},
    {"CumProd", ShapeKind::Same},
    {"DequantizeLinear", ShapeKind::Same},
    {"Dropout", ShapeKind::Same},
    {"DynamicQuantizeLinear", ShapeKind::Same},
    {"Elu", ShapeKind::Same},
    {"Erf", ShapeKind::Same},
    {"Exp", ShapeKind::Same},
    {"EyeLike", ShapeKind::Same},
    {"Floor", ShapeKind::Same},
    {"Gelu", ShapeKind::Same},
    {"GroupNormalization", ShapeKind::Same},
    {"HardSigmoid", ShapeKind::Same},
    {"HardSwish", ShapeKind::Same},
    {"Hardmax", ShapeKind::Same},
    {"Identity", ShapeKind::Same},
    {"InstanceNormalization", ShapeKind::Same},
    {"IsInf", ShapeKind::Same},
    {"IsNaN", ShapeKind::Same},
    {"LRN", ShapeKind::Same},
    {"LayerNormalization", ShapeKind::Same},
    {"LeakyRelu", ShapeKind::Same},
    {"Log", ShapeKind::Same},
    {"LogSoftmax", ShapeKind::Same},
    {"LpNormalization", ShapeKind::Same},
    {"MeanVarianceNormalization", ShapeKind::Same},
    {"Mish", ShapeKind::Same},
    {"Neg", ShapeKind::Same},
    {"Not", ShapeKind::Same},
    {"PRelu", ShapeKind::Same},
    {"QuantizeLinear", ShapeKind::Same},
    {"RMSNormalization", ShapeKind::Same},
    {"RandomNormalLike", ShapeKind::Same},
    {"RandomUniformLike", ShapeKind::Same},
    {"Reciprocal", ShapeKind::Same},
    {"Relu", ShapeKind::Same},
    {"ReverseSequence", ShapeKind::Same},
    {"RotaryEmbedding", ShapeKind::Same},
    {"Round", ShapeKind::Same},
    {"ScatterElements", ShapeKind::Same},
    {"ScatterND", ShapeKind::Same},
    {"Selu", ShapeKind::Same},
    {"Shrink", ShapeKind::Same},
    {"Sigmoid", ShapeKind::Same},
    {"Sign", ShapeKind::Same},
    {"Sin", ShapeKind::Same},
    {"Sinh", ShapeKind::Same},
    {"Softmax", ShapeKind::Same},
    {"Softplus", ShapeKind::Same},
    {"Softsign", ShapeKind::Same},
    {"Sqrt", ShapeKind::Same},
    {"Swish", ShapeKind::Same},
    {"Tan", ShapeKind::Same},
    {"Tanh", ShapeKind::Same},
    {"ThresholdedRelu", ShapeKind::Same},
    {"Trilu", ShapeKind::Same},
    {"GatherElements", ShapeKind::Same, 1},
    {"AveragePool", ShapeKind::Window},
    {"MaxPool", ShapeKind::Window},
    {"LpPool", ShapeKind::Window},
    {"Conv", ShapeKind::Window},
    {"ConvTranspose", ShapeKind::Window},
    {"ConvInteger", ShapeKind::Window},
    {"QLinearConv", ShapeKind::Window},
    {"DeformConv", ShapeKind::Window},
    {"GlobalAveragePool", ShapeKind::Window},
    {"GlobalMaxPool", ShapeKind::Window},
    {"GlobalLpPool", ShapeKind::Window},
    {"DepthToSpace", ShapeKind::SameRank},
    {"SpaceToDepth", ShapeKind::SameRank},
    {"Pad", ShapeKind::SameRank},
    {"Slice", ShapeKind::SameRank},
    {"Concat", ShapeKind::SameRank},
    {"Split", ShapeKind::SameRank},
    {"Tile", ShapeKind::SameRank},
    {"Transpose", ShapeKind::SameRank},
    {"Resize", ShapeKind::SameRank},
    {"TopK", ShapeKind::SameRank},
    {"MaxUnpool", ShapeKind::SameRank},
    {"CenterCropPad", ShapeKind::SameRank},
    {"GridSample", ShapeKind::SameRank},
    {"Add", ShapeKind::Broadcast},
    {"And", ShapeKind::Broadcast},
    {"BitShift", ShapeKind::Broadcast},
    {"BitwiseAnd", ShapeKind::Broadcast},
    {"BitwiseOr", ShapeKind::Broadcast},
    {"BitwiseXor", ShapeKind::Broadcast},
    {"Div", ShapeKind::Broadcast},
    {"Equal", ShapeKind::Broadcast},
    {"Greater", ShapeKind::Broadcast},
    {"GreaterOrEqual", ShapeKind::Broadcast},
    {"Less", ShapeKind::Broadcast},
    {"LessOrEqual", ShapeKind::Broadcast},
    {"Max", ShapeKind::Broadcast},
    {"Mean", ShapeKind::Broadcast},
    {"Min", ShapeKind::Broadcast},
    {"Mod", ShapeKind::Broadcast},
    {"Mul", ShapeKind::Broadcast},
    {"Or", ShapeKind::Broadcast},
    {"Pow", ShapeKind::Broadcast},
    {"Sub", ShapeKind::Broadcast},
    {"Sum", ShapeKind::Broadcast},
    {"Where", ShapeKind::Broadcast},
    {"Xor", ShapeKind::Broadcast},
    {"Flatten", ShapeKind::Fixed, 2},
    {"Gemm", ShapeKind::Fixed, 2},
    {"NonZero", ShapeKind::Fixed, 2},
    {"Shape", ShapeKind::Fixed, 1},
    {"Size", ShapeKind::Fixed, 0},
    {"Range", ShapeKind::Fixed, 1},
    {"Det", ShapeKind::Fixed, -1},
    {"RNN", ShapeKind::Fixed, 4},
    {"GRU", ShapeKind::Fixed, 4},
    {"LSTM", ShapeKind::Fixed, 4},
    {"RoiAlign", ShapeKind::Fixed, 4},
    {"MaxRoiPool", ShapeKind::Fixed, 4},
    {"NonMaxSuppression", ShapeKind::Fixed, 2},
    {"SequenceLength", ShapeKind::Fixed, 0},
    {"OptionalHasElement", ShapeKind::Fixed, 0},
};

Type anyShape(Type element, int64_t rank) {
  if (rank < 0 || rank > 64)
    return UnrankedTensorType::get(element);
  return RankedTensorType::get(SmallVector<int64_t>(rank, ShapedType::kDynamic), element);
}

Type broadcast(const Facts &f, Type element) {
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < f.operands.size(); ++i) {
    RankedTensorType t = f.ranked(i);
    if (!t)
      return UnrankedTensorType::get(element);
    SmallVector<int64_t> both;
    if (!OpTrait::util::getBroadcastedShape(shape, t.getShape(), both))
      return UnrankedTensorType::get(element);
    shape = both;
  }
  return RankedTensorType::get(shape, element);
}

/// Ranks that depend on attributes or on the sizes of operands.
Type dependentRank(const Facts &f, Type element) {
  StringRef op = f.node.op;
  RankedTensorType first = f.ranked(0), second = f.ranked(1);
  auto vectorSize = [](RankedTensorType t) -> int64_t {
    return t && t.getRank() == 1 && !t.isDynamicDim(0) ? t.getDimSize(0) : -1;
  };
  if (op == "Reshape")
    return anyShape(element, vectorSize(second));
  if (op == "ConstantOfShape")
    return anyShape(element, vectorSize(first));
  if (op == "Expand") {
    int64_t size = vectorSize(second);
    return anyShape(element, first && size >= 0 ? std::max(first.getRank(), size) : -1);
  }
  if (op == "Gather")
    return anyShape(element, first && second ? first.getRank() + second.getRank() - 1 : -1);
  if (op == "OneHot")
    return anyShape(element, first ? first.getRank() + 1 : -1);
  if (op == "MatMul" && first && second && first.getRank() > 0 && second.getRank() > 0) {
    int64_t rank = std::max(first.getRank(), second.getRank());
    if (first.getRank() == 1 || second.getRank() == 1)
      --rank;
    return anyShape(element, first.getRank() == 1 && second.getRank() == 1 ? 0 : rank);
  }
  if (op == "Squeeze" || op == "Unsqueeze") {
    auto axes = f.operands.size() > 1 && f.operands[1] ? constantInts(f.operands[1]) : std::nullopt;
    if (first && axes)
      return anyShape(element, first.getRank() + (op == "Squeeze" ? -1 : 1) * static_cast<int64_t>(axes->size()));
  }
  if (op.starts_with("Reduce") || op == "ArgMax" || op == "ArgMin") {
    if (first && f.intAttr("keepdims", 1))
      return anyShape(element, first.getRank());
    if (first && op.starts_with("Arg"))
      return anyShape(element, first.getRank() - 1);
    bool hasAxes = f.operands.size() > 1 && f.operands[1];
    auto axes = hasAxes ? constantInts(f.operands[1]) : std::nullopt;
    if (first && axes && !axes->empty())
      return anyShape(element, first.getRank() - static_cast<int64_t>(axes->size()));
    if (!hasAxes)
      return f.intAttr("noop_with_empty_axes", 0) ? f.operand(0) : anyShape(element, 0);
  }
  return UnrankedTensorType::get(element);
}

Type withShape(const Facts &f, size_t output, Type type) {
  auto tensor = dyn_cast<UnrankedTensorType>(type);
  if (!tensor || !f.node.domain.empty())
    return type;
  Type element = tensor.getElementType();
  const ShapeRule *rule = llvm::find_if(shapeRules, [&](const ShapeRule &r) { return f.node.op == r.op; });
  if (rule == std::end(shapeRules))
    return output == 0 ? dependentRank(f, element) : type;
  RankedTensorType from = f.ranked(rule->kind == ShapeKind::Fixed ? 0 : rule->value);
  bool isRecurrent = rule->kind == ShapeKind::Fixed && rule->value == 4 && output > 0;
  if (output > 0 && !isRecurrent && rule->kind != ShapeKind::SameRank && f.node.op != "Dropout" &&
      f.node.op != "MaxPool")
    return type;
  if (f.node.op == "Shape" && f.ranked(0) && f.node.attributes.empty())
    return RankedTensorType::get({f.ranked(0).getRank()}, element);
  switch (rule->kind) {
  case ShapeKind::Same:
    return from ? RankedTensorType::get(from.getShape(), element) : type;
  case ShapeKind::SameRank:
    return from ? anyShape(element, from.getRank()) : type;
  case ShapeKind::Window: {
    if (!from || from.getRank() < 2)
      return type;
    // The batch stays; the channels of pooling do too.
    SmallVector<int64_t> shape(from.getRank(), ShapedType::kDynamic);
    shape[0] = from.getDimSize(0);
    if (StringRef(f.node.op).contains("Pool"))
      shape[1] = from.getDimSize(1);
    return RankedTensorType::get(shape, element);
  }
  case ShapeKind::Broadcast:
    return broadcast(f, element);
  case ShapeKind::Fixed:
    return anyShape(element, isRecurrent ? 3 : rule->value);
  }
  return type;
}

} // namespace

bool optc::import::resultTypes(const Node &node, const OpInfo &info, ArrayRef<Value> operands,
                               ArrayRef<std::vector<Type>> yields, ArrayRef<NamedAttribute> attributes,
                               MLIRContext &ctx, SmallVectorImpl<Type> &types, std::string &reason) {
  Facts facts{node, info, operands, yields, attributes, ctx};
  for (auto [i, name] : llvm::enumerate(node.outputs)) {
    if (info.outputs.empty() || (i >= info.outputs.size() && !info.outputs.back().variadic())) {
      reason = "has more outputs than its operator gives";
      return false;
    }
    const ValueInfo &formal = info.outputs[std::min(i, info.outputs.size() - 1)];
    // An unnamed output that the operator always has is made all the same.
    if (name.empty() && formal.optional()) {
      types.push_back(Type());
      continue;
    }
    Type type = kindOf(facts, i, formal);
    if (!type) {
      reason = ("has the output " + Twine(i) + ", whose type cannot be told from its inputs and attributes").str();
      return false;
    }
    if (!onnx::allowed(type, formal.types)) {
      reason = ("would give " + typeName(type) + " as its output " + Twine(i) + ", where " + node.op + " gives " +
                typeNames(ctx, formal.types))
                   .str();
      return false;
    }
    types.push_back(withShape(facts, i, type));
  }
  // An operator without named outputs still has those that are not optional.
  for (size_t i = node.outputs.size(); i < info.outputs.size() && info.outputs[i].arity == onnx::Arity::Single; ++i)
    if (Type type = kindOf(facts, i, info.outputs[i]))
      types.push_back(withShape(facts, i, type));
  return true;
}
