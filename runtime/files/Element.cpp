//===- Element.cpp - one element of a tensor as a number ------------------===//
#include "optc/runtime/files/Value.h"
#include <cmath>
#include <cstring>

using namespace optc::run;

template <typename T> static T load(const Value &v, int64_t i) {
  T x;
  memcpy(&x, v.data.data() + size_t(i) * sizeof(T), sizeof(T));
  return x;
}

/// A small float of `mantissa` explicit bits and exponent bias `bias`, without sign.
static double decode(unsigned code, int mantissa, int bias) {
  unsigned m = code & ((1u << mantissa) - 1);
  int e = int(code >> mantissa);
  return e ? std::ldexp(1.0 + std::ldexp(m, -mantissa), e - bias) : std::ldexp(double(m), 1 - bias - mantissa);
}

static double float8(optc_dtype dtype, uint8_t code) {
  unsigned a = code & 0x7f;
  double sign = code & 0x80 ? -1 : 1;
  switch (dtype) {
  case OPTC_FLOAT8E4M3FN:
    return a == 0x7f ? NAN : sign * decode(a, 3, 7);
  case OPTC_FLOAT8E4M3FNUZ:
    return code == 0x80 ? NAN : sign * decode(a, 3, 8);
  case OPTC_FLOAT8E5M2:
    return a > 0x7c ? NAN : a == 0x7c ? sign * INFINITY : sign * decode(a, 2, 15);
  case OPTC_FLOAT8E5M2FNUZ:
    return code == 0x80 ? NAN : sign * decode(a, 2, 16);
  default: // FLOAT8E8M0
    return code == 0xff ? NAN : std::ldexp(1.0, int(code) - 127);
  }
}

double optc::run::element(const Value &v, int64_t i, bool imaginary) {
  switch (v.dtype) {
  case OPTC_FLOAT:
    return load<float>(v, i);
  case OPTC_DOUBLE:
    return load<double>(v, i);
  case OPTC_COMPLEX64:
    return load<float>(v, 2 * i + imaginary);
  case OPTC_COMPLEX128:
    return load<double>(v, 2 * i + imaginary);
  case OPTC_UINT8:
  case OPTC_BOOL:
    return load<uint8_t>(v, i);
  case OPTC_INT8:
    return load<int8_t>(v, i);
  case OPTC_UINT16:
    return load<uint16_t>(v, i);
  case OPTC_INT16:
    return load<int16_t>(v, i);
  case OPTC_INT32:
    return load<int32_t>(v, i);
  case OPTC_UINT32:
    return load<uint32_t>(v, i);
  case OPTC_INT64:
    return double(load<int64_t>(v, i));
  case OPTC_UINT64:
    return double(load<uint64_t>(v, i));
  case OPTC_FLOAT16: {
    uint16_t h = load<uint16_t>(v, i);
    double sign = h & 0x8000 ? -1 : 1;
    unsigned a = h & 0x7fff;
    return a > 0x7c00 ? NAN : a == 0x7c00 ? sign * INFINITY : sign * decode(a, 10, 15);
  }
  case OPTC_BFLOAT16: {
    uint32_t b = uint32_t(load<uint16_t>(v, i)) << 16;
    float f;
    memcpy(&f, &b, 4);
    return f;
  }
  case OPTC_FLOAT4E2M1: {
    int code = subByte(v, i);
    return (code & 8 ? -1 : 1) * decode(unsigned(code & 7), 1, 1);
  }
  case OPTC_UINT4:
  case OPTC_INT4:
  case OPTC_UINT2:
  case OPTC_INT2:
    return subByte(v, i);
  }
  return v.dtype == OPTC_STRING ? NAN : float8(v.dtype, load<uint8_t>(v, i));
}
