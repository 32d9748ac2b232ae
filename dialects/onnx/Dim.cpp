//===- Dim.cpp - symbolic sizes --------------------------------------------===//
#include "optc/dialects/onnx/Dim.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace optc;

/// Sums and products of more parts stay opaque, so that no expression costs more than a bounded time.
static constexpr size_t maxParts = 48;
static constexpr int64_t lowest = std::numeric_limits<int64_t>::min();

static int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// Whether a new node is at least 0, from what is known of its operands. A flag of the node, because expressions share
/// parts and a walk over them could take exponential time.
static bool provenNonNegative(const DimNode &d) {
  bool left = d.lhs && d.lhs->nonNegative, right = d.rhs && d.rhs->nonNegative;
  switch (d.kind) {
  case DimKind::Const:
    return d.value >= 0;
  case DimKind::Leaf:
    return true;
  case DimKind::Add:
  case DimKind::Mul:
  case DimKind::FloorDiv:
  case DimKind::CeilDiv:
  case DimKind::Min:
  case DimKind::Broadcast:
    return left && right;
  case DimKind::Mod:
    return right;
  case DimKind::Max:
    return left || right;
  case DimKind::Element:
  case DimKind::Sub:
    return false;
  }
  return false;
}

Dim DimTable::intern(DimKind kind, int64_t value, Value tensor, Dim lhs, Dim rhs) {
  Key key(unsigned(kind), value, tensor.getAsOpaquePointer(), lhs, rhs);
  Dim &slot = nodes[key];
  if (slot)
    return slot;
  auto *node = new (allocator.Allocate()) DimNode();
  node->kind = kind;
  node->value = value;
  node->tensor = tensor;
  node->lhs = lhs;
  node->rhs = rhs;
  node->id = nodes.size();
  node->depth = lhs ? 1 + std::max(lhs->depth, rhs->depth) : 0;
  node->dataDependent = kind == DimKind::Element || (lhs && (lhs->dataDependent || rhs->dataDependent));
  node->size = lhs ? std::min(1000u, 1 + lhs->size + rhs->size) : 1;
  node->nonNegative = provenNonNegative(*node);
  return slot = node;
}

Dim DimTable::constant(int64_t value) { return intern(DimKind::Const, value, Value(), nullptr, nullptr); }
Dim DimTable::leaf(Value tensor, int64_t axis) { return intern(DimKind::Leaf, axis, tensor, nullptr, nullptr); }
Dim DimTable::element(Value tensor, int64_t index) { return intern(DimKind::Element, index, tensor, nullptr, nullptr); }
Dim DimTable::make(DimKind kind, Dim lhs, Dim rhs) { return intern(kind, 0, Value(), lhs, rhs); }

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void DimTable::Linear::add(Dim term, int64_t coefficient) {
  auto it = llvm::lower_bound(terms, term, [](const auto &a, Dim b) { return a.first->id < b->id; });
  if (it == terms.end() || it->first != term) {
    terms.insert(it, {term, coefficient});
    return;
  }
  overflow |= bool(llvm::AddOverflow(it->second, coefficient, it->second));
  if (it->second == 0)
    terms.erase(it);
}

void DimTable::addTo(Linear &sum, Dim d, int64_t scale) {
  // Sums are chains of at most maxParts nodes, so the walk is bounded.
  llvm::SmallVector<std::pair<Dim, int64_t>> work = {{d, scale}};
  size_t steps = 0;
  while (!work.empty()) {
    auto [x, s] = work.pop_back_val();
    bool opaque = ++steps > 4 * maxParts;
    if (x->isConst()) {
      int64_t v;
      sum.overflow |= bool(llvm::MulOverflow(x->value, s, v)) || bool(llvm::AddOverflow(sum.constant, v, sum.constant));
    } else if (x->kind == DimKind::Add && !opaque) {
      work.push_back({x->lhs, s});
      work.push_back({x->rhs, s});
    } else if (x->kind == DimKind::Sub && !opaque && s != lowest) {
      work.push_back({x->lhs, s});
      work.push_back({x->rhs, -s});
    } else if (x->kind == DimKind::Mul && x->rhs->isConst() && !opaque) {
      int64_t v;
      sum.overflow |= bool(llvm::MulOverflow(x->rhs->value, s, v));
      work.push_back({x->lhs, v});
    } else if (s) {
      sum.add(x, s);
    }
    if (sum.overflow)
      return;
  }
}

DimTable::Linear DimTable::linear(Dim d) {
  Linear sum;
  addTo(sum, d, 1);
  return sum;
}

Dim DimTable::rebuild(const Linear &sum) {
  Dim result = nullptr;
  auto scaled = [&](Dim term, int64_t c) { return c == 1 ? term : make(DimKind::Mul, term, constant(c)); };
  for (auto [term, c] : sum.terms)
    if (c > 0)
      result = result ? make(DimKind::Add, result, scaled(term, c)) : scaled(term, c);
  bool constantFirst = !result;
  if (constantFirst)
    result = constant(sum.constant);
  for (auto [term, c] : sum.terms)
    if (c < 0)
      result = c == lowest ? make(DimKind::Add, result, scaled(term, c)) : make(DimKind::Sub, result, scaled(term, -c));
  if (constantFirst || sum.constant == 0)
    return result;
  if (sum.constant > 0 || sum.constant == lowest)
    return make(DimKind::Add, result, constant(sum.constant));
  return make(DimKind::Sub, result, constant(-sum.constant));
}

Dim DimTable::add(Dim a, Dim b) {
  Linear sum = linear(a);
  addTo(sum, b, 1);
  if (sum.overflow || sum.terms.size() > maxParts)
    return make(DimKind::Add, a, b);
  return rebuild(sum);
}

Dim DimTable::sub(Dim a, Dim b) {
  Linear sum = linear(a);
  addTo(sum, b, -1);
  if (sum.overflow || sum.terms.size() > maxParts)
    return make(DimKind::Sub, a, b);
  return rebuild(sum);
}

//===----------------------------------------------------------------------===//
// Products and quotients
//===----------------------------------------------------------------------===//

void DimTable::multiplyInto(Product &p, Dim d) {
  llvm::SmallVector<Dim> work = {d};
  size_t steps = 0;
  while (!work.empty() && !p.overflow) {
    Dim x = work.pop_back_val();
    bool opaque = ++steps > 4 * maxParts;
    if (x->isConst()) {
      p.overflow |= bool(llvm::MulOverflow(p.coefficient, x->value, p.coefficient));
      continue;
    }
    if (x->kind == DimKind::Mul && !opaque) {
      work.push_back(x->lhs);
      work.push_back(x->rhs);
      continue;
    }
    if ((x->kind == DimKind::Add || x->kind == DimKind::Sub) && !opaque) {
      // Pull the common factor out of a sum: (2a + 2) * b and 2 * (a + 1) * b are the same.
      Linear sum = linear(x);
      uint64_t g = sum.constant == lowest ? 1 : std::abs(sum.constant);
      for (auto [term, c] : sum.terms)
        g = std::gcd(g, c == lowest ? uint64_t(1) : uint64_t(std::abs(c)));
      if (!sum.overflow && g > 1) {
        for (auto &t : sum.terms)
          t.second /= int64_t(g);
        sum.constant /= int64_t(g);
        p.overflow |= bool(llvm::MulOverflow(p.coefficient, int64_t(g), p.coefficient));
        work.push_back(rebuild(sum));
        continue;
      }
    }
    p.factors.insert(llvm::lower_bound(p.factors, x, [](Dim a, Dim b) { return a->id < b->id; }), x);
  }
}

DimTable::Product DimTable::product(Dim d) {
  Product p;
  multiplyInto(p, d);
  return p;
}

Dim DimTable::rebuild(const Product &p) {
  if (p.coefficient == 0 || p.factors.empty())
    return constant(p.coefficient);
  Dim result = p.factors.front();
  for (Dim f : llvm::drop_begin(p.factors))
    result = make(DimKind::Mul, result, f);
  if (p.coefficient == 1)
    return result;
  // A factor times a sum becomes a sum again.
  Linear sum;
  addTo(sum, result, p.coefficient);
  return sum.overflow ? make(DimKind::Mul, result, constant(p.coefficient)) : rebuild(sum);
}

Dim DimTable::mul(Dim a, Dim b) {
  Product p = product(a);
  multiplyInto(p, b);
  if (p.overflow || p.factors.size() > maxParts)
    return a->id <= b->id ? make(DimKind::Mul, a, b) : make(DimKind::Mul, b, a);
  return rebuild(p);
}

Dim DimTable::divideExactly(Dim a, Dim b) {
  Product divisor = product(b);
  if (divisor.overflow || divisor.coefficient == 0)
    return nullptr;
  Linear sum = linear(a), quotient;
  if (sum.overflow || sum.terms.size() > maxParts)
    return nullptr;
  auto divide = [&](Product p) -> bool {
    if (p.overflow || p.coefficient == lowest || p.coefficient % divisor.coefficient)
      return false;
    for (Dim f : divisor.factors) {
      auto it = llvm::find(p.factors, f);
      if (it == p.factors.end())
        return false;
      p.factors.erase(it);
    }
    p.coefficient /= divisor.coefficient;
    addTo(quotient, rebuild(p), 1);
    return !quotient.overflow;
  };
  // The whole at first: (a + 1) * b / (a + 1).
  if (divide(product(a)))
    return rebuild(quotient);
  quotient = Linear();
  for (auto [term, c] : sum.terms) {
    Product p = product(term);
    p.overflow |= bool(llvm::MulOverflow(p.coefficient, c, p.coefficient));
    if (!divide(p))
      return nullptr;
  }
  if (sum.constant) {
    Product p;
    p.coefficient = sum.constant;
    if (!divide(p))
      return nullptr;
  }
  return rebuild(quotient);
}

Dim DimTable::floorDiv(Dim a, Dim b) {
  if (b->isConst(1))
    return a;
  if (a->isConst() && b->isConst() && b->value != 0 && !(a->value == lowest && b->value == -1))
    return constant(floorDivide(a->value, b->value));
  if (b->isConst(0))
    return make(DimKind::FloorDiv, a, b);
  if (Dim exact = divideExactly(a, b))
    return exact;
  if (!b->isConst() || b->value < 0)
    return make(DimKind::FloorDiv, a, b);
  // floor((c*x + y + q*c + r) / c) = x + q + floor((y + r) / c)
  int64_t c = b->value;
  Linear sum = linear(a), outer, inner;
  if (sum.overflow)
    return make(DimKind::FloorDiv, a, b);
  for (auto [term, k] : sum.terms)
    k % c ? inner.add(term, k) : outer.add(term, k / c);
  outer.constant = floorDivide(sum.constant, c);
  inner.constant = sum.constant - outer.constant * c;
  uint64_t g = c;
  for (auto [term, k] : inner.terms)
    g = std::gcd(g, k == lowest ? uint64_t(1) : uint64_t(std::abs(k)));
  if (g > 1) {
    for (auto &t : inner.terms)
      t.second /= int64_t(g);
    inner.constant /= int64_t(g);
    c /= int64_t(g);
  }
  // floor((floor(x / d) + r) / c) = floor((x + r*d) / (c*d))
  if (inner.terms.size() == 1 && inner.terms[0].second == 1) {
    Dim x = inner.terms[0].first;
    int64_t cd, rd;
    if (x->kind == DimKind::FloorDiv && x->rhs->isConst() && x->rhs->value > 0 &&
        !llvm::MulOverflow(c, x->rhs->value, cd) && !llvm::MulOverflow(inner.constant, x->rhs->value, rd))
      return add(floorDiv(add(x->lhs, rd), constant(cd)), rebuild(outer));
  }
  Dim rest = c == 1 ? rebuild(inner) : make(DimKind::FloorDiv, rebuild(inner), constant(c));
  return outer.terms.empty() && outer.constant == 0 ? rest : add(rest, rebuild(outer));
}

Dim DimTable::ceilDiv(Dim a, Dim b) {
  if (b->isConst() && b->value > 0)
    return floorDiv(add(a, b->value - 1), b);
  if (Dim exact = b->isConst(0) ? nullptr : divideExactly(a, b))
    return exact;
  return make(DimKind::CeilDiv, a, b);
}

Dim DimTable::mod(Dim a, Dim b) {
  if (b->isConst(0))
    return make(DimKind::Mod, a, b);
  if (a->isConst() && b->isConst() && b->value != -1)
    return constant(a->value - floorDivide(a->value, b->value) * b->value);
  if (divideExactly(a, b))
    return constant(0);
  return make(DimKind::Mod, a, b);
}

//===----------------------------------------------------------------------===//
// Min, max, broadcasting
//===----------------------------------------------------------------------===//

/// Orders operands of a commutative operation; a constant comes last.
static void order(Dim &a, Dim &b) {
  if (a->isConst() ? !b->isConst() : (!b->isConst() && b->id < a->id))
    std::swap(a, b);
}

Dim DimTable::min(Dim a, Dim b) {
  Dim difference = sub(a, b);
  if (isNonNegative(difference))
    return b;
  if (isNonNegative(sub(b, a)))
    return a;
  order(a, b);
  return make(DimKind::Min, a, b);
}

Dim DimTable::max(Dim a, Dim b) {
  if (isNonNegative(sub(a, b)))
    return a;
  if (isNonNegative(sub(b, a)))
    return b;
  order(a, b);
  return make(DimKind::Max, a, b);
}

static bool mentions(Dim broadcast, Dim d) {
  for (; broadcast->kind == DimKind::Broadcast; broadcast = broadcast->lhs)
    if (broadcast->lhs == d || broadcast->rhs == d)
      return true;
  return broadcast == d;
}

Dim DimTable::broadcast(Dim a, Dim b) {
  if (a == b || b->isConst(1))
    return a;
  if (a->isConst(1))
    return b;
  if (a->isConst() && b->isConst())
    return nullptr;
  if (a->isConst())
    return a;
  if (b->isConst())
    return b;
  if (mentions(a, b))
    return a;
  if (mentions(b, a))
    return b;
  order(a, b);
  // A chain to the left, so that `mentions` sees every part.
  if (b->kind == DimKind::Broadcast && a->kind != DimKind::Broadcast)
    std::swap(a, b);
  return make(DimKind::Broadcast, a, b);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

void DimTable::print(llvm::raw_ostream &os, Dim d) const {
  auto name = names.find(d);
  if (name != names.end()) {
    os << name->second;
    return;
  }
  if (d->isConst()) {
    os << d->value;
    return;
  }
  if (!d->lhs || d->size > 40) {
    os << '?';
    return;
  }
  static const char *const infix[] = {"", "", "", " + ", " - ", "*"};
  static const char *const prefix[] = {"floordiv", "ceildiv", "mod", "min", "max", "broadcast"};
  unsigned kind = unsigned(d->kind);
  bool isInfix = d->kind <= DimKind::Mul;
  if (!isInfix)
    os << prefix[kind - unsigned(DimKind::FloorDiv)] << '(';
  auto operand = [&](Dim x, bool right) {
    bool parens = isInfix && (x->kind == DimKind::Add || x->kind == DimKind::Sub) &&
                  (d->kind == DimKind::Mul || (d->kind == DimKind::Sub && right));
    if (parens)
      os << '(';
    print(os, x);
    if (parens)
      os << ')';
  };
  operand(d->lhs, false);
  os << (isInfix ? infix[kind] : ", ");
  operand(d->rhs, true);
  if (!isInfix)
    os << ')';
}
