//===- CastString.cpp - numbers to text and back --------------------------===//
//
// The text of a float is the shortest that reads back as the same number, printed the way numpy does. The C locale is
// used whatever the program's locale is.
//
//===----------------------------------------------------------------------===//
#include "Strings.h"
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

using namespace optc::rt;

/// Switches this thread to the C locale. Must be left before an operator fails.
namespace {
struct PlainLocale {
  locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr), before = nullptr;
  PlainLocale() { before = plain ? uselocale(plain) : nullptr; }
  ~PlainLocale() {
    if (plain) {
      uselocale(before);
      freelocale(plain);
    }
  }
};
} // namespace

/// Rounds to the precision of the type, to see whether a text reads back.
static double roundTo(optc_dtype dtype, double v) {
  if (dtype == OPTC_DOUBLE)
    return v;
  if (dtype == OPTC_FLOAT)
    return double(float(v));
  if (dtype == OPTC_FLOAT16)
    return halfToFloat(doubleToHalf(v));
  uint32_t b = uint32_t(doubleToBfloat(v)) << 16;
  float f;
  memcpy(&f, &b, 4);
  return f;
}

static int floatText(optc_dtype dtype, double v, char *text, size_t room) {
  if (v != v)
    return snprintf(text, room, "nan");
  if (v - v != 0)
    return snprintf(text, room, v < 0 ? "-inf" : "inf");
  char digits[40];
  int precision = 0;
  do
    snprintf(digits, sizeof(digits), "%.*e", precision, v);
  while (precision++ < 17 && roundTo(dtype, strtod(digits, nullptr)) != v);
  int exponent = atoi(strchr(digits, 'e') + 1);
  if (exponent < -4 || exponent >= 16) {
    // 1e-05, 1.5e+20
    return snprintf(text, room, "%s", digits);
  }
  // The digits found, with zeros around them: more digits of v would say more than its type holds.
  char *p = text, *d = digits;
  if (*d == '-')
    *p++ = *d++;
  if (precision > 1)
    d[1] = d[0], ++d; // over the point
  int next = 0;
  auto digit = [&] { return next < precision ? d[next++] : '0'; };
  for (int place = exponent < 0 ? 0 : exponent; place >= 0; --place)
    *p++ = place > exponent ? '0' : digit();
  *p++ = '.';
  for (int place = -1; place == -1 || next < precision; --place)
    *p++ = place > exponent ? '0' : digit();
  *p = 0;
  return int(p - text);
}

static int elementText(const optc_tensor &x, int64_t i, char *text, size_t room) {
  switch (x.dtype) {
  case OPTC_BOOL:
    return snprintf(text, room, numberAt(x, i) != 0 ? "True" : "False");
  case OPTC_INT64:
    return snprintf(text, room, "%lld", (long long)static_cast<const int64_t *>(x.data)[i]);
  case OPTC_UINT64:
    return snprintf(text, room, "%llu", (unsigned long long)static_cast<const uint64_t *>(x.data)[i]);
  case OPTC_FLOAT:
  case OPTC_DOUBLE:
  case OPTC_FLOAT16:
  case OPTC_BFLOAT16:
    return floatText(x.dtype, numberAt(x, i), text, room);
  }
  return snprintf(text, room, "%.0f", numberAt(x, i)); // integers of up to 32 bits are exact
}

OPTC_OP(cast_to_string) {
  checkCall(h, "Cast", n, 1, attrs, 0, m, 1);
  const optc_tensor &x = in[0];
  if (!isNumber(x.dtype) || x.dtype == OPTC_COMPLEX64 || x.dtype == OPTC_COMPLEX128)
    fail(h, OPTC_RUN_FAILED, "Cast: %s has no text form", optc_dtype_name(x.dtype));
  out[0] = makeTensor(h, OPTC_STRING, x.rank, x.dims);
  optc_string *dst = newStrings(out[0]);
  // All memory first: a failure must not leave the locale changed.
  int64_t total = count(x), bytes;
  constexpr int64_t most = 48;
  char *text = newBytes(h, mulSize(total, most, bytes) ? bytes : -1);
  PlainLocale locale;
  for (int64_t i = 0; i < total; ++i) {
    dst[i] = {text, elementText(x, i, text, most)};
    text += dst[i].size;
  }
  return 0;
}

static bool sameLetters(const char *s, const char *lower) {
  for (; *s && *lower; ++s, ++lower)
    if ((*s >= 'A' && *s <= 'Z' ? *s + 32 : *s) != *lower)
      return false;
  return !*s && !*lower;
}

/// A number in `text`; false when there is none.
static bool parse(const char *text, optc_dtype dtype, double &v, uint64_t &exact) {
  char *end;
  const char *p = text;
  while (*p == ' ' || (*p >= '\t' && *p <= '\r'))
    ++p;
  if (!*p)
    return false;
  if (dtype == OPTC_INT64 || dtype == OPTC_UINT64) {
    errno = 0;
    exact = dtype == OPTC_INT64 ? uint64_t(strtoll(p, &end, 10)) : strtoull(p, &end, 10);
    while (*end == ' ')
      ++end;
    if (!*end && end != p && !errno)
      return true;
  }
  const char *word = p + (*p == '+' || *p == '-');
  if (sameLetters(word, "nan"))
    v = NAN;
  else if (sameLetters(word, "inf") || sameLetters(word, "infinity"))
    v = *p == '-' ? -INFINITY : INFINITY;
  else if (dtype == OPTC_BOOL && (sameLetters(p, "true") || sameLetters(p, "false")))
    v = sameLetters(p, "true");
  else {
    // strtod also reads hexadecimal and nan(...), which are no numbers here.
    for (const char *c = p; *c; ++c)
      if (!((*c >= '0' && *c <= '9') || *c == '+' || *c == '-' || *c == '.' || *c == 'e' || *c == 'E' || *c == ' '))
        return false;
    // Straight to float where the type is float: via double would round twice.
    v = dtype == OPTC_FLOAT ? double(strtof(p, &end)) : strtod(p, &end);
    while (*end == ' ')
      ++end;
    if (*end || end == p)
      return false;
  }
  if (dtype == OPTC_INT64)
    exact = v >= 0x1p63 ? uint64_t(INT64_MAX) : v >= -0x1p63 ? uint64_t(int64_t(v)) : uint64_t(INT64_MIN);
  if (dtype == OPTC_UINT64)
    exact = v >= 0x1p64 ? UINT64_MAX : v > 0 ? uint64_t(v) : 0;
  return true;
}

OPTC_OP(cast_from_string) {
  checkCall(h, "Cast", n, 1, attrs, 1, m, 1);
  const optc_tensor &x = in[0];
  requireStrings(h, "Cast", x);
  auto dtype = optc_dtype(attr[0]);
  if (!isNumber(dtype))
    fail(h, OPTC_RUN_FAILED, "Cast: strings become no %s", optc_dtype_name(dtype));
  out[0] = makeTensor(h, dtype, x.rank, x.dims);
  char text[256];
  int64_t bad = -1, total = count(x);
  {
    PlainLocale locale;
    for (int64_t i = 0; i < total && bad < 0; ++i) {
      const optc_string &s = strings(x)[i];
      double v = 0;
      uint64_t exact = 0;
      bool fits = s.size < int64_t(sizeof(text));
      if (fits && s.size)
        memcpy(text, s.data, size_t(s.size));
      text[fits ? s.size : 0] = 0;
      if (!fits || !parse(text, dtype, v, exact))
        bad = i;
      else if (dtype == OPTC_INT64 || dtype == OPTC_UINT64)
        static_cast<uint64_t *>(out[0].data)[i] = exact;
      else
        storeNumber(out[0], i, v);
    }
  }
  if (bad >= 0) {
    const optc_string &s = strings(x)[bad];
    fail(h, OPTC_RUN_FAILED, "Cast: element %lld, '%.*s', is not a number", (long long)bad,
         int(s.size < 60 ? s.size : 60), s.data ? s.data : "");
  }
  return 0;
}
