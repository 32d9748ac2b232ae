//===- DeviceBody.cpp - what an emitter of device kernels works on --------===//
#include "optc/codegen/cuda/DeviceBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace optc;
using namespace optc::cuda;

DeviceBody::DeviceBody(func::FuncOp func) : KernelBody(func), threads(strategy.getBlocks()[0]) {
  bindThread();
  Value count = index.c(1);
  for (const kernel::TileGroup &group : kernel::tileGroups(strategy)) {
    Value extent = product(ArrayRef(resultSizes()).slice(group.firstDim, group.numDims));
    count = index.mul(count, index.div(index.add(extent, index.c(group.tile - 1)), index.c(group.tile)));
  }
  tiles.end = count;
}

void DeviceBody::bindThread() {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&func.getBody().front());
  auto indexOf = [&](Value v) { return arith::IndexCastUIOp::create(b, b.getIndexType(), v).getResult(); };
  thread = indexOf(NVVM::ThreadIdXOp::create(b, b.getI32Type()));
  block = indexOf(NVVM::BlockIdXOp::create(b, b.getI32Type()));
  tiles.begin = block;
  tiles.step = indexOf(NVVM::GridDimXOp::create(b, b.getI32Type()));
}

void DeviceBody::barrier() { NVVM::Barrier0Op::create(b); }

Value DeviceBody::sharedAddress(int64_t bytes, int64_t alignment) {
  OpBuilder::InsertionGuard guard(b);
  auto module = func->getParentOfType<gpu::GPUModuleOp>();
  auto space = LLVM::LLVMPointerType::get(b.getContext(), 3);
  if (!module.lookupSymbol(kSharedSymbol)) {
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/false, LLVM::Linkage::External,
                           kSharedSymbol, Attribute(), kSharedAlignment, /*addrSpace=*/3);
  }
  b.setInsertionPointToStart(&func.getBody().front());
  sharedBytes = llvm::alignTo(sharedBytes, alignment);
  Value base = LLVM::AddressOfOp::create(b, space, kSharedSymbol);
  Value place =
      LLVM::GEPOp::create(b, space, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(sharedBytes)});
  sharedBytes += bytes;
  return place;
}

Value DeviceBody::sharedAt(Value address, Type element, int64_t count) {
  auto type = MemRefType::get({count}, element, MemRefLayoutAttrInterface(), b.getI64IntegerAttr(3));
  // kernel.bind is for buffers of the dispatch ABI.
  return UnrealizedConversionCastOp::create(b, type, address).getResult(0);
}

Value DeviceBody::shared(Type element, int64_t count, int64_t alignment) {
  Value address = sharedAddress(count * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8), alignment);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(address);
  return sharedAt(address, element, count);
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

static constexpr unsigned kMapNumbers = 5 + 5 + 4 + 5;

static SmallVector<int64_t> toNumbers(const DeviceTensorMap &map) {
  SmallVector<int64_t> numbers = {map.buffer, map.dtype, map.rank, map.swizzle, map.offsetBytes};
  llvm::append_range(numbers, map.dims);
  llvm::append_range(numbers, map.strides);
  llvm::append_range(numbers, map.box);
  return numbers;
}

std::vector<DeviceTensorMap> cuda::tensorMapsOf(Operation *kernel) {
  std::vector<DeviceTensorMap> maps;
  auto all = kernel->getAttrOfType<ArrayAttr>(kTensorMaps);
  for (Attribute attr : all ? all.getValue() : ArrayRef<Attribute>()) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(attr);
    if (!numbers || numbers.size() != kMapNumbers)
      continue;
    ArrayRef<int64_t> n = numbers.asArrayRef();
    DeviceTensorMap map;
    map.buffer = n[0], map.dtype = n[1], map.rank = n[2], map.swizzle = n[3], map.offsetBytes = n[4];
    std::copy_n(n.begin() + 5, 5, map.dims);
    std::copy_n(n.begin() + 10, 4, map.strides);
    std::copy_n(n.begin() + 14, 5, map.box);
    maps.push_back(map);
  }
  return maps;
}

Value DeviceBody::tensorMap(Value tensor, DeviceTensorMap map) {
  Value memref = flat(tensor);
  auto bind = memref.getDefiningOp<kernel::BindOp>();
  auto buffer = dyn_cast<BlockArgument>(bind.getPtr());
  map.buffer = buffer.getArgNumber();
  SmallVector<Attribute> maps;
  if (auto known = func->getAttrOfType<ArrayAttr>(kTensorMaps))
    llvm::append_range(maps, known);
  maps.push_back(b.getDenseI64ArrayAttr(toNumbers(map)));
  func->setAttr(kTensorMaps, b.getArrayAttr(maps));
  // 128 bytes in the parameters of the kernel itself, where the accelerator reads them.
  NamedAttribute attrs[] = {
      b.getNamedAttr("llvm.byval", TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), 128))),
      b.getNamedAttr("llvm.align", b.getI64IntegerAttr(64)),
  };
  unsigned number = func.getNumArguments();
  if (failed(func.insertArgument(number, LLVM::LLVMPointerType::get(b.getContext()), b.getDictionaryAttr(attrs),
                                 b.getLoc()))) {
    broken = true;
    return Value();
  }
  return func.getArgument(number);
}

static llvm::MaybeAlign alignmentOf(VectorType type) {
  return llvm::Align(llvm::divideCeil(type.getElementTypeBitWidth(), 8) * type.getNumElements());
}

SmallVector<Value> DeviceBody::loadVector(Value buffer, Value offset, int64_t lanes) {
  if (lanes == 1)
    return {memref::LoadOp::create(b, buffer, offset)};
  auto type = VectorType::get({lanes}, cast<MemRefType>(buffer.getType()).getElementType());
  Value vector = vector::LoadOp::create(b, type, buffer, offset, /*nontemporal=*/false, alignmentOf(type));
  SmallVector<Value> values;
  for (int64_t i = 0; i < lanes; ++i)
    values.push_back(vector::ExtractOp::create(b, vector, ArrayRef<int64_t>{i}));
  return values;
}

void DeviceBody::storeVector(ValueRange values, Value buffer, Value offset) {
  if (values.size() == 1) {
    memref::StoreOp::create(b, values[0], buffer, offset);
    return;
  }
  auto type = VectorType::get({static_cast<int64_t>(values.size())}, values[0].getType());
  Value vector = vector::FromElementsOp::create(b, type, values);
  vector::StoreOp::create(b, vector, buffer, offset, /*nontemporal=*/false, alignmentOf(type));
}

void DeviceBody::forElements(Value count, int64_t perThread, llvm::function_ref<void(Value)> body) {
  Value group = index.c(perThread), all = index.mul(tiles.step, index.c(threads * perThread));
  Value first = index.mul(index.add(index.mul(block, index.c(threads)), thread), group);
  auto loop = scf::ForOp::create(b, first, count, all);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void DeviceBody::when(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

Value DeviceBody::product(ValueRange sizes) {
  Value all = index.c(1);
  for (Value size : sizes)
    all = index.mul(all, size);
  return all;
}

/// Divisions of 64 bits take several times as long as those of 32.
SmallVector<Value> DeviceBody::unflatten(Value flat, ValueRange sizes) {
  int64_t count = 1;
  for (Value size : sizes) {
    std::optional<int64_t> known = getConstantIntValue(size);
    count = known && *known > 0 && count > 0 && *known <= INT32_MAX / count ? count * *known : 0;
  }
  SmallVector<Value> indices(sizes.size());
  bool narrow = count > 0;
  Type type = narrow ? Type(b.getI32Type()) : b.getIndexType();
  auto constant = [&](Value size) -> Value {
    return narrow ? arith::ConstantOp::create(b, b.getI32IntegerAttr(*getConstantIntValue(size))) : size;
  };
  Value rest = narrow ? arith::IndexCastUIOp::create(b, type, flat).getResult() : flat;
  for (size_t i = sizes.size(); i-- > 0;) {
    bool isUnit = getConstantIntValue(sizes[i]) == 1;
    Value at = i == 0 ? rest : isUnit ? Value() : index.rem(rest, constant(sizes[i]));
    if (!at) {
      indices[i] = index.c(0);
      continue;
    }
    if (i > 0)
      rest = index.div(rest, constant(sizes[i]));
    indices[i] = narrow ? b.createOrFold<arith::IndexCastUIOp>(b.getIndexType(), at) : at;
  }
  return indices;
}

Value DeviceBody::offsetAlong(const kernel::LoopNest &nest, const kernel::NestOperand &operand,
                              ArrayRef<unsigned> loops, Value flat) {
  if (llvm::none_of(loops, [&](unsigned loop) { return operand.moves(loop); }))
    return index.c(0);
  if (nest.isFlat(operand, loops))
    return index.mul(flat, size(operand.strides[loops.back()]));
  SmallVector<Value> sizes = llvm::map_to_vector(loops, [&](unsigned loop) { return size(nest.sizes[loop]); });
  Value offset = index.c(0);
  for (auto [loop, at] : llvm::zip(loops, unflatten(flat, sizes)))
    if (operand.moves(loop))
      offset = index.add(offset, index.mul(at, size(operand.strides[loop])));
  return offset;
}

Value DeviceBody::flatten(ValueRange indices, ValueRange sizes) {
  Value flat;
  for (auto [at, size] : llvm::zip(indices, sizes))
    flat = flat ? index.add(index.mul(flat, size), at) : at;
  return flat ? flat : index.c(0);
}

SmallVector<Value> DeviceBody::dims(Value tensor) {
  SmallVector<Value> sizes;
  for (int64_t d = 0, rank = cast<RankedTensorType>(tensor.getType()).getRank(); d < rank; ++d)
    sizes.push_back(dim(tensor, d));
  return sizes;
}

SmallVector<Value> DeviceBody::storedDims(Value tensor) {
  SmallVector<Value> sizes;
  for (int64_t d = 0, rank = cast<RankedTensorType>(tensor.getType()).getRank(); d < rank; ++d)
    sizes.push_back(storedDim(tensor, d));
  return sizes;
}

void DeviceBody::finish() {
  KernelBody::finish();
  note();
}

void DeviceBody::note() { func->setAttr(kSharedBytes, b.getI64IntegerAttr(sharedBytes)); }
