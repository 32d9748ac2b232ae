//===- Views.cpp - operators that keep the elements, and host-side shapes -===//
//
// Reshape and its kin move no data. Shape and Size are scalars of the host program.
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/LoweringUtils.h"
#include "optc/passes/lowering/Movement.h"

using namespace mlir;
using namespace optc;

/// Squeeze and Unsqueeze with axes that only a run knows, as many as `axes` has elements: which of the `rank`
/// dimensions of the longer shape they name, and how many of the others come before each.
namespace {
struct NamedAxes {
  SmallVector<Value> named, before;

  NamedAxes(Lowering &l, Value axes, int64_t count, int64_t rank) {
    IndexBuilder m{l.b, l.loc};
    SmallVector<Value> given;
    for (int64_t i = 0; i < count; ++i) {
      Value axis = l.hostIndex(axes, i);
      given.push_back(m.select(m.lt(axis, m.cst(0)), m.add(axis, m.cst(rank)), axis));
      l.check(m.all(m.ge(given.back(), m.cst(0)), m.lt(given.back(), m.cst(rank))), "an axis is out of range");
    }
    Value others = m.cst(0);
    for (int64_t a = 0; a < rank; ++a) {
      Value hits = m.cst(0);
      for (Value axis : given)
        hits = m.add(hits, m.select(m.eq(axis, m.cst(a)), m.cst(1), m.cst(0)));
      l.check(m.lt(hits, m.cst(2)), "an axis is given twice");
      named.push_back(m.eq(hits, m.cst(1)));
      before.push_back(others);
      others = m.add(others, m.select(named.back(), m.cst(0), m.cst(1)));
    }
  }
};
} // namespace

static void bindSqueezedSizes(Operation *op, Lowering &l) {
  Value data = op->getOperand(0), result = op->getResult(0);
  auto open = [&](Dim d) { return isOwnSize(d, result); };
  if (op->getNumOperands() < 2 || llvm::none_of(l.dims(result), open))
    return;
  bool squeezes = isa<onnx::SqueezeOp>(op);
  ArrayRef<Dim> in = l.dims(data), out = l.dims(result);
  ArrayRef<Dim> longer = squeezes ? in : out, shorter = squeezes ? out : in;
  NamedAxes axes(l, op->getOperand(1), longer.size() - shorter.size(), longer.size());
  IndexBuilder m{l.b, l.loc};
  for (auto [j, d] : llvm::enumerate(out)) {
    if (!open(d))
      continue;
    // Squeeze: the input's dimension that has j others before it. Unsqueeze: 1, or the input's at that count.
    Value size = squeezes ? m.cst(0) : m.cst(1);
    for (auto [a, source] : llvm::enumerate(in)) {
      size_t position = squeezes ? a : j;
      Value chosen = m.eq(axes.before[position], m.cst(squeezes ? j : a));
      Value other = m.select(axes.named[position], m.cst(0), m.cst(1));
      size = m.select(m.all(chosen, m.eq(other, m.cst(1))), l.index(source), size);
    }
    l.bind(d, size);
  }
  if (squeezes)
    for (auto [a, source] : llvm::enumerate(in))
      l.check(m.eq(m.select(axes.named[a], l.index(source), m.cst(1)), m.cst(1)), "a squeezed dimension is not 1");
}

/// Squeeze without axes, where inference took it that sizes which only a run knows are not 1.
static void checkKeptSizes(Operation *op, Lowering &l) {
  if (!isa<onnx::SqueezeOp>(op) || onnx::operand(op, 1))
    return;
  IndexBuilder m{l.b, l.loc};
  for (Dim d : l.dims(op->getResult(0)))
    if (!knownSize(d))
      l.check(m.cmp(arith::CmpIPredicate::ne, l.index(d), m.cst(1)),
              "a size is 1, and without that axis the rank is not the one that other nodes need");
}

static LogicalResult lowerView(Operation *op, Lowering &l) {
  checkKeptSizes(op, l);
  if (isa<onnx::SqueezeOp, onnx::UnsqueezeOp>(op))
    bindSqueezedSizes(op, l);
  Value data = op->getOperand(0), result = op->getResult(0);
  l.set(result, l.view(l.get(data), l.elem(data), l.dims(result)));
  return success();
}

/// The product of sizes.
static Value elements(Lowering &l, ArrayRef<Dim> dims) {
  IndexBuilder m{l.b, l.loc};
  Value n = m.cst(1);
  for (Dim d : dims)
    n = m.mul(n, l.index(d));
  return n;
}

/// Sizes that inference has no expression for: each may be -1 (the rest) or 0 (that of the input) at run time.
static void bindReshapedSizes(Lowering &l, onnx::ReshapeOp op, ArrayRef<Dim> from, ArrayRef<Dim> to) {
  Value result = op.getResult();
  if (llvm::none_of(to, [&](Dim d) { return isOwnSize(d, result); }))
    return;
  IndexBuilder m{l.b, l.loc};
  SmallVector<Value> sizes;
  Value known = m.cst(1);
  for (size_t i = 0; i < to.size(); ++i) {
    Value size = l.hostIndex(op.getShape(), i);
    if (!op.getAllowzero() && i < from.size())
      size = m.select(m.eq(size, m.cst(0)), l.index(from[i]), size);
    sizes.push_back(size);
    known = m.mul(known, m.select(m.eq(size, m.cst(-1)), m.cst(1), size));
  }
  Value rest = m.div(elements(l, from), m.max(known, m.cst(1)));
  for (auto [size, d] : llvm::zip(sizes, to))
    if (isOwnSize(d, result))
      l.bind(d, m.select(m.eq(size, m.cst(-1)), rest, size));
}

/// Reshape may be given sizes that do not fit: that is an error of the run.
static LogicalResult lowerReshape(Operation *op, Lowering &l) {
  Value data = op->getOperand(0), result = op->getResult(0);
  SmallVector<Dim> from = llvm::to_vector(l.dims(data)), to = llvm::to_vector(l.dims(result));
  auto reshape = cast<onnx::ReshapeOp>(op);
  bindReshapedSizes(l, reshape, from, to);
  // Equal sizes cancel; what is left is compared at run time.
  SmallVector<Dim> restFrom, restTo = to;
  for (Dim d : from) {
    auto it = llvm::find(restTo, d);
    if (it == restTo.end())
      restFrom.push_back(d);
    else
      restTo.erase(it);
  }
  if (!restFrom.empty() || !restTo.empty()) {
    bool allKnown = llvm::all_of(from, [](Dim d) { return knownSize(d).has_value(); }) &&
                    llvm::all_of(to, [](Dim d) { return knownSize(d).has_value(); });
    if (!allKnown) {
      IndexBuilder m{l.b, l.loc};
      Value fits = m.eq(elements(l, from), elements(l, to));
      for (Dim d : restTo)
        if (!knownSize(d))
          fits = m.all(fits, m.ge(l.index(d), m.cst(0)));
      l.check(fits, "the new shape has another number of elements than the input");
    } else {
      auto product = [](ArrayRef<Dim> dims) {
        uint64_t n = 1;
        for (Dim d : dims)
          n *= static_cast<uint64_t>(*knownSize(d));
        return n;
      };
      if (product(from) != product(to))
        return unsupported(op,
                           "the new shape has " + Twine(product(to)) + " elements, the input " + Twine(product(from)));
    }
  }
  l.set(result, l.view(l.get(data), l.elem(data), to));
  return success();
}

static LogicalResult lowerIdentity(Operation *op, Lowering &l) {
  l.set(op->getResult(0), l.get(op->getOperand(0)));
  return success();
}

static Value sizesAsTensor(Lowering &l, ArrayRef<Value> sizes, bool scalar) {
  Type i64 = l.b.getI64Type();
  SmallVector<Value> values;
  for (Value size : sizes)
    values.push_back(l.b.createOrFold<arith::IndexCastOp>(l.loc, i64, size));
  SmallVector<int64_t> shape;
  if (!scalar)
    shape.push_back(values.size());
  return tensor::FromElementsOp::create(l.b, l.loc, RankedTensorType::get(shape, i64), values);
}

static LogicalResult lowerShape(Operation *op, Lowering &l) {
  auto shape = cast<onnx::ShapeOp>(op);
  int64_t rank = l.rank(shape.getData());
  auto bound = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  int64_t start = bound(shape.getStart()), end = shape.getEnd() ? bound(*shape.getEnd()) : rank;
  ArrayRef<Dim> dims = l.dims(shape.getData());
  SmallVector<Value> sizes = l.indices(start < end ? dims.slice(start, end - start) : ArrayRef<Dim>());
  l.set(shape.getResult(), sizesAsTensor(l, sizes, /*scalar=*/false));
  return success();
}

static LogicalResult lowerSize(Operation *op, Lowering &l) {
  l.set(op->getResult(0), sizesAsTensor(l, elements(l, l.dims(op->getOperand(0))), /*scalar=*/true));
  return success();
}

static LogicalResult lowerConstant(Operation *op, Lowering &l) {
  auto constant = cast<onnx::ConstantOp>(op);
  if (auto strings = dyn_cast<DenseStringElementsAttr>(constant.getValue())) {
    SmallVector<StringRef> values = llvm::to_vector(strings.getValues<StringRef>());
    l.set(constant.getOutput(), stringConstant(l, values, strings.getType().getShape()));
    return success();
  }
  l.set(constant.getOutput(), l.constant(constant.getValue(), l.elem(constant.getOutput())));
  return success();
}

static LogicalResult lowerConstantOfShape(Operation *op, Lowering &l) {
  auto fill = cast<onnx::ConstantOfShapeOp>(op);
  Value result = fill.getOutput();
  Type elem = l.elem(result);
  SmallVector<Dim> dims = llvm::to_vector(l.dims(result));
  IndexBuilder m{l.b, l.loc};
  for (Dim d : dims)
    if (!knownSize(d))
      l.check(m.ge(l.index(d), m.cst(0)), "a size of the shape is negative");
  ElementsAttr value = fill.getValueAttr();
  if (!value) {
    l.set(result, l.generate("constant_of_shape", elem, dims, [&](OpBuilder &b, Location loc, ValueRange) {
      return ScalarOps{b, loc, elem}.constant(0);
    }));
    return success();
  }
  Value source = l.constant(value, elem);
  Type raw = Lowering::storageType(elem);
  SmallVector<Value> first(cast<ShapedType>(source.getType()).getRank());
  for (Value &i : first)
    i = l.constIndex(0);
  l.set(result, l.generate("constant_of_shape", raw, dims,
                           [&](OpBuilder &b, Location loc, ValueRange) { return l.load(b, loc, source, raw, first); }));
  return success();
}

void optc::registerViewLowerings(LoweringTable &table) {
  for (StringRef name : {"onnx.Flatten", "onnx.Squeeze", "onnx.Unsqueeze"})
    table[name] = lowerView;
  table["onnx.Reshape"] = ranked<lowerReshape>;
  table["onnx.Identity"] = lowerIdentity;
  table["onnx.Shape"] = ranked<lowerShape>;
  table["onnx.Size"] = ranked<lowerSize>;
  table["onnx.Constant"] = lowerConstant;
  table["onnx.ConstantOfShape"] = ranked<lowerConstantOfShape>;
}
