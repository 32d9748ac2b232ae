//===- Gemm.cpp - strategy of the GEMM family -----------------------------===//
//
// The register tile follows from the registers, the tile of rows from the second-level cache (a's rows stay there while
// b's panels stream by), the tile of columns from the work that one call should be worth.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "optc/passes/configure/Strategies.h"
#include <numeric>

using namespace mlir;
using namespace optc;
using configure::kWhole, configure::typical;
using kernel::Contraction;
using kernel::NestOperand;

/// Multiply-adds of a tile: enough to pay for handing it out, and not so many that threads end at different times.
static constexpr int64_t kLeastTileWork = 128 << 10, kMostTileWork = 4 << 20;
/// So many tiles are enough for any number of threads that a product is worth.
static constexpr int64_t kManyTiles = 16;
/// Rows of a that one set of the first-level cache (8 ways) holds beside b's panel. 128 x 768 x 3072 on Zen 4: 95 % of
/// the FMA peak with 6 rows, 83 % with 12.
static constexpr int64_t kPage = 4096, kRowsPerSet = 6;

static int64_t bytesOf(const NestOperand &operand) {
  return cast<RankedTensorType>(operand.tensor.getType()).getElementTypeBitWidth() / 8;
}

/// The elements of a group have to follow each other in a. An instruction that adds up four takes signed elements of b.
static int64_t depthFor(const Contraction &c, const configure::Machine &machine) {
  if (!c.isInteger || bytesOf(c.operandA()) != 1 || bytesOf(c.operandB()) != 1 || !c.contiguousRun() ||
      !kernel::isPackable(c))
    return 1;
  return c.bFactor == Contraction::Factor::Unsigned ? std::min<int64_t>(machine.dotDepth, 2) : machine.dotDepth;
}

static kernel::GemmBlocks blocksFor(const Contraction &c, Type elem, const configure::Machine &machine) {
  kernel::GemmBlocks blocks;
  blocks.depth = depthFor(c, machine);
  blocks.lanes = machine.vectorBits / elem.getIntOrFloatBitWidth();
  bool many = machine.vectorRegisters >= 32;
  // Three vectors keep the multiply-adds of narrow vectors ahead of the loads.
  blocks.vectors = many && machine.vectorBits == 128 ? 3 : 2;
  int64_t accumulators = many ? 24 : blocks.depth == 2 ? 8 : 12; // pairs keep four vectors of b beside them
  blocks.rows = accumulators / blocks.vectors;
  blocks.panels = 1;
  // Rows whose distance is a multiple of the page size fall into one set of the first-level cache.
  if (!c.m.empty() && c.operandA().strides[c.m.back()].isStatic()) {
    int64_t distance = c.operandA().strides[c.m.back()].factor * bytesOf(c.operandA());
    int64_t sets = kPage / std::gcd(std::max<int64_t>(distance, 1), kPage);
    blocks.rows = std::min(blocks.rows, sets * kRowsPerSet);
  }
  kernel::SizeExpr m = c.nest.sizeOf(c.m);
  if (m.isStatic() && m.factor < blocks.rows) {
    // Few rows: several panels at once, so that sums do not wait for each other and more of b is on its way.
    blocks.rows = std::max<int64_t>(m.factor, 1);
    int64_t available = llvm::divideCeil(typical(c.nest.sizeOf(c.n)), blocks.panelWidth());
    blocks.panels =
        std::clamp<int64_t>(accumulators / (blocks.rows * blocks.vectors), 1, std::min<int64_t>(6, available));
  } else if (m.isStatic()) {
    // The height that computes the fewest rows twice.
    int64_t best = blocks.rows;
    auto cost = [&](int64_t h) { return llvm::divideCeilSigned(m.factor, h) * kernel::GemmBlocks::costOfHeight(h); };
    for (int64_t h = blocks.rows - 1; h > blocks.rows / 2; --h)
      if (cost(h) < cost(best))
        best = h;
    blocks.rows = best;
  }
  return blocks;
}

static bool isConstant(Value tensor) {
  return isa_and_nonnull<arith::ConstantOp, kernel::PackedConstantOp>(tensor.getDefiningOp());
}

/// The panels that b, or a tensor that it is computed from, can be read in; null when its dimensions are not those of
/// loops.
static kernel::PackingAttr packingFor(const Contraction &c, const NestOperand &b, int64_t lanes, int64_t group) {
  if (!kernel::isPackable(c))
    return {};
  auto outer = kernel::dimsOfLoops(c.nest, b, c.outer), n = kernel::dimsOfLoops(c.nest, b, c.n),
       k = kernel::dimsOfLoops(c.nest, b, c.k);
  if (failed(outer) || failed(n) || failed(k))
    return {};
  Builder builder(c.nest.op.getContext());
  auto array = [&](ArrayRef<int64_t> dims) { return builder.getDenseI64ArrayAttr(dims); };
  auto packing = kernel::PackingAttr::get(builder.getContext(), array(*outer), array(*n), array(*k), lanes, group,
                                          group > 1 ? c.contiguousRun() : 0);
  return kernel::packedType(cast<RankedTensorType>(b.tensor.getType()), packing) ? packing : kernel::PackingAttr();
}

/// A dispatch before `user` that packs `source` at run time.
static Value packAtRunTime(kernel::DispatchOp user, Value source, kernel::PackingAttr packing, int64_t lanes) {
  OpBuilder builder(user);
  Location loc = source.getLoc();
  RankedTensorType from = cast<RankedTensorType>(source.getType()), type = kernel::packedType(from, packing);
  auto product = [&](ArrayRef<int64_t> dims) {
    Value size = arith::ConstantIndexOp::create(builder, loc, 1);
    for (int64_t dim : dims)
      size = builder.createOrFold<arith::MulIOp>(loc, size, builder.createOrFold<tensor::DimOp>(loc, source, dim));
    return size;
  };
  SmallVector<Value> sizes;
  size_t numOuter = packing.getOuter().size();
  for (auto [i, dim] : llvm::enumerate(packing.getOuter().asArrayRef()))
    if (type.isDynamicDim(i))
      sizes.push_back(product(dim));
  if (type.isDynamicDim(numOuter))
    sizes.push_back(builder.createOrFold<arith::CeilDivUIOp>(
        loc, product(packing.getN()), arith::ConstantIndexOp::create(builder, loc, packing.getLanes())));
  if (type.isDynamicDim(numOuter + 1)) {
    ArrayRef<int64_t> k = packing.getK();
    Value groups = builder.createOrFold<arith::CeilDivUIOp>(
        loc, product(k.take_back(packing.getRun())), arith::ConstantIndexOp::create(builder, loc, packing.getDepth()));
    sizes.push_back(builder.createOrFold<arith::MulIOp>(loc, product(k.drop_back(packing.getRun())), groups));
  }
  auto dispatch = kernel::DispatchOp::create(builder, loc, "pack", TypeRange(type), sizes);
  SmallVector<int64_t> ones(numOuter + 1, 1);
  dispatch.setStrategyAttr(configure::makeStrategy(builder.getContext(), kernel::kFamilyPack, ones, ones, {lanes},
                                                   "panels for the product that reads them"));
  builder.setInsertionPointToEnd(&dispatch.getBody().front());
  Value panels = kernel::PackOp::create(builder, loc, type, source, packing);
  kernel::YieldOp::create(builder, loc, panels);
  return dispatch.getResult(0);
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

/// Reads of an element of a, from which on widening it each time costs more than another pass over a.
static constexpr int64_t kManyReads = 4;

/// Whether 16-bit floats of a are read often enough, each time to be widened, that they are better widened once.
static bool isWidenedAhead(const Contraction &c, const kernel::GemmBlocks &blocks) {
  if (c.aFactor != Contraction::Factor::Float || blocks.rows == 1)
    return false;
  int64_t reads = llvm::divideCeil(typical(c.nest.sizeOf(c.n)), blocks.columns());
  int64_t windows = typical(c.nest.sizeOf(c.k)) / elementsPerRow(c); // that an element is in
  return reads * windows >= kManyReads;
}

static constexpr llvm::StringLiteral kWidenLabel = "widen";

/// The tensor with elements of `wide`, made once for all that read it so.
static Value widenAtRunTime(kernel::DispatchOp user, Value source, Type wide, const configure::Machine &machine) {
  auto type = cast<RankedTensorType>(source.getType()).clone(wide);
  Operation *def = source.getDefiningOp();
  bool isNear = source.getParentBlock() == user->getBlock();
  for (Operation *reader : source.getUsers())
    if (auto known = reader->getParentOfType<kernel::DispatchOp>();
        isNear && known && known.getLabel() == kWidenLabel && known->getBlock() == user->getBlock() &&
        known.getResult(0).getType() == type)
      return known.getResult(0);
  OpBuilder builder(user);
  if (isNear && def)
    builder.setInsertionPointAfter(def);
  else if (isNear)
    builder.setInsertionPointToStart(user->getBlock());
  Location loc = source.getLoc();
  SmallVector<Value> sizes;
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(size))
      sizes.push_back(builder.createOrFold<tensor::DimOp>(loc, source, d));
  auto dispatch = kernel::DispatchOp::create(builder, loc, kWidenLabel, TypeRange(type), sizes);
  Block &body = dispatch.getBody().front();
  builder.setInsertionPointToEnd(&body);
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, type, source, body.getArgument(0), maps, loops, [&](OpBuilder &b, Location at, ValueRange args) {
        linalg::YieldOp::create(b, at, arith::ExtFOp::create(b, at, wide, args[0]).getResult());
      });
  kernel::YieldOp::create(builder, loc, generic.getResults());
  std::string declined;
  dispatch.setStrategyAttr(configure::chooseLoops(dispatch, machine, declined));
  return dispatch.getResult(0);
}

/// Makes a product read a in the type that it multiplies in.
static void readWidened(kernel::DispatchOp dispatch, linalg::GenericOp root, unsigned number,
                        const configure::Machine &machine) {
  BlockArgument element = root.getBody()->getArgument(number);
  auto cast = mlir::cast<arith::ExtFOp>(*element.getUsers().begin());
  root->setOperand(number, widenAtRunTime(dispatch, root->getOperand(number), cast.getType(), machine));
  element.setType(cast.getType());
  cast.replaceAllUsesWith(Value(element));
  cast.erase();
}

void configure::tilesOfProduct(const Contraction &c, int64_t rows, int64_t columns, SmallVectorImpl<int64_t> &groups,
                               SmallVectorImpl<int64_t> &tiles) {
  unsigned rank = cast<RankedTensorType>(c.nest.result().tensor.getType()).getRank();
  for (unsigned dim = 0; dim < rank; dim += groups.back()) {
    bool isRows = c.rows.count && dim == c.rows.first, isColumns = !isRows && dim == c.columns.first;
    groups.push_back(isRows ? c.rows.count : isColumns ? c.columns.count : 1);
    tiles.push_back(isRows ? rows : isColumns ? columns : 1);
  }
}

kernel::StrategyAttr configure::chooseGemm(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined) {
  linalg::GenericOp root = reductionOf(dispatch);
  if (!root)
    return {};
  std::string why;
  auto decline = [&](StringRef reason) { return configure::decline(declined, "gemm", reason); };
  FailureOr<Contraction> product = kernel::matchContraction(root, &why);
  if (failed(product))
    return decline(why);
  Contraction &c = *product;
  // Everything else of the dispatch has to be an epilogue.
  if (failed(kernel::matchEpilogues(c.nest, c.n, dispatch.getBody().front(), /*indices=*/false, &why)))
    return decline(why);
  Type elem = cast<ShapedType>(root.getResult(0).getType()).getElementType();
  kernel::GemmBlocks blocks = blocksFor(c, elem, machine);
  Value b = c.operandB().tensor;
  kernel::PackingAttr packing = packingFor(c, c.operandB(), blocks.panelWidth(), blocks.group());
  bool constant = isConstant(b);
  bool direct = kernel::hasContiguousColumns(c);
  if (!packing)
    blocks.depth = 1;
  if (!constant && direct && blocks.depth == 1)
    packing = {};
  if (!packing && !direct)
    return decline("the columns of the second operand are neither contiguous nor dimensions of their own");
  bool widened = isWidenedAhead(c, blocks);
  if (widened) {
    readWidened(dispatch, root, c.a, machine);
    c = *kernel::matchContraction(root);
    blocks = blocksFor(c, elem, machine);
  }
  if (packing)
    readPanels(root->getOpOperand(c.b), packing,
               constant ? Value() : packAtRunTime(dispatch, b, packing, blocks.lanes));
  for (unsigned i : c.parameters) {
    const NestOperand &parameter = c.nest.operands[i];
    if (llvm::none_of(c.n, [&](unsigned loop) { return parameter.moves(loop); }))
      continue; // one element for all columns
    kernel::PackingAttr panels = packingFor(c, parameter, blocks.panelWidth(), /*group=*/1);
    readPanels(root->getOpOperand(i), panels,
               isConstant(parameter.tensor) ? Value()
                                            : packAtRunTime(dispatch, parameter.tensor, panels, blocks.lanes));
  }

  int64_t m = typical(c.nest.sizeOf(c.m)), n = typical(c.nest.sizeOf(c.n));
  int64_t k = llvm::divideCeil(typical(c.nest.sizeOf(c.k)), blocks.depth); // instructions per sum
  int64_t total = std::min(m * n, kWhole) * std::min(k, kWhole >> 10) * typical(c.nest.sizeOf(c.outer));
  int64_t work = std::clamp(total / 8, kLeastTileWork, kMostTileWork);
  auto multiple = [](int64_t value, int64_t of) { return std::max(value / of, int64_t(1)) * of; };
  auto tilesOf = [](int64_t value, int64_t tile) { return llvm::divideCeilSigned(value, tile); };
  int64_t bytes = bytesOf(c.operandA());
  int64_t rows =
      multiple(std::min(machine.l2Bytes / 2 / (elementsPerRow(c) * bytes), m + blocks.rows - 1), blocks.rows);
  int64_t columns = multiple(work / (rows * k), blocks.columns());
  if (columns >= n)
    columns = multiple(n + blocks.columns() - 1, blocks.columns());
  // Fewer rows read b more often, so only as few as it takes to keep threads busy.
  if (rows * columns * k > 2 * work && tilesOf(m, rows) * tilesOf(n, columns) < kManyTiles)
    rows = multiple(work / (columns * k), blocks.rows);
  // A last tile of fewer rows than a register tile has no code.
  if (c.nest.sizeOf(c.m).isStatic())
    while (m % rows != 0 && m % rows < blocks.rows)
      rows += blocks.rows;

  SmallVector<int64_t> groups, tiles;
  tilesOfProduct(c, rows, columns, groups, tiles);
  std::string reason = !packing   ? "product of two tensors"
                       : constant ? "product with a constant, packed in panels"
                                  : "product of two tensors, the second packed in panels at run time";
  if (widened)
    reason += "; the first widened ahead";
  if (c.computedB)
    reason += ", dequantized when they are read";
  if (c.isInteger)
    reason += blocks.depth > 1 ? "; exact integers, " + std::to_string(blocks.depth) + " products at once"
                               : "; exact integers";
  return makeStrategy(dispatch.getContext(), kernel::kFamilyGemm, groups, tiles, blocks.toArray(), reason);
}
