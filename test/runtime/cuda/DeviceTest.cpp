//===- DeviceTest.cpp - models of a device, on the stand-in ---------------===//
#include "../emulator/Stand.h"
#include <atomic>
#include <climits>
#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

using namespace optc::cuda;

namespace {
std::function<void(optc_host *)> *program;
int32_t entry(optc_host *h) {
  (*program)(h);
  return 0;
}

const optc_device_kernel kernels[] = {{"add", 32, 0, 3, 1, 0, nullptr, nullptr},
                                      {"twice", 32, 0, 2, 1, 0, nullptr, nullptr}};
enum { Add, Twice };
const float weights[64] = {100, 200, 300};

void threeTimes(const optc_dispatch *d) {
  for (int64_t i = d->first; i < d->last; ++i)
    static_cast<float *>(d->buf[1])[i] = 3 * static_cast<const float *>(d->buf[0])[i];
}
/// A view of its operand: results may lie in what they were called with.
int32_t sameValue(optc_host *, const optc_tensor *in, int32_t, const int64_t *, int32_t, optc_tensor *out, int32_t) {
  out[0] = in[0];
  return 0;
}

/// A model y = f(x), x and y: float32[n], whose host program a test writes.
struct Device : testing::Test {
  int64_t shape[1] = {INT64_MIN};
  optc_io_desc input = {"x", 0, OPTC_FLOAT, 1, shape, nullptr}, output = {"y", 0, OPTC_FLOAT, 1, shape, nullptr};
  optc_device_desc device = {90, 2,       kernels,         nullptr,           0, nullptr, 0, nullptr,
                             0,  weights, sizeof(weights), &optc_cuda_backend};
  optc_model_desc desc = {};
  optc_model *model = nullptr;
  optc_context *context = nullptr;
  optc_error error = {};
  std::function<void(optc_host *)> body;

  void SetUp() override {
    useStandIn();
    device.emulation = testImage().data();
    device.emulation_bytes = testImage().size();
    desc.abi = OPTC_DISPATCH_ABI;
    desc.size = sizeof(desc);
    desc.name = "test";
    desc.num_inputs = desc.num_outputs = 1;
    desc.inputs = &input;
    desc.outputs = &output;
    desc.arena_bytes = 4096;
    desc.entry = entry;
    desc.device = &device;
  }
  void TearDown() override {
    optc_context_destroy(context);
    optc_model_destroy(model);
  }
  /// The message when a context cannot be made, empty otherwise.
  std::string create() {
    optc_context_destroy(context);
    optc_model_destroy(model);
    context = nullptr;
    error = {};
    if (!optc_model_from_desc(&desc, &model, &error))
      optc_context_create(model, nullptr, &context, &error);
    return error.status ? error.message : "";
  }
  /// The output; empty after an error.
  std::vector<float> run(std::vector<float> x) {
    if (!context)
      EXPECT_EQ(create(), "");
    program = &body;
    int64_t dims[1] = {int64_t(x.size())};
    optc_value in = optc_value_tensor(OPTC_FLOAT, 1, dims, x.data()), out = {};
    if (!context || optc_run(context, &in, 1, &out, 1, nullptr, &error))
      return {};
    auto *y = static_cast<float *>(out.tensor.data);
    return {y, y + out.tensor.shape[0]};
  }
  static void *outputLike(optc_host *h) {
    int64_t n = optc_rt_input_dim(h, 0, 0);
    return optc_dev_output(h, 0, 1, &n);
  }
  static void launch(optc_host *h, int kernel, std::vector<void *> buf, int64_t n) {
    optc_dev_launch(h, kernel, buf.data(), &n, (n + 31) / 32);
  }
};
} // namespace

TEST_F(Device, RunsKernelsOnInputsConstantsAndTheArena) {
  body = [](optc_host *h) {
    int64_t n = optc_rt_input_dim(h, 0, 0);
    void *arena = optc_dev_arena(h);
    launch(h, Twice, {optc_dev_input(h, 0), arena}, n);
    launch(h, Add, {arena, optc_dev_weights(h), outputLike(h)}, n);
  };
  EXPECT_EQ(run({1, 2, 3}), (std::vector<float>{102, 204, 306}));
  EXPECT_GE(optc_context_memory(context), 4096 + 12 + 12);
}

TEST_F(Device, RepeatsBecomeGraphs) {
  body = [](optc_host *h) {
    int64_t n = optc_rt_input_dim(h, 0, 0);
    auto *arena = static_cast<float *>(optc_dev_arena(h));
    float seven = 7, six = 6;
    launch(h, Twice, {optc_dev_input(h, 0), arena}, n);
    optc_dev_write(h, arena, 4, &seven); // goes into the graph too
    optc_dev_copy(h, arena + 64, arena, 4 * n);
    launch(h, Twice, {arena + 64, outputLike(h)}, n);
    optc_dev_write(h, arena, 4, &six);
  };
  const ContextState *state = nullptr;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(run({1, 2, float(i)}), (std::vector<float>{14, 8, 4 * float(i)}));
    state = context->device;
    EXPECT_EQ(state->numGraphs, i ? 1 : 0); // the second time shows that it repeats
  }
  // Other sizes are other work.
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(run({1, 2}), (std::vector<float>{14, 8}));
  EXPECT_EQ(state->numGraphs, 2);
  EXPECT_EQ(run({1, 2, 3}), (std::vector<float>{14, 8, 12}));
  EXPECT_EQ(state->numGraphs, 2);
}

TEST_F(Device, GraphsThatAreNotNeededGo) {
  body = [](optc_host *h) {
    int64_t n = optc_rt_input_dim(h, 0, 0);
    launch(h, Twice, {optc_dev_input(h, 0), optc_dev_arena(h)}, n);
    launch(h, Twice, {optc_dev_arena(h), outputLike(h)}, n);
  };
  for (size_t n = 1; n <= 100; ++n)
    for (int i = 0; i < 3; ++i) // buffers grow in the first run, which cuts it
      ASSERT_EQ(run(std::vector<float>(n, 1)), std::vector<float>(n, 4));
  EXPECT_GT(context->device->numGraphs, 32);
  EXPECT_LT(context->device->numGraphs, 100);
  int32_t before = context->device->numGraphs;
  EXPECT_EQ(run(std::vector<float>(100, 1)), std::vector<float>(100, 4));
  EXPECT_EQ(context->device->numGraphs, before);
}

TEST_F(Device, LongRunsAreCutIntoPieces) {
  body = [](optc_host *h) {
    auto *arena = static_cast<float *>(optc_dev_arena(h));
    optc_dev_copy(h, arena, optc_dev_input(h, 0), 4);
    for (int i = 0; i < 10000; ++i)
      optc_dev_copy(h, arena + (i + 1) % 2, arena + i % 2, 4);
    optc_dev_copy(h, outputLike(h), arena, 4);
  };
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run({5}), std::vector<float>{5});
  EXPECT_GT(context->device->numGraphs, 1);
}

TEST_F(Device, ContextsRunAtTheSameTime) {
  body = [](optc_host *h) {
    float v = 0;
    for (int i = 0; i < 50; ++i) {
      launch(h, Twice, {optc_dev_input(h, 0), optc_dev_arena(h)}, 1);
      optc_dev_read(h, optc_dev_arena(h), 4, &v);
    }
    optc_dev_copy(h, outputLike(h), optc_dev_arena(h), 4);
  };
  EXPECT_EQ(run({1}), std::vector<float>{2});
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      optc_context *own = nullptr;
      if (optc_context_create(model, nullptr, &own, nullptr))
        return;
      int64_t dims[1] = {1};
      float x = float(t);
      optc_value in = optc_value_tensor(OPTC_FLOAT, 1, dims, &x), out = {};
      for (int i = 0; i < 5; ++i)
        if (!optc_run(own, &in, 1, &out, 1, nullptr, nullptr))
          right += *static_cast<float *>(out.tensor.data) == 2 * x;
      optc_context_destroy(own);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 20);
}

TEST_F(Device, ReadsWaitForWhatWasAskedForBefore) {
  body = [](optc_host *h) {
    auto *x = static_cast<float *>(optc_dev_input(h, 0));
    auto *arena = static_cast<float *>(optc_dev_arena(h));
    float v = 0;
    optc_dev_read(h, x + 1, 4, &v); // an input is in host memory too
    EXPECT_EQ(v, 5);
    optc_dev_read(h, static_cast<float *>(optc_dev_weights(h)) + 2, 4, &v);
    EXPECT_EQ(v, 300);
    launch(h, Twice, {x, arena}, 2);
    optc_dev_read(h, arena + 1, 4, &v);
    EXPECT_EQ(v, 10);
    optc_dev_copy(h, outputLike(h), arena, 8);
  };
  EXPECT_EQ(run({4, 5}), (std::vector<float>{8, 10}));
}

TEST_F(Device, KernelsOfTheCpuWorkOnCopies) {
  body = [](optc_host *h) {
    int64_t n = optc_rt_input_dim(h, 0, 0);
    void *arena = optc_dev_arena(h), *out = outputLike(h);
    launch(h, Twice, {optc_dev_input(h, 0), arena}, n);
    void *buf[] = {arena, out};
    int64_t bytes[] = {4 * n, 4 * n};
    optc_dev_launch_host(h, threeTimes, buf, bytes, 1, 2, nullptr, n, 0);
    launch(h, Twice, {out, arena}, n);
    optc_dev_copy(h, out, arena, 4 * n);
  };
  std::vector<float> x(200, 1); // more than an upload that travels with the work
  EXPECT_EQ(run(x), std::vector<float>(200, 12));
  EXPECT_EQ(run({1, 2}), (std::vector<float>{12, 24}));
}

TEST_F(Device, LibraryOperatorsSeeHostMemory) {
  body = [](optc_host *h) {
    int64_t n = optc_rt_input_dim(h, 0, 0);
    void *arena = optc_dev_arena(h);
    launch(h, Twice, {optc_dev_input(h, 0), arena}, n);
    optc_tensor in = {arena, OPTC_FLOAT, 1, {n}}, out = {};
    EXPECT_EQ(optc_dev_call(h, sameValue, &in, 1, nullptr, 0, &out, 1), 0);
    EXPECT_NE(out.data, arena);
    EXPECT_EQ(static_cast<float *>(out.data)[0], 8); // this is the host
    void *there = optc_dev_data(h, &out);
    EXPECT_EQ(optc_dev_data(h, &out), there);
    launch(h, Twice, {there, outputLike(h)}, n);
  };
  EXPECT_EQ(run({4, 5}), (std::vector<float>{16, 20}));
}

TEST_F(Device, ValuesOfTheDeviceBecomeOutputs) {
  output.rank = -1;
  body = [](optc_host *h) {
    int64_t n = optc_rt_input_dim(h, 0, 0);
    launch(h, Twice, {optc_dev_input(h, 0), optc_dev_arena(h)}, n);
    optc_tensor value = {optc_dev_arena(h), OPTC_FLOAT, 1, {n}};
    optc_dev_output_value(h, 0, &value);
  };
  EXPECT_EQ(run({4, 5}), (std::vector<float>{8, 10}));
}

TEST_F(Device, KeepsMoveDownOnTheDevice) {
  body = [](optc_host *h) {
    int64_t n = optc_rt_input_dim(h, 0, 0), bytes = 4 * n;
    int64_t mark = optc_dev_mark(h);
    optc_dev_alloc(h, 64); // so little that the buffer moves onto itself
    void *x = optc_dev_alloc(h, bytes), *kept[] = {x};
    launch(h, Twice, {optc_dev_input(h, 0), x}, n);
    auto *host = static_cast<float *>(optc_rt_alloc(h, bytes));
    for (int64_t i = 0; i < n; ++i)
      host[i] = 1;
    optc_tensor value = {host, OPTC_FLOAT, 1, {n}}, *values[] = {&value};
    optc_dev_keep(h, mark, kept, &bytes, 1, values, 1);
    EXPECT_LT(kept[0], x);
    optc_dev_release(h, optc_dev_mark(h));
    launch(h, Add, {kept[0], optc_dev_data(h, &value), outputLike(h)}, n);
  };
  std::vector<float> x(500), y;
  for (int i = 0; i < 500; ++i) {
    x[i] = float(i);
    y.push_back(float(2 * i + 1));
  }
  EXPECT_EQ(run(x), y);
  EXPECT_EQ(run(x), y);
}

TEST_F(Device, PlacesBuffersOfRunTimeSize) {
  body = [](optc_host *h) {
    int64_t n = optc_rt_input_dim(h, 0, 0), bytes[] = {4 * n, 4 * n, 4 * n};
    static const int32_t lifetimes[] = {0, 1, 1, 2, 2, 3};
    void *buf[3];
    optc_dev_solve_arena(h, 3, bytes, lifetimes, buf);
    EXPECT_EQ(buf[0], buf[2]);
    launch(h, Twice, {optc_dev_input(h, 0), buf[0]}, n);
    launch(h, Twice, {buf[0], buf[1]}, n);
    launch(h, Twice, {buf[1], buf[2]}, n);
    launch(h, Twice, {buf[2], outputLike(h)}, n);
  };
  EXPECT_EQ(run({1, 2}), (std::vector<float>{16, 32}));
  EXPECT_EQ(run(std::vector<float>(1000, 1)), std::vector<float>(1000, 16));
}

TEST_F(Device, ContextsShareTheModel) {
  body = [](optc_host *h) { launch(h, Add, {optc_dev_input(h, 0), optc_dev_weights(h), outputLike(h)}, 1); };
  EXPECT_EQ(run({1}), std::vector<float>{101});
  optc_context *second = nullptr;
  ASSERT_EQ(optc_context_create(model, nullptr, &second, &error), OPTC_OK);
  EXPECT_EQ(second->device->model, context->device->model);
  std::swap(second, context);
  EXPECT_EQ(run({2}), std::vector<float>{102});
  optc_context_destroy(second);
  EXPECT_EQ(run({3}), std::vector<float>{103});
}

TEST_F(Device, UsesTheCallersStreamAndContext) {
  useStandIn();
  Api api = {};
  char why[400];
  ASSERT_TRUE(loadApi(api, why, sizeof(why))) << why;
  CUcontext mine = nullptr;
  CUstream stream = nullptr;
  ASSERT_EQ(api.cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(api.cuDevicePrimaryCtxRetain(&mine, 0), CUDA_SUCCESS);
  ASSERT_EQ(api.cuCtxPushCurrent_v2(mine), CUDA_SUCCESS);
  ASSERT_EQ(api.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  size_t before = 0, after = 0, total = 0;
  api.cuMemGetInfo_v2(&before, &total);
  body = [](optc_host *h) { launch(h, Twice, {optc_dev_input(h, 0), outputLike(h)}, 1); };
  EXPECT_EQ(create(), "");
  EXPECT_EQ(optc_context_set_stream(context, stream, &error), OPTC_OK);
  EXPECT_EQ(run({1}), std::vector<float>{2});
  EXPECT_EQ(context->device->stream, stream);
  EXPECT_FALSE(context->device->model->isRetained);
  EXPECT_EQ(optc_context_set_stream(context, nullptr, &error), OPTC_OK);
  EXPECT_EQ(run({2}), std::vector<float>{4});
  // Everything is given back.
  api.cuMemGetInfo_v2(&after, &total);
  EXPECT_LT(after, before);
  optc_context_destroy(context);
  optc_model_destroy(model);
  context = nullptr;
  model = nullptr;
  api.cuMemGetInfo_v2(&after, &total);
  EXPECT_EQ(after, before);
  api.cuCtxPopCurrent_v2(&mine);
  api.cuDevicePrimaryCtxRelease_v2(0);
}

TEST_F(Device, ErrorsHaveReasons) {
  auto has = [](const std::string &text, const char *part) {
    return text.find(part) != std::string::npos ? testing::AssertionSuccess() : testing::AssertionFailure() << text;
  };
  setenv("OPTC_CUDA_LIB", "/nowhere/libcuda.so", 1);
  EXPECT_TRUE(has(create(), "there is no CUDA driver: /nowhere/libcuda.so"));
  EXPECT_EQ(error.status, OPTC_UNSUPPORTED);
  setenv("OPTC_CUDA_LIB", "libm.so.6", 1);
  EXPECT_TRUE(has(create(), "has no function cuInit"));
  useStandIn();

  device.emulation = nullptr;
  std::string cubin = testImage();
  cubin[18] = char(190);
  device.cubin = cubin.data();
  EXPECT_TRUE(has(create(), "its cubin: CUDA_ERROR_NO_BINARY_FOR_GPU"));
  device.chip = 100;
  EXPECT_TRUE(has(create(), "compute capability 10.0, and 'optc emulator (H200)' has 9.0"));
  device.chip = 90;
  device.emulation = testImage().data(); // the next one after the cubin
  EXPECT_EQ(create(), "");

  optc_device_kernel odd[] = {{"nothing", 32, 0, 1, 0, 0, nullptr, nullptr}};
  device.kernels = odd;
  device.num_kernels = 1;
  EXPECT_TRUE(has(create(), "nothing failed: CUDA_ERROR_NOT_FOUND"));
  odd[0] = {"add", 32, 1 << 20, 3, 1, 0, nullptr};
  EXPECT_TRUE(has(create(), "1048576 bytes of shared memory for kernel 'add' failed: CUDA_ERROR_INVALID_VALUE"));
  odd[0] = {"add", 0, 0, 3, 1, 0, nullptr};
  EXPECT_TRUE(has(create(), "the descriptor of model 'test' is damaged"));
  device.kernels = kernels;
  device.num_kernels = 2;
  desc.arena_bytes = INT64_MAX / 2;
  EXPECT_TRUE(has(create(), "device memory for the arena"));
  EXPECT_EQ(error.status, OPTC_OUT_OF_MEMORY);
  desc.arena_bytes = 64;

  EXPECT_EQ(create(), "");
  body = [](optc_host *h) { optc_dev_alloc(h, INT64_MAX / 8); };
  EXPECT_TRUE(run({1}).empty());
  EXPECT_TRUE(has(error.message, "out of device memory"));
  body = [](optc_host *h) { optc_dev_launch(h, 7, nullptr, nullptr, 1); };
  EXPECT_TRUE(run({1}).empty());
  EXPECT_TRUE(has(error.message, "kernel 7 of 2"));
  // Sizes that no launch can have are the driver's to refuse.
  const_cast<optc_device_kernel &>(odd[0]) = {"add", 2000, 0, 3, 1, 0, nullptr, nullptr};
  device.kernels = odd;
  device.num_kernels = 1;
  body = [](optc_host *h) { launch(h, Add, {optc_dev_input(h, 0), optc_dev_weights(h), outputLike(h)}, 1); };
  EXPECT_EQ(create(), "");
  EXPECT_TRUE(run({1}).empty());
  EXPECT_TRUE(has(error.message, "launching add failed: CUDA_ERROR_INVALID_VALUE"));
  EXPECT_TRUE(has(error.message, "a block of 2000 threads"));
  device.kernels = kernels;
  device.num_kernels = 2;
  EXPECT_EQ(create(), "");
  EXPECT_EQ(run({1}), std::vector<float>{101});
}

TEST_F(Device, OtherChipsRunGenericVersions) {
  // The stand-in has compute capability 9.0: for an artifact of another chip it is another device.
  const optc_device_kernel generic = {"twice", 64, 0, 2, 1, 0, nullptr, nullptr};
  const optc_device_kernel versions[] = {kernels[Add], {"tensor", 384, 200 << 10, 2, 1, 0, nullptr, &generic}};
  device.kernels = versions;
  device.chip = 100;
  body = [](optc_host *h) {
    int64_t n = optc_rt_input_dim(h, 0, 0), scalar[] = {n, (n + 63) / 64}; // blocks of 64 threads, not of 384
    void *buf[] = {optc_dev_input(h, 0), outputLike(h)};
    optc_dev_launch(h, Twice, buf, scalar, 0);
  };
  EXPECT_EQ(run(std::vector<float>(100, 3)), std::vector<float>(100, 6));
  EXPECT_STREQ(optc_context_device(context),
               "optc emulator (H200) (compute capability 9.0), emulated, generic kernels");
  // PTX comes first. The stand-in compiles none.
  device.ptx = ".version 8.3\n.target sm_80\n";
  device.ptx_bytes = strlen(device.ptx);
  EXPECT_EQ(run({1}), std::vector<float>{2});
  device.emulation = nullptr;
  EXPECT_NE(create().find("does not load its generic PTX: CUDA_ERROR_NO_BINARY_FOR_GPU"), std::string::npos)
      << error.message;
  device.emulation = testImage().data();
  // On its own chip the kernel is wanted, which this image does not have.
  device.chip = 90;
  EXPECT_NE(create().find("tensor failed: CUDA_ERROR_NOT_FOUND"), std::string::npos) << error.message;
  // A version takes what the kernel takes.
  const optc_device_kernel other = {"add", 64, 0, 3, 1, 0, nullptr, nullptr};
  const optc_device_kernel wrong[] = {kernels[Add], {"twice", 32, 0, 2, 1, 0, nullptr, &other}};
  device.kernels = wrong;
  EXPECT_NE(create().find("is damaged"), std::string::npos);
  device.kernels = kernels;
}

TEST_F(Device, TensorMapsFollowTheSizesOfTheLaunch) {
  // Rows as a run says; planes as far apart as if there were 16 rows.
  optc_tensor_map map = {0, OPTC_FLOAT16, 3, 3, 128, {64, -1, 2}, {OPTC_DENSE, 1024}, {64, 8, 1}};
  optc_device_kernel with[] = {{"map", 128, 0, 1, 1, 1, &map, nullptr}};
  device.kernels = with;
  device.num_kernels = 1;
  output.dtype = OPTC_UINT8;
  struct {
    uint64_t magic, base, dims[5], strides[4];
    uint16_t box[5];
    uint8_t elementBytes, rank, swizzle, nanFill;
  } got;
  void *arena = nullptr;
  body = [&](optc_host *h) {
    arena = optc_dev_arena(h);
    int64_t rows = optc_rt_input_dim(h, 0, 0);
    optc_dev_launch(h, 0, &arena, &rows, 1);
    optc_dev_read(h, arena, sizeof(got), &got);
    int64_t n = 0;
    optc_dev_output(h, 0, 1, &n);
  };
  for (size_t rows : {8, 8, 5, 0}) { // the second one is found
    run(std::vector<float>(rows));
    EXPECT_EQ(error.status, OPTC_OK) << error.message;
    EXPECT_EQ(got.base, reinterpret_cast<uintptr_t>(arena) + 128);
    EXPECT_EQ(got.dims[0], 64u);
    EXPECT_EQ(got.dims[1], rows ? rows : 1); // no map has no rows; nobody reads it
    EXPECT_EQ(got.strides[0], 128u);
    EXPECT_EQ(got.strides[1], 2048u);
    EXPECT_EQ(got.box[1], 8);
    EXPECT_EQ(got.rank, 3);
    EXPECT_EQ(got.swizzle, 3);
    EXPECT_EQ(got.elementBytes, 2);
  }
  map.strides[1] = 1025;
  run({1});
  EXPECT_NE(std::string(error.message).find("cuTensorMapEncodeTiled for kernel map failed"), std::string::npos)
      << error.message;
  map.dims[1] = -9;
  run({1});
  EXPECT_NE(std::string(error.message).find("is damaged: a tensor map names scalar 8"), std::string::npos);
}

TEST_F(Device, ModelsOfTheCpuHaveNoStream) {
  desc.device = nullptr;
  ASSERT_EQ(create(), "");
  EXPECT_EQ(optc_context_set_stream(context, nullptr, &error), OPTC_UNSUPPORTED);
}
