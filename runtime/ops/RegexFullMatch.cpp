//===- RegexFullMatch.cpp - a set-of-states automaton ---------------------===//
//
// The tree becomes a program of at most kMostCode instructions; all its states advance over the text at once. Time is
// pattern times text, whatever the pattern.
//
//===----------------------------------------------------------------------===//
#include "Regex.h"

using namespace optc::rt;
using namespace optc::rt::regex;

static constexpr int32_t kMostCode = 200000;

namespace {

enum Op : uint8_t { OpSet, OpSplit, OpJump, OpAssert, OpMatch };

/// OpSet: accepts node x; OpSplit: goes on at x and y; OpJump: at x.
struct Code {
  Op op;
  Where where;
  int32_t x, y;
};

/// The automaton.
struct Matcher {
  optc_host *h;
  const Node *nodes = nullptr;
  const Range *ranges = nullptr;
  Grow<Code> code;
  int64_t work = 0;

  [[noreturn]] void tooLarge() {
    fail(h, OPTC_RUN_FAILED, "RegexFullMatch: the pattern's repeat counts multiply to too large an automaton");
  }
  int32_t emit(Op op, int32_t x = 0, int32_t y = 0) {
    if (code.size >= kMostCode)
      tooLarge();
    return code.push(h, {op, TextStart, x, y});
  }

  void compile(int32_t n) {
    if (++work > 4 * kMostCode) // repeats of nothing emit nothing
      tooLarge();
    const Node &node = nodes[n];
    switch (node.kind) {
    case Empty:
      return;
    case Set:
      emit(OpSet, n);
      return;
    case Assert: {
      int32_t at = emit(OpAssert); // may move the code
      code.data[at].where = node.where;
      return;
    }
    case Concat: { // chains lean to the left: walked without recursion
      int32_t parts = 0;
      for (int32_t k = n; nodes[k].kind == Concat; k = nodes[k].a)
        ++parts;
      auto *chain = static_cast<int32_t *>(runAlloc(h, int64_t(parts + 1) * 4));
      int32_t at = parts, k = n;
      for (; nodes[k].kind == Concat; k = nodes[k].a)
        chain[at--] = nodes[k].b;
      chain[0] = k;
      for (int32_t i = 0; i <= parts; ++i)
        compile(chain[i]);
      return;
    }
    case Alternate: {
      int32_t parts = 0;
      for (int32_t k = n; nodes[k].kind == Alternate; k = nodes[k].a)
        ++parts;
      auto *chain = static_cast<int32_t *>(runAlloc(h, int64_t(parts + 1) * 8)), *jumps = chain + parts + 1;
      int32_t at = parts, k = n;
      for (; nodes[k].kind == Alternate; k = nodes[k].a)
        chain[at--] = nodes[k].b;
      chain[0] = k;
      for (int32_t i = 0; i <= parts; ++i) {
        int32_t split = i < parts ? emit(OpSplit, code.size + 1) : -1;
        compile(chain[i]);
        if (i < parts) {
          jumps[i] = emit(OpJump);
          code.data[split].y = code.size;
        }
      }
      for (int32_t i = 0; i < parts; ++i)
        code.data[jumps[i]].x = code.size;
      return;
    }
    case Repeat: {
      for (int32_t i = 0; i < node.least; ++i)
        compile(node.a);
      if (node.most < 0) {
        int32_t split = emit(OpSplit, code.size + 1);
        compile(node.a);
        emit(OpJump, split);
        code.data[split].y = code.size;
        return;
      }
      int32_t options = node.most - node.least;
      auto *splits = static_cast<int32_t *>(runAlloc(h, int64_t(options + 1) * 4));
      for (int32_t i = 0; i < options; ++i) {
        splits[i] = emit(OpSplit, code.size + 1);
        compile(node.a);
      }
      for (int32_t i = 0; i < options; ++i)
        code.data[splits[i]].y = code.size;
      return;
    }
    }
  }

  bool inRanges(const Node &n, uint32_t c) const {
    for (int32_t i = 0; i < n.b; ++i)
      if (c >= ranges[n.a + i].low && c <= ranges[n.a + i].high)
        return true;
    return false;
  }
  bool accepts(const Node &n, uint32_t c) const {
    if (c >= 0x110000)
      return false;
    bool found = inRanges(n, c) || (n.fold && (inRanges(n, changeCase(c, 1)) || inRanges(n, changeCase(c, 2))));
    return found != n.negated;
  }

  static bool isWord(uint32_t c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z');
  }
  static bool holds(Where where, uint32_t before, uint32_t after) {
    switch (where) {
    case TextStart:
      return before == ~0u;
    case TextEnd:
      return after == ~0u;
    case LineStart:
      return before == ~0u || before == '\n';
    case LineEnd:
      return after == ~0u || after == '\n';
    case WordEdge:
      return isWord(before) != isWord(after);
    case NoWordEdge:
      return isWord(before) == isWord(after);
    }
    return false;
  }

  // A sparse set of states; `stack` serves the closure over instructions that read nothing.
  int32_t *states[2], *seen, *stack;
  int32_t sizes[2];
  int32_t generation = 0;

  void prepare() {
    int64_t n = code.size;
    for (int i = 0; i < 2; ++i)
      states[i] = allocArray<int32_t>(h, n);
    seen = allocArray<int32_t>(h, n);
    stack = allocArray<int32_t>(h, 2 * n + 2);
    memset(seen, 0, size_t(n) * 4);
  }

  void add(int list, int32_t start, uint32_t before, uint32_t after) {
    int32_t top = 0;
    stack[top++] = start;
    while (top) {
      int32_t s = stack[--top];
      if (seen[s] == generation)
        continue;
      seen[s] = generation;
      const Code &c = code.data[s];
      if (c.op == OpJump) {
        stack[top++] = c.x;
      } else if (c.op == OpSplit) {
        stack[top++] = c.y;
        stack[top++] = c.x;
      } else if (c.op == OpAssert) {
        if (holds(c.where, before, after))
          stack[top++] = s + 1;
      } else {
        states[list][sizes[list]++] = s;
      }
    }
  }

  void nextGeneration() {
    if (++generation < INT32_MAX)
      return;
    memset(seen, 0, size_t(code.size) * 4);
    generation = 1;
  }

  bool matches(const optc_string &text) {
    const char *p = text.size ? text.data : "", *end = p + text.size;
    uint32_t before = ~0u, c = p == end ? ~0u : nextCodePoint(p, end);
    int now = 0;
    sizes[0] = sizes[1] = 0;
    nextGeneration();
    add(0, 0, before, c);
    while (c != ~0u && sizes[now]) {
      uint32_t after = p == end ? ~0u : nextCodePoint(p, end);
      int other = 1 - now;
      sizes[other] = 0;
      nextGeneration();
      for (int32_t i = 0; i < sizes[now]; ++i) {
        const Code &s = code.data[states[now][i]];
        if (s.op == OpSet && accepts(nodes[s.x], c))
          add(other, states[now][i] + 1, c, after);
      }
      before = c;
      c = after;
      now = other;
    }
    for (int32_t i = 0; c == ~0u && i < sizes[now]; ++i)
      if (code.data[states[now][i]].op == OpMatch)
        return true;
    return false;
  }
};

} // namespace

OPTC_OP(regex_full_match) {
  checkCall(h, "RegexFullMatch", n, 2, attrs, 0, m, 1);
  requireStrings(h, "RegexFullMatch", in[0]);
  requireStrings(h, "RegexFullMatch", in[1]);
  if (count(in[1]) != 1)
    fail(h, OPTC_RUN_FAILED, "RegexFullMatch: one pattern is needed");
  out[0] = makeTensor(h, OPTC_BOOL, in[0].rank, in[0].dims);
  Grow<Node> nodes;
  Grow<Range> ranges;
  int32_t root = parse(h, strings(in[1])[0], nodes, ranges);
  Matcher matcher = {};
  matcher.h = h;
  matcher.nodes = nodes.data;
  matcher.ranges = ranges.data;
  matcher.compile(root);
  matcher.emit(OpMatch);
  Scratch scratch(h);
  matcher.prepare();
  auto *dst = static_cast<uint8_t *>(out[0].data);
  for (int64_t i = 0, total = count(in[0]); i < total; ++i)
    dst[i] = matcher.matches(strings(in[0])[i]);
  return 0;
}
