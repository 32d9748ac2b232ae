//===- Common.h - what the irregular operators share ----------------------===//
#ifndef OPTC_RUNTIME_OPS_COMMON_H
#define OPTC_RUNTIME_OPS_COMMON_H
#include "../Internal.h"
#include "ops.h"

namespace optc::rt {

inline int64_t count(const optc_tensor &t) { return countElements(t.rank, t.dims); }

/// Ends the run when the operator was called with fewer operands, attributes or results than it has.
void checkCall(optc_host *h, const char *op, int32_t n, int32_t needIn, int32_t attrs, int32_t needAttrs, int32_t m,
               int32_t needOut);

/// New stack memory for a tensor.
optc_tensor makeTensor(optc_host *h, optc_dtype dtype, int32_t rank, const int64_t *dims);
/// Stack memory for `n` of T.
template <typename T> T *allocArray(optc_host *h, int64_t n) {
  int64_t bytes;
  return static_cast<T *>(optc_rt_alloc(h, mulSize(n, sizeof(T), bytes) ? bytes : -1));
}
/// Run-lifetime copy, for sequences.
optc_tensor copyTensor(optc_host *h, const optc_tensor &t);

/// Stack memory taken while this lives is given back; for temporaries that are allocated after the outputs.
/// A failing operator leaves without running destructors: the run's end releases everything.
struct Scratch {
  optc_host *h;
  int64_t mark;
  explicit Scratch(optc_host *h) : h(h), mark(optc_rt_mark(h)) {}
  ~Scratch() { optc_rt_release(h, mark); }
};

/// A non-negative axis below `rank`.
int32_t checkAxis(optc_host *h, const char *op, int64_t axis, int32_t rank);
/// Element `i` of an int32 or int64 tensor.
int64_t integerAt(optc_host *h, const char *op, const char *operand, const optc_tensor &t, int64_t i);
/// Any number type as a double (complex: the real part).
double numberAt(const optc_tensor &t, int64_t i);
/// Stores a number, rounded to the type of `t`.
void storeNumber(const optc_tensor &t, int64_t i, double value);
/// Whether numberAt and storeNumber serve the type.
bool isNumber(optc_dtype dtype);

/// Order of two elements: -1, 0, 1; NaN is the largest and equal to itself, -0.0 equals 0.0; strings by bytes.
int compareElements(optc_dtype dtype, const void *a, const void *b);
/// An order-preserving 64-bit key of a real number type, as compareElements orders.
uint64_t sortKey(optc_dtype dtype, const void *p);
/// Whether sortKey and compareElements serve the type.
bool isSortable(optc_dtype dtype);

/// Sizes before, at and after an axis.
struct Split {
  int64_t outer, axis, inner;
};
inline Split splitAt(const optc_tensor &t, int32_t axis) {
  return {countElements(axis, t.dims), t.dims[axis], countElements(t.rank - axis - 1, t.dims + axis + 1)};
}

inline float floatBits(int64_t bits) {
  auto u = uint32_t(bits);
  float f;
  memcpy(&f, &u, 4);
  return f;
}

inline const optc_string *strings(const optc_tensor &t) { return static_cast<const optc_string *>(t.data); }
void requireStrings(optc_host *h, const char *op, const optc_tensor &t);

float halfToFloat(uint16_t bits);
uint16_t floatToHalf(float value);
uint16_t doubleToHalf(double value);
uint16_t floatToBfloat(float value);
uint16_t doubleToBfloat(double value);

} // namespace optc::rt
#endif
