//===- Common.cpp - what the irregular operators share --------------------===//
#include "Common.h"

using namespace optc::rt;

void optc::rt::checkCall(optc_host *h, const char *op, int32_t n, int32_t needIn, int32_t attrs, int32_t needAttrs,
                         int32_t m, int32_t needOut) {
  if (n < needIn || attrs < needAttrs || m < needOut)
    fail(h, OPTC_RUN_FAILED, "%s: called with %d operands, %d attributes, %d results; it has %d, %d, %d", op, n, attrs,
         m, needIn, needAttrs, needOut);
}

optc_tensor optc::rt::makeTensor(optc_host *h, optc_dtype dtype, int32_t rank, const int64_t *dims) {
  optc_tensor t = {};
  int64_t bytes;
  if (rank > OPTC_MAX_RANK)
    fail(h, OPTC_RUN_FAILED, "a result has rank %d; up to %d is supported", rank, OPTC_MAX_RANK);
  if (!mulSize(countElements(rank, dims), storageBytes(dtype), bytes))
    fail(h, OPTC_OUT_OF_MEMORY, "a result of shape %s is too large", shapeText(rank, dims).text);
  t.data = optc_rt_alloc(h, bytes);
  t.dtype = dtype;
  t.rank = rank;
  for (int32_t i = 0; i < rank; ++i)
    t.dims[i] = dims[i];
  return t;
}

optc_tensor optc::rt::copyTensor(optc_host *h, const optc_tensor &t) {
  optc_tensor r = t;
  int64_t bytes;
  if (!mulSize(count(t), storageBytes(t.dtype), bytes))
    bytes = -1;
  r.data = runAlloc(h, bytes);
  memcpy(r.data, t.data, size_t(bytes));
  return r;
}

int32_t optc::rt::checkAxis(optc_host *h, const char *op, int64_t axis, int32_t rank) {
  if (axis < -int64_t(rank) || axis >= rank)
    fail(h, OPTC_RUN_FAILED, "%s: axis %lld is outside of rank %d", op, (long long)axis, rank);
  return int32_t(axis < 0 ? axis + rank : axis);
}

int64_t optc::rt::integerAt(optc_host *h, const char *op, const char *operand, const optc_tensor &t, int64_t i) {
  if (i >= count(t))
    fail(h, OPTC_RUN_FAILED, "%s: %s has %lld elements, element %lld is needed", op, operand, (long long)count(t),
         (long long)i);
  if (t.dtype == OPTC_INT64)
    return static_cast<const int64_t *>(t.data)[i];
  if (t.dtype == OPTC_INT32)
    return static_cast<const int32_t *>(t.data)[i];
  fail(h, OPTC_RUN_FAILED, "%s: %s is %s; int32 and int64 are supported", op, operand, optc_dtype_name(t.dtype));
}

void optc::rt::requireStrings(optc_host *h, const char *op, const optc_tensor &t) {
  if (t.dtype != OPTC_STRING || !t.data)
    fail(h, OPTC_RUN_FAILED, "%s: an operand is %s, a string tensor is needed", op,
         t.data ? optc_dtype_name(t.dtype) : "absent");
}

//===-- numbers --------------------------------------------------------------//

bool optc::rt::isNumber(optc_dtype t) {
  return (t >= OPTC_FLOAT && t <= OPTC_BFLOAT16 && t != OPTC_STRING) || t == OPTC_UINT4 || t == OPTC_INT4 ||
         t == OPTC_UINT2 || t == OPTC_INT2;
}

bool optc::rt::isSortable(optc_dtype t) { return isNumber(t) || t == OPTC_STRING; }

template <typename T> static T at(const void *p, int64_t i) {
  T v;
  memcpy(&v, static_cast<const char *>(p) + i * int64_t(sizeof(T)), sizeof(T));
  return v;
}

double optc::rt::numberAt(const optc_tensor &t, int64_t i) {
  switch (t.dtype) {
  case OPTC_FLOAT:
    return at<float>(t.data, i);
  case OPTC_COMPLEX64:
    return at<float>(t.data, 2 * i);
  case OPTC_DOUBLE:
    return at<double>(t.data, i);
  case OPTC_COMPLEX128:
    return at<double>(t.data, 2 * i);
  case OPTC_FLOAT16:
    return halfToFloat(at<uint16_t>(t.data, i));
  case OPTC_BFLOAT16: {
    uint32_t b = uint32_t(at<uint16_t>(t.data, i)) << 16;
    return at<float>(&b, 0);
  }
  case OPTC_UINT8:
  case OPTC_BOOL:
  case OPTC_UINT4:
  case OPTC_UINT2:
    return at<uint8_t>(t.data, i);
  case OPTC_INT8:
  case OPTC_INT4:
  case OPTC_INT2:
    return at<int8_t>(t.data, i);
  case OPTC_UINT16:
    return at<uint16_t>(t.data, i);
  case OPTC_INT16:
    return at<int16_t>(t.data, i);
  case OPTC_INT32:
    return at<int32_t>(t.data, i);
  case OPTC_UINT32:
    return at<uint32_t>(t.data, i);
  case OPTC_INT64:
    return double(at<int64_t>(t.data, i));
  case OPTC_UINT64:
    return double(at<uint64_t>(t.data, i));
  }
  return 0;
}

template <typename T> static void put(const optc_tensor &t, int64_t i, T v) {
  memcpy(static_cast<char *>(t.data) + i * int64_t(sizeof(T)), &v, sizeof(T));
}

/// Saturates: a plain cast of a number out of range is undefined.
template <typename T> static T toInteger(double v) {
  constexpr bool isSigned = T(-1) < T(0);
  constexpr int bits = int(sizeof(T)) * 8 - isSigned;
  const double limit = double(uint64_t(1) << (bits - 1)) * 2;
  T top = T(~uint64_t(0) >> (64 - bits));
  if (!(v > (isSigned ? -limit : 0)))
    return v != v ? T(0) : T(isSigned ? T(-top - 1) : T(0));
  return v >= limit ? top : T(v);
}

void optc::rt::storeNumber(const optc_tensor &t, int64_t i, double v) {
  switch (t.dtype) {
  case OPTC_FLOAT:
    return put<float>(t, i, float(v));
  case OPTC_DOUBLE:
    return put<double>(t, i, v);
  case OPTC_COMPLEX64:
    put<float>(t, 2 * i, float(v));
    return put<float>(t, 2 * i + 1, 0);
  case OPTC_COMPLEX128:
    put<double>(t, 2 * i, v);
    return put<double>(t, 2 * i + 1, 0);
  case OPTC_FLOAT16:
    return put<uint16_t>(t, i, doubleToHalf(v));
  case OPTC_BFLOAT16:
    return put<uint16_t>(t, i, doubleToBfloat(v));
  case OPTC_BOOL:
    return put<uint8_t>(t, i, v != 0);
  case OPTC_UINT8:
  case OPTC_UINT4:
  case OPTC_UINT2:
    return put<uint8_t>(t, i, toInteger<uint8_t>(v));
  case OPTC_INT8:
  case OPTC_INT4:
  case OPTC_INT2:
    return put<int8_t>(t, i, toInteger<int8_t>(v));
  case OPTC_UINT16:
    return put<uint16_t>(t, i, toInteger<uint16_t>(v));
  case OPTC_INT16:
    return put<int16_t>(t, i, toInteger<int16_t>(v));
  case OPTC_INT32:
    return put<int32_t>(t, i, toInteger<int32_t>(v));
  case OPTC_UINT32:
    return put<uint32_t>(t, i, toInteger<uint32_t>(v));
  case OPTC_INT64:
    return put<int64_t>(t, i, toInteger<int64_t>(v));
  case OPTC_UINT64:
    return put<uint64_t>(t, i, toInteger<uint64_t>(v));
  }
}

//===-- order ----------------------------------------------------------------//

/// Sign-magnitude bits of a float of `bits` bits, where infinity has the bits `inf`, as an unsigned key.
static uint64_t floatKey(uint64_t v, int bits, uint64_t inf) {
  uint64_t sign = uint64_t(1) << (bits - 1), magnitude = v & (sign - 1);
  if (magnitude > inf)
    return ~uint64_t(0);
  return v & sign ? sign - magnitude : sign + magnitude; // both zeros become `sign`
}

uint64_t optc::rt::sortKey(optc_dtype dtype, const void *p) {
  constexpr uint64_t flip = uint64_t(1) << 63;
  switch (dtype) {
  case OPTC_FLOAT:
    return floatKey(at<uint32_t>(p, 0), 32, 0x7f800000);
  case OPTC_DOUBLE:
    return floatKey(at<uint64_t>(p, 0), 64, 0x7ff0000000000000);
  case OPTC_FLOAT16:
    return floatKey(at<uint16_t>(p, 0), 16, 0x7c00);
  case OPTC_BFLOAT16:
    return floatKey(at<uint16_t>(p, 0), 16, 0x7f80);
  case OPTC_INT8:
  case OPTC_INT4:
  case OPTC_INT2:
    return uint64_t(int64_t(at<int8_t>(p, 0))) ^ flip;
  case OPTC_INT16:
    return uint64_t(int64_t(at<int16_t>(p, 0))) ^ flip;
  case OPTC_INT32:
    return uint64_t(int64_t(at<int32_t>(p, 0))) ^ flip;
  case OPTC_INT64:
    return at<uint64_t>(p, 0) ^ flip;
  case OPTC_UINT16:
    return at<uint16_t>(p, 0);
  case OPTC_UINT32:
    return at<uint32_t>(p, 0);
  case OPTC_UINT64:
    return at<uint64_t>(p, 0);
  default: // bool, uint8, uint4, uint2
    return at<uint8_t>(p, 0);
  }
}

int optc::rt::compareElements(optc_dtype dtype, const void *a, const void *b) {
  if (dtype == OPTC_STRING) {
    auto &x = *static_cast<const optc_string *>(a), &y = *static_cast<const optc_string *>(b);
    int64_t n = x.size < y.size ? x.size : y.size;
    if (int c = n ? memcmp(x.data, y.data, size_t(n)) : 0)
      return c < 0 ? -1 : 1;
    return x.size < y.size ? -1 : x.size > y.size;
  }
  bool isComplex = dtype == OPTC_COMPLEX64 || dtype == OPTC_COMPLEX128;
  optc_dtype part = dtype == OPTC_COMPLEX64 ? OPTC_FLOAT : dtype == OPTC_COMPLEX128 ? OPTC_DOUBLE : dtype;
  for (int i = 0; i <= int(isComplex); ++i) {
    int64_t offset = i * storageBytes(part);
    uint64_t x = sortKey(part, static_cast<const char *>(a) + offset),
             y = sortKey(part, static_cast<const char *>(b) + offset);
    if (x != y)
      return x < y ? -1 : 1;
  }
  return 0;
}
