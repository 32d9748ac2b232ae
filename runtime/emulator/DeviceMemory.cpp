//===- DeviceMemory.cpp - memory of the emulated device -------------------===//
#include "DeviceMemory.h"
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace optc::cuda;

static constexpr int kNever = 0xff; ///< NaN as any float

DeviceMemory::DeviceMemory() : page(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
  limit = page * static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) / 2;
}

DeviceMemory::~DeviceMemory() {
  while (void *address = any())
    release(address);
}

void *DeviceMemory::allocate(size_t bytes) {
  if (bytes > limit - used)
    return nullptr;
  size_t inside = (bytes + page - 1) / page * page, mapped = inside + 2 * page;
  void *mapping = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return nullptr;
  // As far up as the alignment allows, so that little is between its end and the guard page.
  char *first = static_cast<char *>(mapping) + page;
  char *address = first + (inside - bytes) / kAlignment * kAlignment;
  mprotect(first, inside, PROT_READ | PROT_WRITE);
  std::memset(first, kNever, inside);
  if (!users)
    mprotect(first, inside, PROT_NONE);
  blocks[reinterpret_cast<uintptr_t>(address)] = {bytes, static_cast<char *>(mapping), mapped};
  used += bytes;
  return address;
}

bool DeviceMemory::release(void *address) {
  auto it = blocks.find(reinterpret_cast<uintptr_t>(address));
  if (it == blocks.end())
    return false;
  used -= it->second.bytes;
  munmap(it->second.mapping, it->second.mapped);
  blocks.erase(it);
  return true;
}

bool DeviceMemory::contains(const void *address, size_t bytes) const {
  auto at = reinterpret_cast<uintptr_t>(address);
  auto it = blocks.upper_bound(at);
  if (it == blocks.begin())
    return false;
  --it;
  uintptr_t offset = at - it->first;
  return offset <= it->second.bytes && bytes <= it->second.bytes - offset;
}

void DeviceMemory::protect(int protection) {
  for (auto &[address, block] : blocks)
    mprotect(block.mapping + page, block.mapped - 2 * page, protection);
}

DeviceMemory::Access::Access(DeviceMemory &memory) : memory(memory) {
  if (memory.users++ == 0)
    memory.protect(PROT_READ | PROT_WRITE);
}

DeviceMemory::Access::~Access() {
  if (--memory.users == 0)
    memory.protect(PROT_NONE);
}
