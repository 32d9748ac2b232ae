//===- Launch.cpp - engines, device memory and launches --------------------===//
#include "Engine.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

using namespace optc::emulator;

static constexpr uint64_t kMaxThreads = 1024;

namespace {
struct Chip {
  int capability;
  uint64_t sharedBytes; ///< of a block, at most
};
} // namespace
/// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; what is newer has as much as the
/// last.
static constexpr Chip kChips[] = {{80, 163 << 10}, {86, 99 << 10},   {87, 163 << 10}, {89, 99 << 10},
                                  {90, 227 << 10}, {100, 227 << 10}, {120, 99 << 10}};

uint64_t optc::emulator::maxSharedBytes(int capability) {
  uint64_t bytes = kChips[0].sharedBytes;
  for (const Chip &chip : kChips)
    if (chip.capability <= capability)
      bytes = chip.sharedBytes;
  return bytes;
}

static bool parseNumber(const std::string &text, uint64_t &value) {
  char *end = nullptr;
  value = strtoull(text.c_str(), &end, 10);
  return !text.empty() && text[0] != '-' && !*end;
}

bool optc::emulator::parseModes(const char *text, Modes &modes, std::string &error) {
  modes = Modes();
  std::string rest = text ? text : "";
  while (!rest.empty()) {
    size_t comma = rest.find(',');
    std::string word = rest.substr(0, comma);
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    size_t colon = word.find(':');
    std::string name = word.substr(0, colon), argument = colon == std::string::npos ? "" : word.substr(colon + 1);
    uint64_t number = 0;
    bool hasNumber = parseNumber(argument, number);
    if (word == "order") {
    } else if (word == "race") {
      modes.race = true;
    } else if (word == "late-tma") {
      modes.lateTma = true;
    } else if (name == "random" && hasNumber) {
      modes.random = true;
      modes.seed = number;
    } else if (name == "grid" && hasNumber && number >= 1 && number <= INT32_MAX) {
      modes.maxBlocks = number;
    } else if (name == "threads" && hasNumber && number >= 1 && number <= 1024) {
      modes.threads = number;
    } else if (name == "capability" && hasNumber && number >= 80 && number < 1000) {
      modes.capability = static_cast<int>(number);
    } else {
      error = "OPTC_EMULATOR has \"" + word +
              "\"; it is a list of order, random:SEED, race, late-tma, grid:N, threads:N and "
              "capability:N (80 or more)";
      return false;
    }
  }
  return true;
}

std::unique_ptr<Engine, void (*)(Engine *)> optc::emulator::createEngine(const Modes &modes) {
  return {new Engine(modes), [](Engine *engine) { delete engine; }};
}

void optc::emulator::addAllocation(Engine &engine, const void *base, size_t bytes) {
  engine.allocations[reinterpret_cast<uint64_t>(base)] = bytes;
}

void optc::emulator::removeAllocation(Engine &engine, const void *base) {
  engine.allocations.erase(reinterpret_cast<uint64_t>(base));
}

ThreadState::Range Engine::find(uint64_t address, uint64_t bytes) const {
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin())
    return {0, 0};
  auto [base, size] = *std::prev(next);
  if (bytes > size || address - base > size - bytes)
    return {0, 0};
  return {base, size};
}

void optc::emulator::requireChip(Thread &thread, const char *what, bool onlyThat) {
  int capability = thread.block->engine.modes.capability;
  if (onlyThat && capability != 90)
    fail(thread, "%s is of sm_90a only, and the device is sm_%d", what, capability);
  if (capability < 90)
    fail(thread, "%s is of sm_90 and newer devices, and this one is sm_%d", what, capability);
}

static bool refuse(const Kernel &kernel, std::string &error, const std::string &what) {
  error = std::string("kernel ") + kernel.record->name + ": " + what;
  return false;
}

bool optc::emulator::launch(Engine &engine, const Kernel &kernel, Dim3 grid, Dim3 block, size_t dynamicSharedBytes,
                            void **parameters, std::string &error) {
  uint64_t threads = static_cast<uint64_t>(block.x) * block.y * block.z;
  uint64_t count = static_cast<uint64_t>(grid.x) * grid.y * grid.z;
  const KernelRecord &record = *kernel.record;
  uint64_t alignment = std::max(record.sharedAlignment, 1u);
  uint64_t begin = (record.sharedBytes + alignment - 1) / alignment * alignment;
  uint64_t sharedBytes = dynamicSharedBytes ? begin + dynamicSharedBytes : record.sharedBytes;
  if (threads == 0 || threads > kMaxThreads || block.z > 64)
    return refuse(kernel, error, "a block of " + std::to_string(threads) + " threads; 1 to 1024 are possible");
  if (count == 0 || grid.x > engine.modes.maxBlocks || grid.y > 65535 || grid.z > 65535)
    return refuse(kernel, error, "a grid of " + std::to_string(count) + " blocks is not possible");
  uint64_t most = maxSharedBytes(engine.modes.capability);
  if (dynamicSharedBytes > most || sharedBytes > most)
    return refuse(kernel, error,
                  std::to_string(sharedBytes) + " bytes of shared memory; a block has " + std::to_string(most) +
                      " at most");

  Launch what = {&kernel, grid, block, static_cast<uint32_t>(sharedBytes), parameters};
  engine.stop = false;
  engine.error.clear();
  engine.globalRace.clear();
  const Modes &modes = engine.modes;
  bool ordered = modes.random || modes.race || modes.lateTma;
  uint64_t workers = ordered ? 1 : modes.threads ? modes.threads : std::max(1u, std::thread::hardware_concurrency());
  workers = std::min(workers, count);
  while (engine.blocks.size() < workers)
    engine.blocks.push_back(std::make_unique<Block>(engine));
  for (std::unique_ptr<Block> &b : engine.blocks) // allocations may have gone
    for (Thread &thread : b->threads)
      for (ThreadState::Range &range : thread.ranges)
        range = {~0ull, 0};

  // Blocks in random order: steps of a number that has no divisor in common with theirs.
  uint64_t step = 1, first = 0;
  if (modes.random) {
    step = (modes.seed * 0x9e3779b97f4a7c15ull >> 20) % count + 1;
    while (std::gcd(step, count) != 1)
      ++step;
    first = modes.seed % count;
  }
  std::atomic<uint64_t> next{0};
  auto work = [&](Block &b) {
    for (uint64_t i; !engine.stop && (i = next++) < count;)
      if (!b.run(what, (first + static_cast<unsigned __int128>(i) * step) % count))
        return;
  };
  std::vector<std::thread> helpers;
  for (uint64_t i = 1; i < workers; ++i)
    helpers.emplace_back(work, std::ref(*engine.blocks[i]));
  work(*engine.blocks[0]);
  for (std::thread &helper : helpers)
    helper.join();
  error = engine.error;
  return !engine.stop;
}
