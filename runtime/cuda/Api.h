//===- Api.h - the part of CUDA's driver API that the runtime uses --------===//
//
// Declared here, so that nothing of CUDA is needed to build; the library is loaded when a model for a device gets its
// first context. Names, numbers and layouts are those of cuda.h (test/runtime/CudaApiTest.cpp compares them where there
// is one). The stand-in for the driver (runtime/emulator) defines the same functions.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_RUNTIME_CUDA_API_H
#define OPTC_RUNTIME_CUDA_API_H
#include <stddef.h>
#include <stdint.h>

namespace optc::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct ContextHandle *;
using CUmodule = struct ModuleHandle *;
using CUfunction = struct FunctionHandle *;
using CUstream = struct StreamHandle *;
using CUgraph = struct GraphHandle *;
using CUgraphExec = struct GraphExecHandle *;
struct alignas(64) CUtensorMap {
  uint64_t opaque[16];
};

enum : CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
};
enum {
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
  CU_STREAM_NON_BLOCKING = 1,
  CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
};
enum {
  CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
  CU_TENSOR_MAP_DATA_TYPE_UINT16 = 1,
  CU_TENSOR_MAP_DATA_TYPE_UINT32 = 2,
  CU_TENSOR_MAP_DATA_TYPE_INT32 = 3,
  CU_TENSOR_MAP_DATA_TYPE_UINT64 = 4,
  CU_TENSOR_MAP_DATA_TYPE_INT64 = 5,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT64 = 8,
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ = 10,
  CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 = 11,
  CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ = 12,
  CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_32B = 1,
  CU_TENSOR_MAP_SWIZZLE_64B = 2,
  CU_TENSOR_MAP_SWIZZLE_128B = 3,
  CU_TENSOR_MAP_L2_PROMOTION_NONE = 0,
  CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3,
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0,
};

/// X(name, parameters): every function, by the name that the library exports. All return CUresult.
#define OPTC_CUDA_API(X)                                                                                               \
  X(cuInit, (unsigned flags))                                                                                          \
  X(cuDeviceGetCount, (int *count))                                                                                    \
  X(cuDeviceGet, (CUdevice * device, int ordinal))                                                                     \
  X(cuDeviceGetName, (char *name, int size, CUdevice device))                                                          \
  X(cuDeviceGetAttribute, (int *value, int attribute, CUdevice device))                                                \
  X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                                                  \
  X(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                                                   \
  X(cuCtxGetCurrent, (CUcontext * context))                                                                            \
  X(cuCtxGetDevice, (CUdevice * device))                                                                               \
  X(cuCtxPushCurrent_v2, (CUcontext context))                                                                          \
  X(cuCtxPopCurrent_v2, (CUcontext * context))                                                                         \
  X(cuModuleLoadDataEx, (CUmodule * module, const void *image, unsigned count, int *options, void **values))           \
  X(cuModuleUnload, (CUmodule module))                                                                                 \
  X(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))                                   \
  X(cuFuncSetAttribute, (CUfunction function, int attribute, int value))                                               \
  X(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                                                              \
  X(cuMemFree_v2, (CUdeviceptr address))                                                                               \
  X(cuMemGetInfo_v2, (size_t *unused, size_t *total))                                                                  \
  X(cuMemAllocHost_v2, (void **address, size_t bytes))                                                                 \
  X(cuMemFreeHost, (void *address))                                                                                    \
  X(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                           \
  X(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                                 \
  X(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                           \
  X(cuStreamCreate, (CUstream * stream, unsigned flags))                                                               \
  X(cuStreamDestroy_v2, (CUstream stream))                                                                             \
  X(cuStreamSynchronize, (CUstream stream))                                                                            \
  X(cuStreamBeginCapture_v2, (CUstream stream, int mode))                                                              \
  X(cuStreamEndCapture, (CUstream stream, CUgraph * graph))                                                            \
  X(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, unsigned long long flags))                        \
  X(cuGraphLaunch, (CUgraphExec exec, CUstream stream))                                                                \
  X(cuGraphExecDestroy, (CUgraphExec exec))                                                                            \
  X(cuGraphDestroy, (CUgraph graph))                                                                                   \
  X(cuLaunchKernel,                                                                                                    \
    (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,            \
     unsigned blockZ, unsigned sharedBytes, CUstream stream, void **parameters, void **extra))                         \
  X(cuTensorMapEncodeTiled,                                                                                            \
    (CUtensorMap * map, int type, uint32_t rank, void *address, const uint64_t *dims, const uint64_t *strides,         \
     const uint32_t *box, const uint32_t *elementStrides, int interleave, int swizzle, int l2Promotion, int oobFill))  \
  X(cuGetErrorName, (CUresult result, const char **text))                                                              \
  X(cuGetErrorString, (CUresult result, const char **text))

} // namespace optc::cuda
#endif
