//===- Checks.cpp - a check in front of every access -----------------------===//
#include "optc/codegen/cuda/emulate/Rewriter.h"
#include "optc/runtime/emulator/Abi.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace optc;
using namespace optc::cuda;
using emulator::Access;

/// Objects that a pointer may point into; null for what cannot be followed.
static SmallVector<const Value *, 4> objectsOf(const Value *pointer) {
  SmallVector<const Value *, 4> objects;
  getUnderlyingObjects(pointer, objects, /*LI=*/nullptr, /*MaxLookup=*/32);
  return objects;
}

Rewriter::Place Rewriter::classify(Value *pointer) {
  unsigned space = pointer->getType()->getPointerAddressSpace();
  if (space == kSharedSpace)
    return {Space::Shared};
  SmallVector<const Value *, 4> objects = objectsOf(pointer);
  auto *object = const_cast<Value *>(objects.front());
  unsigned unknownSlot = emulator::kNumRanges - 1;
  if (objects.size() == 1) {
    const DataLayout &layout = module.getDataLayout();
    if (auto *variable = dyn_cast<AllocaInst>(object))
      if (std::optional<TypeSize> size = variable->getAllocationSize(layout); size && !size->isScalable())
        return {Space::Variable, 0, object, size->getFixedValue()};
    if (auto *variable = dyn_cast<GlobalVariable>(object)) {
      if (variable->getAddressSpace() == kSharedSpace)
        return {Space::Shared};
      return {Space::Variable, 0, object, layout.getTypeAllocSize(variable->getValueType())};
    }
    if (auto found = byValue.find(object); found != byValue.end())
      return {Space::Variable, 0, object, found->second};
  }
  // Pointers that a kernel is given are those of buffers. The range to compare with is the buffer's.
  if (llvm::all_of(objects, [&](const Value *o) { return isa<Argument>(o) && !byValue.contains(o); }))
    return {Space::Global, cast<Argument>(objects.front())->getArgNo() % emulator::kNumRanges};
  return {space == kGlobalSpace ? Space::Global : Space::Unknown, unknownSlot};
}

/// Splits in front of `access`: a block that runs when `bad` holds.
static Instruction *unlikely(Value *bad, Instruction &access) {
  MDNode *weights = MDBuilder(access.getContext()).createUnlikelyBranchWeights();
  return SplitBlockAndInsertIfThen(bad, access.getIterator(), /*Unreachable=*/false, weights);
}

void Rewriter::checkAccess(Instruction &access, Value *pointer, uint64_t bytes, Align align, bool write) {
  Place place = classify(pointer);
  IRBuilder<> b(&access);
  Value *info = b.getInt32(Access::make(bytes, std::min(Log2(align), 12u), write, place.slot));
  Type *none = b.getVoidTy(), *i64 = b.getInt64Ty();
  if (place.space == Space::Shared || place.space == Space::Unknown) {
    call(b, place.space == Space::Shared ? "check.shared" : "check.generic", none, {generic(b, pointer), info});
    return;
  }
  Value *address = b.CreatePtrToInt(pointer, i64);
  if (place.space == Space::Variable) {
    APInt offset(64, 0);
    if (pointer->stripAndAccumulateConstantOffsets(module.getDataLayout(), offset, /*AllowNonInbounds=*/true) ==
            place.object &&
        offset.isNonNegative() && offset.getZExtValue() + bytes <= place.bytes)
      return;
    Value *bad = b.getTrue();
    if (bytes <= place.bytes)
      bad = b.CreateICmpUGT(b.CreateSub(address, b.CreatePtrToInt(place.object, i64)), b.getInt64(place.bytes - bytes));
    IRBuilder<> rare(unlikely(bad, access));
    call(rare, "check.failed", none, {generic(rare, pointer), info});
    return;
  }
  // Global memory: the range that the last call remembered, else a call.
  uint64_t range = offsetof(emulator::ThreadState, ranges) + place.slot * sizeof(emulator::ThreadState::Range);
  Value *bad = b.getTrue();
  if (bytes <= 16) {
    Value *base = load(b, i64, range), *limit = load(b, i64, range + 8);
    bad = b.CreateICmpUGT(b.CreateSub(address, base), limit);
    if (align > 1)
      bad = b.CreateOr(bad, b.CreateICmpNE(b.CreateAnd(address, align.value() - 1), b.getInt64(0)));
  }
  IRBuilder<> rare(unlikely(bad, access));
  call(rare, "check.global", none, {generic(rare, pointer), info});
}

void Rewriter::checkRange(Instruction &access, Value *pointer, Value *bytes, bool write) {
  if (classify(pointer).space == Space::Variable)
    return; // LLVM made it: copies of whole variables
  IRBuilder<> b(&access);
  call(b, "check.range", b.getVoidTy(),
       {generic(b, pointer), b.CreateZExtOrTrunc(bytes, b.getInt64Ty()), b.getInt32(write)});
}

void Rewriter::checkAccesses() {
  const DataLayout &layout = module.getDataLayout();
  SmallVector<Instruction *> accesses;
  for (Instruction &i : instructions(*function))
    if (isa<LoadInst, StoreInst, AtomicRMWInst, AtomicCmpXchgInst, MemIntrinsic>(i))
      accesses.push_back(&i);
  for (Instruction *i : accesses) {
    if (auto *read = dyn_cast<LoadInst>(i)) {
      checkAccess(*i, read->getPointerOperand(), layout.getTypeStoreSize(read->getType()), read->getAlign(), false);
    } else if (auto *write = dyn_cast<StoreInst>(i)) {
      checkAccess(*i, write->getPointerOperand(), layout.getTypeStoreSize(write->getValueOperand()->getType()),
                  write->getAlign(), true);
    } else if (auto *update = dyn_cast<AtomicRMWInst>(i)) {
      checkAccess(*i, update->getPointerOperand(), layout.getTypeStoreSize(update->getType()), update->getAlign(),
                  true);
    } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(i)) {
      checkAccess(*i, exchange->getPointerOperand(), layout.getTypeStoreSize(exchange->getCompareOperand()->getType()),
                  exchange->getAlign(), true);
    } else {
      auto *memory = cast<MemIntrinsic>(i);
      if (auto *copy = dyn_cast<MemTransferInst>(memory))
        checkRange(*i, copy->getRawSource(), copy->getLength(), false);
      checkRange(*i, memory->getRawDest(), memory->getLength(), true);
    }
  }
}
