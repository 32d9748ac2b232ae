//===- DriverTest.cpp - the stand-in for CUDA's driver --------------------===//
#include "Stand.h"
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using namespace optc::cuda;

namespace {
struct Driver : testing::Test {
  Api api = {};
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  char log[400] = "";

  void SetUp() override {
    useStandIn();
    char why[400] = "";
    ASSERT_TRUE(loadApi(api, why, sizeof(why))) << why;
    ASSERT_EQ(api.cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(api.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(api.cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
    ASSERT_EQ(api.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  void TearDown() override {
    api.cuCtxPopCurrent_v2(&context);
    api.cuDevicePrimaryCtxRelease_v2(0); // everything goes
  }
  CUresult load(CUmodule &module, const void *image) {
    int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
    return api.cuModuleLoadDataEx(&module, image, 2, options, values);
  }
  CUfunction function(const char *name) {
    CUmodule module = nullptr;
    EXPECT_EQ(load(module, testImage().data()), CUDA_SUCCESS) << log;
    CUfunction f = nullptr;
    EXPECT_EQ(api.cuModuleGetFunction(&f, module, name), CUDA_SUCCESS);
    return f;
  }
  CUdeviceptr alloc(size_t bytes) {
    CUdeviceptr p = 0;
    EXPECT_EQ(api.cuMemAlloc_v2(&p, bytes), CUDA_SUCCESS);
    return p;
  }
  std::string text(CUresult r) { return errorText(api, r).text; }
  std::vector<float> read(CUdeviceptr p, size_t n) {
    std::vector<float> out(n, -1);
    EXPECT_EQ(api.cuMemcpyDtoHAsync_v2(out.data(), p, 4 * n, stream), CUDA_SUCCESS);
    EXPECT_EQ(api.cuStreamSynchronize(stream), CUDA_SUCCESS);
    return out;
  }
};
} // namespace

TEST_F(Driver, RunsKernels) {
  CUfunction add = function("add");
  int64_t n = 100;
  std::vector<float> x(n, 1.5f), y(n, 2);
  CUdeviceptr a = alloc(4 * n), b = alloc(4 * n), c = alloc(4 * n);
  EXPECT_EQ(a % 256, 0u);
  EXPECT_EQ(api.cuMemcpyHtoDAsync_v2(a, x.data(), 4 * n, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemcpyHtoDAsync_v2(b, y.data(), 4 * n, stream), CUDA_SUCCESS);
  x.assign(n, 0); // what was handed over is read already
  void *parameters[] = {&a, &b, &c, &n};
  EXPECT_EQ(api.cuLaunchKernel(add, 4, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr), CUDA_SUCCESS);
  n = 0; // so are parameters
  EXPECT_EQ(read(c, 100), std::vector<float>(100, 3.5f));
}

TEST_F(Driver, NeverWrittenMemoryIsNaN) {
  for (float v : read(alloc(400), 100))
    EXPECT_NE(v, v);
}

TEST_F(Driver, CopiesStayInTheirAllocation) {
  CUdeviceptr p = alloc(64);
  char bytes[80] = {};
  EXPECT_EQ(api.cuMemcpyHtoDAsync_v2(p, bytes, 65, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(text(CUDA_ERROR_INVALID_VALUE).find("65 bytes at 0x"), std::string::npos);
  EXPECT_EQ(api.cuMemcpyDtoHAsync_v2(bytes, p + 1, 64, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.cuMemcpyDtoDAsync_v2(p, p + 8, 16, stream), CUDA_ERROR_INVALID_VALUE); // overlap
  EXPECT_EQ(api.cuMemFree_v2(p + 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.cuMemFree_v2(p), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemcpyHtoDAsync_v2(p, bytes, 8, stream), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Driver, NobodyElseTouchesDeviceMemory) {
  CUdeviceptr p = alloc(64);
  EXPECT_DEATH(
      {
        volatile float v = *reinterpret_cast<float *>(p);
        (void)v;
      },
      "");
}

TEST_F(Driver, CapturesAndReplays) {
  CUfunction twice = function("twice");
  int64_t n = 8;
  CUdeviceptr a = alloc(4 * n), b = alloc(4 * n);
  void *pinned = nullptr;
  ASSERT_EQ(api.cuMemAllocHost_v2(&pinned, 4 * n), CUDA_SUCCESS);
  auto *source = static_cast<float *>(pinned);
  void *parameters[] = {&a, &b, &n};
  ASSERT_EQ(api.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemcpyHtoDAsync_v2(a, pinned, 4 * n, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.cuLaunchKernel(twice, 1, 1, 1, 8, 1, 1, 0, stream, parameters, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(api.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  ASSERT_EQ(api.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.cuGraphDestroy(graph), CUDA_SUCCESS);
  for (float v : {1.0f, 5.0f}) {
    std::fill_n(source, n, v); // graphs read pinned memory when they run
    EXPECT_EQ(api.cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    EXPECT_EQ(read(b, n), std::vector<float>(n, 2 * v));
  }
  EXPECT_EQ(api.cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(api.cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api.cuMemFreeHost(pinned), CUDA_SUCCESS);
}

TEST_F(Driver, RefusesOtherImages) {
  CUmodule module = nullptr;
  std::string cubin = testImage();
  cubin[18] = char(190); // EM_CUDA
  EXPECT_EQ(load(module, cubin.data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_NE(std::string(log).find("--emulate"), std::string::npos);
  EXPECT_EQ(load(module, ".version 8.3\n.target sm_90a\n......................................."),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_NE(std::string(log).find("PTX"), std::string::npos);
  ASSERT_EQ(load(module, testImage().data()), CUDA_SUCCESS);
  CUfunction f;
  EXPECT_EQ(api.cuModuleGetFunction(&f, module, "nothing"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(api.cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(api.cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Driver, ChecksLaunches) {
  CUfunction twice = function("twice"); // with 1024 bytes of static shared memory
  int most = 0;
  EXPECT_EQ(api.cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0), CUDA_SUCCESS);
  EXPECT_EQ(most, INT32_MAX);
  CUdeviceptr a = alloc(64);
  int64_t n = 0;
  void *parameters[] = {&a, &a, &n};
  auto launch = [&](unsigned grid, unsigned block, unsigned shared) {
    return api.cuLaunchKernel(twice, grid, 1, 1, block, 1, 1, shared, stream, parameters, nullptr);
  };
  EXPECT_EQ(launch(0, 32, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1u << 31, 32, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 1025, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 32, 49 << 10), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.cuFuncSetAttribute(twice, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 << 10),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.cuFuncSetAttribute(twice, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 226 << 10), CUDA_SUCCESS);
  EXPECT_EQ(launch(1, 32, 226 << 10), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamSynchronize(stream), CUDA_SUCCESS);
}

TEST_F(Driver, ChecksTensorMaps) {
  struct Map {
    int type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    uint32_t rank = 2;
    uintptr_t address = 4096;
    uint64_t dims[5] = {64, 32, 1, 1, 1}, strides[4] = {128, 4096, 4096, 4096};
    uint32_t box[5] = {64, 8, 1, 1, 1}, elementStrides[5] = {1, 1, 1, 1, 1};
    int swizzle = CU_TENSOR_MAP_SWIZZLE_128B, interleave = 0, promotion = 2, fill = 0;
  };
  CUtensorMap out;
  auto encode = [&](auto change) {
    Map m;
    change(m);
    return api.cuTensorMapEncodeTiled(&out, m.type, m.rank, reinterpret_cast<void *>(m.address), m.dims, m.strides,
                                      m.box, m.elementStrides, m.interleave, m.swizzle, m.promotion, m.fill);
  };
  EXPECT_EQ(encode([](Map &) {}), CUDA_SUCCESS);
  const struct {
    const char *says;
    void (*change)(Map &);
  } wrong[] = {
      {"16 bytes", [](Map &m) { m.address += 8; }},
      {"rank 6", [](Map &m) { m.rank = 6; }},
      {"rank 0", [](Map &m) { m.rank = 0; }},
      {"globalDim[1]", [](Map &m) { m.dims[1] = 0; }},
      {"globalDim[0]", [](Map &m) { m.dims[0] = (uint64_t(1) << 32) + 1; }},
      {"globalStrides[0]", [](Map &m) { m.strides[0] = 136; }},
      {"globalStrides[0]", [](Map &m) { m.strides[0] = 64; }},
      {"globalStrides[0]", [](Map &m) { m.strides[0] = uint64_t(1) << 40; }},
      {"boxDim[1]", [](Map &m) { m.box[1] = 257; }},
      {"boxDim[1]", [](Map &m) { m.box[1] = 0; }},
      {"boxDim[0]", [](Map &m) { m.box[0] = 60; }},
      {"swizzle spans", [](Map &m) { m.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; }},
      {"swizzle 9", [](Map &m) { m.swizzle = 9; }},
      {"elementStrides[0]", [](Map &m) { m.elementStrides[0] = 0; }},
      {"element type 40", [](Map &m) { m.type = 40; }},
      {"fill", [](Map &m) { m.type = CU_TENSOR_MAP_DATA_TYPE_UINT8, m.box[0] = 16, m.fill = 1; }},
      {"L2", [](Map &m) { m.promotion = 4; }},
      {"interleaved", [](Map &m) { m.interleave = 1; }},
  };
  for (const auto &w : wrong) {
    EXPECT_EQ(encode(w.change), CUDA_ERROR_INVALID_VALUE) << w.says;
    EXPECT_NE(text(CUDA_ERROR_INVALID_VALUE).find(w.says), std::string::npos)
        << w.says << " / " << text(CUDA_ERROR_INVALID_VALUE);
  }
}

TEST_F(Driver, NeedsAContext) {
  CUcontext mine;
  api.cuCtxPopCurrent_v2(&mine);
  CUmodule module;
  EXPECT_EQ(load(module, testImage().data()), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(api.cuCtxPopCurrent_v2(&mine), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(api.cuCtxPushCurrent_v2(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  api.cuCtxPushCurrent_v2(context);
}
