/* An image as codegen/cuda/emulate makes them, written by hand: kernels over vectors of n floats. */
#include <stddef.h>
#include <stdint.h>

/* runtime/emulator/Abi.h */
struct thread_state {
  uint32_t tid[3], ntid[3], ctaid[3], nctaid[3];
};
struct kernel_record {
  const char *name;
  void (*entry)(struct thread_state *, void **parameters);
  uint32_t shared_bytes, shared_alignment, num_parameters, padding;
  const uint32_t *parameter_bytes;
};
struct image_header {
  uint32_t version, num_functions;
  const char *const *function_names;
  void **functions;
  uint64_t num_kernels;
  const struct kernel_record *kernels;
};

static int64_t position(const struct thread_state *t) { return (int64_t)t->ctaid[0] * t->ntid[0] + t->tid[0]; }

/* z = x + y */
static void add(struct thread_state *t, void **p) {
  const float *x = *(const float **)p[0], *y = *(const float **)p[1];
  float *z = *(float **)p[2];
  int64_t i = position(t);
  if (i < *(int64_t *)p[3])
    z[i] = x[i] + y[i];
}

/* y = 2 * x */
static void twice(struct thread_state *t, void **p) {
  const float *x = *(const float **)p[0];
  float *y = *(float **)p[1];
  int64_t i = position(t);
  if (i < *(int64_t *)p[2])
    y[i] = 2 * x[i];
}

/* The bytes of a tensor map, to a buffer of 128 bytes; the scalar in between is not used. */
static void map(struct thread_state *t, void **p) {
  const unsigned char *from = p[2];
  if (t->tid[0] < 128)
    (*(unsigned char **)p[0])[t->tid[0]] = from[t->tid[0]];
}

static const uint32_t words[] = {8, 8, 8, 8}, with_map[] = {8, 8, 128};
static const struct kernel_record kernels[] = {
    {"add", add, 0, 1, 4, 0, words}, {"twice", twice, 1024, 16, 3, 0, words}, {"map", map, 0, 1, 3, 0, with_map}};
static void *functions[1];
static const char *const names[1] = {""};
__attribute__((visibility("default"))) const struct image_header optc_emulation = {1, 0, names, functions, 3, kernels};
