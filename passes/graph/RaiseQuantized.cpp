//===- RaiseQuantized.cpp - com.microsoft's quantized operators -----------===//
//
// QLinearX(x, scale, zero, ..., yScale, yZero) is QuantizeLinear(X(DequantizeLinear(x, scale, zero), ...), yScale,
// yZero). QGemm, MatMulIntegerToFloat and DynamicQuantizeMatMul are exact products of integers, scaled. Larger
// operators are in files of their own.
//===----------------------------------------------------------------------===//
#include "optc/dialects/onnx/Names.h"
#include "optc/passes/Passes.h"
#include "optc/passes/graph/Raise.h"

namespace optc {
#define GEN_PASS_DEF_RAISEQUANTIZED
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

template <char const *Name> static Raised raiseBinary(Raise &r) {
  Value y = r.make(Name, {r.dequantized(0), r.dequantized(3)}, r.f32());
  return r.quantized(y, r.at(6), r.at(7));
}

static Raised raiseSigmoid(Raise &r) {
  return r.quantized(r.make("Sigmoid", {r.dequantized(0)}, r.f32()), r.at(3), r.at(4));
}

static Raised raiseLeakyRelu(Raise &r) {
  return r.quantized(r.make("LeakyRelu", {r.dequantized(0)}, r.f32(), r.kept({"alpha"})), r.at(3), r.at(4));
}

/// Pooling, with channels last moved in front.
static Raised raisePool(Raise &r, StringRef name, ArrayRef<NamedAttribute> attributes) {
  Value x = r.dequantized(0);
  auto type = dyn_cast<RankedTensorType>(r.at(0).getType());
  bool last = r.intAttr("channels_last", 0);
  if (last && (!type || type.getRank() < 3))
    return r.refuse("has channels last and an input of rank " + (type ? std::to_string(type.getRank()) : "unknown") +
                    "; known ranks from 3 on are supported: give the shape of the input with --shape");
  SmallVector<int64_t> toFirst, toLast;
  if (last) {
    int64_t rank = type.getRank();
    toFirst = {0, rank - 1};
    toLast = {0};
    for (int64_t i = 1; i + 1 < rank; ++i) {
      toFirst.push_back(i);
      toLast.push_back(i + 1);
    }
    toLast.push_back(1);
    x = r.transposed(x, toFirst);
  }
  Value y = r.make(name, {x}, r.f32(), attributes);
  return r.quantized(last ? r.transposed(y, toLast) : y, r.at(3), r.at(4));
}

static Raised raiseGlobalAveragePool(Raise &r) { return raisePool(r, "GlobalAveragePool", {}); }

static Raised raiseAveragePool(Raise &r) {
  return raisePool(r, "AveragePool",
                   r.kept({"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"}));
}

/// Y_scale, Y_zero_point, then triples.
static Raised raiseConcat(Raise &r) {
  SmallVector<Value> parts;
  for (unsigned i = 2, e = onnx::numOperandPositions(r.op); i + 2 < e; i += 3)
    parts.push_back(r.dequantized(i));
  return r.quantized(r.make("Concat", parts, r.f32(), r.kept({"axis"})), r.at(0), r.at(1));
}

/// A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias
static Raised raiseMatMulIntegerToFloat(Raise &r) {
  if (!r.elementOf(r.op->getResult(0)).isF32())
    return r.refuse("has scales of float16; float32 is supported, in which the sums are scaled: cast the scales");
  return r.plus(r.product(r.at(0), r.at(1), r.at(4), r.at(5), r.times(r.at(2), r.at(3))), r.at(6));
}

/// A, B, b_scale, b_zero_point, bias
static Raised raiseDynamicQuantizeMatMul(Raise &r) {
  auto [a, scale, zero] = r.quantizedDynamically(r.at(0));
  return r.plus(r.product(a, r.at(1), zero, r.at(3), r.times(scale, r.at(2))), r.at(4));
}

/// A, a_scale, a_zero_point, B, b_scale, b_zero_point, C in units of the sums, y_scale, y_zero_point
static Raised raiseGemm(Raise &r) {
  if (r.at(7) && !r.at(8))
    return r.refuse("has y_scale without y_zero_point; give both, for a quantized result, or none");
  Value a = r.intAttr("transA", 0) ? r.transposed(r.at(0), {1, 0}) : r.at(0);
  Value b = !r.intAttr("transB", 0) ? r.at(3)
            : r.typeAt(3)           ? quant::transposed(r.b, r.loc, r.at(3))
                                    : r.transposed(r.at(3), {1, 0});
  Value sum = r.make("MatMulInteger", {a, b, r.at(2), r.at(5)}, r.b.getI32Type());
  sum = r.asFloat(r.plus(sum, r.at(6)));
  // The order of ONNX Runtime: (alpha * a_scale) * b_scale / y_scale.
  double alpha = r.floatAttr("alpha", 1);
  Value scale = r.times(alpha == 1 ? r.at(1) : r.times(r.at(1), r.number(alpha)), r.at(4));
  if (!r.at(8))
    return r.times(sum, scale);
  scale = r.make("Div", {scale, r.at(7)}, r.f32());
  return r.quantized(r.times(sum, scale), r.number(1), r.at(8));
}

/// X, X_scale, X_zero_point, Y_scale, Y_zero_point: before opset 13 all axes from `axis` on are one.
static Raised raiseSoftmax(Raise &r) {
  bool flattens = r.intAttr("opset", 13) < 13;
  int64_t axis = r.intAttr("axis", -1);
  Value x = r.dequantized(0);
  Value y = flattens ? r.make("Flatten", {x}, r.f32(), r.integer("axis", axis)) : x;
  y = r.make("Softmax", {y}, r.f32(), r.integer("axis", flattens ? -1 : axis));
  if (flattens)
    y = r.make("Reshape", {y, r.make("Shape", {x}, r.i64())}, r.f32(), r.integer("allowzero", 1));
  return r.quantized(y, r.at(3), r.at(4));
}

/// condition, X, x_scale, x_zero_point, Y, y_scale, y_zero_point, z_scale, z_zero_point
static Raised raiseWhere(Raise &r) {
  return r.quantized(r.make("Where", {r.at(0), r.dequantized(1), r.dequantized(4)}, r.f32()), r.at(7), r.at(8));
}

static Raised raiseReduceMean(Raise &r) {
  auto axes = r.op->getAttrOfType<DenseI64ArrayAttr>("axes");
  Value mean = r.make("ReduceMean", {r.dequantized(0), axes ? r.vector(axes.asArrayRef()) : Value()}, r.f32(),
                      r.kept({"keepdims"}));
  return r.quantized(mean, r.at(3), r.at(4));
}

/// Operators that ai.onnx has had for all types since opset 21.
static Raised raiseQuantizeLinear(Raise &r) {
  Type element = r.elementOf(r.op->getResult(0));
  return r.make("QuantizeLinear", {r.at(0), r.at(1), r.at(2)}, element, r.kept({"axis"}));
}
static Raised raiseDequantizeLinear(Raise &r) {
  return r.make("DequantizeLinear", {r.at(0), r.at(1), r.at(2)}, r.elementOf(r.at(1)), r.kept({"axis"}));
}

static constexpr char kAdd[] = "Add", kMul[] = "Mul";

static const RaiseTable &raises() {
  static const RaiseTable table = [] {
    RaiseTable t = {
        {"onnx.ms.QLinearAdd", raiseBinary<kAdd>},
        {"onnx.ms.QLinearMul", raiseBinary<kMul>},
        {"onnx.ms.QLinearSigmoid", raiseSigmoid},
        {"onnx.ms.QLinearLeakyRelu", raiseLeakyRelu},
        {"onnx.ms.QLinearGlobalAveragePool", raiseGlobalAveragePool},
        {"onnx.ms.QLinearAveragePool", raiseAveragePool},
        {"onnx.ms.QLinearConcat", raiseConcat},
        {"onnx.ms.MatMulIntegerToFloat", raiseMatMulIntegerToFloat},
        {"onnx.ms.DynamicQuantizeMatMul", raiseDynamicQuantizeMatMul},
        {"onnx.ms.QGemm", raiseGemm},
        {"onnx.ms.QLinearSoftmax", raiseSoftmax},
        {"onnx.ms.QLinearWhere", raiseWhere},
        {"onnx.ms.QLinearReduceMean", raiseReduceMean},
        {"onnx.ms.QuantizeLinear", raiseQuantizeLinear},
        {"onnx.ms.DequantizeLinear", raiseDequantizeLinear},
    };
    registerRaisedAttention(t);
    registerRaisedBlocks(t);
    registerRaisedLstm(t);
    return t;
  }();
  return table;
}

namespace {
struct RaiseQuantized : optc::impl::RaiseQuantizedBase<RaiseQuantized> {
  using RaiseQuantizedBase::RaiseQuantizedBase;

  void runOnOperation() override {
    SmallVector<std::pair<Operation *, RaiseFn>> work;
    getOperation()->walk([&](Operation *op) {
      if (auto it = raises().find(op->getName().getStringRef()); it != raises().end())
        work.emplace_back(op, it->second);
    });
    for (auto [op, raise] : work) {
      Raise r(op);
      Raised made = raise(r);
      if (made.empty()) {
        op->emitError() << onnx::describeOp(op) << " " << r.reason;
        signalPassFailure();
        continue;
      }
      for (auto [i, value] : llvm::enumerate(made)) {
        Value result = onnx::result(op, i);
        if (!result)
          continue;
        // What the op's type knows of the shape holds for the value.
        if (result.getType() != value.getType())
          value.setType(result.getType());
        result.replaceAllUsesWith(value);
      }
      op->erase();
      ++raised;
    }
  }
};
} // namespace
