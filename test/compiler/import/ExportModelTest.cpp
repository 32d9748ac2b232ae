//===- ExportModelTest.cpp - modules as ONNX files ------------------------===//
#include "optc/compiler/import/ExportModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Parser/Parser.h"
#include "optc/codegen/CompileError.h"
#include "optc/compiler/Dialects.h"
#include "optc/compiler/import/Import.h"
#include "optc/dialects/onnx/Elements.h"
#include "optc/dialects/onnx/Onnx.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <deque>

using namespace llvm;
using namespace mlir;
using namespace optc;

namespace {
class ExportModel : public ::testing::Test {
protected:
  ExportModel() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    EXPECT_FALSE(sys::fs::createUniqueDirectory("optc-export", folder));
    path = folder;
    sys::path::append(path, "m.onnx");
  }
  ~ExportModel() override { sys::fs::remove_directories(folder); }

  /// A model of one addition per size, each with a constant of so many floats.
  OwningOpRef<ModuleOp> model(ArrayRef<int64_t> sizes) {
    OpBuilder b(&context);
    context.loadDialect<onnx::OnnxDialect, func::FuncDialect>();
    OwningOpRef<ModuleOp> module = ModuleOp::create(b.getUnknownLoc());
    b.setInsertionPointToEnd(module->getBody());
    mlir::Type scalar = RankedTensorType::get({1}, b.getF32Type());
    auto func = func::FuncOp::create(b, b.getUnknownLoc(), "main", b.getFunctionType(scalar, {}));
    b.setInsertionPointToEnd(func.addEntryBlock());
    SmallVector<Value> results;
    for (auto [i, size] : llvm::enumerate(sizes)) {
      auto type = RankedTensorType::get({size}, b.getF32Type());
      std::string &data = bytes.emplace_back(size * 4, '\0');
      for (size_t at = 0; at < data.size(); ++at)
        data[at] = static_cast<char>(at * 7 + i);
      ElementsAttr value = onnx::elementsAttr(type, bytes.back(), [&] {
        return UnmanagedAsmResourceBlob::allocateInferAlign(ArrayRef<char>(bytes.back()));
      });
      Location loc = NameLoc::get(b.getStringAttr("w" + std::to_string(i)));
      Value weight = onnx::ConstantOp::create(b, loc, value);
      results.push_back(onnx::createOp(b, loc, "Add", {func.getArgument(0), weight}, {type})->getResult(0));
    }
    func::ReturnOp::create(b, b.getUnknownLoc(), results);
    func.setFunctionType(b.getFunctionType(scalar, ValueRange(results).getTypes()));
    return module;
  }

  /// The constants of a file, in order, by their bytes.
  std::vector<std::string> readBack() {
    Problems problems;
    OwningOpRef<ModuleOp> module = importOnnxFile(context, path, {}, files, problems);
    EXPECT_TRUE(problems.empty()) << (problems.empty() ? "" : problems.list().front());
    std::vector<std::string> found;
    if (module)
      module->walk([&](onnx::ConstantOp op) {
        ArrayRef<char> raw;
        if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue()))
          raw = resource.getRawHandle().getBlob()->getData();
        else
          raw = cast<DenseElementsAttr>(op.getValue()).getRawData();
        found.push_back(std::string(raw.data(), raw.size()));
      });
    return found;
  }
  uint64_t sizeOf(StringRef file) {
    uint64_t size = 0;
    EXPECT_FALSE(sys::fs::file_size(file, size));
    return size;
  }
  ExitCode codeOf(Error error) {
    ExitCode code = ExitCode::Success;
    handleAllErrors(std::move(error), [&](const CompileError &e) { code = e.code(); });
    return code;
  }

  ImportedFiles files; // outlives the context
  MLIRContext context;
  std::deque<std::string> bytes;
  SmallString<128> folder, path;
  ExportStats stats;
};
} // namespace

TEST_F(ExportModel, WeightsLieInTheModelWhileItIsSmall) {
  OwningOpRef<ModuleOp> module = model({4, 2000, 1024});
  ASSERT_FALSE(bool(writeOnnxFile(*module, path, {}, stats)));
  EXPECT_EQ(stats.weightBytes, 8000u + 4096u);
  EXPECT_EQ(stats.fileBytes, sizeOf(path));
  EXPECT_FALSE(sys::fs::exists(externalDataPath(path)));
  std::vector<std::string> found = readBack();
  ASSERT_EQ(found.size(), 3u);
  for (const std::string &expected : bytes)
    EXPECT_TRUE(llvm::is_contained(found, expected));
}

TEST_F(ExportModel, WeightsOfALargeModelLieBesideIt) {
  OwningOpRef<ModuleOp> module = model({4, 2000, 1023, 1024});
  ExportOptions options;
  options.mostModelBytes = 8000; // in place of 2 GiB
  ASSERT_FALSE(bool(writeOnnxFile(*module, path, options, stats)));
  // What is smaller than a page stays; the others begin at pages.
  EXPECT_EQ(sizeOf(externalDataPath(path)), 8192u + 4096u);
  EXPECT_LT(sizeOf(path), 8000u);
  EXPECT_EQ(stats.fileBytes, sizeOf(path) + sizeOf(externalDataPath(path)));
  std::vector<std::string> found = readBack();
  ASSERT_EQ(found.size(), 4u);
  for (const std::string &expected : bytes)
    EXPECT_TRUE(llvm::is_contained(found, expected));
}

TEST_F(ExportModel, ALimitOrAFaultLeavesNoFile) {
  OwningOpRef<ModuleOp> module = model({2000});
  ExportOptions options;
  options.maxBytes = 8000;
  EXPECT_EQ(codeOf(writeOnnxFile(*module, path, options, stats)), ExitCode::Limit);
  module = model({1000, 1001, 1002});
  options = {};
  options.mostModelBytes = 4000; // pages are too large for these
  EXPECT_EQ(codeOf(writeOnnxFile(*module, path, options, stats)), ExitCode::Input);
  module = model({2000});
  EXPECT_EQ(codeOf(writeOnnxFile(*module, (folder + "/none/m.onnx").str(), {}, stats)), ExitCode::Environment);
  std::error_code error;
  EXPECT_EQ(sys::fs::directory_iterator(folder, error), sys::fs::directory_iterator());
}

TEST_F(ExportModel, ModulesThatAreNoModelsAreRefused) {
  for (StringRef text : {"module {}", "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                                      "  %0 = arith.negf %x : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}"}) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    ASSERT_TRUE(module);
    EXPECT_EQ(codeOf(writeOnnxFile(*module, path, {}, stats)), ExitCode::Input);
  }
  EXPECT_FALSE(sys::fs::exists(path));
}
