//===- Driver.h - the stand-in for CUDA's driver ----------------*- C++ -*-===//
//
// liboptc_cuda_emulator.so exports the functions of runtime/cuda/Api.h. Kernels run on the engine (Emulator.h). Work of
// a stream is put in a queue and done when somebody waits, which is the latest moment that CUDA allows; what it finds
// wrong is the result of that wait, and of every later call, until the context is released.
//===----------------------------------------------------------------------===//
#ifndef OPTC_RUNTIME_EMULATOR_DRIVER_H
#define OPTC_RUNTIME_EMULATOR_DRIVER_H
#include "../cuda/Api.h"
#include "DeviceMemory.h"
#include "Emulator.h"
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace optc::cuda {

#define OPTC_CUDA_EXPORT(NAME, PARAMETERS) extern "C" __attribute__((visibility("default"))) CUresult NAME PARAMETERS;
OPTC_CUDA_API(OPTC_CUDA_EXPORT)
#undef OPTC_CUDA_EXPORT

/// Something that a stream does; the text of what went wrong is left with the driver.
using Work = std::function<CUresult()>;

struct FunctionHandle {
  const emulator::Kernel *kernel;
  std::string name;
  size_t maxDynamicBytes;
};
struct ModuleHandle {
  emulator::Image *image;
  std::map<std::string, FunctionHandle> functions;
};
struct StreamHandle {
  bool isCapturing = false;
  std::vector<Work> queue; ///< or what is captured
};
struct GraphHandle {
  std::vector<Work> work;
};
struct GraphExecHandle {
  std::vector<Work> work;
};

/// The one device, and all that was made on it.
class Driver {
public:
  static Driver &get();

  /// Numbers of the device that the stand-in is: an H200, unless OPTC_EMULATOR names another compute capability.
  static constexpr int kMaxThreads = 1024;
  static constexpr size_t kDefaultSharedBytes = 48 << 10;
  int capability = 90;

  std::mutex mutex; ///< held by every call
  bool isInitialized = false;
  std::unique_ptr<emulator::Engine, void (*)(emulator::Engine *)> engine{nullptr, nullptr};
  DeviceMemory memory;
  std::set<ModuleHandle *> modules;
  std::set<StreamHandle *> streams;
  std::set<GraphHandle *> graphs;
  std::set<GraphExecHandle *> execs;
  std::map<void *, size_t> pinned;
  uint64_t maxBlocks = 0;         ///< of a grid along x
  int contexts = 0;               ///< how often the primary context is retained
  CUresult broken = CUDA_SUCCESS; ///< what work of a stream ended with

  CUresult initialize();
  /// What keeps calls from working; CUDA_SUCCESS when nothing does.
  CUresult state() const { return isInitialized ? broken : CUDA_ERROR_NOT_INITIALIZED; }
  /// Remembers the text of an error, which it returns.
  CUresult fail(CUresult result, const std::string &text);
  std::string textOf(CUresult result) const;

  /// Does the work of all streams.
  CUresult drain();
  CUresult drain(StreamHandle &stream);
  /// Adds work to a stream, or to what it captures.
  CUresult enqueue(CUstream stream, Work work);
  /// Forgets all that the context holds.
  void reset();

private:
  std::map<CUresult, std::string> texts;
};

/// Checks the limits of cuTensorMapEncodeTiled; what is wrong, empty when nothing is.
std::string tensorMapProblem(const CUtensorMap *map, int type, uint32_t rank, const void *address, const uint64_t *dims,
                             const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides,
                             int interleave, int swizzle, int l2Promotion, int oobFill);

} // namespace optc::cuda
#endif
