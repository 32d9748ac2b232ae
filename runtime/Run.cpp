//===- Run.cpp - checks of a run's inputs and outputs, services to the host program --===//
#include "Internal.h"
#include <stdio.h>

using namespace optc::rt;

void *optc::rt::runAlloc(optc_host *h, int64_t bytes) {
  if (void *p = bytes < 0 ? nullptr : runPool(h).alloc(size_t(bytes)))
    return p;
  fail(h, OPTC_OUT_OF_MEMORY, "out of memory: %lld bytes", (long long)bytes);
}

ShapeText optc::rt::shapeText(int32_t rank, const int64_t *dims) {
  ShapeText t;
  size_t at = size_t(snprintf(t.text, sizeof(t.text), "["));
  for (int32_t i = 0; i < rank && at < sizeof(t.text) - 30; ++i)
    at += size_t(dims[i] < 0 ? snprintf(t.text + at, 30, "%s?", i ? "," : "")
                             : snprintf(t.text + at, 30, "%s%lld", i ? "," : "", (long long)dims[i]));
  snprintf(t.text + at, 3, "]");
  return t;
}

/// The declared shape, symbols by name.
static ShapeText declared(const optc_host *h, const optc_io_desc &io) {
  ShapeText t;
  size_t at = size_t(snprintf(t.text, sizeof(t.text), "["));
  for (int32_t i = 0; i < io.rank && at < sizeof(t.text) - 80; ++i) {
    const char *comma = i ? "," : "";
    int64_t d = io.dims[i];
    const char *const *names = h->model->desc->symbols;
    if (d >= 0)
      at += size_t(snprintf(t.text + at, 30, "%s%lld", comma, (long long)d));
    else if (d != INT64_MIN && names && names[-1 - d])
      at += size_t(snprintf(t.text + at, 72, "%s%.64s", comma, names[-1 - d]));
    else
      at += size_t(snprintf(t.text + at, 30, "%s?", comma));
  }
  snprintf(t.text + at, 3, "]");
  return t;
}

//===-- inputs ---------------------------------------------------------------//

/// Copies a strided tensor into contiguous memory of the run.
static void *gather(optc_host *h, const optc_dltensor &t, const char *base, int64_t width, int64_t count) {
  int64_t bytes;
  if (!mulSize(count, width, bytes))
    bytes = -1;
  auto *dst = static_cast<char *>(optc_rt_alloc(h, bytes));
  int64_t index[OPTC_MAX_RANK] = {0}, offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    memcpy(dst + i * width, base + offset * width, size_t(width));
    for (int32_t d = t.ndim - 1; d >= 0; --d) {
      int64_t stride = t.strides[d];
      offset += stride;
      if (++index[d] < t.shape[d])
        break;
      offset -= stride * t.shape[d];
      index[d] = 0;
    }
  }
  return dst;
}

static bool isContiguous(const optc_dltensor &t) {
  if (!t.strides)
    return true;
  int64_t expected = 1;
  for (int32_t d = t.ndim - 1; d >= 0; --d) {
    if (t.shape[d] != 1 && t.strides[d] != expected)
      return false;
    expected *= t.shape[d];
  }
  return true;
}

/// Checks the form of a tensor value and makes it contiguous; what the model declares is not looked at.
static void normalizeTensor(optc_host *h, const char *name, const optc_value &v, optc_value &out) {
  out = v;
  optc_dltensor &t = out.tensor;
  if (!out.dtype)
    out.dtype = dtypeFromDL(t.dtype);
  if (out.kind == OPTC_STRINGS)
    out.dtype = OPTC_STRING;
  if (out.dtype <= 0 || out.dtype >= OPTC_NUM_DTYPES)
    fail(h, OPTC_INVALID_ARGUMENT, "input '%s': element type %d is not an ONNX type", name, out.dtype);
  if (t.device.device_type > 1 && t.device.device_type != 3)
    fail(h, OPTC_INVALID_ARGUMENT, "input '%s': its memory is on device type %d; only CPU memory (1) is supported",
         name, t.device.device_type);
  if (t.ndim < 0 || t.ndim > OPTC_MAX_RANK)
    fail(h, OPTC_INVALID_ARGUMENT, "input '%s': rank %d; 0 to %d is supported", name, t.ndim, OPTC_MAX_RANK);
  if (t.ndim && !t.shape)
    fail(h, OPTC_INVALID_ARGUMENT, "input '%s': its shape is a null pointer", name);
  int64_t count = countElements(t.ndim, t.shape);
  if (count < 0 || packedBytes(out.dtype, count) < 0)
    fail(h, OPTC_INVALID_ARGUMENT, "input '%s': shape %s is negative or too large", name,
         shapeText(t.ndim, t.shape).text);
  if (!count) {
    static const char nothing[kAlign] = {0};
    t.data = const_cast<char *>(nothing);
    t.byte_offset = 0;
    t.strides = nullptr;
    return;
  }
  if (!t.data)
    fail(h, OPTC_INVALID_ARGUMENT, "input '%s': its data is a null pointer", name);
  const char *base = static_cast<const char *>(t.data) + t.byte_offset;
  int32_t bits = optc_dtype_bits(out.dtype);
  int64_t natural = out.dtype == OPTC_STRING ? 8 : out.dtype == OPTC_COMPLEX64 ? 4 : bits >= 64 ? 8 : bits / 8;
  bool aligned = natural <= 1 || reinterpret_cast<uintptr_t>(base) % uintptr_t(natural) == 0;
  bool contiguous = isContiguous(t);
  if (!contiguous && bits < 8)
    fail(h, OPTC_INVALID_ARGUMENT, "input '%s': a tensor of %s must be contiguous", name, optc_dtype_name(out.dtype));
  t.data = const_cast<char *>(base);
  t.byte_offset = 0;
  if (!contiguous) {
    t.data = gather(h, t, base, bits / 8, count);
  } else if (!aligned) {
    int64_t bytes = packedBytes(out.dtype, count);
    t.data = optc_rt_alloc(h, bytes);
    memcpy(t.data, base, size_t(bytes));
  }
  t.strides = nullptr;
}

/// Checks a tensor against the declaration and binds symbols.
static void checkTensor(optc_host *h, const optc_io_desc &io, const optc_value &v) {
  if (io.dtype && v.dtype != io.dtype)
    fail(h, OPTC_INVALID_ARGUMENT, "input '%s' is %s, the model takes %s", io.name, optc_dtype_name(v.dtype),
         optc_dtype_name(io.dtype));
  if (io.rank < 0)
    return;
  const optc_dltensor &t = v.tensor;
  if (t.ndim != io.rank)
    fail(h, OPTC_INVALID_ARGUMENT, "input '%s' has rank %d and shape %s, the model takes rank %d: %s", io.name, t.ndim,
         shapeText(t.ndim, t.shape).text, io.rank, declared(h, io).text);
  for (int32_t d = 0; d < io.rank; ++d) {
    int64_t want = io.dims[d];
    if (want == INT64_MIN)
      continue;
    if (want >= 0) {
      if (t.shape[d] != want)
        fail(h, OPTC_INVALID_ARGUMENT, "input '%s' has shape %s, the model takes %s: dimension %d is %lld, not %lld",
             io.name, shapeText(t.ndim, t.shape).text, declared(h, io).text, d, (long long)t.shape[d], (long long)want);
      continue;
    }
    int64_t &bound = h->symbols[-1 - want];
    if (bound < 0)
      bound = t.shape[d];
    else if (bound != t.shape[d]) {
      const char *const *names = h->model->desc->symbols;
      fail(h, OPTC_INVALID_ARGUMENT,
           "input '%s' has shape %s: dimension %d ('%s') is %lld, but an earlier input made '%s' %lld", io.name,
           shapeText(t.ndim, t.shape).text, d, names ? names[-1 - want] : "?", (long long)t.shape[d],
           names ? names[-1 - want] : "?", (long long)bound);
    }
  }
}

static const char *kindName(int32_t kind) {
  static const char *const names[] = {"nothing",    "a tensor",    "a tensor of strings",
                                      "a sequence", "an optional", "a map"};
  return kind >= 0 && kind <= 5 ? names[kind] : "a value of unknown kind";
}

static bool isTensor(const optc_value &v) { return v.kind == OPTC_TENSOR || v.kind == OPTC_STRINGS; }

static void bindSequence(optc_host *h, const optc_io_desc &io, const optc_value &v, optc_value &out) {
  out = v;
  if (v.size < 0 || (v.size && !v.items))
    fail(h, OPTC_INVALID_ARGUMENT, "input '%s': a sequence of %lld items with %s", io.name, (long long)v.size,
         v.items ? "items" : "a null pointer");
  int64_t bytes;
  if (!mulSize(v.size, sizeof(optc_value), bytes))
    fail(h, OPTC_INVALID_ARGUMENT, "input '%s': a sequence of %lld items is too long", io.name, (long long)v.size);
  out.items = static_cast<optc_value *>(runAlloc(h, bytes));
  for (int64_t i = 0; i < v.size; ++i) {
    if (!isTensor(v.items[i]))
      fail(h, OPTC_INVALID_ARGUMENT, "input '%s': item %lld of the sequence is %s, not a tensor", io.name, (long long)i,
           kindName(v.items[i].kind));
    normalizeTensor(h, io.name, v.items[i], out.items[i]);
    if (io.dtype && out.items[i].dtype != io.dtype)
      fail(h, OPTC_INVALID_ARGUMENT, "input '%s': item %lld of the sequence is %s, the model takes %s", io.name,
           (long long)i, optc_dtype_name(out.items[i].dtype), optc_dtype_name(io.dtype));
  }
}

void optc::rt::bindInputs(optc_host *h, int32_t count) {
  const optc_model_desc *d = h->model->desc;
  if (count != d->num_inputs)
    fail(h, OPTC_INVALID_ARGUMENT, "model '%s' takes %d inputs, %d were given", d->name, d->num_inputs, count);
  if (count && !h->inputs)
    fail(h, OPTC_INVALID_ARGUMENT, "the inputs are a null pointer");
  for (int32_t i = 0; i < d->num_symbols; ++i)
    h->symbols[i] = -1;
  for (int32_t i = 0; i < count; ++i) {
    const optc_io_desc &io = d->inputs[i];
    const optc_value *v = &h->inputs[i];
    h->unpacked[i] = nullptr;
    bool optional = io.kind >= 2, sequence = io.kind == 1 || io.kind == 3;
    optc_value preset;
    if (io.value && v->kind == OPTC_NONE) {
      preset = optc_value_tensor(io.dtype, io.rank, io.dims, io.value);
      v = &preset;
    }
    if (optional) {
      if (v->kind == OPTC_OPTIONAL && v->size == 1 && v->items)
        v = v->items;
      else if (v->kind == OPTC_NONE || v->kind == OPTC_OPTIONAL) {
        h->bound[i] = optc_value{};
        continue;
      }
    }
    if (sequence ? v->kind != OPTC_SEQUENCE : !isTensor(*v))
      fail(h, OPTC_INVALID_ARGUMENT, "input '%s' is %s, the model takes %s", io.name, kindName(v->kind),
           sequence ? "a sequence of tensors" : "a tensor");
    if (sequence) {
      bindSequence(h, io, *v, h->bound[i]);
    } else {
      normalizeTensor(h, io.name, *v, h->bound[i]);
      checkTensor(h, io, h->bound[i]);
    }
  }
}

//===-- outputs --------------------------------------------------------------//

static bool overlaps(const void *a, int64_t an, const void *b, int64_t bn) {
  auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return x < y + uintptr_t(bn) && y < x + uintptr_t(an);
}

static int64_t valueBytes(const optc_value &v) {
  return isTensor(v) ? packedBytes(v.dtype, countElements(v.tensor.ndim, v.tensor.shape)) : 0;
}

void optc::rt::checkOutputs(optc_host *h, int32_t count) {
  const optc_model_desc *d = h->model->desc;
  if (count != d->num_outputs)
    fail(h, OPTC_INVALID_ARGUMENT, "model '%s' has %d outputs, room for %d was given", d->name, d->num_outputs, count);
  if (count && !h->results)
    fail(h, OPTC_INVALID_ARGUMENT, "the outputs are a null pointer");
  for (int32_t i = 0; i < count; ++i) {
    h->state[i] = {};
    optc_value &v = h->results[i];
    const char *name = d->outputs[i].name;
    // What an earlier run left in the value is no buffer of the caller.
    if (!isTensor(v) || (v.tensor.data && v.tensor.data == h->outputs[i].data))
      v = optc_value{};
    // Memory of the context that comes back as an input: keep it for this run, let it go with the pool's next turn.
    Buffer &own = h->outputs[i];
    if (own.data)
      for (int32_t k = 0; k < d->num_inputs; ++k)
        if (own.data && isTensor(h->bound[k]) &&
            overlaps(own.data, int64_t(own.size), h->bound[k].tensor.data, valueBytes(h->bound[k]))) {
          if (!h->retired.push(own.data))
            fail(h, OPTC_OUT_OF_MEMORY, "out of memory");
          own = Buffer{};
        }
    if (v.kind == OPTC_NONE)
      continue;
    if (d->outputs[i].kind)
      fail(h, OPTC_INVALID_ARGUMENT,
           "output '%s' is a sequence or an optional: pass a value of kind OPTC_NONE instead of %s", name,
           kindName(v.kind));
    optc_dltensor &t = v.tensor;
    if (!v.dtype)
      v.dtype = v.kind == OPTC_STRINGS ? optc_dtype(OPTC_STRING) : dtypeFromDL(t.dtype);
    if (d->outputs[i].dtype && v.dtype != d->outputs[i].dtype)
      fail(h, OPTC_INVALID_ARGUMENT, "output '%s' is %s, the buffer given is for %s", name,
           optc_dtype_name(d->outputs[i].dtype), optc_dtype_name(v.dtype));
    if (t.ndim < 0 || t.ndim > OPTC_MAX_RANK || (t.ndim && !t.shape) || valueBytes(v) < 0)
      fail(h, OPTC_INVALID_ARGUMENT, "output '%s': the shape of the buffer given is not valid", name);
    if (t.device.device_type > 1 && t.device.device_type != 3)
      fail(h, OPTC_INVALID_ARGUMENT, "output '%s': its memory is on device type %d; only CPU memory (1) is supported",
           name, t.device.device_type);
    if (!isContiguous(t))
      fail(h, OPTC_INVALID_ARGUMENT, "output '%s': the buffer given is strided; outputs must be contiguous", name);
    int64_t bytes = valueBytes(v);
    if (bytes && !t.data)
      fail(h, OPTC_INVALID_ARGUMENT, "output '%s': the buffer given is a null pointer", name);
    const char *base = static_cast<const char *>(t.data) + t.byte_offset;
    int32_t bits = optc_dtype_bits(v.dtype);
    uintptr_t natural = v.dtype == OPTC_COMPLEX64 ? 4 : bits >= 64 ? 8 : bits >= 8 ? uintptr_t(bits / 8) : 1;
    if (bytes && reinterpret_cast<uintptr_t>(base) % natural)
      fail(h, OPTC_INVALID_ARGUMENT, "output '%s': the buffer given is not aligned to %d bytes", name, int(natural));
    for (int32_t k = 0; k < d->num_inputs; ++k)
      if (isTensor(h->bound[k]) && overlaps(base, bytes, h->bound[k].tensor.data, valueBytes(h->bound[k])))
        fail(h, OPTC_INVALID_ARGUMENT, "output '%s': the buffer given overlaps input '%s'", name, d->inputs[k].name);
    for (int32_t k = 0; k < i; ++k)
      if (isTensor(h->results[k]) &&
          overlaps(base, bytes, static_cast<char *>(h->results[k].tensor.data) + h->results[k].tensor.byte_offset,
                   valueBytes(h->results[k])))
        fail(h, OPTC_INVALID_ARGUMENT, "output '%s': the buffer given overlaps that of output '%s'", name,
             d->outputs[k].name);
  }
}

/// Storage for an output tensor whose dtype and shape are known now, packed for sub-byte types.
static void *placeOutput(optc_host *h, int32_t index, optc_dtype dtype, int32_t rank, const int64_t *dims) {
  const char *name = h->model->desc->outputs[index].name;
  int64_t count = countElements(rank, dims), bytes = packedBytes(dtype, count);
  if (bytes < 0)
    fail(h, OPTC_RUN_FAILED, "output '%s': shape %s is negative or too large", name, shapeText(rank, dims).text);
  if (h->state[index].written)
    fail(h, OPTC_RUN_FAILED, "output '%s' is set twice", name);
  h->state[index].written = true;
  optc_value &v = h->results[index];
  if (isTensor(v)) {
    bool same = v.tensor.ndim == rank;
    for (int32_t i = 0; same && i < rank; ++i)
      same = v.tensor.shape[i] == dims[i];
    if (!same || v.dtype != dtype)
      fail(h, OPTC_INVALID_ARGUMENT, "output '%s' is %s%s, the buffer given is for %s%s", name, optc_dtype_name(dtype),
           shapeText(rank, dims).text, optc_dtype_name(v.dtype), shapeText(v.tensor.ndim, v.tensor.shape).text);
    return bytes ? static_cast<char *>(v.tensor.data) + v.tensor.byte_offset : runAlloc(h, 1);
  }
  bool asks = h->run && h->run->allocate;
  void *data = asks ? h->run->allocate(h->run->allocate_user, index, size_t(bytes ? bytes : 1), kAlign)
                    : h->outputs[index].reserve(size_t(bytes));
  if (!data)
    fail(h, OPTC_OUT_OF_MEMORY, "output '%s': %s %lld bytes", name,
         asks ? "the caller's allocator refused" : "out of memory for", (long long)bytes);
  int64_t *shape = h->shapes + (size_t(index) * 2 + size_t(h->currentPool)) * OPTC_MAX_RANK;
  for (int32_t i = 0; i < rank; ++i)
    shape[i] = dims[i];
  v = optc_value_tensor(dtype, rank, shape, data);
  v.tensor.dtype = dtypeToDL(dtype);
  return data;
}

//===-- services to the host program -----------------------------------------//

/// A tensor in storage form as the boundary's tensor value.
static void tensorToValue(optc_host *h, const optc_tensor &t, optc_value &v) {
  int64_t count = countElements(t.rank, t.dims), bytes = packedBytes(t.dtype, count);
  if (bytes < 0)
    fail(h, OPTC_RUN_FAILED, "a tensor %s of %s is not valid", shapeText(t.rank, t.dims).text,
         optc_dtype_name(t.dtype));
  auto *shape = static_cast<int64_t *>(runAlloc(h, int64_t(sizeof(int64_t)) * (t.rank > 0 ? t.rank : 1)));
  void *data = runAlloc(h, bytes);
  for (int32_t i = 0; i < t.rank; ++i)
    shape[i] = t.dims[i];
  if (optc_dtype_bits(t.dtype) < 8)
    packSubByte(t.dtype, t.data, count, data);
  else
    memcpy(data, t.data, size_t(bytes));
  v = optc_value_tensor(t.dtype, t.rank, shape, data);
  v.tensor.dtype = dtypeToDL(t.dtype);
}

/// Bytes of a described tensor in storage form.
static int64_t valueBytes(const optc_tensor &t) {
  int64_t bytes;
  return mulSize(countElements(t.rank, t.dims), storageBytes(t.dtype), bytes) ? bytes : 0;
}

void optc::rt::keepOnStack(optc_host *h, Stack &stack, int64_t mark, void **data, const int64_t *bytes, int32_t n,
                           optc_tensor *const *values, int32_t m,
                           void (*move)(optc_host *h, void *to, const void *from, int64_t bytes)) {
  stack.release(mark);
  // In the order of addresses, so that nothing is moved onto what has still to move. Equal addresses move once.
  const void *last = nullptr;
  for (;;) {
    int64_t after = last ? stack.positionOf(last) : mark - 1, lowest = INT64_MAX, size = 0;
    void *from = nullptr;
    for (int32_t i = 0; i < n + m; ++i) {
      void *p = i < n ? data[i] : values[i - n]->dtype ? values[i - n]->data : nullptr;
      int64_t position = p ? stack.positionOf(p) : -1;
      if (position <= after || position > lowest)
        continue;
      int64_t own = i < n ? bytes[i] : valueBytes(*values[i - n]);
      size = position < lowest || own > size ? own : size;
      lowest = position;
      from = p;
    }
    if (!from)
      return;
    // A buffer of this size was there, so it cannot end above its source.
    void *to = stack.allocLines(size > 0 ? (size + int64_t(kAlign) - 1) & ~int64_t(kAlign - 1) : int64_t(kAlign));
    if (!to)
      fail(h, OPTC_OUT_OF_MEMORY, "out of memory: %lld bytes", (long long)size);
    move(h, to, from, size);
    for (int32_t i = 0; i < n + m; ++i) {
      void *&p = i < n ? data[i] : values[i - n]->data;
      if (p == from && (i < n || values[i - n]->dtype))
        p = to;
    }
    last = from;
  }
}

static void *unpacked(optc_host *h, const optc_value &v) {
  int64_t count = countElements(v.tensor.ndim, v.tensor.shape);
  void *data = runAlloc(h, count);
  unpackSubByte(v.dtype, v.tensor.data, count, data);
  return data;
}

/// A bound tensor in storage form.
static void valueToTensor(optc_host *h, const optc_value &v, optc_tensor &t) {
  t.dtype = v.dtype;
  t.rank = v.tensor.ndim;
  for (int32_t i = 0; i < t.rank; ++i)
    t.dims[i] = v.tensor.shape[i];
  t.data = optc_dtype_bits(v.dtype) < 8 ? unpacked(h, v) : v.tensor.data;
}

static void checkRange(optc_host *h, int32_t index, int32_t count, const char *what) {
  if (index < 0 || index >= count)
    fail(h, OPTC_RUN_FAILED, "the host program asks for %s %d of %d", what, index, count);
}

extern "C" {

void *optc_rt_input(optc_host *h, int32_t index) {
  checkRange(h, index, h->model->desc->num_inputs, "input");
  const optc_value &v = h->bound[index];
  if (!isTensor(v) || optc_dtype_bits(v.dtype) >= 8)
    return v.tensor.data;
  if (!h->unpacked[index])
    h->unpacked[index] = unpacked(h, v);
  return h->unpacked[index];
}

int64_t optc_rt_input_dim(optc_host *h, int32_t index, int32_t dim) {
  checkRange(h, index, h->model->desc->num_inputs, "input");
  checkRange(h, dim, h->bound[index].tensor.ndim, "dimension");
  return h->bound[index].tensor.shape[dim];
}

void optc_rt_input_value(optc_host *h, int32_t index, optc_tensor *out) {
  memset(out, 0, sizeof(*out));
  checkRange(h, index, h->model->desc->num_inputs, "input");
  const optc_value &v = h->bound[index];
  if (v.kind == OPTC_SEQUENCE) {
    auto *items = static_cast<SeqItems *>(runAlloc(h, sizeof(SeqItems)));
    auto *seq = static_cast<optc_seq *>(runAlloc(h, sizeof(optc_seq)));
    int64_t bytes;
    auto *data = static_cast<optc_tensor *>(runAlloc(h, mulSize(v.size, sizeof(optc_tensor), bytes) ? bytes : -1));
    for (int64_t i = 0; i < v.size; ++i)
      valueToTensor(h, v.items[i], data[i]);
    *items = {data, v.size, v.size};
    *seq = {items, v.size, h->model->desc->inputs[index].dtype};
    out->data = seq;
  } else if (v.kind != OPTC_NONE) {
    valueToTensor(h, v, *out);
  }
}

void *optc_rt_output(optc_host *h, int32_t index, int32_t rank, const int64_t *dims) {
  checkRange(h, index, h->model->desc->num_outputs, "output");
  checkRange(h, rank, OPTC_MAX_RANK + 1, "rank");
  optc_dtype dtype = h->model->desc->outputs[index].dtype;
  void *data = placeOutput(h, index, dtype, rank, dims);
  if (optc_dtype_bits(dtype) >= 8)
    return data;
  return h->state[index].unpacked = runAlloc(h, countElements(rank, dims));
}

int32_t optc_rt_output_value(optc_host *h, int32_t index, const optc_tensor *value) {
  checkRange(h, index, h->model->desc->num_outputs, "output");
  const optc_io_desc &io = h->model->desc->outputs[index];
  optc_value &v = h->results[index];
  bool optional = io.kind >= 2, sequence = io.kind == 1 || io.kind == 3;
  if (!sequence && !optional) {
    checkRange(h, value->rank, OPTC_MAX_RANK + 1, "rank");
    void *data = placeOutput(h, index, value->dtype, value->rank, value->dims);
    int64_t count = countElements(value->rank, value->dims);
    if (optc_dtype_bits(value->dtype) < 8)
      packSubByte(value->dtype, value->data, count, data);
    else
      memcpy(data, value->data, size_t(packedBytes(value->dtype, count)));
    return 0;
  }
  if (h->state[index].written)
    fail(h, OPTC_RUN_FAILED, "output '%s' is set twice", io.name);
  h->state[index].written = true;
  optc_value *place = &v;
  if (optional) {
    v = optc_value{};
    v.kind = OPTC_OPTIONAL;
    v.dtype = io.dtype;
    if (!value->data)
      return 0;
    place = static_cast<optc_value *>(runAlloc(h, sizeof(optc_value)));
    v.size = 1;
    v.items = place;
  }
  if (!sequence) {
    tensorToValue(h, *value, *place);
    return 0;
  }
  auto *seq = static_cast<const optc_seq *>(value->data);
  *place = optc_value{};
  place->kind = OPTC_SEQUENCE;
  place->dtype = io.dtype ? io.dtype : seq->dtype;
  place->size = seq->size;
  int64_t bytes;
  place->items = static_cast<optc_value *>(runAlloc(h, mulSize(seq->size, sizeof(optc_value), bytes) ? bytes : -1));
  for (int64_t i = 0; i < seq->size; ++i)
    tensorToValue(h, seq->items->data[i], place->items[i]);
  return 0;
}

void *optc_rt_arena(optc_host *h) { return h->arena; }

void *optc_rt_alloc(optc_host *h, int64_t bytes) {
  void *p = h->stack.alloc(bytes);
  if (!p)
    fail(h, OPTC_OUT_OF_MEMORY,
         bytes < 0 ? "a size is negative or too large (%lld bytes)" : "out of memory: %lld bytes", (long long)bytes);
  return p;
}

void optc_rt_solve_arena(optc_host *h, int32_t n, const int64_t *bytes, const int32_t *lifetimes, void **buffers) {
  for (int32_t i = 0; i < n; ++i)
    if (bytes[i] < 0)
      optc_rt_alloc(h, bytes[i]);
  const Placement *p = findPlacement(h->placements, n, bytes, lifetimes);
  auto *base = static_cast<char *>(p ? h->stack.allocLines(p->total) : nullptr);
  if (!base)
    fail(h, OPTC_OUT_OF_MEMORY, "out of memory: %lld bytes", (long long)(p ? p->total : INT64_MAX));
  for (int32_t i = 0; i < n; ++i)
    buffers[i] = base + p->offsets[i];
}

int64_t optc_rt_mark(optc_host *h) { return h->stack.top; }
void optc_rt_release(optc_host *h, int64_t mark) { h->stack.release(mark); }

void optc_rt_keep(optc_host *h, int64_t mark, void **data, const int64_t *bytes, int32_t n, optc_tensor *const *values,
                  int32_t m) {
  keepOnStack(h, h->stack, mark, data, bytes, n, values, m,
              [](optc_host *, void *to, const void *from, int64_t size) { memmove(to, from, size_t(size)); });
}

void optc_rt_fail(optc_host *h, const char *message) {
  fail(h, OPTC_RUN_FAILED, "%s", message ? message : "the run failed");
}
void optc_rt_check(optc_host *h, const char *message) {
  if (message)
    optc_rt_fail(h, message);
}

} // extern "C"

/// The part of a run that services may leave by fail.
static void runChecked(optc_host *h, int32_t numInputs, int32_t numOutputs) {
  bindInputs(h, numInputs);
  checkOutputs(h, numOutputs);
  const optc_model_desc *d = h->model->desc;
  if (d->entry(h))
    fail(h, OPTC_RUN_FAILED, "the model reported an error without a message");
  if (h->device)
    d->device->backend->finish(h);
  for (int32_t i = 0; i < numOutputs; ++i) {
    if (!h->state[i].written)
      fail(h, OPTC_RUN_FAILED, "the host program did not set output '%s'", d->outputs[i].name);
    optc_dltensor &t = h->results[i].tensor;
    if (h->state[i].unpacked)
      packSubByte(h->results[i].dtype, h->state[i].unpacked, countElements(t.ndim, t.shape),
                  static_cast<char *>(t.data) + t.byte_offset);
  }
}

optc_status optc::rt::runImpl(optc_context *h, const optc_value *inputs, int32_t numInputs, optc_value *outputs,
                              int32_t numOutputs, const optc_run_options *options, optc_error *error) {
  if (!h)
    return setError(error, OPTC_INVALID_ARGUMENT, "optc_run: the context is null");
  if (options && options->size < sizeof(optc_run_options))
    return setError(error, OPTC_INVALID_ARGUMENT,
                    "optc_run: options.size is %u, expected sizeof(optc_run_options) = %zu", options->size,
                    sizeof(optc_run_options));
  h->error.status = OPTC_OK;
  h->error.message[0] = 0;
  h->inputs = inputs;
  h->results = outputs;
  h->run = options;
  h->stack.release(0);
  h->retired.freeAll();
  h->currentPool ^= 1;
  runPool(h).reset();
  const optc_device_backend *device = h->device ? h->model->desc->device->backend : nullptr;
  volatile bool begun = false;
  if (!_setjmp(h->end)) {
    if (device)
      device->begin(h);
    begun = true;
    runChecked(h, numInputs, numOutputs);
  }
  if (device && begun)
    device->end(h);
  if (error)
    *error = h->error;
  return h->error.status;
}
