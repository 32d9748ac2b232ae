//===- Runner.cpp - optc-run: load, feed, run, compare, measure -----------===//
#include "Options.h"
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>
#include <sys/stat.h>

using namespace optc::run;

namespace {
using Clock = std::chrono::steady_clock;
double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

int report(int code, const std::string &message) {
  fprintf(stderr, "optc-run: %s\n", message.c_str());
  return code;
}

int reportStatus(const optc_error &e) {
  return report(e.status == OPTC_UNSUPPORTED || e.status == OPTC_OUT_OF_MEMORY ? Environment : BadInput, e.message);
}

bool exists(const std::string &path) {
  struct stat st;
  return !stat(path.c_str(), &st);
}

bool endsWith(const std::string &s, const char *tail) {
  size_t n = strlen(tail);
  return s.size() >= n && !s.compare(s.size() - n, n, tail);
}

/// One process's work on one artifact.
struct Session {
  const Options &o;
  optc_model *model = nullptr;
  optc_context *context = nullptr;
  const optc_model_desc *desc = nullptr;
  std::vector<Value> inputs;
  std::vector<int64_t> symbols; // sizes known from files or --dim, -1 otherwise
  explicit Session(const Options &o) : o(o) {}
  ~Session() {
    optc_context_destroy(context);
    optc_model_destroy(model);
  }

  int readInputs();
  int readInput(int32_t index, const std::string &file);
  int randomInput(int32_t index);
  bool readValue(const std::string &path, const optc_io_desc &io, Value &v, std::string &error);
  bool findInFolder(const std::string &dir, const char *prefix, int32_t index, const optc_io_desc &io,
                    std::string &path) const;
  int writeOutputs(const std::vector<Value> &outputs);
  int compareOutputs(const std::vector<Value> &outputs);
  void bindSymbols(const optc_io_desc &io, const Value &v);
};
} // namespace

/// Raw elements; one size may be unknown and follows from the file's.
static bool readRaw(const std::string &bytes, const optc_io_desc &io, const std::vector<int64_t> &symbols, Value &v,
                    std::string &error) {
  v.kind = OPTC_TENSOR;
  v.dtype = io.dtype;
  if (io.rank < 0 || io.dtype == OPTC_STRING || io.kind == 1 || io.kind == 3) {
    error = "a .bin file serves tensors of numbers with a known rank only; use .pb or .npy";
    return false;
  }
  int unknown = -1;
  for (int32_t i = 0; i < io.rank; ++i) {
    int64_t d = io.dims[i];
    if (d < 0 && d != INT64_MIN)
      d = symbols[size_t(-1 - d)];
    if (d < 0 && unknown >= 0) {
      error = "more than one size of input '" + std::string(io.name) + "' is unknown; give --dim NAME=N";
      return false;
    }
    unknown = d < 0 ? i : unknown;
    v.dims.push_back(d < 0 ? 1 : d);
  }
  int64_t rest = packedBytes(v.dtype, v.count());
  if (unknown >= 0 && rest > 0)
    v.dims[size_t(unknown)] = int64_t(bytes.size()) / rest;
  if (packedBytes(v.dtype, v.count()) != int64_t(bytes.size())) {
    error = "it holds " + std::to_string(bytes.size()) + " bytes, " + describe(v) + " needs " +
            std::to_string(packedBytes(v.dtype, v.count()));
    return false;
  }
  v.data.assign(bytes.begin(), bytes.end());
  return true;
}

bool Session::readValue(const std::string &path, const optc_io_desc &io, Value &v, std::string &error) {
  std::string bytes;
  if (!readFile(path, bytes, error))
    return false;
  bool ok = endsWith(path, ".npy")   ? parseNpy(bytes, io.dtype, v, error)
            : endsWith(path, ".npz") ? parseNpz(bytes, io.name, io.dtype, v, error)
            : endsWith(path, ".bin") ? readRaw(bytes, io, symbols, v, error)
            : endsWith(path, ".pb")  ? parseProto(bytes, io.kind, v, error)
                                     : (error = "its name must end in .npy, .npz, .pb or .bin", false);
  if (!ok)
    error = "'" + path + "': " + error;
  return ok;
}

void Session::bindSymbols(const optc_io_desc &io, const Value &v) {
  for (int32_t i = 0; v.isTensor() && i < io.rank && size_t(i) < v.dims.size(); ++i)
    if (io.dims[i] < 0 && io.dims[i] != INT64_MIN)
      symbols[size_t(-1 - io.dims[i])] = v.dims[size_t(i)];
}

int Session::readInput(int32_t index, const std::string &file) {
  std::string error;
  inputs[size_t(index)] = Value();
  if (!readValue(file, desc->inputs[index], inputs[size_t(index)], error))
    return report(BadInput, "input '" + std::string(desc->inputs[index].name) + "': " + error);
  bindSymbols(desc->inputs[index], inputs[size_t(index)]);
  return Good;
}

int Session::randomInput(int32_t index) {
  const optc_io_desc &io = desc->inputs[index];
  std::string name = io.name;
  if (io.kind >= 2)
    return Good; // absent
  if (io.kind == 1 || io.rank < 0 || !io.dtype)
    return report(BadInput,
                  "input '" + name + "' is a sequence or of unknown rank: a random value has no shape; give a file");
  std::vector<int64_t> dims;
  for (int32_t i = 0; i < io.rank; ++i) {
    int64_t d = io.dims[i];
    std::string symbol = d < 0 && d != INT64_MIN && desc->symbols ? desc->symbols[-1 - d] : "";
    if (d < 0 && d != INT64_MIN)
      d = symbols[size_t(-1 - d)];
    if (d < 0)
      return report(BadInput, "input '" + name + "': dimension " + std::to_string(i) +
                                  " is not static, so a random value has no size; " +
                                  (symbol.empty() ? "give a file" : "give --dim " + symbol + "=N"));
    dims.push_back(d);
  }
  inputs[size_t(index)] = randomValue(io.dtype, dims, uint64_t(index) + 1);
  if (inputs[size_t(index)].kind == OPTC_NONE)
    return report(BadInput, "input '" + name + "': shape " + shapeText(dims) + " is too large");
  return Good;
}

bool Session::findInFolder(const std::string &dir, const char *prefix, int32_t index, const optc_io_desc &io,
                           std::string &path) const {
  for (const std::string &file : {prefix + std::to_string(index) + ".pb", fileName(io.name) + ".npy"})
    if (exists(path = dir + "/" + file))
      return true;
  return false;
}

int Session::readInputs() {
  inputs.resize(size_t(desc->num_inputs));
  symbols.assign(size_t(desc->num_symbols), -1);
  for (const auto &dim : o.dims) {
    bool found = false;
    for (int32_t s = 0; s < desc->num_symbols; ++s)
      if (desc->symbols && dim.first == desc->symbols[s]) {
        symbols[size_t(s)] = dim.second;
        found = true;
      }
    if (!found)
      return report(BadUsage, "--dim " + dim.first + ": the model has no symbol of this name; see --info");
  }
  std::vector<int> source(size_t(desc->num_inputs), 0); // 1: file, 2: random
  for (const std::string &given : o.inputs) {
    // The longest name that fits: names of tensors may hold '=' as well as files.
    int32_t index = -1;
    size_t length = 0;
    std::string names;
    for (int32_t i = 0; i < desc->num_inputs; ++i) {
      std::string name = desc->inputs[i].name;
      names += (i ? ", " : "") + name;
      if (given.compare(0, name.size() + 1, name + "=") || (index >= 0 && name.size() < length))
        continue;
      index = i;
      length = name.size();
    }
    if (index < 0)
      return report(BadUsage, "--input " + given + ": the model has no input of this name; it has: " + names);
    std::string file = given.substr(length + 1);
    source[size_t(index)] = file == "random" ? 2 : 1;
    if (file != "random")
      if (int rc = readInput(index, file))
        return rc;
  }
  if (!o.inputsDir.empty() && !exists(o.inputsDir))
    return report(BadInput, "--inputs-dir '" + o.inputsDir + "' does not exist");
  for (int32_t i = 0; i < desc->num_inputs; ++i) {
    std::string path;
    if (source[size_t(i)] || o.inputsDir.empty() || !findInFolder(o.inputsDir, "input_", i, desc->inputs[i], path))
      continue;
    source[size_t(i)] = 1;
    if (int rc = readInput(i, path))
      return rc;
  }
  for (int32_t i = 0; i < desc->num_inputs; ++i) {
    const optc_io_desc &io = desc->inputs[i];
    if (source[size_t(i)] == 1 || (!source[size_t(i)] && isOptional(io)))
      continue;
    if (!source[size_t(i)] && !o.bench)
      return report(BadInput,
                    "input '" + std::string(io.name) + "' was not given; use --input " + io.name + "=FILE or =random" +
                        (o.inputsDir.empty() ? ""
                                             : " ('" + o.inputsDir + "' holds neither input_" + std::to_string(i) +
                                                   ".pb nor " + fileName(io.name) + ".npy)"));
    if (int rc = randomInput(i))
      return rc;
  }
  return Good;
}

int Session::writeOutputs(const std::vector<Value> &outputs) {
  mkdir(o.outputDir.c_str(), 0777);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Value &v = outputs[i];
    std::string name = desc->outputs[i].name, error;
    bool npy = v.isTensor();
    std::string path = o.outputDir + "/" + (npy ? fileName(name) + ".npy" : "output_" + std::to_string(i) + ".pb");
    if (!writeFile(path, npy ? writeNpy(v) : writeProto(v, name), error))
      return report(Environment, error);
  }
  return Good;
}

int Session::compareOutputs(const std::vector<Value> &outputs) {
  int code = Good;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const optc_io_desc &io = desc->outputs[i];
    std::string path, error;
    Value expected;
    if (!findInFolder(o.expectDir, "output_", int32_t(i), io, path))
      return report(BadInput, "--expect: '" + o.expectDir + "' holds neither output_" + std::to_string(i) + ".pb nor " +
                                  fileName(io.name) + ".npy");
    if (!readValue(path, io, expected, error))
      return report(BadInput, "--expect: " + error);
    std::string difference = compare(io.name, outputs[i], expected, o.tolerance);
    if (!difference.empty())
      code = report(Different, difference);
  }
  return code;
}

static int feedAndRun(const Options &o) {
  Session s(o);
  optc_error error = {};
  Clock::time_point start = Clock::now();
  if (optc_model_load_file(o.artifact.c_str(), &s.model, &error))
    return reportStatus(error);
  s.desc = optc_model_get_desc(s.model);
  if (o.info) {
    printInfo(*s.desc, o.json);
    if (!o.bench && o.inputs.empty() && o.inputsDir.empty() && o.expectDir.empty())
      return Good;
  }
  std::string problem;
  if (int rc = chooseDevice(o, *s.desc, problem))
    return report(rc, problem);
  optc_context_options contextOptions = {sizeof(contextOptions), o.threads, nullptr, nullptr};
  if (optc_context_create(s.model, &contextOptions, &s.context, &error))
    return reportStatus(error);
  Times times;
  times.loadMilliseconds = millisecondsSince(start);
  if (int rc = s.readInputs())
    return rc;

  Keeper keep;
  std::vector<optc_value> in;
  for (const Value &v : s.inputs)
    in.push_back(toRuntime(v, keep));
  std::vector<optc_value> out(size_t(s.desc->num_outputs));
  auto run = [&] {
    for (optc_value &v : out)
      v = optc_value{};
    return optc_run(s.context, in.data(), int32_t(in.size()), out.data(), int32_t(out.size()), nullptr, &error);
  };
  if (run())
    return reportStatus(error);
  int code = Good;
  if (!o.outputDir.empty() || !o.expectDir.empty()) {
    std::vector<Value> outputs;
    for (const optc_value &v : out)
      outputs.push_back(fromRuntime(v));
    if (!o.outputDir.empty())
      if (int rc = s.writeOutputs(outputs))
        return rc;
    if (!o.expectDir.empty())
      code = s.compareOutputs(outputs);
  } else if (!o.bench && !o.info) {
    for (int32_t i = 0; i < s.desc->num_outputs; ++i)
      printf("%s: %s\n", s.desc->outputs[i].name, describe(fromRuntime(out[size_t(i)])).c_str());
  }
  if (!o.bench || code)
    return code;

  start = Clock::now();
  for (int i = 0; o.warmup < 0 ? millisecondsSince(start) < o.benchSeconds * 100 : i < o.warmup; ++i)
    if (run())
      return reportStatus(error);
  start = Clock::now();
  constexpr size_t kMost = 10000000; // bounds the memory of the list
  do {
    Clock::time_point one = Clock::now();
    if (run())
      return reportStatus(error);
    times.milliseconds.push_back(millisecondsSince(one));
  } while (times.milliseconds.size() < 3 ||
           (millisecondsSince(start) < o.benchSeconds * 1e3 && times.milliseconds.size() < kMost));
  printTimes(times, optc_context_device(s.context), o.json);
  return code;
}

int optc::run::runArtifact(const Options &o) {
  try {
    return feedAndRun(o);
  } catch (const std::bad_alloc &) {
  } catch (const std::length_error &) {
  }
  return report(Environment, "out of memory for the inputs or outputs");
}
