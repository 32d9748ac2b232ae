//===- EvaluateTest.cpp - modules compiled and run inside the compiler ----===//
#include "optc/compiler/Evaluate.h"
#include "mlir/Parser/Parser.h"
#include "optc/compiler/Dialects.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace {
struct EvaluateTest : testing::Test {
  EvaluateTest() : context(registry()) {}
  static DialectRegistry registry() {
    DialectRegistry registry;
    optc::registerDialects(registry);
    return registry;
  }
  /// The message of a failure, empty when it worked.
  std::string evaluate(StringRef text, ArrayRef<ArrayRef<char>> inputs, ArrayRef<MutableArrayRef<char>> outputs) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return "the text does not parse";
    return llvm::toString(optc::evaluateModule(*module, inputs, outputs));
  }
  template <typename T> static ArrayRef<char> bytes(ArrayRef<T> values) {
    return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
  }
  template <typename T> static MutableArrayRef<char> room(MutableArrayRef<T> values) {
    return {reinterpret_cast<char *>(values.data()), values.size() * sizeof(T)};
  }
  MLIRContext context;
};
} // namespace

TEST_F(EvaluateTest, ConstantsAndArguments) {
  float x[] = {1, 2, 3, 4}, y[4] = {}, z[2] = {};
  EXPECT_EQ(evaluate(R"(
    func.func @main(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>) {
      %c = onnx.Constant dense<[10.0, 20.0]> : tensor<2xf32>
      %0 = "onnx.Add"(%x, %c) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
      %axes = onnx.Constant dense<1> : tensor<1xi64>
      %1 = "onnx.ReduceSum"(%0, %axes) {keepdims = 0 : i64} : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<2xf32>
      return %0, %1 : tensor<2x2xf32>, tensor<2xf32>
    })",
                     {bytes<float>(x)}, {room<float>(y), room<float>(z)}),
            "");
  EXPECT_EQ((std::vector<float>(y, y + 4)), (std::vector<float>{11, 22, 13, 24}));
  EXPECT_EQ((std::vector<float>(z, z + 2)), (std::vector<float>{33, 37}));
}

// Constants of any alignment; the conversions without F16C come from the runtime.
TEST_F(EvaluateTest, HalfAtOddAddress) {
  alignas(4) char memory[5] = {0, 0x00, 0x3c, 0x00, '\xc0'}; // 1, -2
  float y[2] = {};
  EXPECT_EQ(evaluate(R"(
    func.func @main(%x: tensor<2xf16>) -> tensor<2xf32> {
      %0 = "onnx.Cast"(%x) {to = 1 : i64} : (tensor<2xf16>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    })",
                     {ArrayRef<char>(memory + 1, 4)}, {room<float>(y)}),
            "");
  EXPECT_EQ(y[0], 1.0f);
  EXPECT_EQ(y[1], -2.0f);
}

// libm differs between machines, so there is none.
TEST_F(EvaluateTest, RefusesLibm) {
  float x[] = {1}, y[1] = {};
  std::string reason = evaluate(R"(
    func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
      %0 = "onnx.Exp"(%x) : (tensor<1xf32>) -> tensor<1xf32>
      return %0 : tensor<1xf32>
    })",
                                {bytes<float>(x)}, {room<float>(y)});
  EXPECT_NE(reason.find("expf"), std::string::npos) << reason;
}

TEST_F(EvaluateTest, RefusesOperatorsOfTheRuntime) {
  float x[] = {1};
  int64_t y[1] = {};
  std::string reason = evaluate(R"(
    func.func @main(%x: tensor<1xf32>) -> tensor<1x1xi64> {
      %0 = "onnx.NonZero"(%x) : (tensor<1xf32>) -> tensor<1x1xi64>
      return %0 : tensor<1x1xi64>
    })",
                                {bytes<float>(x)}, {room<int64_t>(y)});
  EXPECT_NE(reason, "");
}

// What a pass refuses is the message; nothing is printed.
TEST_F(EvaluateTest, SaysWhatIsRefused) {
  float x[] = {1}, y[1] = {};
  testing::internal::CaptureStderr();
  std::string reason = evaluate(R"(
    func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
      %y = onnx.Constant dense<0.0> : tensor<2x3xf32>
      %0 = "onnx.MatMul"(%y, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %1 = "onnx.ReduceSum"(%0) {keepdims = 0 : i64} : (tensor<2x3xf32>) -> tensor<f32>
      %2 = "onnx.Add"(%x, %1) : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
      return %2 : tensor<1xf32>
    })",
                                {bytes<float>(x)}, {room<float>(y)});
  EXPECT_NE(reason.find("MatMul"), std::string::npos) << reason;
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// A check of the model that does not hold ends the nested run only.
TEST_F(EvaluateTest, RunThatFails) {
  int64_t x[] = {3};
  float y[1] = {};
  std::string reason = evaluate(R"(
    func.func @main(%n: tensor<1xi64>) -> tensor<1xf32> {
      %x = onnx.Constant dense<1.0> : tensor<2xf32>
      %0 = "onnx.ReduceSum"(%x, %n) : (tensor<2xf32>, tensor<1xi64>) -> tensor<?xf32>
      %1 = "onnx.ReduceSum"(%0) : (tensor<?xf32>) -> tensor<1xf32>
      return %1 : tensor<1xf32>
    })",
                                {bytes<int64_t>(x)}, {room<float>(y)});
  EXPECT_NE(reason.find("out of range"), std::string::npos) << reason;
}
