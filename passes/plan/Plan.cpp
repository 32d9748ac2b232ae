//===- Plan.cpp - from tensors to the host program and placed buffers -----===//
//
// One walk over @main in program order rewrites tensor values into pairs of an address and sizes:
//   kernel.dispatch        -> buffers for the results, kernel.launch
//   tensor.dim, .extract   -> the size at hand, kernel.load
//   kernel.view, .cast     -> nothing: the same address, other sizes
//   tensor.extract_slice   -> an address in its source (Parts.cpp)
//   tensor.concat          -> nothing: its parts were computed in their places
//   scf.if/for/while       -> the same op carrying addresses and run-time sizes (Control.cpp)
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/kernel/TensorTile.h"
#include "optc/dialects/onnx/Types.h"
#include "optc/passes/Passes.h"
#include "optc/passes/plan/Boundary.h"
#include "optc/passes/plan/Planner.h"
#include "llvm/Support/MathExtras.h"

namespace optc {
#define GEN_PASS_DEF_PLAN
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

int64_t Planner::elementBytes(Type type) {
  if (isa<kernel::StringType, onnx::StringType>(type))
    return 16;
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * elementBytes(complex.getElementType());
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

SmallVector<Value> Planner::allDims(RankedTensorType type, ValueRange dynamic) {
  SmallVector<Value> dims;
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      dims.push_back(constIndex(size));
      continue;
    }
    dims.push_back(dynamic.front());
    dynamic = dynamic.drop_front();
  }
  return dims;
}

SmallVector<Value> Planner::dynamicDims(RankedTensorType type, const Buffer &buffer) {
  SmallVector<Value> dims;
  for (auto [size, dim] : llvm::zip(type.getShape(), buffer.dims))
    if (ShapedType::isDynamic(size))
      dims.push_back(dim);
  return dims;
}

Buffer Planner::bufferAt(Value ptr, RankedTensorType type, llvm::function_ref<Value(int64_t)> dimOf) {
  Buffer made;
  made.ptr = ptr;
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    made.dims.push_back(ShapedType::isDynamic(size) ? dimOf(d) : constIndex(size));
  return made;
}

Value Planner::numElements(Location loc, RankedTensorType type, ArrayRef<Value> dims) {
  int64_t known = 1;
  for (int64_t size : type.getShape())
    known *= ShapedType::isDynamic(size) ? 1 : size;
  Value count = constIndex(known);
  for (auto [size, dim] : llvm::zip(type.getShape(), dims))
    if (ShapedType::isDynamic(size))
      count = mul(loc, count, dim);
  return count;
}

Value Planner::numBytes(Location loc, RankedTensorType type, ArrayRef<Value> dims) {
  return mul(loc, numElements(loc, type, dims), constIndex(elementBytes(type.getElementType())));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void Planner::use(Value value) {
  auto it = buffers.find(value);
  if (it != buffers.end())
    for (int root : it->second.roots)
      arena.touch(root, position);
}

Buffer &Planner::buffer(Value tensor) {
  use(tensor);
  return buffers[tensor];
}

Buffer Planner::allocate(Location loc, RankedTensorType type, SmallVector<Value> dims) {
  Buffer result;
  result.dims = std::move(dims);
  if (type.hasStaticShape()) {
    auto op = kernel::ArenaOp::create(b, loc, ptrType, int64_t(0));
    int64_t bytes = std::max<int64_t>(type.getNumElements() * elementBytes(type.getElementType()), 1);
    result.roots.push_back(arena.add(op, bytes, position));
    result.ptr = op;
    return result;
  }
  // Other than numBytes, kernel.byte_size does not wrap: whatever follows can count on the buffer.
  int64_t factor = elementBytes(type.getElementType());
  for (int64_t size : type.getShape())
    factor *= ShapedType::isDynamic(size) ? 1 : size;
  Value bytes = kernel::ByteSizeOp::create(b, loc, b.getIndexType(), dynamicDims(type, result), factor);
  auto alloc = kernel::AllocOp::create(b, loc, ptrType, bytes);
  result.roots.push_back(arena.add(alloc, position));
  result.ptr = alloc;
  return result;
}

Buffer Planner::allocateResult(Location loc, Value value, SmallVector<Value> dims) {
  auto type = cast<RankedTensorType>(value.getType());
  auto it = directOutputs.find(value);
  if (it == directOutputs.end())
    return allocate(loc, type, std::move(dims));
  auto outType = cast<RankedTensorType>(main.getFunctionType().getResult(it->second));
  SmallVector<Value> outDims = outType == type ? dims : allDims(outType, {});
  Value ptr = kernel::OutputOp::create(b, loc, ptrType, it->second, outDims);
  return Buffer{ptr, std::move(dims), {}};
}

Value Planner::emptyDescriptor(Location loc) {
  Value null = LLVM::ZeroOp::create(b, loc, ptrType);
  return kernel::DescribeOp::create(b, loc, ptrType, null, 0, ValueRange());
}

Value Planner::descriptor(Location loc, Value value, int32_t dtype) {
  auto it = descriptors.find(value);
  if (it != descriptors.end() && !buffers.count(value))
    return it->second;
  if (isa<NoneType>(value.getType()))
    return emptyDescriptor(loc);
  Buffer &source = buffer(value);
  return kernel::DescribeOp::create(b, loc, ptrType, source.ptr, dtype, source.dims);
}

void Planner::appendCarriedTypes(Type type, SmallVectorImpl<Type> &out) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    out.push_back(ptrType);
    out.append(tensor.getNumDynamicDims(), b.getIndexType());
  } else {
    out.push_back(isa<kernel::ValueType>(type) ? ptrType : type);
  }
}

void Planner::appendCarried(Location loc, Value value, SmallVectorImpl<Value> &out) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType())) {
    Buffer &source = buffer(value);
    out.push_back(source.ptr);
    llvm::append_range(out, dynamicDims(type, source));
  } else if (isa<kernel::ValueType>(value.getType())) {
    out.push_back(descriptors.lookup(value));
  } else {
    out.push_back(scalars.lookupOrDefault(value));
  }
}

unsigned Planner::takeCarried(Value value, ValueRange from, ArrayRef<int> roots) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType())) {
    unsigned count = 1 + type.getNumDynamicDims();
    buffers[value] = Buffer{from[0], allDims(type, from.slice(1, count - 1)), llvm::to_vector(roots)};
    return count;
  }
  if (isa<kernel::ValueType>(value.getType()))
    descriptors[value] = from[0];
  else
    scalars.map(value, from[0]);
  return 1;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

kernel::MemorySpace Planner::spaceOfProgram(func::FuncOp main) {
  bool usesDevice = main->walk([](kernel::DispatchOp op) {
                          return kernel::spaceOf(op.getStrategyAttr()) == kernel::MemorySpace::Device
                                     ? WalkResult::interrupt()
                                     : WalkResult::advance();
                        })
                        .wasInterrupted();
  return usesDevice ? kernel::MemorySpace::Device : kernel::MemorySpace::Host;
}

bool Planner::runsOnCopies(kernel::DispatchOp op) const { return kernel::spaceOf(op.getStrategyAttr()) != space; }

void Planner::reportFallback(Operation *op, const Twine &what) {
  std::string text = ("host fallback: " + what + " on copies of its tensors in host memory").str();
  op->emitRemark(text);
  fallbacks.push_back(b.getStringAttr(text));
}

Value Planner::numTiles(Location loc, ArrayRef<Value> dims, ArrayRef<kernel::TileGroup> groups) {
  Value tiles = constIndex(1);
  for (const kernel::TileGroup &group : groups) {
    Value extent = constIndex(1);
    for (Value dim : dims.slice(group.firstDim, group.numDims))
      extent = mul(loc, extent, dim);
    tiles = mul(loc, tiles, arith::CeilDivUIOp::create(b, loc, extent, constIndex(group.tile)));
  }
  return tiles;
}

LogicalResult Planner::convertDispatch(kernel::DispatchOp op) {
  Location loc = op.getLoc();
  Captures kernel(op);
  bool onCopies = runsOnCopies(op);
  auto isPart = [](Value tensor) { return !kernel::isContiguous(tensor); };
  if (onCopies && (llvm::any_of(kernel.inputs, isPart) || llvm::any_of(op.getResults(), isPart)))
    return op.emitOpError("works on copies of its tensors, one of which is a part of another one");
  SmallVector<Value> ptrs, sizes, bytes;
  for (Value input : kernel.inputs) {
    Buffer &source = buffer(input);
    auto type = cast<RankedTensorType>(input.getType());
    ptrs.push_back(source.ptr);
    llvm::append_range(sizes, dynamicDims(type, source));
    if (onCopies)
      bytes.push_back(numBytes(loc, type, source.dims));
  }
  SmallVector<Value> resultDims;
  for (Value dim : op.getResultDims())
    resultDims.push_back(scalars.lookupOrDefault(dim));
  ValueRange rest = resultDims;
  auto generic = op->getAttrOfType<kernel::StrategyAttr>(kernel::kGenericStrategy);
  Value tiles, genericTiles;
  for (OpResult result : op.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    ValueRange own = rest.take_front(type.getNumDynamicDims());
    rest = rest.drop_front(own.size());
    SmallVector<Value> dims = allDims(type, own);
    FailureOr<Buffer> made = placeResult(op, result.getResultNumber(), dims);
    if (failed(made))
      return failure();
    ptrs.push_back(made->ptr);
    llvm::append_range(sizes, own);
    if (onCopies)
      bytes.push_back(numBytes(loc, type, dims));
    if (!tiles) {
      tiles = numTiles(loc, dims, kernel.groups);
      for (const kernel::TileGroup &group : generic ? kernel::tileGroups(generic) : SmallVector<kernel::TileGroup>())
        if (group.firstDim + group.numDims > dims.size())
          return op.emitOpError("has a generic strategy whose groups name dimensions that the first result has not");
      if (generic)
        genericTiles = numTiles(loc, dims, kernel::tileGroups(generic));
    }
    buffers[result] = std::move(*made);
  }
  for (Value scalar : kernel.scalars)
    sizes.push_back(scalars.lookupOrDefault(scalar));
  if (genericTiles) // behind what the kernel takes (runtime/dispatch.h)
    sizes.push_back(genericTiles);
  auto unnamed = FlatSymbolRefAttr::get(b.getContext(), "kernel");
  auto launch = kernel::LaunchOp::create(b, loc, unnamed, tiles, ptrs, sizes, bytes,
                                         b.getI64IntegerAttr(kernel.scratch), IntegerAttr(), IntegerAttr());
  if (onCopies) {
    launch.setInputs(kernel.inputs.size());
    auto strategy = op.getStrategyAttr();
    reportFallback(op, "'" + op.getLabel() + "' runs on the CPU (" +
                           (strategy ? strategy.getReason().getValue() : StringRef("no strategy")) + "),");
  }
  launches.push_back({op, launch, std::move(kernel), position});
  return success();
}

LogicalResult Planner::convertLibrary(kernel::LibraryOp op) {
  Location loc = op.getLoc();
  SmallVector<Value> in;
  ArrayRef<int32_t> dtypes = op.getDtypes();
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    Type type = operand.getType();
    if (isa<RankedTensorType, NoneType, kernel::ValueType>(type))
      in.push_back(descriptor(loc, operand, i < dtypes.size() ? dtypes[i] : 0));
    else
      return op.emitOpError("has an operand that is neither a tensor nor a run-time value");
  }
  if (space == kernel::MemorySpace::Device)
    reportFallback(op, "'" + kernel::stringifyLibraryFn(op.getFn()) + "' is a function of the runtime that works");
  SmallVector<Type> types(op.getNumResults(), ptrType);
  auto call = kernel::CallLibraryOp::create(b, loc, types, op.getFn(), in, op.getParams());
  for (auto [result, desc] : llvm::zip(op.getResults(), call.getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type) {
      descriptors[result] = desc;
      continue;
    }
    buffers[result] =
        bufferAt(kernel::DescribedDataOp::create(b, loc, ptrType, desc), type, [&, desc = desc](int64_t d) -> Value {
          return kernel::DescribedDimOp::create(b, loc, b.getIndexType(), desc, d);
        });
  }
  return success();
}

LogicalResult Planner::convertConstant(arith::ConstantOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type) {
    b.clone(*op, scalars);
    return success();
  }
  auto value = dyn_cast<ElementsAttr>(op.getValue());
  if (!value)
    return op.emitOpError("is a tensor constant without elements");
  // Only what somebody reads as it is: a constant that is packed has no other home.
  if (!llvm::all_of(op->getUsers(), [](Operation *user) { return isa<kernel::PackOp>(user); }))
    placeConstant(op.getResult(), value);
  return success();
}

void Planner::placeConstant(Value result, ElementsAttr value, kernel::PackingAttr packing) {
  auto type = cast<RankedTensorType>(result.getType());
  if (type.getNumElements() == 0) { // has no bytes and is never read
    buffers[result] = Buffer{LLVM::ZeroOp::create(b, result.getLoc(), ptrType), allDims(type, {}), {}};
    return;
  }
  Value ptr = kernel::WeightPtrOp::create(b, result.getLoc(), ptrType, placeWeight(value, packing));
  buffers[result] = Buffer{ptr, allDims(type, {}), {}};
}

int64_t Planner::placeWeight(ElementsAttr value, kernel::PackingAttr packing) {
  auto [it, isNew] = weights.insert({{value, packing}, weightBytes});
  auto type = RankedTensorType::get(cast<ShapedType>(value.getType()).getShape(),
                                    cast<ShapedType>(value.getType()).getElementType());
  if (packing)
    type = kernel::packedType(type, packing);
  if (isNew)
    weightBytes = llvm::alignTo(weightBytes + (packing && type.getElementType().isInteger(4)
                                                   ? type.getNumElements() / 2 // they share bytes
                                                   : type.getNumElements() * elementBytes(type.getElementType())),
                                ArenaPlanner::kAlignment);
  return it->second;
}

void Planner::placeDefault(NamedAttrList &attrs) {
  auto value = dyn_cast_or_null<ElementsAttr>(attrs.erase("onnx.default"));
  if (!value)
    return;
  if (auto strings = dyn_cast<DenseStringElementsAttr>(value))
    attrs.set("kernel.default", b.getStrArrayAttr(llvm::to_vector(strings.getValues<StringRef>())));
  else
    attrs.set("kernel.default", b.getI64IntegerAttr(placeWeight(boundaryBytes(value))));
}

void Planner::findDirectOutputs(func::ReturnOp op) {
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || llvm::count(op.getOperands(), value) > 1)
      continue;
    Value source = value;
    while (auto view = source.getDefiningOp<kernel::ViewOp>()) {
      if (!type.hasStaticShape())
        break;
      source = view.getSource();
    }
    Operation *def = source.getDefiningOp();
    if (isa_and_nonnull<kernel::DispatchOp, kernel::ForeignOp, tensor::ConcatOp>(def) &&
        def->getBlock() == &main.getBody().front() && !directOutputs.count(source))
      directOutputs[source] = i;
  }
}

LogicalResult Planner::convertReturn(func::ReturnOp op) {
  Location loc = op.getLoc();
  DenseSet<int> done;
  for (auto &entry : directOutputs)
    done.insert(entry.second);
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      kernel::OutputValueOp::create(b, loc, i, descriptors.lookup(value));
      continue;
    }
    if (done.contains(i))
      continue;
    Buffer &source = buffer(value);
    Value ptr = kernel::OutputOp::create(b, loc, ptrType, i, source.dims);
    kernel::CopyOp::create(b, loc, ptr, source.ptr, numBytes(loc, type, source.dims));
  }
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
  func::ReturnOp::create(b, loc, zero);
  return success();
}

LogicalResult Planner::convert(Operation &op) {
  Location loc = op.getLoc();
  // Kernels know strides. Below, only what passes a tensor on does not care.
  if (!isa<kernel::DispatchOp, tensor::ExtractSliceOp, tensor::ConcatOp, tensor::CastOp, tensor::DimOp>(op))
    for (Value operand : op.getOperands())
      if (isa<RankedTensorType>(operand.getType()) && !kernel::isContiguous(operand))
        return op.emitOpError("reads a part of a tensor as if it were contiguous");
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](kernel::DispatchOp o) { return convertDispatch(o); })
      .Case([&](kernel::ForeignOp o) { return convertForeign(o); })
      .Case([&](kernel::LibraryOp o) { return convertLibrary(o); })
      .Case([&](tensor::ExtractSliceOp o) { return convertSlice(o); })
      .Case([&](tensor::ConcatOp o) { return convertConcat(o); })
      .Case([&](arith::ConstantOp o) { return convertConstant(o); })
      .Case([&](scf::IfOp o) { return convertIf(o); })
      .Case([&](scf::ForOp o) { return convertFor(o); })
      .Case([&](scf::WhileOp o) { return convertWhile(o); })
      .Case([&](func::ReturnOp o) { return convertReturn(o); })
      .Case([&](kernel::AbsentOp) { return success(); })
      .Case([&](kernel::PackedConstantOp o) {
        if (!llvm::all_of(o->getUsers(), [](Operation *user) { return isa<kernel::PackOp>(user); }))
          placeConstant(o.getResult(), o.getValue());
        return success();
      })
      .Case([&](kernel::PackOp o) -> LogicalResult {
        auto constant = o.getSource().getDefiningOp<arith::ConstantOp>();
        auto packed = o.getSource().getDefiningOp<kernel::PackedConstantOp>();
        auto value = packed     ? packed.getValue()
                     : constant ? dyn_cast<ElementsAttr>(constant.getValue())
                                : ElementsAttr();
        if (!value)
          return o.emitOpError("packs a value that is not a constant");
        placeConstant(o.getResult(), value, o.getPacking());
        return success();
      })
      .Case([&](kernel::CheckOp o) {
        b.clone(*o, scalars);
        return success();
      })
      .Case([&](kernel::ViewOp o) {
        Buffer made = buffer(o.getSource());
        SmallVector<Value> dims;
        for (Value dim : o.getDims())
          dims.push_back(scalars.lookupOrDefault(dim));
        made.dims = allDims(cast<RankedTensorType>(o.getType()), dims);
        buffers[o.getResult()] = std::move(made);
        return success();
      })
      .Case([&](tensor::CastOp o) {
        buffers[o.getResult()] = Buffer(buffer(o.getSource()));
        return success();
      })
      .Case([&](arith::SelectOp o) {
        auto type = dyn_cast<RankedTensorType>(o.getType());
        Value condition = scalars.lookupOrDefault(o.getCondition());
        auto choose = [&](Value x, Value y) { return arith::SelectOp::create(b, loc, condition, x, y).getResult(); };
        if (isa<kernel::ValueType>(o.getType())) {
          descriptors[o.getResult()] =
              choose(descriptors.lookup(o.getTrueValue()), descriptors.lookup(o.getFalseValue()));
          return success();
        }
        if (!type) {
          b.clone(*o, scalars);
          return success();
        }
        Buffer yes = buffer(o.getTrueValue()), no = buffer(o.getFalseValue()), made;
        made.ptr = choose(yes.ptr, no.ptr);
        for (auto [size, x, y] : llvm::zip(type.getShape(), yes.dims, no.dims))
          made.dims.push_back(ShapedType::isDynamic(size) ? choose(x, y) : x);
        made.roots = yes.roots;
        llvm::append_range(made.roots, no.roots);
        buffers[o.getResult()] = std::move(made);
        return success();
      })
      .Case([&](tensor::EmptyOp o) {
        SmallVector<Value> dims;
        for (Value dim : o.getDynamicSizes())
          dims.push_back(scalars.lookupOrDefault(dim));
        buffers[o.getResult()] = allocate(loc, o.getType(), allDims(o.getType(), dims));
        return success();
      })
      .Case([&](tensor::DimOp o) -> LogicalResult {
        std::optional<int64_t> axis = o.getConstantIndex();
        if (!axis)
          return o.emitOpError("has no constant axis");
        scalars.map(o.getResult(), buffer(o.getSource()).dims[*axis]);
        return success();
      })
      .Case([&](tensor::ExtractOp o) {
        Buffer &source = buffer(o.getTensor());
        Value at = constIndex(0);
        for (auto [index, size] : llvm::zip(o.getIndices(), source.dims))
          at = arith::AddIOp::create(b, loc, mul(loc, at, size), scalars.lookupOrDefault(index));
        scalars.map(o.getResult(), kernel::LoadOp::create(b, loc, o.getType(), source.ptr, at));
        return success();
      })
      .Case([&](tensor::FromElementsOp o) {
        auto type = o.getType();
        Buffer made = allocate(loc, type, allDims(type, {}));
        SmallVector<Value> elements;
        for (Value element : o.getElements())
          elements.push_back(scalars.lookupOrDefault(element));
        if (!elements.empty())
          kernel::StoreOp::create(b, loc, elements, made.ptr);
        buffers[o.getResult()] = std::move(made);
        return success();
      })
      .Default([&](Operation *o) -> LogicalResult {
        auto isTensor = [](Type type) { return isa<TensorType>(type); };
        if (o->getNumRegions() || llvm::any_of(o->getOperandTypes(), isTensor) ||
            llvm::any_of(o->getResultTypes(), isTensor))
          return o->emitError("optc-plan: '") << o->getName() << "' on tensors is left over outside of a dispatch";
        b.clone(*o, scalars);
        return success();
      });
}

LogicalResult Planner::convertBlock(Block &block) {
  for (Operation &op : block) {
    if (isa<scf::YieldOp, scf::ConditionOp>(op))
      break;
    ++position;
    if (failed(convert(op)))
      return failure();
  }
  return success();
}

LogicalResult Planner::run() {
  MLIRContext *context = module.getContext();
  Location loc = main.getLoc();
  b.setInsertionPoint(main);
  host = func::FuncOp::create(b, loc, "host_main", b.getFunctionType({ptrType}, {b.getI32Type()}));
  host->setAttr("kernel.host", b.getUnitAttr());
  if (space == kernel::MemorySpace::Device)
    host->setAttr("kernel.on_device", b.getUnitAttr());
  b.setInsertionPointToEnd(host.addEntryBlock());
  findDirectOutputs(cast<func::ReturnOp>(main.getBody().front().getTerminator()));
  for (BlockArgument arg : main.getArguments()) {
    int32_t index = arg.getArgNumber();
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type) {
      descriptors[arg] = kernel::InputValueOp::create(b, loc, ptrType, index);
      continue;
    }
    buffers[arg] = bufferAt(kernel::InputOp::create(b, loc, ptrType, index), type, [&](int64_t d) -> Value {
      return kernel::InputDimOp::create(b, loc, b.getIndexType(), index, d);
    });
  }
  if (failed(convertBlock(main.getBody().front())))
    return failure();

  makeKernels();
  host->setAttr("kernel.arena_bytes", b.getI64IntegerAttr(arena.place()));
  host->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<kernel::AllocOp, kernel::CallLibraryOp>(op))
      return WalkResult::advance();
    auto node = op->getLoc()->findInstanceOf<NameLoc>();
    host->setAttr("kernel.run_time_sized", node ? node.getName() : b.getStringAttr(""));
    return WalkResult::interrupt();
  });
  arena.formSegments(host);
  if (!fallbacks.empty())
    host->setAttr("kernel.host_fallbacks", b.getArrayAttr(fallbacks));
  auto describe = [&](auto getAttrs, TypeRange types) {
    SmallVector<Attribute> all;
    for (auto [i, type] : llvm::enumerate(types)) {
      NamedAttrList attrs(getAttrs(i));
      placeDefault(attrs);
      if (!attrs.get("onnx.type"))
        attrs.set("onnx.type", TypeAttr::get(type));
      all.push_back(attrs.getDictionary(context));
    }
    return b.getArrayAttr(all);
  };
  host->setAttr("kernel.inputs",
                describe([&](unsigned i) { return mlir::function_interface_impl::getArgAttrs(main, i); },
                         main.getArgumentTypes()));
  host->setAttr("kernel.outputs", describe([&](unsigned i) { return main.getResultAttrs(i); }, main.getResultTypes()));
  b.setInsertionPointToEnd(module.getBody());
  for (auto &[constant, offset] : weights)
    kernel::WeightOp::create(b, loc, offset, cast<ElementsAttr>(constant.first),
                             cast_or_null<kernel::PackingAttr>(constant.second));
  main.erase();
  return success();
}

namespace {
struct Plan : public optc::impl::PlanBase<Plan> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    Planner planner(getOperation(), main);
    if (failed(planner.run()))
      return signalPassFailure();
    kernels = planner.numKernels();
    shared = planner.numDispatches() - planner.numKernels();
    inPlace = planner.numInPlace;
  }
};
} // namespace
