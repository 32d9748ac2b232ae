//===- Typed.cpp - the C interface behind generated headers ---------------===//
#include "Internal.h"

using namespace optc::rt;

extern "C" optc_status optc_desc_create(const optc_model_desc *desc, int32_t threads, optc_context **context,
                                        optc_error *error) {
  optc_model *model;
  if (optc_status s = optc_model_from_desc(desc, &model, error))
    return s;
  optc_context_options options = {sizeof(options), threads, nullptr, nullptr};
  if (optc_status s = optc_context_create(model, &options, context, error)) {
    modelDestroyImpl(model);
    return s;
  }
  (*context)->owned = model;
  return OPTC_OK;
}

extern "C" optc_status optc_desc_run(optc_context *h, const void *const *inputs, const int64_t *const *inputDims,
                                     void **outputs, const int64_t *const *outputDims, optc_error *error) {
  if (!h)
    return setError(error, OPTC_INVALID_ARGUMENT, "the context is null");
  const optc_model_desc *d = h->model->desc;
  if ((d->num_inputs && !inputs) || (d->num_outputs && !outputs))
    return setError(error, OPTC_INVALID_ARGUMENT, "model '%s': the inputs or outputs are a null pointer", d->name);
  auto *in = static_cast<optc_value *>(
      h->typed.reserve(sizeof(optc_value) * (size_t(d->num_inputs) + size_t(d->num_outputs))));
  if (!in)
    return setError(error, OPTC_OUT_OF_MEMORY, "out of memory");
  optc_value *out = in + d->num_inputs;
  for (int32_t i = 0; i < d->num_inputs + d->num_outputs; ++i) {
    bool isInput = i < d->num_inputs;
    int32_t k = isInput ? i : i - d->num_inputs;
    const optc_io_desc &io = isInput ? d->inputs[k] : d->outputs[k];
    const int64_t *const *all = isInput ? inputDims : outputDims;
    const int64_t *dims = all && all[k] ? all[k] : io.dims;
    const void *data = isInput ? inputs[k] : outputs[k];
    if (io.kind == 1 || io.kind == 3 || io.rank < 0)
      return setError(error, OPTC_INVALID_ARGUMENT, "model '%s': '%s' is not a tensor of known rank; use optc_run",
                      d->name, io.name);
    in[i] = optc_value_tensor(io.dtype, io.rank, dims, data);
    if (!isInput && !data)
      in[i].kind = OPTC_NONE;
    else if (isInput && (io.kind == 2 || io.value) && !data)
      in[i].kind = OPTC_NONE;
    for (int32_t n = 0; in[i].kind != OPTC_NONE && n < io.rank; ++n)
      if (dims[n] < 0)
        return setError(error, OPTC_INVALID_ARGUMENT, "model '%s': dimension %d of '%s' is not static; give its sizes",
                        d->name, n, io.name);
  }
  if (optc_status s = optc_run(h, in, d->num_inputs, out, d->num_outputs, nullptr, error))
    return s;
  for (int32_t i = 0; i < d->num_outputs; ++i)
    outputs[i] = out[i].tensor.data;
  return OPTC_OK;
}

extern "C" void optc_desc_destroy(optc_context *context) { optc_context_destroy(context); }
