//===- TensorMap.cpp - tensor maps of launches ----------------------------===//
//
// What the tensor memory accelerator is told about a tensor: made by the driver from the description of the kernel and
// the address and sizes of the launch, and kept, since runs repeat them.
//
//===----------------------------------------------------------------------===//
#include "Device.h"
#include <stdlib.h>

using namespace optc::cuda;
using optc::rt::fail;

static constexpr size_t kCached = 512;

/// By ONNX element type; -1: the tensor memory accelerator has no such type.
static constexpr int8_t kTypes[OPTC_NUM_DTYPES] = {
    -1,                              // undefined
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32, // float
    CU_TENSOR_MAP_DATA_TYPE_UINT8,   // uint8
    CU_TENSOR_MAP_DATA_TYPE_UINT8,   // int8
    CU_TENSOR_MAP_DATA_TYPE_UINT16,  // uint16
    CU_TENSOR_MAP_DATA_TYPE_UINT16,  // int16
    CU_TENSOR_MAP_DATA_TYPE_INT32,   // int32
    CU_TENSOR_MAP_DATA_TYPE_INT64,   // int64
    -1,                              // string
    CU_TENSOR_MAP_DATA_TYPE_UINT8,   // bool
    CU_TENSOR_MAP_DATA_TYPE_FLOAT16, // float16
    CU_TENSOR_MAP_DATA_TYPE_FLOAT64, // double
    CU_TENSOR_MAP_DATA_TYPE_UINT32,  // uint32
    CU_TENSOR_MAP_DATA_TYPE_UINT64,  // uint64
    -1,                              // complex64
    -1,                              // complex128
    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
    CU_TENSOR_MAP_DATA_TYPE_UINT8, // the four 8-bit floats
    CU_TENSOR_MAP_DATA_TYPE_UINT8,
    CU_TENSOR_MAP_DATA_TYPE_UINT8,
    CU_TENSOR_MAP_DATA_TYPE_UINT8,
    CU_TENSOR_MAP_DATA_TYPE_UINT8, // types below a byte: one value per byte in memory
    CU_TENSOR_MAP_DATA_TYPE_UINT8,
    CU_TENSOR_MAP_DATA_TYPE_UINT8,
    CU_TENSOR_MAP_DATA_TYPE_UINT8,
    CU_TENSOR_MAP_DATA_TYPE_UINT8,
    CU_TENSOR_MAP_DATA_TYPE_UINT8,
};

static size_t slotOf(const CachedMap::Key &key) {
  uint64_t hash = 0;
  for (size_t i = 0; i < sizeof(key); i += 8) {
    uint64_t word;
    memcpy(&word, reinterpret_cast<const char *>(&key) + i, 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
  }
  return size_t(hash >> 32) % kCached;
}

const CUtensorMap &optc::cuda::tensorMap(optc_host *h, const optc_device_kernel &kernel, const optc_tensor_map &map,
                                         void *const *buf, const int64_t *scalar) {
  ContextState &state = *h->device;
  int type = map.dtype > 0 && map.dtype < OPTC_NUM_DTYPES ? kTypes[map.dtype] : -1;
  if (type < 0 || map.rank < 1 || map.rank > 5 || map.buffer < 0 || map.buffer >= kernel.num_buffers)
    fail(h, OPTC_INVALID_ARGUMENT, "the description of kernel '%s' is damaged: a tensor map is not valid", kernel.name);
  if (!state.maps) {
    state.maps = static_cast<CachedMap *>(rt::allocAligned(kCached * sizeof(CachedMap)));
    if (!state.maps)
      fail(h, OPTC_OUT_OF_MEMORY, "out of memory for tensor maps");
    memset(static_cast<void *>(state.maps), 0, kCached * sizeof(CachedMap));
  }
  auto sizeOf = [&](int64_t value) {
    if (value >= 0)
      return uint64_t(value);
    int64_t index = -1 - value;
    if (index >= kernel.num_scalars)
      fail(h, OPTC_INVALID_ARGUMENT, "the description of kernel '%s' is damaged: a tensor map names scalar %lld",
           kernel.name, (long long)index);
    return uint64_t(scalar[index]);
  };
  CachedMap::Key key = {};
  key.map = &map;
  key.address = deviceAddress(buf[map.buffer]) + CUdeviceptr(map.offset_bytes);
  uint64_t width = uint64_t(rt::storageBytes(map.dtype));
  for (int32_t i = 0; i < map.rank; ++i) {
    // A tensor without elements is never read, and a size of 0 is refused.
    key.dims[i] = sizeOf(map.dims[i]);
    key.dims[i] += key.dims[i] == 0;
  }
  for (int32_t i = 0; i + 1 < map.rank; ++i)
    key.strides[i] =
        map.strides[i] == OPTC_DENSE ? (i ? key.strides[i - 1] : width) * key.dims[i] : sizeOf(map.strides[i]) * width;
  CachedMap &slot = state.maps[slotOf(key)];
  if (!memcmp(&slot.key, &key, sizeof(key)))
    return slot.value;
  uint32_t box[5], ones[5] = {1, 1, 1, 1, 1};
  for (int32_t i = 0; i < map.rank; ++i)
    box[i] = uint32_t(map.box[i]);
  alignas(128) CUtensorMap made; // 64 are documented, CUDA 13 declares 128
  check(h,
        state.model->api.cuTensorMapEncodeTiled(&made, type, uint32_t(map.rank), hostForm(key.address), key.dims,
                                                key.strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, map.swizzle,
                                                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
        "cuTensorMapEncodeTiled for kernel ", kernel.name);
  slot = {key, made};
  return slot.value;
}
