//===- EmulateCopiesTest.cpp - mbarriers, TMA and cp.async -----------------===//
#include "Emulated.h"
#include <cstring>

using namespace optc;
using namespace optc::test;
using emulator::TensorMap;

static constexpr const char *kCopies = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @optc.nv.mbarrier.init(ptr addrspace(3), i32)
declare void @optc.nv.mbarrier.inval(ptr addrspace(3))
declare void @optc.nv.mbarrier.arrive(ptr addrspace(3))
declare void @optc.nv.mbarrier.arrive.expect_tx(ptr addrspace(3), i32)
declare void @optc.nv.mbarrier.wait(ptr addrspace(3), i32)
declare i32 @optc.nv.mbarrier.try_wait(ptr addrspace(3), i32)
declare void @optc.nv.fence.mbarrier_init()
declare void @optc.nv.fence.proxy.async()
declare void @optc.nv.tma.prefetch(ptr)
declare void @optc.nv.tma.load.2d(ptr addrspace(3), ptr addrspace(3), ptr, i32, i32)
declare void @optc.nv.tma.load.3d(ptr addrspace(3), ptr addrspace(3), ptr, i32, i32, i32)
declare void @optc.nv.tma.store.2d(ptr, ptr addrspace(3), i32, i32)
declare void @optc.nv.bulk.commit()
declare void @optc.nv.bulk.wait(i32)
declare void @optc.nv.bulk.wait.read(i32)
declare void @optc.nv.cp.async.16.zfill(ptr addrspace(3), ptr addrspace(1), i32)
declare void @optc.nv.cp.async.4.zfill(ptr addrspace(3), ptr addrspace(1), i32)
declare void @optc.nv.cp.async.commit()
declare void @optc.nv.cp.async.wait(i32)
@tile = external addrspace(3) global [0 x i8], align 1024
@bar = internal addrspace(3) global [4 x i64] undef, align 8
)";

// One thread loads a box, waits, and copies the bytes of shared memory to `out`.
static constexpr const char *kLoad = R"(
define ptx_kernel void @load(ptr byval([128 x i8]) align 64 %map, ptr %out, i32 %x, i32 %y, i32 %expect, i32 %bytes,
                             i32 %at) {
  call void @optc.nv.tma.prefetch(ptr %map)
  call void @optc.nv.mbarrier.init(ptr addrspace(3) @bar, i32 1)
  call void @optc.nv.fence.mbarrier_init()
  %place = getelementptr i8, ptr addrspace(3) @tile, i32 %at
  call void @optc.nv.mbarrier.arrive.expect_tx(ptr addrspace(3) @bar, i32 %expect)
  call void @optc.nv.tma.load.2d(ptr addrspace(3) %place, ptr addrspace(3) @bar, ptr %map, i32 %x, i32 %y)
  call void @optc.nv.mbarrier.wait(ptr addrspace(3) @bar, i32 0)
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %n, %loop ]
  %p = getelementptr i8, ptr addrspace(3) %place, i32 %i
  %v = load i32, ptr addrspace(3) %p, align 4
  %q = getelementptr i8, ptr %out, i32 %i
  store i32 %v, ptr %q, align 4
  %n = add i32 %i, 4
  %c = icmp ult i32 %n, %bytes
  br i1 %c, label %loop, label %end
end:
  ret void
})";

static TensorMap makeMap(const void *base, std::vector<uint64_t> dims, std::vector<uint16_t> box, unsigned elementBytes,
                         unsigned swizzle) {
  TensorMap map = {};
  map.magic = TensorMap::kMagic;
  map.base = reinterpret_cast<uint64_t>(base);
  uint64_t stride = elementBytes;
  for (size_t i = 0; i < dims.size(); ++i) {
    map.dims[i] = dims[i];
    map.box[i] = box[i];
    stride *= dims[i];
    if (i + 1 < dims.size())
      map.strides[i] = stride;
  }
  map.elementBytes = elementBytes;
  map.rank = dims.size();
  map.swizzle = swizzle;
  return map;
}

using Halves = std::vector<uint16_t, DeviceAllocator<uint16_t>>;
static Halves numbers(size_t count) {
  Halves made(count);
  for (size_t i = 0; i < count; ++i)
    made[i] = uint16_t(i + 1);
  return made;
}

/// Runs @load and returns the bytes.
static std::vector<uint16_t> load(Emulated &program, TensorMap map, Halves &tensor, int x, int y, int bytes,
                                  std::string &error, int expect = -1, int at = 0) {
  Halves out(bytes / 2);
  alignas(64) char space[128] = {};
  memcpy(space, &map, sizeof map);
  program.device(tensor);
  void *pout = program.device(out);
  if (expect < 0)
    expect = bytes;
  error = program.run("load", {1}, {1}, {space, &pout, &x, &y, &expect, &bytes, &at}, 32768);
  return std::vector<uint16_t>(out.begin(), out.end());
}

TEST(EmulateCopies, LoadsFillWhatIsOutsideWithZeros) {
  for (const char *modes : {"", "late-tma", "race"}) {
    Emulated program(std::string(kCopies) + kLoad, modes);
    Halves tensor = numbers(16 * 10);
    TensorMap map = makeMap(tensor.data(), {16, 10}, {8, 4}, 2, 0);
    for (auto [x, y] : {std::pair(0, 0), {8, 6}, {12, 8}, {-3, -2}, {20, 0}, {0, 10}, {-8, 0}}) {
      std::string error;
      std::vector<uint16_t> got = load(program, map, tensor, x, y, 64, error);
      ASSERT_EQ(error, "") << modes;
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 8; ++j) {
          int gx = x + j, gy = y + i;
          int want = gx >= 0 && gx < 16 && gy >= 0 && gy < 10 ? gy * 16 + gx + 1 : 0;
          ASSERT_EQ(got[i * 8 + j], want) << x << "," << y << ": " << i << "," << j;
        }
    }
  }
}

TEST(EmulateCopies, SwizzlesExchangePiecesOf16Bytes) {
  // PTX ISA, swizzling modes: rows of 128 bytes of shared memory repeat after 8 (128B), 4 (64B) or 2 (32B) rows; the
  // piece of 16 bytes is XORed with the row.
  for (unsigned swizzle : {0u, 1u, 2u, 3u}) {
    Emulated program(std::string(kCopies) + kLoad);
    int inner = swizzle ? 16 << swizzle : 64; // bytes of a row of the box
    Halves tensor = numbers(inner / 2 * 32);
    TensorMap map = makeMap(tensor.data(), {uint64_t(inner / 2), 32}, {uint16_t(inner / 2), 32}, 2, swizzle);
    std::string error;
    std::vector<uint16_t> got = load(program, map, tensor, 0, 0, inner * 32, error);
    ASSERT_EQ(error, "");
    for (int byte = 0; byte < inner * 32; byte += 2) {
      int row = byte / 128, piece = byte / 16 % 8;
      int to = swizzle == 3   ? piece ^ (row % 8)
               : swizzle == 2 ? piece ^ (row % 4)
               : swizzle == 1 ? piece ^ (row % 2)
                              : piece;
      ASSERT_EQ(got[(row * 128 + to * 16 + byte % 16) / 2], tensor[byte / 2]) << swizzle << " byte " << byte;
    }
  }
}

TEST(EmulateCopies, WrongLoadsAreErrors) {
  Emulated program(std::string(kCopies) + kLoad);
  Halves tensor = numbers(64 * 8);
  TensorMap map = makeMap(tensor.data(), {64, 8}, {64, 8}, 2, 3);
  std::string error;
  load(program, map, tensor, 0, 0, 1024, error, -1, 128);
  EXPECT_TRUE(contains(error, "shared+1152 is misaligned, a box with swizzle 3 has to begin at a multiple of 1024"))
      << error;
  load(program, map, tensor, 0, 0, 1024, error, 2048);
  EXPECT_TRUE(contains(error, "deadlock: 1 thread from thread 0 on waits in mbarrier.wait at shared+0 (0 arrivals and "
                              "1024 bytes missing)"))
      << error;
  load(program, map, tensor, 0, 0, 1024, error, 512);
  EXPECT_TRUE(contains(error, "-512 bytes missing")) << error;
  load(program, map, tensor, 0, 0, 1024, error, -1, 32 << 10);
  EXPECT_TRUE(contains(error, "outside of the block's")) << error;
  TensorMap beyond = makeMap(tensor.data(), {64, 9}, {64, 8}, 2, 3);
  load(program, beyond, tensor, 0, 4, 1024, error);
  EXPECT_TRUE(contains(error, "TMA load of 128 bytes at")) << error;
  TensorMap broken = map;
  broken.magic = 1;
  load(program, broken, tensor, 0, 0, 1024, error);
  EXPECT_TRUE(contains(error, "is no tensor map")) << error;
  TensorMap rank = makeMap(tensor.data(), {64, 8, 1}, {64, 8, 1}, 2, 3);
  load(program, rank, tensor, 0, 0, 1024, error);
  EXPECT_TRUE(contains(error, "of rank 2 with a tensor map of rank 3")) << error;
}

TEST(EmulateCopies, LoadsThatNobodyWaitsFor) {
  const char *text = R"(
define ptx_kernel void @k(ptr byval([128 x i8]) align 64 %map, ptr %out) {
  call void @optc.nv.mbarrier.init(ptr addrspace(3) @bar, i32 1)
  call void @optc.nv.mbarrier.arrive.expect_tx(ptr addrspace(3) @bar, i32 1024)
  call void @optc.nv.tma.load.2d(ptr addrspace(3) @tile, ptr addrspace(3) @bar, ptr %map, i32 0, i32 0)
  %v = load i32, ptr addrspace(3) @tile, align 4
  store i32 %v, ptr %out, align 4
  ret void
})";
  Halves tensor = numbers(64 * 8), out(2);
  TensorMap map = makeMap(tensor.data(), {64, 8}, {64, 8}, 2, 3);
  alignas(64) char space[128] = {};
  memcpy(space, &map, sizeof map);
  for (auto [modes, want] : {std::pair("late-tma", "reads shared memory that nobody has written"),
                             {"race", "race: a load of shared+1024, and nothing orders that after a TMA load"}}) {
    Emulated program(std::string(kCopies) + text, modes);
    program.device(tensor);
    void *pout = program.device(out);
    std::string error = program.run("k", {1}, {1}, {space, &pout}, 1024);
    EXPECT_TRUE(contains(error, want)) << error;
  }
}

TEST(EmulateCopies, LoadsMayNotHitBarriers) {
  const char *text = R"(
define ptx_kernel void @k(ptr byval([128 x i8]) align 64 %map) {
  %b = getelementptr i8, ptr addrspace(3) @tile, i32 512
  call void @optc.nv.mbarrier.init(ptr addrspace(3) %b, i32 1)
  call void @optc.nv.mbarrier.arrive.expect_tx(ptr addrspace(3) %b, i32 1024)
  call void @optc.nv.tma.load.2d(ptr addrspace(3) @tile, ptr addrspace(3) %b, ptr %map, i32 0, i32 0)
  ret void
})";
  Halves tensor = numbers(64 * 8);
  TensorMap map = makeMap(tensor.data(), {64, 8}, {64, 8}, 2, 3);
  alignas(64) char space[128] = {};
  memcpy(space, &map, sizeof map);
  Emulated program(std::string(kCopies) + text);
  program.device(tensor);
  std::string error = program.run("k", {1}, {1}, {space}, 1024);
  EXPECT_TRUE(contains(error, "overwrites the mbarrier at shared+512")) << error;
}

TEST(EmulateCopies, BarriersAreCounted) {
  const char *text = R"(
define ptx_kernel void @uninitialized() {
  call void @optc.nv.mbarrier.arrive(ptr addrspace(3) @bar)
  ret void
}
define ptx_kernel void @over(i32 %n) {
  call void @optc.nv.mbarrier.init(ptr addrspace(3) @bar, i32 2)
  call void @optc.nv.mbarrier.arrive.expect_tx(ptr addrspace(3) @bar, i32 %n)
  call void @optc.nv.mbarrier.arrive(ptr addrspace(3) @bar)
  call void @optc.nv.mbarrier.arrive(ptr addrspace(3) @bar)
  ret void
}
define ptx_kernel void @misaligned() {
  %b = getelementptr i8, ptr addrspace(3) @bar, i32 4
  call void @optc.nv.mbarrier.init(ptr addrspace(3) %b, i32 2)
  ret void
}
define ptx_kernel void @overwritten() {
  call void @optc.nv.mbarrier.init(ptr addrspace(3) @bar, i32 2)
  store i32 0, ptr addrspace(3) @bar, align 4
  ret void
}
define ptx_kernel void @again(ptr %x) {
  call void @optc.nv.mbarrier.init(ptr addrspace(3) @bar, i32 2)
  call void @optc.nv.mbarrier.inval(ptr addrspace(3) @bar)
  store i32 7, ptr addrspace(3) @bar, align 4
  %v = load i32, ptr addrspace(3) @bar, align 4
  store i32 %v, ptr %x, align 4
  ret void
})";
  Emulated program(std::string(kCopies) + text);
  EXPECT_TRUE(contains(program.run("uninitialized", {1}, {1}, {}), "there is no initialized mbarrier at shared+0"));
  int n = 64;
  std::string error = program.run("over", {1}, {1}, {&n});
  EXPECT_TRUE(contains(error, "more arrivals at the mbarrier at shared+0 than the 2 of a phase")) << error;
  n = 0;
  EXPECT_EQ(program.run("over", {1}, {1}, {&n}), "");
  EXPECT_TRUE(contains(program.run("misaligned", {1}, {1}, {}), "is not aligned to 8 bytes"));
  EXPECT_TRUE(contains(program.run("overwritten", {1}, {1}, {}), "overwrites an mbarrier"));
  std::vector<int> x(1);
  void *px = program.device(x);
  EXPECT_EQ(program.run("again", {1}, {1}, {&px}), "");
  EXPECT_EQ(x[0], 7);
}

// A ring of two slots: thread 0 produces, thread 32 consumes; `wait` says whether the producer waits for empty slots.
static std::string ring(bool waitEmpty, bool tryWait) {
  return std::string(kCopies) + R"(
@slots = internal addrspace(3) global [2 x i32] undef, align 8
define ptx_kernel void @ring(ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %t, 0
  br i1 %first, label %init, label %ready
init:
  call void @optc.nv.mbarrier.init(ptr addrspace(3) @bar, i32 1)
  call void @optc.nv.mbarrier.init(ptr addrspace(3) getelementptr (i64, ptr addrspace(3) @bar, i32 1), i32 1)
  call void @optc.nv.mbarrier.init(ptr addrspace(3) getelementptr (i64, ptr addrspace(3) @bar, i32 2), i32 1)
  call void @optc.nv.mbarrier.init(ptr addrspace(3) getelementptr (i64, ptr addrspace(3) @bar, i32 3), i32 1)
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %c = icmp eq i32 %t, 32
  br i1 %first, label %produce, label %other
other:
  br i1 %c, label %consume, label %end
produce:
  %i = phi i32 [ 0, %ready ], [ %in, %produced ]
  %s = and i32 %i, 1
  %full = getelementptr i64, ptr addrspace(3) @bar, i32 %s
  %empty = getelementptr i64, ptr addrspace(3) %full, i32 2
  %h = lshr i32 %i, 1
  %ph = and i32 %h, 1
  %pe = xor i32 %ph, 1
)" + (waitEmpty ? "  call void @optc.nv.mbarrier.wait(ptr addrspace(3) %empty, i32 %pe)\n" : "") +
         R"(  %p = getelementptr i32, ptr addrspace(3) @slots, i32 %s
  %sq = mul i32 %i, %i
  store i32 %sq, ptr addrspace(3) %p, align 4
  call void @optc.nv.mbarrier.arrive(ptr addrspace(3) %full)
  br label %produced
produced:
  %in = add i32 %i, 1
  %more = icmp ult i32 %in, 10
  br i1 %more, label %produce, label %end
consume:
  %j = phi i32 [ 0, %other ], [ %jn, %consumed ]
  %s2 = and i32 %j, 1
  %full2 = getelementptr i64, ptr addrspace(3) @bar, i32 %s2
  %empty2 = getelementptr i64, ptr addrspace(3) %full2, i32 2
  %h2 = lshr i32 %j, 1
  %ph2 = and i32 %h2, 1
)" +
         (tryWait ? "  br label %try\ntry:\n"
                    "  %done = call i32 @optc.nv.mbarrier.try_wait(ptr addrspace(3) %full2, i32 %ph2)\n"
                    "  %ok = icmp ne i32 %done, 0\n  br i1 %ok, label %consumed, label %try\n"
                  : "  call void @optc.nv.mbarrier.wait(ptr addrspace(3) %full2, i32 %ph2)\n  br label %consumed\n") +
         R"(consumed:
  %q = getelementptr i32, ptr addrspace(3) @slots, i32 %s2
  %v = load i32, ptr addrspace(3) %q, align 4
  call void @optc.nv.mbarrier.arrive(ptr addrspace(3) %empty2)
  %o = getelementptr i32, ptr %out, i32 %j
  store i32 %v, ptr %o, align 4
  %jn = add i32 %j, 1
  %more2 = icmp ult i32 %jn, 10
  br i1 %more2, label %consume, label %end
end:
  ret void
})";
}

TEST(EmulateCopies, BarriersOrderARing) {
  for (bool tryWait : {false, true})
    for (const char *modes : {"", "random:1", "random:2", "random:3", "race", "race,random:7"}) {
      Emulated program(ring(true, tryWait), modes);
      std::vector<int> out(10);
      void *pout = program.device(out);
      EXPECT_EQ(program.run("ring", {1}, {64}, {&pout}), "") << modes;
      for (int i = 0; i < 10; ++i)
        EXPECT_EQ(out[i], i * i);
    }
}

TEST(EmulateCopies, AMissingWaitIsFound) {
  Emulated program(ring(false, false), "race");
  std::vector<int> out(10);
  void *pout = program.device(out);
  std::string error = program.run("ring", {1}, {64}, {&pout});
  // The producer runs ahead through whole phases, so that the consumer waits for one that is over.
  EXPECT_TRUE(contains(error, "deadlock: 1 thread from thread 32 on waits in mbarrier.wait at shared+0")) << error;
}

// Thread 0 writes a tile, and stores it by TMA; `fence` and `wait` are 0 or 1.
static std::string store(bool fence, bool wait) {
  return std::string(kCopies) + R"(
define ptx_kernel void @store(ptr byval([128 x i8]) align 64 %map, i32 %x, i32 %y) {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %n, %loop ]
  %p = getelementptr i16, ptr addrspace(3) @tile, i32 %i
  %v = trunc i32 %i to i16
  store i16 %v, ptr addrspace(3) %p, align 2
  %n = add i32 %i, 1
  %c = icmp ult i32 %n, 32
  br i1 %c, label %loop, label %end
end:
)" + (fence ? "  call void @optc.nv.fence.proxy.async()\n" : "") +
         "  call void @optc.nv.tma.store.2d(ptr %map, ptr addrspace(3) @tile, i32 %x, i32 %y)\n"
         "  call void @optc.nv.bulk.commit()\n" +
         (wait ? "  call void @optc.nv.bulk.wait.read(i32 0)\n" : "") +
         "  store i16 99, ptr addrspace(3) @tile, align 2\n  ret void\n}\n";
}

TEST(EmulateCopies, Stores) {
  for (const char *modes : {"", "late-tma", "race"}) {
    Emulated program(store(true, true), modes);
    Halves tensor(16 * 6, 7);
    TensorMap map = makeMap(tensor.data(), {16, 6}, {8, 4}, 2, 0);
    alignas(64) char space[128] = {};
    memcpy(space, &map, sizeof map);
    program.device(tensor);
    int x = 12, y = 4; // half of the columns and rows are outside
    ASSERT_EQ(program.run("store", {1}, {1}, {space, &x, &y}, 1024), "") << modes;
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 16; ++j)
        ASSERT_EQ(tensor[i * 16 + j], i >= 4 && j >= 12 ? (i - 4) * 8 + j - 12 : 7);
  }
}

TEST(EmulateCopies, WrongStoresAreErrors) {
  Halves tensor(16 * 6);
  TensorMap map = makeMap(tensor.data(), {16, 6}, {8, 4}, 2, 0);
  alignas(64) char space[128] = {};
  memcpy(space, &map, sizeof map);
  int x = 0, y = 0;
  auto run = [&](bool fence, bool wait, const char *modes) {
    Emulated program(store(fence, wait), modes);
    program.device(tensor);
    return program.run("store", {1}, {1}, {space, &x, &y}, 1024);
  };
  std::string error = run(false, true, "race");
  EXPECT_TRUE(contains(error, "without a fence.proxy.async")) << error;
  error = run(true, false, "race");
  EXPECT_TRUE(contains(error, "race: a store to shared+0, and nothing orders that after a TMA store")) << error;
  error = run(true, false, "");
  EXPECT_TRUE(contains(error, "the block ends while a TMA store")) << error;
}

TEST(EmulateCopies, LoadsOverWhatAThreadWroteNeedAFence) {
  // @load behind a store to the place that it copies to.
  auto run = [](bool fence) {
    std::string text = std::string(kCopies) + kLoad, at = "  call void @optc.nv.mbarrier.arrive.expect_tx";
    std::string before = "  store i16 99, ptr addrspace(3) %place, align 2\n";
    before += fence ? "  call void @optc.nv.fence.proxy.async()\n" : "";
    Emulated program(text.insert(text.find(at), before), "race");
    Halves tensor = numbers(16 * 10);
    std::string error;
    load(program, makeMap(tensor.data(), {16, 10}, {8, 4}, 2, 0), tensor, 0, 0, 64, error);
    return error;
  };
  EXPECT_EQ(run(true), "");
  std::string error = run(false);
  EXPECT_TRUE(contains(error, "TMA load overwrites shared+")) << error;
  EXPECT_TRUE(contains(error, "without a fence.proxy.async")) << error;
}

// Each of 32 threads copies 16 bytes, of which it reads `read`; without `wait` nobody waits.
static std::string asyncCopy(bool wait) {
  return std::string(kCopies) + R"(
define ptx_kernel void @copy(ptr addrspace(1) %x, ptr %out, i32 %read) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %s = getelementptr <4 x i32>, ptr addrspace(3) @tile, i32 %t
  %g = getelementptr <4 x i32>, ptr addrspace(1) %x, i32 %t
  call void @optc.nv.cp.async.16.zfill(ptr addrspace(3) %s, ptr addrspace(1) %g, i32 %read)
  call void @optc.nv.cp.async.commit()
)" + (wait ? "  call void @optc.nv.cp.async.wait(i32 0)\n" : "") +
         R"(  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %u = xor i32 %t, 31
  %q = getelementptr <4 x i32>, ptr addrspace(3) @tile, i32 %u
  %v = load <4 x i32>, ptr addrspace(3) %q, align 16
  %o = getelementptr <4 x i32>, ptr %out, i32 %u
  store <4 x i32> %v, ptr %o, align 16
  ret void
})";
}

TEST(EmulateCopies, AsynchronousCopiesOfThreads) {
  for (const char *modes : {"", "late-tma", "race", "random:3"}) {
    Emulated program(asyncCopy(true), modes);
    Halves x = numbers(256), out(256);
    void *px = program.device(x), *pout = program.device(out);
    int read = 10;
    ASSERT_EQ(program.run("copy", {1}, {32}, {&px, &pout, &read}, 512), "") << modes;
    for (int i = 0; i < 256; ++i)
      ASSERT_EQ(out[i], i % 8 < 5 ? x[i] : 0);
  }
  Emulated program(asyncCopy(false), "late-tma");
  Halves x = numbers(256), out(256);
  void *px = program.device(x), *pout = program.device(out);
  int read = 16;
  std::string error = program.run("copy", {1}, {32}, {&px, &pout, &read}, 512);
  EXPECT_TRUE(contains(error, "nobody has written")) << error;
}
