//===- Emulated.h - device code in a test ----------------------------------===//
#ifndef OPTC_TEST_CODEGEN_CUDA_EMULATED_H
#define OPTC_TEST_CODEGEN_CUDA_EMULATED_H
#include "optc/codegen/CompileError.h"
#include "optc/codegen/cuda/emulate/Emulate.h"
#include "optc/runtime/emulator/Emulator.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include <gtest/gtest.h>
#include <vector>

namespace optc::test {

/// Parses a module of device code: the text begins with the target.
inline std::unique_ptr<llvm::Module> parseDevice(llvm::StringRef text, llvm::LLVMContext &context) {
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(("target triple = \"nvptx64-nvidia-cuda\"\n" + text).str(), problem, context);
  if (!module)
    ADD_FAILURE() << problem.getMessage().str() << " in line " << problem.getLineNo() << ": "
                  << problem.getLineContents().str();
  return module;
}

/// What the rewriting says of a module that it has to refuse.
inline std::string refusal(llvm::StringRef text) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseDevice(text, context);
  return module ? toString(cuda::rewriteForEmulation(*module)) : "";
}

/// Kernels from LLVM IR in an engine of their own.
class Emulated {
public:
  explicit Emulated(llvm::StringRef text, const char *modes = "") : engine(nullptr, [](emulator::Engine *) {}) {
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    emulator::Modes parsed;
    std::string problem;
    EXPECT_TRUE(emulator::parseModes(modes, parsed, problem)) << problem;
    engine = emulator::createEngine(parsed);
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module = parseDevice(text, context);
    if (!module)
      return;
    llvm::Expected<llvm::SmallVector<char, 0>> bytes = cuda::makeEmulationImage(std::move(module));
    if (!bytes) {
      ADD_FAILURE() << toString(bytes.takeError());
      return;
    }
    image = emulator::loadImage(*engine, bytes->data(), bytes->size(), problem);
    EXPECT_TRUE(image) << problem;
  }
  ~Emulated() {
    if (image)
      emulator::unloadImage(*engine, image);
  }

  /// A vector that kernels may access until the next run has ended.
  template <typename Vector> void *device(Vector &values) {
    emulator::addAllocation(*engine, values.data(), values.size() * sizeof(values[0]));
    allocations.push_back(values.data());
    return values.data();
  }

  /// Runs a kernel; the error, or nothing. Parameters are addresses of values.
  std::string run(const char *name, emulator::Dim3 grid, emulator::Dim3 block, std::vector<void *> parameters,
                  size_t shared = 0) {
    const emulator::Kernel *kernel = image ? emulator::findKernel(*image, name) : nullptr;
    if (!kernel)
      return "no such kernel";
    std::string problem;
    bool good = emulator::launch(*engine, *kernel, grid, block, shared, parameters.data(), problem);
    for (void *base : allocations)
      emulator::removeAllocation(*engine, base);
    allocations.clear();
    EXPECT_EQ(good, problem.empty());
    return problem;
  }

private:
  std::unique_ptr<emulator::Engine, void (*)(emulator::Engine *)> engine;
  emulator::Image *image = nullptr;
  std::vector<void *> allocations;
};

/// Memory at a multiple of 1 KiB, like allocations of the driver.
template <typename T> struct DeviceAllocator {
  using value_type = T;
  DeviceAllocator() = default;
  template <typename U> DeviceAllocator(const DeviceAllocator<U> &) {}
  T *allocate(size_t n) { return static_cast<T *>(::operator new(n * sizeof(T), std::align_val_t(1024))); }
  void deallocate(T *p, size_t) { ::operator delete(p, std::align_val_t(1024)); }
  bool operator==(const DeviceAllocator &) const { return true; }
  bool operator!=(const DeviceAllocator &) const { return false; }
};

inline bool contains(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

} // namespace optc::test
#endif
