/*===- dispatch.h - the ABI between generated code and the runtime ---------===*
 *
 * Version OPTC_DISPATCH_ABI. Used by emitted kernels, by kernels that plugins
 * write in C or C++, by the host program and by the profiler.
 *
 * Kernels see raw, row-major buffers; sizes that are not static arrive as
 * scalars. Buffers are contiguous, but for those of generated kernels that
 * are parts of larger ones: such a kernel knows the strides. All sizes are
 * counted in elements unless they say bytes.
 *===----------------------------------------------------------------------===*/
#ifndef OPTC_RUNTIME_DISPATCH_H
#define OPTC_RUNTIME_DISPATCH_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define OPTC_DISPATCH_ABI 4
#define OPTC_MAX_RANK 16

/* One call of a kernel: works on the tiles [first, last). */
typedef struct optc_dispatch {
  void *const *buf;      /* operands, then results, in the order of the kernel's signature */
  const int64_t *scalar; /* run-time sizes and scalars; floats by their bits */
  void *scratch;         /* per worker, 64-byte aligned; null when the kernel needs none */
  int64_t first, last;   /* tile range */
  int32_t worker;        /* index of the calling worker */
} optc_dispatch;
typedef void (*optc_kernel)(const optc_dispatch *);

/* The state of one run, opaque to generated code. */
typedef struct optc_host optc_host;

/* ONNX TensorProto.DataType numbers. */
typedef int32_t optc_dtype;

/* A tensor, sequence or optional handed to and from the irregular operators (optc_op_*). */
typedef struct optc_tensor {
  void *data;       /* tensors: the elements in storage form (see docs); sequences: an optc_seq handle; null: an absent
                       optional */
  optc_dtype dtype; /* element type; 0 for a sequence */
  int32_t rank;
  int64_t dims[OPTC_MAX_RANK];
} optc_tensor;

/* ---- services of the runtime to the host program ----
 * A service that fails records the error and does not return: it jumps back to the run (longjmp), so the host program
 * never checks. Generated code holds nothing that would need unwinding. Kernels call no service. Sub-byte inputs and
 * outputs are unpacked and packed by optc_rt_input and at the end of the run: the host program sees one value per byte.
 */
void *optc_rt_input(optc_host *h, int32_t index);
int64_t optc_rt_input_dim(optc_host *h, int32_t index, int32_t dim);
/* Copies the descriptor of input `index` (sequences, optionals, unknown rank). */
void optc_rt_input_value(optc_host *h, int32_t index, optc_tensor *out);
/* Storage of output `index`: the caller's buffer or one made by its allocator. */
void *optc_rt_output(optc_host *h, int32_t index, int32_t rank, const int64_t *dims);
/* Sets an output that is a sequence, an optional or of unknown rank. */
int32_t optc_rt_output_value(optc_host *h, int32_t index, const optc_tensor *value);
/* The static arena, 64-byte aligned, of the size the model descriptor states. */
void *optc_rt_arena(optc_host *h);
/* Memory whose size is known only at run time: a stack, freed at the end of the run or by release. 64-byte aligned. */
void *optc_rt_alloc(optc_host *h, int64_t bytes);
/* Memory for n buffers of these sizes, which share it where their lifetimes (closed intervals: first, last) allow it.
 * `lifetimes` is a constant of the program: the places are remembered by its address and the sizes. */
void optc_rt_solve_arena(optc_host *h, int32_t n, const int64_t *bytes, const int32_t *lifetimes, void **buffers);
int64_t optc_rt_mark(optc_host *h);
void optc_rt_release(optc_host *h, int64_t mark);
/* Releases, but keeps n buffers and the data of m descriptors: what lies above the mark moves down to it, and `data`
 * and `values` get the new addresses. Buffers must not overlap unless they begin at the same address. */
void optc_rt_keep(optc_host *h, int64_t mark, void **data, const int64_t *bytes, int32_t n, optc_tensor *const *values,
                  int32_t m);
/* Runs tiles [0, tiles) of a kernel, on the calling thread or shared with the pool; scratch_bytes per worker. */
void optc_rt_launch(optc_host *h, optc_kernel kernel, void *const *buf, const int64_t *scalar, int64_t tiles,
                    int64_t scratch_bytes);
/* Ends the run with this message. Does not return. */

void optc_rt_fail(optc_host *h, const char *message);
/* Does so when `message` is not null. */
void optc_rt_check(optc_host *h, const char *message);

/* Every irregular operator has this form: n inputs, attributes as integers (floats by their bits), m outputs whose data
 * the operator allocates with optc_rt_alloc. Errors go to optc_rt_fail. Returns 0. */
typedef int32_t (*optc_library_op)(optc_host *h, const optc_tensor *in, int32_t n, const int64_t *attr, int32_t attrs,
                                   optc_tensor *out, int32_t m);

/* ---- the same services to a host program whose tensors live in device memory ----
 * optc_dev_X is optc_rt_X with addresses of the device. What the host does not need at once is put in order behind what
 * was asked for before; services that read wait for it. Irregular operators and kernels of the CPU see copies in host
 * memory. Input sizes, descriptors of inputs and checks are the services above. */
void *optc_dev_input(optc_host *h, int32_t index);
void *optc_dev_output(optc_host *h, int32_t index, int32_t rank, const int64_t *dims);
int32_t optc_dev_output_value(optc_host *h, int32_t index, const optc_tensor *value);
void *optc_dev_arena(optc_host *h);
/* The device's copy of the artifact's constants. */
void *optc_dev_weights(optc_host *h);
void *optc_dev_alloc(optc_host *h, int64_t bytes);
void optc_dev_solve_arena(optc_host *h, int32_t n, const int64_t *bytes, const int32_t *lifetimes, void **buffers);
int64_t optc_dev_mark(optc_host *h);
void optc_dev_release(optc_host *h, int64_t mark);
void optc_dev_keep(optc_host *h, int64_t mark, void **data, const int64_t *bytes, int32_t n, optc_tensor *const *values,
                   int32_t m);
/* Runs a kernel of the device description in `tiles` blocks. Where it has a generic version, scalar[num_scalars],
 * behind its own scalars, is the number of blocks of that. */
void optc_dev_launch(optc_host *h, int32_t kernel, void *const *buf, const int64_t *scalar, int64_t tiles);
/* Runs a kernel of the CPU on copies of n buffers of these sizes: the first `inputs` are read, the others written. */
void optc_dev_launch_host(optc_host *h, optc_kernel kernel, void *const *buf, const int64_t *bytes, int32_t inputs,
                          int32_t n, const int64_t *scalar, int64_t tiles, int64_t scratch_bytes);
/* Calls an irregular operator. Data of its results is in host memory until optc_dev_data asks for it. */
int32_t optc_dev_call(optc_host *h, optc_library_op op, const optc_tensor *in, int32_t n, const int64_t *attr,
                      int32_t attrs, optc_tensor *out, int32_t m);
/* The device's address of the elements of a described tensor, which move there when they are not. */
void *optc_dev_data(optc_host *h, optc_tensor *value);
/* Between host and device memory, and within the latter. */
void optc_dev_read(optc_host *h, const void *from, int64_t bytes, void *to);
void optc_dev_write(optc_host *h, void *to, int64_t bytes, const void *from);
void optc_dev_copy(optc_host *h, void *to, const void *from, int64_t bytes);

/* The generated host program. */
typedef int32_t (*optc_entry)(optc_host *h);

/* ---- what the compiler writes into an artifact ---- */
typedef struct optc_io_desc {
  const char *name;    /* the ONNX name */
  int32_t kind;        /* 0 tensor, 1 sequence of tensors, 2 optional tensor, 3 optional sequence */
  optc_dtype dtype;    /* of the tensor or of the sequence's tensors */
  int32_t rank;        /* -1: not known */
  const int64_t *dims; /* >= 0 static; -1 - s: symbol s; INT64_MIN: unknown, unnamed */
  const void *value;   /* the default of an input, as a caller would give it; its dims are static. Null: none */
} optc_io_desc;

/* A tensor map (cuTensorMapEncodeTiled) that a kernel takes, of one of its buffers. `dims` and `box` count elements,
 * the innermost dimension first; strides[i] is the distance in elements along dimension i + 1. Sizes and strides:
 * >= 0 static; -1 - s: scalar s of the launch; OPTC_DENSE, of a stride: that of a tensor without gaps. */
#define OPTC_DENSE INT64_MIN
typedef struct optc_tensor_map {
  int32_t buffer;   /* index among the kernel's buffers */
  optc_dtype dtype; /* element type, ONNX */
  int32_t rank;     /* 1 to 5 */
  int32_t swizzle;  /* 0: none; 1: 32 bytes; 2: 64 bytes; 3: 128 bytes */
  int64_t offset_bytes;
  int64_t dims[5];
  int64_t strides[4];
  int32_t box[5];
} optc_tensor_map;

/* A kernel of the device: name(buffers as pointers, scalars as 64-bit integers, tensor maps by value, 128 bytes each,
 * aligned to 64), on a grid of (tiles, 1, 1) blocks of (threads, 1, 1). */
typedef struct optc_device_kernel {
  const char *name;
  int32_t threads;      /* per block */
  int32_t shared_bytes; /* dynamic shared memory per block */
  int32_t num_buffers, num_scalars, num_maps;
  const optc_tensor_map *maps;
  /* What runs in its place, with the same buffers and scalars, on devices of other chips. Null: the kernel itself. */
  const struct optc_device_kernel *generic;
} optc_device_kernel;

/* What drives devices: optc_cuda_backend of the runtime. Opaque to artifacts, which only name it. */
typedef struct optc_device_backend optc_device_backend;
extern const optc_device_backend optc_cuda_backend;

/* The device code of an artifact. Images that are missing are null and have size 0. */
typedef struct optc_device_desc {
  int32_t chip; /* compute capability, 90 for sm_90a */
  int32_t num_kernels;
  const optc_device_kernel *kernels; /* optc_dev_launch counts these */
  const void *cubin;                 /* for the chip */
  uint64_t cubin_bytes;
  const char *ptx; /* for compute capability 8.0 and newer, where the cubin does not load; null-terminated */
  uint64_t ptx_bytes;
  const void *emulation; /* shared object for this machine's CPU that the stand-in for the driver loads (--emulate) */
  uint64_t emulation_bytes;
  const void *weights; /* the artifact's constants, which the device gets a copy of */
  uint64_t weights_bytes;
  const optc_device_backend *backend; /* &optc_cuda_backend */
} optc_device_desc;

typedef struct optc_model_desc {
  uint32_t abi;  /* OPTC_DISPATCH_ABI */
  uint32_t size; /* sizeof(optc_model_desc) */
  const char *name;
  const char *metadata; /* JSON */
  int32_t num_inputs, num_outputs, num_symbols;
  const optc_io_desc *inputs, *outputs;
  const char *const *symbols; /* names of dim_params */
  int64_t arena_bytes;        /* static arena, in the memory where the program's tensors live */
  uint64_t cpu_features;      /* bits the CPU must have, OPTC_CPU_* of optc.h; 0: none */
  optc_entry entry;
  const optc_device_desc *device; /* null: the program and its tensors are the CPU's alone */
} optc_model_desc;

#ifdef __cplusplus
}
#endif
#endif
