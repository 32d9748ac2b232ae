//===- Options.cpp - the command line of optc -----------------------------===//
#include "optc/compiler/Options.h"
#include "optc/codegen/CompileError.h"
#include "optc/compiler/Phases.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;
using namespace optc;

namespace {
/// One row of the table of flags. Flags with a value take `--flag=VALUE` and `--flag VALUE`.
struct Flag {
  StringLiteral name;
  StringLiteral value; ///< for the help text; empty: the flag takes none
  StringLiteral doc;
  Error (*apply)(Options &options, StringRef value);
};
template <typename T> struct Choice {
  StringLiteral name;
  T value;
  StringLiteral extension = "";
};
} // namespace

static constexpr Choice<EmitKind> kEmitKinds[] = {
    {"so", EmitKind::SharedObject, ".so"},
    {"obj", EmitKind::Object, ".o"},
    {"static-lib", EmitKind::StaticLibrary, ".a"},
    {"exe", EmitKind::Executable, ""},
    {"llvm", EmitKind::LlvmIr, ".ll"},
    {"mlir", EmitKind::Mlir, ".mlir"},
    {"onnx", EmitKind::Onnx, ".onnx"},
    {"ptx", EmitKind::Ptx, ".ptx"},
    {"cubin", EmitKind::Cubin, ".cubin"},
};
static constexpr Choice<ProgressKind> kProgressKinds[] = {
    {"auto", ProgressKind::Auto}, {"plain", ProgressKind::Plain}, {"none", ProgressKind::None}};

static constexpr Choice<Precision> kPrecisions[] = {{"f32", Precision::F32},
                                                    {"f16", Precision::F16},
                                                    {"bf16", Precision::BF16},
                                                    {"int8", Precision::Int8},
                                                    {"int4", Precision::Int4}};
static constexpr Choice<compress::RangeMethod::Kind> kRangeMethods[] = {{"minmax", compress::RangeMethod::MinMax},
                                                                        {"mse", compress::RangeMethod::Mse}};
static constexpr Choice<Metric> kMetrics[] = {{"top1", Metric::Top1}, {"cosine", Metric::Cosine}};

template <typename Range> static std::string namesOf(const Range &range) {
  return llvm::join(llvm::map_range(range, [](const auto &item) { return std::string(item.name); }), ", ");
}

template <typename T, size_t N>
static Error choose(const Choice<T> (&choices)[N], StringRef flag, StringRef value, T &result) {
  for (const Choice<T> &c : choices)
    if (c.name == value) {
      result = c.value;
      return Error::success();
    }
  return usageError(flag + "=" + value + ": unknown value; there are: " + namesOf(choices));
}

static Error choosePhase(StringRef flag, StringRef value, std::string &result) {
  if (!findPhase(value))
    return usageError(flag + "=" + value + ": unknown phase; there are: " + namesOf(phases()));
  result = value.str();
  return Error::success();
}

static Error parseDim(Options &options, StringRef value) {
  auto [name, size] = value.rsplit('=');
  int64_t n;
  if (name.empty() || size.getAsInteger(10, n) || n < 0)
    return usageError("--dim=" + value + ": expected NAME=N with N >= 0, for example --dim batch=1");
  options.dims[name.str()] = n;
  return Error::success();
}

static Error parseShape(Options &options, StringRef value) {
  auto [name, text] = value.rsplit('=');
  std::vector<int64_t> shape;
  bool good = !name.empty() && value.contains('=');
  SmallVector<StringRef> parts;
  text.split(parts, 'x', -1, /*KeepEmpty=*/true);
  if (text.empty())
    parts.clear(); // rank 0
  for (StringRef part : parts) {
    int64_t n = -1;
    if (part != "?" && (part.getAsInteger(10, n) || n < 0))
      good = false;
    shape.push_back(n);
  }
  if (!good)
    return usageError("--shape=" + value +
                      ": expected INPUT=SIZExSIZE with ? for an unknown size, for example --shape data=1x3x224x224");
  options.shapes[name.str()] = std::move(shape);
  return Error::success();
}

/// A share in (0, 1).
static bool parseShare(StringRef text, double &share) { return !text.getAsDouble(share) && share > 0 && share < 1; }

/// One entry of --prune; false when it is none.
static bool parsePruning(StringRef entry, PruneOptions &prune) {
  auto [kind, rest] = entry.split(':');
  if (kind == "magnitude")
    return prune.magnitude == 0 && parseShare(rest, prune.magnitude);
  if (kind == "channels") {
    auto [share, multiple] = rest.split(':');
    bool good = prune.channels == 0 && parseShare(share, prune.channels);
    if (rest.contains(':'))
      good = good && !multiple.getAsInteger(10, prune.multiple) && prune.multiple > 0 && prune.multiple <= 4096;
    return good;
  }
  return prune.keep == 0 && !kind.getAsInteger(10, prune.keep) && !rest.getAsInteger(10, prune.of) && prune.keep > 0 &&
         prune.of > prune.keep && prune.of <= 64;
}

static Error parsePrune(Options &options, StringRef value) {
  SmallVector<StringRef> entries;
  value.split(entries, ',');
  for (StringRef entry : entries)
    if (!parsePruning(entry, options.compression.prune))
      return usageError("--prune=" + value + ": '" + entry +
                        "' is none of magnitude:R, channels:R, channels:R:MULTIPLE (R between 0 and 1) and N:M (at "
                        "most N of M neighbours stay), or is given twice; for example --prune=2:4,channels:0.3");
  options.compression.pruneTexts.push_back(value.str());
  return Error::success();
}

static Error parseBytes(StringRef flag, StringRef value, std::optional<uint64_t> &result) {
  static constexpr Choice<uint64_t> kUnits[] = {
      {"K", uint64_t(1) << 10}, {"M", uint64_t(1) << 20}, {"G", uint64_t(1) << 30}};
  uint64_t unit = 1, n;
  StringRef digits = value;
  for (const Choice<uint64_t> &u : kUnits)
    if (digits.consume_back(u.name)) {
      unit = u.value;
      break;
    }
  if (digits.getAsInteger(10, n) || n > UINT64_MAX / unit)
    return usageError(flag + "=" + value + ": expected a number of bytes; K, M and G are allowed at its end");
  result = n * unit;
  return Error::success();
}

static Error parseTimeout(Options &options, StringRef value) {
  double seconds;
  if (value.getAsDouble(seconds) || !(seconds > 0) || seconds > 1e9)
    return usageError("--timeout=" + value + ": expected a positive number of seconds");
  options.timeout = seconds;
  return Error::success();
}

static Error parseName(Options &options, StringRef value) {
  if (value.empty() || value != identifierFrom(value))
    return usageError("--name=" + value + ": expected a C identifier (letters, digits, _)");
  options.name = value.str();
  return Error::success();
}

static Error parseFile(StringRef flag, StringRef value, std::string &result) {
  if (value.empty())
    return usageError(flag + " needs the name of a file");
  result = value.str();
  return Error::success();
}

/// N with N >= `least`.
template <typename T> static Error parseCount(StringRef flag, StringRef value, T least, T &result) {
  T n;
  if (value.getAsInteger(10, n) || n < least)
    return usageError(flag + "=" + value + ": expected an integer of " + Twine(least) + " or more");
  result = n;
  return Error::success();
}

static Error parseCalibrationMethod(Options &options, StringRef value) {
  using compress::RangeMethod;
  RangeMethod &method = options.compression.method;
  options.compression.methodName = value.str();
  StringRef percent = value;
  if (percent.consume_front("percentile:")) {
    method.kind = RangeMethod::Percentile;
    if (!percent.getAsDouble(method.percent) && method.percent > 50 && method.percent <= 100)
      return Error::success();
  } else if (auto *known = llvm::find_if(kRangeMethods, [&](const auto &m) { return m.name == value; });
             known != std::end(kRangeMethods)) {
    method.kind = known->value;
    return Error::success();
  }
  return usageError("--calibration-method=" + value +
                    ": expected mse, minmax, or percentile:P with 50 < P <= 100, for example percentile:99.99");
}

static Error parseMaxDrop(Options &options, StringRef value) {
  StringRef number = value;
  bool isPercent = number.consume_back("%");
  double drop;
  if (number.getAsDouble(drop) || !(drop >= 0 && drop <= (isPercent ? 100 : 1)))
    return usageError("--max-drop=" + value + ": expected a number from 0 to 1, or a percentage, such as 0.5%");
  options.compression.maxDrop = isPercent ? drop / 100 : drop;
  return Error::success();
}

template <bool Options::*Member> static Error setTrue(Options &options, StringRef) {
  options.*Member = true;
  return Error::success();
}
template <int Level> static Error setLevel(Options &options, StringRef) {
  options.optLevel = Level;
  return Error::success();
}

static constexpr Flag kFlags[] = {
    {"-o", "FILE", "the artifact (default: NAME.so and so on, in the working folder); - is standard output for text",
     [](Options &o, StringRef v) { return parseFile("-o", v, o.output); }},
    {"-O0", "", "trusted baseline: plain loops, no fusion, every op rounded to its type", setLevel<0>},
    {"-O1", "", "folding and cheap fusion", setLevel<1>},
    {"-O2", "", "everything within normal rounding (default)", setLevel<2>},
    {"-O3", "", "also reassociation, contraction and approximations with stated errors", setLevel<3>},
    {"--target", "CPU",
     "native (default), x86-64-v2, x86-64-v3, x86-64-v4, aarch64, a CPU that LLVM knows, such as znver3, or a GPU: "
     "sm90, "
     "sm80",
     [](Options &o, StringRef v) -> Error {
       o.target = v.str();
       return Error::success();
     }},
    {"--emit", "KIND",
     "so (default), obj, static-lib, exe, llvm, mlir, onnx (the model as it is before 'tensor'); of a GPU's kernels: "
     "ptx, cubin",
     [](Options &o, StringRef v) { return choose(kEmitKinds, "--emit", v, o.emit); }},
    {"--emulate", "", "adds what optc-run --device=emulator runs on this machine's CPU in place of a GPU's kernels",
     setTrue<&Options::emulate>},
    {"--emulate-only", "",
     "as --emulate, and leaves out the code for the GPU: no CUDA toolkit is needed to assemble it",
     [](Options &o, StringRef) -> Error {
       o.emulate = o.emulateOnly = true;
       return Error::success();
     }},
    {"--dim", "NAME=N", "fixes the symbolic size NAME", parseDim},
    {"--shape", "INPUT=2x3x?", "fixes the shape of an input; ? stays unknown", parseShape},
    {"--prune", "SPEC,...",
     "magnitude:0.5 (zeros in each layer), 2:4 (zeros in each group of weights), channels:0.3 (channels removed); "
     "repeatable",
     parsePrune},
    {"--name", "SYMBOL", "prefix of the exported symbols (default: from the file name of the model)", parseName},
    {"--precision", "KIND",
     "f32 (default); f16, bf16: products; int8: layers with --calibrate, else their weights; int4: weights in groups",
     [](Options &o, StringRef v) { return choose(kPrecisions, "--precision", v, o.compression.precision); }},
    {"--calibrate", "DIR|FILE.npz", "samples of inputs, from which the ranges of values follow",
     [](Options &o, StringRef v) { return parseFile("--calibrate", v, o.compression.calibrate); }},
    {"--calibration-method", "METHOD",
     "mse (default): ranges of the least squared error; minmax: all values; percentile:P: all but the rarest",
     parseCalibrationMethod},
    {"--group-size", "N", "weights that share a scale with --precision=int4 (default: 32)",
     [](Options &o, StringRef v) { return parseCount<int64_t>("--group-size", v, 2, o.compression.groupSize); }},
    {"--keep-float", "NODE", "a layer that is not quantized; may be given more than once",
     [](Options &o, StringRef v) -> Error {
       o.compression.keepFloat.push_back(v.str());
       return Error::success();
     }},
    {"--golden", "DIR|FILE.npz", "samples by which the compressed model is judged; needs --metric and --max-drop",
     [](Options &o, StringRef v) { return parseFile("--golden", v, o.compression.golden); }},
    {"--metric", "METRIC", "top1 (labels in the golden set, or what the float model says), cosine (of float outputs)",
     [](Options &o, StringRef v) { return choose(kMetrics, "--metric", v, o.compression.metric.emplace()); }},
    {"--max-drop", "X", "fails (exit code 3) when the metric drops by more than this, 0 to 1 or a percentage",
     parseMaxDrop},
    {"--rollback", "N", "puts up to N layers back to float before it fails (default: 0)",
     [](Options &o, StringRef v) { return parseCount<unsigned>("--rollback", v, 0, o.compression.rollback); }},
    {"--journal", "FILE", "a line of JSON per decision of the compression (default: beside the output)",
     [](Options &o, StringRef v) { return parseFile("--journal", v, o.compression.journal); }},
    {"--stop-after", "PHASE", "writes the IR after a phase instead of an artifact",
     [](Options &o, StringRef v) { return choosePhase("--stop-after", v, o.stopAfter); }},
    {"--start-from", "PHASE", "the model is a .mlir file; the first phase to run on it",
     [](Options &o, StringRef v) { return choosePhase("--start-from", v, o.startFrom); }},
    {"--dump-phases", "DIR", "writes the IR after every phase, and weights.bin, to a folder",
     [](Options &o, StringRef v) { return parseFile("--dump-phases", v, o.dumpPhases); }},
    {"--plugin", "FILE.so", "loads a plugin; more than one may be given, and OPTC_PLUGINS holds more, with : between",
     [](Options &o, StringRef v) -> Error {
       std::string file; // loaded before the first option was read
       return parseFile("--plugin", v, file);
     }},
    {"--plugin-option", "PASS:NAME=VALUE", "sets an option of a plugin's pass; --list-plugins shows what there is",
     [](Options &o, StringRef v) { return o.plugins->addOption(v, o.passOptions); }},
    {"--list-plugins", "", "prints the plugins with their passes and options, and compiles nothing",
     setTrue<&Options::listPlugins>},
    {"--print-pipeline", "", "prints the phases and their passes, and compiles nothing",
     setTrue<&Options::printPipeline>},
    {"--verify-each-phase", "", "verifies the IR after every pass", setTrue<&Options::verifyEachPhase>},
    {"--check", "", "lists what would not compile and why, and compiles nothing", setTrue<&Options::check>},
    {"--report", "FILE.json", "writes phases, times, memory and the strategy of every kernel",
     [](Options &o, StringRef v) { return parseFile("--report", v, o.report); }},
    {"--json", "", "prints one JSON object on standard output: status, problems, artifact", setTrue<&Options::json>},
    {"--depfile", "FILE", "writes the files that were read, as a rule for Make and Ninja",
     [](Options &o, StringRef v) { return parseFile("--depfile", v, o.depfile); }},
    {"--max-memory", "BYTES",
     "fails (exit code 3) when the buffers of known size need more than this; sizes that only a run knows do not count",
     [](Options &o, StringRef v) { return parseBytes("--max-memory", v, o.maxMemory); }},
    {"--max-size", "BYTES", "fails (exit code 3) when the artifact is larger than this",
     [](Options &o, StringRef v) { return parseBytes("--max-size", v, o.maxSize); }},
    {"--timeout", "SECONDS", "gives up after so much time (exit code 3)", parseTimeout},
    {"--progress", "KIND", "auto (default: on a terminal, when it takes long), plain, none",
     [](Options &o, StringRef v) { return choose(kProgressKinds, "--progress", v, o.progress); }},
    {"--version", "", "prints versions", setTrue<&Options::version>},
    {"--help", "", "prints this text", setTrue<&Options::help>},
};

template <typename T, size_t N> static StringRef nameIn(const Choice<T> (&choices)[N], T value) {
  return llvm::find_if(choices, [&](const Choice<T> &c) { return c.value == value; })->name;
}
StringRef optc::nameOf(Precision precision) { return nameIn(kPrecisions, precision); }
StringRef optc::nameOf(Metric metric) { return nameIn(kMetrics, metric); }

StringRef optc::extensionOf(EmitKind kind) {
  for (const Choice<EmitKind> &c : kEmitKinds)
    if (c.value == kind)
      return c.extension;
  return "";
}

std::string optc::identifierFrom(StringRef text) {
  std::string name;
  for (char c : text)
    name += isAlnum(c) ? c : '_';
  if (name.empty() || isDigit(name.front()))
    name = "model_" + name;
  return name;
}

std::string optc::helpText() {
  std::string text;
  raw_string_ostream os(text);
  os << "usage: optc MODEL.onnx [-o FILE] [-O0|-O1|-O2|-O3] [--target=CPU] [--emit=KIND] [OPTION]...\n"
     << "Compiles an ONNX model to a native artifact.\n\n";
  for (const Flag &flag : kFlags) {
    std::string left = flag.name.str();
    if (!flag.value.empty())
      left += (flag.name.starts_with("--") ? "=" : " ") + flag.value.str();
    os << "  " << left_justify(left, 28) << " " << flag.doc << "\n";
  }
  os << "\nExit codes: 0 good; 1 the model is at fault; 2 usage; 3 a limit is not met; 4 the environment is (disk, "
        "permissions,\n"
     << "installation); 70 a defect of optc.\n";
  return text;
}

static Error unknownFlag(StringRef arg) {
  StringRef name = arg.split('=').first;
  const Flag *nearest = nullptr;
  unsigned best = std::max<size_t>(name.size() / 3, 2) + 1;
  for (const Flag &flag : kFlags)
    if (unsigned distance = name.edit_distance(flag.name, true, best); distance < best) {
      best = distance;
      nearest = &flag;
    }
  return usageError("unknown option '" + name + "'" + (nearest ? "; did you mean " + nearest->name + "?" : "") +
                    " There are: " + namesOf(kFlags));
}

static const Flag *findFlag(StringRef arg) {
  const Flag *flag = llvm::find_if(kFlags, [&](const Flag &f) {
    return arg == f.name || (f.name.starts_with("--") && arg.split('=').first == f.name);
  });
  return flag == std::end(kFlags) ? nullptr : flag;
}

/// The values of --plugin. What is wrong with a command line is found when it is read.
static std::vector<std::string> pluginFiles(ArrayRef<const char *> args) {
  std::vector<std::string> files;
  for (size_t i = 0; i < args.size() && StringRef(args[i]) != "--"; ++i) {
    StringRef arg = args[i];
    const Flag *flag = findFlag(arg);
    if (!flag || flag->value.empty())
      continue;
    bool isSeparate = arg == flag->name;
    if (isSeparate && ++i == args.size())
      break;
    StringRef value = isSeparate ? StringRef(args[i]) : arg.split('=').second;
    if (flag->name == "--plugin" && !value.empty())
      files.push_back(value.str());
  }
  return files;
}

/// Whether the options of compression go together.
static Error checkCompression(const Options &options) {
  const CompressionOptions &c = options.compression;
  struct Need {
    bool given;
    StringLiteral flag;
    bool met;
    StringLiteral what;
  };
  bool isActive = c.isActive(), hasGolden = !c.golden.empty();
  const Need needs[] = {
      {!c.calibrate.empty(), "--calibrate", c.precision == Precision::Int8 || c.refits(),
       "--precision=int8 or --prune=channels:R"},
      {!c.methodName.empty(), "--calibration-method", !c.calibrate.empty() && c.precision == Precision::Int8,
       "--calibrate and --precision=int8"},
      {c.groupSize != CompressionOptions().groupSize, "--group-size", c.precision == Precision::Int4,
       "--precision=int4"},
      {!c.keepFloat.empty(), "--keep-float", c.quantizes(), "--precision=int8 or int4"},
      {hasGolden, "--golden", isActive, "another --precision than f32, or --prune: nothing is compressed"},
      {hasGolden, "--golden", c.metric.has_value(), "--metric=top1 or --metric=cosine"},
      {hasGolden, "--golden", c.maxDrop.has_value(), "--max-drop=X, the drop of the metric that is allowed"},
      {c.metric.has_value(), "--metric", hasGolden, "--golden=DIR"},
      {c.maxDrop.has_value(), "--max-drop", hasGolden, "--golden=DIR"},
      {c.rollback > 0, "--rollback", hasGolden && c.quantizes(), "--golden=DIR and --precision=int8 or int4"},
      {!c.journal.empty(), "--journal", isActive, "another --precision than f32, or --prune: nothing is decided"},
  };
  for (const Need &need : needs)
    if (need.given && !need.met)
      return usageError(need.flag + " needs " + need.what);
  const Phase *phase = findPhase("compress");
  bool runs = (options.startFrom.empty() || findPhase(options.startFrom) <= phase) &&
              (options.stopAfter.empty() || findPhase(options.stopAfter) >= phase);
  if (isActive && !runs)
    return usageError((c.precision == Precision::F32 ? "--prune=" + llvm::join(c.pruneTexts, ",")
                                                     : ("--precision=" + nameOf(c.precision)).str()) +
                      ": the phase 'compress' does not run with --start-from=" +
                      (options.startFrom.empty() ? "import" : options.startFrom) +
                      (options.stopAfter.empty() ? "" : " --stop-after=" + options.stopAfter));
  return Error::success();
}

Expected<Options> optc::parseOptions(ArrayRef<const char *> args) {
  Options options;
  auto plugins = std::make_shared<PluginSet>();
  if (Error error = plugins->load(pluginFiles(args), std::getenv("OPTC_PLUGINS")))
    return std::move(error);
  options.plugins = std::move(plugins);
  options.commandLine.assign(args.begin(), args.end());
  bool onlyFiles = false;
  for (size_t i = 0; i < args.size(); ++i) {
    StringRef arg = args[i];
    if (onlyFiles || arg == "-" || !arg.starts_with("-")) {
      if (!options.model.empty())
        return usageError("two models are named: '" + options.model + "' and '" + arg +
                          "'; optc compiles one at a time");
      if (arg.empty())
        return usageError("the name of the model is empty");
      options.model = arg.str();
      continue;
    }
    if (arg == "--") {
      onlyFiles = true;
      continue;
    }
    const Flag *flag = findFlag(arg);
    StringRef value;
    if (!flag)
      return unknownFlag(arg);
    if (flag->value.empty()) {
      if (arg != flag->name)
        return usageError(flag->name + " takes no value");
    } else if (arg == flag->name) {
      if (++i == args.size())
        return usageError(flag->name + " needs a value: " + flag->name + (flag->name.starts_with("--") ? "=" : " ") +
                          flag->value);
      value = args[i];
    } else
      value = arg.split('=').second;
    if (Error error = flag->apply(options, value))
      return std::move(error);
  }
  if (options.help || options.version || options.printPipeline || options.listPlugins)
    return options;
  if (options.model.empty())
    return usageError(
        "no model is named: optc MODEL.onnx [-o FILE] [-O0|-O1|-O2|-O3] ...; optc --help lists all options");
  bool isIr = StringRef(options.model).ends_with(".mlir");
  if (!options.startFrom.empty() && !isIr)
    return usageError("--start-from needs a .mlir file, not '" + options.model + "'");
  if (isIr && options.startFrom.empty())
    options.startFrom = "graph";
  if (options.startFrom == "import")
    return usageError("--start-from=import: that is where .onnx files start");
  if (!options.stopAfter.empty() && !options.startFrom.empty() &&
      findPhase(options.stopAfter) < findPhase(options.startFrom))
    return usageError("--stop-after=" + options.stopAfter + " lies before --start-from=" + options.startFrom);
  if (isIr && !(options.dims.empty() && options.shapes.empty()))
    return usageError("--dim and --shape are for .onnx files");
  if (Error error = checkCompression(options))
    return std::move(error);
  if (options.emit == EmitKind::Onnx && !options.stopAfter.empty())
    return usageError("--emit=onnx writes a model, --stop-after=" + options.stopAfter + " writes IR; give one of them");
  if (options.emit == EmitKind::Onnx && !options.startFrom.empty() &&
      findPhase(options.startFrom) >= findPhase("tensor"))
    return usageError("--emit=onnx writes what the phase 'tensor' would get; --start-from=" + options.startFrom +
                      " begins behind that");
  bool isText = options.emit == EmitKind::LlvmIr || options.emit == EmitKind::Mlir || options.emit == EmitKind::Ptx ||
                !options.stopAfter.empty();
  if (options.json && (options.output == "-" || (!options.stopAfter.empty() && options.output.empty())))
    return usageError("--json and the text of a module cannot both go to standard output; name a file with -o");
  if (options.output == "-" && !isText)
    return usageError("-o -: only text goes to standard output; name a file");
  if (options.name.empty())
    options.name = identifierFrom(sys::path::stem(options.model));
  return options;
}
