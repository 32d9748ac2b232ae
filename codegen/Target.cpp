//===- Target.cpp - the machines that optc compiles for -------------------===//
#include "optc/codegen/Target.h"
#include "optc/codegen/CompileError.h"
#include "optc/runtime/optc.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include <mutex>
#include <unistd.h>

using namespace llvm;
using namespace optc;

char CompileError::ID = 0;

namespace {
struct FeatureBit {
  StringLiteral name;
  uint64_t bit;
};
struct CacheSizes {
  StringLiteral cpuPrefix;
  unsigned l1KiB, l2KiB;
};
} // namespace

/// The features the runtime checks when it loads an artifact. Code uses no others (see restrictFeatures).
static constexpr FeatureBit kFeatures[] = {
    {"sse3", OPTC_CPU_SSE3},
    {"ssse3", OPTC_CPU_SSSE3},
    {"sse4.1", OPTC_CPU_SSE41},
    {"sse4.2", OPTC_CPU_SSE42},
    {"popcnt", OPTC_CPU_POPCNT},
    {"avx", OPTC_CPU_AVX},
    {"f16c", OPTC_CPU_F16C},
    {"fma", OPTC_CPU_FMA},
    {"avx2", OPTC_CPU_AVX2},
    {"bmi", OPTC_CPU_BMI},
    {"bmi2", OPTC_CPU_BMI2},
    {"lzcnt", OPTC_CPU_LZCNT},
    {"movbe", OPTC_CPU_MOVBE},
    {"avx512f", OPTC_CPU_AVX512F},
    {"avx512bw", OPTC_CPU_AVX512BW},
    {"avx512cd", OPTC_CPU_AVX512CD},
    {"avx512dq", OPTC_CPU_AVX512DQ},
    {"avx512vl", OPTC_CPU_AVX512VL},
    {"avx512vnni", OPTC_CPU_AVX512VNNI},
    {"avx512bf16", OPTC_CPU_AVX512BF16},
    {"avx512fp16", OPTC_CPU_AVX512FP16},
    {"avx512vbmi", OPTC_CPU_AVX512VBMI},
    {"avxvnni", OPTC_CPU_AVXVNNI},
    {"amx-tile", OPTC_CPU_AMXTILE},
    {"amx-int8", OPTC_CPU_AMXINT8},
    {"amx-bf16", OPTC_CPU_AMXBF16},
    {"cx16", OPTC_CPU_CX16},
    {"sahf", OPTC_CPU_SAHF},
};
/// Part of x86-64 itself, or never chosen by LLVM without an intrinsic and implied by features above.
static constexpr StringLiteral kBaseline[] = {"64bit", "cmov", "cx8", "crc32",   "fxsr", "mmx",
                                              "sse",   "sse2", "x87", "evex512", "xsave"};

/// The first prefix that fits wins; the last entry fits everything.
static constexpr CacheSizes kCaches[] = {
    {"znver5", 48, 1024},         {"znver4", 32, 1024},
    {"znver", 32, 512},           {"sapphirerapids", 48, 2048},
    {"emeraldrapids", 48, 2048},  {"graniterapids", 48, 2048},
    {"icelake-server", 48, 1280}, {"icelake", 48, 512},
    {"tigerlake", 48, 1280},      {"alderlake", 48, 1280},
    {"raptorlake", 48, 2048},     {"skylake-avx512", 32, 1024},
    {"cascadelake", 32, 1024},    {"cooperlake", 32, 1024},
    {"x86-64-v4", 32, 1024},      {"skylake", 32, 256},
    {"haswell", 32, 256},         {"broadwell", 32, 256},
    {"neoverse", 64, 1024},       {"", 32, 512},
};

/// The tensor memory accelerator and its fences need PTX 8.3.
static constexpr DeviceTarget kDevices[] = {
    {"sm90", "sm_90a", "+ptx83", 90, 132, 227 << 10, 64 << 10, 1024},
    {"sm80", "sm_80", "+ptx83", 80, 108, 163 << 10, 64 << 10, 1024},
};

unsigned optc::Target::dotDepth() const {
  if (!isX86())
    return 1;
  return has(OPTC_CPU_AVX512VNNI) || (vectorBits == 256 && has(OPTC_CPU_AVXVNNI)) ? 4 : 2;
}

bool optc::Target::hasFma() const { return isAArch64() || has(OPTC_CPU_FMA); }

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Only what this compiler emits for.
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

static Expected<const llvm::Target *> lookupTarget(StringRef triple) {
  initializeTargets();
  std::string error;
  const llvm::Target *target = TargetRegistry::lookupTarget(Triple(triple), error);
  if (!target)
    return environmentError("this LLVM cannot generate code for " + triple + ": " + error);
  return target;
}

static std::unique_ptr<MCSubtargetInfo> subtarget(const llvm::Target &llvmTarget, const optc::Target &target,
                                                  StringRef features) {
  return std::unique_ptr<MCSubtargetInfo>(
      llvmTarget.createMCSubtargetInfo(Triple(target.triple), target.cpu, features));
}

static uint64_t featureBits(const MCSubtargetInfo &info) {
  uint64_t bits = 0;
  for (const FeatureBit &f : kFeatures)
    if (info.checkFeatures(("+" + f.name).str()))
      bits |= f.bit;
  return bits;
}

/// Switches off what the runtime cannot check, so that an artifact never meets an instruction that it did not ask for.
static void restrictFeatures(const llvm::Target &llvmTarget, optc::Target &target, const StringMap<bool> *host) {
  SmallVector<StringRef> implied;
  X86::getFeaturesForCPU(target.cpu, implied);
  llvm::sort(implied);
  std::string features;
  auto add = [&](const Twine &item) { features += (features.empty() ? item : "," + item).str(); };
  if (host)
    for (const FeatureBit &f : kFeatures) {
      auto it = host->find(f.name);
      bool wanted = it != host->end() && it->second;
      if (wanted != llvm::is_contained(implied, f.name))
        add((wanted ? "+" : "-") + f.name);
    }
  uint64_t bits = featureBits(*subtarget(llvmTarget, target, features));
  for (StringRef name : implied) {
    if (llvm::is_contained(kBaseline, name) ||
        llvm::any_of(kFeatures, [&](const FeatureBit &f) { return f.name == name; }))
      continue;
    // A feature that others imply cannot go without them.
    std::string without = (features.empty() ? "-" : features + ",-") + name.str();
    if (featureBits(*subtarget(llvmTarget, target, without)) == bits)
      features = std::move(without);
  }
  target.features = std::move(features);
  target.cpuFeatures = bits;
}

static void setCaches(optc::Target &target, bool native) {
  for (const CacheSizes &c : kCaches)
    if (StringRef(target.cpu).starts_with(c.cpuPrefix)) {
      target.l1Bytes = int64_t(c.l1KiB) << 10;
      target.l2Bytes = int64_t(c.l2KiB) << 10;
      break;
    }
  if (!native)
    return;
#ifdef _SC_LEVEL1_DCACHE_SIZE
  // Virtual machines often report 0.
  if (long size = sysconf(_SC_LEVEL1_DCACHE_SIZE); size > 0)
    target.l1Bytes = size;
  if (long size = sysconf(_SC_LEVEL2_CACHE_SIZE); size > 0)
    target.l2Bytes = size;
#endif
}

static Expected<optc::Target> resolveX86(StringRef name, StringRef cpu, const StringMap<bool> *host) {
  optc::Target target;
  target.name = name.str();
  target.triple = "x86_64-unknown-linux-gnu";
  target.cpu = cpu.str();
  Expected<const llvm::Target *> llvmTarget = lookupTarget(target.triple);
  if (!llvmTarget)
    return llvmTarget.takeError();
  restrictFeatures(**llvmTarget, target, host);
  bool wide = target.has(OPTC_CPU_AVX512F | OPTC_CPU_AVX512VL | OPTC_CPU_AVX512BW | OPTC_CPU_AVX512DQ);
  target.vectorBits = wide ? 512 : target.has(OPTC_CPU_AVX) ? 256 : 128;
  target.numVectorRegisters = wide ? 32 : 16;
  setCaches(target, host != nullptr);
  return target;
}

static Expected<optc::Target> resolveAArch64(StringRef name, StringRef cpu, bool native) {
  optc::Target target;
  target.name = name.str();
  target.triple = "aarch64-unknown-linux-gnu";
  target.cpu = cpu.str();
  if (Error error = lookupTarget(target.triple).takeError())
    return std::move(error);
  target.numVectorRegisters = 32;
  setCaches(target, native);
  return target;
}

static std::vector<StringRef> x86Cpus() {
  SmallVector<StringRef> cpus;
  X86::fillValidCPUArchList(cpus, /*Only64Bit=*/true);
  return {cpus.begin(), cpus.end()};
}

std::vector<std::string> optc::targetNames() {
  std::vector<std::string> names = {"native", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"};
  for (const DeviceTarget &device : kDevices)
    names.push_back(device.name.str());
  for (StringRef cpu : x86Cpus())
    if (!llvm::is_contained(names, cpu))
      names.push_back(cpu.str());
  return names;
}

ArrayRef<DeviceTarget> optc::deviceTargets() { return kDevices; }

const DeviceTarget &optc::genericDevice() {
  return *llvm::find_if(kDevices, [](const DeviceTarget &device) { return device.name == "sm80"; });
}

Expected<optc::Target> optc::resolveTarget(StringRef name) {
  for (const DeviceTarget &device : kDevices)
    if (name == device.name) {
      Expected<optc::Target> target = resolveTarget("native");
      if (target) {
        target->name = name.str();
        target->device = &device;
      }
      return target;
    }
  if (name == "native") {
    std::string cpu = sys::getHostCPUName().str();
#if defined(__x86_64__)
    StringMap<bool> host = sys::getHostCPUFeatures();
    // LLVM names CPUs it does not know by their level.
    if (!llvm::is_contained(x86Cpus(), StringRef(cpu)))
      cpu = "x86-64";
    return resolveX86(name, cpu, &host);
#elif defined(__aarch64__)
    return resolveAArch64(name, "generic", true);
#else
    return environmentError("optc does not know how to compile for this machine's CPU (" + cpu +
                            "); name one with --target=");
#endif
  }
  if (name == "aarch64")
    return resolveAArch64(name, "generic", false);
  if (llvm::is_contained(x86Cpus(), name))
    return resolveX86(name, name, nullptr);
  return usageError("unknown target '" + name + "'; there are: " + llvm::join(targetNames(), ", "));
}

Expected<std::unique_ptr<TargetMachine>> optc::createDeviceMachine(const DeviceTarget &device) {
  Triple triple("nvptx64-nvidia-cuda");
  Expected<const llvm::Target *> llvmTarget = lookupTarget(triple.str());
  if (!llvmTarget)
    return llvmTarget.takeError();
  // IEEE semantics as on the CPU; products are contracted only where the IR says so.
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Standard;
  std::unique_ptr<TargetMachine> machine((*llvmTarget)
                                             ->createTargetMachine(triple, device.chip, device.features, options,
                                                                   Reloc::PIC_, std::nullopt,
                                                                   CodeGenOptLevel::Aggressive));
  if (!machine)
    return environmentError("LLVM has no code generator for " + triple.str());
  return machine;
}

Expected<std::unique_ptr<TargetMachine>> optc::createTargetMachine(const Target &target, int optLevel) {
  Expected<const llvm::Target *> llvmTarget = lookupTarget(target.triple);
  if (!llvmTarget)
    return llvmTarget.takeError();
  TargetOptions options; // IEEE semantics: no fast-math flag is set anywhere
  options.FunctionSections = true;
  options.DataSections = true;
  CodeGenOptLevel level = optLevel == 0   ? CodeGenOptLevel::Less
                          : optLevel >= 3 ? CodeGenOptLevel::Aggressive
                                          : CodeGenOptLevel::Default;
  std::unique_ptr<TargetMachine> machine((*llvmTarget)
                                             ->createTargetMachine(Triple(target.triple), target.cpu, target.features,
                                                                   options, Reloc::PIC_, std::nullopt, level));
  if (!machine)
    return environmentError("LLVM has no code generator for " + target.triple);
  return machine;
}
