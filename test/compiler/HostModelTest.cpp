//===- HostModelTest.cpp - modules that run inside the compiler -----------===//
#include "optc/compiler/HostModel.h"
#include "mlir/Parser/Parser.h"
#include "optc/codegen/CompileError.h"
#include "optc/compiler/Dialects.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace optc;

namespace {
struct HostModelTest : testing::Test {
  HostModelTest() : context(registry()) {}
  static DialectRegistry registry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }
  llvm::Expected<std::unique_ptr<HostModel>> compile(StringRef text, StringRef target = "native") {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return HostModel::compile(*module, cantFail(resolveTarget(target)), /*optLevel=*/3);
  }
  static run::Value floats(std::vector<float> elements) {
    run::Value value;
    value.kind = OPTC_TENSOR;
    value.dtype = OPTC_FLOAT;
    value.dims = {int64_t(elements.size())};
    auto *bytes = reinterpret_cast<const char *>(elements.data());
    value.data.assign(bytes, bytes + elements.size() * sizeof(float));
    return value;
  }
  MLIRContext context;
};
} // namespace

// Operators that need libm and sizes that only a run knows; a second run replaces the outputs of the first.
TEST_F(HostModelTest, RunsMoreThanOnce) {
  auto model = compile(R"(
    func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
      %0 = "onnx.Sin"(%x) : (tensor<?xf32>) -> tensor<?xf32>
      %1 = "onnx.Add"(%0, %x) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %0, %1 : tensor<?xf32>, tensor<?xf32>
    })");
  ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
  for (float x : {0.0f, 2.0f}) {
    auto outputs = (*model)->run({floats({x, 1})});
    ASSERT_TRUE(bool(outputs)) << llvm::toString(outputs.takeError());
    ASSERT_EQ(outputs->size(), 2u);
    EXPECT_NEAR(static_cast<const float *>((*outputs)[0].tensor.data)[0], std::sin(x), 1e-6);
    EXPECT_NEAR(static_cast<const float *>((*outputs)[1].tensor.data)[0], std::sin(x) + x, 1e-6);
    EXPECT_EQ((*outputs)[0].tensor.shape[0], 2);
  }
}

TEST_F(HostModelTest, FailuresHaveReasons) {
  auto model = compile(R"(
    func.func @main(%x: tensor<?xf32>) -> tensor<2xf32> {
      %shape = onnx.Constant dense<2> : tensor<1xi64>
      %0 = "onnx.Reshape"(%x, %shape) : (tensor<?xf32>, tensor<1xi64>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    })");
  ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
  auto outputs = (*model)->run({floats({1, 2, 3})});
  ASSERT_FALSE(bool(outputs));
  EXPECT_NE(llvm::toString(outputs.takeError()), "");
  auto none = (*model)->run({});
  EXPECT_FALSE(bool(none));
  llvm::consumeError(none.takeError());
}

// What this machine cannot run is compiled for what it can.
TEST_F(HostModelTest, RunnableTarget) {
  Target target = cantFail(resolveTarget("native"));
  EXPECT_EQ(cantFail(runnableTarget(target)).cpu, target.cpu);
  target.cpuFeatures |= uint64_t(1) << 63; // of a CPU to come
  EXPECT_NE(cantFail(runnableTarget(target)).cpuFeatures, target.cpuFeatures);
  Target other = cantFail(resolveTarget(target.isX86() ? "aarch64" : "x86-64-v2"));
  EXPECT_NE(cantFail(runnableTarget(other)).triple, other.triple);
}
