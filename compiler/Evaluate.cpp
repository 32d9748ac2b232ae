//===- Evaluate.cpp - compile a module and run it in this process ---------===//
#include "optc/compiler/Evaluate.h"
#include "optc/codegen/CompileError.h"
#include "optc/codegen/Target.h"
#include "optc/codegen/object/EmitObject.h"
#include "optc/compiler/PlanModule.h"
#include "optc/compiler/RuntimeSymbols.h"
#include "optc/runtime/artifact.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"

using namespace mlir;
using namespace optc;
using llvm::Error;
using llvm::Expected;

static constexpr llvm::StringLiteral kName = "optc_evaluated";

namespace {
/// The constants of a module in memory, the way the section of an artifact has them.
class WeightMemory {
public:
  ~WeightMemory() {
    if (data)
      llvm::deallocate_buffer(data, size, kAlign);
  }
  Error fill(ArrayRef<WeightBlob> blobs) {
    for (const WeightBlob &blob : blobs) {
      if (blob.recipe != WeightBlob::Copy)
        return internalError("a packed constant is in the module");
      size = std::max<uint64_t>(size, blob.offset + blob.size());
    }
    data = static_cast<char *>(llvm::allocate_buffer(size, kAlign));
    for (const WeightBlob &blob : blobs)
      if (!blob.bytes.empty())
        std::memcpy(data + blob.offset, blob.bytes.data(), blob.bytes.size());
    return Error::success();
  }
  char *address() const { return data; }

private:
  static constexpr size_t kAlign = 64;
  char *data = nullptr;
  uint64_t size = kAlign;
};
} // namespace

/// Runs a loaded model once.
static Error run(const optc_model_desc *desc, ArrayRef<ArrayRef<char>> inputs,
                 ArrayRef<MutableArrayRef<char>> outputs) {
  if (desc->num_inputs != int32_t(inputs.size()) || desc->num_outputs != int32_t(outputs.size()))
    return internalError("the number of inputs or outputs does not fit");
  SmallVector<const void *> in;
  SmallVector<void *> out;
  for (ArrayRef<char> bytes : inputs)
    in.push_back(bytes.data());
  for (MutableArrayRef<char> bytes : outputs)
    out.push_back(bytes.data());
  optc_error error;
  optc_context *context;
  if (optc_desc_create(desc, /*threads=*/1, &context, &error))
    return environmentError(error.message);
  optc_status status = optc_desc_run(context, in.data(), nullptr, out.data(), nullptr, &error);
  optc_desc_destroy(context);
  return status ? inputError(error.message) : Error::success();
}

/// Links objects into this process and runs the model that they define.
static Error linkAndRun(ArrayRef<SmallVector<char, 0>> objects, const ModelSignature &signature, char *weights,
                        ArrayRef<ArrayRef<char>> inputs, ArrayRef<MutableArrayRef<char>> outputs) {
  Expected<std::unique_ptr<llvm::orc::SelfExecutorProcessControl>> process =
      llvm::orc::SelfExecutorProcessControl::Create(nullptr, std::make_unique<llvm::orc::InPlaceTaskDispatcher>());
  if (!process)
    return process.takeError();
  llvm::orc::ExecutionSession session(std::move(*process));
  std::string reason; // of the first problem; the lookup then only says that it failed
  session.setErrorReporter([&](Error error) {
    std::string text = llvm::toString(std::move(error));
    reason = reason.empty() ? text : reason;
  });
  llvm::orc::ObjectLinkingLayer layer(session);
  llvm::scope_exit end([&] { llvm::consumeError(session.endSession()); });
  llvm::orc::JITDylib &library = session.createBareJITDylib(kName.str());
  llvm::orc::SymbolMap known;
  auto define = [&](StringRef name, void *address) {
    known[session.intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
  };
  for (const RuntimeSymbol &symbol : runtimeSymbols())
    define(symbol.name, symbol.address);
  define(weightSymbol(signature), weights);
  if (Error error = library.define(llvm::orc::absoluteSymbols(std::move(known))))
    return error;
  for (const SmallVector<char, 0> &object : objects)
    if (Error error =
            layer.add(library, llvm::MemoryBuffer::getMemBuffer(StringRef(object.data(), object.size()), kName, false)))
      return error;
  Expected<llvm::orc::ExecutorSymbolDef> found =
      session.lookup({&library}, session.intern(kName.str() + "_descriptor"));
  if (!found) {
    std::string failure = llvm::toString(found.takeError());
    return internalError(reason.empty() ? failure : reason);
  }
  return run(found->getAddress().toPtr<const optc_model_desc *>(), inputs, outputs);
}

Error optc::evaluateModule(ModuleOp module, ArrayRef<ArrayRef<char>> inputs, ArrayRef<MutableArrayRef<char>> outputs) {
  Expected<Target> target = resolveTarget(oldestTarget());
  if (!target)
    return target.takeError();
  Expected<PlannedModel> plan = planModule(module, {/*optLevel=*/0, &*target, kName.str()});
  if (!plan)
    return plan.takeError();
  WeightMemory weights;
  if (Error error = weights.fill(plan->weights))
    return error;
  llvm::LLVMContext context;
  Expected<std::unique_ptr<llvm::Module>> code =
      translateModel(module, context, *target, plan->signature, Linkage::Static);
  if (!code)
    return code.takeError();
  Expected<std::vector<SmallVector<char, 0>>> objects = emitObjects(std::move(*code), *target, /*optLevel=*/0);
  if (!objects)
    return objects.takeError();
  return linkAndRun(*objects, plan->signature, weights.address(), inputs, outputs);
}
