//===- Model.cpp - models, contexts, the API table ------------------------===//
#include "Internal.h"
#include <stdio.h>
#include <stdlib.h>

using namespace optc::rt;

optc_status optc::rt::setError(optc_error *error, optc_status status, const char *format, ...) {
  if (!error)
    return status;
  error->status = status;
  va_list args;
  va_start(args, format);
  vsnprintf(error->message, sizeof(error->message), format, args);
  va_end(args);
  return status;
}

void optc::rt::fail(optc_host *h, optc_status status, const char *format, ...) {
  h->error.status = status;
  va_list args;
  va_start(args, format);
  vsnprintf(h->error.message, sizeof(h->error.message), format, args);
  va_end(args);
  longjmp(h->end, 1);
}

/// A default is a tensor whose size follows from the descriptor.
static bool validDefault(const optc_io_desc &io) {
  return !io.value || (!io.kind && io.rank >= 0 && packedBytes(io.dtype, countElements(io.rank, io.dims)) >= 0);
}

static bool validIO(const optc_io_desc *io, int32_t n, int32_t symbols) {
  if (n < 0 || (n && !io))
    return false;
  for (int32_t i = 0; i < n; ++i) {
    if (io[i].kind < 0 || io[i].kind > 3 || io[i].rank > OPTC_MAX_RANK || (io[i].rank > 0 && !io[i].dims))
      return false;
    for (int32_t d = 0; d < io[i].rank; ++d)
      if (io[i].dims[d] < 0 && io[i].dims[d] != INT64_MIN && -1 - io[i].dims[d] >= symbols)
        return false;
    if (!validDefault(io[i]))
      return false;
  }
  return true;
}

static bool validKernel(const optc_device_kernel &k) {
  return k.name && k.threads >= 1 && k.shared_bytes >= 0 && k.num_buffers >= 0 && k.num_scalars >= 0 &&
         k.num_maps >= 0 && (k.maps || !k.num_maps);
}

static bool validDevice(const optc_device_desc *d) {
  if (!d)
    return true;
  if (!d->backend || d->num_kernels < 0 || (d->num_kernels && !d->kernels) || (d->weights_bytes && !d->weights))
    return false;
  for (int32_t i = 0; i < d->num_kernels; ++i) {
    const optc_device_kernel &k = d->kernels[i], *generic = k.generic;
    if (!validKernel(k))
      return false;
    if (generic && (!validKernel(*generic) || generic->generic || generic->num_buffers != k.num_buffers ||
                    generic->num_scalars != k.num_scalars))
      return false;
  }
  return true;
}

static optc_status modelFromDesc(const optc_model_desc *desc, optc_model **model, optc_error *error,
                                 const optc_api *api) {
  if (!model)
    return setError(error, OPTC_INVALID_ARGUMENT, "optc_model_from_desc: the result pointer is null");
  *model = nullptr;
  if (!desc)
    return setError(error, OPTC_INVALID_ARGUMENT, "optc_model_from_desc: the descriptor is null");
  const char *name = desc->name ? desc->name : "?";
  if (desc->abi != OPTC_DISPATCH_ABI || desc->size < sizeof(optc_model_desc))
    return setError(error, OPTC_UNSUPPORTED,
                    "model '%s' was compiled for version %u of the runtime's ABI, this runtime serves version %d; "
                    "compile the model again with the "
                    "optc that this runtime came with",
                    name, desc->abi, OPTC_DISPATCH_ABI);
  if (!desc->entry || desc->num_symbols < 0 || !validIO(desc->inputs, desc->num_inputs, desc->num_symbols) ||
      !validIO(desc->outputs, desc->num_outputs, desc->num_symbols) || desc->arena_bytes < 0 ||
      !validDevice(desc->device))
    return setError(error, OPTC_INVALID_ARGUMENT, "the descriptor of model '%s' is damaged", name);
  if (uint64_t missing = desc->cpu_features & ~optc_cpu_features()) {
    char text[400];
    optc_cpu_feature_names(missing, text, sizeof(text));
    return setError(error, OPTC_UNSUPPORTED,
                    "model '%s' needs CPU features that this machine lacks: %s; compile it with --target= for this CPU",
                    name, text);
  }
  auto *m = static_cast<optc_model *>(calloc(1, sizeof(optc_model)));
  if (!m)
    return setError(error, OPTC_OUT_OF_MEMORY, "out of memory for a model");
  m->api = api;
  m->desc = desc;
  pthread_mutex_init(&m->mutex, nullptr);
  *model = m;
  return OPTC_OK;
}

optc_status optc::rt::modelFromDescImpl(const optc_model_desc *d, optc_model **m, optc_error *e) {
  return modelFromDesc(d, m, e, &runtimeApi);
}
void optc::rt::modelDestroyImpl(optc_model *m) {
  if (m && m->device)
    m->desc->device->backend->destroy_model(m);
  free(m);
}
const optc_model_desc *optc::rt::modelGetDescImpl(const optc_model *m) { return m ? m->desc : nullptr; }

//===-- contexts -------------------------------------------------------------//

void optc::rt::contextDestroyImpl(optc_context *h) {
  if (!h)
    return;
  if (h->device)
    h->model->desc->device->backend->destroy_context(h);
  destroyPool(h->pool);
  freeAligned(h->arena);
  h->stack.destroy();
  freePlacements(h->placements);
  freeAligned(h->scratch.data);
  for (int32_t i = 0; h->outputs && i < h->model->desc->num_outputs; ++i)
    freeAligned(h->outputs[i].data);
  h->retired.freeAll();
  free(h->retired.data);
  h->pools[0].reset();
  h->pools[1].reset();
  free(h->outputs);
  free(h->bound);
  free(h->symbols);
  free(h->unpacked);
  free(h->shapes);
  free(h->state);
  freeAligned(h->typed.data);
  modelDestroyImpl(const_cast<optc_model *>(h->owned));
  free(h);
}

template <typename T> static T *zeroed(int32_t n) { return static_cast<T *>(calloc(n ? size_t(n) : 1, sizeof(T))); }

optc_status optc::rt::contextCreateImpl(const optc_model *model, const optc_context_options *options,
                                        optc_context **context, optc_error *error) {
  if (!context)
    return setError(error, OPTC_INVALID_ARGUMENT, "optc_context_create: the result pointer is null");
  *context = nullptr;
  if (!model)
    return setError(error, OPTC_INVALID_ARGUMENT, "optc_context_create: the model is null");
  if (options && options->size < sizeof(optc_context_options))
    return setError(error, OPTC_INVALID_ARGUMENT,
                    "optc_context_create: options.size is %u, expected sizeof(optc_context_options) = %zu",
                    options->size, sizeof(optc_context_options));
  if (options && (options->threads < 0 || options->threads > 1024))
    return setError(error, OPTC_INVALID_ARGUMENT, "optc_context_create: %d threads; 0 to 1024 are supported",
                    options->threads);
  const optc_model_desc *d = model->desc;
  auto *h = zeroed<optc_host>(1);
  if (!h)
    return setError(error, OPTC_OUT_OF_MEMORY, "out of memory for a context");
  h->api = model->api;
  h->model = model;
  if (options)
    h->options = *options;
  h->workers = h->options.threads > 1 ? h->options.threads : 1;
  h->arena = allocAligned(d->device ? 0 : size_t(d->arena_bytes)); // the device has its own
  h->outputs = zeroed<Buffer>(d->num_outputs);
  h->bound = zeroed<optc_value>(d->num_inputs);
  h->symbols = zeroed<int64_t>(d->num_symbols);
  h->unpacked = zeroed<void *>(d->num_inputs);
  h->state = zeroed<optc_host::Output>(d->num_outputs);
  h->shapes = static_cast<int64_t *>(calloc(size_t(d->num_outputs) * 2 + 1, sizeof(int64_t) * OPTC_MAX_RANK));
  bool ok = h->shapes && h->arena && h->outputs && h->bound && h->symbols && h->unpacked && h->state;
  if (ok && h->workers > 1 && !h->options.parallel_for) {
    h->pool = createPool(h->workers);
    ok = h->pool != nullptr;
  }
  if (!ok) {
    contextDestroyImpl(h);
    return setError(error, OPTC_OUT_OF_MEMORY,
                    "no memory or threads for a context: the arena takes %lld bytes, %d threads were asked for",
                    (long long)d->arena_bytes, h->workers);
  }
  if (d->device)
    if (optc_status status = d->device->backend->create_context(h, error)) {
      contextDestroyImpl(h);
      return status;
    }
  *context = h;
  return OPTC_OK;
}

int64_t optc::rt::contextMemoryImpl(const optc_context *h) {
  if (!h)
    return 0;
  int64_t n = (h->device ? h->model->desc->device->backend->memory(h) : h->model->desc->arena_bytes) +
              h->stack.bytes() + int64_t(h->scratch.size) + h->pools[0].bytes() + h->pools[1].bytes();
  for (int32_t i = 0; i < h->model->desc->num_outputs; ++i)
    n += int64_t(h->outputs[i].size);
  return n;
}

optc_status optc::rt::setStreamImpl(optc_context *h, void *stream, optc_error *error) {
  if (!h)
    return setError(error, OPTC_INVALID_ARGUMENT, "optc_context_set_stream: the context is null");
  if (!h->device)
    return setError(error, OPTC_UNSUPPORTED, "optc_context_set_stream: model '%s' is compiled for a CPU",
                    h->model->desc->name);
  h->model->desc->device->backend->set_stream(h, stream);
  return OPTC_OK;
}

const char *optc::rt::contextDeviceImpl(const optc_context *h) {
  return h && h->device ? h->model->desc->device->backend->describe(h) : nullptr;
}

namespace optc::rt {
const optc_api runtimeApi = OPTC_API_TABLE(nullptr);
} // namespace optc::rt

//===-- the public functions: a model made by an artifact is served by the artifact's own runtime --//

extern "C" {

optc_status optc_model_from_desc(const optc_model_desc *desc, optc_model **model, optc_error *error) {
  return runtimeApi.model_from_desc(desc, model, error);
}

const optc_model_desc *optc_model_get_desc(const optc_model *model) {
  return model ? model->api->model_get_desc(model) : nullptr;
}

optc_status optc_context_create(const optc_model *model, const optc_context_options *options, optc_context **context,
                                optc_error *error) {
  return (model ? model->api : &runtimeApi)->context_create(model, options, context, error);
}

void optc_context_destroy(optc_context *context) {
  if (context)
    context->api->context_destroy(context);
}

optc_status optc_run(optc_context *context, const optc_value *inputs, int32_t num_inputs, optc_value *outputs,
                     int32_t num_outputs, const optc_run_options *options, optc_error *error) {
  return (context ? context->api : &runtimeApi)->run(context, inputs, num_inputs, outputs, num_outputs, options, error);
}

optc_status optc_context_set_stream(optc_context *context, void *stream, optc_error *error) {
  return (context ? context->api : &runtimeApi)->context_set_stream(context, stream, error);
}

const char *optc_context_device(const optc_context *context) {
  return context ? context->api->context_device(context) : nullptr;
}

int64_t optc_context_memory(const optc_context *context) { return context ? context->api->context_memory(context) : 0; }

} // extern "C"
