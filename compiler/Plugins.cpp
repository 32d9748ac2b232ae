//===- Plugins.cpp - the loaded plugins and what they add -------------------===//
#include "optc/compiler/Plugins.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "optc/codegen/object/Artifact.h"
#include "optc/compiler/Dialects.h"
#include "optc/compiler/Phases.h"
#include "optc/compiler/PluginApi.h"
#include "optc/compiler/PluginFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace optc;
using llvm::Error;
using llvm::Expected;

StringRef optc::buildId() { return OPTC_BUILD_ID; }

static StringRef nameOf(PluginPosition position) { return position == PluginPosition::Before ? "before" : "after"; }

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void PluginRegistrar::refuse(const Twine &reason) {
  if (firstProblem.empty())
    firstProblem = reason.str();
}

void PluginRegistrar::registerPass(PassFactory create) {
  std::unique_ptr<Pass> pass = create ? create() : nullptr;
  if (!pass)
    return refuse("a factory of it makes no pass");
  std::string name = pass->getArgument().str();
  if (name.empty())
    return refuse("its pass '" + pass->getName() + "' has no name for the command line (getArgument)");
  if (llvm::any_of(plugin.passes, [&](const PluginPass &p) { return p.name == name; }))
    return; // known from another insertion point
  if (PassInfo::lookup(name) || PassPipelineInfo::lookup(name))
    return refuse("its pass '" + name + "' has the name of a pass that exists; give it another getArgument");
  mlir::registerPass(create);
  plugin.passes.push_back({name, nullptr, PluginPosition::Before, std::move(create)});
}

void PluginRegistrar::insertPass(PluginPosition position, StringRef phaseName, PassFactory create) {
  const Phase *phase = findPhase(phaseName);
  if (!phase || !phase->addPasses) {
    std::vector<std::string> names;
    for (const Phase &p : phases())
      if (p.addPasses)
        names.push_back(p.name.str());
    return refuse("it inserts a pass " + nameOf(position) + " the phase '" + phaseName +
                  "', where none can be; the phases with passes are " + llvm::join(names, ", "));
  }
  registerPass(create);
  if (firstProblem.empty())
    plugin.passes.push_back({create()->getArgument().str(), phase, position, std::move(create)});
}

void PluginRegistrar::addDialect(TypeID type, StringRef name, const DialectAllocatorFunction &make) {
  if (name == onnx::kPluginDialect)
    return refuse("its dialect has the name '" + name + "', which is that of the operators of plugins");
  if (llvm::is_contained(plugin.dialectNames, name))
    return;
  DialectRegistry own;
  registerDialects(own);
  if (own.getDialectAllocator(name)) {
    // The same dialect again does no harm, another one of that name ends the process inside MLIR.
    MLIRContext context(own);
    if (context.getOrLoadDialect(name)->getTypeID() != type)
      return refuse("its dialect '" + name + "' has the name of a dialect of optc");
    return;
  }
  plugin.dialectNames.push_back(name.str());
  plugin.dialects.insert(type, name, make);
}

void PluginRegistrar::addOperator(onnx::CustomOperator op) { plugin.operators.push_back(std::move(op)); }

void PluginRegistrar::addKernels(StringRef file) {
  SmallString<256> path(file);
  if (llvm::sys::path::is_relative(file)) {
    path = llvm::sys::path::parent_path(plugin.file);
    llvm::sys::path::append(path, file);
  }
  if (!llvm::sys::fs::is_regular_file(path))
    return refuse("the file with its kernels, " + path + ", cannot be read");
  plugin.kernelFiles.push_back(std::string(path));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static StringRef text(const char *s) { return s ? StringRef(s) : StringRef("(none)"); }

/// The names of the flags that are set in one of two words only.
static std::string flagNames(uint64_t flags) {
  static constexpr std::pair<uint64_t, llvm::StringLiteral> kNames[] = {
      {OPTC_PLUGIN_CXX11_ABI, "_GLIBCXX_USE_CXX11_ABI"},
      {OPTC_PLUGIN_DEBUG_STL, "_GLIBCXX_DEBUG"},
      {OPTC_PLUGIN_STATISTICS, "NDEBUG"},
      {OPTC_PLUGIN_ABI_CHECKS, "LLVM_ENABLE_ABI_BREAKING_CHECKS"},
      {OPTC_PLUGIN_ADDRESS_SAN, "-fsanitize=address"}};
  std::vector<std::string> names;
  for (const auto &[bit, name] : kNames)
    if (flags & bit)
      names.push_back(name.str());
  return names.empty() ? "flags that this optc does not know" : llvm::join(names, ", ");
}

/// Empty when a description fits; else why it does not, and what to do.
static std::string misfit(const optc_plugin_info &info) {
  static constexpr llvm::StringLiteral kRebuild = "; build it again against this optc (find_package(optc))";
  if (info.abi != OPTC_PLUGIN_ABI)
    return ("it has version " + Twine(info.abi) + " of the plugin interface, this optc has version " +
            Twine(OPTC_PLUGIN_ABI) + kRebuild)
        .str();
  if (info.size != sizeof(optc_plugin_info))
    return ("its optc_plugin_info has " + Twine(info.size) + " bytes, that of this optc has " +
            Twine(sizeof(optc_plugin_info)) + kRebuild)
        .str();
  if (text(info.llvm_version) != LLVM_VERSION_STRING)
    return ("it was built with LLVM " + text(info.llvm_version) + ", this optc with LLVM " LLVM_VERSION_STRING +
            kRebuild)
        .str();
  if (text(info.build_id) != OPTC_BUILD_ID)
    return ("it was built against another optc (build " + text(info.build_id) + ", this is build " OPTC_BUILD_ID ")" +
            kRebuild)
        .str();
  const void *mlirCopy = TypeID::get<ModuleOp>().getAsOpaquePointer(),
             *optcCopy = TypeID::get<onnx::OnnxDialect>().getAsOpaquePointer();
  if (std::string id = buildIdOfAddress(mlirCopy); text(info.mlir_build_id) != id)
    return ("it was built with the libMLIR of build ID " + text(info.mlir_build_id) + ", optc runs on " +
            fileOfAddress(mlirCopy) + " of build ID " + id + "; build optc and then the plugin again")
        .str();
  if (uint64_t wrong = info.flags ^ OPTC_PLUGIN_FLAGS)
    return "it was compiled with other settings than optc that change the layout of objects: " + flagNames(wrong) +
           "; optc_add_pass_plugin of optc's CMake package sets them";
  for (auto [name, theirs, ours] :
       {std::tuple("MLIR", info.mlir_copy, mlirCopy), std::tuple("optc", info.optc_copy, optcCopy)})
    if (theirs != ours)
      return (Twine("it is linked with another copy of ") + name + " (" + fileOfAddress(theirs) +
              ") than optc, which uses " + fileOfAddress(ours) + "; link it with the CMake target optc::optc only")
          .str();
  if (!info.name || !*info.name || !info.version || !info.register_plugin)
    return "its optc_plugin_info lacks the name, the version or register_plugin";
  return "";
}

Error PluginSet::add(const optc_plugin_info &info, StringRef file) {
  auto refused = [&](const Twine &reason) { return usageError("the plugin " + file + " cannot be used: " + reason); };
  if (std::string reason = misfit(info); !reason.empty())
    return refused(reason);
  for (const Plugin &other : loaded)
    if (other.name == info.name)
      return refused("the plugin " + other.file + " has the same name, '" + other.name + "'; load one of them");
  registerPasses(); // so that names that clash are found
  Plugin &plugin = loaded.emplace_back();
  plugin.name = info.name;
  plugin.version = info.version;
  plugin.file = file.str();
  PluginRegistrar registrar(plugin);
  info.register_plugin(&registrar);
  std::string reason = registrar.problem();
  if (reason.empty() && plugin.passes.empty() && plugin.dialectNames.empty() && plugin.operators.empty())
    reason = "it registers nothing";
  if (reason.empty() && !plugin.operators.empty() && plugin.kernelFiles.empty())
    reason = "it has operators, but no file with their kernels (addKernels)";
  for (const Plugin &other : loaded)
    for (const std::string &name : plugin.dialectNames)
      if (&other != &plugin && llvm::is_contained(other.dialectNames, name))
        reason = "its dialect '" + name + "' has the name of a dialect of the plugin '" + other.name + "'";
  for (const onnx::CustomOperator &op : plugin.operators)
    if (reason.empty())
      reason = onnx::addCustomOperator(op);
  if (reason.empty())
    return Error::success();
  loaded.pop_back();
  return refused(reason);
}

Error PluginSet::load(StringRef file) {
  SmallString<256> path;
  if (std::error_code why = llvm::sys::fs::real_path(file, path))
    return usageError("the plugin " + file + " cannot be used: it cannot be read: " + why.message());
  for (const Plugin &plugin : loaded)
    if (plugin.file == path.str())
      return Error::success();
  Expected<const optc_plugin_info *> info = openPlugin(std::string(path));
  if (!info)
    return usageError("the plugin " + file + " cannot be used: " + llvm::toString(info.takeError()));
  return add(**info, path);
}

Error PluginSet::load(ArrayRef<std::string> files, const char *environment) {
  SmallVector<StringRef> all;
  StringRef(environment ? environment : "").split(all, ':', -1, /*KeepEmpty=*/false);
  all.append(files.begin(), files.end());
  for (StringRef file : all)
    if (Error error = load(file))
      return error;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Use
//===----------------------------------------------------------------------===//

std::string PluginSet::names() const {
  return llvm::join(llvm::map_range(loaded, [](const Plugin &p) { return p.name; }), ", ");
}

void PluginSet::registerDialects(DialectRegistry &registry) const {
  for (const Plugin &plugin : loaded)
    plugin.dialects.appendTo(registry);
  onnx::registerCustomDialect(registry);
}

Expected<std::vector<std::string>> PluginSet::kernelFiles(ModuleOp module, const Target &target) const {
  std::vector<std::string> files;
  for (const Plugin &plugin : loaded) {
    auto used = llvm::find_if(
        plugin.operators, [&](const onnx::CustomOperator &op) { return module.lookupSymbol(op.kernel) != nullptr; });
    if (used == plugin.operators.end())
      continue;
    size_t before = files.size();
    for (const std::string &file : plugin.kernelFiles) {
      Expected<bool> fits = isForTarget(file, target);
      if (!fits)
        return fits.takeError();
      if (*fits)
        files.push_back(file);
    }
    if (files.size() == before)
      return usageError("the plugin '" + plugin.name + "' has no kernel of " + used->domain + "." + used->name +
                        " for " + StringRef(target.triple).split('-').first + "; there is " +
                        llvm::join(plugin.kernelFiles, ", "));
  }
  return files;
}

static std::string pipelineOf(Pass &pass) {
  std::string text;
  llvm::raw_string_ostream os(text);
  pass.printAsTextualPipeline(os);
  return text;
}

/// A new pass with its options set. The error is the reason alone.
static Expected<std::unique_ptr<Pass>> makePass(const PluginPass &entry, StringRef options) {
  std::unique_ptr<Pass> pass = entry.create();
  std::string reason;
  if (failed(pass->initializeOptions(options, [&](const Twine &message) {
        std::string text = message.str();
        StringRef sentence = StringRef(text).trim();
        sentence.consume_front("<Pass-Options-Parser>: ");
        reason += (reason.empty() ? "" : "; ") + sentence.str();
        return failure();
      })))
    return internalError(reason.empty() ? "the value does not fit" : reason);
  return pass;
}

Expected<std::vector<std::string>> PluginSet::addPasses(OpPassManager &pm, const Phase &phase, PluginPosition position,
                                                        const PassOptionTexts &options) const {
  std::vector<std::string> names;
  for (const Plugin &plugin : loaded)
    for (const PluginPass &entry : plugin.passes) {
      if (entry.phase != &phase || entry.position != position)
        continue;
      auto given = options.find(entry.name);
      Expected<std::unique_ptr<Pass>> pass = makePass(entry, given == options.end() ? "" : StringRef(given->second));
      if (!pass)
        return pass.takeError();
      std::optional<StringRef> anchor = (*pass)->getOpName();
      if (anchor && *anchor != ModuleOp::getOperationName())
        pm.nest(*anchor).addPass(std::move(*pass));
      else
        pm.addPass(std::move(*pass));
      names.push_back("'" + entry.name + "' of the plugin '" + plugin.name + "'");
    }
  return names;
}

Error PluginSet::addOption(StringRef text, PassOptionTexts &options) const {
  auto [name, setting] = text.split(':');
  const PluginPass *entry = nullptr;
  std::vector<std::string> known;
  for (const Plugin &plugin : loaded)
    for (const PluginPass &p : plugin.passes)
      if (p.phase) {
        entry = !entry && p.name == name ? &p : entry;
        if (!llvm::is_contained(known, p.name))
          known.push_back(p.name);
      }
  if (!entry)
    return usageError(
        "--plugin-option=" + text + ": expected PASS:NAME=VALUE with a pass of a plugin; there " +
        (known.empty() ? "are none: name the plugin with --plugin=FILE.so" : "are: " + llvm::join(known, ", ")));
  std::string &all = options[entry->name];
  std::string now = all + (all.empty() ? "" : " ") + setting.str();
  Expected<std::unique_ptr<Pass>> pass = setting.empty() ? internalError("no option is named") : makePass(*entry, now);
  if (!pass) {
    std::unique_ptr<Pass> defaults = entry->create();
    return usageError("--plugin-option=" + text + ": " + llvm::toString(pass.takeError()) +
                      "; the pass and its defaults: " + pipelineOf(*defaults));
  }
  all = std::move(now);
  return Error::success();
}

std::string PluginSet::describe() const {
  if (loaded.empty())
    return "no plugins are loaded; --plugin=FILE.so or OPTC_PLUGINS=FILE.so:FILE.so loads some\n";
  std::string result;
  llvm::raw_string_ostream os(result);
  for (const Plugin &plugin : loaded) {
    os << plugin.name << " " << plugin.version << " (" << plugin.file << ")\n";
    for (const PluginPass &entry : plugin.passes) {
      bool isInserted =
          llvm::any_of(plugin.passes, [&](const PluginPass &p) { return p.phase && p.name == entry.name; });
      if (!entry.phase && isInserted)
        continue;
      std::unique_ptr<Pass> pass = entry.create();
      os << "  "
         << (entry.phase ? (nameOf(entry.position) + " " + entry.phase->name).str() : std::string("optc-opt only"))
         << ": " << pipelineOf(*pass) << "\n    " << pass->getDescription() << "\n";
    }
    for (const onnx::CustomOperator &op : plugin.operators)
      os << "  operator: " << op.domain << "." << op.name << ", since version " << op.sinceVersion << "\n";
    if (!plugin.dialectNames.empty())
      os << "  dialects: " << llvm::join(plugin.dialectNames, ", ") << "\n";
  }
  return result;
}
