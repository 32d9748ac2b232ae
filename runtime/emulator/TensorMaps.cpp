//===- TensorMaps.cpp - cuTensorMapEncodeTiled with all of its limits -----===//
#include "Driver.h"
#include <cstring>

using namespace optc::cuda;

/// Bytes of an element, by CUtensorMapDataType; 0: packed types, which optc does not use.
static constexpr uint8_t kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
/// Bytes of a swizzle's span, by CUtensorMapSwizzle.
static constexpr uint32_t kSpan[] = {0, 32, 64, 128};

std::string optc::cuda::tensorMapProblem(const CUtensorMap *map, int type, uint32_t rank, const void *address,
                                         const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                                         const uint32_t *elementStrides, int interleave, int swizzle, int l2Promotion,
                                         int oobFill) {
  auto text = [](const char *what, uint64_t index, uint64_t value, const char *rule) {
    return std::string(what) + "[" + std::to_string(index) + "] is " + std::to_string(value) + ", which is " + rule;
  };
  if (reinterpret_cast<uintptr_t>(map) % 64)
    return "the map is not aligned to 64 bytes";
  if (type < 0 || static_cast<size_t>(type) >= std::size(kElementBytes))
    return "the element type " + std::to_string(type) + " is none that the emulator has";
  if (!rank || rank > 5)
    return "the rank " + std::to_string(rank) + " is not 1 to 5";
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
    return "interleaved layouts are not emulated";
  if (swizzle < 0 || static_cast<size_t>(swizzle) >= std::size(kSpan))
    return "the swizzle " + std::to_string(swizzle) + " is none that the emulator has";
  if (l2Promotion < 0 || l2Promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
    return "the L2 promotion " + std::to_string(l2Promotion) + " is unknown";
  if (reinterpret_cast<uintptr_t>(address) % 16)
    return "the address is not aligned to 16 bytes";
  bool isFloat = type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  if (oobFill < 0 || oobFill > 1 || (oobFill && !isFloat))
    return "the fill " + std::to_string(oobFill) + " is not for this element type";
  uint64_t width = kElementBytes[type];
  for (uint32_t i = 0; i < rank; ++i) {
    if (!dims[i] || dims[i] > uint64_t(1) << 32)
      return text("globalDim", i, dims[i], "not 1 to 2^32");
    if (!box[i] || box[i] > 256)
      return text("boxDim", i, box[i], "not 1 to 256");
    if (!elementStrides[i] || elementStrides[i] > 8)
      return text("elementStrides", i, elementStrides[i], "not 1 to 8");
    if (i && elementStrides[i] != 1)
      return "element strides other than 1 are not emulated";
  }
  for (uint32_t i = 0; i + 1 < rank; ++i) {
    if (strides[i] % 16 || strides[i] >= uint64_t(1) << 40)
      return text("globalStrides", i, strides[i], "no multiple of 16 below 2^40");
    if (strides[i] < dims[i] * (i ? 1 : width))
      return text("globalStrides", i, strides[i], "less than the dimension below it takes");
  }
  if (box[0] * width % 16)
    return text("boxDim", 0, box[0], "no multiple of 16 bytes");
  if (kSpan[swizzle] && box[0] * width > kSpan[swizzle])
    return text("boxDim", 0, box[0], "more than the swizzle spans");
  return "";
}

CUresult optc::cuda::cuTensorMapEncodeTiled(CUtensorMap *map, int type, uint32_t rank, void *address,
                                            const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                                            const uint32_t *elementStrides, int interleave, int swizzle,
                                            int l2Promotion, int oobFill) {
  Driver &d = Driver::get();
  std::lock_guard<std::mutex> lock(d.mutex);
  if (CUresult state = d.state())
    return state;
  if (d.capability < 90)
    return d.fail(CUDA_ERROR_NOT_SUPPORTED, "tensor maps are for compute capability 9.0 and newer");
  std::string problem = tensorMapProblem(map, type, rank, address, dims, strides, box, elementStrides, interleave,
                                         swizzle, l2Promotion, oobFill);
  if (!problem.empty())
    return d.fail(CUDA_ERROR_INVALID_VALUE, problem);
  emulator::TensorMap made = {};
  made.magic = emulator::TensorMap::kMagic;
  made.base = reinterpret_cast<uintptr_t>(address);
  made.elementBytes = kElementBytes[type];
  made.rank = static_cast<uint8_t>(rank);
  made.swizzle = static_cast<uint8_t>(swizzle);
  made.nanFill = static_cast<uint8_t>(oobFill);
  for (uint32_t i = 0; i < rank; ++i) {
    made.dims[i] = dims[i];
    made.box[i] = static_cast<uint16_t>(box[i]);
    if (i + 1 < rank)
      made.strides[i] = strides[i];
  }
  std::memset(map, 0, sizeof(*map));
  std::memcpy(map, &made, sizeof(made));
  return CUDA_SUCCESS;
}
