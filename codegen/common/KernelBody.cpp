//===- KernelBody.cpp - what an emitter works on --------------------------===//
#include "optc/codegen/common/KernelBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/kernel/Storage.h"

using namespace mlir;
using namespace optc;
using namespace optc::codegen;

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

Value IndexEmitter::c(int64_t v) const { return arith::ConstantIndexOp::create(b, v); }
Value IndexEmitter::add(Value x, Value y) const { return b.createOrFold<arith::AddIOp>(x, y); }
Value IndexEmitter::sub(Value x, Value y) const { return b.createOrFold<arith::SubIOp>(x, y); }
Value IndexEmitter::mul(Value x, Value y) const { return b.createOrFold<arith::MulIOp>(x, y); }
Value IndexEmitter::div(Value x, Value y) const { return b.createOrFold<arith::DivUIOp>(x, y); }
Value IndexEmitter::rem(Value x, Value y) const { return b.createOrFold<arith::RemUIOp>(x, y); }
Value IndexEmitter::min(Value x, Value y) const { return b.createOrFold<arith::MinSIOp>(x, y); }

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The op that binds the buffer of a tensor, through the tensor made of it.
static kernel::BindOp bindOf(Value tensor) {
  if (auto toTensor = tensor.getDefiningOp<bufferization::ToTensorOp>())
    return toTensor.getBuffer().getDefiningOp<kernel::BindOp>();
  return nullptr;
}

static Value flatten(ImplicitLocOpBuilder &b, kernel::BindOp bind) {
  auto type = cast<MemRefType>(bind.getMemref().getType());
  // Of a part, all memory from its first element on that it could reach.
  SmallVector<int64_t> shape(bind.getStored().value_or(type.getShape()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(bind);
  if (!ShapedType::isDynamicShape(shape))
    return kernel::BindOp::create(b, MemRefType::get({ShapedType::getNumElements(shape)}, type.getElementType()),
                                  bind.getPtr(), ValueRange(), /*stored=*/nullptr);
  IndexEmitter index{b};
  Value size = index.c(1);
  ValueRange dynamic = bind.getDims();
  for (auto [own, stored] : llvm::zip(type.getShape(), shape)) {
    size = index.mul(size, ShapedType::isDynamic(stored) ? dynamic.front() : index.c(stored));
    if (ShapedType::isDynamic(own))
      dynamic = dynamic.drop_front();
  }
  return kernel::BindOp::create(b, MemRefType::get({ShapedType::kDynamic}, type.getElementType()), bind.getPtr(), size,
                                /*stored=*/nullptr);
}

KernelBody::KernelBody(func::FuncOp func) : func(func), b(func.getLoc(), func.getContext()) {
  strategy = func->getAttrOfType<kernel::StrategyAttr>("kernel.strategy");
  b.setInsertionPoint(func.getBody().front().getTerminator());
  func.walk([&](linalg::LinalgOp op) { structured.push_back(op); });
  // The first result, whose sizes tiles are cut from.
  bufferization::MaterializeInDestinationOp first;
  func.walk([&](bufferization::MaterializeInDestinationOp op) {
    if (!first)
      first = op;
  });
  auto bind = first.getDest().getDefiningOp<kernel::BindOp>();
  ValueRange dynamic = bind.getDims();
  for (int64_t d : cast<MemRefType>(bind.getMemref().getType()).getShape()) {
    sizes.push_back(ShapedType::isDynamic(d) ? dynamic.front() : index.c(d));
    if (ShapedType::isDynamic(d))
      dynamic = dynamic.drop_front();
  }
}

LogicalResult KernelBody::refuse(const Twine &why, Operation *op) {
  return (op ? op : func.getOperation())->emitError("the ")
         << strategy.getFamily().getValue() << " family cannot emit kernel '" << func.getName() << "': " << why;
}

SmallVector<linalg::GenericOp> KernelBody::generics() const {
  SmallVector<linalg::GenericOp> found;
  for (linalg::LinalgOp op : structured)
    if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
      found.push_back(generic);
  return found;
}

Value KernelBody::flat(Value tensor) {
  if (auto packed = tensor.getDefiningOp<kernel::PackedOp>())
    tensor = packed.getPanels();
  Value &known = flats[tensor];
  if (!known)
    if (kernel::BindOp bind = bindOf(tensor))
      known = flatten(b, bind);
  return known;
}

Value KernelBody::destination(Value tensor) {
  for (Operation *user : tensor.getUsers())
    if (auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(user))
      if (auto bind = store.getDest().getDefiningOp<kernel::BindOp>()) {
        Value &known = flats[bind.getMemref()];
        if (!known)
          known = flatten(b, bind);
        return known;
      }
  return Value();
}

Value KernelBody::boundDim(Value tensor, unsigned dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  unsigned position = 0;
  for (unsigned i = 0; i < dim; ++i)
    position += type.isDynamicDim(i);
  if (kernel::BindOp bind = bindOf(tensor))
    return bind.getDims()[position];
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return empty.getDynamicSizes()[position];
  if (auto view = tensor.getDefiningOp<kernel::ViewOp>())
    return view.getDims()[position];
  if (auto padded = tensor.getDefiningOp<kernel::PaddedOp>())
    return padded.getDims()[position];
  // A destination and its fill have one size.
  if (auto op = tensor.getDefiningOp<linalg::LinalgOp>())
    return boundDim(op.getDpsInits()[cast<OpResult>(tensor).getResultNumber()], dim);
  // Only a hand-written module gets here (--start-from); lowerKernel ends the compilation.
  func.emitError("kernel '") << func.getName() << "' asks for the size of a tensor that has no buffer: " << type;
  broken = true;
  return index.c(0);
}

Value KernelBody::dim(Value tensor, unsigned dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.isDynamicDim(dim) ? boundDim(tensor, dim) : index.c(type.getDimSize(dim));
}

Value KernelBody::storedDim(Value tensor, unsigned dim) {
  int64_t stored = kernel::storedShape(tensor)[dim];
  return ShapedType::isDynamic(stored) ? this->dim(tensor, dim) : index.c(stored);
}

Value KernelBody::size(const kernel::SizeExpr &expr) {
  Value product = index.c(expr.factor);
  for (const kernel::RuntimeSize &r : expr.runtime)
    product = index.mul(product, boundDim(r.tensor, r.dim));
  return product;
}

Value KernelBody::offsetAlong(const kernel::LoopNest &nest, const kernel::NestOperand &operand,
                              ArrayRef<unsigned> loops, Value flat) {
  if (loops.empty())
    return index.c(0);
  if (nest.isFlat(operand, loops))
    return index.mul(flat, size(operand.strides[loops.back()]));
  Value offset = index.c(0), rest = flat;
  for (unsigned loop : llvm::reverse(loops)) {
    bool outermost = loop == loops.front();
    Value count = size(nest.sizes[loop]);
    Value at = outermost ? rest : index.rem(rest, count);
    rest = outermost ? rest : index.div(rest, count);
    if (operand.moves(loop))
      offset = index.add(offset, index.mul(at, size(operand.strides[loop])));
  }
  return offset;
}

void KernelBody::forTiles(llvm::function_ref<void(ArrayRef<TileRange>)> body) {
  SmallVector<kernel::TileGroup> groups = kernel::tileGroups(strategy);
  SmallVector<Value> extents, counts;
  for (const kernel::TileGroup &group : groups) {
    Value extent = index.c(1);
    for (Value size : ArrayRef(sizes).slice(group.firstDim, group.numDims))
      extent = index.mul(extent, size);
    extents.push_back(extent);
    counts.push_back(index.div(index.add(extent, index.c(group.tile - 1)), index.c(group.tile)));
  }
  if (!tiles.begin) {
    ValueRange args = func.getArguments().take_back(2);
    tiles = {args[0], args[1], index.c(1)};
  }
  auto loop = scf::ForOp::create(b, tiles.begin, tiles.end, tiles.step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<TileRange> ranges(groups.size());
  Value rest = loop.getInductionVar();
  for (size_t i = groups.size(); i-- > 0;) {
    Value at = i == 0 ? rest : index.rem(rest, counts[i]);
    rest = i == 0 ? rest : index.div(rest, counts[i]);
    Value tile = index.c(groups[i].tile);
    ranges[i].begin = index.mul(at, tile);
    // A static extent that tiles divide has one tile height only.
    std::optional<int64_t> extent = getConstantIntValue(extents[i]);
    bool even = extent && *extent % groups[i].tile == 0;
    ranges[i].count = even ? tile : index.min(tile, index.sub(extents[i], ranges[i].begin));
  }
  body(ranges);
}

void KernelBody::finish() {
  SmallVector<Operation *> dead;
  func.walk([&](bufferization::MaterializeInDestinationOp op) { dead.push_back(op); });
  for (Operation *op : dead)
    op->erase();
  dead.clear();
  func.walk([&](Operation *op) {
    if (isa<linalg::LinalgOp, kernel::ViewOp, tensor::InsertSliceOp, tensor::ExtractSliceOp, tensor::CastOp>(op))
      dead.push_back(op);
  });
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  structured.clear();
  // What only they used, users before what they use.
  SmallVector<Operation *> rest;
  for (Operation &op : llvm::reverse(func.getBody().front()))
    rest.push_back(&op);
  for (Operation *op : rest)
    if (isOpTriviallyDead(op) || (isa<bufferization::ToTensorOp>(op) && op->use_empty()))
      op->erase();
}
