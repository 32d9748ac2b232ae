//===- Tape.cpp - work for the device, and graphs of what repeats ---------===//
//
// Kernels, copies and small uploads are written down as they are asked for and handed to the driver when the host has
// to wait. A piece that comes a second time, with the same kernels, parameters and grids, is captured as a CUDA graph,
// and later ones cost a comparison and one call.
//
//===----------------------------------------------------------------------===//
#include "Device.h"
#include <stdlib.h>

using namespace optc::cuda;
using optc::rt::fail;

static constexpr int32_t kMaxRecords = 4096; ///< of a tape: loops without waiting are cut into pieces
static constexpr size_t kMaxTape = size_t(4) << 20;
static constexpr int32_t kMinGraphRecords = 2, kMaxGraphs = 64;
static constexpr uint64_t kStaleRuns = 16; ///< a graph that so many runs did not need may go

Record &optc::cuda::addRecord(optc_host *h, Record::Kind kind, size_t payload) {
  Tape &tape = h->device->tape;
  size_t bytes = sizeof(Record) + ((payload + 63) & ~size_t(63));
  if (tape.records && (tape.records >= kMaxRecords || tape.used + bytes > kMaxTape))
    flush(h);
  if (tape.used + bytes > tape.size) {
    size_t size = tape.size ? tape.size * 2 : size_t(4096);
    while (size < tape.used + bytes)
      size *= 2;
    auto *grown = static_cast<char *>(rt::allocAligned(size));
    if (!grown)
      fail(h, OPTC_OUT_OF_MEMORY, "out of memory: %zu bytes", size);
    if (tape.used)
      memcpy(grown, tape.data, tape.used);
    rt::freeAligned(tape.data);
    tape.data = grown;
    tape.size = size;
  }
  auto *record = reinterpret_cast<Record *>(tape.data + tape.used);
  memset(static_cast<void *>(record), 0, bytes);
  record->kind = kind;
  record->bytes = uint32_t(bytes);
  tape.used += bytes;
  ++tape.records;
  return *record;
}

/// Hands one record to the driver; the kernel that fails is in `name`.
static CUresult issue(ContextState &state, const optc_model_desc &desc, Record &record, CUstream stream,
                      const char *&name) {
  const Api &api = state.model->api;
  char *payload = payloadOf(record);
  switch (record.kind) {
  case Record::Copy:
    name = "a copy";
    return api.cuMemcpyDtoDAsync_v2(record.to, record.from, record.size, stream);
  case Record::Write:
    name = "an upload";
    return api.cuMemcpyHtoDAsync_v2(record.to, payload, record.size, stream);
  case Record::Launch:
    break;
  }
  const optc_device_kernel &kernel = kernelOf(*state.model, desc, record.kernel);
  name = kernel.name;
  int32_t words = kernel.num_buffers + kernel.num_scalars;
  for (int32_t i = 0; i < words; ++i)
    state.parameters[i] = payload + 8 * i;
  char *maps = payload + ((size_t(words) * 8 + 63) & ~size_t(63));
  for (int32_t i = 0; i < kernel.num_maps; ++i)
    state.parameters[words + i] = maps + sizeof(CUtensorMap) * size_t(i);
  return api.cuLaunchKernel(state.model->functions[record.kernel], record.tiles, 1, 1, unsigned(kernel.threads), 1, 1,
                            unsigned(kernel.shared_bytes), stream, state.parameters, nullptr);
}

static CUresult issueAll(ContextState &state, const optc_model_desc &desc, char *tape, size_t bytes, CUstream stream,
                         const char *&name) {
  for (size_t at = 0; at < bytes;) {
    auto &record = *reinterpret_cast<Record *>(tape + at);
    if (CUresult r = issue(state, desc, record, stream, name))
      return r;
    at += record.bytes;
  }
  return CUDA_SUCCESS;
}

static uint64_t hashOf(const char *data, size_t bytes) {
  uint64_t hash = bytes;
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t word;
    memcpy(&word, data + i, 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  }
  return hash;
}

static void destroy(ContextState &state, Graph *graph) {
  const Api &api = state.model->api;
  if (graph->exec)
    api.cuGraphExecDestroy(graph->exec);
  if (graph->tape)
    api.cuMemFreeHost(graph->tape);
  free(graph);
}

/// Captures the tape. Null when that does not work, which costs time and nothing else.
static Graph *capture(ContextState &state, const optc_model_desc &desc, uint64_t hash) {
  const Api &api = state.model->api;
  auto *made = static_cast<Graph *>(calloc(1, sizeof(Graph)));
  if (!made)
    return nullptr;
  void *tape = nullptr;
  CUgraph graph = nullptr;
  bool ok = !api.cuMemAllocHost_v2(&tape, state.tape.used);
  if (ok) {
    made->tape = static_cast<char *>(tape);
    made->bytes = state.tape.used;
    made->hash = hash;
    memcpy(tape, state.tape.data, state.tape.used);
    // On the context's own stream: the caller's may hold work of others. The graph can be launched on any.
    ok = !api.cuStreamBeginCapture_v2(state.own, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  }
  if (ok) {
    const char *name;
    ok = !issueAll(state, desc, made->tape, made->bytes, state.own, name);
    ok = !api.cuStreamEndCapture(state.own, &graph) && ok && graph;
    ok = ok && !api.cuGraphInstantiateWithFlags(&made->exec, graph, 0);
    if (graph)
      api.cuGraphDestroy(graph);
  }
  if (ok)
    return made;
  destroy(state, made);
  return nullptr;
}

static Graph *findGraph(ContextState &state, uint64_t hash) {
  for (Graph **link = &state.graphs; *link; link = &(*link)->next) {
    Graph *graph = *link;
    if (graph->hash == hash && graph->bytes == state.tape.used &&
        !memcmp(graph->tape, state.tape.data, state.tape.used)) {
      *link = graph->next; // the latest first
      graph->next = state.graphs;
      state.graphs = graph;
      return graph;
    }
  }
  return nullptr;
}

/// A graph of a tape that came up before; null the first time, and when there is no room.
static Graph *makeGraph(ContextState &state, const optc_model_desc &desc, uint64_t hash) {
  if (!state.graphsWork || state.tape.records < kMinGraphRecords)
    return nullptr;
  bool isKnown = false;
  for (uint32_t i = 0; i < kSeenTapes && !isKnown; ++i)
    isKnown = state.seen[i] == hash;
  if (!isKnown) {
    state.seen[state.nextSeen++ % kSeenTapes] = hash;
    return nullptr;
  }
  if (state.numGraphs >= kMaxGraphs) {
    Graph **last = &state.graphs;
    while ((*last)->next)
      last = &(*last)->next;
    if (state.run - (*last)->lastRun < kStaleRuns)
      return nullptr;
    destroy(state, *last);
    *last = nullptr;
    --state.numGraphs;
  }
  Graph *made = capture(state, desc, hash);
  state.graphsWork = made != nullptr;
  if (made) {
    made->next = state.graphs;
    state.graphs = made;
    ++state.numGraphs;
  }
  return made;
}

void optc::cuda::flush(optc_host *h) {
  ContextState &state = *h->device;
  Tape &tape = state.tape;
  if (!tape.records)
    return;
  const optc_model_desc &desc = *h->model->desc;
  uint64_t hash = hashOf(tape.data, tape.used);
  Graph *graph = findGraph(state, hash);
  if (!graph)
    graph = makeGraph(state, desc, hash);
  const char *name = "";
  CUresult r;
  if (graph) {
    graph->lastRun = state.run;
    r = state.model->api.cuGraphLaunch(graph->exec, state.stream);
  } else {
    r = issueAll(state, desc, tape.data, tape.used, state.stream, name);
  }
  tape.used = 0;
  tape.records = 0;
  check(h, r, graph ? "launching a graph" : "launching ", name);
}

void optc::cuda::synchronize(optc_host *h) {
  flush(h);
  check(h, h->device->model->api.cuStreamSynchronize(h->device->stream), "waiting for the device");
}

void optc::cuda::freeGraphs(ContextState &state) {
  while (Graph *graph = state.graphs) {
    state.graphs = graph->next;
    destroy(state, graph);
  }
  state.numGraphs = 0;
}
