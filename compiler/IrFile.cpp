//===- IrFile.cpp - modules as text, with their constants beside them -----===//
#include "optc/compiler/IrFile.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Parser/Parser.h"
#include "optc/codegen/CompileError.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace optc;

static constexpr llvm::StringLiteral kFileAttr = "optc.weights_file", kTableAttr = "optc.weights";

llvm::Expected<uint64_t> WeightStore::add(ArrayRef<char> bytes) {
  auto [known, isNew] = byAddress.try_emplace({bytes.data(), bytes.size()}, 0);
  if (!isNew)
    return known->second;
  auto hash = llvm::BLAKE3::hash<16>(ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  auto [it, isNewContent] = byHash.try_emplace(StringRef(reinterpret_cast<const char *>(hash.data()), hash.size()), 0);
  if (isNewContent) {
    if (!output) {
      llvm::Expected<OutputFile> made = OutputFile::create(path);
      if (!made)
        return made.takeError();
      output.emplace(std::move(*made));
    }
    it->second = llvm::alignTo(output->size(), 64);
    if (llvm::Error error = output->write(bytes, it->second))
      return std::move(error);
  }
  return known->second = it->second;
}

llvm::Error WeightStore::commit() {
  if (!output)
    return llvm::Error::success();
  llvm::Error error = output->commit();
  output.reset();
  return error;
}

/// In the order of their first use.
static SmallVector<DenseResourceElementsHandle> resourcesOf(ModuleOp module) {
  SmallVector<DenseResourceElementsHandle> handles;
  llvm::StringSet<> seen;
  module->walk([&](Operation *op) {
    op->getAttrDictionary().walk([&](DenseResourceElementsAttr attr) {
      if (seen.insert(attr.getRawHandle().getKey()).second)
        handles.push_back(attr.getRawHandle());
    });
  });
  return handles;
}

llvm::Expected<std::string> optc::printModule(ModuleOp module, WeightStore *store) {
  SmallVector<NamedAttribute> table;
  Builder b(module.getContext());
  if (store)
    for (DenseResourceElementsHandle handle : resourcesOf(module))
      if (AsmResourceBlob *blob = handle.getBlob()) {
        llvm::Expected<uint64_t> offset = store->add(blob->getData());
        if (!offset)
          return offset.takeError();
        table.push_back(b.getNamedAttr(
            handle.getKey(),
            b.getDenseI64ArrayAttr({static_cast<int64_t>(*offset), static_cast<int64_t>(blob->getData().size())})));
      }
  if (!table.empty()) {
    module->setAttr(kFileAttr, b.getStringAttr(llvm::sys::path::filename(store->file())));
    module->setAttr(kTableAttr, b.getDictionaryAttr(table));
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.elideLargeResourceString(0).enableDebugInfo(true, /*prettyForm=*/false);
  module->print(os, flags);
  os << "\n";
  module->removeAttr(kFileAttr);
  module->removeAttr(kTableAttr);
  return text;
}

OwningOpRef<ModuleOp> optc::parseModule(MLIRContext &context, StringRef path, ImportedFiles &files,
                                        Problems &problems) {
  std::string reason;
  const llvm::MemoryBuffer *text = files.map(path, reason);
  if (!text) {
    problems.add("cannot read " + path + ": " + reason);
    return nullptr;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text->getBuffer(), path), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return nullptr;
  auto file = (*module)->getAttrOfType<StringAttr>(kFileAttr);
  auto table = (*module)->getAttrOfType<DictionaryAttr>(kTableAttr);
  if (!file || !table)
    return module;
  SmallString<256> weights = llvm::sys::path::parent_path(path);
  llvm::sys::path::append(weights, llvm::sys::path::filename(file.getValue()));
  const llvm::MemoryBuffer *bytes = files.map(weights, reason);
  if (!bytes) {
    problems.add("cannot read " + Twine(weights) + ", which holds the constants of " + path + ": " + reason);
    return nullptr;
  }
  auto &manager = DenseResourceElementsHandle::getManagerInterface(&context).getBlobManager();
  for (NamedAttribute entry : table) {
    auto range = dyn_cast<DenseI64ArrayAttr>(entry.getValue());
    uint64_t size = bytes->getBufferSize();
    if (!range || range.size() != 2 || range[0] < 0 || range[1] < 0 || uint64_t(range[0]) > size ||
        uint64_t(range[1]) > size - range[0]) {
      problems.add("the constant '" + entry.getName().getValue() + "' of " + path + " lies outside " + weights.str());
      return nullptr;
    }
    if (!manager.lookup(entry.getName().getValue()))
      continue; // nothing in the module uses it
    ArrayRef<char> data(bytes->getBufferStart() + range[0], range[1]);
    manager.update(entry.getName().getValue(), UnmanagedAsmResourceBlob::allocateWithAlign(data, 16));
  }
  (*module)->removeAttr(kFileAttr);
  (*module)->removeAttr(kTableAttr);
  for (DenseResourceElementsHandle handle : resourcesOf(*module))
    if (!handle.getBlob())
      problems.add("the constant '" + handle.getKey() + "' of " + path + " has no bytes");
  return problems.empty() ? std::move(module) : nullptr;
}
