//===- CudaMma.cpp - strategy of products by warps -------------------------===//
#include "optc/dialects/kernel/TensorTile.h"
#include "optc/passes/configure/Strategies.h"

using namespace mlir;
using namespace optc;
using kernel::CudaMmaBlocks;

/// Largest first: it reads the operands least often. Few rows: all warps side by side along the columns.
static constexpr CudaMmaBlocks kBlocks[] = {{128, 2, 64, 64, 32}, {128, 2, 64, 32, 32}, {128, 2, 32, 32, 32}};
static constexpr CudaMmaBlocks kFewRows = {128, 4, 16, 32, 32};

kernel::StrategyAttr configure::chooseCudaMma(kernel::DispatchOp dispatch, const Machine &machine,
                                              std::string &declined) {
  linalg::GenericOp root = reductionOf(dispatch);
  if (!root || machine.capability < 80)
    return {};
  std::string why;
  auto decline = [&](StringRef reason) { return configure::decline(declined, "cuda-mma", reason); };
  FailureOr<kernel::Contraction> c = kernel::matchTensorProduct(root, &why);
  if (failed(c))
    return decline(why);
  if (failed(kernel::matchEpilogues(c->nest, c->n, dispatch.getBody().front(), /*indices=*/false, &why)))
    return decline(why);
  int64_t m = typical(c->nest.sizeOf(c->m)), n = typical(c->nest.sizeOf(c->n)),
          outer = std::min(typical(c->nest.sizeOf(c->outer)), kWhole >> 20);
  CudaMmaBlocks blocks = m <= kFewRows.tileRows() ? kFewRows : std::end(kBlocks)[-1];
  if (m > kFewRows.tileRows())
    for (const CudaMmaBlocks &candidate : kBlocks) {
      int64_t tiles =
          llvm::divideCeilSigned(m, candidate.tileRows()) * llvm::divideCeilSigned(n, candidate.tileColumns());
      if (std::min(tiles, kWhole >> 20) * outer >= machine.multiprocessors && n > candidate.tileColumns() / 2) {
        blocks = candidate;
        break;
      }
    }
  if (!machine.onlyAsks)
    packColumns(root, *c);
  SmallVector<int64_t> groups, tiles;
  tilesOfProduct(*c, blocks.tileRows(), blocks.tileColumns(), groups, tiles);
  return makeStrategy(dispatch.getContext(), kernel::kFamilyCudaMma, groups, tiles, blocks.toArray(),
                      "product by warps");
}
