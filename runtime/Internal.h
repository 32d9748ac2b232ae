//===- Internal.h - structures of the runtime -----------------------------===//
//
// The runtime is C++17 without exceptions, RTTI, static initialisers or libstdc++: only libc and libm are linked.
// Memory comes from malloc and is checked; sizes of user data go through mulSize.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_RUNTIME_INTERNAL_H
#define OPTC_RUNTIME_INTERNAL_H
#include "artifact.h"
#include "optc.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

namespace optc::rt {

inline constexpr size_t kAlign = 64;

//===-- memory ---------------------------------------------------------------//

/// 64-byte aligned; blocks of 2 MiB and more are aligned for huge pages. Null when out of memory.
void *allocAligned(size_t bytes);
void freeAligned(void *p);
/// False when a * b overflows int64_t or one of them is negative.
inline bool mulSize(int64_t a, int64_t b, int64_t &r) { return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, &r); }
/// Number of elements; -1 when a size is negative or the product overflows.
int64_t countElements(int32_t rank, const int64_t *dims);
/// Bytes of `count` elements in a caller's buffer (sub-byte types packed); -1 on overflow or an unknown type.
int64_t packedBytes(optc_dtype dtype, int64_t count);
/// Bytes of one element in storage form (sub-byte types take one byte); 0 for an unknown type.
int32_t storageBytes(optc_dtype dtype);
/// DLPack's type descriptors; 0 or an opaque type where there is no counterpart.
optc_dtype dtypeFromDL(optc_dltype type);
optc_dltype dtypeToDL(optc_dtype dtype);
/// Between packed and storage form of sub-byte types.
void unpackSubByte(optc_dtype dtype, const void *src, int64_t count, void *dst);
void packSubByte(optc_dtype dtype, const void *src, int64_t count, void *dst);

/// Memory that lives until reset: never moves, freed all at once.
struct Pool {
  struct Block {
    Block *next;
    size_t used, size;
  };
  Block *head;
  void *
  alloc(size_t bytes); // 16-byte aligned for small sizes, 64-byte aligned from 64 bytes on; null when out of memory
  void reset();
  int64_t bytes() const;
};

/// The stack behind optc_rt_alloc: chunks that are kept between runs.
struct Stack {
  struct Chunk {
    Chunk *next;
    size_t size;
    char *data;
    int64_t base;
  };
  /// Where chunks come from; `take` returns null when there is no memory.
  struct Memory {
    void *(*take)(void *user, size_t bytes);
    void (*give)(void *user, void *p);
    void *user;
  };
  Chunk *first, *current;
  int64_t top;          // position of the next byte, counted over all chunks
  const Memory *memory; // null: the host's
  void *alloc(int64_t bytes);
  /// Without the line between buffers: `bytes` is a positive multiple of kAlign.
  void *allocLines(int64_t bytes);
  void release(int64_t mark);
  /// Where in the stack an address is; -1: nowhere.
  int64_t positionOf(const void *p) const;
  void *takeChunk(size_t bytes);
  void destroy();
  int64_t bytes() const;
};

/// Places of the buffers of one optc_rt_solve_arena for given sizes; followed by `bytes`, `offsets` and scratch.
struct Placement {
  Placement *next;
  const int32_t *lifetimes;
  int32_t n;
  int64_t total;
  int64_t *bytes, *offsets;
  int32_t *order, *placed; // while solving
};

/// The placement for these sizes, solved when `list` does not hold it yet; null when out of memory or the sizes are too
/// large together.
const Placement *findPlacement(Placement *&list, int32_t n, const int64_t *bytes, const int32_t *lifetimes);
void freePlacements(Placement *&list);

/// A buffer that grows and is kept between runs.
struct Buffer {
  void *data;
  size_t size;
  void *reserve(size_t bytes); // contents are lost when it grows; null when out of memory
};

/// Buffers that wait for the end of the run that still reads them.
struct Retired {
  void **data;
  int32_t size, capacity;
  bool push(void *p);
  void freeAll();
};

//===-- values ---------------------------------------------------------------//

/// A growing array of tensors, shared by the sequence versions that appended to it.
struct SeqItems {
  optc_tensor *data;
  int64_t size, capacity;
};

} // namespace optc::rt

/// A sequence as generated code sees it: immutable, a prefix of `items`, living until the end of the run.
struct optc_seq {
  optc::rt::SeqItems *items;
  int64_t size;
  optc_dtype dtype;
};

namespace optc::rt {
struct ThreadPool;
} // namespace optc::rt

namespace optc::cuda {
struct ModelState;
struct ContextState;
} // namespace optc::cuda

/// What the runtime calls for a model with a device description. Functions without a status fail like services.
struct optc_device_backend {
  optc_status (*create_context)(optc_host *, optc_error *);
  void (*destroy_context)(optc_host *);
  void (*begin)(optc_host *);  // of a run
  void (*finish)(optc_host *); // the host program has returned: outputs go to the host
  void (*end)(optc_host *);    // after `begin`, whatever happened; does not fail
  void (*set_stream)(optc_host *, void *stream);
  int64_t (*memory)(const optc_host *);
  const char *(*describe)(const optc_host *); // the device, and the code that it runs
  void (*destroy_model)(optc_model *);
};

/// The first two members are read by loaders of other versions: their place is part of the ABI.
struct optc_model {
  const optc_api *api;
  void *library; // handle of dlopen, set and closed by the loader
  const optc_model_desc *desc;
  pthread_mutex_t mutex; // of `device`, which the first context sets up
  optc::cuda::ModelState *device;
};

struct optc_host {
  const optc_api *api; // part of the ABI
  const optc_model *model;
  const optc_model *owned; // destroyed with the context (typed C interface)
  optc_context_options options;
  int32_t workers;
  optc::rt::ThreadPool *pool;
  optc::cuda::ContextState *device; // null: tensors live in host memory
  void *arena;
  optc::rt::Stack stack;
  optc::rt::Placement *placements; // solved so far, the latest first
  optc::rt::Buffer scratch;        // workers * scratch bytes
  optc::rt::Buffer *outputs;       // one per output, the context's own
  optc::rt::Retired retired;
  int64_t *shapes;         // per output two of OPTC_MAX_RANK sizes: of this run and of the one before
  optc::rt::Pool pools[2]; // string bytes and sequences of this run and of the one before
  int32_t currentPool;
  optc::rt::Buffer typed; // values of the typed C interface
  // State of a run.
  const optc_value *inputs;
  optc_value *results;
  optc_value *bound; // inputs after checks: contiguous, offset applied, dtype set
  const optc_run_options *run;
  int64_t *symbols; // -1: not bound yet
  void **unpacked;  // per input of a sub-byte type: its storage form, made on demand
  struct Output {
    bool written;
    void *unpacked;
  } *state; // `unpacked` is packed into the output at the end of the run
  optc_error error;
  jmp_buf end; // where a failing service jumps to
};

namespace optc::rt {

/// Ends the run with an error, printf style: jumps back to runImpl, past frames that hold nothing to release.
[[noreturn]] void fail(optc_host *h, optc_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/// Fills `error` (may be null) and returns `status`.
optc_status setError(optc_error *error, optc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Run-lifetime memory (string bytes, sequence items). Does not return when there is none.
void *runAlloc(optc_host *h, int64_t bytes);
inline Pool &runPool(optc_host *h) { return h->pools[h->currentPool]; }

/// Text such as "[2,3,?]" for messages.
struct ShapeText {
  char text[400];
};
ShapeText shapeText(int32_t rank, const int64_t *dims);

ThreadPool *createPool(int32_t workers);
void destroyPool(ThreadPool *pool);
void runOnPool(ThreadPool *pool, void (*body)(void *, int32_t), void *arg);

/// optc_rt_keep for one stack: what lies in it moves down to the mark, by `move`.
void keepOnStack(optc_host *h, Stack &stack, int64_t mark, void **data, const int64_t *bytes, int32_t n,
                 optc_tensor *const *values, int32_t m,
                 void (*move)(optc_host *h, void *to, const void *from, int64_t bytes));

/// Check and bind the inputs of a run, and the buffers for its outputs; they fail like services.
void bindInputs(optc_host *h, int32_t count);
void checkOutputs(optc_host *h, int32_t count);

optc_status modelFromDescImpl(const optc_model_desc *, optc_model **, optc_error *);
void modelDestroyImpl(optc_model *);
const optc_model_desc *modelGetDescImpl(const optc_model *);
optc_status contextCreateImpl(const optc_model *, const optc_context_options *, optc_context **, optc_error *);
void contextDestroyImpl(optc_context *);
int64_t contextMemoryImpl(const optc_context *);
optc_status runImpl(optc_context *, const optc_value *, int32_t, optc_value *, int32_t, const optc_run_options *,
                    optc_error *);
optc_status setStreamImpl(optc_context *, void *, optc_error *);
const char *contextDeviceImpl(const optc_context *);
#define OPTC_API_TABLE(DESC)                                                                                           \
  {OPTC_API_ABI,      sizeof(optc_api),   DESC,    modelFromDescImpl, modelDestroyImpl, modelGetDescImpl,              \
   contextCreateImpl, contextDestroyImpl, runImpl, contextMemoryImpl, optc_dtype_name,  optc_dtype_bits,               \
   setStreamImpl,     contextDeviceImpl}
/// Serves models that are linked statically.
extern const optc_api runtimeApi;

} // namespace optc::rt
#endif
