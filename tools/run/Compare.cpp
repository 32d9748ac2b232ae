//===- Compare.cpp - --expect ---------------------------------------------===//
#include "Options.h"
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace optc::run;

template <typename T> static T load(const Value &v, int64_t i) {
  T x;
  memcpy(&x, v.data.data() + size_t(i) * sizeof(T), sizeof(T));
  return x;
}

/// Exact text of 64-bit integers, which a double may not hold.
static std::string elementText(const Value &v, int64_t i) {
  char text[80];
  if (v.dtype == OPTC_STRING)
    return "'" + v.strings[size_t(i)] + "'";
  if (v.dtype == OPTC_INT64)
    snprintf(text, sizeof(text), "%lld", (long long)load<int64_t>(v, i));
  else if (v.dtype == OPTC_UINT64)
    snprintf(text, sizeof(text), "%llu", (unsigned long long)load<uint64_t>(v, i));
  else if (v.dtype == OPTC_COMPLEX64 || v.dtype == OPTC_COMPLEX128)
    snprintf(text, sizeof(text), "%.9g%+.9gi", element(v, i), element(v, i, true));
  else
    snprintf(text, sizeof(text), v.dtype == OPTC_DOUBLE ? "%.17g" : "%.9g", element(v, i));
  return text;
}

static std::string indexText(const Value &v, int64_t flat) {
  std::string s;
  for (size_t d = v.dims.size(); d-- > 0;) {
    s = std::to_string(flat % v.dims[d]) + (s.empty() ? "" : ",") + s;
    flat /= v.dims[d];
  }
  return "[" + s + "]";
}

std::string optc::run::compare(const std::string &output, const Value &got, const Value &expected,
                               Tolerance tolerance) {
  // The test suite stores a present optional as its contents now and then.
  if (got.kind == OPTC_OPTIONAL && got.items.size() == 1 && expected.kind != OPTC_OPTIONAL)
    return compare(output, got.items[0], expected, tolerance);
  if (expected.kind == OPTC_OPTIONAL && expected.items.size() == 1 && got.kind != OPTC_OPTIONAL)
    return compare(output, got, expected.items[0], tolerance);
  std::string what = "output '" + output + "' ";
  if (got.isTensor() != expected.isTensor() ||
      (!got.isTensor() && (got.kind != expected.kind || got.items.size() != expected.items.size())) ||
      (got.isTensor() && (got.dtype != expected.dtype || got.dims != expected.dims)))
    return what + "is " + describe(got) + ", expected " + describe(expected);
  if (!got.isTensor()) {
    for (size_t i = 0; i < got.items.size(); ++i) {
      std::string s = compare(output + "[" + std::to_string(i) + "]", got.items[i], expected.items[i], tolerance);
      if (!s.empty())
        return s;
    }
    return "";
  }
  int64_t n = got.count(), first = -1, wrong = 0, worst = -1;
  double largest = -1;
  bool isComplex = got.dtype == OPTC_COMPLEX64 || got.dtype == OPTC_COMPLEX128;
  size_t width = size_t(optc_dtype_bits(got.dtype) / 8);
  for (int64_t i = 0; i < n; ++i) {
    bool ok = true;
    double error = 0;
    if (got.dtype == OPTC_STRING) {
      ok = got.strings[size_t(i)] == expected.strings[size_t(i)];
    } else if (!width || memcmp(got.data.data() + size_t(i) * width, expected.data.data() + size_t(i) * width, width)) {
      for (int part = 0; part <= int(isComplex); ++part) {
        double a = element(got, i, part), b = element(expected, i, part);
        double e = a == b || (std::isnan(a) && std::isnan(b)) ? 0 : std::fabs(a - b);
        bool fine = e == 0 || e <= tolerance.absolute + tolerance.relative * std::fabs(b);
        // Infinities are equal or different, whatever the tolerance.
        if (e != 0 && (std::isinf(a) || std::isinf(b)))
          fine = false;
        ok &= fine;
        error = std::isnan(e) ? INFINITY : std::fmax(error, e);
      }
    }
    if (error > largest) {
      largest = error;
      worst = i;
    }
    if (!ok) {
      ++wrong;
      first = first < 0 ? i : first;
    }
  }
  if (first < 0)
    return "";
  char text[160];
  std::string s = what + "differs at " + indexText(got, first) + ": got " + elementText(got, first) + ", expected " +
                  elementText(expected, first);
  if (got.dtype == OPTC_STRING) {
    snprintf(text, sizeof(text), "; %lld of %lld elements differ", (long long)wrong, (long long)n);
    return s + text;
  }
  snprintf(text, sizeof(text), "; %lld of %lld elements differ, the largest error is %.6g at ", (long long)wrong,
           (long long)n, largest);
  s += text + indexText(got, worst);
  snprintf(text, sizeof(text), " (allowed: %g + %g * |expected|)", tolerance.absolute, tolerance.relative);
  return s + text;
}
