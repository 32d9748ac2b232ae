//===- DeviceMemory.h - memory of the emulated device -----------*- C++ -*-===//
#ifndef OPTC_RUNTIME_EMULATOR_DEVICEMEMORY_H
#define OPTC_RUNTIME_EMULATOR_DEVICEMEMORY_H
#include <cstddef>
#include <cstdint>
#include <map>

namespace optc::cuda {

/// Allocations of whole pages between guard pages. Nobody may touch them but the driver at work (a host program that
/// takes an address of the device for one of its own ends with a signal, as it would with a device), and what was
/// never written reads as 0xff.
class DeviceMemory {
public:
  static constexpr size_t kAlignment = 256; ///< of addresses, as cuMemAlloc promises

  DeviceMemory();
  ~DeviceMemory();
  /// Null when there is no more memory: half of the machine's at most.
  void *allocate(size_t bytes);
  /// False when it is not the address of an allocation.
  bool release(void *address);
  size_t totalBytes() const { return limit; }
  size_t unusedBytes() const { return limit - used; }
  /// Whether bytes lie in one allocation.
  bool contains(const void *address, size_t bytes) const;
  /// The address of one of them; null when there is none.
  void *any() const { return blocks.empty() ? nullptr : reinterpret_cast<void *>(blocks.begin()->first); }

  /// While one exists, the memory can be used.
  class Access {
  public:
    explicit Access(DeviceMemory &memory);
    ~Access();

  private:
    DeviceMemory &memory;
  };

private:
  struct Block {
    size_t bytes;  ///< asked for
    char *mapping; ///< with guard pages
    size_t mapped;
  };
  void protect(int protection);

  std::map<uintptr_t, Block> blocks; ///< by address
  size_t page, limit, used = 0;
  int users = 0;
};

} // namespace optc::cuda
#endif
