//===- Services.cpp - services to host programs with tensors on a device --===//
//
// Addresses that the host program holds are the device's. What it reads, and what kernels of the CPU and irregular
// operators work on, are copies in host memory.
//
//===----------------------------------------------------------------------===//
#include "Device.h"
#include <stdlib.h>

using namespace optc::cuda;
using namespace optc::rt;

static constexpr int64_t kSmall = 256; ///< bytes of an upload that the tape holds

CUdeviceptr optc::cuda::reserve(optc_host *h, DeviceBuffer &buffer, size_t bytes) {
  if (buffer.address && bytes <= buffer.size)
    return buffer.address;
  const Api &api = h->device->model->api;
  if (buffer.address) {
    synchronize(h); // what was asked for may still use it
    CUdeviceptr old = buffer.address;
    buffer = {};
    check(h, api.cuMemFree_v2(old), "cuMemFree");
  }
  size_t size = bytes ? bytes : kAlign;
  if (CUresult r = api.cuMemAlloc_v2(&buffer.address, size)) {
    buffer.address = 0;
    if (r == CUDA_ERROR_OUT_OF_MEMORY)
      failMemory(h, int64_t(size));
    failCuda(h, r, "cuMemAlloc");
  }
  buffer.size = size;
  return buffer.address;
}

bool optc::cuda::isOnDevice(const optc_host *h, const void *address) {
  const ContextState &state = *h->device;
  CUdeviceptr p = deviceAddress(address);
  auto inside = [&](CUdeviceptr base, size_t size) { return base && p - base < size; };
  if (inside(state.arena, size_t(h->model->desc->arena_bytes)) || state.stack.positionOf(address) >= 0 ||
      inside(state.model->weights, size_t(h->model->desc->device->weights_bytes)))
    return true;
  for (int32_t i = 0; i < h->model->desc->num_inputs; ++i)
    if (inside(state.inputs[i].address, state.inputs[i].size))
      return true;
  for (int32_t i = 0; i < h->model->desc->num_outputs; ++i)
    if (inside(state.outputs[i].address, state.outputs[i].size))
      return true;
  return false;
}

const char *optc::cuda::mirrorOf(const optc_host *h, const void *address, int64_t bytes) {
  const ContextState &state = *h->device;
  for (int32_t i = 0; i < state.numMirrors; ++i) {
    const Mirror &mirror = state.mirrors[i];
    CUdeviceptr at = deviceAddress(address) - mirror.address;
    if (at < mirror.size && size_t(bytes) <= mirror.size - at)
      return mirror.host + at;
  }
  return nullptr;
}

/// Starts to copy to host memory; the bytes are there after the next synchronisation.
static void download(optc_host *h, void *to, const void *from, int64_t bytes) {
  if (bytes <= 0)
    return;
  flush(h);
  ContextState &state = *h->device;
  check(h, state.model->api.cuMemcpyDtoHAsync_v2(to, deviceAddress(from), size_t(bytes), state.stream),
        "copying to the host");
}

/// In order behind what was asked for; `from` may be reused at once.
static void upload(optc_host *h, void *to, const void *from, int64_t bytes) {
  if (bytes <= 0)
    return;
  if (bytes <= kSmall) {
    Record &record = addRecord(h, Record::Write, size_t(bytes));
    record.to = deviceAddress(to);
    record.size = uint64_t(bytes);
    memcpy(payloadOf(record), from, size_t(bytes));
    return;
  }
  flush(h);
  ContextState &state = *h->device;
  // From pageable memory: the driver has read it when this returns.
  check(h, state.model->api.cuMemcpyHtoDAsync_v2(deviceAddress(to), from, size_t(bytes), state.stream),
        "copying to the device");
}

static int64_t tensorBytes(const optc_tensor &t) {
  int64_t bytes;
  return mulSize(countElements(t.rank, t.dims), storageBytes(t.dtype), bytes) ? bytes : 0;
}

/// The bytes of a buffer in host memory that lives until the host's stack is released. Those that are not there already
/// arrive with the next synchronisation, which `waits` asks for.
static void *onHost(optc_host *h, const void *data, int64_t bytes, bool &waits) {
  if (const char *host = bytes > 0 ? mirrorOf(h, data, bytes) : nullptr)
    return const_cast<char *>(host);
  void *copy = optc_rt_alloc(h, bytes > 0 ? bytes : 0);
  download(h, copy, data, bytes);
  waits |= bytes > 0;
  return copy;
}

extern "C" {

void *optc_dev_input(optc_host *h, int32_t index) {
  void *data = optc_rt_input(h, index);
  ContextState &state = *h->device;
  DeviceBuffer &buffer = state.inputs[index];
  if (state.isUploaded[index])
    return hostForm(buffer.address);
  const optc_dltensor &t = h->bound[index].tensor;
  int64_t bytes;
  if (!data || !mulSize(countElements(t.ndim, t.shape), storageBytes(h->bound[index].dtype), bytes))
    bytes = 0;
  reserve(h, buffer, size_t(bytes));
  state.isUploaded[index] = true;
  if (!bytes)
    return hostForm(buffer.address);
  flush(h);
  check(h, state.model->api.cuMemcpyHtoDAsync_v2(buffer.address, data, size_t(bytes), state.stream),
        "copying to the device: input ", h->model->desc->inputs[index].name);
  state.mirrors[state.numMirrors++] = {buffer.address, size_t(bytes), static_cast<const char *>(data)};
  return hostForm(buffer.address);
}

void *optc_dev_output(optc_host *h, int32_t index, int32_t rank, const int64_t *dims) {
  void *data = optc_rt_output(h, index, rank, dims);
  int64_t bytes;
  if (!mulSize(countElements(rank, dims), storageBytes(h->model->desc->outputs[index].dtype), bytes))
    bytes = 0;
  ContextState &state = *h->device;
  CUdeviceptr address = reserve(h, state.outputs[index], size_t(bytes));
  state.downloads[index] = {data, address, size_t(bytes)};
  return hostForm(address);
}

int32_t optc_dev_output_value(optc_host *h, int32_t index, const optc_tensor *value) {
  optc_tensor copy = *value;
  if (copy.dtype && copy.data && isOnDevice(h, copy.data)) {
    bool waits = false;
    copy.data = onHost(h, copy.data, tensorBytes(copy), waits);
    if (waits)
      synchronize(h);
  }
  return optc_rt_output_value(h, index, &copy);
}

void *optc_dev_arena(optc_host *h) { return hostForm(h->device->arena); }
void *optc_dev_weights(optc_host *h) { return hostForm(h->device->model->weights); }

void *optc_dev_alloc(optc_host *h, int64_t bytes) {
  void *p = h->device->stack.alloc(bytes);
  if (!p)
    failMemory(h, bytes);
  return p;
}

void optc_dev_solve_arena(optc_host *h, int32_t n, const int64_t *bytes, const int32_t *lifetimes, void **buffers) {
  for (int32_t i = 0; i < n; ++i)
    if (bytes[i] < 0)
      optc_dev_alloc(h, bytes[i]);
  const Placement *p = findPlacement(h->placements, n, bytes, lifetimes);
  auto *base = static_cast<char *>(p ? h->device->stack.allocLines(p->total) : nullptr);
  if (!base)
    failMemory(h, p ? p->total : INT64_MAX);
  for (int32_t i = 0; i < n; ++i)
    buffers[i] = base + p->offsets[i];
}

/// Counts what the host's stack holds too: copies and results of irregular operators.
int64_t optc_dev_mark(optc_host *h) {
  ContextState &state = *h->device;
  if (state.numMarks == state.maxMarks) {
    int32_t n = state.maxMarks ? 2 * state.maxMarks : 16;
    auto *grown = static_cast<ContextState::Mark *>(realloc(state.marks, sizeof(*state.marks) * size_t(n)));
    if (!grown)
      fail(h, OPTC_OUT_OF_MEMORY, "out of memory");
    state.marks = grown;
    state.maxMarks = n;
  }
  state.marks[state.numMarks] = {h->stack.top, state.stack.top};
  return state.numMarks++;
}

void optc_dev_release(optc_host *h, int64_t mark) { optc_dev_keep(h, mark, nullptr, nullptr, 0, nullptr, 0); }

void optc_dev_keep(optc_host *h, int64_t mark, void **data, const int64_t *bytes, int32_t n, optc_tensor *const *values,
                   int32_t m) {
  ContextState &state = *h->device;
  if (mark < 0 || mark >= state.numMarks)
    fail(h, OPTC_RUN_FAILED, "the host program releases memory to a mark that it did not set");
  state.numMarks = int32_t(mark) + 1; // those of loops inside are gone
  optc_rt_keep(h, state.marks[mark].host, data, bytes, n, values, m);
  keepOnStack(h, state.stack, state.marks[mark].device, data, bytes, n, values, m,
              [](optc_host *h, void *to, const void *from, int64_t size) { optc_dev_copy(h, to, from, size); });
}

void optc_dev_launch(optc_host *h, int32_t index, void *const *buf, const int64_t *scalar, int64_t tiles) {
  const optc_device_desc &device = *h->model->desc->device;
  if (index < 0 || index >= device.num_kernels)
    fail(h, OPTC_RUN_FAILED, "the host program asks for kernel %d of %d", index, device.num_kernels);
  const ModelState &model = *h->device->model;
  const optc_device_kernel &kernel = kernelOf(model, *h->model->desc, index);
  if (&kernel != &device.kernels[index])
    tiles = scalar[kernel.num_scalars];
  if (tiles <= 0)
    return;
  size_t words = 8 * (size_t(kernel.num_buffers) + size_t(kernel.num_scalars));
  size_t maps = (words + 63) & ~size_t(63);
  Record &record = addRecord(h, Record::Launch, maps + sizeof(CUtensorMap) * size_t(kernel.num_maps));
  record.kernel = index;
  int64_t most = h->device->model->maxBlocks;
  record.tiles = uint32_t(tiles < most ? tiles : most);
  char *payload = payloadOf(record);
  memcpy(payload, buf, 8 * size_t(kernel.num_buffers));
  memcpy(payload + 8 * size_t(kernel.num_buffers), scalar, 8 * size_t(kernel.num_scalars));
  for (int32_t i = 0; i < kernel.num_maps; ++i)
    memcpy(payload + maps + sizeof(CUtensorMap) * size_t(i), &tensorMap(h, kernel, kernel.maps[i], buf, scalar),
           sizeof(CUtensorMap));
}

void optc_dev_launch_host(optc_host *h, optc_kernel kernel, void *const *buf, const int64_t *bytes, int32_t inputs,
                          int32_t n, const int64_t *scalar, int64_t tiles, int64_t scratchBytes) {
  int64_t mark = optc_rt_mark(h);
  auto **copies = static_cast<void **>(optc_rt_alloc(h, 8 * int64_t(n)));
  bool waits = false;
  for (int32_t i = 0; i < n; ++i)
    copies[i] = i < inputs ? onHost(h, buf[i], bytes[i], waits) : optc_rt_alloc(h, bytes[i] > 0 ? bytes[i] : 0);
  if (waits)
    synchronize(h);
  optc_rt_launch(h, kernel, copies, scalar, tiles, scratchBytes);
  for (int32_t i = inputs; i < n; ++i)
    upload(h, buf[i], copies[i], bytes[i]);
  optc_rt_release(h, mark);
}

int32_t optc_dev_call(optc_host *h, optc_library_op op, const optc_tensor *in, int32_t n, const int64_t *attr,
                      int32_t attrs, optc_tensor *out, int32_t m) {
  // Not released here: results may be views of operands.
  auto *copies = static_cast<optc_tensor *>(optc_rt_alloc(h, int64_t(sizeof(optc_tensor)) * n));
  bool waits = false;
  for (int32_t i = 0; i < n; ++i) {
    copies[i] = in[i];
    if (in[i].dtype && in[i].data && isOnDevice(h, in[i].data))
      copies[i].data = onHost(h, in[i].data, tensorBytes(in[i]), waits);
  }
  if (waits)
    synchronize(h);
  return op(h, copies, n, attr, attrs, out, m);
}

void *optc_dev_data(optc_host *h, optc_tensor *value) {
  if (!value->data || isOnDevice(h, value->data))
    return value->data;
  int64_t bytes = tensorBytes(*value);
  void *there = optc_dev_alloc(h, bytes);
  upload(h, there, value->data, bytes);
  return value->data = there;
}

void optc_dev_read(optc_host *h, const void *from, int64_t bytes, void *to) {
  if (const char *host = mirrorOf(h, from, bytes)) {
    memcpy(to, host, size_t(bytes));
    return;
  }
  download(h, to, from, bytes);
  synchronize(h);
}

void optc_dev_write(optc_host *h, void *to, int64_t bytes, const void *from) { upload(h, to, from, bytes); }

void optc_dev_copy(optc_host *h, void *to, const void *from, int64_t bytes) {
  if (bytes <= 0 || to == from)
    return;
  auto add = [&](CUdeviceptr target, CUdeviceptr source) {
    Record &record = addRecord(h, Record::Copy, 0);
    record.to = target;
    record.from = source;
    record.size = uint64_t(bytes);
  };
  CUdeviceptr target = deviceAddress(to), source = deviceAddress(from);
  bool overlaps = target < source ? source - target < CUdeviceptr(bytes) : target - source < CUdeviceptr(bytes);
  if (!overlaps)
    return add(target, source);
  CUdeviceptr aside = reserve(h, h->device->aside, size_t(bytes));
  add(aside, source);
  add(target, aside);
}

} // extern "C"
