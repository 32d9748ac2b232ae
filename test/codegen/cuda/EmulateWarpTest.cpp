//===- EmulateWarpTest.cpp - shuffles, votes, matrices and arithmetic ------===//
#include "Emulated.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace optc;
using namespace optc::test;

static uint16_t half(float value) {
  llvm::APFloat f(value);
  bool lost;
  f.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return uint16_t(f.bitcastToAPInt().getZExtValue());
}
static uint16_t bfloat(float value) {
  llvm::APFloat f(value);
  bool lost;
  f.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return uint16_t(f.bitcastToAPInt().getZExtValue());
}

/// A kernel of one warp: `body` computes %r (i32) from %v (i32, the thread's element of x) and %t.
static std::string warpKernel(const std::string &declarations, const std::string &body) {
  return "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n" + declarations +
         "define ptx_kernel void @k(ptr %x, ptr %y) {\n"
         "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
         "  %px = getelementptr i32, ptr %x, i32 %t\n  %v = load i32, ptr %px\n" +
         body + "  %py = getelementptr i32, ptr %y, i32 %t\n  store i32 %r, ptr %py\n  ret void\n}\n";
}

static std::vector<int> runWarp(const std::string &text, std::vector<int> x, const char *modes = "") {
  Emulated program(text, modes);
  std::vector<int> y(32, -1);
  void *px = program.device(x), *py = program.device(y);
  EXPECT_EQ(program.run("k", {1}, {32}, {&px, &py}), "");
  return y;
}

static std::vector<int> squares() {
  std::vector<int> x(32);
  for (int i = 0; i < 32; ++i)
    x[i] = i * i + 5;
  return x;
}

TEST(EmulateWarp, Shuffles) {
  struct Case {
    const char *way;
    int operand, clamp;
    int (*from)(int lane);
  };
  const Case cases[] = {
      {"bfly", 5, 31, [](int l) { return l ^ 5; }},
      {"idx", 7, 31, [](int) { return 7; }},
      {"down", 3, 31, [](int l) { return l + 3 < 32 ? l + 3 : l; }},
      {"up", 3, 0, [](int l) { return l >= 3 ? l - 3 : l; }},
      // Segments of 8 lanes.
      {"down", 3, 31 | 24 << 8, [](int l) { return l % 8 + 3 < 8 ? l + 3 : l; }},
      {"up", 3, 24 << 8, [](int l) { return l % 8 >= 3 ? l - 3 : l; }},
      {"idx", 2, 31 | 24 << 8, [](int l) { return l / 8 * 8 + 2; }},
      {"bfly", 4, 31 | 24 << 8, [](int l) { return l ^ 4; }},
  };
  for (const Case &c : cases)
    for (const char *modes : {"", "random:4"}) {
      std::string call = std::string("@llvm.nvvm.shfl.sync.") + c.way + ".i32";
      std::vector<int> y =
          runWarp(warpKernel("declare i32 " + call + "(i32, i32, i32, i32)\n",
                             "  %r = call i32 " + call + "(i32 -1, i32 %v, i32 " + std::to_string(c.operand) +
                                 ", i32 " + std::to_string(c.clamp) + ")\n"),
                  squares(), modes);
      for (int lane = 0; lane < 32; ++lane) {
        int from = c.from(lane);
        EXPECT_EQ(y[lane], from * from + 5) << c.way << " lane " << lane;
      }
    }
}

TEST(EmulateWarp, ShufflesSayWhetherTheLaneIsInRange) {
  std::vector<int> y =
      runWarp(warpKernel("declare { float, i1 } @llvm.nvvm.shfl.sync.up.f32p(i32, float, i32, i32)\n",
                         "  %f = bitcast i32 %v to float\n"
                         "  %s = call { float, i1 } @llvm.nvvm.shfl.sync.up.f32p(i32 -1, float %f, i32 4, i32 0)\n"
                         "  %p = extractvalue { float, i1 } %s, 1\n  %q = extractvalue { float, i1 } %s, 0\n"
                         "  %b = bitcast float %q to i32\n  %r = select i1 %p, i32 %b, i32 -7\n"),
              squares());
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(y[lane], lane < 4 ? -7 : (lane - 4) * (lane - 4) + 5);
}

TEST(EmulateWarp, VotesAndReductions) {
  std::string vote = "declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)\n"
                     "declare i1 @llvm.nvvm.vote.all.sync(i32, i1)\ndeclare i1 @llvm.nvvm.vote.any.sync(i32, i1)\n";
  std::string odd = "  %o = and i32 %v, 1\n  %p = icmp eq i32 %o, 0\n";
  EXPECT_EQ(
      runWarp(warpKernel(vote, odd + "  %r = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %p)\n"), squares())[9],
      int(0xaaaaaaaa));
  EXPECT_EQ(runWarp(warpKernel(vote, odd + "  %a = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %p)\n"
                                           "  %r = zext i1 %a to i32\n"),
                    squares())[0],
            0);
  EXPECT_EQ(runWarp(warpKernel(vote, odd + "  %a = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %p)\n"
                                           "  %r = zext i1 %a to i32\n"),
                    squares())[0],
            1);
  struct Case {
    const char *name;
    int want;
  };
  for (Case c : {Case{"add", 10416 + 160}, {"min", 5}, {"umax", 966}, {"xor", 0}}) {
    std::string call = std::string("@llvm.nvvm.redux.sync.") + c.name;
    int want = c.want;
    if (!strcmp(c.name, "xor"))
      for (int v : squares())
        want ^= v;
    std::vector<int> y =
        runWarp(warpKernel("declare i32 " + call + "(i32, i32)\n", "  %r = call i32 " + call + "(i32 %v, i32 -1)\n"),
                squares());
    EXPECT_EQ(y[31], want) << c.name;
  }
}

TEST(EmulateWarp, MasksHaveToFit) {
  const char *text = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
define ptx_kernel void @k(i32 %mask) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp ult i32 %t, 16
  br i1 %c, label %a, label %b
a:
  %v = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %mask, i32 %t, i32 20, i32 31)
  ret void
b:
  ret void
})";
  Emulated program(text);
  int mask = 0xffff;
  std::string error = program.run("k", {1}, {32}, {&mask});
  EXPECT_TRUE(contains(error, "reads lane 20, which is not in its mask 0xffff")) << error;
  mask = -1;
  error = program.run("k", {1}, {32}, {&mask});
  EXPECT_TRUE(contains(error, "names lanes that have ended") || contains(error, "deadlock")) << error;
  mask = 0xff00;
  error = program.run("k", {1}, {32}, {&mask});
  EXPECT_TRUE(contains(error, "does not have the lane that executes it")) << error;
}

//===-- Matrices -------------------------------------------------------------===//

/// ldmatrix and mma: c[16][8] = a[16][k] * b[8][k]; a and b are copied to shared memory as rows of 16-byte pieces.
static std::string productKernel(const char *mma) {
  std::string name = mma;
  bool integer = name.find("s8") != std::string::npos;
  std::string type = integer ? "i32" : "float", four = "{ " + type + ", " + type + ", " + type + ", " + type + " }";
  std::string zero = integer ? "i32 0" : "float 0.0";
  return R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.bar.warp.sync(i32)
declare { i32, i32, i32, i32 } @optc.nv.ldmatrix.x4(ptr addrspace(3)) convergent
declare { i32, i32 } @optc.nv.ldmatrix.x2(ptr addrspace(3)) convergent
@a = internal addrspace(3) global [512 x i8] undef, align 128
@b = internal addrspace(3) global [256 x i8] undef, align 128
declare )" +
         four + " @optc.nv." + name + "(i32, i32, i32, i32, i32, i32, " + type + ", " + type + ", " + type + ", " +
         type + R"() convergent
define ptx_kernel void @k(ptr %ga, ptr %gb, ptr %gc) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pa = getelementptr <4 x i32>, ptr %ga, i32 %t
  %va = load <4 x i32>, ptr %pa, align 16
  %sa = getelementptr <4 x i32>, ptr addrspace(3) @a, i32 %t
  store <4 x i32> %va, ptr addrspace(3) %sa, align 16
  %pb = getelementptr <2 x i32>, ptr %gb, i32 %t
  %vb = load <2 x i32>, ptr %pb, align 8
  %sb = getelementptr <2 x i32>, ptr addrspace(3) @b, i32 %t
  store <2 x i32> %vb, ptr addrspace(3) %sb, align 8
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ; rows are 32 bytes: lane l gives row l % 16 and half l / 16 of a, row l % 8 and half l / 8 of b
  %ra = and i32 %t, 15
  %ha = lshr i32 %t, 4
  %oa = mul i32 %ra, 2
  %ia = add i32 %oa, %ha
  %la = getelementptr <4 x i32>, ptr addrspace(3) @a, i32 %ia
  %fa = call { i32, i32, i32, i32 } @optc.nv.ldmatrix.x4(ptr addrspace(3) %la)
  %rb = and i32 %t, 7
  %hb0 = lshr i32 %t, 3
  %hb = and i32 %hb0, 1
  %ob = mul i32 %rb, 2
  %ib = add i32 %ob, %hb
  %lb = getelementptr <4 x i32>, ptr addrspace(3) @b, i32 %ib
  %fb = call { i32, i32 } @optc.nv.ldmatrix.x2(ptr addrspace(3) %lb)
  %a0 = extractvalue { i32, i32, i32, i32 } %fa, 0
  %a1 = extractvalue { i32, i32, i32, i32 } %fa, 1
  %a2 = extractvalue { i32, i32, i32, i32 } %fa, 2
  %a3 = extractvalue { i32, i32, i32, i32 } %fa, 3
  %b0 = extractvalue { i32, i32 } %fb, 0
  %b1 = extractvalue { i32, i32 } %fb, 1
  %d = call )" +
         four + " @optc.nv." + name + "(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, " + zero + ", " + zero +
         ", " + zero + ", " + zero + R"()
  %g = lshr i32 %t, 2
  %q = and i32 %t, 3
  %c2 = mul i32 %q, 2
  %g8 = mul i32 %g, 8
  %e0 = add i32 %g8, %c2
  %e2 = add i32 %e0, 64
  %d0 = extractvalue )" +
         four + " %d, 0\n  %d1 = extractvalue " + four + " %d, 1\n  %d2 = extractvalue " + four +
         " %d, 2\n  %d3 = extractvalue " + four + R"( %d, 3
  %p0 = getelementptr i32, ptr %gc, i32 %e0
  %p1 = getelementptr i32, ptr %p0, i32 1
  %p2 = getelementptr i32, ptr %gc, i32 %e2
  %p3 = getelementptr i32, ptr %p2, i32 1
  store )" +
         type + " %d0, ptr %p0\n  store " + type + " %d1, ptr %p1\n  store " + type + " %d2, ptr %p2\n  store " + type +
         R"( %d3, ptr %p3
  ret void
})";
}

template <typename Element, typename Sum>
static void checkProduct(const char *mma, Element (*encode)(float), Sum (*decode)(Element), const char *modes = "") {
  constexpr int k = 32 / sizeof(Element);
  std::vector<Element, DeviceAllocator<Element>> a(16 * k), b(8 * k);
  std::vector<Sum> c(16 * 8);
  std::mt19937 random(1);
  for (auto *m : {&a, &b})
    for (Element &e : *m)
      e = encode(float(int(random() % 200)) / 8 - 12);
  Emulated program(productKernel(mma), modes);
  void *pa = program.device(a), *pb = program.device(b), *pc = program.device(c);
  EXPECT_EQ(program.run("k", {1}, {32}, {&pa, &pb, &pc}), "");
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      double want = 0;
      for (int e = 0; e < k; ++e)
        want += double(decode(a[i * k + e])) * double(decode(b[j * k + e]));
      EXPECT_NEAR(double(c[i * 8 + j]), want, 1e-4 * std::abs(want) + 1e-4) << mma << " " << i << "," << j;
    }
}

static float fromBits16(const llvm::fltSemantics &semantics, uint16_t bits) {
  llvm::APFloat f(semantics, llvm::APInt(16, bits));
  bool lost;
  f.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return f.convertToFloat();
}

TEST(EmulateWarp, Products) {
  for (const char *modes : {"", "race", "random:2"})
    checkProduct<uint16_t, float>(
        "mma.m16n8k16.f32.f16", half, [](uint16_t x) { return fromBits16(llvm::APFloat::IEEEhalf(), x); }, modes);
  checkProduct<uint16_t, float>("mma.m16n8k16.f32.bf16", bfloat,
                                [](uint16_t x) { return fromBits16(llvm::APFloat::BFloat(), x); });
  checkProduct<float, float>("mma.m16n8k8.f32.tf32", [](float x) { return x; }, [](float x) { return x; });
  checkProduct<int8_t, int32_t>(
      "mma.m16n8k32.s32.s8", [](float x) { return int8_t(x * 10); }, [](int8_t x) { return int32_t(x); });
}

//===-- Arithmetic -----------------------------------------------------------===//

TEST(EmulateWarp, Intrinsics) {
  struct Case {
    const char *signature, *name, *operands; // %f is the float of the lane, 1.5 in lane 0
    float want;
  };
  const Case cases[] = {
      {"float (float)", "ex2.approx.ftz.f32", "float %f", 2.8284271f},
      {"float (float)", "lg2.approx.f", "float %f", 0.5849625f},
      {"float (float)", "rcp.approx.ftz.f", "float %f", 0.6666667f},
      {"float (float)", "rsqrt.approx.ftz.f", "float %f", 0.8164966f},
      {"float (float)", "sqrt.rn.f", "float %f", 1.2247449f},
      {"float (float)", "saturate.f", "float %f", 1.0f},
      {"float (float)", "floor.f", "float %f", 1.0f},
      {"float (float)", "round.f", "float %f", 2.0f},
      {"float (float)", "fabs.f32", "float -3.0", 3.0f},
      {"float (float, float)", "fmin.f", "float %f, float 0x7FF8000000000000", 1.5f},
      {"float (float, float)", "fmax.f", "float %f, float 2.0", 2.0f},
      {"float (float, float)", "div.rn.f", "float %f, float 2.0", 0.75f},
      {"float (float, float, float)", "fma.rn.f", "float %f, float 2.0, float 1.0", 4.0f},
      // 1/3 in three directions.
      {"float (float, float)", "div.rm.f", "float 1.0, float 3.0", 0x1.555554p-2f},
      {"float (float, float)", "div.rp.f", "float 1.0, float 3.0", 0x1.555556p-2f},
      {"float (float)", "rcp.rz.f", "float 3.0", 0x1.555554p-2f},
      {"float (double)", "d2f.rn", "double 1.25", 1.25f},
      {"float (i32)", "i2f.rn", "i32 -7", -7.0f},
      {"float (i32)", "ui2f.rn", "i32 -1", 4294967296.0f},
  };
  std::string text = "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n", body;
  int number = 0;
  for (const Case &c : cases) {
    std::string signature = c.signature, result = signature.substr(0, signature.find(' '));
    std::string name = std::string("@llvm.nvvm.") + c.name;
    if (text.find(name + "(") == std::string::npos)
      text += "declare " + result + " " + name + signature.substr(signature.find('(')) + "\n";
    std::string n = std::to_string(number++);
    body += "  %r" + n + " = call " + result + " " + name + "(" + c.operands + ")\n  %p" + n +
            " = getelementptr float, ptr %y, i32 " + n + "\n  store float %r" + n + ", ptr %p" + n + "\n";
  }
  text += "define ptx_kernel void @k(ptr %x, ptr %y) {\n  %f = load float, ptr %x\n" + body + "  ret void\n}\n";
  Emulated program(text);
  std::vector<float> x = {1.5f, 0, 0, 0, 0}, y(number);
  void *px = program.device(x), *py = program.device(y);
  ASSERT_EQ(program.run("k", {1}, {1}, {&px, &py}), "");
  for (int i = 0; i < number; ++i)
    EXPECT_FLOAT_EQ(y[i], cases[i].want) << cases[i].name;
}

TEST(EmulateWarp, IntegerIntrinsics) {
  const char *text = R"(
declare i32 @llvm.nvvm.mulhi.i(i32, i32)
declare i32 @llvm.nvvm.mulhi.ui(i32, i32)
declare i32 @llvm.nvvm.prmt(i32, i32, i32)
declare i32 @llvm.nvvm.f2i.rz(float)
declare i32 @llvm.nvvm.d2i.hi(double)
declare double @llvm.nvvm.lohi.i2d(i32, i32)
declare i32 @llvm.nvvm.sad.i(i32, i32, i32)
declare i32 @optc.nv.cvt.tf32(float)
define ptx_kernel void @k(ptr %y) {
  %a = call i32 @llvm.nvvm.mulhi.i(i32 -3, i32 1431655766)
  %b = call i32 @llvm.nvvm.mulhi.ui(i32 -3, i32 2)
  %c = call i32 @llvm.nvvm.prmt(i32 287454020, i32 -2004318072, i32 30292)
  %d = call i32 @llvm.nvvm.f2i.rz(float 0x4415AF1D80000000)
  %e = call i32 @llvm.nvvm.d2i.hi(double 1.0)
  %f = call double @llvm.nvvm.lohi.i2d(i32 0, i32 1072693248)
  %g = fptosi double %f to i32
  %h = call i32 @llvm.nvvm.sad.i(i32 3, i32 -4, i32 10)
  %i = call i32 @optc.nv.cvt.tf32(float 0x3FF0028000000000)
  store i32 %a, ptr %y
  %p1 = getelementptr i32, ptr %y, i32 1
  store i32 %b, ptr %p1
  %p2 = getelementptr i32, ptr %y, i32 2
  store i32 %c, ptr %p2
  %p3 = getelementptr i32, ptr %y, i32 3
  store i32 %d, ptr %p3
  %p4 = getelementptr i32, ptr %y, i32 4
  store i32 %e, ptr %p4
  %p5 = getelementptr i32, ptr %y, i32 5
  store i32 %g, ptr %p5
  %p6 = getelementptr i32, ptr %y, i32 6
  store i32 %h, ptr %p6
  %p7 = getelementptr i32, ptr %y, i32 7
  store i32 %i, ptr %p7
  ret void
})";
  Emulated program(text);
  std::vector<uint32_t> y(8);
  void *py = program.device(y);
  ASSERT_EQ(program.run("k", {1}, {1}, {&py}), "");
  EXPECT_EQ(int(y[0]), -2); // -3 * 0x55555556 = -0x100000002
  EXPECT_EQ(y[1], 1u);
  // a = 0x11223344, b = 0x88888888, selectors 7,6,5,4 of 0x7654 from the low end: 4, 5, 6, 7
  EXPECT_EQ(y[2], 0x88888888u);
  EXPECT_EQ(int(y[3]), INT32_MAX);
  EXPECT_EQ(y[4], 0x3ff00000u);
  EXPECT_EQ(y[5], 1u);
  EXPECT_EQ(y[6], 17u);
  EXPECT_EQ(y[7] & 0x1fff, 0u);
}

// Of three warpgroups the last one gives registers to the others.
TEST(EmulateWarp, RegistersOfABlock) {
  auto run = [](int give, int take, const char *modes = "") {
    std::string text = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @optc.nv.setmaxnreg.inc(i32)
declare void @optc.nv.setmaxnreg.dec(i32)
define ptx_kernel void @k() {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp ult i32 %t, 256
  br i1 %c, label %more, label %fewer
more:
  call void @optc.nv.setmaxnreg.inc(i32 )" +
                       std::to_string(take) + R"()
  ret void
fewer:
  call void @optc.nv.setmaxnreg.dec(i32 )" +
                       std::to_string(give) + R"()
  ret void
})";
    return Emulated(text, modes).run("k", {1}, {384}, {});
  };
  for (const char *modes : {"", "random:1", "random:2", "race"})
    EXPECT_EQ(run(40, 232, modes), "");
  std::string error = run(40, 240);
  EXPECT_TRUE(contains(error, "deadlock") && contains(error, "setmaxnreg.inc")) << error;
  error = run(40, 160);
  EXPECT_TRUE(contains(error, "setmaxnreg.inc to 160 registers of a warp that has 168")) << error;
  error = run(176, 168);
  EXPECT_TRUE(contains(error, "setmaxnreg.dec to 176 registers of a warp that has 168")) << error;
  error = run(20, 232);
  EXPECT_TRUE(contains(error, "24 to 256 in steps of 8")) << error;
}
