//===- Emulator.h - runs device code on the host ----------------*- C++ -*-===//
//
// The engine of liboptc_cuda_emulator.so. It runs images that optc makes with --emulate: x86-64 shared objects of the
// LLVM IR that ptxas gets (codegen/cuda/emulate). One fiber per CUDA thread; barriers, warp collectives, mbarriers, TMA
// and tensor-core products are functions of the engine; every access to memory is checked.
// The stand-in for the CUDA driver in the same library is the only user.
//===----------------------------------------------------------------------===//
#ifndef OPTC_RUNTIME_EMULATOR_EMULATOR_H
#define OPTC_RUNTIME_EMULATOR_EMULATOR_H
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace optc::emulator {

struct Engine;
struct Image;
struct Kernel;

/// How a launch is executed.
struct Modes {
  bool random = false; ///< blocks and threads in an order that `seed` decides, with switches at accesses
  uint64_t seed = 0;
  bool race = false;              ///< report accesses that nothing orders
  bool lateTma = false;           ///< asynchronous copies and products happen at the last legal moment
  uint64_t maxBlocks = INT32_MAX; ///< of a grid along x: few make a block go over many tiles
  int capability = 90;            ///< of the device that it claims to be: 10 * major + minor, 80 or more
  unsigned threads = 0; ///< host threads that share the blocks; 0: all cores. One in every other mode than the first.
};
/// Parses OPTC_EMULATOR: a comma-separated list of `order`, `random:SEED`, `race`, `late-tma`, `grid:N`, `threads:N`,
/// `capability:N`; null and "" are the first. False, with a sentence in `error`, when it is something else.
bool parseModes(const char *text, Modes &modes, std::string &error);

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

/// Bytes of shared memory that a block may have on a device of this compute capability.
uint64_t maxSharedBytes(int capability);

/// What the stand-in's cuTensorMapEncodeTiled writes into the 128 bytes of a CUtensorMap.
struct TensorMap {
  static constexpr uint64_t kMagic = 0x50414d544350544full;
  uint64_t magic;      ///< kMagic
  uint64_t base;       ///< address
  uint64_t dims[5];    ///< in elements, innermost first
  uint64_t strides[4]; ///< in bytes, of dimensions 1..
  uint16_t box[5];
  uint8_t elementBytes, rank;
  uint8_t swizzle; ///< 0 none, 1 32 bytes, 2 64 bytes, 3 128 bytes
  uint8_t nanFill; ///< 1: what is outside of the tensor reads as NaN instead of zero (floats)
};
static_assert(sizeof(TensorMap) <= 128);

/// An engine; not thread-safe: the caller serialises.
std::unique_ptr<Engine, void (*)(Engine *)> createEngine(const Modes &modes);

/// Device memory that kernels may access from now on, until it is forgotten.
void addAllocation(Engine &engine, const void *base, size_t bytes);
void removeAllocation(Engine &engine, const void *base);

/// Whether these bytes are an image at all (an x86-64 ELF file; a cubin is not).
bool isImage(const void *bytes, size_t size);
/// Loads an image of `size` bytes. Null, with a sentence in `error`, when it cannot be loaded.
Image *loadImage(Engine &engine, const void *bytes, size_t size, std::string &error);
void unloadImage(Engine &engine, Image *image);
/// The kernel of this name; null when there is none. Lives as long as the image.
const Kernel *findKernel(const Image &image, const char *name);
/// Shared memory that the kernel declares, and parameters that it takes.
size_t staticSharedBytes(const Kernel &kernel);
unsigned numParameters(const Kernel &kernel);
/// Bytes of the value of a parameter: 8, or 128 for a tensor map. cuLaunchKernel copies values when it is called.
size_t parameterBytes(const Kernel &kernel, unsigned index);

/// Runs a kernel to its end. `parameters` is cuLaunchKernel's array: one address of a value per parameter (of the 128
/// bytes for a tensor map). False, with a message that names kernel, block, thread and what happened, on an error.
bool launch(Engine &engine, const Kernel &kernel, Dim3 grid, Dim3 block, size_t dynamicSharedBytes, void **parameters,
            std::string &error);

} // namespace optc::emulator
#endif
