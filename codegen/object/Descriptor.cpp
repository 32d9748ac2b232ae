//===- Descriptor.cpp - the model descriptor and exported thunks ----------===//
//
// The globals that runtime/dispatch.h declares, as relocatable data, and what runtime/artifact.h wants exported.
//
//===----------------------------------------------------------------------===//
#include "optc/codegen/CompileError.h"
#include "optc/codegen/object/EmitObject.h"
#include "optc/runtime/dispatch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace optc;

static_assert(OPTC_DISPATCH_ABI == 4 && sizeof(optc_model_desc) == 96 && sizeof(optc_io_desc) == 40 &&
                  sizeof(optc_device_desc) == 88 && sizeof(optc_device_kernel) == 48 && sizeof(optc_tensor_map) == 120,
              "the constants below spell these structs field by field");

namespace {
/// Makes private constants for the descriptor.
class DescriptorWriter {
public:
  DescriptorWriter(Module &module, const ModelSignature &signature)
      : module(module), signature(signature), context(module.getContext()), ptr(PointerType::getUnqual(context)) {}

  Constant *i32(uint32_t v) { return ConstantInt::get(Type::getInt32Ty(context), v); }
  Constant *i64(uint64_t v) { return ConstantInt::get(Type::getInt64Ty(context), v); }
  Constant *null() { return ConstantPointerNull::get(ptr); }
  GlobalVariable *global(Constant *value, const Twine &name) {
    auto *made =
        new GlobalVariable(module, value->getType(), /*isConstant=*/true, GlobalValue::PrivateLinkage, value, name);
    made->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    return made;
  }
  Constant *text(StringRef s) { return global(ConstantDataArray::getString(context, s), "optc_text"); }
  Constant *texts(ArrayRef<std::string> all) {
    if (all.empty())
      return null();
    SmallVector<Constant *> items;
    for (const std::string &s : all)
      items.push_back(text(s));
    return global(ConstantArray::get(ArrayType::get(ptr, items.size()), items), "optc_symbols");
  }
  /// optc_io_desc.value.
  Constant *defaultOf(const SignatureValue &v) {
    if (v.defaultOffset)
      return ConstantExpr::getGetElementPtr(Type::getInt8Ty(context), declareWeights(module, signature),
                                            i64(*v.defaultOffset));
    if (!v.defaultStrings)
      return null();
    SmallVector<Constant *> items;
    for (const std::string &s : *v.defaultStrings)
      items.push_back(ConstantStruct::getAnon({text(s), i64(s.size())}));
    if (items.empty()) // without elements it still has an address
      items.push_back(ConstantStruct::getAnon({null(), i64(0)}));
    return global(ConstantArray::get(ArrayType::get(items.front()->getType(), items.size()), items), "optc_strings");
  }
  Constant *values(ArrayRef<SignatureValue> all, const Twine &name) {
    if (all.empty())
      return null();
    SmallVector<Constant *> items;
    for (const SignatureValue &v : all) {
      Constant *dims = v.dims.empty()
                           ? null()
                           : global(ConstantDataArray::get(
                                        context, ArrayRef<uint64_t>(reinterpret_cast<const uint64_t *>(v.dims.data()),
                                                                    v.dims.size())),
                                    "optc_dims");
      items.push_back(
          ConstantStruct::getAnon({text(v.name), i32(v.kind), i32(v.dtype), i32(v.rank), dims, defaultOf(v)}));
    }
    return global(ConstantArray::get(ArrayType::get(items.front()->getType(), items.size()), items), name);
  }

  /// optc_device_desc; null without kernels.
  Constant *device(const DeviceModule *device);

private:
  /// Bytes as they are; null when there are none.
  Constant *bytes(ArrayRef<char> data, const Twine &name) {
    if (data.empty())
      return null();
    GlobalVariable *made = global(
        ConstantDataArray::get(context, ArrayRef(reinterpret_cast<const uint8_t *>(data.data()), data.size())), name);
    made->setAlignment(Align(64));
    return made;
  }
  template <typename T> Constant *integers(ArrayRef<T> values) {
    using Unsigned = std::make_unsigned_t<T>;
    return ConstantDataArray::get(context, ArrayRef(reinterpret_cast<const Unsigned *>(values.data()), values.size()));
  }
  Constant *maps(ArrayRef<DeviceTensorMap> all);
  /// optc_device_kernel.
  Constant *kernel(const DeviceKernel &kernel, ArrayRef<DeviceKernel> generic);

  Module &module;
  const ModelSignature &signature;
  LLVMContext &context;
  PointerType *ptr;
};
} // namespace

Constant *DescriptorWriter::maps(ArrayRef<DeviceTensorMap> all) {
  if (all.empty())
    return null();
  SmallVector<Constant *> items;
  for (const DeviceTensorMap &map : all)
    items.push_back(ConstantStruct::getAnon({i32(map.buffer), i32(map.dtype), i32(map.rank), i32(map.swizzle),
                                             i64(map.offsetBytes), integers<int64_t>(map.dims),
                                             integers<int64_t>(map.strides), integers<int32_t>(map.box)}));
  return global(ConstantArray::get(ArrayType::get(items.front()->getType(), items.size()), items), "optc_tensor_maps");
}

Constant *DescriptorWriter::kernel(const DeviceKernel &kernel, ArrayRef<DeviceKernel> generic) {
  Constant *other = kernel.generic < 0 ? null() : global(this->kernel(generic[kernel.generic], {}), "optc_generic");
  return ConstantStruct::getAnon({text(kernel.name), i32(kernel.threads), i32(kernel.sharedBytes), i32(kernel.buffers),
                                  i32(kernel.scalars), i32(kernel.maps.size()), maps(kernel.maps), other});
}

Constant *DescriptorWriter::device(const DeviceModule *device) {
  if (!device || device->kernels.empty())
    return null();
  SmallVector<Constant *> items;
  for (const DeviceKernel &each : device->kernels)
    items.push_back(kernel(each, device->generic));
  auto *backend = new GlobalVariable(module, Type::getInt8Ty(context), /*isConstant=*/true,
                                     GlobalValue::ExternalLinkage, nullptr, "optc_cuda_backend");
  backend->setVisibility(GlobalValue::HiddenVisibility);
  Constant *weights = signature.weightBytes ? static_cast<Constant *>(declareWeights(module, signature)) : null();
  return global(
      ConstantStruct::getAnon({i32(device->capability), i32(items.size()),
                               global(ConstantArray::get(ArrayType::get(items.front()->getType(), items.size()), items),
                                      "optc_device_kernels"),
                               bytes(device->cubin, "optc_cubin"), i64(device->cubin.size()),
                               device->genericPtx.empty() ? null() : text(device->genericPtx),
                               i64(device->genericPtx.size()), bytes(device->emulation, "optc_emulation"),
                               i64(device->emulation.size()), weights, i64(signature.weightBytes), backend}),
      "optc_device");
}

/// `define RESULT @name(ARGS)` that does nothing but call `callee`, which the runtime defines.
static void addThunk(Module &module, const Twine &name, StringRef callee, FunctionType *type) {
  FunctionCallee target = module.getOrInsertFunction(callee, type);
  cast<Function>(target.getCallee())->setVisibility(GlobalValue::HiddenVisibility);
  Function *thunk = Function::Create(type, GlobalValue::ExternalLinkage, name, module);
  thunk->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> b(BasicBlock::Create(module.getContext(), "", thunk));
  SmallVector<Value *> args(llvm::make_pointer_range(thunk->args()));
  CallInst *call = b.CreateCall(target, args);
  call->setTailCallKind(CallInst::TCK_MustTail);
  if (type->getReturnType()->isVoidTy())
    b.CreateRetVoid();
  else
    b.CreateRet(call);
}

Error optc::addDescriptor(Module &module, const optc::Target &target, const ModelSignature &signature, Linkage linkage,
                          const DeviceModule *device) {
  Function *entry = module.getFunction(signature.entry);
  if (!entry || entry->isDeclaration())
    return internalError("the host program '" + signature.entry + "' is missing from the generated code");
  DescriptorWriter w(module, signature);
  Constant *desc = ConstantStruct::getAnon({
      w.i32(OPTC_DISPATCH_ABI),
      w.i32(sizeof(optc_model_desc)),
      w.text(signature.name),
      w.text(signature.metadata),
      w.i32(signature.inputs.size()),
      w.i32(signature.outputs.size()),
      w.i32(signature.symbols.size()),
      w.values(signature.inputs, "optc_inputs"),
      w.values(signature.outputs, "optc_outputs"),
      w.texts(signature.symbols),
      w.i64(signature.arenaBytes),
      w.i64(target.cpuFeatures),
      entry,
      w.device(device),
  });
  bool shared = linkage == Linkage::Shared;
  auto *global = new GlobalVariable(module, desc->getType(), /*isConstant=*/true, GlobalValue::ExternalLinkage, desc,
                                    shared ? "optc_model_descriptor" : signature.name + "_descriptor");
  if (!shared)
    return Error::success();
  global->setVisibility(GlobalValue::HiddenVisibility);
  LLVMContext &context = module.getContext();
  Type *i32 = Type::getInt32Ty(context), *ptr = PointerType::getUnqual(context), *none = Type::getVoidTy(context);
  addThunk(module, signature.name + "_optc_query", "optc_artifact_query", FunctionType::get(ptr, {i32}, false));
  addThunk(module, signature.name + "_create", "optc_artifact_create", FunctionType::get(i32, {i32, ptr, ptr}, false));
  addThunk(module, signature.name + "_run", "optc_artifact_run",
           FunctionType::get(i32, {ptr, ptr, ptr, ptr, ptr, ptr}, false));
  addThunk(module, signature.name + "_destroy", "optc_artifact_destroy", FunctionType::get(none, {ptr}, false));
  return Error::success();
}
