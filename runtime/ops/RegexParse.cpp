//===- RegexParse.cpp - RE2 syntax to a tree ------------------------------===//
//
// Not supported, and refused: Unicode property classes (\p, \P). Back-references and look-around do not exist in RE2
// either.
//
//===----------------------------------------------------------------------===//
#include "Regex.h"
#include <initializer_list>

using namespace optc::rt;
using namespace optc::rt::regex;

static constexpr int kMostDepth = 250, kMostRepeat = 1000;

namespace {

struct Flags {
  bool fold = false, dotAll = false, multi = false;
};

/// Recursive descent over the pattern.
struct Parser {
  optc_host *h;
  const optc_string &pattern;
  const char *p, *end;
  Grow<Node> &nodes;
  Grow<Range> &ranges;
  Flags flags;
  int depth = 0;

  Parser(optc_host *h, const optc_string &s, Grow<Node> &nodes, Grow<Range> &ranges)
      : h(h), pattern(s), p(s.size ? s.data : ""), end(p + s.size), nodes(nodes), ranges(ranges) {}

  [[noreturn]] void refuse(const char *why) {
    fail(h, OPTC_RUN_FAILED, "RegexFullMatch: pattern '%.*s': %s at byte %lld",
         int(pattern.size < 200 ? pattern.size : 200), pattern.size ? pattern.data : "", why,
         (long long)(p - (pattern.size ? pattern.data : p)));
  }
  bool more() const { return p != end; }
  bool take(char c) {
    if (p == end || *p != c)
      return false;
    ++p;
    return true;
  }
  bool takeText(const char *s) {
    size_t n = strlen(s);
    if (size_t(end - p) < n || memcmp(p, s, n))
      return false;
    p += n;
    return true;
  }
  uint32_t codePoint() {
    uint32_t c = nextCodePoint(p, end);
    if (c >= 0x110000)
      refuse("invalid UTF-8");
    return c;
  }

  int32_t node(Kind kind, int32_t a = 0, int32_t b = 0) {
    return nodes.push(h, {kind, false, false, TextStart, a, b, 0, 0});
  }
  int32_t concat(int32_t a, int32_t b) { return a < 0 ? b : node(Concat, a, b); }
  int32_t assertion(Where where) {
    int32_t n = node(Assert);
    nodes.data[n].where = where;
    return n;
  }
  int32_t set(int32_t first, bool negated) {
    int32_t n = node(Set, first, ranges.size - first);
    nodes.data[n].negated = negated;
    nodes.data[n].fold = flags.fold;
    return n;
  }
  int32_t literal(uint32_t c) {
    int32_t first = ranges.size;
    ranges.push(h, {c, c});
    return set(first, false);
  }

  int32_t alternation() {
    if (++depth > kMostDepth)
      refuse("groups nest too deeply");
    int32_t left = sequence();
    while (take('|'))
      left = node(Alternate, left, sequence());
    --depth;
    return left;
  }

  int32_t sequence() {
    int32_t whole = -1;
    while (more() && *p != '|' && *p != ')') {
      if (takeText("\\Q")) {
        while (more() && !takeText("\\E"))
          whole = concat(whole, repeated(literal(codePoint())));
        continue;
      }
      if (int32_t one = atom(); one >= 0)
        whole = concat(whole, repeated(one));
    }
    return whole < 0 ? node(Empty) : whole;
  }

  /// Quantifiers after an atom; laziness does not matter for a full match.
  int32_t repeated(int32_t one) {
    for (int count = 0; more(); ++count) {
      int32_t least, most;
      if (take('*')) {
        least = 0, most = -1;
      } else if (take('+')) {
        least = 1, most = -1;
      } else if (take('?')) {
        least = 0, most = 1;
      } else if (*p == '{') {
        if (!braces(least, most))
          return one; // a literal brace
      } else {
        return one;
      }
      take('?');
      if (count)
        refuse("a quantifier follows a quantifier");
      one = node(Repeat, one);
      nodes.data[one].least = least;
      nodes.data[one].most = most;
    }
    return one;
  }

  bool number(int32_t &v) {
    if (p == end || *p < '0' || *p > '9')
      return false;
    v = 0;
    while (p != end && *p >= '0' && *p <= '9' && v <= kMostRepeat)
      v = v * 10 + (*p++ - '0');
    return true;
  }

  bool braces(int32_t &least, int32_t &most) {
    const char *start = p++;
    if (number(least)) {
      most = least;
      bool bounded = true;
      if (take(','))
        bounded = number(most);
      if (!bounded)
        most = -1;
      if (take('}')) {
        if (least > kMostRepeat || most > kMostRepeat || (bounded && most < least))
          refuse("a repeat count is invalid; 0 to 1000 are supported");
        return true;
      }
    }
    p = start;
    return false;
  }

  int32_t group() {
    Flags outer = flags;
    if (take('?')) {
      if (takeText("P<") || (p + 1 < end && p[0] == '<' && p[1] != '=' && p[1] != '!' && take('<'))) {
        while (more() && *p != '>')
          ++p;
        if (!take('>'))
          refuse("a group's name has no end");
      } else if (!take(':')) {
        bool on = true;
        while (more() && *p != ')' && *p != ':') {
          char c = *p++;
          if (c == '-' && on)
            on = false;
          else if (c == 'i')
            flags.fold = on;
          else if (c == 's')
            flags.dotAll = on;
          else if (c == 'm')
            flags.multi = on;
          else if (c != 'U')
            refuse("a group of this kind is not supported");
        }
        if (take(')'))
          return -1; // flags for the rest of the group around it
        if (!take(':'))
          refuse("a group has no end");
      }
    }
    int32_t inner = alternation();
    if (!take(')'))
      refuse("a group has no end");
    flags = outer;
    return inner;
  }

  int32_t atom() {
    char c = *p;
    switch (c) {
    case '(':
      ++p;
      return group();
    case '[':
      ++p;
      return bracket();
    case '.': {
      ++p;
      int32_t first = ranges.size;
      if (!flags.dotAll)
        ranges.push(h, {'\n', '\n'});
      return set(first, true);
    }
    case '^':
      ++p;
      return assertion(flags.multi ? LineStart : TextStart);
    case '$':
      ++p;
      return assertion(flags.multi ? LineEnd : TextEnd);
    case '*':
    case '+':
    case '?':
      refuse("a quantifier has nothing to repeat");
    case '\\':
      ++p;
      return escape();
    }
    return literal(codePoint());
  }

  static constexpr struct Edge {
    char letter;
    Where where;
  } edges[] = {{'A', TextStart}, {'z', TextEnd}, {'b', WordEdge}, {'B', NoWordEdge}};

  int32_t escape() {
    if (!more())
      refuse("a backslash ends the pattern");
    for (const Edge &e : edges)
      if (take(e.letter))
        return assertion(e.where);
    int32_t first = ranges.size;
    bool negated;
    if (perlClass(negated))
      return set(first, negated);
    if (take('C')) { // any byte; code points are what this matcher has
      return set(first, true);
    }
    return literal(escapedCharacter());
  }

  /// \d \w \s and their complements: pushes ranges.
  bool perlClass(bool &negated) {
    negated = *p == 'D' || *p == 'W' || *p == 'S';
    switch (*p | 32) {
    case 'd':
      ranges.push(h, {'0', '9'});
      break;
    case 'w':
      for (Range r : {Range{'0', '9'}, Range{'A', 'Z'}, Range{'_', '_'}, Range{'a', 'z'}})
        ranges.push(h, r);
      break;
    case 's':
      for (Range r : {Range{'\t', '\n'}, Range{'\f', '\r'}, Range{' ', ' '}})
        ranges.push(h, r);
      break;
    default:
      return false;
    }
    if (uint8_t(*p) < 'A')
      return false;
    ++p;
    return true;
  }

  static int hexDigit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  }

  uint32_t escapedCharacter() {
    static constexpr char names[] = "a\af\fn\nr\rt\tv\v";
    char c = *p;
    for (const char *n = names; *n; n += 2)
      if (c == *n) {
        ++p;
        return uint32_t(n[1]);
      }
    if (c >= '0' && c <= '7') {
      if (c != '0' && !(p + 1 < end && p[1] >= '0' && p[1] <= '7'))
        refuse("back-references are not supported (nor in RE2)");
      uint32_t v = 0;
      for (int i = 0; i < 3 && more() && *p >= '0' && *p <= '7'; ++i)
        v = v * 8 + uint32_t(*p++ - '0');
      return v;
    }
    if (c == 'x') {
      ++p;
      bool braced = take('{');
      uint32_t v = 0;
      int digits = 0;
      for (; more() && hexDigit(*p) >= 0 && digits < (braced ? 8 : 2); ++digits)
        v = v * 16 + uint32_t(hexDigit(*p++));
      if (!digits || (!braced && digits != 2) || (braced && !take('}')) || v > 0x10ffff)
        refuse("a hexadecimal escape is invalid");
      return v;
    }
    if (c == 'p' || c == 'P')
      refuse("Unicode property classes are not supported; use ranges such as [\\x{C0}-\\x{24F}]");
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      refuse("an unknown escape");
    return codePoint();
  }

  /// Pushes all code points outside the ranges from `first` on, instead of them.
  void complement(int32_t first) {
    // Classes are small: order them by insertion.
    for (int32_t i = first + 1; i < ranges.size; ++i)
      for (int32_t k = i; k > first && ranges.data[k].low < ranges.data[k - 1].low; --k) {
        Range r = ranges.data[k];
        ranges.data[k] = ranges.data[k - 1];
        ranges.data[k - 1] = r;
      }
    uint32_t from = 0;
    int32_t number = ranges.size - first;
    for (int32_t i = 0; i < number; ++i) {
      Range r = ranges.data[first + i];
      ranges.data[first + i] = r.low > from ? Range{from, r.low - 1} : Range{1, 0};
      from = r.high + 1 > from ? r.high + 1 : from;
    }
    if (from <= 0x10ffff)
      ranges.push(h, {from, 0x10ffff});
  }

  struct Posix {
    const char *name;
    Range ranges[4];
  };
  bool posixClass() {
    static constexpr Range no = {1, 0};
    static constexpr Posix classes[] = {{"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, no}},
                                        {"alpha", {{'A', 'Z'}, {'a', 'z'}, no, no}},
                                        {"ascii", {{0, 127}, no, no, no}},
                                        {"blank", {{'\t', '\t'}, {' ', ' '}, no, no}},
                                        {"cntrl", {{0, 31}, {127, 127}, no, no}},
                                        {"digit", {{'0', '9'}, no, no, no}},
                                        {"graph", {{'!', '~'}, no, no, no}},
                                        {"lower", {{'a', 'z'}, no, no, no}},
                                        {"print", {{' ', '~'}, no, no, no}},
                                        {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
                                        {"space", {{'\t', '\r'}, {' ', ' '}, no, no}},
                                        {"upper", {{'A', 'Z'}, no, no, no}},
                                        {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
                                        {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}, no}}};
    const char *start = p;
    bool negated = take('^');
    for (const Posix &c : classes) {
      const char *before = p;
      if (takeText(c.name) && takeText(":]")) {
        int32_t first = ranges.size;
        for (const Range &r : c.ranges)
          if (r.low <= r.high)
            ranges.push(h, r);
        if (negated)
          complement(first);
        return true;
      }
      p = before;
    }
    p = start;
    return false;
  }

  int32_t bracket() {
    int32_t first = ranges.size;
    bool negated = take('^');
    for (bool begin = true; begin || !more() || *p != ']'; begin = false) {
      if (!more())
        refuse("a bracket has no end");
      if (takeText("[:")) {
        if (posixClass())
          continue;
        refuse("an unknown character class");
      }
      uint32_t low;
      if (take('\\')) {
        if (!more())
          refuse("a bracket has no end");
        int32_t at = ranges.size;
        bool other;
        if (perlClass(other)) {
          if (other)
            complement(at);
          continue;
        }
        low = escapedCharacter();
      } else {
        low = codePoint();
      }
      uint32_t high = low;
      if (p + 1 < end && p[0] == '-' && p[1] != ']') {
        ++p;
        high = take('\\') ? (more() ? escapedCharacter() : 0) : codePoint();
        if (high < low)
          refuse("a range is the wrong way round");
      }
      ranges.push(h, {low, high});
    }
    ++p;
    return set(first, negated);
  }
};

} // namespace

int32_t optc::rt::regex::parse(optc_host *h, const optc_string &pattern, Grow<Node> &nodes, Grow<Range> &ranges) {
  Parser parser(h, pattern, nodes, ranges);
  int32_t root = parser.alternation();
  if (parser.more())
    parser.refuse("a group ends that did not begin");
  return root;
}
