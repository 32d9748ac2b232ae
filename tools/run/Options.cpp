//===- Options.cpp - the command line of optc-run -------------------------===//
#include "Options.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace optc::run;

static constexpr char kHelp[] =
    R"(  --input NAME=FILE     .npy, .npz, .pb (TensorProto, SequenceProto, OptionalProto), .bin (raw elements) or
                        the word random; NAME is the model's name of the input. May be repeated. An input
                        that --info calls optional or with a default may be left out
  --dim NAME=N          the size of a symbol, for random inputs
  --inputs-dir DIR      input_N.pb in the order of the inputs, or NAME.npy (other characters than [A-Za-z0-9_.-] are _)
  --output-dir DIR      write every output: NAME.npy, or output_N.pb for sequences and optionals
  --expect DIR          compare with output_N.pb or NAME.npy in DIR; exit code 3 on a difference
  --rtol R --atol A     tolerance of --expect: |a-b| <= A + R*|b|, default R = 1e-3 and A = 1e-7; NaN equals NaN
  --bench[=SECONDS]     measure; inputs that were not given are random. Default 1 second
  --warmup N            runs before measuring; default: for a tenth of the time
  --threads N           worker threads, default 1
  --device=NAME         cpu, cuda, or emulator: device code of a model compiled with --emulate runs on this machine's
                        CPU, checked; OPTC_EMULATOR sets how (docs/runtime.md). Default: what the model is compiled for
  --info                print the signature and the metadata
  --json                print --bench and --info as JSON
  --help
exit codes: 0 good, 1 an input or the artifact is at fault, 2 usage, 3 a difference, 4 the machine (CPU features, memory)
)";

static bool number(const std::string &text, double &value) {
  char *end;
  value = strtod(text.c_str(), &end);
  return !text.empty() && !*end && value == value;
}

static bool integer(const std::string &text, int64_t low, int64_t high, int64_t &value) {
  char *end;
  errno = 0;
  value = strtoll(text.c_str(), &end, 10);
  return !text.empty() && !*end && !errno && value >= low && value <= high;
}

bool optc::run::parseOptions(int argc, char **argv, bool self, Options &o, int &code) {
  const char *slash = strrchr(argv[0], '/');
  const char *program = slash ? slash + 1 : argv[0];
  code = BadUsage;
  auto wrong = [&](const std::string &why) {
    fprintf(stderr, "%s: %s\nTry %s --help.\n", program, why.c_str(), program);
    return false;
  };
  std::vector<std::string> args(argv + 1, argv + argc);
  for (size_t i = 0; i < args.size(); ++i) {
    std::string name = args[i], value;
    if (name == "-h")
      name = "--help";
    if (name.compare(0, 2, "--") != 0) {
      if (self || !o.artifact.empty())
        return wrong("one artifact is expected, '" + name + "' is too many");
      o.artifact = name;
      continue;
    }
    bool attached = false;
    if (size_t eq = name.find('='); eq != std::string::npos) {
      value = name.substr(eq + 1);
      name.resize(eq);
      attached = true;
    }
    bool *flag = name == "--info" ? &o.info : name == "--json" ? &o.json : nullptr;
    if (name == "--help" || flag) {
      if (attached)
        return wrong(name + " takes no value");
      if (flag) {
        *flag = true;
        continue;
      }
      printf("usage: %s%s [options]\n%s", program, self ? "" : " ARTIFACT", kHelp);
      code = Good;
      return false;
    }
    if (name == "--bench") {
      o.bench = true;
      if (attached && (!number(value, o.benchSeconds) || o.benchSeconds <= 0 || o.benchSeconds > 1e6))
        return wrong("--bench=" + value + ": a number of seconds above 0 is expected");
      continue;
    }
    static const char *const known[] = {"--input", "--dim",  "--inputs-dir", "--output-dir", "--expect",
                                        "--rtol",  "--atol", "--warmup",     "--threads",    "--device"};
    bool isKnown = false;
    for (const char *k : known)
      isKnown |= name == k;
    if (!isKnown)
      return wrong("unknown option '" + name + "'");
    if (!attached) {
      if (++i == args.size())
        return wrong(name + " needs a value");
      value = args[i];
    }
    int64_t n = 0;
    if (name == "--input" || name == "--dim") {
      size_t eq = value.rfind('=');
      if (eq == std::string::npos || eq == 0 || eq + 1 == value.size())
        return wrong(name + " " + value + ": NAME=" + (name == "--dim" ? "N" : "FILE") + " is expected");
      if (name == "--input")
        o.inputs.push_back(value);
      else if (!integer(value.substr(eq + 1), 0, int64_t(1) << 40, n))
        return wrong("--dim " + value + ": a size is expected");
      else
        o.dims[value.substr(0, eq)] = n;
    } else if (name == "--rtol" || name == "--atol") {
      double &t = name == "--rtol" ? o.tolerance.relative : o.tolerance.absolute;
      if (!number(value, t) || t < 0)
        return wrong(name + " " + value + ": a number of 0 or more is expected");
    } else if (name == "--warmup") {
      if (!integer(value, 0, 1000000000, n))
        return wrong("--warmup " + value + ": a number of runs is expected");
      o.warmup = int(n);
    } else if (name == "--device") {
      if (value != "cpu" && value != "cuda" && value != "emulator")
        return wrong("--device=" + value + ": cpu, cuda or emulator is expected");
      o.device = value;
    } else if (name == "--threads") {
      if (!integer(value, 1, 1024, n))
        return wrong("--threads " + value + ": 1 to 1024 are supported");
      o.threads = int(n);
    } else {
      (name == "--inputs-dir" ? o.inputsDir : name == "--output-dir" ? o.outputDir : o.expectDir) = value;
    }
  }
  if (!self && o.artifact.empty())
    return wrong("an artifact is expected");
  code = Good;
  return true;
}
