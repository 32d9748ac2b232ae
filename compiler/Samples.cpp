//===- Samples.cpp - recorded inputs of a model ---------------------------===//
#include "optc/compiler/Samples.h"
#include "optc/codegen/CompileError.h"
#include "optc/dialects/onnx/Types.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace optc;
using llvm::Error;
using llvm::Expected;

/// Arrays beside the inputs that somebody asks for.
static constexpr llvm::StringLiteral kExtras[] = {"labels"};

std::vector<InputSpec> optc::inputsOf(func::FuncOp main) {
  std::vector<InputSpec> inputs;
  for (unsigned i = 0, e = main.getNumArguments(); i < e; ++i) {
    InputSpec spec;
    if (auto name = main.getArgAttrOfType<StringAttr>(i, "onnx.name"))
      spec.name = name.str();
    Type type = main.getArgumentTypes()[i];
    spec.optional = main.getArgAttr(i, "onnx.default") || isa<onnx::OptType>(type);
    if (auto optional = dyn_cast<onnx::OptType>(type)) {
      spec.kind = 2;
      type = optional.getElementType();
    }
    if (auto sequence = dyn_cast<onnx::SeqType>(type)) {
      ++spec.kind;
      type = sequence.getElementType();
    }
    if (auto tensor = dyn_cast<TensorType>(type)) {
      spec.dtype = onnx::dataTypeOf(tensor.getElementType());
      spec.ranked = tensor.hasRank();
      if (spec.ranked)
        for (int64_t d : tensor.getShape())
          spec.dims.push_back(ShapedType::isDynamic(d) ? -1 : d);
    }
    inputs.push_back(std::move(spec));
  }
  return inputs;
}

/// "float32[?,3,224,224]"
static std::string describe(const InputSpec &input) {
  std::string text = optc_dtype_name(input.dtype);
  if (input.kind)
    return (input.kind & 1 ? "a sequence of " : "an optional ") + text;
  if (!input.ranked)
    return text + " of any rank";
  text += "[";
  for (auto [i, d] : llvm::enumerate(input.dims))
    text += (i ? "," : "") + (d < 0 ? "?" : std::to_string(d));
  return text + "]";
}

Error SampleSet::fault(const Twine &clause) const { return inputError(source() + ": " + clause); }

Error SampleSet::check(const InputSpec &input, const run::Value &value, StringRef file) const {
  bool fits = input.kind || (value.isTensor() && value.dtype == input.dtype);
  if (fits && !input.kind && input.ranked)
    fits = value.dims.size() == input.dims.size() && llvm::all_of(llvm::zip(value.dims, input.dims), [](auto pair) {
             return std::get<1>(pair) < 0 || std::get<0>(pair) == std::get<1>(pair);
           });
  if (fits)
    return Error::success();
  return fault("input '" + input.name + "' takes " + describe(input) + ", but " + file + " has " +
               run::describe(value) + "; give that type and shape, or a first axis that counts samples");
}

/// How many samples an array has, and which shape each.
Error SampleSet::split(const InputSpec &input, Array &array) const {
  const std::vector<int64_t> &have = array.value.dims, &want = input.dims;
  if (input.kind || !input.ranked || !array.value.isTensor())
    return check(input, array.value, array.file);
  bool more = have.size() == want.size() + 1;
  int64_t rows = want.empty() || want[0] < 0 ? 1 : want[0];
  run::Value one = array.value;
  one.data.clear();
  one.strings.clear();
  if (more) {
    array.samples = have[0];
    one.dims.erase(one.dims.begin());
  } else if (have.size() == want.size() && !have.empty() && rows && have[0] != rows) {
    if (have[0] % rows)
      return fault("input '" + input.name + "' takes " + Twine(rows) + " rows at a time, and the " + Twine(have[0]) +
                   " of " + array.file + " are no multiple of that");
    array.samples = have[0] / rows;
    array.keepsAxis = true;
    one.dims[0] = rows;
  }
  if (array.samples == 0)
    return fault(array.file + " holds no sample");
  return check(input, one, array.file);
}

static bool isArrayFile(StringRef name) { return name.ends_with(".npy") || name.ends_with(".pb"); }

Error SampleSet::readNpz() {
  std::string bytes, why;
  if (!run::readFile(path, bytes, why))
    return fault(why);
  read.push_back(path);
  std::vector<std::string> names;
  if (!run::listNpz(bytes, names, why))
    return fault(why);
  auto has = [&](StringRef name) {
    return llvm::is_contained(names, name) || llvm::is_contained(names, run::fileName(name.str()));
  };
  arrays.resize(inputs.size());
  for (auto [input, array] : llvm::zip(inputs, arrays)) {
    array.file = "array '" + input.name + "'";
    if (!has(input.name))
      continue;
    if (!run::parseNpz(bytes, input.name, input.dtype, array.value, why))
      return fault(array.file + ": " + why);
    if (Error error = split(input, array))
      return error;
  }
  for (StringRef name : kExtras)
    if (has(name) && !run::parseNpz(bytes, name.str(), 0, extras[name.str()], why))
      return fault("array '" + name + "': " + why);
  return Error::success();
}

/// The arrays of the files in a folder.
Expected<SampleSet::Arrays> SampleSet::readArrays(const std::string &folder, bool isOneSample) {
  Arrays found(inputs.size());
  for (auto [i, input] : llvm::enumerate(inputs)) {
    Array &array = found[i];
    for (const std::string &name : {"input_" + std::to_string(i) + ".pb", run::fileName(input.name) + ".npy"}) {
      std::string file = folder + "/" + name, bytes, why;
      if (array.value.kind != OPTC_NONE || !llvm::sys::fs::exists(file))
        continue;
      bool good = run::readFile(file, bytes, why) &&
                  (StringRef(name).ends_with(".pb") ? run::parseProto(bytes, input.kind, array.value, why)
                                                    : run::parseNpy(bytes, input.dtype, array.value, why));
      if (!good)
        return fault(file + ": " + why);
      read.push_back(file);
      array.file = file;
      if (Error error = isOneSample ? check(input, array.value, file) : split(input, array))
        return std::move(error);
    }
    if (isOneSample && array.value.kind == OPTC_NONE && !input.optional)
      return fault("the folder " + folder + " has no value for input '" + input.name + "': neither input_" + Twine(i) +
                   ".pb nor " + run::fileName(input.name) + ".npy");
  }
  return std::move(found);
}

Error SampleSet::readFolder() {
  std::vector<std::string> below;
  bool hasArrays = false;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(path, code), end; it != end && !code; it.increment(code)) {
    StringRef name = llvm::sys::path::filename(it->path());
    if (llvm::sys::fs::is_directory(it->path()))
      below.push_back(it->path());
    else if (isArrayFile(name) && !llvm::is_contained(kExtras, name.drop_back(4)))
      hasArrays = true;
  }
  if (code)
    return fault("cannot read the folder: " + code.message());
  for (StringRef name : kExtras) {
    std::string file = (path + "/" + name + ".npy").str(), bytes, why;
    if (!llvm::sys::fs::exists(file))
      continue;
    if (!run::readFile(file, bytes, why) || !run::parseNpy(bytes, 0, extras[name.str()], why))
      return fault(file + ": " + why);
    read.push_back(file);
  }
  // test_data_set_2 comes before test_data_set_10.
  llvm::sort(below, [](StringRef a, StringRef b) { return a.compare_numeric(b) < 0; });
  if (!hasArrays)
    for (const std::string &folder : below) {
      Expected<Arrays> sample = readArrays(folder, /*isOneSample=*/true);
      if (!sample)
        return sample.takeError();
      folders.push_back(std::move(*sample));
    }
  if (!folders.empty())
    return Error::success();
  Expected<Arrays> all = readArrays(path, /*isOneSample=*/false);
  if (!all)
    return all.takeError();
  arrays = std::move(*all);
  return Error::success();
}

/// What is missing, and whether the arrays agree on the number of samples.
Error SampleSet::finish(bool isFolder) {
  if (!folders.empty())
    return Error::success();
  const Array *first = nullptr;
  for (auto [input, array] : llvm::zip(inputs, arrays)) {
    if (array.value.kind == OPTC_NONE && !input.optional)
      return fault("it has no values for input '" + input.name + "', which is " + describe(input) + "; " +
                   (isFolder ? "a folder holds " + run::fileName(input.name) + ".npy, or folders with input_N.pb"
                             : "an .npz file holds arrays named as the inputs"));
    if (array.samples == 1)
      continue;
    if (first && first->samples != array.samples)
      return fault(first->file + " has " + Twine(first->samples) + " samples, but " + array.file + " has " +
                   Twine(array.samples));
    first = &array;
  }
  count = first ? first->samples : 1;
  return Error::success();
}

Expected<SampleSet> SampleSet::open(StringRef flag, StringRef path, std::vector<InputSpec> inputs) {
  SampleSet set;
  set.flag = flag.str();
  set.path = path.str();
  set.inputs = std::move(inputs);
  if (!llvm::sys::fs::exists(path))
    return set.fault("there is no such file or folder");
  bool isFolder = llvm::sys::fs::is_directory(path);
  if (!isFolder && !path.ends_with(".npz"))
    return set.fault("a folder or an .npz file is expected");
  if (set.inputs.empty())
    return set.fault("the model has no inputs, so there is nothing to feed");
  if (Error error = isFolder ? set.readFolder() : set.readNpz())
    return std::move(error);
  if (Error error = set.finish(isFolder))
    return std::move(error);
  return std::move(set);
}

Expected<Sample> SampleSet::load(size_t i) const {
  Sample sample;
  for (const Array &array : folders.empty() ? arrays : folders[i]) {
    const run::Value &all = array.value;
    if (all.kind == OPTC_NONE || !folders.empty()) {
      sample.push_back(all);
      continue;
    }
    const InputSpec &input = inputs[sample.size()];
    run::Value one;
    one.kind = all.kind;
    one.dtype = all.dtype;
    one.dims = all.dims;
    // Shared by all samples.
    size_t at = array.samples == 1 ? 0 : i;
    if (array.keepsAxis)
      one.dims[0] /= array.samples;
    else if (all.isTensor() && input.ranked && all.dims.size() > input.dims.size())
      one.dims.erase(one.dims.begin());
    else {
      sample.push_back(all);
      continue;
    }
    int64_t elements = one.count();
    if (all.kind == OPTC_STRINGS) {
      one.strings.assign(all.strings.begin() + at * elements, all.strings.begin() + (at + 1) * elements);
    } else if (optc_dtype_bits(all.dtype) >= 8) {
      int64_t bytes = run::packedBytes(all.dtype, elements);
      one.data.assign(all.data.begin() + at * bytes, all.data.begin() + (at + 1) * bytes);
    } else {
      one.data.resize(run::packedBytes(all.dtype, elements));
      for (int64_t k = 0; k < elements; ++k)
        run::setSubByte(one, k, run::subByte(all, at * elements + k));
    }
    sample.push_back(std::move(one));
  }
  return std::move(sample);
}

const run::Value *SampleSet::extra(StringRef name) const {
  auto it = extras.find(name.str());
  return it == extras.end() ? nullptr : &it->second;
}
