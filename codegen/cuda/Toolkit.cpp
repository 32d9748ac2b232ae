//===- Toolkit.cpp - NVIDIA's assembler -----------------------------------===//
#include "optc/codegen/CompileError.h"
#include "optc/codegen/cuda/Assemble.h"
#include "optc/codegen/cuda/DeviceModule.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cstdlib>

using namespace llvm;
using namespace optc;

/// Folders of the nvidia-* wheels: CUDA 12's have one each, those of 13 and later share one.
static constexpr StringLiteral kWheels[] = {"cu13", "cu14", "cuda_nvcc", "cuda_nvvm"};

static std::string joined(const Twine &folder, StringRef path) {
  SmallString<256> all;
  folder.toVector(all);
  sys::path::append(all, path);
  return std::string(all);
}

/// site-packages/nvidia of the Python installation below `prefix`.
static void addWheels(StringRef prefix, SmallVectorImpl<std::string> &roots) {
  std::error_code error;
  SmallVector<std::string> found;
  for (sys::fs::directory_iterator it(joined(prefix, "lib"), error), end; !error && it != end; it.increment(error))
    if (sys::path::filename(it->path()).starts_with("python3"))
      found.push_back(joined(it->path(), "site-packages/nvidia"));
  llvm::sort(found);
  for (StringRef nvidia : found)
    for (StringRef wheel : kWheels)
      roots.push_back(joined(nvidia, wheel));
}

std::string optc::findToolkitFile(StringRef path) {
  SmallVector<std::string> roots;
  if (const char *home = std::getenv("CUDA_HOME"); home && *home)
    roots.push_back(home);
  if (ErrorOr<std::string> ptxas = sys::findProgramByName("ptxas")) {
    SmallString<256> real;
    if (!sys::fs::real_path(*ptxas, real))
      roots.push_back(sys::path::parent_path(sys::path::parent_path(real)).str());
  }
  for (const char *variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char *prefix = std::getenv(variable); prefix && *prefix)
      addWheels(prefix, roots);
  if (ErrorOr<std::string> python = sys::findProgramByName("python3"))
    addWheels(sys::path::parent_path(sys::path::parent_path(*python)), roots);
  for (StringRef root : roots)
    if (std::string file = joined(root, path); sys::fs::exists(file))
      return file;
  return "";
}

void optc::readPtxasOutput(StringRef output, std::vector<DeviceKernel> &kernels) {
  auto find = [&](StringRef name) -> DeviceKernel * {
    auto it = llvm::find_if(kernels, [&](const DeviceKernel &kernel) { return kernel.name == name; });
    return it == kernels.end() ? nullptr : &*it;
  };
  // The number in front of (or, of "Used N", behind) a text; what is not there is 0.
  auto numberBefore = [](StringRef line, StringRef text) {
    int32_t n = 0;
    if (size_t at = line.find(text); at != StringRef::npos) {
      StringRef head = line.take_front(at).rtrim();
      size_t begin = head.find_last_not_of("0123456789");
      (void)head.substr(begin == StringRef::npos ? 0 : begin + 1).getAsInteger(10, n);
    }
    return n;
  };
  DeviceKernel *current = nullptr;
  SmallVector<StringRef> lines;
  output.split(lines, '\n');
  for (StringRef line : lines) {
    // Names are in quotes, except in "Function properties for NAME".
    auto [before, rest] = line.split('\'');
    StringRef name = rest.split('\'').first;
    if (line.contains("Compiling entry function") || line.contains("Function properties for")) {
      if (name.empty())
        name = line.rsplit(' ').second;
      current = find(name.trim());
    } else if (size_t at = line.find("(C75"); at != StringRef::npos) {
      // A note on performance, for one kernel or for the one at hand.
      SmallVector<StringRef> parts;
      line.split(parts, '\'');
      DeviceKernel *about = current;
      for (StringRef part : parts)
        if (DeviceKernel *named = find(part))
          about = named;
      if (about)
        about->notes.push_back(line.trim().str());
    } else if (current && line.contains("bytes stack frame")) {
      current->stackBytes = numberBefore(line, "bytes stack frame");
      current->spillStores = numberBefore(line, "bytes spill stores");
      current->spillLoads = numberBefore(line, "bytes spill loads");
    } else if (current && line.contains("Used ")) {
      current->registers = numberBefore(line, "registers");
      current->staticSharedBytes = numberBefore(line, "bytes smem");
    }
  }
}

/// The lines of ptxas that say what is wrong.
static std::string firstProblem(StringRef output) {
  SmallVector<StringRef> lines;
  output.split(lines, '\n');
  for (StringRef line : lines)
    if (line.contains("error") || line.contains("fatal"))
      return line.trim().str();
  return lines.empty() ? "" : lines.front().trim().str();
}

Error cuda::assemble(const DeviceTarget &target, DeviceModule &module) {
  std::string ptxas = findToolkitFile("bin/ptxas");
  if (ptxas.empty())
    return environmentError("ptxas, which makes machine code for " + target.name +
                            ", is not found below CUDA_HOME, on PATH or in the Python environment; install NVIDIA's "
                            "CUDA toolkit or 'pip install nvidia-cuda-nvcc', or use --emit=ptx");
  SmallString<128> folder;
  if (std::error_code why = sys::fs::createUniqueDirectory("optc-ptxas", folder))
    return environmentError("cannot make a temporary folder: " + why.message());
  scope_exit clean([&] { sys::fs::remove_directories(folder); });
  std::string input = joined(folder, "device.ptx"), output = joined(folder, "device.cubin"),
              log = joined(folder, "log");
  {
    std::error_code why;
    raw_fd_ostream os(input, why);
    if (!why)
      os << module.ptx;
    os.close();
    why = why ? why : os.error();
    os.clear_error();
    if (why)
      return environmentError("cannot write " + input + ": " + why.message());
  }
  std::string arch = ("-arch=" + target.chip).str();
  StringRef args[] = {ptxas, arch, "-O3", "-v", input, "-o", output};
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log), StringRef(log)};
  std::string problem;
  bool failed = false;
  int code = sys::ExecuteAndWait(ptxas, args, std::nullopt, redirects, 0, 0, &problem, &failed);
  std::string text;
  if (ErrorOr<std::unique_ptr<MemoryBuffer>> printed = MemoryBuffer::getFile(log))
    text = (*printed)->getBuffer().str();
  if (failed || code < 0)
    return environmentError("cannot run " + ptxas + ": " + problem);
  if (code != 0)
    return internalError(ptxas + " refuses the generated code: " + firstProblem(text));
  readPtxasOutput(text, module.kernels);
  ErrorOr<std::unique_ptr<MemoryBuffer>> bytes = MemoryBuffer::getFile(output, /*IsText=*/false, false);
  if (!bytes)
    return environmentError("cannot read what " + ptxas + " wrote: " + bytes.getError().message());
  module.cubin.assign((*bytes)->getBufferStart(), (*bytes)->getBufferEnd());
  return Error::success();
}
