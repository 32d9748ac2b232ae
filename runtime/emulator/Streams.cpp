//===- Streams.cpp - memory, copies, launches and graphs of the stand-in --===//
#include "Driver.h"
#include <cstdlib>
#include <cstring>

using namespace optc::cuda;

#define OPTC_ENTER()                                                                                                   \
  Driver &d = Driver::get();                                                                                           \
  std::lock_guard<std::mutex> lock(d.mutex);                                                                           \
  if (CUresult state = d.state())                                                                                      \
    return state;

static void *pointer(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

static std::string describe(const char *what, CUdeviceptr address, size_t bytes) {
  char text[160];
  std::snprintf(text, sizeof(text), "%s: %zu bytes at 0x%llx are not in one allocation", what, bytes, address);
  return text;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

CUresult optc::cuda::cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  OPTC_ENTER()
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  void *made = d.memory.allocate(bytes);
  if (!made)
    return CUDA_ERROR_OUT_OF_MEMORY;
  emulator::addAllocation(*d.engine, made, bytes);
  *address = reinterpret_cast<CUdeviceptr>(made);
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuMemFree_v2(CUdeviceptr address) {
  Driver &d = Driver::get();
  std::lock_guard<std::mutex> lock(d.mutex);
  d.drain(); // as CUDA waits for the device
  if (!address)
    return CUDA_SUCCESS;
  if (!d.memory.release(pointer(address)))
    return d.fail(CUDA_ERROR_INVALID_VALUE, "cuMemFree of what is not the address of an allocation");
  emulator::removeAllocation(*d.engine, pointer(address));
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuMemGetInfo_v2(size_t *unused, size_t *total) {
  OPTC_ENTER()
  *unused = d.memory.unusedBytes();
  *total = d.memory.totalBytes();
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuMemAllocHost_v2(void **address, size_t bytes) {
  OPTC_ENTER()
  *address = bytes ? std::malloc(bytes) : nullptr;
  if (!*address)
    return bytes ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
  d.pinned[*address] = bytes;
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuMemFreeHost(void *address) {
  Driver &d = Driver::get();
  std::lock_guard<std::mutex> lock(d.mutex);
  d.drain();
  if (!d.pinned.erase(address))
    return CUDA_ERROR_INVALID_VALUE;
  std::free(address);
  return CUDA_SUCCESS;
}

/// Whether a copy may read host memory when it is done, and not when it is asked for.
static bool isPinned(const Driver &d, const void *address) {
  auto it = d.pinned.upper_bound(const_cast<void *>(address));
  if (it == d.pinned.begin())
    return false;
  --it;
  return static_cast<const char *>(address) < static_cast<char *>(it->first) + it->second;
}

CUresult optc::cuda::cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  OPTC_ENTER()
  if (!d.memory.contains(pointer(to), bytes))
    return d.fail(CUDA_ERROR_INVALID_VALUE, describe("copy to the device", to, bytes));
  if (isPinned(d, from))
    return d.enqueue(stream, [=] {
      std::memcpy(pointer(to), from, bytes);
      return CUDA_SUCCESS;
    });
  if (d.streams.count(stream) && stream->isCapturing)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  auto *bytesNow = static_cast<const char *>(from);
  return d.enqueue(stream, [=, copy = std::vector<char>(bytesNow, bytesNow + bytes)] {
    std::memcpy(pointer(to), copy.data(), bytes);
    return CUDA_SUCCESS;
  });
}

CUresult optc::cuda::cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  OPTC_ENTER()
  if (!d.memory.contains(pointer(from), bytes))
    return d.fail(CUDA_ERROR_INVALID_VALUE, describe("copy from the device", from, bytes));
  return d.enqueue(stream, [=] {
    std::memcpy(to, pointer(from), bytes);
    return CUDA_SUCCESS;
  });
}

CUresult optc::cuda::cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  OPTC_ENTER()
  for (auto [what, address] :
       {std::pair("copy within the device, to", to), std::pair("copy within the device, from", from)})
    if (!d.memory.contains(pointer(address), bytes))
      return d.fail(CUDA_ERROR_INVALID_VALUE, describe(what, address, bytes));
  if (to < from + bytes && from < to + bytes)
    return d.fail(CUDA_ERROR_INVALID_VALUE, "copy within the device: source and target overlap");
  return d.enqueue(stream, [=] {
    std::memcpy(pointer(to), pointer(from), bytes);
    return CUDA_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Streams and graphs
//===----------------------------------------------------------------------===//

CUresult optc::cuda::cuStreamCreate(CUstream *stream, unsigned flags) {
  OPTC_ENTER()
  if (flags & ~unsigned(CU_STREAM_NON_BLOCKING))
    return CUDA_ERROR_INVALID_VALUE;
  *stream = new StreamHandle;
  d.streams.insert(*stream);
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuStreamDestroy_v2(CUstream stream) {
  Driver &d = Driver::get();
  std::lock_guard<std::mutex> lock(d.mutex);
  if (!d.streams.count(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  d.drain(*stream);
  d.streams.erase(stream);
  delete stream;
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuStreamSynchronize(CUstream stream) {
  OPTC_ENTER()
  if (!d.streams.count(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream->isCapturing)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return d.drain(*stream);
}

CUresult optc::cuda::cuStreamBeginCapture_v2(CUstream stream, int mode) {
  OPTC_ENTER()
  if (!d.streams.count(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  if (mode < 0 || mode > 2 || stream->isCapturing)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult r = d.drain(*stream))
    return r;
  stream->isCapturing = true;
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  OPTC_ENTER()
  if (!d.streams.count(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!stream->isCapturing)
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  stream->isCapturing = false;
  *graph = new GraphHandle{std::move(stream->queue)};
  stream->queue.clear();
  d.graphs.insert(*graph);
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long) {
  OPTC_ENTER()
  if (!d.graphs.count(graph))
    return CUDA_ERROR_INVALID_HANDLE;
  *exec = new GraphExecHandle{graph->work};
  d.execs.insert(*exec);
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  OPTC_ENTER()
  if (!d.execs.count(exec))
    return CUDA_ERROR_INVALID_HANDLE;
  for (const Work &work : exec->work)
    if (CUresult r = d.enqueue(stream, work))
      return r;
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuGraphExecDestroy(CUgraphExec exec) {
  Driver &d = Driver::get();
  std::lock_guard<std::mutex> lock(d.mutex);
  if (!d.execs.erase(exec))
    return CUDA_ERROR_INVALID_HANDLE;
  delete exec;
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuGraphDestroy(CUgraph graph) {
  Driver &d = Driver::get();
  std::lock_guard<std::mutex> lock(d.mutex);
  if (!d.graphs.erase(graph))
    return CUDA_ERROR_INVALID_HANDLE;
  delete graph;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

CUresult optc::cuda::cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
                                    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                                    CUstream stream, void **parameters, void **extra) {
  OPTC_ENTER()
  const emulator::Kernel &kernel = *function->kernel;
  uint64_t threads = uint64_t(blockX) * blockY * blockZ;
  auto refuse = [&](const std::string &text) {
    return d.fail(CUDA_ERROR_INVALID_VALUE, "kernel '" + function->name + "': " + text);
  };
  if (!gridX || !gridY || !gridZ || gridX > d.maxBlocks || gridY > 65535 || gridZ > 65535)
    return refuse("a grid of " + std::to_string(gridX) + " x " + std::to_string(gridY) + " x " + std::to_string(gridZ) +
                  " blocks");
  if (!threads || threads > uint64_t(Driver::kMaxThreads) || blockZ > 64)
    return refuse("a block of " + std::to_string(threads) + " threads");
  if (sharedBytes > function->maxDynamicBytes)
    return refuse(std::to_string(sharedBytes) + " bytes of dynamic shared memory, " +
                  std::to_string(function->maxDynamicBytes) + " were asked for");
  if (extra)
    return CUDA_ERROR_NOT_SUPPORTED;
  // The values are copied now, the kernel runs later. As wide as a vector: tensor maps are aligned to 64 bytes.
  unsigned count = emulator::numParameters(kernel);
  std::vector<CUtensorMap> lines;
  std::vector<size_t> first(count);
  for (unsigned i = 0; i < count; ++i) {
    size_t bytes = emulator::parameterBytes(kernel, i);
    first[i] = lines.size();
    lines.resize(lines.size() + (bytes + sizeof(CUtensorMap) - 1) / sizeof(CUtensorMap));
    std::memcpy(lines.data() + first[i], parameters[i], bytes);
  }
  return d.enqueue(stream, [=, &d, &kernel, lines = std::move(lines)] {
    std::vector<CUtensorMap> values = lines; // a graph is launched more than once
    std::vector<void *> addresses;
    for (size_t at : first)
      addresses.push_back(values.data() + at);
    std::string problem;
    if (emulator::launch(*d.engine, kernel, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes,
                         addresses.data(), problem))
      return CUresult(CUDA_SUCCESS);
    return d.fail(CUDA_ERROR_LAUNCH_FAILED, problem);
  });
}
