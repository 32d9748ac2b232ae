//===- Planner.h - the walk that makes the host program ---------*- C++ -*-===//
#ifndef OPTC_PASSES_PLAN_PLANNER_H
#define OPTC_PASSES_PLAN_PLANNER_H
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/kernel/Storage.h"
#include "optc/passes/plan/Memory.h"
#include "optc/passes/plan/Outline.h"
#include "llvm/ADT/MapVector.h"
#include <vector>

namespace optc {

/// A tensor on the host: where it is, its sizes (all of them), and the arena buffers that it may live in.
struct Buffer {
  mlir::Value ptr;
  llvm::SmallVector<mlir::Value> dims;
  llvm::SmallVector<int> roots;
  bool isPart = false; ///< of what is allocated there
};

/// What a loop of the host program carries, in the order of its operands.
struct CarriedByLoop {
  /// Tensors of static size: the buffer that every iteration's result is copied into.
  llvm::SmallVector<std::optional<Buffer>> homes;
  /// Run-time values: the descriptor that holds them.
  llvm::SmallVector<mlir::Value> slots;
  /// What the other tensors may live in: any of the starts, since iterations may pass them on in any order.
  llvm::SmallVector<int> roots;
  int64_t begin = 0; ///< buffers of the body are made after this
  mlir::Value mark;  ///< the run-time memory in use on entry

  llvm::ArrayRef<int> rootsOf(size_t i) const { return homes[i] ? llvm::ArrayRef<int>(homes[i]->roots) : roots; }
};

/// A dispatch whose kernel is not made yet: whether operands die there is known at the end of the walk.
struct PendingLaunch {
  kernel::DispatchOp dispatch;
  kernel::LaunchOp launch; ///< its buffers and sizes are those of the captures
  Captures captures;
  int64_t position;
};

class Planner {
public:
  Planner(mlir::ModuleOp module, mlir::func::FuncOp main)
      : module(module), main(main), b(module.getContext()), outliner(module),
        ptrType(mlir::LLVM::LLVMPointerType::get(module.getContext())), space(spaceOfProgram(main)) {}

  mlir::LogicalResult run();
  unsigned numKernels() const { return outliner.numKernels(); }
  unsigned numDispatches() const { return launches.size(); }
  unsigned numInPlace = 0;

private:
  /// The device's memory when a kernel runs there.
  static kernel::MemorySpace spaceOfProgram(mlir::func::FuncOp main);
  /// Whether a dispatch works on copies, because the program's tensors live where its kernel cannot reach them.
  bool runsOnCopies(kernel::DispatchOp op) const;
  /// Says so, with the reason.
  void reportFallback(mlir::Operation *op, const llvm::Twine &what);

  // ---- sizes ----
  mlir::Value constIndex(int64_t v) { return mlir::arith::ConstantIndexOp::create(b, b.getUnknownLoc(), v); }
  mlir::Value mul(mlir::Location loc, mlir::Value x, mlir::Value y) {
    return mlir::arith::MulIOp::create(b, loc, x, y);
  }
  /// All sizes of a type, the dynamic ones taken from `dynamic` in order.
  llvm::SmallVector<mlir::Value> allDims(mlir::RankedTensorType type, mlir::ValueRange dynamic);
  mlir::Value numElements(mlir::Location loc, mlir::RankedTensorType type, llvm::ArrayRef<mlir::Value> dims);
  mlir::Value numBytes(mlir::Location loc, mlir::RankedTensorType type, llvm::ArrayRef<mlir::Value> dims);
  static int64_t elementBytes(mlir::Type type);
  llvm::SmallVector<mlir::Value> dynamicDims(mlir::RankedTensorType type, const Buffer &buffer);

  // ---- values ----
  void use(mlir::Value value);
  Buffer &buffer(mlir::Value tensor);
  /// A buffer at `ptr`, whose sizes that only a run knows `dimOf` gives.
  Buffer bufferAt(mlir::Value ptr, mlir::RankedTensorType type, llvm::function_ref<mlir::Value(int64_t dim)> dimOf);
  Buffer allocate(mlir::Location loc, mlir::RankedTensorType type, llvm::SmallVector<mlir::Value> dims);
  /// Memory for a value: the caller's, where it is an output, else new.
  Buffer allocateResult(mlir::Location loc, mlir::Value value, llvm::SmallVector<mlir::Value> dims);
  /// The block of `whole` that begins at these positions.
  Buffer partOf(mlir::Location loc, const Buffer &whole, mlir::Value tensor, llvm::ArrayRef<mlir::Value> starts,
                llvm::SmallVector<mlir::Value> dims);
  /// Where a dispatch computes a result.
  mlir::FailureOr<Buffer> placeResult(kernel::DispatchOp op, unsigned number, llvm::SmallVector<mlir::Value> dims);
  mlir::Value emptyDescriptor(mlir::Location loc);
  mlir::Value descriptor(mlir::Location loc, mlir::Value value, int32_t dtype);
  /// The host form of a value: itself for scalars; address and run-time sizes for tensors; the descriptor for others.
  void appendCarried(mlir::Location loc, mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &out);
  void appendCarriedTypes(mlir::Type type, llvm::SmallVectorImpl<mlir::Type> &out);
  /// Reads back what appendCarried wrote for `value` (a region argument or result); returns how many values it took.
  unsigned takeCarried(mlir::Value value, mlir::ValueRange from, llvm::ArrayRef<int> roots);

  // ---- ops ----
  mlir::LogicalResult convertBlock(mlir::Block &block);
  mlir::LogicalResult convert(mlir::Operation &op);
  mlir::LogicalResult convertDispatch(kernel::DispatchOp op);
  /// How many tiles the groups make of a result with sizes `dims`.
  mlir::Value numTiles(mlir::Location loc, llvm::ArrayRef<mlir::Value> dims, llvm::ArrayRef<kernel::TileGroup> groups);
  /// An operand whose memory the result of a dispatch can take; null when there is none.
  mlir::Value findInPlace(const PendingLaunch &pending);
  /// Makes the kernels of all launches; a result takes the memory of an operand that is not needed any more where that
  /// is the same to the kernel.
  void makeKernels();
  mlir::LogicalResult convertSlice(mlir::tensor::ExtractSliceOp op);
  mlir::LogicalResult convertConcat(mlir::tensor::ConcatOp op);
  mlir::LogicalResult convertForeign(kernel::ForeignOp op);
  mlir::LogicalResult convertLibrary(kernel::LibraryOp op);
  mlir::LogicalResult convertConstant(mlir::arith::ConstantOp op);
  /// Places a constant, in panels when `packing` is given.
  void placeConstant(mlir::Value result, mlir::ElementsAttr value, kernel::PackingAttr packing = {});
  /// The byte offset of a constant among the artifact's constants; equal ones share it.
  int64_t placeWeight(mlir::ElementsAttr value, kernel::PackingAttr packing = {});
  /// Replaces the default of an input (onnx.default) by where its elements are: `kernel.default`, an offset among the
  /// constants or an array of strings.
  void placeDefault(mlir::NamedAttrList &attrs);
  mlir::LogicalResult convertIf(mlir::scf::IfOp op);
  mlir::LogicalResult convertFor(mlir::scf::ForOp op);
  mlir::LogicalResult convertWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult convertReturn(mlir::func::ReturnOp op);
  /// A home per carried tensor of static size and a slot per run-time value, filled with their starts; the carried form
  /// of the starts.
  CarriedByLoop enterLoop(mlir::Location loc, mlir::ValueRange inits, llvm::SmallVectorImpl<mlir::Value> &out);
  /// Copies what a loop body yields into the loop's homes and slots, gives back the run-time memory of the iteration
  /// and appends the carried form.
  void yieldToLoop(mlir::Location loc, mlir::ValueRange yielded, CarriedByLoop &loop, mlir::Operation *made,
                   llvm::SmallVectorImpl<mlir::Value> &out);
  void yieldDescriptors(mlir::Location loc, mlir::ValueRange yielded, const CarriedByLoop &loop);
  void findDirectOutputs(mlir::func::ReturnOp op);

  mlir::ModuleOp module;
  mlir::func::FuncOp main;
  mlir::OpBuilder b;
  KernelOutliner outliner;
  ArenaPlanner arena;
  mlir::Type ptrType;
  kernel::MemorySpace space; ///< of all tensors of the program
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Value, mlir::Value> descriptors; ///< of !kernel.value values and of library results
  llvm::DenseMap<mlir::Value, int> directOutputs;       ///< values that are computed straight into an output
  std::vector<PendingLaunch> launches;
  llvm::MapVector<std::pair<mlir::Attribute, mlir::Attribute>, int64_t> weights; ///< value and packing to offset
  int64_t weightBytes = 0;
  llvm::SmallVector<mlir::Attribute> fallbacks; ///< texts, for the report
  int64_t position = 0;
  mlir::func::FuncOp host;
};

} // namespace optc
#endif
