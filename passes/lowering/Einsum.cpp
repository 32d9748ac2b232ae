//===- Einsum.cpp - Einsum as a chain of contractions ---------------------===//
//
// Operands are combined from left to right; a label is summed as soon as neither the output nor a later operand has it:
//   "bij,bjk,kl->il"  becomes  "bij,bjk->bik"-like steps of one linalg.generic each.
// Labels of size 1 disappear (views), so that what is left indexes its operands directly.
//===----------------------------------------------------------------------===//
#include "optc/dialects/onnx/Einsum.h"
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/DimMath.h"

using namespace mlir;
using namespace optc;

using Iter = utils::IteratorType;

namespace {
using Label = int;

struct Term {
  SmallVector<Label> labels;
  Lowering::Input input;
};

struct Equation {
  SmallVector<Term> terms;
  SmallVector<Label> output;
  Label numEllipsis = 0; ///< labels below stand for the axes of the ellipsis, which broadcast
};

FailureOr<Equation> parseEquation(Operation *op, Lowering &l) {
  auto einsum = cast<onnx::EinsumOp>(op);
  SmallVector<int64_t> ranks;
  for (Value v : einsum.getInputs())
    ranks.push_back(l.rank(v));
  llvm::Expected<EinsumEquation> parsed = parseEinsum(einsum.getEquation(), ranks);
  if (!parsed)
    return unsupported(op, "attribute 'equation': " + llvm::toString(parsed.takeError())), failure();
  Equation e;
  e.numEllipsis = parsed->numEllipsis;
  e.output.assign(parsed->output.begin(), parsed->output.end());
  for (auto [labels, value] : llvm::zip(parsed->inputs, einsum.getInputs()))
    e.terms.push_back({SmallVector<Label>(labels.begin(), labels.end()), l.input(value)});
  return e;
}

/// Sizes of all labels: the first occurrence that is not 1 decides, or all of an ellipsis axis together.
DenseMap<Label, Dim> sizesOf(Lowering &l, const Equation &e) {
  DenseMap<Label, Dim> sizes;
  for (const Term &term : e.terms)
    for (auto [label, dim] : llvm::zip(term.labels, term.input.dims)) {
      auto [it, isNew] = sizes.try_emplace(label, dim);
      if (!isNew && isConst(it->second, 1))
        it->second = dim;
      else if (Dim both = !isNew && label < e.numEllipsis ? l.shapes.broadcast(it->second, dim) : nullptr)
        it->second = both;
    }
  return sizes;
}

/// Makes every axis of the term have exactly its label's size: drops axes of size 1, expands those that may be 1 at run
/// time.
void normalise(Lowering &l, Term &term, const DenseMap<Label, Dim> &sizes, Label numEllipsis) {
  Lowering::Input &in = term.input;
  bool repeats = llvm::any_of(llvm::enumerate(term.labels), [&](auto it) {
    return llvm::is_contained(ArrayRef(term.labels).take_front(it.index()), it.value());
  });
  SmallVector<Dim> full;
  bool expand = false;
  for (auto [label, dim] : llvm::zip(term.labels, in.dims)) {
    Dim size = sizes.lookup(label);
    if (label >= numEllipsis && !isConst(dim, 1))
      requireEqual(l, dim, size, "the sizes of a label differ");
    expand |= dim != size && !constOf(dim) && label < numEllipsis;
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
static Term contractTerms(Lowering &l, ArrayRef<Term> terms, ArrayRef<Label> out, Type accElem,
                          const DenseMap<Label, Dim> &sizes) {
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
  Value result =
      l.contract("einsum", inputs, maps, iterators, accElem, dims, ScalarOps{l.b, l.loc, accElem}.constantInt(0),
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
  DenseMap<Label, Dim> sizes = sizesOf(l, e);
  for (Term &term : e.terms)
    normalise(l, term, sizes, e.numEllipsis);
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
              (llvm::is_contained(output, label) ||
               llvm::any_of(rest, [&](const Term &t) { return llvm::is_contained(t.labels, label); })))
            keep.push_back(label);
    }
    acc = contractTerms(l, now, keep, accElem, sizes);
  } while (!rest.empty());
  Value result = convertElements(l, acc.input.lowered, accElem, elem, acc.input.dims);
  l.set(einsum.getOutput(), l.view(result, elem, l.dims(einsum.getOutput())));
  return success();
}
