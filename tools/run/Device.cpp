//===- Device.cpp - where a model runs: --device --------------------------===//
#include "Options.h"
#include <climits>
#include <cstdlib>
#include <unistd.h>

using namespace optc::run;

static constexpr char kEmulator[] = "liboptc_cuda_emulator.so";
/// Where it is from the program's folder: in a build tree and in an installed one, and beside a launcher.
static constexpr const char *kFolders[] = {"../lib/", ""};

/// Empty when it is nowhere.
static std::string findEmulator() {
  char self[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
  std::string folder(self, n > 0 ? size_t(n) : 0);
  folder.resize(folder.rfind('/') + 1);
  for (const char *below : kFolders) {
    std::string path = folder + below + kEmulator;
    if (!access(path.c_str(), R_OK))
      return path;
  }
  return "";
}

int optc::run::chooseDevice(const Options &o, const optc_model_desc &desc, std::string &error) {
  std::string name = "model '" + std::string(desc.name) + "'";
  const optc_device_desc *device = desc.device;
  if (o.device.empty() || (o.device == "cpu" && !device))
    return Good;
  if (o.device == "cpu") {
    error = "--device=cpu: " + name + " is compiled for a CUDA device; compile it with --target= for a CPU";
    return BadInput;
  }
  if (!device) {
    error = "--device=" + o.device + ": " + name + " is compiled for a CPU only; compile it with --target=sm90";
    return BadInput;
  }
  if (o.device == "cuda")
    return Good;
  if (!device->emulation) {
    error = "--device=emulator: " + name + " has no code for the emulator; compile it with --emulate";
    return BadInput;
  }
  std::string library = findEmulator();
  if (library.empty()) {
    error =
        "--device=emulator: " + std::string(kEmulator) + " is neither in ../lib of this program's folder nor beside it";
    return Environment;
  }
  setenv("OPTC_CUDA_LIB", library.c_str(), 1);
  return Good;
}
