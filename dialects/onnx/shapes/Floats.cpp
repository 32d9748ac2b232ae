//===- Floats.cpp - small constant floating-point values -------------------===//
//
// Exporters scale sizes in floating point: Shape, Cast, Mul by a constant, Floor, Cast back. The values are computed
// here from the constants that shape inference knows, rounded after every operator like the operators themselves.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "optc/dialects/onnx/shapes/Shapes.h"
#include <cmath>

using namespace mlir;
using namespace optc;

using Floats = std::optional<SmallVector<double>>;

/// Chains are short; the bound keeps diamonds of operators from taking exponential time.
static constexpr int maxDepth = 8;

static double rounded(double v, Type element) { return element.isF32() ? double(float(v)) : v; }

static Floats constantFloats(Value value) {
  DenseElementsAttr attr;
  if (!matchPattern(value, m_Constant(&attr)) || !isa<FloatType>(attr.getElementType()) ||
      attr.getNumElements() > maxTrackedElements)
    return std::nullopt;
  SmallVector<double> values;
  for (APFloat v : attr.getValues<APFloat>()) {
    bool lossy;
    v.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    values.push_back(v.convertToDouble());
  }
  return values;
}

static Floats floatsAt(ShapeTable &table, Value value, int depth);

/// The elements of an integer tensor as floating-point values.
static Floats fromIntegers(const ShapeInfo &info) {
  auto values = info.constElements();
  if (!values || !info.elementType.isSignlessInteger())
    return std::nullopt;
  SmallVector<double> result(values->begin(), values->end());
  return result;
}

static Floats castFloats(ShapeTable &table, Operation *op, int depth) {
  const ShapeInfo &in = table.get(op->getOperand(0));
  return isa_and_nonnull<IntegerType>(in.elementType) ? fromIntegers(in) : floatsAt(table, op->getOperand(0), depth);
}

static Floats sameFloats(ShapeTable &table, Operation *op, int depth) {
  return floatsAt(table, op->getOperand(0), depth);
}

static double floorOf(double v) { return std::floor(v); }
static double ceilOf(double v) { return std::ceil(v); }
static double roundOf(double v) { return std::nearbyint(v); } // ties to even

template <double (*fn)(double)> static Floats unaryFloats(ShapeTable &table, Operation *op, int depth) {
  Floats values = floatsAt(table, op->getOperand(0), depth);
  if (values)
    for (double &v : *values)
      v = fn(v);
  return values;
}

template <typename Fn> static Floats binaryFloats(ShapeTable &table, Operation *op, int depth) {
  Floats a = floatsAt(table, op->getOperand(0), depth), b = floatsAt(table, op->getOperand(1), depth);
  if (!a || !b || a->empty() || b->empty() || (a->size() != b->size() && a->size() != 1 && b->size() != 1))
    return std::nullopt;
  SmallVector<double> result;
  for (size_t i = 0, e = std::max(a->size(), b->size()); i < e; ++i)
    result.push_back(Fn()((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]));
  return result;
}

static Floats concatFloats(ShapeTable &table, Operation *op, int depth) {
  SmallVector<double> result;
  for (Value operand : op->getOperands()) {
    Floats next = floatsAt(table, operand, depth);
    if (!next || result.size() + next->size() > size_t(maxTrackedElements))
      return std::nullopt;
    result.append(*next);
  }
  return result;
}

using FloatFn = Floats (*)(ShapeTable &, Operation *, int);

static Floats floatsAt(ShapeTable &table, Value value, int depth) {
  static const llvm::StringMap<FloatFn> functions = {
      {"onnx.Cast", castFloats},
      {"onnx.Identity", sameFloats},
      {"onnx.Unsqueeze", sameFloats},
      {"onnx.Squeeze", sameFloats},
      {"onnx.Reshape", sameFloats},
      {"onnx.Floor", unaryFloats<floorOf>},
      {"onnx.Ceil", unaryFloats<ceilOf>},
      {"onnx.Round", unaryFloats<roundOf>},
      {"onnx.Add", binaryFloats<std::plus<double>>},
      {"onnx.Sub", binaryFloats<std::minus<double>>},
      {"onnx.Mul", binaryFloats<std::multiplies<double>>},
      {"onnx.Div", binaryFloats<std::divides<double>>},
      {"onnx.Concat", concatFloats},
  };
  if (Floats constant = constantFloats(value))
    return constant;
  Operation *op = value.getDefiningOp();
  const ShapeInfo &info = table.get(value);
  if (!op || depth == 0 || !info.elementType || !(info.elementType.isF32() || info.elementType.isF64()) ||
      !info.ranked || info.rank() > 1)
    return std::nullopt;
  auto it = functions.find(op->getName().getStringRef());
  if (it == functions.end())
    return std::nullopt;
  Type element = info.elementType;
  Floats values = it->second(table, op, depth - 1);
  if (!values || (info.rank() == 1 ? !info.dims[0]->isConst(values->size()) : values->size() != 1))
    return std::nullopt;
  for (double &v : *values)
    v = rounded(v, element);
  return values;
}

std::optional<SmallVector<double>> optc::constantFloatsOf(ShapeTable &table, Value value) {
  return floatsAt(table, value, maxDepth);
}
