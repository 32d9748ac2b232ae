//===- Model.cpp - a model's code and constants on a device ---------------===//
#include "Device.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

using namespace optc::cuda;
using optc::rt::setError;

/// More dynamic shared memory than this has to be asked for.
static constexpr int kSharedBytesByDefault = 48 << 10;
/// Generic kernels are for this compute capability and newer ones.
static constexpr int kLeastGeneric = 80;

namespace {
/// The texts that a failed set-up ends with, and what it has made so far.
struct SetUp {
  const optc_model_desc &desc;
  ModelState &state;
  optc_error *error;

  optc_status fail(optc_status status, const char *reason) {
    return setError(error, status, "model '%s' runs on a CUDA device: %s", desc.name, reason);
  }
  optc_status failCall(CUresult result, const char *what) {
    return setError(error, result == CUDA_ERROR_OUT_OF_MEMORY ? OPTC_OUT_OF_MEMORY : OPTC_UNSUPPORTED,
                    "model '%s' runs on a CUDA device: %s failed: %s", desc.name, what,
                    errorText(state.api, result).text);
  }
  optc_status findContext();
  optc_status loadModule();
  optc_status findKernels();
  optc_status uploadWeights();
};
} // namespace

/// The context that is current, as a program with CUDA of its own expects; else the primary one of the first device.
optc_status SetUp::findContext() {
  const Api &api = state.api;
  if (CUresult r = api.cuInit(0))
    return failCall(r, "cuInit");
  if (!api.cuCtxGetCurrent(&state.context) && state.context) {
    CUresult r = api.cuCtxGetDevice(&state.device);
    return r ? failCall(r, "cuCtxGetDevice") : OPTC_OK;
  }
  state.context = nullptr;
  int count = 0;
  if (CUresult r = api.cuDeviceGetCount(&count))
    return failCall(r, "cuDeviceGetCount");
  if (count < 1)
    return fail(OPTC_UNSUPPORTED, "the driver knows no device");
  if (CUresult r = api.cuDeviceGet(&state.device, 0))
    return failCall(r, "cuDeviceGet");
  CUcontext context;
  if (CUresult r = api.cuDevicePrimaryCtxRetain(&context, state.device))
    return failCall(r, "cuDevicePrimaryCtxRetain");
  state.context = context;
  state.isRetained = true;
  return OPTC_OK;
}

/// The first image that fits and loads: code for this very chip, else what the driver compiles itself, else the one
/// for the stand-in, which has kernels for the chip and for others.
optc_status SetUp::loadModule() {
  const Api &api = state.api;
  const optc_device_desc &device = *desc.device;
  int major = 0, minor = 0;
  char name[128] = "?";
  if (CUresult r = api.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, state.device))
    return failCall(r, "cuDeviceGetAttribute");
  if (CUresult r = api.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, state.device))
    return failCall(r, "cuDeviceGetAttribute");
  if (CUresult r = api.cuDeviceGetAttribute(&state.maxBlocks, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, state.device))
    return failCall(r, "cuDeviceGetAttribute");
  api.cuDeviceGetName(name, sizeof(name), state.device);
  int capability = major * 10 + minor;
  bool isChip = capability == device.chip;

  const struct {
    const void *bytes;
    const char *what, *runs;
    bool fits, isGeneric;
  } images[] = {{device.cubin, "its cubin", "machine code of the artifact", isChip, false},
                {device.ptx, "its generic PTX", "PTX compiled by the driver", capability >= kLeastGeneric, true},
                {device.emulation, "its image for the emulator", "emulated", capability >= kLeastGeneric, !isChip}};
  char log[512] = "", reasons[760] = "";
  size_t at = 0;
  for (const auto &image : images) {
    if (!image.bytes || !image.fits)
      continue;
    int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
    log[0] = 0;
    CUresult r = api.cuModuleLoadDataEx(&state.module, image.bytes, 2, options, values);
    if (!r) {
      state.isGeneric = image.isGeneric;
      snprintf(state.description, sizeof(state.description), "%s (compute capability %d.%d), %s%s", name, major, minor,
               image.runs, image.isGeneric ? ", generic kernels" : "");
      return OPTC_OK;
    }
    state.module = nullptr;
    log[sizeof(log) - 1] = 0;
    int n = snprintf(reasons + at, sizeof(reasons) - at, "%s%s: %s%s%s", at ? "; " : "", image.what,
                     errorText(api, r).text, log[0] ? ": " : "", log);
    at = n < 0 || size_t(n) >= sizeof(reasons) - at ? sizeof(reasons) - 1 : at + size_t(n);
  }
  if (at)
    return setError(error, OPTC_UNSUPPORTED, "model '%s': device '%s' does not load %s", desc.name, name, reasons);
  return setError(error, OPTC_UNSUPPORTED,
                  "model '%s' is compiled for devices of compute capability %d.%d, and '%s' has %d.%d; compile it with "
                  "--target= for that device",
                  desc.name, device.chip / 10, device.chip % 10, name, major, minor);
}

optc_status SetUp::findKernels() {
  const Api &api = state.api;
  const optc_device_desc &device = *desc.device;
  state.functions = static_cast<CUfunction *>(calloc(size_t(device.num_kernels) + 1, sizeof(CUfunction)));
  if (!state.functions)
    return setError(error, OPTC_OUT_OF_MEMORY, "out of memory for a model");
  for (int32_t i = 0; i < device.num_kernels; ++i) {
    const optc_device_kernel &kernel = kernelOf(state, desc, i);
    if (CUresult r = api.cuModuleGetFunction(&state.functions[i], state.module, kernel.name))
      return failCall(r, kernel.name);
    if (kernel.shared_bytes <= kSharedBytesByDefault)
      continue;
    if (CUresult r = api.cuFuncSetAttribute(state.functions[i], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                            kernel.shared_bytes))
      return setError(error, OPTC_UNSUPPORTED, "model '%s': %d bytes of shared memory for kernel '%s' failed: %s",
                      desc.name, kernel.shared_bytes, kernel.name, errorText(api, r).text);
  }
  return OPTC_OK;
}

optc_status SetUp::uploadWeights() {
  const Api &api = state.api;
  const optc_device_desc &device = *desc.device;
  if (!device.weights_bytes)
    return OPTC_OK;
  if (CUresult r = api.cuMemAlloc_v2(&state.weights, device.weights_bytes)) {
    state.weights = 0;
    return setError(error, r == CUDA_ERROR_OUT_OF_MEMORY ? OPTC_OUT_OF_MEMORY : OPTC_UNSUPPORTED,
                    "model '%s': %llu bytes of device memory for its constants: %s", desc.name,
                    (unsigned long long)device.weights_bytes, errorText(api, r).text);
  }
  CUstream stream;
  if (CUresult r = api.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING))
    return failCall(r, "cuStreamCreate");
  CUresult r = api.cuMemcpyHtoDAsync_v2(state.weights, device.weights, device.weights_bytes, stream);
  CUresult done = api.cuStreamSynchronize(stream);
  api.cuStreamDestroy_v2(stream);
  return r || done ? failCall(r ? r : done, "copying its constants to the device") : OPTC_OK;
}

static optc_status setUp(const optc_model *model, ModelState *&result, optc_error *error) {
  auto *state = static_cast<ModelState *>(calloc(1, sizeof(ModelState)));
  if (!state)
    return setError(error, OPTC_OUT_OF_MEMORY, "out of memory for a model");
  SetUp work{*model->desc, *state, error};
  char why[400];
  optc_status status = OPTC_OK;
  if (!loadApi(state->api, why, sizeof(why)))
    status = work.fail(OPTC_UNSUPPORTED, why);
  else if (!(status = work.findContext())) {
    if (CUresult r = state->api.cuCtxPushCurrent_v2(state->context))
      status = work.failCall(r, "cuCtxPushCurrent");
    else {
      if (!(status = work.loadModule()) && !(status = work.findKernels()))
        status = work.uploadWeights();
      CUcontext ours;
      state->api.cuCtxPopCurrent_v2(&ours);
    }
  }
  if (status)
    tearDownModel(state);
  else
    result = state;
  return status;
}

optc_status optc::cuda::setUpModel(const optc_model *model, ModelState *&state, optc_error *error) {
  // Immutable but for this: what the first context sets up for all.
  auto *shared = const_cast<optc_model *>(model);
  pthread_mutex_lock(&shared->mutex);
  optc_status status = shared->device ? optc_status(OPTC_OK) : setUp(model, shared->device, error);
  state = shared->device;
  pthread_mutex_unlock(&shared->mutex);
  return status;
}

void optc::cuda::tearDownModel(ModelState *state) {
  if (!state)
    return;
  const Api &api = state->api;
  if (state->context && !api.cuCtxPushCurrent_v2(state->context)) {
    if (state->weights)
      api.cuMemFree_v2(state->weights);
    if (state->module)
      api.cuModuleUnload(state->module);
    CUcontext ours;
    api.cuCtxPopCurrent_v2(&ours);
  }
  if (state->isRetained)
    api.cuDevicePrimaryCtxRelease_v2(state->device);
  free(state->functions);
  free(state);
}
