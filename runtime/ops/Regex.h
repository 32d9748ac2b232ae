//===- Regex.h - what the parser of patterns hands to the matcher ---------===//
#ifndef OPTC_RUNTIME_OPS_REGEX_H
#define OPTC_RUNTIME_OPS_REGEX_H
#include "Strings.h"

namespace optc::rt::regex {

/// A growing array in run memory.
template <typename T> struct Grow {
  T *data = nullptr;
  int32_t size = 0, capacity = 0;
  int32_t push(optc_host *h, const T &v) {
    if (size == capacity) {
      capacity = capacity ? capacity * 2 : 32;
      auto *grown = static_cast<T *>(runAlloc(h, int64_t(capacity) * int64_t(sizeof(T))));
      if (size)
        memcpy(grown, data, size_t(size) * sizeof(T));
      data = grown;
    }
    data[size] = v;
    return size++;
  }
};

struct Range {
  uint32_t low, high;
};

enum Kind : uint8_t { Empty, Set, Concat, Alternate, Repeat, Assert };
enum Where : uint8_t { TextStart, TextEnd, LineStart, LineEnd, WordEdge, NoWordEdge };

struct Node {
  Kind kind;
  bool negated, fold;  // Set
  Where where;         // Assert
  int32_t a, b;        // children; Set: first range and number of ranges; Repeat: child a
  int32_t least, most; // Repeat; most -1: no bound
};

/// The tree of a pattern: its root is the result. Ends the run when the pattern is wrong or not supported.
int32_t parse(optc_host *h, const optc_string &pattern, Grow<Node> &nodes, Grow<Range> &ranges);

} // namespace optc::rt::regex
#endif
