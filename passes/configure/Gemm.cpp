//===- Gemm.cpp - strategy of the GEMM family -----------------------------===//
//
// The register tile follows from the registers, the tile of rows from the second-level cache (a's rows stay there while
// b's panels stream by), the tile of columns from the work that one call should be worth.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "optc/passes/configure/Strategies.h"

using namespace mlir;
using namespace optc;
using configure::kWhole, configure::typical;
using kernel::Contraction;
using kernel::NestOperand;

/// Multiply-adds of a tile: enough to pay for handing it out, and not so many that threads end at different times.
static constexpr int64_t kLeastTileWork = 128 << 10, kMostTileWork = 4 << 20;
static kernel::GemmBlocks blocksFor(const Contraction &c, Type elem, const configure::Machine &machine) {
  kernel::GemmBlocks blocks;
  blocks.lanes = machine.vectorBits / elem.getIntOrFloatBitWidth();
  bool many = machine.vectorRegisters >= 32;
  // Three vectors keep the multiply-adds of narrow vectors ahead of the loads.
  blocks.vectors = many && machine.vectorBits == 128 ? 3 : 2;
  int64_t accumulators = many ? 24 : 12;
  blocks.rows = accumulators / blocks.vectors;
  blocks.panels = 1;
  kernel::SizeExpr m = c.nest.sizeOf(c.m);
  if (m.isStatic() && m.factor < blocks.rows) {
    // Few rows: several panels at once, so that sums do not wait for each other and more of b is on its way.
    blocks.rows = std::max<int64_t>(m.factor, 1);
    int64_t available = llvm::divideCeil(typical(c.nest.sizeOf(c.n)), blocks.panelWidth());
    blocks.panels =
        std::clamp<int64_t>(accumulators / (blocks.rows * blocks.vectors), 1, std::min<int64_t>(6, available));
  }
  return blocks;
}

/// The panels that b is read in, when it is a constant.
static kernel::PackingAttr packingFor(const Contraction &c, int64_t lanes) {
  const NestOperand &b = c.operandB();
  auto constant = b.tensor.getDefiningOp<arith::ConstantOp>();
  if (!constant || !cast<RankedTensorType>(b.tensor.getType()).hasStaticShape())
    return {};
  auto outer = kernel::dimsOfLoops(c.nest, b, c.outer), n = kernel::dimsOfLoops(c.nest, b, c.n),
       k = kernel::dimsOfLoops(c.nest, b, c.k);
  if (failed(outer) || failed(n) || failed(k))
    return {};
  Builder builder(c.nest.op.getContext());
  auto array = [&](ArrayRef<int64_t> dims) { return builder.getDenseI64ArrayAttr(dims); };
  auto packing = kernel::PackingAttr::get(builder.getContext(), array(*outer), array(*n), array(*k), lanes);
  return kernel::packedType(cast<RankedTensorType>(b.tensor.getType()), packing) ? packing : kernel::PackingAttr();
}

/// Elements of a that a row of the product adds to what other rows read already: overlapping windows share most of
/// them.
static int64_t elementsPerRow(const Contraction &c) {
  int64_t k = typical(c.nest.sizeOf(c.k));
  auto type = cast<RankedTensorType>(c.operandA().tensor.getType());
  if (!type.hasStaticShape())
    return k;
  int64_t matrices = 1;
  for (unsigned loop : c.outer)
    if (c.operandA().moves(loop))
      matrices *= typical(c.nest.sizes[loop]);
  int64_t rows = matrices * typical(c.nest.sizeOf(c.m));
  return std::clamp<int64_t>(llvm::divideCeil(type.getNumElements(), std::max<int64_t>(rows, 1)), 1, k);
}

kernel::StrategyAttr configure::chooseGemm(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined) {
  linalg::GenericOp root = reductionOf(dispatch);
  if (!root)
    return {};
  std::string why;
  auto decline = [&](StringRef reason) {
    declined += ("no gemm: " + reason).str();
    return kernel::StrategyAttr();
  };
  FailureOr<Contraction> product = kernel::matchContraction(root, &why);
  if (failed(product))
    return decline(why);
  Contraction &c = *product;
  for (const kernel::SizeExpr &size : c.nest.sizes)
    if (size.is(0))
      return decline("a size is zero");
  // Everything else of the dispatch has to be an epilogue.
  Value last = root.getResult(0);
  for (Operation &op : dispatch.getBody().front().without_terminator())
    if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && generic != root) {
      if (failed(kernel::matchEpilogue(c.nest, c.n, generic, last, /*indices=*/false, &why)))
        return decline(why);
      last = generic.getResult(0);
    }
  Type elem = cast<ShapedType>(root.getResult(0).getType()).getElementType();
  kernel::GemmBlocks blocks = blocksFor(c, elem, machine);
  kernel::PackingAttr packing = packingFor(c, blocks.panelWidth());
  const NestOperand &b = c.operandB();
  bool direct = c.n.empty() || (c.nest.isFlat(b, c.n) && b.strides[c.n.back()].is(1));
  if (!packing && !direct)
    return decline("the columns of the second operand are neither constant nor contiguous");
  if (packing)
    configure::packOperand(dispatch, root->getOpOperand(c.b), packing);

  int64_t m = typical(c.nest.sizeOf(c.m)), n = typical(c.nest.sizeOf(c.n)), k = typical(c.nest.sizeOf(c.k));
  int64_t total = std::min(m * n, kWhole) * std::min(k, kWhole >> 10) * typical(c.nest.sizeOf(c.outer));
  int64_t work = std::clamp(total / 8, kLeastTileWork, kMostTileWork);
  auto multiple = [](int64_t value, int64_t of) { return std::max(value / of, int64_t(1)) * of; };
  int64_t bytes = elem.getIntOrFloatBitWidth() / 8;
  int64_t rows =
      multiple(std::min(machine.l2Bytes / 2 / (elementsPerRow(c) * bytes), m + blocks.rows - 1), blocks.rows);
  int64_t columns = multiple(work / (rows * k), blocks.columns());
  if (columns >= n)
    columns = multiple(n + blocks.columns() - 1, blocks.columns());
  if (rows * columns * k > 2 * work)
    rows = multiple(work / (columns * k), blocks.rows);

  SmallVector<int64_t> groups, tiles;
  unsigned rank = cast<RankedTensorType>(root.getResult(0).getType()).getRank();
  for (unsigned dim = 0; dim < rank;) {
    if (c.rows.count && dim == c.rows.first) {
      groups.push_back(c.rows.count);
      tiles.push_back(rows);
    } else if (dim == c.columns.first) {
      groups.push_back(c.columns.count);
      tiles.push_back(columns);
    } else {
      groups.push_back(1);
      tiles.push_back(1);
    }
    dim += groups.back();
  }
  std::string reason = packing ? "product with a constant, packed in panels" : "product of two tensors";
  return makeStrategy(dispatch.getContext(), kernel::kFamilyGemm, groups, tiles, blocks.toArray(), reason);
}
