//===- EmulateThreadsTest.cpp - threads, barriers and accesses -------------===//
#include "Emulated.h"
#include <cmath>
#include <cstring>

using namespace optc;
using namespace optc::test;

static constexpr const char *kIndices = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
)";

static std::string withIndices(const char *text) { return std::string(kIndices) + text; }

// y[i] = 2 x[i] for i < n; a thread too many stores when n is too large.
static constexpr const char *kDouble = R"(
define ptx_kernel void @double(ptr %x, ptr addrspace(1) %y, i64 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m = mul i32 %b, %d
  %i = add i32 %m, %t
  %w = zext i32 %i to i64
  %c = icmp ult i64 %w, %n
  br i1 %c, label %work, label %end
work:
  %px = getelementptr float, ptr %x, i64 %w
  %v = load float, ptr %px, align 4
  %s = fadd float %v, %v
  %py = getelementptr float, ptr addrspace(1) %y, i64 %w
  store float %s, ptr addrspace(1) %py, align 4
  br label %end
end:
  ret void
})";

TEST(EmulateThreads, RunsEveryThreadOfEveryBlock) {
  for (const char *modes : {"", "threads:1", "random:3", "race", "late-tma"}) {
    Emulated program(withIndices(kDouble), modes);
    std::vector<float> x(1000), y(1000, -1);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = float(i);
    void *px = program.device(x), *py = program.device(y);
    int64_t n = 1000;
    EXPECT_EQ(program.run("double", {8}, {128}, {&px, &py, &n}), "");
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i], 2.0f * i);
  }
}

TEST(EmulateThreads, ReportsAccessesOutsideOfAllocations) {
  Emulated program(withIndices(kDouble), "threads:1");
  std::vector<float> x(1000), y(999);
  void *px = program.device(x), *py = program.device(y);
  int64_t n = 1000;
  std::string error = program.run("double", {8}, {128}, {&px, &py, &n});
  EXPECT_TRUE(contains(error, "kernel double, block (7,0,0), thread (103,0,0): store of 4 bytes")) << error;
  EXPECT_TRUE(contains(error, "3996 bytes into an allocation of 3996")) << error;

  px = program.device(x);
  void *nowhere = reinterpret_cast<void *>(64);
  error = program.run("double", {1}, {32}, {&px, &nowhere, &n});
  EXPECT_TRUE(contains(error, "which is in no allocation")) << error;
  // Memory that was allocated once and has been freed.
  error = program.run("double", {1}, {32}, {&px, &py, &n});
  EXPECT_TRUE(contains(error, "which is in no allocation")) << error;
}

TEST(EmulateThreads, ReportsMisalignedAccesses) {
  Emulated program(withIndices(kDouble));
  std::vector<float> x(64), y(64);
  program.device(x);
  void *px = reinterpret_cast<char *>(x.data()) + 2, *py = program.device(y);
  int64_t n = 8;
  std::string error = program.run("double", {1}, {32}, {&px, &py, &n});
  EXPECT_TRUE(contains(error, "misaligned load of 4 bytes of global memory")) << error;
}

// Reverses the elements of a block through shared memory; `barrier` is 0 or 1.
static std::string reversal(bool barrier) {
  return std::string(kIndices) + R"(
@tile = internal addrspace(3) global [256 x i32] undef, align 16
define ptx_kernel void @reverse(ptr %x) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = zext i32 %t to i64
  %px = getelementptr i32, ptr %x, i64 %w
  %v = load i32, ptr %px, align 4
  %s = getelementptr i32, ptr addrspace(3) @tile, i64 %w
  store i32 %v, ptr addrspace(3) %s, align 4
)" + (barrier ? "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n" : "") +
         R"(
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %l = sub i32 %d, 1
  %o = sub i32 %l, %t
  %q = zext i32 %o to i64
  %r = getelementptr i32, ptr addrspace(3) @tile, i64 %q
  %u = load i32, ptr addrspace(3) %r, align 4
  store i32 %u, ptr %px, align 4
  ret void
})";
}

TEST(EmulateThreads, BarriersOrderSharedMemory) {
  for (const char *modes : {"", "random:1", "random:2", "race", "race,random:5"}) {
    Emulated program(reversal(true), modes);
    std::vector<int> x(192);
    for (int i = 0; i < 192; ++i)
      x[i] = i;
    void *px = program.device(x);
    EXPECT_EQ(program.run("reverse", {1}, {192}, {&px}), "") << modes;
    for (int i = 0; i < 192; ++i)
      ASSERT_EQ(x[i], 191 - i);
  }
}

TEST(EmulateThreads, AMissingBarrierIsFound) {
  // In order, the first thread reads what nobody has written yet.
  Emulated inOrder(reversal(false));
  std::vector<int> x(64);
  void *px = inOrder.device(x);
  std::string error = inOrder.run("reverse", {1}, {64}, {&px});
  EXPECT_TRUE(contains(error, "thread (0,0,0): load at shared+252 reads shared memory that nobody has written"))
      << error;
  Emulated race(reversal(false), "race,random:1");
  px = race.device(x);
  error = race.run("reverse", {1}, {64}, {&px});
  EXPECT_TRUE(contains(error, "race:") || contains(error, "nobody has written")) << error;
}

TEST(EmulateThreads, RacesAreFoundWhateverTheOrder) {
  // Two stores of the same element, and a load after a store of another thread, both without a barrier.
  const char *text = R"(
@word = internal addrspace(3) global i32 undef, align 4
define ptx_kernel void @writes() {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store i32 %t, ptr addrspace(3) @word, align 4
  ret void
}
define ptx_kernel void @global(ptr %x) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store i32 %t, ptr %x, align 4
  ret void
}
define ptx_kernel void @blocks(ptr %x) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %c = icmp eq i32 %b, 0
  br i1 %c, label %write, label %read
write:
  store i32 %b, ptr %x, align 4
  ret void
read:
  %v = load i32, ptr %x, align 4
  %p = getelementptr i32, ptr %x, i32 1
  store i32 %v, ptr %p, align 4
  ret void
})";
  std::vector<int> x(4);
  Emulated program(withIndices(text), "race");
  std::string error = program.run("writes", {1}, {2}, {});
  EXPECT_TRUE(contains(error, "race: a store to shared+0, and nothing orders that after thread 0")) << error;
  void *px = program.device(x);
  error = program.run("global", {1}, {2}, {&px});
  EXPECT_TRUE(contains(error, "race: a store of global memory")) << error;
  px = program.device(x);
  error = program.run("blocks", {2}, {1}, {&px});
  EXPECT_TRUE(contains(error, "race: a load of global memory")) << error;
  // The other modes do not look.
  Emulated other(withIndices(text));
  EXPECT_EQ(other.run("writes", {1}, {2}, {}), "");
}

TEST(EmulateThreads, WarpSynchronisationOrders) {
  const char *text = R"(
@word = internal addrspace(3) global [32 x i32] undef, align 4
define ptx_kernel void @rotate(ptr %x) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr addrspace(3) @word, i32 %t
  store i32 %t, ptr addrspace(3) %p, align 4
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %n = add i32 %t, 1
  %m = and i32 %n, 31
  %q = getelementptr i32, ptr addrspace(3) @word, i32 %m
  %v = load i32, ptr addrspace(3) %q, align 4
  %r = getelementptr i32, ptr %x, i32 %t
  store i32 %v, ptr %r, align 4
  ret void
})";
  for (const char *modes : {"", "race", "random:9"}) {
    Emulated program(withIndices(text), modes);
    std::vector<int> x(32);
    void *px = program.device(x);
    EXPECT_EQ(program.run("rotate", {1}, {32}, {&px}), "") << modes;
    for (int i = 0; i < 32; ++i)
      ASSERT_EQ(x[i], (i + 1) % 32);
  }
}

TEST(EmulateThreads, BarrierMisuse) {
  const char *text = R"(
define ptx_kernel void @half() {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %c = icmp ult i32 %t, 16
  br i1 %c, label %a, label %b
a:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
b:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}
define ptx_kernel void @few(i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp ult i32 %t, 32
  br i1 %c, label %a, label %b
a:
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 %n)
  ret void
b:
  ret void
})";
  Emulated program(withIndices(text));
  std::string error = program.run("half", {1}, {32}, {});
  EXPECT_TRUE(contains(error, "lanes of warp 0 are at different barrier instructions")) << error;
  int n = 64;
  error = program.run("few", {1}, {64}, {&n});
  EXPECT_TRUE(contains(error, "deadlock: 32 threads from thread 0 on wait in a named barrier")) << error;
  n = 40;
  error = program.run("few", {1}, {64}, {&n});
  EXPECT_TRUE(contains(error, "has to be a multiple of 32")) << error;
  n = 32;
  EXPECT_EQ(program.run("few", {1}, {64}, {&n}), "");
}

TEST(EmulateThreads, SharedMemoryHasBounds) {
  const char *text = R"(
@dynamic = external addrspace(3) global [0 x i8], align 1024
@fixed = internal addrspace(3) global [4 x i8] undef, align 4
define ptx_kernel void @at(i64 %offset) {
  store i32 1, ptr addrspace(3) @fixed, align 4
  %p = getelementptr i8, ptr addrspace(3) @dynamic, i64 %offset
  store i32 1, ptr addrspace(3) %p, align 4
  ret void
})";
  Emulated program(withIndices(text));
  int64_t offset = 60;
  EXPECT_EQ(program.run("at", {1}, {1}, {&offset}, 64), "");
  offset = 64;
  std::string error = program.run("at", {1}, {1}, {&offset}, 64);
  EXPECT_TRUE(contains(error, "store of 4 bytes at shared+1088, outside of the block's 1088 bytes")) << error;
  offset = 62;
  error = program.run("at", {1}, {1}, {&offset}, 64);
  EXPECT_TRUE(contains(error, "misaligned store of 4 bytes of shared memory")) << error;
  error = program.run("at", {1}, {1}, {&offset}, 256 << 10);
  EXPECT_TRUE(contains(error, "a block has 232448 at most")) << error;
  error = program.run("at", {1}, {1025}, {&offset}, 64);
  EXPECT_TRUE(contains(error, "1 to 1024 are possible")) << error;
}

TEST(EmulateThreads, LocalVariablesHaveBounds) {
  const char *text = R"(
define ptx_kernel void @local(ptr %x, i64 %i) {
  %a = alloca [4 x i32], align 4
  %p = getelementptr i32, ptr %a, i64 %i
  store i32 7, ptr %p, align 4
  %v = load i32, ptr %p, align 4
  store i32 %v, ptr %x, align 4
  ret void
})";
  Emulated program(withIndices(text));
  std::vector<int> x(4);
  void *px = program.device(x);
  int64_t i = 3;
  EXPECT_EQ(program.run("local", {1}, {1}, {&px, &i}), "");
  EXPECT_EQ(x[0], 7);
  px = program.device(x);
  i = 4;
  std::string error = program.run("local", {1}, {1}, {&px, &i});
  EXPECT_TRUE(contains(error, "outside of the local or constant variable")) << error;
}

TEST(EmulateThreads, WhatTheEmulatorDoesNotKnowIsNamed) {
  EXPECT_TRUE(contains(refusal("declare i32 @llvm.nvvm.read.ptx.sreg.smid()\n"
                               "define ptx_kernel void @k(ptr %x) {\n"
                               "  %v = call i32 @llvm.nvvm.read.ptx.sreg.smid()\n"
                               "  store i32 %v, ptr %x\n  ret void\n}"),
                       "llvm.nvvm.read.ptx.sreg.smid"));
  EXPECT_TRUE(contains(refusal("define ptx_kernel void @k() {\n  call void asm sideeffect \"bar.sync 0;\", \"\"()\n"
                               "  ret void\n}"),
                       "inline assembly"));
  EXPECT_TRUE(contains(refusal("declare void @puts(ptr)\ndefine ptx_kernel void @k(ptr %x) {\n"
                               "  call void @puts(ptr %x)\n  ret void\n}"),
                       "device code calls puts"));
  EXPECT_TRUE(contains(refusal("declare void @optc.nv.unknown()\ndefine ptx_kernel void @k() {\n"
                               "  call void @optc.nv.unknown()\n  ret void\n}"),
                       "optc.nv.unknown"));
  EXPECT_TRUE(contains(refusal("define ptx_kernel void @k() {\n  call void @f()\n  ret void\n}\n"
                               "define void @f() {\n  call void @f()\n  ret void\n}"),
                       "cannot be inlined"));
}

TEST(EmulateThreads, TrapsAreErrors) {
  Emulated program("declare void @llvm.trap()\ndefine ptx_kernel void @k() {\n  call void @llvm.trap()\n  ret void\n}");
  EXPECT_EQ(program.run("k", {1}, {1}, {}), "kernel k, block (0,0,0), thread (0,0,0): trap");
}

TEST(EmulateThreads, ModesAreParsed) {
  emulator::Modes modes;
  std::string error;
  EXPECT_TRUE(emulator::parseModes("race,random:7,late-tma,grid:5,threads:3,capability:86", modes, error));
  EXPECT_TRUE(modes.race && modes.random && modes.lateTma);
  EXPECT_EQ(modes.seed, 7u);
  EXPECT_EQ(modes.threads, 3u);
  EXPECT_EQ(modes.maxBlocks, 5u);
  EXPECT_EQ(modes.capability, 86);
  EXPECT_EQ(emulator::maxSharedBytes(86), 99u << 10);
  EXPECT_EQ(emulator::maxSharedBytes(87), 163u << 10);
  EXPECT_EQ(emulator::maxSharedBytes(103), 227u << 10);
  for (const char *text :
       {"fast", "random", "random:x", "random:-1", "threads:0", "grid:0", "capability:75", "capability:x", "race:1"})
    EXPECT_FALSE(emulator::parseModes(text, modes, error)) << text;
  EXPECT_TRUE(contains(error, "race:1")) << error;
}
