//===- RunTest.cpp - models, contexts, runs: checks, memory, threads, loading --===//
#include "Support.h"
#include "optc/runtime/artifact.h"
#include <cmath>
#include <unistd.h>

using namespace test;

// The model that artifact.c writes by hand, once more for static linking: z = x + y, float32[N,3].
static void addKernel(const optc_dispatch *d) {
  auto *x = static_cast<const float *>(d->buf[0]), *y = static_cast<const float *>(d->buf[1]);
  auto *z = static_cast<float *>(d->buf[2]);
  for (int64_t i = d->first * 3; i < d->last * 3; ++i)
    z[i] = x[i] + y[i];
}
static int32_t addEntry(optc_host *h) {
  int64_t dims[2] = {optc_rt_input_dim(h, 0, 0), 3};
  void *buf[3] = {optc_rt_input(h, 0), optc_rt_input(h, 1), optc_rt_output(h, 0, 2, dims)};
  optc_rt_launch(h, addKernel, buf, nullptr, dims[0], 128);
  return 0;
}
static const int64_t shape[2] = {-1, 3};
static const char *const symbols[] = {"N"};
static const optc_io_desc inputs[] = {{"x", 0, OPTC_FLOAT, 2, shape}, {"y", 0, OPTC_FLOAT, 2, shape}};
static const optc_io_desc outputs[] = {{"z", 0, OPTC_FLOAT, 2, shape}};
static const optc_model_desc addDesc = {
    OPTC_DISPATCH_ABI, sizeof(optc_model_desc), "add", "{}", 2, 1, 1, inputs, outputs, symbols, 64, 0, addEntry};

namespace {
struct Run : testing::Test {
  optc_model *model = nullptr;
  optc_context *context = nullptr;
  optc_error error = {};
  int64_t n = 2, dims[2] = {2, 3};
  float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {10, 20, 30, 40, 50, 60}, z[6] = {};
  optc_value in[2] = {optc_value_tensor(OPTC_FLOAT, 2, dims, x), optc_value_tensor(OPTC_FLOAT, 2, dims, y)},
             out[1] = {};

  void SetUp() override {
    ASSERT_EQ(optc_model_from_desc(&addDesc, &model, &error), OPTC_OK) << error.message;
    ASSERT_EQ(optc_context_create(model, nullptr, &context, &error), OPTC_OK) << error.message;
  }
  void TearDown() override {
    optc_context_destroy(context);
    optc_model_destroy(model);
  }
  std::string run() { return optc_run(context, in, 2, out, 1, nullptr, &error) ? error.message : ""; }
};
} // namespace

TEST_F(Run, OwnMemoryAndCallersBuffer) {
  ASSERT_EQ(run(), "");
  EXPECT_EQ(static_cast<float *>(out[0].tensor.data)[5], 66);
  EXPECT_EQ(uintptr_t(out[0].tensor.data) % 64, 0u);
  EXPECT_EQ(out[0].tensor.shape[0], 2);
  out[0] = optc_value_tensor(OPTC_FLOAT, 2, dims, z);
  ASSERT_EQ(run(), "");
  EXPECT_EQ(z[0], 11);
}

TEST_F(Run, OutputFeedsTheNextRun) {
  ASSERT_EQ(run(), "");
  for (int i = 0; i < 5; ++i) {
    in[0] = out[0];
    out[0] = optc_value{};
    ASSERT_EQ(run(), "");
  }
  EXPECT_EQ(static_cast<float *>(out[0].tensor.data)[0], 61);
}

TEST_F(Run, ChecksInputs) {
  in[1].dtype = OPTC_INT32;
  EXPECT_EQ(run(), "input 'y' is int32, the model takes float32");
  in[1].dtype = OPTC_FLOAT;
  int64_t other[2] = {1, 3}, wide[2] = {2, 4}, negative[2] = {-2, 3};
  in[1].tensor.shape = other;
  EXPECT_EQ(run(), "input 'y' has shape [1,3]: dimension 0 ('N') is 1, but an earlier input made 'N' 2");
  in[1].tensor.shape = wide;
  EXPECT_EQ(run(), "input 'y' has shape [2,4], the model takes [N,3]: dimension 1 is 4, not 3");
  in[1].tensor.shape = negative;
  EXPECT_EQ(run(), "input 'y': shape [?,3] is negative or too large");
  in[1].tensor.shape = dims;
  in[1].tensor.ndim = 1;
  EXPECT_EQ(run(), "input 'y' has rank 1 and shape [2], the model takes rank 2: [N,3]");
  in[1].tensor.ndim = 2;
  in[1].tensor.data = nullptr;
  EXPECT_EQ(run(), "input 'y': its data is a null pointer");
  in[1].kind = OPTC_NONE;
  EXPECT_EQ(run(), "input 'y' is nothing, the model takes a tensor");
  EXPECT_EQ(optc_run(context, in, 1, out, 1, nullptr, &error), OPTC_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "model 'add' takes 2 inputs, 1 were given");
  EXPECT_EQ(optc_run(nullptr, in, 1, out, 1, nullptr, nullptr), OPTC_INVALID_ARGUMENT);
}

TEST_F(Run, StridedAndMisalignedInputsAreCopied) {
  float t[6] = {1, 4, 2, 5, 3, 6};
  int64_t strides[2] = {1, 2};
  in[0].tensor.data = t;
  in[0].tensor.strides = strides;
  alignas(4) char bytes[25];
  memcpy(bytes + 1, y, 24);
  in[1].tensor.data = bytes;
  in[1].tensor.byte_offset = 1;
  ASSERT_EQ(run(), "");
  EXPECT_EQ(static_cast<float *>(out[0].tensor.data)[1], 22);
  EXPECT_EQ(static_cast<float *>(out[0].tensor.data)[3], 44);
}

TEST_F(Run, ChecksOutputs) {
  out[0] = optc_value_tensor(OPTC_FLOAT, 2, dims, x);
  EXPECT_EQ(run(), "output 'z': the buffer given overlaps input 'x'");
  int64_t small[2] = {1, 3};
  out[0] = optc_value_tensor(OPTC_FLOAT, 2, small, z);
  EXPECT_EQ(run(), "output 'z' is float32[2,3], the buffer given is for float32[1,3]");
}

TEST_F(Run, EmptyTensors) {
  int64_t none[2] = {0, 3};
  in[0] = optc_value_tensor(OPTC_FLOAT, 2, none, nullptr);
  in[1] = in[0];
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out[0].tensor.shape[0], 0);
}

TEST_F(Run, AllocatorOfTheCaller) {
  optc_run_options options = {
      sizeof(options), [](void *user, int32_t, size_t bytes, size_t) -> void * { return bytes == 24 ? user : nullptr; },
      z};
  ASSERT_EQ(optc_run(context, in, 2, out, 1, &options, &error), OPTC_OK) << error.message;
  EXPECT_EQ(out[0].tensor.data, z);
  options.allocate = [](void *, int32_t, size_t, size_t) -> void * { return nullptr; };
  out[0] = optc_value{};
  EXPECT_EQ(optc_run(context, in, 2, out, 1, &options, &error), OPTC_OUT_OF_MEMORY);
}

TEST(Launch, EveryTileRunsOnce) {
  static const optc_io_desc counts[] = {{"counts", 0, OPTC_INT32, 1, shape}};
  static const auto count = [](const optc_dispatch *d) {
    for (int64_t i = d->first; i < d->last; ++i)
      __atomic_fetch_add(static_cast<int32_t *>(d->buf[0]) + i, 1, __ATOMIC_RELAXED);
  };
  optc_model_desc desc = {OPTC_DISPATCH_ABI,
                          sizeof(optc_model_desc),
                          "count",
                          "{}",
                          1,
                          1,
                          1,
                          inputs,
                          counts,
                          symbols,
                          0,
                          0,
                          [](optc_host *h) {
                            int64_t tiles = optc_rt_input_dim(h, 0, 0);
                            void *buf[1] = {optc_rt_output(h, 0, 1, &tiles)};
                            memset(buf[0], 0, size_t(tiles) * sizeof(int32_t));
                            optc_rt_launch(h, count, buf, nullptr, tiles, 0);
                            return 0;
                          }};
  optc_error error = {};
  optc_model *model = nullptr;
  ASSERT_EQ(optc_model_from_desc(&desc, &model, &error), OPTC_OK) << error.message;
  std::vector<float> x(3 * 1001);
  for (int32_t workers : {1, 2, 3, 5, 32, 40})
    for (bool own : {true, false}) {
      optc_context_options options = {sizeof(options), workers, nullptr, nullptr};
      if (!own) // one after the other: the first to come takes everything
        options.parallel_for = [](void *, int32_t n, void (*body)(void *, int32_t), void *arg) {
          for (int32_t w = n; w-- > 0;)
            body(arg, w);
        };
      optc_context *context = nullptr;
      ASSERT_EQ(optc_context_create(model, &options, &context, &error), OPTC_OK) << error.message;
      for (int64_t tiles : {1, 2, 3, 7, 31, 33, 128, 1001}) {
        int64_t dims[2] = {tiles, 3};
        optc_value in = optc_value_tensor(OPTC_FLOAT, 2, dims, x.data()), out = {};
        ASSERT_EQ(optc_run(context, &in, 1, &out, 1, nullptr, &error), OPTC_OK) << error.message;
        auto *have = static_cast<int32_t *>(out.tensor.data);
        EXPECT_EQ(std::vector<int32_t>(have, have + tiles), std::vector<int32_t>(size_t(tiles), 1)) << workers;
      }
      optc_context_destroy(context);
    }
  optc_model_destroy(model);
}

TEST_F(Run, ThreadsAndCallersPoolGiveTheSame) {
  for (int mode = 0; mode < 2; ++mode) {
    optc_context_options options = {sizeof(options), 3, nullptr, nullptr};
    if (mode)
      options.parallel_for = [](void *, int32_t workers, void (*body)(void *, int32_t), void *arg) {
        for (int32_t w = workers; w-- > 0;)
          body(arg, w);
      };
    optc_context *threaded = nullptr;
    ASSERT_EQ(optc_context_create(model, &options, &threaded, &error), OPTC_OK);
    std::vector<float> a(3000), b(3000, 1);
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = float(i);
    int64_t big[2] = {1000, 3};
    for (int k = 0; k < 200; ++k) {
      in[0] = optc_value_tensor(OPTC_FLOAT, 2, big, a.data());
      in[1] = optc_value_tensor(OPTC_FLOAT, 2, big, b.data());
      out[0] = optc_value{};
      ASSERT_EQ(optc_run(threaded, in, 2, out, 1, nullptr, &error), OPTC_OK);
      for (size_t i = 0; i < a.size(); i += 97)
        ASSERT_EQ(static_cast<float *>(out[0].tensor.data)[i], float(i) + 1);
    }
    usleep(mode ? 0 : 20000); // workers go to sleep and must wake up again
    // The value of the last run is reused, not taken for a buffer of the caller.
    for (int64_t rows : {1000, 10, 500}) {
      big[0] = rows;
      ASSERT_EQ(optc_run(threaded, in, 2, out, 1, nullptr, &error), OPTC_OK) << error.message;
      EXPECT_EQ(out[0].tensor.shape[0], rows);
    }
    optc_context_destroy(threaded);
  }
}

TEST(Model, RefusesWhatDoesNotFit) {
  optc_error error = {};
  optc_model *model = nullptr;
  optc_model_desc d = addDesc;
  d.abi = 99;
  EXPECT_EQ(optc_model_from_desc(&d, &model, &error), OPTC_UNSUPPORTED);
  d = addDesc;
  d.cpu_features = ~optc_cpu_features() & (OPTC_CPU_AMXBF16 | OPTC_CPU_AVX512FP16 | 1ull << 60);
  EXPECT_EQ(optc_model_from_desc(&d, &model, &error), OPTC_UNSUPPORTED);
  EXPECT_NE(std::string(error.message).find("CPU features that this machine lacks"), std::string::npos)
      << error.message;
  EXPECT_EQ(optc_model_from_desc(nullptr, &model, &error), OPTC_INVALID_ARGUMENT);
  EXPECT_EQ(optc_model_load_file("/nowhere/x.so", &model, &error), OPTC_IO);
  EXPECT_EQ(optc_model_load_file("/proc/self/exe", &model, &error), OPTC_IO);
  EXPECT_NE(std::string(error.message).find("exports no function NAME_optc_query"), std::string::npos) << error.message;
}

TEST(Model, LoadsAnArtifact) {
  optc_error error = {};
  optc_model *model = nullptr;
  char self[4096];
  ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
  ASSERT_GT(size, 0);
  self[size] = 0;
  std::string path = std::string(self, std::string(self).rfind('/')) + "/optc_test_artifact.so";
  ASSERT_EQ(optc_model_load_file(path.c_str(), &model, &error), OPTC_OK) << error.message;
  EXPECT_STREQ(optc_model_get_desc(model)->name, "add");
  optc_context *context = nullptr;
  ASSERT_EQ(optc_context_create(model, nullptr, &context, &error), OPTC_OK);
  int64_t dims[2] = {1, 3};
  float x[3] = {1, 2, 3};
  optc_value in[2] = {optc_value_tensor(OPTC_FLOAT, 2, dims, x), optc_value_tensor(OPTC_FLOAT, 2, dims, x)},
             out[1] = {};
  ASSERT_EQ(optc_run(context, in, 2, out, 1, nullptr, &error), OPTC_OK) << error.message;
  EXPECT_EQ(static_cast<float *>(out[0].tensor.data)[2], 6);
  optc_context_destroy(context);
  optc_model_destroy(model);
}

TEST(Typed, RunsWithPlainPointers) {
  optc_context *context = nullptr;
  optc_error error = {};
  ASSERT_EQ(optc_desc_create(&addDesc, 1, &context, &error), OPTC_OK);
  float x[3] = {1, 2, 3}, z[3] = {};
  int64_t dims[2] = {1, 3};
  const void *in[2] = {x, x};
  void *out[1] = {z};
  const int64_t *inDims[2] = {dims, dims}, *outDims[1] = {dims};
  EXPECT_EQ(optc_desc_run(context, in, inDims, out, outDims, &error), OPTC_OK) << error.message;
  EXPECT_EQ(z[2], 6);
  EXPECT_EQ(optc_desc_run(context, in, nullptr, out, outDims, &error), OPTC_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "model 'add': dimension 0 of 'x' is not static; give its sizes");
  out[0] = nullptr;
  EXPECT_EQ(optc_desc_run(context, in, inDims, out, nullptr, &error), OPTC_OK) << error.message;
  EXPECT_EQ(static_cast<float *>(out[0])[1], 4);
  optc_desc_destroy(context);
}

//===-- memory ---------------------------------------------------------------//

TEST(Stack, MarksAndChunks) {
  EXPECT_EQ(inModel([](optc_host *h) {
              int64_t mark = optc_rt_mark(h);
              auto *a = static_cast<char *>(optc_rt_alloc(h, 100));
              EXPECT_EQ(uintptr_t(a) % 64, 0u);
              for (int i = 0; i < 50; ++i) {
                int64_t inner = optc_rt_mark(h);
                auto *big = static_cast<char *>(optc_rt_alloc(h, 100000 * (i % 7 + 1)));
                memset(big, i, size_t(100000 * (i % 7 + 1)));
                auto *more = static_cast<char *>(optc_rt_alloc(h, 64));
                memset(more, 1, 64);
                EXPECT_EQ(big[99999], char(i));
                optc_rt_release(h, inner);
              }
              optc_rt_release(h, mark);
              EXPECT_EQ(optc_rt_alloc(h, 100), a);
              EXPECT_NE(optc_rt_alloc(h, 0), nullptr);
              optc_rt_alloc(h, -5);
              ADD_FAILURE() << "a failing service must not return";
            }),
            "a size is negative or too large (-5 bytes)");
}

TEST(SubByte, PackedAtTheEdges) {
  static const int64_t three[1] = {3};
  static const optc_io_desc io[] = {{"x", 0, OPTC_INT4, 1, three}};
  optc_model_desc d = addDesc;
  d.num_inputs = d.num_outputs = 1;
  d.inputs = d.outputs = io;
  d.entry = [](optc_host *h) -> int32_t {
    int64_t dims[1] = {3};
    auto *x = static_cast<int8_t *>(optc_rt_input(h, 0)), *z = static_cast<int8_t *>(optc_rt_output(h, 0, 1, dims));
    EXPECT_EQ(x[0], -8);
    EXPECT_EQ(x[1], 7);
    for (int i = 0; i < 3; ++i)
      z[i] = int8_t(x[i] / 2);
    return 0;
  };
  optc_model *model = nullptr;
  optc_context *context = nullptr;
  ASSERT_EQ(optc_model_from_desc(&d, &model, nullptr), OPTC_OK);
  ASSERT_EQ(optc_context_create(model, nullptr, &context, nullptr), OPTC_OK);
  uint8_t packed[2] = {0x78, 0x02};
  optc_value in = optc_value_tensor(OPTC_INT4, 1, three, packed), out = {};
  ASSERT_EQ(optc_run(context, &in, 1, &out, 1, nullptr, nullptr), OPTC_OK);
  EXPECT_EQ(static_cast<uint8_t *>(out.tensor.data)[0], 0x3c);
  EXPECT_EQ(static_cast<uint8_t *>(out.tensor.data)[1], 0x01);
  optc_context_destroy(context);
  optc_model_destroy(model);
}

TEST(Defaults, TakenForWhatIsNotGiven) {
  static const float preset[6] = {7, 7, 7, 7, 7, 7};
  static const int64_t two[2] = {2, 3};
  optc_io_desc io[] = {{"x", 0, OPTC_FLOAT, 2, shape, nullptr}, {"y", 0, OPTC_FLOAT, 2, two, preset}};
  optc_model_desc d = addDesc;
  d.inputs = io;
  optc_model *model = nullptr;
  optc_context *context = nullptr;
  optc_error error = {};
  ASSERT_EQ(optc_model_from_desc(&d, &model, &error), OPTC_OK) << error.message;
  ASSERT_EQ(optc_context_create(model, nullptr, &context, nullptr), OPTC_OK);
  float x[6] = {1, 2, 3, 4, 5, 6};
  optc_value in[2] = {optc_value_tensor(OPTC_FLOAT, 2, two, x), {}}, out = {};
  ASSERT_EQ(optc_run(context, in, 2, &out, 1, nullptr, &error), OPTC_OK) << error.message;
  EXPECT_EQ(static_cast<float *>(out.tensor.data)[5], 13);
  in[1] = in[0];
  ASSERT_EQ(optc_run(context, in, 2, &out, 1, nullptr, &error), OPTC_OK) << error.message;
  EXPECT_EQ(static_cast<float *>(out.tensor.data)[5], 12);
  in[0] = optc_value{};
  EXPECT_EQ(optc_run(context, in, 2, &out, 1, nullptr, &error), OPTC_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "input 'x' is nothing, the model takes a tensor");
  optc_context_destroy(context);
  optc_model_destroy(model);

  ASSERT_EQ(optc_desc_create(&d, 1, &context, &error), OPTC_OK) << error.message;
  const void *given[2] = {x, nullptr};
  const int64_t *dims[2] = {two, nullptr};
  void *results[1] = {nullptr};
  const int64_t *none[1] = {nullptr};
  ASSERT_EQ(optc_desc_run(context, given, dims, results, none, &error), OPTC_OK) << error.message;
  EXPECT_EQ(static_cast<float *>(results[0])[0], 8);
  optc_desc_destroy(context);

  // A default needs a size; sequences have none.
  io[1].dims = shape;
  EXPECT_EQ(optc_model_from_desc(&d, &model, &error), OPTC_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "the descriptor of model 'add' is damaged");
  io[1] = {"y", 1, OPTC_FLOAT, 2, two, preset};
  EXPECT_EQ(optc_model_from_desc(&d, &model, &error), OPTC_INVALID_ARGUMENT);
}
