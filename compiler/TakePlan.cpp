//===- TakePlan.cpp - signature and constants of a planned module ---------===//
#include "mlir/IR/DialectResourceBlobManager.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/dialects/onnx/Types.h"
#include "optc/passes/Pipelines.h"
#include "llvm/ADT/StringMap.h"
#include <climits>

using namespace mlir;
using namespace optc;

/// How the bytes of a constant of this type become panels.
static WeightBlob::Panels panelsOf(ShapedType type, kernel::PackingAttr packing) {
  SmallVector<uint64_t> strides(type.getRank(), 1);
  for (int64_t i = type.getRank() - 1; i > 0; --i)
    strides[i - 1] = strides[i] * type.getDimSize(i);
  WeightBlob::Panels panels;
  for (auto [dims, axes] : {std::pair(packing.getOuter(), &panels.outer), std::pair(packing.getN(), &panels.n),
                            std::pair(packing.getK(), &panels.k)})
    for (int64_t dim : dims.asArrayRef())
      axes->push_back({static_cast<uint64_t>(type.getDimSize(dim)), strides[dim]});
  panels.lanes = packing.getLanes();
  panels.depth = packing.getDepth();
  panels.run = packing.getRun();
  auto stored = kernel::packedType(RankedTensorType::get(type.getShape(), type.getElementType()), packing);
  panels.perByte = stored && stored.getElementType().isInteger(4) ? 2 : 1;
  panels.addsBias = panels.perByte == 2 && !stored.getElementType().isUnsignedInteger();
  panels.elementBytes = std::max(type.getElementTypeBitWidth() / 8, 1u);
  return panels;
}

/// The bytes of an attribute in storage form. Bytes that the attribute does not hold as they are stored (splats, bits
/// of bools) are made in `owned`, an attribute of the same context.
static FailureOr<WeightBlob> takeWeight(kernel::WeightOp op) {
  WeightBlob blob;
  blob.offset = op.getOffset();
  ElementsAttr value = op.getValue();
  auto type = cast<ShapedType>(value.getType());
  Type elem = type.getElementType();
  if (op.getPacking())
    blob.panels = panelsOf(type, *op.getPacking());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *data = resource.getRawHandle().getBlob();
    if (!data)
      return op.emitError("the bytes of constant '") << resource.getRawHandle().getKey() << "' are missing";
    blob.bytes = data->getData();
    unsigned bits = elem.isIntOrFloat() ? elem.getIntOrFloatBitWidth() : 8;
    if (bits < 8 && !elem.isInteger(1)) {
      bool isUnsigned = !elem.isSignlessInteger();
      blob.recipe = bits == 2 ? (isUnsigned ? WeightBlob::UnpackCrumbsUnsigned : WeightBlob::UnpackCrumbsSigned)
                              : (isUnsigned ? WeightBlob::UnpackNibblesUnsigned : WeightBlob::UnpackNibblesSigned);
      blob.count = type.getNumElements();
    }
    return blob;
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense || !elem.isIntOrFloat())
    return op.emitError("has a constant of a kind that has no bytes");
  if (!dense.isSplat()) {
    blob.bytes = dense.getRawData();
    return blob;
  }
  // Spread a splat: it is a resource from here on, owned by the context.
  int64_t size = llvm::divideCeil(elem.getIntOrFloatBitWidth(), 8), count = type.getNumElements();
  AsmResourceBlob data = HeapAsmResourceBlob::allocate(std::max<int64_t>(size * count, 1), 64);
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(data.getMutableData().data() + i * size, dense.getRawData().data(), size);
  auto spread = DenseResourceElementsAttr::get(type, "splat", std::move(data));
  blob.bytes = spread.getRawHandle().getBlob()->getData().take_front(size * count);
  return blob;
}

static SignatureValue describe(DictionaryAttr attrs, unsigned index, bool isInput, ModelSignature &signature,
                               llvm::StringMap<int64_t> &symbols) {
  SignatureValue out;
  auto name = attrs.getAs<StringAttr>("onnx.name");
  out.name = name ? name.str() : (isInput ? "input" : "output") + std::to_string(index);
  Type type = cast<TypeAttr>(attrs.get("onnx.type")).getValue();
  if (auto optional = dyn_cast<onnx::OptType>(type)) {
    out.kind = 2;
    type = optional.getElementType();
  }
  if (auto sequence = dyn_cast<onnx::SeqType>(type)) {
    out.kind = out.kind == 2 ? 3 : 1;
    type = sequence.getElementType();
  }
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return out;
  out.dtype = onnx::dataTypeOf(tensor.getElementType());
  out.rank = tensor.hasRank() ? tensor.getRank() : -1;
  if (auto offset = attrs.getAs<IntegerAttr>("kernel.default"))
    out.defaultOffset = offset.getInt();
  if (auto strings = attrs.getAs<ArrayAttr>("kernel.default")) {
    std::vector<std::string> &all = out.defaultStrings.emplace();
    for (StringRef s : strings.getAsValueRange<StringAttr>())
      all.push_back(s.str());
  }
  auto params = attrs.getAs<ArrayAttr>("onnx.dim_params");
  for (int64_t i = 0; i < out.rank; ++i) {
    if (!tensor.isDynamicDim(i)) {
      out.dims.push_back(tensor.getDimSize(i));
      continue;
    }
    StringRef param =
        params && i < static_cast<int64_t>(params.size()) ? cast<StringAttr>(params[i]).getValue() : StringRef();
    if (param.empty()) {
      out.dims.push_back(INT64_MIN);
      continue;
    }
    auto [it, isNew] = symbols.try_emplace(param, signature.symbols.size());
    if (isNew)
      signature.symbols.push_back(param.str());
    out.dims.push_back(-1 - it->second);
  }
  return out;
}

FailureOr<PlannedModel> optc::takePlan(ModuleOp module) {
  PlannedModel plan;
  Operation *host = module.lookupSymbol("host_main");
  auto inputs = host ? host->getAttrOfType<ArrayAttr>("kernel.inputs") : ArrayAttr();
  auto outputs = host ? host->getAttrOfType<ArrayAttr>("kernel.outputs") : ArrayAttr();
  if (!inputs || !outputs)
    return module.emitError("the module has no planned host program");
  llvm::StringMap<int64_t> symbols;
  for (auto [i, attr] : llvm::enumerate(inputs.getAsRange<DictionaryAttr>()))
    plan.signature.inputs.push_back(describe(attr, i, true, plan.signature, symbols));
  for (auto [i, attr] : llvm::enumerate(outputs.getAsRange<DictionaryAttr>()))
    plan.signature.outputs.push_back(describe(attr, i, false, plan.signature, symbols));
  plan.signature.arenaBytes = host->getAttrOfType<IntegerAttr>("kernel.arena_bytes").getInt();
  if (auto node = host->getAttrOfType<StringAttr>("kernel.run_time_sized"))
    plan.signature.runTimeSized = node.str();
  if (auto texts = host->getAttrOfType<ArrayAttr>("kernel.host_fallbacks"))
    for (StringRef text : texts.getAsValueRange<StringAttr>())
      plan.signature.hostFallbacks.push_back(text.str());
  for (StringRef attr : {"kernel.inputs", "kernel.outputs", "kernel.arena_bytes", "kernel.run_time_sized",
                         "kernel.host", "kernel.on_device", "kernel.host_fallbacks"})
    host->removeAttr(attr);
  for (auto op : llvm::make_early_inc_range(module.getOps<kernel::WeightOp>())) {
    FailureOr<WeightBlob> blob = takeWeight(op);
    if (failed(blob))
      return failure();
    plan.signature.weightBytes = std::max(plan.signature.weightBytes, blob->offset + blob->size());
    plan.weights.push_back(*blob);
    op.erase();
  }
  return plan;
}
