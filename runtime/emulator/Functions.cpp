//===- Functions.cpp - the functions that images call ----------------------===//
//
// By name: those of codegen/cuda/DeviceFunctions.def, LLVM's intrinsics without "llvm.nvvm.", and the checks of
// accesses. codegen/cuda/emulate writes the calls; Abi.h says how they look.
//===----------------------------------------------------------------------===//
#include "Engine.h"
#include <cstring>

namespace optc::emulator {

// Memory.cpp
void checkShared(Thread *, uint32_t, const void *, uint32_t);
void checkGlobal(Thread *, uint32_t, const void *, uint32_t);
void checkGeneric(Thread *, uint32_t, const void *, uint32_t);
void checkRange(Thread *, uint32_t, const void *, uint64_t, uint32_t);
void checkFailed(Thread *, uint32_t, const void *, uint32_t);
void trap(Thread *, uint32_t);
uint32_t isShared(Thread *, uint32_t, const void *);
// Barrier.cpp
void barrierAligned(Thread *, uint32_t, uint32_t);
void barrierAll(Thread *, uint32_t, uint32_t);
void barrierAlignedCount(Thread *, uint32_t, uint32_t, uint32_t);
void barrierCount(Thread *, uint32_t, uint32_t, uint32_t);
void barrierArrive(Thread *, uint32_t, uint32_t, uint32_t);
uint32_t barrierAnd(Thread *, uint32_t, uint32_t, uint32_t);
uint32_t barrierOr(Thread *, uint32_t, uint32_t, uint32_t);
uint32_t barrierPopc(Thread *, uint32_t, uint32_t, uint32_t);
void warpSync(Thread *, uint32_t, uint32_t);
// MBarrier.cpp
void mbarrierInit(Thread *, uint32_t, void *, uint32_t);
void mbarrierInval(Thread *, uint32_t, void *);
void mbarrierArrive(Thread *, uint32_t, void *);
void mbarrierArriveExpect(Thread *, uint32_t, void *, uint32_t);
void mbarrierWait(Thread *, uint32_t, void *, uint32_t);
uint32_t mbarrierTryWait(Thread *, uint32_t, void *, uint32_t);
// Copies.cpp
void tmaPrefetch(Thread *, uint32_t, const void *);
void tmaLoad1(Thread *, uint32_t, void *, void *, const void *, int32_t);
void tmaLoad2(Thread *, uint32_t, void *, void *, const void *, int32_t, int32_t);
void tmaLoad3(Thread *, uint32_t, void *, void *, const void *, int32_t, int32_t, int32_t);
void tmaLoad4(Thread *, uint32_t, void *, void *, const void *, int32_t, int32_t, int32_t, int32_t);
void tmaLoad5(Thread *, uint32_t, void *, void *, const void *, int32_t, int32_t, int32_t, int32_t, int32_t);
void tmaStore2(Thread *, uint32_t, const void *, const void *, int32_t, int32_t);
void tmaStore3(Thread *, uint32_t, const void *, const void *, int32_t, int32_t, int32_t);
void bulkCommit(Thread *, uint32_t);
void bulkWait(Thread *, uint32_t, uint32_t);
void cpAsync16(Thread *, uint32_t, void *, const void *);
void cpAsync4Fill(Thread *, uint32_t, void *, const void *, uint32_t);
void cpAsync8Fill(Thread *, uint32_t, void *, const void *, uint32_t);
void cpAsync16Fill(Thread *, uint32_t, void *, const void *, uint32_t);
void cpAsyncCommit(Thread *, uint32_t);
void cpAsyncWait(Thread *, uint32_t, uint32_t);
void fenceAsync(Thread *, uint32_t);
// Warp.cpp
uint64_t shuffleUp(Thread *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
uint64_t shuffleDown(Thread *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
uint64_t shuffleXor(Thread *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
uint64_t shuffleIndex(Thread *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
uint32_t ballot(Thread *, uint32_t, uint32_t, uint32_t);
uint32_t voteAll(Thread *, uint32_t, uint32_t, uint32_t);
uint32_t voteAny(Thread *, uint32_t, uint32_t, uint32_t);
uint32_t reduceAdd(Thread *, uint32_t, uint32_t, uint32_t);
uint32_t reduceAnd(Thread *, uint32_t, uint32_t, uint32_t);
uint32_t reduceOr(Thread *, uint32_t, uint32_t, uint32_t);
uint32_t reduceXor(Thread *, uint32_t, uint32_t, uint32_t);
uint32_t reduceUMin(Thread *, uint32_t, uint32_t, uint32_t);
uint32_t reduceUMax(Thread *, uint32_t, uint32_t, uint32_t);
uint32_t reduceMin(Thread *, uint32_t, uint32_t, uint32_t);
uint32_t reduceMax(Thread *, uint32_t, uint32_t, uint32_t);
uint32_t elect(Thread *, uint32_t);
void moreRegisters(Thread *, uint32_t, uint32_t);
void fewerRegisters(Thread *, uint32_t, uint32_t);
uint32_t loadMatrix1(Thread *, uint32_t, void *);
uint32_t loadMatrix1T(Thread *, uint32_t, void *);
void loadMatrix2(Thread *, uint32_t, void *, const void *, uint32_t);
void loadMatrix2T(Thread *, uint32_t, void *, const void *, uint32_t);
void loadMatrix4(Thread *, uint32_t, void *, const void *, uint32_t);
void loadMatrix4T(Thread *, uint32_t, void *, const void *, uint32_t);
void storeMatrix4(Thread *, uint32_t, void *, uint32_t, uint32_t, uint32_t, uint32_t);
void mmaF16(Thread *, uint32_t, void *, const void *, uint32_t);
void mmaBF16(Thread *, uint32_t, void *, const void *, uint32_t);
void mmaTF32(Thread *, uint32_t, void *, const void *, uint32_t);
void mmaS8(Thread *, uint32_t, void *, const void *, uint32_t);
// Products.cpp
void wgmmaF16(Thread *, uint32_t, void *, const void *, uint32_t);
void wgmmaBF16(Thread *, uint32_t, void *, const void *, uint32_t);
void wgmmaTF32(Thread *, uint32_t, void *, const void *, uint32_t);
void wgmmaFence(Thread *, uint32_t);
void wgmmaCommit(Thread *, uint32_t);
void wgmmaWait(Thread *, uint32_t, uint32_t);
void wgmmaWaitValues(Thread *, uint32_t, void *, const void *, uint32_t);
// Math.cpp
float roundedFloat(Thread *, uint32_t, uint32_t, uint32_t, float, float, float);
double roundedDouble(Thread *, uint32_t, uint32_t, uint32_t, double, double, double);
uint32_t permuteBytes(Thread *, uint32_t, uint32_t, uint32_t, uint32_t);
uint32_t toTF32(Thread *, uint32_t, float);

static void nothing(Thread *, uint32_t) {}

namespace {
struct Entry {
  const char *name;
  void *function;
};
} // namespace

template <typename F> static Entry entry(const char *name, F *function) {
  return {name, reinterpret_cast<void *>(function)};
}

void *findFunction(const char *name) {
  static const Entry entries[] = {
      entry("check.shared", checkShared),
      entry("check.global", checkGlobal),
      entry("check.generic", checkGeneric),
      entry("check.range", checkRange),
      entry("check.failed", checkFailed),
      entry("trap", trap),
      entry("isspacep.shared", isShared),

      entry("barrier.cta.sync.aligned.all", barrierAligned),
      entry("barrier.cta.sync.aligned.count", barrierAlignedCount),
      entry("barrier.cta.sync.all", barrierAll),
      entry("barrier.cta.sync.count", barrierCount),
      entry("barrier.cta.arrive.aligned.count", barrierArrive),
      entry("barrier.cta.arrive.count", barrierArrive),
      entry("barrier.cta.red.and.aligned.all", barrierAnd),
      entry("barrier.cta.red.or.aligned.all", barrierOr),
      entry("barrier.cta.red.popc.aligned.all", barrierPopc),
      entry("bar.warp.sync", warpSync),
      entry("membar.cta", nothing),
      entry("membar.gl", nothing),
      entry("membar.sys", nothing),

      entry("shfl.sync.up", shuffleUp),
      entry("shfl.sync.down", shuffleDown),
      entry("shfl.sync.bfly", shuffleXor),
      entry("shfl.sync.idx", shuffleIndex),
      entry("vote.ballot.sync", ballot),
      entry("vote.all.sync", voteAll),
      entry("vote.any.sync", voteAny),
      entry("redux.sync.add", reduceAdd),
      entry("redux.sync.and", reduceAnd),
      entry("redux.sync.or", reduceOr),
      entry("redux.sync.xor", reduceXor),
      entry("redux.sync.umin", reduceUMin),
      entry("redux.sync.umax", reduceUMax),
      entry("redux.sync.min", reduceMin),
      entry("redux.sync.max", reduceMax),
      entry("math.f32", roundedFloat),
      entry("math.f64", roundedDouble),
      entry("prmt", permuteBytes),

      entry("mbarrier.init", mbarrierInit),
      entry("mbarrier.inval", mbarrierInval),
      entry("mbarrier.arrive", mbarrierArrive),
      entry("mbarrier.arrive.expect_tx", mbarrierArriveExpect),
      entry("mbarrier.wait", mbarrierWait),
      entry("mbarrier.try_wait", mbarrierTryWait),
      entry("fence.mbarrier_init", nothing),
      entry("fence.proxy.async", fenceAsync),
      entry("tma.prefetch", tmaPrefetch),
      entry("tma.load.1d", tmaLoad1),
      entry("tma.load.2d", tmaLoad2),
      entry("tma.load.3d", tmaLoad3),
      entry("tma.load.4d", tmaLoad4),
      entry("tma.load.5d", tmaLoad5),
      entry("tma.store.2d", tmaStore2),
      entry("tma.store.3d", tmaStore3),
      entry("bulk.commit", bulkCommit),
      entry("bulk.wait", bulkWait),
      entry("bulk.wait.read", bulkWait),
      entry("cp.async.16", cpAsync16),
      entry("cp.async.4.zfill", cpAsync4Fill),
      entry("cp.async.8.zfill", cpAsync8Fill),
      entry("cp.async.16.zfill", cpAsync16Fill),
      entry("cp.async.commit", cpAsyncCommit),
      entry("cp.async.wait", cpAsyncWait),
      entry("elect", elect),
      entry("setmaxnreg.inc", moreRegisters),
      entry("setmaxnreg.dec", fewerRegisters),
      entry("ldmatrix.x1", loadMatrix1),
      entry("ldmatrix.x2", loadMatrix2),
      entry("ldmatrix.x4", loadMatrix4),
      entry("ldmatrix.x1.trans", loadMatrix1T),
      entry("ldmatrix.x2.trans", loadMatrix2T),
      entry("ldmatrix.x4.trans", loadMatrix4T),
      entry("stmatrix.x4", storeMatrix4),
      entry("mma.m16n8k16.f32.f16", mmaF16),
      entry("mma.m16n8k16.f32.bf16", mmaBF16),
      entry("mma.m16n8k8.f32.tf32", mmaTF32),
      entry("mma.m16n8k32.s32.s8", mmaS8),
      entry("cvt.tf32", toTF32),
      entry("wgmma.m64n#k16.f32.f16", wgmmaF16),
      entry("wgmma.m64n#k16.f32.bf16", wgmmaBF16),
      entry("wgmma.m64n#k8.f32.tf32", wgmmaTF32),
      entry("wgmma.fence", wgmmaFence),
      entry("wgmma.commit", wgmmaCommit),
      entry("wgmma.wait", wgmmaWait),
      entry("wgmma.wait.n#", wgmmaWaitValues),
  };
  for (const Entry &e : entries)
    if (!strcmp(e.name, name))
      return e.function;
  return nullptr;
}

} // namespace optc::emulator
