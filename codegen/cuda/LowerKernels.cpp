//===- LowerKernels.cpp - kernels on tensors become code for a device -----===//
//
//   func.func private @k0(%a: !llvm.ptr, %out: !llvm.ptr, %n: index, %x: f32, %first: index, %last: index)
// becomes, in gpu.module @device,
//   func.func @k0(%a: !llvm.ptr, %out: !llvm.ptr, %n: i64, %x: i64)
// and the emitter of its family fills in what a thread does. The host program's launches still name @k0. A kernel with
// a second strategy, `kernel.generic`, becomes two: @k0 and @k0_generic.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "optc/codegen/cuda/Emitters.h"
#include "optc/dialects/kernel/TensorTile.h"
#include "optc/dialects/kernel/Window.h"
#include "optc/passes/Passes.h"

namespace optc {
#define GEN_PASS_DEF_LOWERDEVICEKERNELS
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

static constexpr codegen::Family<cuda::DeviceBody> kFamilies[] = {
    {kernel::kFamilyCudaLoops, cuda::emitLoops},   {kernel::kFamilyCudaElementwise, cuda::emitElementwise},
    {kernel::kFamilyCudaRows, cuda::emitRows},     {kernel::kFamilyCudaGemm, cuda::emitTensorGemm},
    {kernel::kFamilyCudaMma, cuda::emitMma},       {kernel::kFamilyCudaSimtGemm, cuda::emitSimtGemm},
    {kernel::kFamilyCudaWindow, cuda::emitWindow},
};

/// Scalars arrive as 64 bits, floats by theirs; the tile range goes.
static void adoptConvention(func::FuncOp func, unsigned numBuffers) {
  Block &entry = func.getBody().front();
  ImplicitLocOpBuilder b(func.getLoc(), &entry, entry.begin());
  Type i64 = b.getI64Type();
  entry.eraseArguments(entry.getNumArguments() - 2, 2);
  for (BlockArgument arg : entry.getArguments().drop_front(numBuffers)) {
    Type type = arg.getType();
    SmallVector<OpOperand *> uses = llvm::map_to_vector(arg.getUses(), [](OpOperand &use) { return &use; });
    arg.setType(i64);
    Value v = arg;
    if (type.isIndex()) {
      v = arith::IndexCastOp::create(b, type, v);
    } else {
      unsigned width = type.getIntOrFloatBitWidth();
      if (width < 64)
        v = arith::TruncIOp::create(b, b.getIntegerType(width), v);
      if (isa<FloatType>(type))
        v = arith::BitcastOp::create(b, type, v);
    }
    for (OpOperand *use : uses)
      use->set(v);
  }
  SmallVector<Attribute> attrs;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    attrs.push_back(func.getArgAttrDict(i) ? func.getArgAttrDict(i) : b.getDictionaryAttr({}));
  func.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), {}));
  func.setAllArgAttrs(attrs);
  func.setPublic();
}

static LogicalResult lowerKernel(func::FuncOp func, gpu::GPUModuleOp device, const codegen::EmitOptions &options) {
  auto strategy = func->getAttrOfType<kernel::StrategyAttr>("kernel.strategy");
  auto refuse = [&](const Twine &why) { return func.emitError("kernel '") << func.getName() << "' " << why; };
  const auto *family = codegen::familyOf(func, ArrayRef(kFamilies));
  if (!family)
    return failure();
  int64_t numBuffers = func->getAttrOfType<IntegerAttr>("kernel.entry").getInt();
  ArrayRef<int64_t> blocks = strategy.getBlocks();
  if (numBuffers < 0 || numBuffers + 2 > func.getNumArguments() || blocks.empty() || blocks[0] < 1)
    return refuse("has no device's calling convention: buffers, scalars, and a tile range; blocks of some threads");
  if (failed(codegen::checkKernel(func)))
    return failure();
  func->moveBefore(device.getBody(), device.getBody()->end());
  adoptConvention(func, numBuffers);
  cuda::DeviceBody body(func);
  return codegen::emitKernel(*family, body, options);
}

/// The version of a kernel for other devices, not yet lowered; null for those that need none.
static func::FuncOp makeGeneric(func::FuncOp func) {
  auto strategy = dyn_cast_or_null<kernel::StrategyAttr>(func->removeAttr(kernel::kGenericStrategy));
  if (!strategy)
    return nullptr;
  OpBuilder b(func);
  auto generic = cast<func::FuncOp>(b.clone(*func));
  generic.setName((func.getName() + "_generic").str());
  generic->setAttr("kernel.strategy", strategy);
  generic->setAttr(cuda::kGenericVersion, b.getUnitAttr());
  return generic;
}

static int64_t deviceIndex(func::FuncOp func) {
  auto index = func->getAttrOfType<IntegerAttr>("kernel.device_index");
  return index ? index.getInt() : 0;
}

namespace {
struct LowerDeviceKernels : public optc::impl::LowerDeviceKernelsBase<LowerDeviceKernels> {
  using LowerDeviceKernelsBase::LowerDeviceKernelsBase;
  void runOnOperation() override {
    codegen::EmitOptions options(optLevel);
    SmallVector<func::FuncOp> kernels;
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>())
      if (auto strategy = func->getAttrOfType<kernel::StrategyAttr>("kernel.strategy");
          strategy && func->hasAttrOfType<IntegerAttr>("kernel.entry") &&
          kernel::spaceOf(strategy) == kernel::MemorySpace::Device)
        kernels.push_back(func);
    if (kernels.empty())
      return;
    // In the order in which launches count them.
    llvm::stable_sort(kernels, [](func::FuncOp x, func::FuncOp y) { return deviceIndex(x) < deviceIndex(y); });
    OpBuilder b(getOperation().getBody(), getOperation().getBody()->end());
    auto device = gpu::GPUModuleOp::create(b, getOperation().getLoc(), cuda::kDeviceModule);
    for (func::FuncOp func : kernels) {
      func::FuncOp generic = makeGeneric(func);
      if (failed(lowerKernel(func, device, options)) || (generic && failed(lowerKernel(generic, device, options))))
        return signalPassFailure();
    }
  }
};
} // namespace
