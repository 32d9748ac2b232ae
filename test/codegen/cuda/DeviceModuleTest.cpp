//===- DeviceModuleTest.cpp - what ptxas says, and where it is ------------===//
#include "optc/codegen/cuda/DeviceModule.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace llvm;
using namespace optc;

static std::vector<DeviceKernel> kernelsNamed(std::initializer_list<const char *> names) {
  std::vector<DeviceKernel> kernels;
  for (const char *name : names)
    kernels.emplace_back().name = name;
  return kernels;
}

TEST(Ptxas, ReadsEveryKernel) {
  std::vector<DeviceKernel> kernels = kernelsNamed({"k0_a", "k1_b"});
  readPtxasOutput(
      "ptxas info    : 12 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k1_b' for 'sm_90a'\n"
      "ptxas info    : Function properties for k1_b\n"
      "    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 16 bytes cumulative stack size, 4096 bytes smem\n"
      "ptxas info    : Compile time = 1.000 ms\n"
      "ptxas info    : Compiling entry function 'k0_a' for 'sm_90a'\n"
      "ptxas info    : Function properties for k0_a\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 18 registers, used 0 barriers\n",
      kernels);
  EXPECT_EQ(kernels[0].registers, 18);
  EXPECT_EQ(kernels[0].spillStores, 0);
  EXPECT_EQ(kernels[0].staticSharedBytes, 0);
  EXPECT_EQ(kernels[1].registers, 255);
  EXPECT_EQ(kernels[1].stackBytes, 16);
  EXPECT_EQ(kernels[1].spillStores, 24);
  EXPECT_EQ(kernels[1].spillLoads, 32);
  EXPECT_EQ(kernels[1].staticSharedBytes, 4096);
}

TEST(Ptxas, NotesGoToTheKernelTheyName) {
  std::vector<DeviceKernel> kernels = kernelsNamed({"gemm", "other"});
  readPtxasOutput(
      "ptxas info    : (C7517) Potential Performance Loss: wgmma.mma_async instructions are serialized due to "
      "something in function 'gemm'\n"
      "ptxas info    : Compiling entry function 'other' for 'sm_90a'\n"
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored\n",
      kernels);
  ASSERT_EQ(kernels[0].notes.size(), 1u);
  EXPECT_NE(kernels[0].notes[0].find("C7517"), std::string::npos);
  ASSERT_EQ(kernels[1].notes.size(), 1u);
  EXPECT_NE(kernels[1].notes[0].find("C7508"), std::string::npos);
}

TEST(Ptxas, UnknownKernelsAndOddLinesAreIgnored) {
  std::vector<DeviceKernel> kernels = kernelsNamed({"k"});
  readPtxasOutput("ptxas info    : Compiling entry function 'stranger' for 'sm_90a'\n"
                  "ptxas info    : Used 99 registers\n'\nUsed registers\n(C75\n",
                  kernels);
  EXPECT_EQ(kernels[0].registers, 0);
  EXPECT_TRUE(kernels[0].notes.empty());
}

namespace {
/// A folder with an empty ptxas where an installation has it; the environment points nowhere else.
class Toolkit : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("optc-toolkit", folder));
    for (const char *variable : {"CUDA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX"})
      unsetenv(variable);
    setenv("PATH", (folder + "/nowhere").str().c_str(), 1);
  }
  void TearDown() override { sys::fs::remove_directories(folder); }
  std::string place(StringRef under) {
    SmallString<256> path(folder);
    sys::path::append(path, under, "bin", "ptxas");
    EXPECT_FALSE(sys::fs::create_directories(sys::path::parent_path(path)));
    std::error_code why;
    raw_fd_ostream os(path, why);
    EXPECT_FALSE(why);
    os.close();
    EXPECT_FALSE(sys::fs::setPermissions(path, sys::fs::perms::all_all));
    return std::string(path);
  }
  SmallString<256> folder;
};
} // namespace

TEST_F(Toolkit, IsNotFoundWhereItIsNot) { EXPECT_EQ(findToolkitFile("bin/ptxas"), ""); }

TEST_F(Toolkit, CudaHomeComesFirst) {
  std::string home = place("home"), onPath = place("path");
  setenv("PATH", (folder + "/path/bin").str().c_str(), 1);
  EXPECT_EQ(sys::path::filename(findToolkitFile("bin/ptxas")), "ptxas");
  EXPECT_NE(findToolkitFile("bin/ptxas").find("/path/"), std::string::npos);
  setenv("CUDA_HOME", (folder + "/home").str().c_str(), 1);
  EXPECT_EQ(findToolkitFile("bin/ptxas"), home);
}

TEST_F(Toolkit, WheelsOfTheEnvironment) {
  std::string wheel = place("venv/lib/python3.11/site-packages/nvidia/cuda_nvcc");
  setenv("VIRTUAL_ENV", (folder + "/venv").str().c_str(), 1);
  EXPECT_EQ(findToolkitFile("bin/ptxas"), wheel);
  EXPECT_EQ(findToolkitFile("nvvm/libdevice/libdevice.10.bc"), "");
}
