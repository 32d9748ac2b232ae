//===- Report.cpp - what a compilation did, as JSON -----------------------===//
#include "optc/compiler/Report.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "optc/compiler/Diagnostics.h"
#include "optc/compiler/Version.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/kernel/TensorTile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/BLAKE3.h"
#include <climits>

using namespace mlir;
using namespace optc;
namespace json = llvm::json;

/// JSON strings are UTF-8; ONNX names need not be.
static std::string utf8(StringRef s) { return json::isUTF8(s) ? s.str() : json::fixUTF8(s); }

/// Multiply-adds of the products and convolutions in a dispatch; nothing where there are none or a size is not known.
static std::optional<int64_t> multiplyAdds(kernel::DispatchOp dispatch) {
  double sum = 0;
  WalkResult walked = dispatch->walk([&](linalg::LinalgOp op) {
    auto has = [&](auto test) { return llvm::any_of(*op.getBlock(), test); };
    if (op.getNumReductionLoops() == 0 ||
        !has([](Operation &inner) { return isa<arith::MulFOp, arith::MulIOp>(inner); }) ||
        !has([](Operation &inner) { return isa<arith::AddFOp, arith::AddIOp>(inner); }))
      return WalkResult::advance();
    double count = 1;
    for (int64_t size : op.getStaticLoopRanges()) {
      if (ShapedType::isDynamic(size))
        return WalkResult::interrupt();
      count *= size;
    }
    sum += count;
    return WalkResult::advance();
  });
  return walked.wasInterrupted() || sum == 0 || sum > 1e18 ? std::nullopt : std::optional<int64_t>(sum);
}

void Report::collectKernels(ModuleOp module) {
  module->walk([&](kernel::ForeignOp op) {
    json::Object entry{{"label", utf8(op.getSymbol())}, {"family", "foreign"}, {"reason", "an operator of a plugin"}};
    entry["nodes"] = json::Array{utf8(nodeName(op.getLoc()))};
    kernels.push_back(std::move(entry));
  });
  module->walk([&](kernel::DispatchOp op) {
    json::Object entry{{"label", utf8(op.getLabel())}};
    if (kernel::StrategyAttr strategy = op.getStrategyAttr()) {
      entry["family"] = utf8(strategy.getFamily().getValue());
      entry["reason"] = utf8(strategy.getReason().getValue());
      for (auto [name, values] : {std::pair("groups", strategy.getGroups()), std::pair("tiles", strategy.getTiles()),
                                  std::pair("blocks", strategy.getBlocks())})
        entry[name] = json::Array(values.asArrayRef());
      entry["scratch_bytes"] = strategy.getScratch();
    }
    if (auto generic = op->getAttrOfType<kernel::StrategyAttr>(kernel::kGenericStrategy)) // what runs on other devices
      entry["generic_family"] = utf8(generic.getFamily().getValue());
    if (auto reasons = op->getAttrOfType<ArrayAttr>("kernel.declined")) {
      json::Array declined;
      for (auto reason : reasons.getAsRange<StringAttr>())
        declined.push_back(utf8(reason.getValue()));
      entry["declined_fusions"] = std::move(declined);
    }
    if (std::optional<int64_t> count = multiplyAdds(op))
      entry["multiply_adds"] = *count;
    llvm::StringSet<> seen;
    json::Array nodes;
    op->walk([&](Operation *inner) {
      if (std::string name = nodeName(inner->getLoc()); !name.empty() && seen.insert(name).second)
        nodes.push_back(utf8(name));
    });
    entry["nodes"] = std::move(nodes);
    kernels.push_back(std::move(entry));
  });
}

static json::Object targetJson(const Target &target) {
  json::Object all{{"triple", target.triple},          {"cpu", target.cpu},          {"features", target.features},
                   {"vector_bits", target.vectorBits}, {"l1_bytes", target.l1Bytes}, {"l2_bytes", target.l2Bytes}};
  if (const DeviceTarget *device = target.device)
    all["device"] = json::Object{{"name", device->name},
                                 {"chip", device->chip},
                                 {"multiprocessors", device->multiprocessors},
                                 {"shared_bytes", device->sharedBytes}};
  return all;
}

/// What ptxas says of the kernels, and a sum per family.
static json::Object deviceJson(const DeviceModule &device) {
  json::Array kernels;
  struct Sum {
    int64_t kernels = 0, registers = 0, sharedBytes = 0, spills = 0;
  };
  std::map<std::string, Sum> families;
  json::Array generic;
  for (const DeviceKernel &kernel : device.generic)
    generic.push_back(json::Object{{"name", utf8(kernel.name)},
                                   {"family", kernel.family},
                                   {"threads", kernel.threads},
                                   {"shared_bytes", kernel.sharedBytes}});
  for (const DeviceKernel &kernel : device.kernels) {
    int64_t shared = kernel.sharedBytes + kernel.staticSharedBytes, spills = kernel.spillStores + kernel.spillLoads;
    json::Object entry{{"name", utf8(kernel.name)},
                       {"family", kernel.family},
                       {"threads", kernel.threads},
                       {"registers", kernel.registers},
                       {"shared_bytes", shared},
                       {"stack_bytes", kernel.stackBytes},
                       {"spill_store_bytes", kernel.spillStores},
                       {"spill_load_bytes", kernel.spillLoads}};
    if (!kernel.notes.empty())
      entry["notes"] = json::Array(kernel.notes);
    kernels.push_back(std::move(entry));
    Sum &sum = families[kernel.family];
    ++sum.kernels;
    sum.registers = std::max<int64_t>(sum.registers, kernel.registers);
    sum.sharedBytes = std::max(sum.sharedBytes, shared);
    sum.spills += spills;
  }
  json::Object perFamily;
  for (const auto &[name, sum] : families)
    perFamily[name] = json::Object{{"kernels", sum.kernels},
                                   {"most_registers", sum.registers},
                                   {"most_shared_bytes", sum.sharedBytes},
                                   {"spill_bytes", sum.spills}};
  return json::Object{{"kernels", std::move(kernels)},         {"families", std::move(perFamily)},
                      {"generic_kernels", std::move(generic)}, {"generic_ptx_bytes", device.genericPtx.size()},
                      {"ptx_bytes", device.ptx.size()},        {"cubin_bytes", device.cubin.size()},
                      {"codegen_ms", device.codegenMs},        {"assemble_ms", device.assembleMs}};
}

static json::Array valuesJson(ArrayRef<SignatureValue> values, ArrayRef<std::string> symbols) {
  json::Array all;
  for (const SignatureValue &v : values) {
    json::Array dims;
    for (int64_t d : v.dims)
      if (d >= 0)
        dims.push_back(d);
      else if (d == INT64_MIN || static_cast<size_t>(-1 - d) >= symbols.size())
        dims.push_back("?");
      else
        dims.push_back(utf8(symbols[-1 - d]));
    json::Object entry{{"name", utf8(v.name)}, {"kind", v.kind}, {"dtype", v.dtype}, {"rank", v.rank}};
    entry["shape"] = std::move(dims);
    all.push_back(std::move(entry));
  }
  return all;
}

/// With the options of the passes; null without plugins.
static json::Value pluginsJson(const Options &options) {
  if (!options.plugins || options.plugins->empty())
    return nullptr;
  json::Array all;
  for (const Plugin &plugin : options.plugins->plugins()) {
    json::Object passOptions;
    for (const PluginPass &pass : plugin.passes)
      if (auto given = options.passOptions.find(pass.name); given != options.passOptions.end())
        passOptions[pass.name] = utf8(given->second);
    all.push_back(json::Object{
        {"name", utf8(plugin.name)}, {"version", utf8(plugin.version)}, {"options", std::move(passOptions)}});
  }
  return all;
}

json::Object Report::toJson(const Options &options) const {
  json::Object root{{"optc", OPTC_VERSION}, {"model", utf8(options.model)},  {"output", utf8(options.output)},
                    {"name", options.name}, {"opt_level", options.optLevel}, {"exit_code", exitCode}};
  root["status"] = exitCode == 0 ? "ok" : "error";
  json::Array list;
  for (const std::string &problem : problems)
    list.push_back(utf8(problem));
  root["problems"] = std::move(list);
  if (json::Value plugins = pluginsJson(options); plugins.getAsArray())
    root["plugins"] = std::move(plugins);
  if (target)
    root["target"] = targetJson(*target);
  json::Array times;
  for (const auto &[name, ms] : phaseMs)
    times.push_back(json::Object{{"name", name}, {"ms", ms}});
  root["phases"] = std::move(times);
  if (signature) {
    root["inputs"] = valuesJson(signature->inputs, signature->symbols);
    root["outputs"] = valuesJson(signature->outputs, signature->symbols);
    root["arena_bytes"] = signature->arenaBytes;
    json::Array fallbacks;
    for (const std::string &text : signature->hostFallbacks)
      fallbacks.push_back(utf8(text));
    root["host_fallbacks"] = std::move(fallbacks);
    if (signature->runTimeSized) {
      root["peak_bytes"] = "depends on run-time sizes";
      root["run_time_sized"] = utf8(*signature->runTimeSized);
    } else {
      root["peak_bytes"] = signature->arenaBytes;
    }
  }
  if (device)
    root["device"] = deviceJson(*device);
  if (artifact)
    root["artifact"] = json::Object{{"code_bytes", artifact->codeBytes}, {"weight_bytes", artifact->weightBytes},
                                    {"file_bytes", artifact->fileBytes}, {"translate_ms", artifact->translateMs},
                                    {"codegen_ms", artifact->codegenMs}, {"weights_ms", artifact->weightsMs},
                                    {"link_ms", artifact->linkMs}};
  if (compression)
    root["compression"] = json::Object(*compression);
  root["kernels"] = json::Array(kernels);
  return root;
}

std::string optc::artifactMetadata(const Options &options, const Target &target, StringRef modelBytes) {
  auto hash = llvm::BLAKE3::hash<16>(
      ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(modelBytes.data()), modelBytes.size()));
  json::Object root{{"optc", OPTC_VERSION}, {"llvm", LLVM_VERSION_STRING}, {"opt_level", options.optLevel}};
  root["name"] = options.name;
  root["model_blake3"] = llvm::toHex(hash, /*LowerCase=*/true);
  root["target"] = targetJson(target);
  if (json::Value plugins = pluginsJson(options); plugins.getAsArray())
    root["plugins"] = std::move(plugins);
  if (const CompressionOptions &c = options.compression; c.isActive())
    root["precision"] = nameOf(c.precision);
  if (!options.compression.pruneTexts.empty())
    root["prune"] = json::Array(options.compression.pruneTexts);
  if (!options.dims.empty()) {
    json::Object dims;
    for (const auto &[name, n] : options.dims)
      dims[utf8(name)] = n;
    root["dims"] = std::move(dims);
  }
  if (!options.shapes.empty()) {
    json::Object shapes;
    for (const auto &[name, shape] : options.shapes)
      shapes[utf8(name)] = json::Array(shape);
    root["shapes"] = std::move(shapes);
  }
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(root)); // keys are printed in order
  return text;
}
