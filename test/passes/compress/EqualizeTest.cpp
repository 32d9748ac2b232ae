//===- EqualizeTest.cpp - float layers that lose less when quantized ------===//
#include "optc/passes/compress/Equalize.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "optc/compiler/Dialects.h"
#include "optc/dialects/onnx/Constants.h"
#include "optc/dialects/onnx/Onnx.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace optc;
using namespace optc::compress;

namespace {
class Equalize : public ::testing::Test {
protected:
  Equalize() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
  }
  func::FuncOp parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    return module ? module->lookupSymbol<func::FuncOp>("main") : func::FuncOp();
  }
  template <typename OpT> OpT find() {
    OpT found;
    module->walk([&](OpT op) { found = op; });
    return found;
  }
  unsigned count(StringRef name) {
    unsigned n = 0;
    module->walk([&](Operation *op) { n += op->getName().getStringRef() == name; });
    return n;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

static ChannelStats seen(float low, float high) {
  ChannelStats stats;
  stats.range = {low, high};
  stats.squares = double(high) * high;
  stats.count = 1;
  return stats;
}

TEST(ChannelStats, AlongAnAxis) {
  std::vector<ChannelStats> stats(2);
  std::vector<float> values = {1, -2, 10, 20, 3, 4, 30, 40}; // [2, 2, 2]
  ASSERT_TRUE(addChannels(stats, values, {2, 2, 2}, 1));
  EXPECT_EQ(stats[0].range.low, -2);
  EXPECT_EQ(stats[0].range.high, 4);
  EXPECT_EQ(stats[1].range.low, 0); // with zero
  EXPECT_EQ(stats[1].range.high, 40);
  EXPECT_EQ(stats[0].meanSquare(), (1 + 4 + 9 + 16) / 4.0);
  EXPECT_FALSE(addChannels(stats, values, {2, 4}, 1));
  EXPECT_FALSE(addChannels(stats, values, {8}, 1));
  EXPECT_FALSE(addChannels(stats, std::vector<float>{1, NAN}, {1, 2}, 1));
}

// A depthwise convolution gives every channel all levels; the factors go through Relu into the convolution before it.
TEST_F(Equalize, DepthwiseBehindAConvolution) {
  func::FuncOp main = parse(R"(
    func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
      %w = onnx.Constant dense<[[[[1.0]]], [[[0.125]]]]> : tensor<2x1x1x1xf32>
      %b = onnx.Constant dense<[2.0, 4.0]> : tensor<2xf32>
      %v = onnx.Constant dense<[[[[3.0]]], [[[5.0]]]]> : tensor<2x1x1x1xf32>
      %0 = "onnx.Conv"(%x, %w, %b) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
      %1 = "onnx.Relu"(%0) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
      %2 = "onnx.Conv"(%1, %v) {group = 2 : i64} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
      return %2 : tensor<1x2x4x4xf32>
    })");
  ASSERT_TRUE(main);
  std::vector<EqualizeSite> sites = equalizeSites(main);
  ASSERT_EQ(sites.size(), 1u); // the first convolution reads one channel
  EXPECT_EQ(sites[0].channels, 2);
  Equalization choice = chooseFactors(sites[0], {seen(0, 8), seen(0, 1)});
  ASSERT_EQ(choice.factors.size(), 2u);
  EXPECT_TRUE(choice.isFree);
  EXPECT_GT(choice.decibels, 1);
  EXPECT_FLOAT_EQ(choice.factors[0] / choice.factors[1], 8);
  equalize(sites[0], choice);
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(count("onnx.Mul"), 0u);
  SmallVector<Operation *> layers = layersOf(main, /*withTables=*/false);
  auto before = *onnx::floatsOf(layers[0]->getOperand(1)), bias = *onnx::floatsOf(layers[0]->getOperand(2));
  auto behind = *onnx::floatsOf(layers[1]->getOperand(1));
  for (int c : {0, 1}) {
    EXPECT_FLOAT_EQ(before[c], (c ? 0.125f : 1) / choice.factors[c]);
    EXPECT_FLOAT_EQ(bias[c], (c ? 4 : 2) / choice.factors[c]);
    EXPECT_FLOAT_EQ(behind[c], (c ? 5 : 3) * choice.factors[c]);
  }
}

// Sums of constants are divided, too; the factors end in a product, whose scalar becomes one per channel.
TEST_F(Equalize, ScalarsBecomeChannels) {
  func::FuncOp main = parse(R"(
    func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
      %s = onnx.Constant dense<6.0> : tensor<1xf32>
      %t = onnx.Constant dense<2.0> : tensor<1xf32>
      %v = onnx.Constant dense<[[[[3.0]]], [[[5.0]]]]> : tensor<2x1x1x1xf32>
      %e = "onnx.Sigmoid"(%x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
      %0 = "onnx.Div"(%e, %s) : (tensor<1x2x4x4xf32>, tensor<1xf32>) -> tensor<1x2x4x4xf32>
      %1 = "onnx.Add"(%t, %0) : (tensor<1xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
      %2 = "onnx.Conv"(%1, %v) {group = 2 : i64} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
      return %2 : tensor<1x2x4x4xf32>
    })");
  ASSERT_TRUE(main);
  std::vector<EqualizeSite> sites = equalizeSites(main);
  ASSERT_EQ(sites.size(), 1u);
  Equalization choice = chooseFactors(sites[0], {seen(0, 8), seen(0, 1)});
  ASSERT_TRUE(choice.isFree && !choice.factors.empty());
  equalize(sites[0], choice);
  EXPECT_TRUE(succeeded(verify(*module)));
  auto divisor = *onnx::floatsOf(find<onnx::DivOp>()->getOperand(1));
  auto term = *onnx::floatsOf(find<onnx::AddOp>()->getOperand(0));
  ASSERT_EQ(divisor.size(), 2u);
  ASSERT_EQ(term.size(), 2u);
  for (int c : {0, 1}) {
    EXPECT_FLOAT_EQ(divisor[c], 6 * choice.factors[c]);
    EXPECT_FLOAT_EQ(term[c], 2 / choice.factors[c]);
  }
}

// Someone else reads the value: what it is divided by is a multiplication of its own, where that pays.
TEST_F(Equalize, OtherReadersKeepTheValue) {
  func::FuncOp main = parse(R"(
    func.func @main(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
      %w = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
      %0 = "onnx.Exp"(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32>
      %1 = "onnx.MatMul"(%0, %w) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
      return %1, %0 : tensor<4x2xf32>, tensor<4x2xf32>
    })");
  ASSERT_TRUE(main);
  std::vector<EqualizeSite> sites = equalizeSites(main);
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_TRUE(chooseFactors(sites[0], {seen(0, 1), seen(0, 1)}).factors.empty()); // nothing to gain
  EXPECT_TRUE(chooseFactors(sites[0], {seen(0, 0), seen(0, 0)}).factors.empty());
  Equalization choice = chooseFactors(sites[0], {seen(0, 100), seen(0, 1)});
  EXPECT_FALSE(choice.isFree);
  Equalization forced = choice;
  forced.factors = {2, 0.5f};
  equalize(sites[0], forced);
  EXPECT_TRUE(succeeded(verify(*module)));
  auto mul = find<onnx::MulOp>();
  ASSERT_TRUE(mul);
  EXPECT_EQ(*onnx::floatsOf(mul->getOperand(1)), (std::vector<float>{0.5f, 2}));
  EXPECT_EQ(*onnx::floatsOf(find<onnx::MatMulOp>()->getOperand(1)), (std::vector<float>{2, 4, 1.5f, 2}));
  EXPECT_EQ(main.getBody().front().getTerminator()->getOperand(1), mul->getOperand(0));
}

// What only moves elements stays on integers: no multiplication behind it.
TEST_F(Equalize, NothingBehindWhatMovesElements) {
  func::FuncOp main = parse(R"(
    func.func @main(%x: tensor<2x4xf32>) -> tensor<4x2xf32> {
      %w = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
      %0 = "onnx.Transpose"(%x) {perm = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
      %1 = "onnx.MatMul"(%0, %w) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
      return %1 : tensor<4x2xf32>
    })");
  ASSERT_TRUE(main);
  std::vector<EqualizeSite> sites = equalizeSites(main);
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_TRUE(chooseFactors(sites[0], {seen(0, 100), seen(0, 1)}).factors.empty());
}

// Shifts go into biases: of a convolution that had none, of the sum behind a product; layers kept float have none.
TEST_F(Equalize, ShiftsAreSubtracted) {
  func::FuncOp main = parse(R"(
    func.func @main(%x: tensor<1x2x1x1xf32>, %m: tensor<3x2xf32>)
        -> (tensor<1x2x1x1xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
      %k = onnx.Constant dense<1.0> : tensor<2x2x1x1xf32>
      %w = onnx.Constant dense<1.0> : tensor<2x2xf32>
      %b = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
      %0 = "onnx.Conv"(%x, %k) {onnx.shift = array<f32: 0.5, -0.5>} : (tensor<1x2x1x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x1x1xf32>
      %1 = "onnx.MatMul"(%m, %w) {onnx.shift = array<f32: 0.25, 0.0>} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
      %2 = "onnx.Add"(%b, %1) : (tensor<2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
      %3 = "onnx.MatMul"(%m, %w) {onnx.shift = array<f32: 0.0, 1.0>, onnx.range = array<f32: 0.0, 3.0>} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
      %4 = "onnx.MatMul"(%m, %w) {onnx.shift = array<f32: 1.0, 1.0>, onnx.keep_float = "so"} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
      return %0, %2, %3, %4 : tensor<1x2x1x1xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
    })");
  ASSERT_TRUE(main);
  correctBiases(main);
  ASSERT_TRUE(succeeded(verify(*module)));
  auto conv = find<onnx::ConvOp>();
  ASSERT_EQ(conv->getNumOperands(), 3u);
  EXPECT_EQ(*onnx::floatsOf(conv->getOperand(2)), (std::vector<float>{-0.5f, 0.5f}));
  Operation *end = main.getBody().front().getTerminator();
  EXPECT_EQ(*onnx::floatsOf(end->getOperand(1).getDefiningOp()->getOperand(0)), (std::vector<float>{0.75f, 2}));
  Operation *sum = end->getOperand(2).getDefiningOp();
  ASSERT_TRUE(isa<onnx::AddOp>(sum));
  EXPECT_EQ(*onnx::floatsOf(sum->getOperand(1)), (std::vector<float>{0, -1}));
  EXPECT_TRUE(rangeOf(sum->getResult(0)));
  EXPECT_TRUE(isa<onnx::MatMulOp>(end->getOperand(3).getDefiningOp()));
}
