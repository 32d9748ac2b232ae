//===- CudaSimtGemm.cpp - strategy of products without tensor cores -------===//
//
// The largest tile that still leaves a block for every multiprocessor: it reads the operands least often.
//===----------------------------------------------------------------------===//
#include "optc/dialects/kernel/LoopNest.h"
#include "optc/passes/configure/Strategies.h"

using namespace mlir;
using namespace optc;
using kernel::CudaSimtGemmBlocks;

/// Largest first. Few rows: threads side by side along the columns.
static constexpr CudaSimtGemmBlocks kBlocks[] = {
    {256, 16, 8, 8, 8}, {256, 16, 4, 8, 8}, {256, 16, 4, 4, 16}, {128, 16, 4, 4, 16}, {128, 16, 2, 4, 16},
};
static constexpr CudaSimtGemmBlocks kFewRows = {128, 32, 1, 4, 16};

kernel::StrategyAttr configure::chooseCudaSimtGemm(kernel::DispatchOp dispatch, const Machine &machine,
                                                   std::string &declined) {
  linalg::GenericOp root = reductionOf(dispatch);
  if (!root)
    return {};
  std::string why;
  auto decline = [&](StringRef reason) { return configure::decline(declined, "cuda-simt-gemm", reason); };
  FailureOr<kernel::Contraction> c = kernel::matchContraction(root, &why);
  if (failed(c))
    return decline(why);
  if (c->isInteger || c->computedB || c->aFactor != kernel::Contraction::Factor::Plain ||
      c->bFactor != kernel::Contraction::Factor::Plain)
    return decline("a factor is no float tensor of the result's type");
  if (failed(kernel::matchEpilogues(c->nest, c->n, dispatch.getBody().front(), /*indices=*/false, &why)))
    return decline(why);
  int64_t m = typical(c->nest.sizeOf(c->m)), n = typical(c->nest.sizeOf(c->n)),
          outer = typical(c->nest.sizeOf(c->outer));
  auto tilesOf = [&](const CudaSimtGemmBlocks &b) {
    return std::min(llvm::divideCeilSigned(m, b.tileRows()) * llvm::divideCeilSigned(n, b.tileColumns()),
                    kWhole >> 20) *
           std::min(outer, kWhole >> 20);
  };
  CudaSimtGemmBlocks blocks = m <= kFewRows.threadRows() ? kFewRows : std::end(kBlocks)[-1];
  if (m > kFewRows.threadRows())
    for (const CudaSimtGemmBlocks &candidate : kBlocks)
      if (tilesOf(candidate) >= machine.multiprocessors && m > candidate.tileRows() / 2 &&
          n > candidate.tileColumns() / 2) {
        blocks = candidate;
        break;
      }
  if (!machine.onlyAsks)
    packColumns(root, *c);
  SmallVector<int64_t> groups, tiles;
  tilesOfProduct(*c, blocks.tileRows(), blocks.tileColumns(), groups, tiles);
  return makeStrategy(dispatch.getContext(), kernel::kFamilyCudaSimtGemm, groups, tiles, blocks.toArray(),
                      "product on the CUDA cores");
}
