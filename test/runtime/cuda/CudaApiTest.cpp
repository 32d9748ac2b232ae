//===- CudaApiTest.cpp - our declarations of the driver against CUDA's ----===//
//
// Built where a cuda.h is installed; a difference does not compile.
//
//===----------------------------------------------------------------------===//
#include <gtest/gtest.h>
#if __has_include(<cuda.h>)
#include <cuda.h>
#include <tuple>

/// CUDA's own, under other names, before ours hide them.
namespace theirs {
#define OPTC_VALUES(X)                                                                                                 \
  X(CUDA_SUCCESS)                                                                                                      \
  X(CUDA_ERROR_INVALID_VALUE)                                                                                          \
  X(CUDA_ERROR_OUT_OF_MEMORY)                                                                                          \
  X(CUDA_ERROR_NOT_INITIALIZED)                                                                                        \
  X(CUDA_ERROR_NO_DEVICE)                                                                                              \
  X(CUDA_ERROR_INVALID_DEVICE)                                                                                         \
  X(CUDA_ERROR_INVALID_IMAGE)                                                                                          \
  X(CUDA_ERROR_INVALID_CONTEXT)                                                                                        \
  X(CUDA_ERROR_NO_BINARY_FOR_GPU)                                                                                      \
  X(CUDA_ERROR_INVALID_HANDLE)                                                                                         \
  X(CUDA_ERROR_NOT_FOUND)                                                                                              \
  X(CUDA_ERROR_ILLEGAL_ADDRESS)                                                                                        \
  X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)                                                                                \
  X(CUDA_ERROR_LAUNCH_FAILED)                                                                                          \
  X(CUDA_ERROR_NOT_SUPPORTED)                                                                                          \
  X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)                                                                             \
  X(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED)                                                                               \
  X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)                                                                                \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)                                                                      \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)                                                                      \
  X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)                                                                   \
  X(CU_JIT_ERROR_LOG_BUFFER)                                                                                           \
  X(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)                                                                                \
  X(CU_STREAM_NON_BLOCKING)                                                                                            \
  X(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)                                                                               \
  X(CU_TENSOR_MAP_DATA_TYPE_UINT8)                                                                                     \
  X(CU_TENSOR_MAP_DATA_TYPE_UINT16)                                                                                    \
  X(CU_TENSOR_MAP_DATA_TYPE_UINT32)                                                                                    \
  X(CU_TENSOR_MAP_DATA_TYPE_INT32)                                                                                     \
  X(CU_TENSOR_MAP_DATA_TYPE_UINT64)                                                                                    \
  X(CU_TENSOR_MAP_DATA_TYPE_INT64)                                                                                     \
  X(CU_TENSOR_MAP_DATA_TYPE_FLOAT16)                                                                                   \
  X(CU_TENSOR_MAP_DATA_TYPE_FLOAT32)                                                                                   \
  X(CU_TENSOR_MAP_DATA_TYPE_FLOAT64)                                                                                   \
  X(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16)                                                                                  \
  X(CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ)                                                                               \
  X(CU_TENSOR_MAP_DATA_TYPE_TFLOAT32)                                                                                  \
  X(CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ)                                                                              \
  X(CU_TENSOR_MAP_INTERLEAVE_NONE)                                                                                     \
  X(CU_TENSOR_MAP_SWIZZLE_NONE)                                                                                        \
  X(CU_TENSOR_MAP_SWIZZLE_32B)                                                                                         \
  X(CU_TENSOR_MAP_SWIZZLE_64B)                                                                                         \
  X(CU_TENSOR_MAP_SWIZZLE_128B)                                                                                        \
  X(CU_TENSOR_MAP_L2_PROMOTION_NONE)                                                                                   \
  X(CU_TENSOR_MAP_L2_PROMOTION_L2_256B)                                                                                \
  X(CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
#define OPTC_TAKE(NAME) constexpr long long k##NAME = NAME;
OPTC_VALUES(OPTC_TAKE)
constexpr size_t kMapSize = sizeof(CUtensorMap);
} // namespace theirs

#include "optc/runtime/cuda/Api.h"

/// Sizes of the parameters of a function: what a call passes.
template <typename R, typename... P> constexpr auto shapeOf(R (*)(P...)) {
  return std::make_tuple(sizeof(R), sizeof(P)...);
}

#define OPTC_SAME_VALUE(NAME) static_assert((long long)optc::cuda::NAME == theirs::k##NAME);
OPTC_VALUES(OPTC_SAME_VALUE)
static_assert(sizeof(optc::cuda::CUtensorMap) == theirs::kMapSize);

namespace optc::cuda {
#define OPTC_OURS(NAME, PARAMETERS)                                                                                    \
  inline CUresult ours_##NAME PARAMETERS { return 0; }
OPTC_CUDA_API(OPTC_OURS)
} // namespace optc::cuda

TEST(CudaApi, TakesTheParametersOfCudasHeader) {
#define OPTC_SAME_SHAPE(NAME, PARAMETERS) static_assert(shapeOf(&optc::cuda::ours_##NAME) == shapeOf(&::NAME), #NAME);
  OPTC_CUDA_API(OPTC_SAME_SHAPE)
}
#else
TEST(CudaApi, TakesTheParametersOfCudasHeader) { GTEST_SKIP() << "there is no cuda.h"; }
#endif
