/*===- optc.h - run compiled models ----------------------------------------===*
 *
 * C99. Link `liboptc_rt.a` (needs libc and libm only), or take the same
 * functions from an artifact through its query function (see artifact.h).
 *
 *   optc_model *model;
 *   optc_context *ctx;
 *   optc_model_load_file("resnet.so", &model, &error);
 *   optc_context_create(model, NULL, &ctx, &error);
 *   optc_value in = optc_value_tensor(OPTC_FLOAT, 4, dims, data), out = {0};
 *   optc_run(ctx, &in, 1, &out, 1, NULL, &error);
 *   ... out.tensor.data, out.tensor.shape ...
 *
 * Rules
 *  - A model is immutable and may be shared by threads. A context serves one run
 *    at a time; make one per concurrent run.
 *  - Nothing aborts: functions return a status, and fill `error` when it is not null.
 *  - Inputs: CPU memory, row-major. A null `strides` means contiguous. Inputs that
 *    are strided or not aligned to their element size are copied at the start of
 *    the run (sub-byte types must be contiguous). Sub-byte types are packed, the
 *    first element in the low bits. Inputs are never written to. A value of kind OPTC_NONE takes the default of an
 *    input that has one (optc_io_desc.value).
 *  - Outputs: a value with kind OPTC_NONE asks for memory: from `allocate` of the
 *    run options where given, otherwise from the context. The context's memory is
 *    valid until the next run of that context has ended (so an output may be an
 *    input of the next run). A value with kind OPTC_TENSOR and data is the caller's
 *    buffer: its shape must be what the model computes, it must be contiguous and
 *    must not overlap an input. Bytes of output strings always belong to the context.
 *    A value that an earlier run filled with the context's memory counts as OPTC_NONE.
 *  - Models for a CUDA device: the driver is loaded when the first context is made (OPTC_CUDA_LIB, else libcuda.so.1).
 *    They use the CUDA context that is current then, else the primary context of the first device.
 *===----------------------------------------------------------------------===*/
#ifndef OPTC_RUNTIME_OPTC_H
#define OPTC_RUNTIME_OPTC_H
#include "dispatch.h"
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Version of optc_api and of the structs in this file. */
#define OPTC_API_ABI 2

/* ---- status ---- */
typedef int32_t optc_status;
enum {
  OPTC_OK = 0,
  OPTC_INVALID_ARGUMENT = 1, /* the caller's value, file or option does not fit */
  OPTC_UNSUPPORTED = 2,      /* CPU feature or ABI version missing */
  OPTC_OUT_OF_MEMORY = 3,
  OPTC_IO = 4,        /* a file cannot be read or loaded */
  OPTC_RUN_FAILED = 5 /* the model's own check failed (for example an index out of range) */
};
typedef struct optc_error {
  optc_status status;
  char message[1020];
} optc_error;

/* ---- element types: ONNX TensorProto.DataType ---- */
enum {
  OPTC_UNDEFINED = 0,
  OPTC_FLOAT = 1,
  OPTC_UINT8 = 2,
  OPTC_INT8 = 3,
  OPTC_UINT16 = 4,
  OPTC_INT16 = 5,
  OPTC_INT32 = 6,
  OPTC_INT64 = 7,
  OPTC_STRING = 8,
  OPTC_BOOL = 9,
  OPTC_FLOAT16 = 10,
  OPTC_DOUBLE = 11,
  OPTC_UINT32 = 12,
  OPTC_UINT64 = 13,
  OPTC_COMPLEX64 = 14,
  OPTC_COMPLEX128 = 15,
  OPTC_BFLOAT16 = 16,
  OPTC_FLOAT8E4M3FN = 17,
  OPTC_FLOAT8E4M3FNUZ = 18,
  OPTC_FLOAT8E5M2 = 19,
  OPTC_FLOAT8E5M2FNUZ = 20,
  OPTC_UINT4 = 21,
  OPTC_INT4 = 22,
  OPTC_FLOAT4E2M1 = 23,
  OPTC_FLOAT8E8M0 = 24,
  OPTC_UINT2 = 25,
  OPTC_INT2 = 26,
  OPTC_NUM_DTYPES = 27
};
/* Name ("float16"), or "undefined". */
const char *optc_dtype_name(optc_dtype dtype);
/* Bits of one element in a caller's buffer: 2 and 4 for packed types, 128 for strings, 0 for an unknown type. */
int32_t optc_dtype_bits(optc_dtype dtype);

/* ---- values ---- */
/* The layout of DLPack's DLTensor, so that `*(DLTensor *)&value.tensor` is valid. */
typedef struct optc_dltype {
  uint8_t code, bits;
  uint16_t lanes;
} optc_dltype;
typedef struct optc_dldevice {
  int32_t device_type, device_id;
} optc_dldevice; /* 1: CPU; 0 is taken as CPU */
typedef struct optc_dltensor {
  void *data;
  optc_dldevice device;
  int32_t ndim;
  optc_dltype dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; null: contiguous */
  uint64_t byte_offset;
} optc_dltensor;

/* An element of a string tensor: UTF-8 bytes, not null-terminated. */
typedef struct optc_string {
  const char *data;
  int64_t size;
} optc_string;

typedef enum optc_value_kind {
  OPTC_NONE = 0,     /* as an output: let the runtime decide; as an input: absent, or the default */
  OPTC_TENSOR = 1,   /* `tensor` */
  OPTC_STRINGS = 2,  /* `tensor`, whose data is an array of optc_string */
  OPTC_SEQUENCE = 3, /* `items[0..size)` */
  OPTC_OPTIONAL = 4, /* `size` 0: absent, 1: items[0] */
  OPTC_MAP = 5       /* items[0]: tensor of keys, items[1]: values */
} optc_value_kind;

typedef struct optc_value optc_value;
struct optc_value {
  int32_t kind;     /* optc_value_kind */
  optc_dtype dtype; /* of the tensor or of a sequence's tensors; 0: from tensor.dtype */
  optc_dltensor tensor;
  int64_t size;
  optc_value *items;
};

/* A contiguous tensor of the caller. `shape` must outlive the value. */
static inline optc_value optc_value_tensor(optc_dtype dtype, int32_t rank, const int64_t *shape, const void *data) {
  optc_value v;
  v.kind = dtype == OPTC_STRING ? OPTC_STRINGS : OPTC_TENSOR;
  v.dtype = dtype;
  v.tensor.data = (void *)data;
  v.tensor.device.device_type = 1;
  v.tensor.device.device_id = 0;
  v.tensor.ndim = rank;
  v.tensor.dtype.code = 0;
  v.tensor.dtype.bits = 0;
  v.tensor.dtype.lanes = 1;
  v.tensor.shape = (int64_t *)shape;
  v.tensor.strides = NULL;
  v.tensor.byte_offset = 0;
  v.size = 0;
  v.items = NULL;
  return v;
}

/* ---- models ---- */
typedef struct optc_model optc_model;
/* Loads an artifact made with --emit=so. */
optc_status optc_model_load_file(const char *path, optc_model **model, optc_error *error);
/* Wraps a statically linked model (--emit=obj, static-lib): the descriptor NAME_descriptor of its generated header. */
optc_status optc_model_from_desc(const optc_model_desc *desc, optc_model **model, optc_error *error);
/* After its last context. Null is fine. */
void optc_model_destroy(optc_model *model);
const optc_model_desc *optc_model_get_desc(const optc_model *model);

/* ---- contexts ---- */
typedef struct optc_host optc_context;
/* Runs body(arg, worker) for every worker in [0, workers), in any order and on any threads, and returns when all are
 * done. */
typedef void (*optc_parallel_for)(void *user, int32_t workers, void (*body)(void *arg, int32_t worker), void *arg);
typedef struct optc_context_options {
  uint32_t size;   /* sizeof(optc_context_options) */
  int32_t threads; /* workers per launch; 0 or 1: everything on the calling thread. Results do not depend on it. */
  optc_parallel_for parallel_for; /* null: a pool of the context's own */
  void *parallel_for_user;
} optc_context_options;
/* `options` may be null. */
optc_status optc_context_create(const optc_model *model, const optc_context_options *options, optc_context **context,
                                optc_error *error);
void optc_context_destroy(optc_context *context);

/* ---- runs ---- */
typedef struct optc_run_options {
  uint32_t size; /* sizeof(optc_run_options) */
  /* Memory for output `index` where the caller gave no buffer; null ends the run with OPTC_OUT_OF_MEMORY. */
  void *(*allocate)(void *user, int32_t index, size_t bytes, size_t alignment);
  void *allocate_user;
} optc_run_options;
/* Inputs and outputs in the order of the descriptor. `options` may be null. */
optc_status optc_run(optc_context *context, const optc_value *inputs, int32_t num_inputs, optc_value *outputs,
                     int32_t num_outputs, const optc_run_options *options, optc_error *error);
/* Runs of a model for a CUDA device put their work on this stream (a CUstream of the context that was current when the
 * model's first context was made), behind what is there already; null: a stream of the context's own, as before the
 * first call. A run still returns when its outputs are in host memory. OPTC_UNSUPPORTED for models of a CPU. */
optc_status optc_context_set_stream(optc_context *context, void *stream, optc_error *error);
/* The device that a context runs on and which code of the artifact runs there, a sentence; null for models of a CPU. */
const char *optc_context_device(const optc_context *context);
/* Bytes that the context holds, in host and device memory: arena, stack, outputs, scratch. */
int64_t optc_context_memory(const optc_context *context);

/* ---- the table an artifact hands out ---- */
typedef struct optc_api {
  uint32_t abi;                /* OPTC_API_ABI */
  uint32_t size;               /* sizeof(optc_api) */
  const optc_model_desc *desc; /* of the artifact; null in the table of liboptc_rt.a */
  optc_status (*model_from_desc)(const optc_model_desc *, optc_model **, optc_error *);
  void (*model_destroy)(optc_model *);
  const optc_model_desc *(*model_get_desc)(const optc_model *);
  optc_status (*context_create)(const optc_model *, const optc_context_options *, optc_context **, optc_error *);
  void (*context_destroy)(optc_context *);
  optc_status (*run)(optc_context *, const optc_value *, int32_t, optc_value *, int32_t, const optc_run_options *,
                     optc_error *);
  int64_t (*context_memory)(const optc_context *);
  const char *(*dtype_name)(optc_dtype);
  int32_t (*dtype_bits)(optc_dtype);
  optc_status (*context_set_stream)(optc_context *, void *, optc_error *);
  const char *(*context_device)(const optc_context *);
} optc_api;
/* What an artifact exports as NAME_optc_query: null when it cannot serve this ABI. */
typedef const optc_api *(*optc_query)(uint32_t abi);

/* ---- CPU features of x86-64, in optc_model_desc.cpu_features ---- */
#define OPTC_CPU_SSE3 (1ull << 0)
#define OPTC_CPU_SSSE3 (1ull << 1)
#define OPTC_CPU_SSE41 (1ull << 2)
#define OPTC_CPU_SSE42 (1ull << 3)
#define OPTC_CPU_POPCNT (1ull << 4)
#define OPTC_CPU_AVX (1ull << 5)
#define OPTC_CPU_F16C (1ull << 6)
#define OPTC_CPU_FMA (1ull << 7)
#define OPTC_CPU_AVX2 (1ull << 8)
#define OPTC_CPU_BMI (1ull << 9)
#define OPTC_CPU_BMI2 (1ull << 10)
#define OPTC_CPU_LZCNT (1ull << 11)
#define OPTC_CPU_MOVBE (1ull << 12)
#define OPTC_CPU_AVX512F (1ull << 13)
#define OPTC_CPU_AVX512BW (1ull << 14)
#define OPTC_CPU_AVX512CD (1ull << 15)
#define OPTC_CPU_AVX512DQ (1ull << 16)
#define OPTC_CPU_AVX512VL (1ull << 17)
#define OPTC_CPU_AVX512VNNI (1ull << 18)
#define OPTC_CPU_AVX512BF16 (1ull << 19)
#define OPTC_CPU_AVX512FP16 (1ull << 20)
#define OPTC_CPU_AVX512VBMI (1ull << 21)
#define OPTC_CPU_AVXVNNI (1ull << 22)
#define OPTC_CPU_AMXTILE (1ull << 23)
#define OPTC_CPU_AMXINT8 (1ull << 24)
#define OPTC_CPU_AMXBF16 (1ull << 25)
#define OPTC_CPU_CX16 (1ull << 26)
#define OPTC_CPU_SAHF (1ull << 27)
/* The features of this machine's CPU that its operating system lets programs use. */
uint64_t optc_cpu_features(void);
/* Writes the names of the features in `bits`, separated by spaces. */
void optc_cpu_feature_names(uint64_t bits, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
