//===- Target.h - the machines that optc compiles for ---------------------===//
#ifndef OPTC_CODEGEN_TARGET_H
#define OPTC_CODEGEN_TARGET_H
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
}

namespace optc {

/// A GPU that dispatches run on, beside the CPU that the host program runs on. Limits are those of NVIDIA's tuning
/// guides for the architecture.
struct DeviceTarget {
  llvm::StringLiteral name;           ///< what --target= takes
  llvm::StringLiteral chip;           ///< LLVM's and ptxas's name
  llvm::StringLiteral features;       ///< LLVM's: the PTX version. Without one that knows the chip LLVM aborts
  int32_t capability;                 ///< 10 * major + minor
  int64_t multiprocessors;            ///< of the largest part
  int64_t sharedBytes;                ///< that a block can have
  int64_t registersPerMultiprocessor; ///< of 32 bits
  int64_t threadsPerBlock;            ///< at most
};

/// A resolved target: nothing in it depends on the machine that compiles, except what `native` resolved to.
struct Target {
  std::string name;     ///< as the user wrote it
  std::string triple;   ///< LLVM's
  std::string cpu;      ///< LLVM's CPU name; `native` is resolved
  std::string features; ///< LLVM's "+a,-b" on top of what the CPU implies
  unsigned vectorBits = 128;
  unsigned numVectorRegisters = 16;
  int64_t l1Bytes = 32 << 10, l2Bytes = 512 << 10; ///< data cache, per core
  uint64_t cpuFeatures = 0;                        ///< OPTC_CPU_* of runtime/optc.h that the artifact asks for
  const DeviceTarget *device = nullptr;            ///< null: everything runs on the CPU

  bool isX86() const { return llvm::StringRef(triple).starts_with("x86_64"); }
  bool isAArch64() const { return llvm::StringRef(triple).starts_with("aarch64"); }
  bool has(uint64_t bits) const { return (cpuFeatures & bits) == bits; }
  /// Fused multiply-add on every lane type the vector unit has.
  bool hasFma() const;
  /// Products of 8-bit integers that an instruction of full vectors adds up in a lane of 32 bits.
  unsigned dotDepth() const;
  /// Elements of `bits` bits in a vector register.
  unsigned lanes(unsigned bits) const { return vectorBits / bits; }
};

/// `native`, an x86-64 level, a CPU name that LLVM knows, `aarch64`, or a device (whose host is `native`). Anything
/// else is a usage error that lists these.
llvm::Expected<Target> resolveTarget(llvm::StringRef name);
/// All names that resolveTarget takes.
std::vector<std::string> targetNames();
/// The devices among them.
llvm::ArrayRef<DeviceTarget> deviceTargets();
/// What generic versions of kernels are compiled for (kernel::kGenericCapability): newer ones run it, too.
const DeviceTarget &genericDevice();
/// LLVM's code generator for PTX.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createDeviceMachine(const DeviceTarget &device);
/// LLVM's view of a target's CPU at optimisation level 0..3; position-independent code.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const Target &target, int optLevel);

} // namespace optc
#endif
