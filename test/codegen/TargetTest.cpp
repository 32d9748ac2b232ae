//===- TargetTest.cpp - the machines that optc compiles for ---------------===//
#include "optc/codegen/Target.h"
#include "optc/codegen/CompileError.h"
#include "optc/runtime/optc.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "gtest/gtest.h"

using namespace llvm;

static optc::Target resolve(StringRef name) {
  Expected<optc::Target> target = optc::resolveTarget(name);
  if (target)
    return *target;
  ADD_FAILURE() << toString(target.takeError());
  return {};
}

TEST(Target, LevelsOfX86) {
  optc::Target v2 = resolve("x86-64-v2"), v3 = resolve("x86-64-v3"), v4 = resolve("x86-64-v4");
  EXPECT_EQ(v2.vectorBits, 128u);
  EXPECT_FALSE(v2.hasFma());
  EXPECT_TRUE(v2.has(OPTC_CPU_SSE42 | OPTC_CPU_POPCNT));
  EXPECT_EQ(v3.vectorBits, 256u);
  EXPECT_EQ(v3.numVectorRegisters, 16u);
  EXPECT_TRUE(v3.hasFma());
  EXPECT_TRUE(v3.has(OPTC_CPU_AVX2 | OPTC_CPU_F16C | OPTC_CPU_BMI2));
  EXPECT_FALSE(v3.has(OPTC_CPU_AVX512F));
  EXPECT_EQ(v4.vectorBits, 512u);
  EXPECT_EQ(v4.numVectorRegisters, 32u);
  EXPECT_EQ(v4.lanes(32), 16u);
}

TEST(Target, AArch64) {
  optc::Target target = resolve("aarch64");
  EXPECT_TRUE(target.isAArch64() && !target.isX86() && target.hasFma());
  EXPECT_EQ(target.numVectorRegisters, 32u);
  EXPECT_EQ(target.cpuFeatures, 0u);
}

TEST(Target, NativeIsResolvedToANamedCpu) {
  optc::Target target = resolve("native");
  EXPECT_NE(target.cpu, "native");
  EXPECT_NE(target.cpu, "");
  // What it asks for is what this machine has.
  StringMap<bool> host = sys::getHostCPUFeatures();
  EXPECT_EQ(target.has(OPTC_CPU_AVX2), host.lookup("avx2"));
  EXPECT_EQ(target.has(OPTC_CPU_AVX512F), host.lookup("avx512f"));
  EXPECT_EQ(target.has(OPTC_CPU_AMXTILE), host.lookup("amx-tile"));
}

TEST(Target, EveryNameResolvesAndAsksOnlyForWhatTheRuntimeCanCheck) {
  for (const std::string &name : optc::targetNames()) {
    optc::Target target = resolve(name);
    EXPECT_GT(target.l1Bytes, 0) << name;
    EXPECT_GE(target.l2Bytes, target.l1Bytes) << name;
    Expected<std::unique_ptr<TargetMachine>> machine = optc::createTargetMachine(target, 2);
    EXPECT_TRUE(bool(machine)) << name;
  }
}

TEST(Target, UnknownNamesAreUsageErrorsWithAList) {
  Expected<optc::Target> target = optc::resolveTarget("pentium-9");
  ASSERT_FALSE(bool(target));
  handleAllErrors(target.takeError(), [](const optc::CompileError &e) {
    EXPECT_EQ(e.code(), optc::ExitCode::Usage);
    EXPECT_NE(e.message().find("pentium-9"), std::string::npos);
    EXPECT_NE(e.message().find("x86-64-v3"), std::string::npos);
  });
}

TEST(Target, Devices) {
  optc::Target native = resolve("native"), target = resolve("sm90");
  EXPECT_EQ(native.device, nullptr);
  ASSERT_NE(target.device, nullptr);
  EXPECT_EQ(target.name, "sm90");
  EXPECT_EQ(target.cpu, native.cpu);
  EXPECT_EQ(target.device->chip, "sm_90a");
  EXPECT_EQ(target.device->capability, 90);
  EXPECT_EQ(target.device->sharedBytes, 227 * 1024);
  for (const optc::DeviceTarget &device : optc::deviceTargets()) {
    Expected<std::unique_ptr<TargetMachine>> machine = optc::createDeviceMachine(device);
    ASSERT_TRUE(bool(machine)) << toString(machine.takeError());
    EXPECT_EQ((*machine)->getTargetCPU(), device.chip);
    EXPECT_TRUE(StringRef((*machine)->getTargetFeatureString()).contains("+ptx83"));
  }
}

TEST(Target, UnknownDevicesAreNamed) {
  for (StringRef name : {"sm91", "sm_90a", "SM90", "cuda"}) {
    Expected<optc::Target> target = optc::resolveTarget(name);
    ASSERT_FALSE(bool(target)) << name.str();
    std::string text = toString(target.takeError());
    EXPECT_NE(text.find("unknown target '" + name.str() + "'"), std::string::npos) << text;
    EXPECT_NE(text.find("sm90"), std::string::npos) << text;
  }
}
