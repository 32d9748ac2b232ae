//===- Device.h - what the runtime holds for models of a device -----------===//
//
// Everything here is reached through optc_cuda_backend, which only artifacts with a device description name: programs
// that run models for CPUs do not link it. Functions that take a host fail like services: they jump back to the run.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_RUNTIME_CUDA_DEVICE_H
#define OPTC_RUNTIME_CUDA_DEVICE_H
#include "../Internal.h"
#include "Api.h"

namespace optc::cuda {

/// The functions of the driver.
struct Api {
#define OPTC_CUDA_FUNCTION(NAME, PARAMETERS) CUresult(*NAME) PARAMETERS;
  OPTC_CUDA_API(OPTC_CUDA_FUNCTION)
#undef OPTC_CUDA_FUNCTION
};
/// Loads the library that OPTC_CUDA_LIB names, else libcuda.so.1. False, with the reason in `why`, when it cannot.
bool loadApi(Api &api, char *why, size_t room);

/// "NAME (text)" of an error, by the driver.
struct ErrorText {
  char text[760];
};
ErrorText errorText(const Api &api, CUresult result);

/// What the contexts of a model share: its code and constants on one device.
struct ModelState {
  Api api;
  CUdevice device;
  CUcontext context;
  bool isRetained; ///< the device's primary context; otherwise the one that was current when the model was set up
  CUmodule module;
  bool isGeneric;        ///< the module holds the generic versions of kernels
  char description[240]; ///< the device, and the code that it runs
  CUfunction *functions; ///< per kernel of the description
  CUdeviceptr weights;
  int maxBlocks; ///< of a grid: kernels walk over the tiles behind
};
/// What runs for a kernel of the description.
inline const optc_device_kernel &kernelOf(const ModelState &state, const optc_model_desc &desc, int32_t index) {
  const optc_device_kernel &kernel = desc.device->kernels[index];
  return state.isGeneric && kernel.generic ? *kernel.generic : kernel;
}
/// The state of a model, which its first context sets up.
optc_status setUpModel(const optc_model *model, ModelState *&state, optc_error *error);
void tearDownModel(ModelState *state);

/// A buffer in device memory that grows and is kept between runs.
struct DeviceBuffer {
  CUdeviceptr address;
  size_t size;
};

/// Device memory whose contents host memory has too, until the end of the run.
struct Mirror {
  CUdeviceptr address;
  size_t size;
  const char *host;
};

//===-- work for the device --------------------------------------------------//

/// One entry of the tape; a multiple of 64 bytes with what follows it.
struct Record {
  enum Kind : uint32_t {
    Launch, ///< buffers and scalars follow, 8 bytes each, then at the next multiple of 64 the tensor maps
    Copy,   ///< `size` bytes, within the device
    Write   ///< `size` bytes, which follow
  };
  Kind kind;
  uint32_t bytes; ///< of the record
  int32_t kernel;
  uint32_t tiles;
  CUdeviceptr to, from;
  uint64_t size;
  uint64_t unused[3];
};
static_assert(sizeof(Record) == 64);

/// A straight-line piece of a run that came up before, ready to be launched at once.
struct Graph {
  Graph *next;
  CUgraphExec exec;
  char *tape; ///< in pinned memory: the graph copies from it
  size_t bytes;
  uint64_t hash, lastRun;
};

/// Work that was asked for and not handed to the driver yet: it goes there when the host has to wait for results, as
/// one graph where the same records came before.
struct Tape {
  char *data;
  size_t used, size;
  int32_t records;
};

/// A tensor map made before, under what it was made of.
struct CachedMap {
  struct Key {
    const optc_tensor_map *map;
    CUdeviceptr address;
    uint64_t dims[5], strides[4];
  } key;
  CUtensorMap value;
};

/// How many tapes that ran once are remembered.
inline constexpr uint32_t kSeenTapes = 256;

struct ContextState {
  ModelState *model;
  CUstream own, stream; ///< `stream` is the caller's, if given
  CUdeviceptr arena;
  rt::Stack::Memory memory; ///< of `stack`
  rt::Stack stack;
  struct Mark {
    int64_t host, device;
  } *marks; ///< what optc_dev_mark counts
  int32_t numMarks, maxMarks;
  DeviceBuffer *inputs, *outputs;
  bool *isUploaded; ///< per input
  struct Download {
    void *to;
    CUdeviceptr from;
    size_t bytes;
  } *downloads; ///< per output, when it is set
  Mirror *mirrors;
  int32_t numMirrors;
  DeviceBuffer aside; ///< for moves within the stack
  Tape tape;
  void **parameters; ///< of one launch
  CachedMap *maps;
  Graph *graphs;
  int32_t numGraphs;
  bool graphsWork; ///< false when the driver refused to make one
  uint64_t *seen;  ///< hashes of tapes that were run once, a ring
  uint32_t nextSeen;
  uint64_t run;
};

/// Ends the run: what failed, with the driver's text.
[[noreturn]] void failCuda(optc_host *h, CUresult result, const char *what, const char *name = "");
inline void check(optc_host *h, CUresult result, const char *what, const char *name = "") {
  if (result != CUDA_SUCCESS)
    failCuda(h, result, what, name);
}

/// Ends the run: there is no device memory for `bytes` more.
[[noreturn]] void failMemory(optc_host *h, int64_t bytes);

/// Appends a record with `payload` bytes behind it, which are zero.
Record &addRecord(optc_host *h, Record::Kind kind, size_t payload);
inline char *payloadOf(Record &record) { return reinterpret_cast<char *>(&record + 1); }
/// Hands the tape to the driver.
void flush(optc_host *h);
/// Does so and waits until all is done.
void synchronize(optc_host *h);
void freeGraphs(ContextState &state);

/// The tensor map of a launch.
const CUtensorMap &tensorMap(optc_host *h, const optc_device_kernel &kernel, const optc_tensor_map &map,
                             void *const *buf, const int64_t *scalar);

/// At least so many bytes at a stable address; contents are lost when it grows.
CUdeviceptr reserve(optc_host *h, DeviceBuffer &buffer, size_t bytes);
/// Whether an address is in memory of the device that this context knows.
bool isOnDevice(const optc_host *h, const void *address);
/// Host memory with the same contents; null when there is none.
const char *mirrorOf(const optc_host *h, const void *address, int64_t bytes);

inline CUdeviceptr deviceAddress(const void *p) { return reinterpret_cast<uintptr_t>(p); }
inline void *hostForm(CUdeviceptr p) { return reinterpret_cast<void *>(static_cast<uintptr_t>(p)); }

} // namespace optc::cuda
#endif
