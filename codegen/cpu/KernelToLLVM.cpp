//===- KernelToLLVM.cpp - the kernel dialect becomes LLVM -----------------===//
//
// Kernels get a wrapper of the dispatch ABI around their function, which LLVM inlines; the host program's ops become
// calls of the runtime's services (runtime/dispatch.h). Runs before the stock conversions to LLVM: what it makes is in
// terms of the LLVM dialect, with index values cast to i64.
//===----------------------------------------------------------------------===//
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/passes/Passes.h"

namespace optc {
#define GEN_PASS_DEF_KERNELTOLLVM
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

namespace {

/// Layout of optc_tensor: data, {dtype, rank}, dims.
constexpr int64_t kTensorBytes = 8 + 8 + 16 * 8, kDtypeOffset = 8, kRankOffset = 12, kDimsOffset = 16;
/// Layout of optc_dispatch.
constexpr int64_t kBufOffset = 0, kScalarOffset = 8, kFirstOffset = 24, kLastOffset = 32;

class Converter {
public:
  explicit Converter(ModuleOp module)
      : module(module), context(module.getContext()), b(module.getLoc(), context), converter(context),
        ptr(LLVM::LLVMPointerType::get(context)), i8(b.getI8Type()), i32(b.getI32Type()), i64(b.getI64Type()) {}

  LogicalResult run();

private:
  void wrapKernel(func::FuncOp func);
  void convertBind(kernel::BindOp op);
  LogicalResult convertHost(func::FuncOp func);
  void convertRelease(kernel::ReleaseOp op);
  void convertSolveArena(kernel::SolveArenaOp op);
  Value byteSize(kernel::ByteSizeOp op);
  LogicalResult convertHostOp(Operation *op);

  Value c32(int64_t v) { return LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(v)); }
  Value c64(int64_t v) { return LLVM::ConstantOp::create(b, i64, b.getI64IntegerAttr(v)); }
  Value toI64(Value v) { return v.getType() == i64 ? v : arith::IndexCastOp::create(b, i64, v).getResult(); }
  Value toIndex(Value v) { return arith::IndexCastOp::create(b, b.getIndexType(), v); }
  Value at(Value base, int64_t bytes) {
    return bytes == 0
               ? base
               : LLVM::GEPOp::create(b, ptr, i8, base, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)}).getResult();
  }
  Value load(Type type, Value base, int64_t bytes) { return LLVM::LoadOp::create(b, type, at(base, bytes)); }
  void store(Value v, Value base, int64_t bytes) { LLVM::StoreOp::create(b, v, at(base, bytes)); }
  /// Stack memory, in the entry block of the host program: reused by every iteration of a loop.
  Value stack(int64_t bytes) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&host.getBody().front());
    return LLVM::AllocaOp::create(b, ptr, i8, c64(std::max<int64_t>(bytes, 8)), 16);
  }
  LLVM::LLVMFuncOp declare(StringRef name, Type result, TypeRange args);
  Value call(StringRef name, Type result, ValueRange args);
  /// Calls a service that exists for programs with tensors in host and in device memory.
  Value callService(StringRef name, Type result, ValueRange args) {
    return call(((onDevice ? "optc_dev_" : "optc_rt_") + name).str(), result, args);
  }
  Value kernelAddress(FlatSymbolRefAttr kernel);
  void convertLaunch(kernel::LaunchOp op);
  void convertCallLibrary(kernel::CallLibraryOp op);
  Value loadElement(kernel::LoadOp op);
  void storeElements(kernel::StoreOp op);
  Value global(StringRef name);
  Value message(StringRef text);
  /// A scalar as the 64 bits it travels in.
  Value bits(Value v);
  Value fromBits(Value v, Type type);
  static Type storage(Type type, OpBuilder &b) { return type.isIndex() ? b.getI64Type() : type; }

  ModuleOp module;
  MLIRContext *context;
  ImplicitLocOpBuilder b;
  LLVMTypeConverter converter;
  Type ptr, i8, i32, i64;
  func::FuncOp host;
  bool onDevice = false; ///< where the tensors of the host program are
  Value handle;
  int messages = 0, lifetimes = 0;
};

} // namespace

LLVM::LLVMFuncOp Converter::declare(StringRef name, Type result, TypeRange args) {
  auto func = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!func) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    func = LLVM::LLVMFuncOp::create(
        b, name,
        LLVM::LLVMFunctionType::get(result ? result : LLVM::LLVMVoidType::get(context), llvm::to_vector(args)));
    func.setVisibility_(LLVM::Visibility::Hidden);
  }
  return func;
}

Value Converter::call(StringRef name, Type result, ValueRange args) {
  auto made = LLVM::CallOp::create(b, declare(name, result, args.getTypes()), args);
  return result ? made.getResult() : Value();
}

Value Converter::global(StringRef name) {
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto made = LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(i8, 0), /*isConstant=*/true, LLVM::Linkage::External,
                                       name, Attribute());
    made.setVisibility_(LLVM::Visibility::Hidden);
  }
  return LLVM::AddressOfOp::create(b, ptr, name);
}

Value Converter::message(StringRef text) {
  std::string name = "optc_message_" + std::to_string(messages++);
  OpBuilder::InsertionGuard guard(b);
  std::string bytes = (text + StringRef("\0", 1)).str();
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(i8, bytes.size()), /*isConstant=*/true, LLVM::Linkage::Private,
                           name, b.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(b, ptr, name);
}

Value Converter::bits(Value v) {
  Type type = v.getType();
  if (type.isIndex())
    return toI64(v);
  if (auto floatType = dyn_cast<FloatType>(type))
    v = arith::BitcastOp::create(b, b.getIntegerType(floatType.getWidth()), v);
  return v.getType() == i64 ? v : arith::ExtUIOp::create(b, i64, v).getResult();
}

Value Converter::fromBits(Value v, Type type) {
  if (type.isIndex())
    return toIndex(v);
  unsigned width = type.getIntOrFloatBitWidth();
  if (width < 64)
    v = arith::TruncIOp::create(b, b.getIntegerType(width), v);
  return isa<FloatType>(type) ? arith::BitcastOp::create(b, type, v).getResult() : v;
}

void Converter::wrapKernel(func::FuncOp func) {
  int64_t numBuffers = cast<IntegerAttr>(func->getAttr("kernel.entry")).getInt();
  std::string name = func.getName().str();
  func.setName(name + "_body");
  func->setAttr("llvm.linkage", LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  func->setAttr("passthrough", b.getArrayAttr({b.getStringAttr("alwaysinline"), b.getStringAttr("nounwind")}));
  for (StringRef attr : {"kernel.entry", "kernel.strategy"})
    func->removeAttr(attr);
  b.setInsertionPoint(func);
  auto wrapper = func::FuncOp::create(b, func.getLoc(), name, b.getFunctionType({ptr}, {}));
  wrapper.setPrivate();
  wrapper->setAttr("llvm.linkage", LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  wrapper->setAttr("passthrough", b.getArrayAttr({b.getStringAttr("nounwind")}));
  b.setInsertionPointToEnd(wrapper.addEntryBlock());
  Value dispatch = wrapper.getArgument(0);
  Value buf = load(ptr, dispatch, kBufOffset), scalar = load(ptr, dispatch, kScalarOffset);
  SmallVector<Value> args;
  unsigned count = func.getNumArguments();
  for (unsigned i = 0; i < count; ++i) {
    Type type = func.getArgument(i).getType();
    if (i < numBuffers)
      args.push_back(load(ptr, buf, 8 * i));
    else if (i + 2 >= count)
      args.push_back(toIndex(load(i64, dispatch, i + 2 == count ? kFirstOffset : kLastOffset)));
    else
      args.push_back(fromBits(load(i64, scalar, 8 * (i - numBuffers)), type));
  }
  func::CallOp::create(b, func, args);
  func::ReturnOp::create(b);
}

void Converter::convertBind(kernel::BindOp op) {
  b.setInsertionPoint(op);
  b.setLoc(op.getLoc());
  auto type = cast<MemRefType>(op.getMemref().getType());
  auto desc = MemRefDescriptor::poison(b, op.getLoc(), converter.convertType(type));
  desc.setAllocatedPtr(b, op.getLoc(), op.getPtr());
  desc.setAlignedPtr(b, op.getLoc(), op.getPtr());
  desc.setOffset(b, op.getLoc(), c64(0));
  SmallVector<Value> sizes;
  ValueRange dynamic = op.getDims();
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size)) {
      sizes.push_back(toI64(dynamic.front()));
      dynamic = dynamic.drop_front();
    } else {
      sizes.push_back(c64(size));
    }
  }
  Value stride = c64(1);
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    desc.setSize(b, op.getLoc(), i, sizes[i]);
    desc.setStride(b, op.getLoc(), i, stride);
    int64_t stored = op.getStored() ? (*op.getStored())[i] : ShapedType::kDynamic;
    if (i > 0)
      stride = LLVM::MulOp::create(b, stride, ShapedType::isDynamic(stored) ? sizes[i] : c64(stored));
  }
  Value cast = UnrealizedConversionCastOp::create(b, TypeRange{type}, ValueRange{Value(desc)}).getResult(0);
  op.replaceAllUsesWith(cast);
  op.erase();
}

void Converter::convertSolveArena(kernel::SolveArenaOp op) {
  size_t n = op.getBytes().size();
  std::string name = "optc_lifetimes_" + std::to_string(lifetimes++);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(i32, 2 * n), /*isConstant=*/true, LLVM::Linkage::Private, name,
                           b.getI32TensorAttr(op.getLifetimes()));
  }
  Value bytes = stack(8 * n), buffers = stack(8 * n);
  for (auto [i, size] : llvm::enumerate(op.getBytes()))
    store(toI64(size), bytes, 8 * i);
  callService("solve_arena", {}, {handle, c32(n), bytes, LLVM::AddressOfOp::create(b, ptr, name), buffers});
  for (auto [i, result] : llvm::enumerate(op.getPtrs()))
    result.replaceAllUsesWith(load(ptr, buffers, 8 * i));
  op.erase();
}

Value Converter::byteSize(kernel::ByteSizeOp op) {
  Type i1 = b.getI1Type();
  Value zero = c64(0), none = c64(-1), total = c64(op.getFactor());
  Value bad = LLVM::ConstantOp::create(b, i1, b.getBoolAttr(false)), negative = bad, empty = bad;
  for (Value dim : op.getDims()) {
    Value size = toI64(dim);
    Value product =
        LLVM::SMulWithOverflowOp::create(b, LLVM::LLVMStructType::getLiteral(context, {i64, i1}), total, size);
    total = LLVM::ExtractValueOp::create(b, product, 0);
    bad = LLVM::OrOp::create(b, bad, LLVM::ExtractValueOp::create(b, product, 1));
    negative = LLVM::OrOp::create(b, negative, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, size, zero));
    empty = LLVM::OrOp::create(b, empty, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, size, zero));
  }
  total = LLVM::SelectOp::create(b, bad, none, total);
  total = LLVM::SelectOp::create(b, empty, zero, total);
  return LLVM::SelectOp::create(b, negative, none, total);
}

void Converter::convertRelease(kernel::ReleaseOp op) {
  size_t n = op.getKept().size(), m = op.getValues().size();
  if (n + m == 0) {
    callService("release", {}, {handle, toI64(op.getMark())});
  } else {
    Value data = stack(8 * n), bytes = stack(8 * n), values = stack(8 * m);
    for (size_t i = 0; i < n; ++i) {
      store(op.getKept()[i], data, 8 * i);
      store(toI64(op.getBytes()[i]), bytes, 8 * i);
    }
    for (size_t i = 0; i < m; ++i)
      store(op.getValues()[i], values, 8 * i);
    callService("keep", {}, {handle, toI64(op.getMark()), data, bytes, c32(n), values, c32(m)});
    for (size_t i = 0; i < n; ++i)
      op.getMoved()[i].replaceAllUsesWith(load(ptr, data, 8 * i));
  }
  op.erase();
}

Value Converter::kernelAddress(FlatSymbolRefAttr kernel) {
  Value function = func::ConstantOp::create(b, b.getFunctionType({ptr}, {}), kernel);
  return UnrealizedConversionCastOp::create(b, TypeRange{ptr}, ValueRange{function}).getResult(0);
}

void Converter::convertLaunch(kernel::LaunchOp op) {
  Value bufs = stack(8 * op.getBuffers().size()), scalars = stack(8 * op.getScalars().size());
  for (auto [i, buffer] : llvm::enumerate(op.getBuffers()))
    store(buffer, bufs, 8 * i);
  for (auto [i, scalar] : llvm::enumerate(op.getScalars()))
    store(bits(scalar), scalars, 8 * i);
  Value tiles = toI64(op.getTiles());
  if (op.getDevice()) {
    call("optc_dev_launch", {}, {handle, c32(*op.getDevice()), bufs, scalars, tiles});
  } else if (onDevice) {
    Value bytes = stack(8 * op.getBytes().size());
    for (auto [i, size] : llvm::enumerate(op.getBytes()))
      store(toI64(size), bytes, 8 * i);
    call("optc_dev_launch_host", {},
         {handle, kernelAddress(op.getKernelAttr()), bufs, bytes, c32(op.getInputs().value_or(0)),
          c32(op.getBuffers().size()), scalars, tiles, c64(op.getScratch())});
  } else {
    call("optc_rt_launch", {}, {handle, kernelAddress(op.getKernelAttr()), bufs, scalars, tiles, c64(op.getScratch())});
  }
  op.erase();
}

void Converter::convertCallLibrary(kernel::CallLibraryOp op) {
  int64_t n = op.getDescriptors().size(), m = op.getNumResults(), attrs = op.getParams().size();
  Value in = stack(kTensorBytes * n), out = stack(kTensorBytes * m), params = stack(8 * attrs);
  for (auto [i, descriptor] : llvm::enumerate(op.getDescriptors()))
    LLVM::MemcpyOp::create(b, at(in, kTensorBytes * i), descriptor, c64(kTensorBytes), false);
  for (auto [i, value] : llvm::enumerate(op.getParams()))
    store(c64(value), params, 8 * i);
  std::string name = ("optc_op_" + kernel::stringifyLibraryFn(op.getFn())).str();
  SmallVector<Value> args = {handle, in, c32(n), params, c32(attrs), out, c32(m)};
  if (onDevice) {
    LLVM::LLVMFuncOp function = declare(name, i32, ValueRange(args).getTypes());
    args.insert(args.begin() + 1, LLVM::AddressOfOp::create(b, function));
    call("optc_dev_call", i32, args);
  } else {
    call(name, i32, args);
  }
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    // The next call reuses `out`: the descriptor gets a place of its own.
    Value own = stack(kTensorBytes);
    LLVM::MemcpyOp::create(b, own, at(out, kTensorBytes * i), c64(kTensorBytes), false);
    result.replaceAllUsesWith(own);
  }
  op.erase();
}

Value Converter::loadElement(kernel::LoadOp op) {
  Type type = op.getValue().getType(), stored = storage(type, b);
  Value address = LLVM::GEPOp::create(b, ptr, stored, op.getPtr(), ArrayRef<LLVM::GEPArg>{toI64(op.getIndex())});
  if (onDevice) {
    int64_t bytes = llvm::divideCeil(stored.getIntOrFloatBitWidth(), 8);
    Value place = stack(bytes);
    call("optc_dev_read", {}, {handle, address, c64(bytes), place});
    address = place;
  }
  Value v = LLVM::LoadOp::create(b, stored, address);
  return type.isIndex() ? toIndex(v) : v;
}

void Converter::storeElements(kernel::StoreOp op) {
  int64_t width = 0, count = op.getValues().size();
  for (Value value : op.getValues())
    width = std::max<int64_t>(width, llvm::divideCeil(storage(value.getType(), b).getIntOrFloatBitWidth(), 8));
  Value to = onDevice ? stack(width * count) : op.getPtr();
  for (auto [i, value] : llvm::enumerate(op.getValues()))
    store(value.getType().isIndex() ? toI64(value) : value, to, width * i);
  if (onDevice)
    call("optc_dev_write", {}, {handle, op.getPtr(), c64(width * count), to});
  op.erase();
}

LogicalResult Converter::convertHostOp(Operation *op) {
  b.setInsertionPoint(op);
  b.setLoc(op->getLoc());
  auto replace = [&](Value v) {
    op->getResult(0).replaceAllUsesWith(v);
    op->erase();
    return success();
  };
  auto dimsOnStack = [&](ValueRange dims) {
    Value place = stack(8 * dims.size());
    for (auto [i, dim] : llvm::enumerate(dims))
      store(toI64(dim), place, 8 * i);
    return place;
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](kernel::InputOp o) { return replace(callService("input", ptr, {handle, c32(o.getIndex())})); })
      .Case([&](kernel::InputDimOp o) {
        return replace(toIndex(call("optc_rt_input_dim", i64, {handle, c32(o.getIndex()), c32(o.getDim())})));
      })
      .Case([&](kernel::InputValueOp o) {
        Value place = stack(kTensorBytes);
        call("optc_rt_input_value", {}, {handle, c32(o.getIndex()), place});
        return replace(place);
      })
      .Case([&](kernel::OutputOp o) {
        Value dims = dimsOnStack(o.getDims());
        return replace(callService("output", ptr, {handle, c32(o.getIndex()), c32(o.getDims().size()), dims}));
      })
      .Case([&](kernel::OutputValueOp o) {
        callService("output_value", i32, {handle, c32(o.getIndex()), o.getDescriptor()});
        op->erase();
        return success();
      })
      .Case([&](kernel::ArenaOp o) {
        Value base = callService("arena", ptr, {handle});
        return replace(LLVM::GEPOp::create(b, ptr, i8, base, ArrayRef<LLVM::GEPArg>{c64(o.getOffset())}));
      })
      .Case([&](kernel::WeightPtrOp o) {
        Value base = onDevice ? call("optc_dev_weights", ptr, {handle}) : global("optc_weights");
        return replace(LLVM::GEPOp::create(b, ptr, i8, base, ArrayRef<LLVM::GEPArg>{c64(o.getOffset())}));
      })
      .Case([&](kernel::AllocOp o) { return replace(callService("alloc", ptr, {handle, toI64(o.getBytes())})); })
      .Case([&](kernel::SolveArenaOp o) {
        convertSolveArena(o);
        return success();
      })
      .Case([&](kernel::ByteSizeOp o) { return replace(toIndex(byteSize(o))); })
      .Case([&](kernel::MarkOp) { return replace(toIndex(callService("mark", i64, {handle}))); })
      .Case([&](kernel::ReleaseOp o) {
        convertRelease(o);
        return success();
      })
      .Case([&](kernel::LaunchOp o) {
        convertLaunch(o);
        return success();
      })
      .Case([&](kernel::CallLibraryOp o) {
        convertCallLibrary(o);
        return success();
      })
      .Case([&](kernel::DescribeOp o) {
        Value place = stack(kTensorBytes);
        store(o.getData(), place, 0);
        store(c32(o.getDtype()), place, kDtypeOffset);
        store(c32(o.getDims().size()), place, kRankOffset);
        for (auto [i, dim] : llvm::enumerate(o.getDims()))
          store(toI64(dim), place, kDimsOffset + 8 * i);
        return replace(place);
      })
      .Case([&](kernel::CopyDescriptorOp o) {
        LLVM::MemmoveOp::create(b, o.getDest(), o.getSource(), c64(kTensorBytes), false);
        op->erase();
        return success();
      })
      .Case([&](kernel::DescribedDataOp o) {
        Value descriptor = o.getDescriptor();
        return replace(onDevice ? call("optc_dev_data", ptr, {handle, descriptor}) : load(ptr, descriptor, 0));
      })
      .Case([&](kernel::DescribedDimOp o) {
        return replace(toIndex(load(i64, o.getDescriptor(), kDimsOffset + 8 * o.getDim())));
      })
      .Case([&](kernel::LoadOp o) { return replace(loadElement(o)); })
      .Case([&](kernel::StoreOp o) {
        storeElements(o);
        return success();
      })
      .Case([&](kernel::CopyOp o) {
        Value bytes = toI64(o.getBytes());
        if (onDevice)
          call("optc_dev_copy", {}, {handle, o.getDest(), o.getSource(), bytes});
        else // Source and destination may be the same address, which memcpy does not allow.
          LLVM::MemmoveOp::create(b, o.getDest(), o.getSource(), bytes, false);
        op->erase();
        return success();
      })
      .Case([&](kernel::CheckOp o) {
        Value text = LLVM::SelectOp::create(b, o.getCondition(), LLVM::ZeroOp::create(b, ptr), message(o.getMessage()));
        call("optc_rt_check", {}, {handle, text});
        op->erase();
        return success();
      })
      .Default(
          [](Operation *o) { return o->emitError("optc-kernel-to-llvm: no lowering of '") << o->getName() << "'"; });
}

LogicalResult Converter::convertHost(func::FuncOp func) {
  host = func;
  onDevice = func->hasAttr("kernel.on_device");
  handle = func.getArgument(0);
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isa_and_nonnull<kernel::KernelDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(convertHostOp(op)))
      return failure();
  return success();
}

LogicalResult Converter::run() {
  SmallVector<kernel::BindOp> binds;
  module.walk([&](kernel::BindOp op) { binds.push_back(op); });
  for (kernel::BindOp op : binds)
    convertBind(op);
  for (func::FuncOp func : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    b.setLoc(func.getLoc());
    if (func->hasAttr("kernel.host") && failed(convertHost(func)))
      return failure();
    if (func->hasAttr("kernel.entry"))
      wrapKernel(func);
  }
  return success();
}

namespace {
struct KernelToLLVM : public optc::impl::KernelToLLVMBase<KernelToLLVM> {
  void runOnOperation() override {
    if (failed(Converter(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
