//===- Strategy.cpp - reading and writing #kernel.strategy ----------------===//
#include "optc/dialects/kernel/Window.h"

using namespace optc::kernel;

static constexpr Family kFamilies[] = {
    {kFamilyLoops, MemorySpace::Host, true},         {kFamilyGemm, MemorySpace::Host, false},
    {kFamilyPack, MemorySpace::Host, false},         {kFamilyWindow, MemorySpace::Host, false},
    {kFamilyRows, MemorySpace::Host, false},         {kFamilyColumns, MemorySpace::Host, false},
    {kFamilyCudaLoops, MemorySpace::Device, true},   {kFamilyCudaElementwise, MemorySpace::Device, true},
    {kFamilyCudaRows, MemorySpace::Device, false},   {kFamilyCudaSimtGemm, MemorySpace::Device, false},
    {kFamilyCudaMma, MemorySpace::Device, false},    {kFamilyCudaGemm, MemorySpace::Device, false},
    {kFamilyCudaWindow, MemorySpace::Device, false},
};

const Family *optc::kernel::findFamily(llvm::StringRef name) {
  const Family *found = llvm::find_if(kFamilies, [&](const Family &family) { return family.name == name; });
  return found == std::end(kFamilies) ? nullptr : found;
}

MemorySpace optc::kernel::spaceOf(StrategyAttr strategy) {
  const Family *family = strategy ? findFamily(strategy.getFamily()) : nullptr;
  return family ? family->space : MemorySpace::Host;
}

llvm::SmallVector<TileGroup> optc::kernel::tileGroups(StrategyAttr strategy) {
  llvm::SmallVector<TileGroup> groups;
  unsigned dim = 0;
  for (auto [count, tile] : llvm::zip(strategy.getGroups().asArrayRef(), strategy.getTiles().asArrayRef())) {
    if (tile > 0)
      groups.push_back({dim, static_cast<unsigned>(count), tile});
    dim += count;
  }
  return groups;
}

GemmBlocks GemmBlocks::get(StrategyAttr strategy) {
  llvm::ArrayRef<int64_t> blocks = strategy.getBlocks().asArrayRef();
  return {blocks[0], blocks[1], blocks[2], blocks[3], blocks[4]};
}

/// The upper half finely, so that few rows are computed twice; powers of two below, where the code is rarely used.
llvm::SmallVector<int64_t> GemmBlocks::heights() const {
  llvm::SmallVector<int64_t> all;
  for (int64_t h = rows; h > rows / 2; h -= rows > 8 ? 2 : 1)
    all.push_back(h);
  for (int64_t h = llvm::bit_floor(uint64_t(std::max<int64_t>(rows / 2, 1))); h >= 1; h /= 2)
    if (h < all.back())
      all.push_back(h);
  return all;
}

WindowBlocks WindowBlocks::get(StrategyAttr strategy) {
  llvm::ArrayRef<int64_t> blocks = strategy.getBlocks().asArrayRef();
  return {blocks[0], blocks[1], blocks[2], blocks[3], blocks[4]};
}

/// The threads of a block; fails when there are none, more than a block can have, or a part of a warp.
static mlir::FailureOr<int64_t> threadsOf(StrategyAttr strategy) {
  llvm::ArrayRef<int64_t> blocks = strategy.getBlocks().asArrayRef();
  if (blocks.empty() || blocks[0] <= 0 || blocks[0] > 1024 || blocks[0] % 32)
    return mlir::failure();
  return blocks[0];
}

mlir::FailureOr<CudaLoopBlocks> CudaLoopBlocks::get(StrategyAttr strategy) {
  llvm::ArrayRef<int64_t> blocks = strategy.getBlocks().asArrayRef();
  mlir::FailureOr<int64_t> threads = threadsOf(strategy);
  if (failed(threads) || blocks.size() != 2 || blocks[1] < Elements || blocks[1] > Sequence)
    return mlir::failure();
  return CudaLoopBlocks{*threads, static_cast<Form>(blocks[1])};
}

mlir::FailureOr<CudaElementwiseBlocks> CudaElementwiseBlocks::get(StrategyAttr strategy) {
  llvm::ArrayRef<int64_t> blocks = strategy.getBlocks().asArrayRef();
  mlir::FailureOr<int64_t> threads = threadsOf(strategy);
  if (failed(threads) || blocks.size() != 2 || blocks[1] < 0 || blocks[1] > 16 ||
      (blocks[1] && !llvm::isPowerOf2_64(blocks[1])))
    return mlir::failure();
  return CudaElementwiseBlocks{*threads, blocks[1]};
}

mlir::FailureOr<CudaWindowBlocks> CudaWindowBlocks::get(StrategyAttr strategy) {
  llvm::ArrayRef<int64_t> blocks = strategy.getBlocks().asArrayRef();
  mlir::FailureOr<int64_t> threads = threadsOf(strategy);
  if (failed(threads) || blocks.size() != 3 || blocks[1] < 1 || blocks[1] > 16 || !llvm::isPowerOf2_64(blocks[1]) ||
      blocks[2] < 1 || blocks[2] > 16)
    return mlir::failure();
  return CudaWindowBlocks{*threads, blocks[1], blocks[2]};
}

mlir::FailureOr<CudaSimtGemmBlocks> CudaSimtGemmBlocks::get(StrategyAttr strategy) {
  llvm::ArrayRef<int64_t> blocks = strategy.getBlocks().asArrayRef();
  mlir::FailureOr<int64_t> threads = threadsOf(strategy);
  if (failed(threads) || blocks.size() != 5 || llvm::any_of(blocks, [](int64_t v) { return v < 1 || v > 1024; }) ||
      *threads % blocks[1] || !llvm::isPowerOf2_64(blocks[3]) || !llvm::isPowerOf2_64(blocks[4]))
    return mlir::failure();
  return CudaSimtGemmBlocks{*threads, blocks[1], blocks[2], blocks[3], blocks[4]};
}
