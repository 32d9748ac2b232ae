//===- Journal.cpp - what pruning did to which layer ----------------------===//
#include "optc/passes/compress/Journal.h"
#include "mlir/IR/Builders.h"
#include "optc/dialects/onnx/Names.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace optc;

void PruneJournal::add(Operation *layer, ArrayRef<NamedAttribute> fields) {
  Builder b(layer->getContext());
  NamedAttrList all(fields);
  all.set("layer", b.getStringAttr(onnx::nodeName(layer->getLoc())));
  all.set("op", b.getStringAttr(layer->getName().stripDialect()));
  entries.push_back(all.getDictionary(layer->getContext()));
}

void PruneJournal::pruned(Operation *layer, StringRef method, StringRef what, int64_t before, int64_t after) {
  Builder b(layer->getContext());
  add(layer,
      {b.getNamedAttr("method", b.getStringAttr(method)), b.getNamedAttr("what", b.getStringAttr(what)),
       b.getNamedAttr("before", b.getI64IntegerAttr(before)), b.getNamedAttr("after", b.getI64IntegerAttr(after))});
}

void PruneJournal::skip(Operation *layer, StringRef method, const Twine &reason) {
  Builder b(layer->getContext());
  add(layer, {b.getNamedAttr("method", b.getStringAttr(method)), b.getNamedAttr("reason", b.getStringAttr(reason))});
}

std::string PruneJournal::methodName(StringRef kind, double share) {
  std::string text;
  llvm::raw_string_ostream(text) << kind << ":" << llvm::format("%g", share);
  return text;
}

void PruneJournal::store(ModuleOp module) {
  if (entries.empty())
    return;
  SmallVector<Attribute> all;
  if (auto before = module->getAttrOfType<ArrayAttr>(kAttr))
    llvm::append_range(all, before);
  llvm::append_range(all, entries);
  module->setAttr(kAttr, ArrayAttr::get(module.getContext(), all));
  entries.clear();
}
