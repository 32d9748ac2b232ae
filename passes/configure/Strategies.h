//===- Strategies.h - the families' conditions and sizes --------*- C++ -*-===//
#ifndef OPTC_PASSES_CONFIGURE_STRATEGIES_H
#define OPTC_PASSES_CONFIGURE_STRATEGIES_H
#include "optc/dialects/kernel/Rows.h"
#include "optc/dialects/kernel/Strategy.h"
#include "optc/dialects/kernel/Window.h"
#include "optc/passes/Passes.h"

namespace optc::configure {

/// What the sizes of a strategy follow from.
struct Machine {
  int64_t vectorBits, vectorRegisters, l2Bytes;
  int64_t dotDepth; ///< 8-bit products that an instruction adds up per lane
  /// Of the device that dispatches run on; 0: the CPU.
  int32_t capability = 0;
  int64_t multiprocessors = 0, sharedBytes = 0;
  /// Nobody will take the strategy: the dispatch has to stay what it is.
  bool onlyAsks = false;
};

/// A strategy of one family, or null when the dispatch does not meet its conditions; the reason is added to `declined`.
using ChooseFn = kernel::StrategyAttr (*)(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);

kernel::StrategyAttr chooseGemm(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);
kernel::StrategyAttr chooseRows(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);
kernel::StrategyAttr chooseWindow(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);
kernel::StrategyAttr chooseColumns(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);
kernel::StrategyAttr chooseLoops(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);

/// Families of devices.
kernel::StrategyAttr chooseCudaElementwise(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);
kernel::StrategyAttr chooseCudaGemm(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);
kernel::StrategyAttr chooseCudaMma(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);
kernel::StrategyAttr chooseCudaSimtGemm(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);
kernel::StrategyAttr chooseCudaRows(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);
kernel::StrategyAttr chooseCudaWindow(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);
kernel::StrategyAttr chooseCudaLoops(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);

/// The family that a dispatch gets on a device of this compute capability, as it is now.
llvm::StringRef deviceFamily(kernel::DispatchOp dispatch, int32_t capability);

kernel::StrategyAttr makeStrategy(mlir::MLIRContext *context, llvm::StringRef family, llvm::ArrayRef<int64_t> groups,
                                  llvm::ArrayRef<int64_t> tiles, llvm::ArrayRef<int64_t> blocks,
                                  llvm::StringRef reason);

/// The structured ops of a dispatch that reduces and holds nothing but structured ops and views; else none.
llvm::SmallVector<mlir::linalg::GenericOp> reducingOps(kernel::DispatchOp dispatch);
/// Adds "no FAMILY: reason"; returns the null strategy.
kernel::StrategyAttr decline(std::string &declined, llvm::StringRef family, llvm::StringRef reason);

/// The dimensions of the first result of a dispatch, from the first on, that walk rows of a group; none when that
/// result is not one of an op of the group.
std::optional<unsigned> rowDimsOfResult(kernel::DispatchOp dispatch, const kernel::RowGroup &group);
/// A tile size that nothing exceeds.
inline constexpr int64_t kWhole = int64_t(1) << 40;
/// A size, or what one that only a run knows is taken for.
int64_t typical(const kernel::SizeExpr &size);
/// Groups and tiles of a product: `rows` and `columns` for its runs of dimensions, 1 for all others.
void tilesOfProduct(const kernel::Contraction &c, int64_t rows, int64_t columns, llvm::SmallVectorImpl<int64_t> &groups,
                    llvm::SmallVectorImpl<int64_t> &tiles);
/// The first op of a dispatch that reduces; null when none does.
mlir::linalg::GenericOp reductionOf(kernel::DispatchOp dispatch);
/// Reads an operand of an op in a dispatch through panels; without any, the operand is a constant that is packed.
void readPanels(mlir::OpOperand &operand, kernel::PackingAttr packing, mlir::Value panels = nullptr);
/// Lets a window read its input without the border that another dispatch put around it, when windows alone reach into
/// the border.
bool readThroughPadding(kernel::DispatchOp dispatch, const kernel::Window &w);
/// Stores a constant second operand of a product with its columns one after the other, where neither these nor the
/// steps of the sum are so.
void packColumns(mlir::linalg::GenericOp root, const kernel::Contraction &c);
/// Bits of the widest type that the ops compute with, which decides how many elements a vector holds.
int64_t widestBits(llvm::ArrayRef<mlir::linalg::GenericOp> ops);

} // namespace optc::configure
#endif
