//===- ShapeTest.cpp - symbolic sizes and the table of operators -----------===//
#include "optc/dialects/onnx/Shape.h"
#include "optc/dialects/onnx/Einsum.h"
#include "optc/dialects/onnx/Onnx.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace optc;

namespace {
class DimTest : public ::testing::Test {
protected:
  DimTest() {
    context.loadDialect<onnx::OnnxDialect>();
    OpBuilder b(&context);
    auto type = RankedTensorType::get({2}, b.getI64Type());
    module = ModuleOp::create(b.getUnknownLoc());
    b.setInsertionPointToStart(module->getBody());
    auto constant = onnx::ConstantOp::create(b, b.getUnknownLoc(), DenseElementsAttr::get(type, int64_t(1)));
    value = constant.getOutput();
    n = t.leaf(value, 0);
    m = t.leaf(value, 1);
  }
  Dim c(int64_t v) { return t.constant(v); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Value value;
  DimTable t;
  Dim n, m;
};

TEST_F(DimTest, EqualExpressionsAreOne) {
  EXPECT_EQ(t.add(n, m), t.add(m, n));
  EXPECT_EQ(t.sub(t.add(n, 1), 1), n);
  EXPECT_EQ(t.mul(t.mul(n, m), 6), t.mul(t.mul(m, 2), t.mul(n, 3)));
  EXPECT_EQ(t.mul(t.add(t.mul(n, 2), 2), m), t.mul(t.mul(t.add(n, 1), m), 2));
  EXPECT_EQ(t.sub(n, n), c(0));
  EXPECT_EQ(t.sub(t.mul(n, 3), t.add(n, n)), n);
}

TEST_F(DimTest, Division) {
  EXPECT_EQ(t.floorDiv(t.mul(n, m), m), n);
  EXPECT_EQ(t.floorDiv(t.mul(n, 12), 4), t.mul(n, 3));
  EXPECT_EQ(t.floorDiv(t.add(t.mul(n, 4), 7), 4), t.add(n, 1));
  // Padding of a stride-2 window, both ways.
  EXPECT_EQ(t.ceilDiv(n, 2), t.add(t.floorDiv(t.sub(n, 1), 2), 1));
  EXPECT_EQ(t.floorDiv(t.floorDiv(n, 2), 3), t.floorDiv(n, 6));
  EXPECT_EQ(t.floorDiv(c(-7), 2), c(-4));
  EXPECT_EQ(t.mod(t.mul(n, 8), c(4)), c(0));
  EXPECT_EQ(t.floorDiv(n, c(0))->kind, DimKind::FloorDiv);
}

TEST_F(DimTest, OverflowStaysSymbolic) {
  Dim big = c(std::numeric_limits<int64_t>::max());
  EXPECT_FALSE(t.add(big, big)->isConst());
  EXPECT_FALSE(t.mul(big, big)->isConst());
  Dim low = c(std::numeric_limits<int64_t>::min());
  EXPECT_FALSE(t.sub(c(0), low)->isConst());
  EXPECT_FALSE(t.floorDiv(low, c(-1))->isConst());
  EXPECT_FALSE(t.mul(t.sub(n, low), low)->isConst());
}

TEST_F(DimTest, MinMax) {
  EXPECT_EQ(t.max(n, c(0)), n);
  EXPECT_EQ(t.min(n, t.add(n, m)), n);
  EXPECT_EQ(t.max(n, m), t.max(m, n));
  EXPECT_NE(t.max(t.element(value, 0), c(0)), t.element(value, 0));
}

TEST_F(DimTest, Broadcast) {
  EXPECT_EQ(t.broadcast(n, c(1)), n);
  EXPECT_EQ(t.broadcast(n, c(5)), c(5));
  EXPECT_EQ(t.broadcast(c(2), c(3)), nullptr);
  EXPECT_EQ(t.broadcast(t.broadcast(n, m), m), t.broadcast(m, n));
}

TEST_F(DimTest, SharedPartsCostNothing) {
  Dim d = n;
  for (int i = 0; i < 200; ++i)
    d = t.mul(t.max(d, m), t.min(d, m));
  std::string text;
  llvm::raw_string_ostream os(text);
  t.print(os, d);
  EXPECT_LT(text.size(), 1000u);
}

TEST(OpTable, EveryOperatorHasAShapeFunction) {
  for (const onnx::OpInfo &info : onnx::allOps())
    EXPECT_TRUE(shapeFunctions().count(info.mlirName)) << info.mlirName.str();
}

TEST(OpTable, EveryOperatorIsAnOp) {
  MLIRContext context;
  context.loadDialect<onnx::OnnxDialect>();
  for (const onnx::OpInfo &info : onnx::allOps()) {
    EXPECT_TRUE(RegisteredOperationName::lookup(info.mlirName, &context)) << info.mlirName.str();
    EXPECT_EQ(onnx::lookupOp(info.domain, info.name), &info);
  }
  EXPECT_EQ(onnx::lookupOp("", "NoSuchOp"), nullptr);
  EXPECT_EQ(onnx::lookupOp("ai.onnx", "Add"), onnx::lookupOp("", "Add"));
}

TEST(OpTable, AbsentOperandsKeepTheirPositions) {
  MLIRContext context;
  context.loadDialect<onnx::OnnxDialect>();
  OpBuilder b(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToStart(module->getBody());
  auto type = RankedTensorType::get({}, b.getF32Type());
  Value x = onnx::ConstantOp::create(b, b.getUnknownLoc(), DenseElementsAttr::get(type, 1.0f)).getOutput();
  Operation *clip = onnx::createOp(b, b.getUnknownLoc(), "Clip", {x, Value(), x}, {type});
  ASSERT_TRUE(clip);
  EXPECT_EQ(onnx::operand(clip, 1), Value());
  EXPECT_EQ(onnx::operand(clip, 2), x);
  EXPECT_EQ(onnx::numOperandPositions(clip), 3u);
  EXPECT_EQ(onnx::createOp(b, b.getUnknownLoc(), "Clip", {}, {type}), nullptr);
  EXPECT_EQ(onnx::createOp(b, b.getUnknownLoc(), "Relu", {x, x}, {type}), nullptr);
}

TEST(Einsum, Parse) {
  auto e = parseEinsum("...ij, jk -> ...ik", {4, 2});
  ASSERT_TRUE(bool(e));
  EXPECT_EQ(e->numEllipsis, 2u);
  EXPECT_EQ(e->output.size(), 4u);
  auto implicit = parseEinsum("ba", {2});
  ASSERT_TRUE(bool(implicit));
  EXPECT_EQ(implicit->output[0], implicit->inputs[0][1]);
  for (StringRef bad : {"ij", "i..j->ij", "i1->i", "ij->ii", "ij->k", "......->", ""}) {
    auto failed = parseEinsum(bad, {bad == "ij" ? 3 : 2});
    EXPECT_FALSE(bool(failed)) << bad.str();
    if (!failed)
      llvm::consumeError(failed.takeError());
  }
}
} // namespace
