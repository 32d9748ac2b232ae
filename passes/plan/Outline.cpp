//===- Outline.cpp - a dispatch as a function of raw buffers --------------===//
//
// func.func private @relu_0(%in: !llvm.ptr, %out: !llvm.ptr, %n: index, %first: index, %last: index) {
//   %m = kernel.bind %in[%n] : memref<?xf32>
//   %x = bufferization.to_tensor %m restrict
//   %o = kernel.bind %out[%n] : memref<?xf32>
//   %dest = bufferization.to_tensor %o restrict writable
//   %y = linalg.generic ins(%x) outs(%dest)
//   bufferization.materialize_in_destination %y in restrict writable %o
//
// In place, %x is %dest and %in is missing: a buffer argument never aliases another one.
//===----------------------------------------------------------------------===//
#include "optc/passes/plan/Outline.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "optc/dialects/kernel/Storage.h"
#include "optc/dialects/kernel/TensorTile.h"

using namespace mlir;
using namespace optc;

/// Letters, digits and underscores of a label.
static std::string symbolPart(StringRef label) {
  std::string out;
  for (char c : label)
    out += llvm::isAlnum(c) ? c : '_';
  return out;
}

Captures::Captures(kernel::DispatchOp dispatch) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(dispatch.getBody(), captured);
  for (Value value : captured) {
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    if (isa<RankedTensorType>(value.getType()))
      inputs.push_back(value);
    else if (constant)
      known.push_back(constant);
    else
      scalars.push_back(value);
  }
  if (auto strategy = dispatch.getStrategyAttr()) {
    groups = kernel::tileGroups(strategy);
    scratch = strategy.getScratch();
  }
}

bool optc::canComputeInPlace(kernel::DispatchOp dispatch, Value input) {
  auto strategy = dispatch.getStrategyAttr();
  const kernel::Family *family = strategy ? kernel::findFamily(strategy.getFamily()) : nullptr;
  if (strategy && !(family && family->inPlace))
    return false;
  Block &body = dispatch.getBody().front();
  if (dispatch.getNumResults() != 1 || input.getType() != dispatch.getResultTypes()[0])
    return false;
  Value destination = body.getArgument(0);
  auto op = body.getTerminator()->getOperand(0).getDefiningOp<linalg::LinalgOp>();
  if (!op || op->getBlock() != &body || op->getNumResults() != 1 || !destination.hasOneUse() ||
      op.getDpsInits()[0] != destination || op.getNumParallelLoops() != op.getNumLoops())
    return false;
  auto isIdentity = [&](OpOperand &operand) { return op.getMatchingIndexingMap(&operand).isIdentity(); };
  return isIdentity(*op.getDpsInitOperand(0)) && llvm::all_of(input.getUses(), [&](OpOperand &use) {
           bool isInside = dispatch->isProperAncestor(use.getOwner());
           return !isInside || (use.getOwner() == op && op.isDpsInput(&use) && isIdentity(use));
         });
}

/// The buffer of a tensor as a memref, with the strides of the memory that the tensor is a part of.
static kernel::BindOp bind(OpBuilder &b, Location loc, Value tensor, Value ptr, ValueRange dims) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> stored = kernel::storedShape(tensor);
  if (kernel::isContiguous(type.getShape(), stored))
    return kernel::BindOp::create(b, loc, MemRefType::get(type.getShape(), type.getElementType()), ptr, dims,
                                  /*stored=*/nullptr);
  auto layout = StridedLayoutAttr::get(b.getContext(), /*offset=*/0, kernel::stridesOf(stored));
  return kernel::BindOp::create(b, loc, MemRefType::get(type.getShape(), type.getElementType(), layout), ptr, dims,
                                b.getDenseI64ArrayAttr(stored));
}

FlatSymbolRefAttr KernelOutliner::outline(kernel::DispatchOp dispatch, const Captures &captures, Value inPlace) {
  MLIRContext *context = dispatch.getContext();
  OpBuilder b(context);
  Location loc = dispatch.getLoc();
  SmallVector<Value> tensors = captures.inputs;
  llvm::erase(tensors, inPlace);
  size_t numInputs = tensors.size();
  llvm::append_range(tensors, dispatch.getResults());
  Type ptr = LLVM::LLVMPointerType::get(context), index = b.getIndexType();
  SmallVector<Type> args(tensors.size(), ptr);
  for (Value tensor : tensors)
    args.append(cast<RankedTensorType>(tensor.getType()).getNumDynamicDims(), index);
  for (Value scalar : captures.scalars)
    args.push_back(scalar.getType());
  args.append(2, index);

  auto func = func::FuncOp::create(loc, "kernel", b.getFunctionType(args, {}));
  func.setPrivate();
  func->setAttr("kernel.entry", b.getI64IntegerAttr(tensors.size()));
  if (auto strategy = dispatch.getStrategyAttr())
    func->setAttr("kernel.strategy", strategy);
  bool onDevice = kernel::spaceOf(dispatch.getStrategyAttr()) == kernel::MemorySpace::Device;
  if (auto generic = dispatch->getAttrOfType<kernel::StrategyAttr>(kernel::kGenericStrategy); generic && onDevice)
    func->setAttr(kernel::kGenericStrategy, generic);
  for (size_t i = 0; i < tensors.size(); ++i) {
    func.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    if (i < numInputs)
      func.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
    // A device's vectors have to be aligned; buffers are, parts of them may not be.
    if (int64_t alignment = kernel::alignmentOf(tensors[i]); onDevice && alignment < kernel::kBufferAlignment)
      func.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(alignment));
  }
  Block *entry = func.addEntryBlock();
  b.setInsertionPointToEnd(entry);
  IRMapping map;
  for (arith::ConstantOp constant : captures.known)
    b.clone(*constant, map);
  SmallVector<Value> destinations;
  unsigned nextDim = tensors.size();
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<Value> dims;
    for (size_t d = 0; d < type.getNumDynamicDims(); ++d)
      dims.push_back(entry->getArgument(nextDim++));
    kernel::BindOp memref = bind(b, loc, tensor, entry->getArgument(i), dims);
    bool isResult = i >= numInputs;
    auto bound = bufferization::ToTensorOp::create(b, loc, type, memref, /*restrict=*/true, /*writable=*/isResult);
    if (isResult) {
      map.map(dispatch.getBody().front().getArgument(i - numInputs), bound.getResult());
      destinations.push_back(memref);
      if (inPlace)
        map.map(inPlace, bound.getResult());
    } else {
      map.map(tensor, bound.getResult());
    }
  }
  for (Value scalar : captures.scalars)
    map.map(scalar, entry->getArgument(nextDim++));
  for (Operation &op : dispatch.getBody().front().without_terminator())
    b.clone(op, map);
  auto yield = cast<kernel::YieldOp>(dispatch.getBody().front().getTerminator());
  for (auto [value, memref] : llvm::zip(yield.getValues(), destinations))
    bufferization::MaterializeInDestinationOp::create(b, loc, TypeRange(), map.lookupOrDefault(value), memref,
                                                      /*restrict=*/true, /*writable=*/true);
  func::ReturnOp::create(b, loc);

  std::string text;
  llvm::raw_string_ostream os(text);
  func->print(os, OpPrintingFlags().useLocalScope());
  FlatSymbolRefAttr &symbol = bodies[text];
  if (symbol) {
    func->erase();
  } else {
    std::string name = "k" + std::to_string(bodies.size() - 1) + "_" + symbolPart(dispatch.getLabel());
    func.setName(name);
    if (onDevice)
      func->setAttr("kernel.device_index", b.getI32IntegerAttr(deviceKernels++));
    module.push_back(func);
    symbol = FlatSymbolRefAttr::get(context, name);
  }
  return symbol;
}
