//===- ShapeFuzzTest.cpp - shape functions on arbitrary ops ----------------===//
//
// Every operator with random operands and attributes, right or wrong: a shape function answers or refuses, it never
// crashes. The seed is fixed.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Diagnostics.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/dialects/onnx/Shape.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace optc;

namespace {
class Fuzzer {
public:
  explicit Fuzzer(unsigned seed) : builder(&context), random(seed) {
    context.loadDialect<onnx::OnnxDialect, func::FuncDialect>();
    // Refusals are expected.
    context.getDiagEngine().registerHandler([](Diagnostic &) { return success(); });
  }

  void run(const onnx::OpInfo &info) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
    SmallVector<Value> operands;
    for (const onnx::ValueInfo &v : info.inputs) {
      unsigned count = v.variadic() ? pick(5) : v.optional() && pick(2) ? 0 : 1;
      if (v.optional() && !count)
        operands.push_back(Value());
      for (unsigned i = 0; i < count; ++i)
        operands.push_back(value(v.types));
    }
    SmallVector<Type> results;
    for (const onnx::ValueInfo &v : info.outputs) {
      unsigned count = v.variadic() ? 1 + pick(3) : v.optional() && pick(2) ? 0 : 1;
      if (v.optional() && !count)
        results.push_back(Type());
      for (unsigned i = 0; i < count; ++i)
        results.push_back(UnrankedTensorType::get(builder.getF32Type()));
    }
    SmallVector<NamedAttribute> attributes;
    for (const onnx::AttrInfo &a : info.attributes)
      if (Attribute value = attribute(a.kind); value && pick(4))
        attributes.push_back(builder.getNamedAttr(a.name, value));
    Operation *op = onnx::createOp(builder, builder.getUnknownLoc(), info, operands, results, attributes);
    if (!op)
      return;
    ShapeTable table;
    for (Operation &each : *module->getBody())
      (void)inferOp(&each, table);
  }

private:
  unsigned pick(unsigned n) { return random() % n; }

  int64_t integer() {
    static const int64_t odd[] = {0, 1, -1, 2, 3, -2, 4, 7, 64, 1000, INT32_MAX, INT64_MAX, INT64_MIN, -5};
    return odd[pick(pick(4) ? 8 : std::size(odd))];
  }

  Type elementType(uint64_t types) {
    for (int i = 0; i < 40; ++i)
      if (int number = 1 + pick(26); types >> number & 1)
        if (Type type = onnx::elementTypeOf(&context, number))
          return type;
    return builder.getF32Type();
  }

  /// A small constant, or a value of any shape (an op that nothing knows).
  Value value(uint64_t types) {
    Location loc = builder.getUnknownLoc();
    Type element = elementType(types);
    SmallVector<int64_t> shape;
    for (unsigned i = 0, e = pick(5); i < e; ++i)
      shape.push_back(pick(4) ? int64_t(pick(7)) : ShapedType::kDynamic);
    if (element.isSignlessInteger(64) && pick(3)) {
      SmallVector<int64_t> content;
      for (unsigned i = 0, e = pick(6); i < e; ++i)
        content.push_back(integer());
      bool scalar = content.size() == 1 && pick(2);
      auto type =
          scalar ? RankedTensorType::get({}, element) : RankedTensorType::get({int64_t(content.size())}, element);
      return onnx::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef<int64_t>(content)))
          .getOutput();
    }
    Type type = UnrankedTensorType::get(element);
    if (pick(6))
      type = RankedTensorType::get(shape, element);
    if (!(types & 0xffffffff) || (types >> 32 && !pick(3)))
      type = pick(2) ? Type(onnx::SeqType::get(&context, type)) : Type(onnx::OptType::get(&context, type));
    return UnrealizedConversionCastOp::create(builder, loc, type, ValueRange()).getResult(0);
  }

  Attribute attribute(onnx::AttrKind kind) {
    switch (kind) {
    case onnx::AttrKind::Int:
      return builder.getI64IntegerAttr(integer());
    case onnx::AttrKind::Float:
      return builder.getF32FloatAttr(0.5f);
    case onnx::AttrKind::String: {
      static const char *const texts[] = {"",          "SAME_UPPER", "VALID",     "none", "bidirectional",
                                          "ij,jk->ik", "...i->...",  "not_larger"};
      return builder.getStringAttr(texts[pick(std::size(texts))]);
    }
    case onnx::AttrKind::Ints: {
      SmallVector<int64_t> values;
      for (unsigned i = 0, e = pick(6); i < e; ++i)
        values.push_back(integer());
      return builder.getDenseI64ArrayAttr(values);
    }
    case onnx::AttrKind::Floats:
      return builder.getDenseF32ArrayAttr({1.0f, 2.0f});
    case onnx::AttrKind::Strings:
      return builder.getStrArrayAttr({"a", "b"});
    case onnx::AttrKind::Tensor:
      return DenseElementsAttr::get(RankedTensorType::get({1}, builder.getI64Type()), integer());
    case onnx::AttrKind::Type:
      return TypeAttr::get(RankedTensorType::get({2}, builder.getF32Type()));
    case onnx::AttrKind::SparseTensor:
    case onnx::AttrKind::Graph:
      return Attribute();
    }
    return Attribute();
  }

  MLIRContext context;
  OpBuilder builder;
  std::mt19937 random;
};

TEST(ShapeFunctions, NeverCrash) {
  Fuzzer fuzzer(1);
  for (const onnx::OpInfo &info : onnx::allOps())
    for (int i = 0; i < 200; ++i)
      fuzzer.run(info);
}
} // namespace
