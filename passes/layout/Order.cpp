//===- Order.cpp - orders of dimensions, and views through them -----------===//
#include "optc/passes/layout/Layout.h"

using namespace mlir;
using namespace optc;
using namespace optc::layout;

Order layout::identityOrder(size_t rank) { return llvm::to_vector(llvm::seq<int64_t>(0, rank)); }

bool layout::isIdentity(ArrayRef<int64_t> order) { return llvm::equal(order, llvm::seq<int64_t>(0, order.size())); }

bool layout::sameMemory(ArrayRef<int64_t> shape, ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  auto counts = [&](int64_t d) { return shape[d] != 1; };
  return llvm::equal(llvm::make_filter_range(a, counts), llvm::make_filter_range(b, counts));
}

RankedTensorType layout::storedType(RankedTensorType type, ArrayRef<int64_t> order) {
  return RankedTensorType::get(inOrder(type.getShape(), order), type.getElementType());
}

Order layout::orderByLoops(ArrayRef<int64_t> dimLoops, ArrayRef<int64_t> loops) {
  int64_t rank = dimLoops.size();
  auto rankOf = [&](int64_t d) { return llvm::find(loops, dimLoops[d]) - loops.begin(); };
  auto isPlaced = [&](int64_t d) { return dimLoops[d] >= 0 && llvm::is_contained(loops, dimLoops[d]); };
  Order placed;
  for (int64_t d = 0; d < rank; ++d)
    if (isPlaced(d))
      placed.push_back(d);
  llvm::stable_sort(placed, [&](int64_t a, int64_t b) { return rankOf(a) < rankOf(b); });
  Order result;
  int64_t first = 0;
  for (; first < rank && !isPlaced(first); ++first)
    result.push_back(first);
  for (int64_t d : placed) {
    result.push_back(d);
    for (int64_t next = d + 1; next < rank && !isPlaced(next); ++next)
      result.push_back(next);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static Size sizeOf(Value tensor, int64_t dim);

static Size sizeOf(Value scalar) {
  if (std::optional<int64_t> constant = getConstantIntValue(scalar))
    return {*constant, {}, -1};
  if (auto dim = scalar.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> index = dim.getConstantIndex();
        index && *index >= 0 && *index < dim.getSource().getType().getRank())
      return sizeOf(dim.getSource(), *index);
  return {ShapedType::kDynamic, scalar, -1};
}

/// The size of dynamic dimension `dim` among scalars that list the dynamic sizes of `type`.
static Size dynamicSize(RankedTensorType type, int64_t dim, ValueRange sizes) {
  return sizeOf(sizes[type.getDynamicDimIndex(dim)]);
}

static Size sizeOf(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return {type.getDimSize(dim), {}, -1};
  Operation *def = tensor.getDefiningOp();
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(def))
    return dynamicSize(type, dim, empty.getDynamicSizes());
  if (auto view = dyn_cast_or_null<kernel::ViewOp>(def))
    return dynamicSize(type, dim, view.getDims());
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(def))
    return dynamicSize(type, dim, slice.getSizes());
  if (auto concat = dyn_cast_or_null<tensor::ConcatOp>(def); concat && dim != static_cast<int64_t>(concat.getDim()))
    return sizeOf(concat.getInputs()[0], dim);
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(def); cast && isa<RankedTensorType>(cast.getSource().getType()))
    return sizeOf(cast.getSource(), dim);
  if (auto structured = dyn_cast_or_null<linalg::LinalgOp>(def))
    return sizeOf(structured.getDpsInits()[llvm::cast<OpResult>(tensor).getResultNumber()], dim);
  return {ShapedType::kDynamic, tensor, dim};
}

SmallVector<Size> layout::sizesOf(Value tensor) {
  SmallVector<Size> sizes;
  for (int64_t d = 0, rank = cast<RankedTensorType>(tensor.getType()).getRank(); d < rank; ++d)
    sizes.push_back(sizeOf(tensor, d));
  return sizes;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {
/// A piece of the elements' order that lies in one dimension of either side of a view.
struct Atom {
  int64_t source, result;
};
} // namespace

/// Takes the first dimensions of both sides whose products are equal: one pair of equal sizes, or constants. Cuts them
/// at all places where either side is cut; false when there are none, or when the cuts of one side do not divide those
/// of the other ([2, 3] as [3, 2]).
static bool takeFront(ArrayRef<Size> source, ArrayRef<Size> result, ArrayRef<int64_t> &sourceDims,
                      ArrayRef<int64_t> &resultDims, SmallVectorImpl<Atom> &atoms) {
  ArrayRef<int64_t> s = sourceDims, r = resultDims;
  if (s.empty() || r.empty())
    return false;
  if (source[s.front()] == result[r.front()]) {
    atoms.push_back({s.front(), r.front()});
    sourceDims = s.drop_front();
    resultDims = r.drop_front();
    return true;
  }
  SmallVector<Atom> cut;
  int64_t a = 1, b = 1, sourceDim = 0, resultDim = 0; // what is left of the current dimensions
  auto next = [](ArrayRef<Size> sizes, ArrayRef<int64_t> &dims, int64_t &dim, int64_t &left) {
    if (left != 1)
      return true;
    if (dims.empty() || !sizes[dims.front()].isConstant())
      return false;
    dim = dims.front();
    left = sizes[dim].constant;
    dims = dims.drop_front();
    return true;
  };
  do {
    if (!next(source, s, sourceDim, a) || !next(result, r, resultDim, b))
      return false;
    int64_t piece = std::min(a, b);
    if (piece < 2 || a % piece || b % piece)
      return false;
    cut.push_back({sourceDim, resultDim});
    a /= piece;
    b /= piece;
  } while (a != 1 || b != 1);
  atoms.append(cut.begin(), cut.end());
  sourceDims = s;
  resultDims = r;
  return true;
}

static std::optional<SmallVector<Atom>> atomsOf(ArrayRef<Size> source, ArrayRef<Size> result) {
  auto counting = [](ArrayRef<Size> sizes) {
    SmallVector<int64_t> dims;
    for (auto [d, size] : llvm::enumerate(sizes))
      if (!size.isUnit())
        dims.push_back(d);
    return dims;
  };
  SmallVector<int64_t> sourceDims = counting(source), resultDims = counting(result);
  // From the front, then from the back; what is left in between is one dimension of one side.
  SmallVector<Atom> atoms, back;
  auto take = [&](SmallVectorImpl<Atom> &to) {
    ArrayRef<int64_t> s = sourceDims, r = resultDims;
    while (takeFront(source, result, s, r, to))
      continue;
    sourceDims = SmallVector<int64_t>(llvm::reverse(s));
    resultDims = SmallVector<int64_t>(llvm::reverse(r));
  };
  take(atoms);
  take(back);
  if (sourceDims.empty() != resultDims.empty() || (sourceDims.size() > 1 && resultDims.size() > 1))
    return std::nullopt;
  for (int64_t s : sourceDims)
    for (int64_t r : resultDims)
      atoms.push_back({s, r});
  atoms.append(back.rbegin(), back.rend());
  return atoms;
}

std::optional<Order> layout::throughView(ArrayRef<Size> source, ArrayRef<Size> result, ArrayRef<int64_t> order) {
  std::optional<SmallVector<Atom>> atoms = atomsOf(source, result);
  if (!atoms)
    return std::nullopt;
  // Positions of atoms in memory, then the result's dimensions as they appear; each must be one run of its atoms.
  Order dims;
  int64_t previous = -1;
  SmallVector<int64_t> left(result.size(), 0);
  for (const Atom &atom : *atoms)
    ++left[atom.result];
  for (int64_t d : order)
    for (auto [i, atom] : llvm::enumerate(*atoms)) {
      if (atom.source != d)
        continue;
      bool continues =
          previous >= 0 && static_cast<int64_t>(i) == previous + 1 && !dims.empty() && dims.back() == atom.result;
      if (!continues) {
        bool starts = i == 0 || (*atoms)[i - 1].result != atom.result;
        if (!starts || (!dims.empty() && left[dims.back()] != 0))
          return std::nullopt;
        dims.push_back(atom.result);
      }
      --left[atom.result];
      previous = i;
    }
  if (!dims.empty() && left[dims.back()] != 0)
    return std::nullopt;
  // Dimensions of size 1 go behind the one before them.
  SmallVector<int64_t> dimLoops(result.size(), -1);
  for (auto [position, d] : llvm::enumerate(dims))
    dimLoops[d] = position;
  return orderByLoops(dimLoops, identityOrder(dims.size()));
}
