//===- DeviceToLLVM.cpp - kernels of a device in the LLVM dialect ---------===//
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/kernel/Strategy.h"
#include "optc/passes/Passes.h"

namespace optc {
#define GEN_PASS_DEF_DEVICETOLLVM
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

namespace {
struct BindLowering : public ConvertOpToLLVMPattern<kernel::BindOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(kernel::BindOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<MemRefType>(op.getMemref().getType());
    Location loc = op.getLoc();
    auto descriptor = MemRefDescriptor::poison(rewriter, loc, getTypeConverter()->convertType(type));
    descriptor.setAllocatedPtr(rewriter, loc, adaptor.getPtr());
    descriptor.setAlignedPtr(rewriter, loc, adaptor.getPtr());
    descriptor.setConstantOffset(rewriter, loc, 0);
    auto constant = [&](int64_t v) { return createIndexAttrConstant(rewriter, loc, getIndexType(), v); };
    SmallVector<Value> sizes;
    ValueRange dynamic = adaptor.getDims();
    for (int64_t size : type.getShape()) {
      sizes.push_back(ShapedType::isDynamic(size) ? dynamic.front() : constant(size));
      if (ShapedType::isDynamic(size))
        dynamic = dynamic.drop_front();
    }
    // The strides are those of the memory that the buffer is a part of.
    Value stride = constant(1);
    for (int64_t d = type.getRank() - 1; d >= 0; --d) {
      descriptor.setSize(rewriter, loc, d, sizes[d]);
      descriptor.setStride(rewriter, loc, d, stride);
      int64_t stored = op.getStored() ? (*op.getStored())[d] : ShapedType::kDynamic;
      if (d > 0)
        stride =
            LLVM::MulOp::create(rewriter, loc, stride, ShapedType::isDynamic(stored) ? sizes[d] : constant(stored));
    }
    rewriter.replaceOp(op, Value(descriptor));
    return success();
  }
};

/// A place in shared memory as a memref (DeviceBody::shared).
struct PlaceLowering : public ConvertOpToLLVMPattern<UnrealizedConversionCastOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(UnrealizedConversionCastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = op->getNumResults() == 1 ? dyn_cast<MemRefType>(op.getResult(0).getType()) : MemRefType();
    if (!type || !type.hasStaticShape() || op.getInputs().size() != 1 ||
        !isa<LLVM::LLVMPointerType>(op.getInputs()[0].getType()))
      return rewriter.notifyMatchFailure(op, "not an address as a memref");
    Value descriptor =
        MemRefDescriptor::fromStaticShape(rewriter, op.getLoc(), *getTypeConverter(), type, adaptor.getInputs()[0]);
    rewriter.replaceOp(op, descriptor);
    return success();
  }
};
} // namespace

static LogicalResult convert(gpu::GPUModuleOp device) {
  MLIRContext *context = device.getContext();
  LLVMTypeConverter converter(context);
  RewritePatternSet patterns(context);
  patterns.add<BindLowering, PlaceLowering>(converter);
  // libdevice first: what it has not stays an intrinsic that LLVM knows how to compute.
  populateLibDeviceConversionPatterns(converter, patterns, /*benefit=*/10);
  populateMathToLLVMConversionPatterns(converter, patterns, /*approximateLog1p=*/false);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateComplexToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalDialect<NVVM::NVVMDialect>();
  target.addLegalOp<gpu::GPUModuleOp>();
  target.addDynamicallyLegalOp<UnrealizedConversionCastOp>([](UnrealizedConversionCastOp op) {
    return !isa<MemRefType>(op.getResult(0).getType()) || !isa<LLVM::LLVMPointerType>(op.getOperand(0).getType());
  });
  if (failed(applyFullConversion(device, target, std::move(patterns))))
    return failure();
  OpBuilder b(context);
  for (auto func : device.getOps<LLVM::LLVMFuncOp>()) {
    auto strategy = func->getAttrOfType<kernel::StrategyAttr>("kernel.strategy");
    if (!strategy)
      continue; // a declaration of libdevice
    func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
    for (unsigned i = 0; i < func.getNumArguments(); ++i) // tensor maps stay where they are
      if (func.getArgAttr(i, LLVM::LLVMDialect::getByValAttrName()))
        func.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
    int32_t threads = strategy.getBlocks()[0];
    func->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(), b.getDenseI32ArrayAttr({threads}));
    // Without it ptxas ignores the register counts that a kernel asks for.
    func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(1));
  }
  return success();
}

namespace {
struct DeviceToLLVM : public optc::impl::DeviceToLLVMBase<DeviceToLLVM> {
  void runOnOperation() override {
    for (auto device : getOperation().getOps<gpu::GPUModuleOp>())
      if (failed(convert(device)))
        return signalPassFailure();
  }
};
} // namespace
