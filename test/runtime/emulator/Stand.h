//===- Stand.h - the stand-in for the driver, for tests ---------*- C++ -*-===//
#ifndef OPTC_TEST_RUNTIME_EMULATOR_STAND_H
#define OPTC_TEST_RUNTIME_EMULATOR_STAND_H
#include "optc/runtime/cuda/Device.h"
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

/// Folder of the test program, with a slash.
inline std::string programFolder() {
  char self[4096];
  ssize_t n = readlink("/proc/self/exe", self, sizeof(self));
  std::string path(self, n > 0 ? size_t(n) : 0);
  return path.substr(0, path.rfind('/') + 1);
}

/// Makes the stand-in the driver of this process.
inline void useStandIn() {
  setenv("OPTC_CUDA_LIB", (programFolder() + "../../lib/liboptc_cuda_emulator.so").c_str(), 1);
}

/// The image of image.c.
inline const std::string &testImage() {
  static const std::string bytes = [] {
    std::ifstream file(programFolder() + "optc_test_image.so", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return bytes;
}

#endif
