//===- Strings.h - helpers of the string operators ------------------------===//
#ifndef OPTC_RUNTIME_OPS_STRINGS_H
#define OPTC_RUNTIME_OPS_STRINGS_H
#include "Common.h"

namespace optc::rt {
inline optc_string *newStrings(optc_tensor &t) { return static_cast<optc_string *>(t.data); }
/// Run-lifetime bytes.
inline char *newBytes(optc_host *h, int64_t n) { return static_cast<char *>(runAlloc(h, n)); }
inline bool equal(const optc_string &a, const optc_string &b) {
  return a.size == b.size && (!a.size || !memcmp(a.data, b.data, size_t(a.size)));
}

/// numpy broadcasting of two operands: the result's shape and, element by element, where the operands' elements are.
struct Broadcast {
  int32_t rank;
  int64_t dims[OPTC_MAX_RANK], strides[2][OPTC_MAX_RANK];
  /// Calls body(i, index in a, index in b).
  template <typename Body> void each(Body body) const {
    int64_t index[OPTC_MAX_RANK] = {0}, at[2] = {0, 0};
    for (int64_t i = 0, total = countElements(rank, dims); i < total; ++i) {
      body(i, at[0], at[1]);
      for (int32_t d = rank - 1; d >= 0; --d) {
        at[0] += strides[0][d];
        at[1] += strides[1][d];
        if (++index[d] < dims[d])
          break;
        at[0] -= strides[0][d] * dims[d];
        at[1] -= strides[1][d] * dims[d];
        index[d] = 0;
      }
    }
  }
};
Broadcast broadcast(optc_host *h, const char *op, const optc_tensor &a, const optc_tensor &b);

/// Decodes one code point and steps over it; a damaged byte stands for itself plus 0x110000.
uint32_t nextCodePoint(const char *&p, const char *end);
/// The other case of a letter: 1 lower, 2 upper; see optc_op_string_normalizer for the alphabets.
uint32_t changeCase(uint32_t c, int to);
/// Appends UTF-8 (or the damaged byte); at most 4 bytes.
char *putCodePoint(char *p, uint32_t c);
} // namespace optc::rt
#endif
