//===- CudaGemm.cpp - strategy of products by warpgroups -------------------===//
#include "optc/dialects/kernel/TensorTile.h"
#include "optc/passes/configure/Strategies.h"

using namespace mlir;
using namespace optc;
using kernel::CudaGemmBlocks;

/// Widest first: it reads the operands least often.
static constexpr int64_t kColumns[] = {256, 128, 64};
/// A tile with fewer rows of the product than this is mostly zeros.
static constexpr int64_t kFewestRows = 16, kMostStages = 4;

/// Shared memory for `stages` of both operands, and barriers.
static int64_t sharedBytes(int64_t columns, int64_t stages) {
  return stages * (CudaGemmBlocks::kRows + columns) * kernel::kTileDepth * 2 + 1024;
}

kernel::StrategyAttr configure::chooseCudaGemm(kernel::DispatchOp dispatch, const Machine &machine,
                                               std::string &declined) {
  linalg::GenericOp root = reductionOf(dispatch);
  if (!root || machine.capability < 90)
    return {};
  std::string why;
  auto decline = [&](StringRef reason) { return configure::decline(declined, "cuda-gemm", reason); };
  FailureOr<kernel::Contraction> c = kernel::matchTensorProduct(root, &why);
  if (failed(c))
    return decline(why);
  for (unsigned operand : {c->a, c->b})
    if (failed(kernel::matchTensorOperand(*c, operand, &why)))
      return decline(why);
  if (failed(kernel::matchEpilogues(c->nest, c->n, dispatch.getBody().front(), /*indices=*/false, &why)))
    return decline(why);
  int64_t m = c->nest.sizeOf(c->m).factor, n = c->nest.sizeOf(c->n).factor, outer = typical(c->nest.sizeOf(c->outer));
  if (m < kFewestRows)
    return decline("fewer than 16 rows");
  int64_t rowTiles = llvm::divideCeilSigned(m, CudaGemmBlocks::kRows) * std::min(outer, kWhole >> 20);
  int64_t columns = std::end(kColumns)[-1];
  for (int64_t candidate : kColumns)
    if (n > candidate / 2 && rowTiles * llvm::divideCeilSigned(n, candidate) >= machine.multiprocessors) {
      columns = candidate;
      break;
    }
  int64_t stages = kMostStages;
  while (stages > 2 && sharedBytes(columns, stages) > machine.sharedBytes)
    --stages;
  SmallVector<int64_t> groups, tiles;
  tilesOfProduct(*c, CudaGemmBlocks::kRows, columns, groups, tiles);
  return makeStrategy(dispatch.getContext(), kernel::kFamilyCudaGemm, groups, tiles,
                      CudaGemmBlocks{CudaGemmBlocks::kThreads, columns, stages}.toArray(),
                      "product by warpgroups, copied by the tensor memory accelerator");
}
