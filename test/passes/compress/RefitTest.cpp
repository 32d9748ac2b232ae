//===- RefitTest.cpp - layers that make up for lost inputs ----------------===//
#include "optc/passes/compress/Refit.h"
#include "mlir/Parser/Parser.h"
#include "optc/compiler/Dialects.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/passes/compress/Quantize.h"
#include "optc/passes/compress/Weights.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace optc;

namespace {
class Refit : public ::testing::Test {
protected:
  Refit() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
  }
  /// The only layer of a function with this body.
  Operation *layer(StringRef body) {
    module = parseSourceString<ModuleOp>(body, ParserConfig(&context));
    if (!module)
      return nullptr;
    SmallVector<Operation *> layers =
        compress::layersOf(module->lookupSymbol<func::FuncOp>("main"), /*withTables=*/false);
    return layers.size() == 1 ? layers.front() : nullptr;
  }
  std::vector<float> noise(size_t count) {
    std::vector<float> values(count);
    for (float &v : values) {
      state = state * 1664525u + 1013904223u;
      v = static_cast<float>(state >> 8) / (1 << 23) - 1;
    }
    return values;
  }
  static std::vector<float> elements(Value value) {
    onnx::ConstantBytes bytes(value.getDefiningOp<onnx::ConstantOp>().getValue());
    std::vector<float> all;
    for (int64_t i = 0; i < bytes.type().getNumElements(); ++i)
      all.push_back(static_cast<float>(floatAt(bytes, i)));
    return all;
  }
  std::string refusal(StringRef body) {
    std::string reason;
    Operation *op = layer(body);
    EXPECT_TRUE(op);
    EXPECT_FALSE(op && LayerFit::create(op, reason));
    return reason;
  }

  uint32_t state = 5;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(Refit, AConvolutionFindsItsWeights) {
  // Two channels in, three out, of which the layer that it was had four: windows with strides, dilations and padding.
  Operation *conv = layer(R"(func.func @main(%x: tensor<1x2x9x8xf32>) -> tensor<1x3x5x4xf32> {
    %w = onnx.Constant dense<0.0> : tensor<3x2x2x3xf32>
    %0 = "onnx.Conv"(%x, %w) {onnx.refit = array<i64: 0, 2, 3>, strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>,
        pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x9x8xf32>, tensor<3x2x2x3xf32>) -> tensor<1x3x5x4xf32>
    return %0 : tensor<1x3x5x4xf32>
  })");
  ASSERT_TRUE(conv);
  std::string reason;
  std::optional<LayerFit> fit = LayerFit::create(conv, reason);
  ASSERT_TRUE(fit) << reason;
  std::vector<float> w = noise(3 * 2 * 2 * 3), bias = noise(3);
  for (int run = 0; run < 20; ++run) {
    std::vector<float> x = noise(2 * 9 * 8), y(4 * 5 * 4, 100.0f);
    const int kept[] = {0, 2, 3};
    for (int o = 0; o < 3; ++o)
      for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 4; ++j) {
          double sum = bias[o];
          for (int c = 0; c < 2; ++c)
            for (int a = 0; a < 2; ++a)
              for (int b = 0; b < 3; ++b) {
                int row = i * 2 + a - 1, column = j + b * 2;
                if (row >= 0 && row < 9)
                  sum += w[((o * 2 + c) * 2 + a) * 3 + b] * x[(c * 9 + row) * 8 + column];
              }
          y[(kept[o] * 5 + i) * 4 + j] = static_cast<float>(sum);
        }
    ASSERT_TRUE(fit->add({x, {1, 2, 9, 8}}, {y, {1, 4, 5, 4}}, 7, run));
  }
  EXPECT_GE(fit->rows(), 100);
  double left = 1;
  ASSERT_TRUE(fit->apply(1e-9, left));
  EXPECT_LT(left, 1e-6);
  ASSERT_EQ(conv->getNumOperands(), 3u); // it has a bias now
  std::vector<float> foundWeights = elements(conv->getOperand(1)), foundBias = elements(conv->getOperand(2));
  for (auto [found, expected] : llvm::zip_equal(foundWeights, w))
    EXPECT_NEAR(found, expected, 1e-4);
  for (auto [found, expected] : llvm::zip_equal(foundBias, bias))
    EXPECT_NEAR(found, expected, 1e-4);
}

TEST_F(Refit, ProductsFindTheirWeights) {
  const char *const forms[] = {
      R"(func.func @main(%x: tensor<5x3xf32>) -> tensor<5x2xf32> {
        %w = onnx.Constant dense<0.0> : tensor<3x2xf32>
        %0 = "onnx.MatMul"(%x, %w) {onnx.refit = array<i64>} : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
        return %0 : tensor<5x2xf32>
      })",
      R"(func.func @main(%x: tensor<5x3xf32>) -> tensor<5x2xf32> {
        %w = onnx.Constant dense<0.0> : tensor<2x3xf32>
        %b = onnx.Constant dense<0.5> : tensor<1x2xf32>
        %0 = "onnx.Gemm"(%x, %w, %b) {onnx.refit = array<i64>, transB = 1 : i64} : (tensor<5x3xf32>, tensor<2x3xf32>, tensor<1x2xf32>) -> tensor<5x2xf32>
        return %0 : tensor<5x2xf32>
      })"};
  for (int form : {0, 1}) {
    Operation *op = layer(forms[form]);
    ASSERT_TRUE(op);
    std::string reason;
    std::optional<LayerFit> fit = LayerFit::create(op, reason);
    ASSERT_TRUE(fit) << reason;
    // y = [x0 + 2 x2, -x1], and 1 more in a Gemm.
    for (int run = 0; run < 10; ++run) {
      std::vector<float> x = noise(15), y;
      for (int row = 0; row < 5; ++row) {
        y.push_back(x[row * 3] + 2 * x[row * 3 + 2] + form);
        y.push_back(-x[row * 3 + 1] + form);
      }
      ASSERT_TRUE(fit->add({x, {5, 3}}, {y, {5, 2}}, 100, run));
    }
    double left;
    ASSERT_TRUE(fit->apply(1e-9, left));
    std::vector<float> expected = form ? std::vector<float>{1, 0, 2, 0, -1, 0} : std::vector<float>{1, 0, 0, -1, 2, 0};
    for (auto [found, value] : llvm::zip_equal(elements(op->getOperand(1)), expected))
      EXPECT_NEAR(found, value, 1e-4);
    if (form)
      for (float b : elements(op->getOperand(2)))
        EXPECT_NEAR(b, 1, 1e-4);
    EXPECT_EQ(op->getNumOperands(), form ? 3u : 2u);
  }
}

TEST_F(Refit, OtherShapesAreNotTaken) {
  Operation *op = layer(R"(func.func @main(%x: tensor<5x3xf32>) -> tensor<5x2xf32> {
    %w = onnx.Constant dense<0.0> : tensor<3x2xf32>
    %0 = "onnx.MatMul"(%x, %w) {onnx.refit = array<i64: 1, 3>} : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
    return %0 : tensor<5x2xf32>
  })");
  ASSERT_TRUE(op);
  std::string reason;
  std::optional<LayerFit> fit = LayerFit::create(op, reason);
  ASSERT_TRUE(fit);
  std::vector<float> x = noise(15), y = noise(20);
  EXPECT_FALSE(fit->add({x, {5, 3}}, {y, {10, 2}}, 9, 0)); // too few outputs for what stays
  EXPECT_FALSE(fit->add({x, {3, 5}}, {y, {5, 4}}, 9, 0));
  EXPECT_FALSE(fit->add({x, {5, 3}}, {y, {4, 5}}, 9, 0));
  EXPECT_FALSE(fit->add({x, {5, 4}}, {y, {5, 4}}, 9, 0)); // more than there are
  EXPECT_FALSE(fit->add({x, {}}, {y, {}}, 9, 0));
  double left;
  EXPECT_FALSE(fit->apply(1e-3, left)); // nothing was seen
  EXPECT_TRUE(fit->add({x, {5, 3}}, {y, {5, 4}}, 9, 0));
}

TEST_F(Refit, LayersThatCannotBeFittedSayWhy) {
  EXPECT_EQ(refusal(R"(func.func @main(%x: tensor<1x4x4xf32>) -> tensor<1x2x4xf32> {
    %w = onnx.Constant dense<0.0> : tensor<2x2x1xf32>
    %0 = "onnx.Conv"(%x, %w) {onnx.refit = array<i64>, group = 2 : i64} : (tensor<1x4x4xf32>, tensor<2x2x1xf32>) -> tensor<1x2x4xf32>
    return %0 : tensor<1x2x4xf32>
  })"),
            "it has groups, or pads that follow from the input");
  EXPECT_EQ(refusal(R"(func.func @main(%x: tensor<5x2000xf32>) -> tensor<5x2xf32> {
    %w = onnx.Constant dense<0.0> : tensor<2000x2xf32>
    %0 = "onnx.MatMul"(%x, %w) {onnx.refit = array<i64>} : (tensor<5x2000xf32>, tensor<2000x2xf32>) -> tensor<5x2xf32>
    return %0 : tensor<5x2xf32>
  })"),
            "it sums over 2000 inputs, more than the 1536 that are fitted");
  EXPECT_EQ(refusal(R"(func.func @main(%x: tensor<5x2xf64>) -> tensor<5x2xf64> {
    %w = onnx.Constant dense<0.0> : tensor<2x2xf64>
    %0 = "onnx.MatMul"(%x, %w) {onnx.refit = array<i64>} : (tensor<5x2xf64>, tensor<2x2xf64>) -> tensor<5x2xf64>
    return %0 : tensor<5x2xf64>
  })"),
            "its weights are no constant of float32");
}
