//===- Einsum.cpp - Einsum as a chain of contractions ---------------------===//
//
// Operands are combined from left to right; a label is summed as soon as neither the output nor a later operand has it:
//   "bij,bjk,kl->il"  becomes  "bij,bjk->bik"-like steps of one linalg.generic each.
// Labels of size 1 disappear (views), so that what is left indexes its operands directly.
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/DimMath.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace optc;

using Iter = utils::IteratorType;

namespace {
/// One axis label: a letter, or the n-th axis of the ellipsis counted from its right end (numbers from 256 on).
using Label = int;
constexpr Label kEllipsis = 256;

struct Term {
  SmallVector<Label> labels;
  Lowering::Input input;
};

/// The letters of one side of the equation; -1 stands for an ellipsis. Fails on anything else.
FailureOr<SmallVector<Label>> parseTerm(Operation *op, StringRef text) {
  SmallVector<Label> labels;
  for (size_t i = 0; i < text.size(); ++i) {
    char ch = text[i];
    if (llvm::isSpace(ch))
      continue;
    if (llvm::isAlpha(ch)) {
      labels.push_back(ch);
    } else if (text.substr(i).starts_with("...") && !llvm::is_contained(labels, -1)) {
      labels.push_back(-1);
      i += 2;
    } else {
      return unsupported(op, "attribute 'equation' has an unexpected '" + Twine(ch) + "' in the term '" + text.trim() + "'"), failure();
    }
  }
  return labels;
}

/// Replaces an ellipsis by the labels of `count` axes.
SmallVector<Label> expandEllipsis(ArrayRef<Label> labels, int64_t count) {
  SmallVector<Label> result;
  for (Label label : labels) {
    if (label != -1) {
      result.push_back(label);
      continue;
    }
    for (int64_t i = count; i > 0; --i)
      result.push_back(kEllipsis + i - 1);
  }
  return result;
}

struct Equation {
  SmallVector<Term> terms;
  SmallVector<Label> output;
};

FailureOr<Equation> parseEquation(Operation *op, Lowering &l) {
  auto einsum = cast<onnx::EinsumOp>(op);
  auto [left, right] = einsum.getEquation().split("->");
  bool hasOutput = einsum.getEquation().contains("->");
  SmallVector<StringRef> texts;
  left.split(texts, ',');
  auto inputs = einsum.getInputs();
  if (texts.size() != inputs.size())
    return unsupported(op, "attribute 'equation' has " + Twine(texts.size()) + " terms, but the node has " + Twine(inputs.size()) + " inputs"), failure();
  Equation e;
  int64_t ellipsis = 0;
  for (auto [text, value] : llvm::zip(texts, inputs)) {
    FailureOr<SmallVector<Label>> labels = parseTerm(op, text);
    if (failed(labels))
      return failure();
    int64_t rank = l.rank(value), named = llvm::count_if(*labels, [](Label x) { return x != -1; });
    bool open = llvm::is_contained(*labels, -1);
    if (open ? rank < named : rank != named)
      return unsupported(op, "the term '" + text.trim() + "' of attribute 'equation' does not fit an input of rank " + Twine(rank)), failure();
    ellipsis = std::max(ellipsis, rank - named);
    e.terms.push_back({expandEllipsis(*labels, rank - named), l.input(value)});
  }
  if (hasOutput) {
    FailureOr<SmallVector<Label>> labels = parseTerm(op, right);
    if (failed(labels))
      return failure();
    e.output = expandEllipsis(*labels, ellipsis);
  } else {
    // The ellipsis, then the letters that occur once, in alphabetical order.
    llvm::MapVector<Label, int> counts;
    for (Term &term : e.terms)
      for (Label label : term.labels)
        ++counts[label];
    e.output = expandEllipsis({-1}, ellipsis);
    SmallVector<Label> letters;
    for (auto [label, count] : counts)
      if (label < kEllipsis && count == 1)
        letters.push_back(label);
    llvm::sort(letters);
    llvm::append_range(e.output, letters);
  }
  for (size_t i = 0; i < e.output.size(); ++i)
    if (Label label = e.output[i];
        llvm::is_contained(ArrayRef(e.output).take_front(i), label) ||
        llvm::none_of(e.terms, [&](Term &t) { return llvm::is_contained(t.labels, label); }))
      return unsupported(op, "the output of attribute 'equation' repeats a label or has one that no input has"), failure();
  return e;
}

/// Sizes of all labels: the first occurrence that is not 1 decides.
DenseMap<Label, Dim> sizesOf(const Equation &e) {
  DenseMap<Label, Dim> sizes;
  for (const Term &term : e.terms)
    for (auto [label, dim] : llvm::zip(term.labels, term.input.dims)) {
      auto [it, isNew] = sizes.try_emplace(label, dim);
      if (!isNew && isConst(it->second, 1))
        it->second = dim;
    }
  return sizes;
}

/// Makes every axis of the term have exactly its label's size: drops axes of size 1, expands those that may be 1 at run time.
void normalise(Lowering &l, Term &term, const DenseMap<Label, Dim> &sizes) {
  Lowering::Input &in = term.input;
  bool repeats = llvm::any_of(llvm::enumerate(term.labels), [&](auto it) {
    return llvm::is_contained(ArrayRef(term.labels).take_front(it.index()), it.value());
  });
  SmallVector<Dim> full;
  bool expand = false;
  for (auto [label, dim] : llvm::zip(term.labels, in.dims)) {
    Dim size = sizes.lookup(label);
    if (label < kEllipsis && !isConst(dim, 1))
      requireEqual(l, dim, size, "the sizes of a label differ");
    expand |= dim != size && !constOf(dim) && label >= kEllipsis;
    full.push_back(isConst(dim, 1) ? dim : size);
  }
  if (expand && !repeats) {
    requireBroadcast(l, in.dims, full, "the axes of the ellipsis do not broadcast");
    in.lowered = l.elementwise(in, in.elem, full, [](OpBuilder &, Location, ValueRange v) { return v[0]; });
    in.dims = full;
  }
  SmallVector<Dim> kept;
  SmallVector<Label> labels;
  for (auto [label, dim] : llvm::zip(term.labels, in.dims))
    if (!isConst(dim, 1)) {
      kept.push_back(dim);
      labels.push_back(label);
    }
  if (kept.size() != in.dims.size())
    in.lowered = l.view(in.lowered, in.elem, kept);
  in.dims = kept;
  term.labels = labels;
}
} // namespace

/// One contraction of `terms` into the labels `out`.
static Term contractTerms(Lowering &l, ArrayRef<Term> terms, ArrayRef<Label> out, Type accElem, const DenseMap<Label, Dim> &sizes) {
  SmallVector<Label> loops(out.begin(), out.end());
  for (const Term &term : terms)
    for (Label label : term.labels)
      if (!llvm::is_contained(loops, label))
        loops.push_back(label);
  MLIRContext *ctx = l.b.getContext();
  auto mapOf = [&](ArrayRef<Label> labels) {
    SmallVector<AffineExpr> exprs;
    for (Label label : labels)
      exprs.push_back(getAffineDimExpr(llvm::find(loops, label) - loops.begin(), ctx));
    return AffineMap::get(loops.size(), 0, exprs, ctx);
  };
  SmallVector<Lowering::Input> inputs;
  SmallVector<AffineMap> maps;
  for (const Term &term : terms) {
    inputs.push_back(term.input);
    maps.push_back(mapOf(term.labels));
  }
  maps.push_back(mapOf(out));
  SmallVector<Iter> iterators(out.size(), Iter::parallel);
  iterators.resize(loops.size(), Iter::reduction);
  SmallVector<Dim> dims;
  for (Label label : out)
    dims.push_back(sizes.lookup(label));
  bool reduces = loops.size() != out.size();
  Value result = l.contract("einsum", inputs, maps, iterators, accElem, dims, ScalarOps{l.b, l.loc, accElem}.constantInt(0),
                            [&](OpBuilder &b, Location loc, ValueRange in, Value acc) -> Value {
                              ScalarOps ops{b, loc, accElem};
                              Value product;
                              for (auto [value, term] : llvm::zip(in, terms)) {
                                Value v = value;
                                if (Lowering::computeType(term.input.elem) != Lowering::computeType(accElem))
                                  v = castScalar(b, loc, v, term.input.elem, accElem);
                                product = product ? ops.mul(product, v) : v;
                              }
                              return reduces && acc ? ops.add(acc, product) : product;
                            });
  return {llvm::to_vector(out), {result, accElem, dims}};
}

LogicalResult optc::lowerEinsum(Operation *op, Lowering &l) {
  auto einsum = cast<onnx::EinsumOp>(op);
  FailureOr<Equation> parsed = parseEquation(op, l);
  if (failed(parsed))
    return failure();
  Equation &e = *parsed;
  DenseMap<Label, Dim> sizes = sizesOf(e);
  for (Term &term : e.terms)
    normalise(l, term, sizes);
  SmallVector<Label> output;
  for (Label label : e.output)
    if (!isConst(sizes.lookup(label), 1))
      output.push_back(label);

  Type elem = l.elem(einsum.getOutput()), accElem = accumulatorOf(elem);
  Term acc = e.terms.front();
  ArrayRef<Term> rest = ArrayRef(e.terms).drop_front();
  do {
    SmallVector<Term> now = {acc};
    if (!rest.empty()) {
      now.push_back(rest.front());
      rest = rest.drop_front();
    }
    SmallVector<Label> keep;
    if (rest.empty()) {
      keep = output;
    } else {
      for (const Term &term : now)
        for (Label label : term.labels)
          if (!llvm::is_contained(keep, label) &&
              (llvm::is_contained(output, label) || llvm::any_of(rest, [&](const Term &t) { return llvm::is_contained(t.labels, label); })))
            keep.push_back(label);
    }
    acc = contractTerms(l, now, keep, accElem, sizes);
  } while (!rest.empty());
  Value result = convertElements(l, acc.input.lowered, accElem, elem, acc.input.dims);
  l.set(einsum.getOutput(), l.view(result, elem, l.dims(einsum.getOutput())));
  return success();
}
