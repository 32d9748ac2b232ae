//===- Context.cpp - device memory and streams of a context ---------------===//
#include "Device.h"
#include <pthread.h>
#include <stdlib.h>

using namespace optc::cuda;
using optc::rt::freeAligned;
using optc::rt::setError;

static void *takeMemory(void *user, size_t bytes) {
  const Api &api = static_cast<ContextState *>(user)->model->api;
  CUdeviceptr address = 0;
  return api.cuMemAlloc_v2(&address, bytes) ? nullptr : hostForm(address);
}

static void giveMemory(void *user, void *p) {
  static_cast<ContextState *>(user)->model->api.cuMemFree_v2(deviceAddress(p));
}

static void destroyContext(optc_host *h) {
  ContextState *state = h->device;
  if (!state)
    return;
  h->device = nullptr;
  const Api &api = state->model->api;
  if (!api.cuCtxPushCurrent_v2(state->model->context)) {
    freeGraphs(*state);
    state->stack.destroy();
    const optc_model_desc &d = *h->model->desc;
    auto freeBuffers = [&](DeviceBuffer *buffers, int32_t n) {
      for (int32_t i = 0; buffers && i < n; ++i)
        if (buffers[i].address)
          api.cuMemFree_v2(buffers[i].address);
    };
    freeBuffers(state->inputs, d.num_inputs);
    freeBuffers(state->outputs, d.num_outputs);
    freeBuffers(&state->aside, 1);
    if (state->arena)
      api.cuMemFree_v2(state->arena);
    if (state->own)
      api.cuStreamDestroy_v2(state->own);
    CUcontext ours;
    api.cuCtxPopCurrent_v2(&ours);
  }
  freeAligned(state->tape.data);
  freeAligned(state->maps);
  void *const blocks[] = {state->inputs,  state->outputs,    state->isUploaded, state->downloads,
                          state->mirrors, state->parameters, state->seen,       state->marks};
  for (void *block : blocks)
    free(block);
  free(state);
}

template <typename T> static bool zeroed(T *&p, size_t n) {
  return (p = static_cast<T *>(calloc(n ? n : 1, sizeof(T)))) != nullptr;
}

static optc_status createContext(optc_host *h, optc_error *error) {
  const optc_model_desc &d = *h->model->desc;
  ModelState *model = nullptr;
  if (optc_status status = setUpModel(h->model, model, error))
    return status;
  ContextState *state = nullptr;
  if (!zeroed(state, 1))
    return setError(error, OPTC_OUT_OF_MEMORY, "out of memory for a context");
  h->device = state;
  state->model = model;
  state->memory = {takeMemory, giveMemory, state};
  state->stack.memory = &state->memory;
  state->graphsWork = true;
  int32_t parameters = 0;
  for (int32_t i = 0; i < d.device->num_kernels; ++i) {
    const optc_device_kernel &kernel = kernelOf(*model, d, i);
    int32_t n = kernel.num_buffers + kernel.num_scalars + kernel.num_maps;
    parameters = n > parameters ? n : parameters;
  }
  auto inputs = size_t(d.num_inputs), outputs = size_t(d.num_outputs);
  bool ok = zeroed(state->inputs, inputs) && zeroed(state->outputs, outputs) && zeroed(state->isUploaded, inputs) &&
            zeroed(state->downloads, outputs) && zeroed(state->mirrors, inputs + 1) &&
            zeroed(state->parameters, size_t(parameters)) && zeroed(state->seen, kSeenTapes);
  if (!ok) {
    destroyContext(h);
    return setError(error, OPTC_OUT_OF_MEMORY, "out of memory for a context");
  }
  const Api &api = model->api;
  CUresult r = api.cuCtxPushCurrent_v2(model->context);
  const char *what = "cuCtxPushCurrent";
  if (!r) {
    what = "cuStreamCreate";
    r = api.cuStreamCreate(&state->own, CU_STREAM_NON_BLOCKING);
    state->stream = state->own;
    if (!r && d.arena_bytes) {
      what = "device memory for the arena";
      r = api.cuMemAlloc_v2(&state->arena, size_t(d.arena_bytes));
    }
    CUcontext ours;
    api.cuCtxPopCurrent_v2(&ours);
  }
  if (!r)
    return OPTC_OK;
  optc_status status = setError(error, r == CUDA_ERROR_OUT_OF_MEMORY ? OPTC_OUT_OF_MEMORY : OPTC_UNSUPPORTED,
                                "model '%s': %s (%lld bytes) failed: %s", d.name, what, (long long)d.arena_bytes,
                                errorText(api, r).text);
  destroyContext(h);
  return status;
}

/// Also leaves nothing behind that a run which failed had asked for.
static void begin(optc_host *h) {
  ContextState &state = *h->device;
  const optc_model_desc &d = *h->model->desc;
  check(h, state.model->api.cuCtxPushCurrent_v2(state.model->context), "cuCtxPushCurrent");
  ++state.run;
  state.tape.used = 0;
  state.tape.records = 0;
  state.numMarks = 0;
  state.stack.release(0);
  memset(state.isUploaded, 0, size_t(d.num_inputs) * sizeof(bool));
  memset(state.downloads, 0, size_t(d.num_outputs) * sizeof(ContextState::Download));
  state.numMirrors = 0;
  if (state.model->weights)
    state.mirrors[state.numMirrors++] = {state.model->weights, size_t(d.device->weights_bytes),
                                         static_cast<const char *>(d.device->weights)};
}

static void finish(optc_host *h) {
  ContextState &state = *h->device;
  flush(h);
  for (int32_t i = 0; i < h->model->desc->num_outputs; ++i)
    if (const ContextState::Download &d = state.downloads[i]; d.bytes)
      check(h, state.model->api.cuMemcpyDtoHAsync_v2(d.to, d.from, d.bytes, state.stream), "copying output ",
            h->model->desc->outputs[i].name);
  synchronize(h);
}

static void end(optc_host *h) {
  ContextState &state = *h->device;
  if (h->error.status) // nothing may write to memory of the caller after the run
    state.model->api.cuStreamSynchronize(state.stream);
  CUcontext ours;
  state.model->api.cuCtxPopCurrent_v2(&ours);
}

static void setStream(optc_host *h, void *stream) {
  h->device->stream = stream ? static_cast<CUstream>(stream) : h->device->own;
}

static int64_t memory(const optc_host *h) {
  const ContextState &state = *h->device;
  const optc_model_desc &d = *h->model->desc;
  int64_t n = d.arena_bytes + state.stack.bytes() + int64_t(state.aside.size);
  for (int32_t i = 0; i < d.num_inputs; ++i)
    n += int64_t(state.inputs[i].size);
  for (int32_t i = 0; i < d.num_outputs; ++i)
    n += int64_t(state.outputs[i].size);
  return n;
}

static const char *describe(const optc_host *h) { return h->device->model->description; }

static void destroyModel(optc_model *model) { tearDownModel(model->device); }

extern "C" const optc_device_backend optc_cuda_backend = {createContext, destroyContext, begin,    finish,      end,
                                                          setStream,     memory,         describe, destroyModel};
