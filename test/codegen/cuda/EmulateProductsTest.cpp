//===- EmulateProductsTest.cpp - wgmma --------------------------------------===//
#include "Emulated.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace optc;
using namespace optc::test;

namespace {
/// How a matrix operand lies in shared memory, written down from the canonical layouts of the PTX ISA in units of 16
/// bytes, and not from the emulator.
struct Layout {
  unsigned swizzle; ///< bytes of the pattern: 0, 32, 64 or 128
  bool transposed;  ///< k is the outer index
  unsigned mn, k, elementBytes;
  unsigned leading, stride; ///< bytes

  unsigned offset(unsigned i, unsigned j) const {
    unsigned perUnit = 16 / elementBytes, width = swizzle ? swizzle / 16 : 1; // units of a row of the pattern
    unsigned address;
    if (!transposed) {
      unsigned unit = j / perUnit; // ((8, n), 2) : ((width, stride), 1 or leading)
      address =
          i % 8 * width * 16 + i / 8 * stride + (swizzle ? unit * 16 : unit * leading) + j % perUnit * elementBytes;
    } else {
      unsigned unit = i / perUnit; // ((width, n), (8, k)) : ((1, leading), (width, stride)); n and k change without
      if (swizzle)
        address = unit % width * 16 + unit / width * leading + j % 8 * width * 16 + j / 8 * stride;
      else
        address = unit * stride + j % 8 * 16 + j / 8 * leading;
      address += i % perUnit * elementBytes;
    }
    unsigned row = address / 128, piece = address / 16 % 8, low = address % 16;
    unsigned change = swizzle == 128 ? row % 8 : swizzle == 64 ? row % 4 : swizzle == 32 ? row % 2 : 0;
    return row * 128 + (piece ^ change) * 16 + low;
  }
  unsigned bytes() const {
    unsigned last = 0;
    for (unsigned i = 0; i < mn; ++i)
      for (unsigned j = 0; j < k; ++j)
        last = std::max(last, offset(i, j));
    return (last / 1024 + 1) * 1024;
  }
  uint64_t descriptor(unsigned start) const {
    uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    return (start & 0x3ffff) >> 4 | uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 | mode << 62;
  }
};
} // namespace

static Layout layout(unsigned swizzle, bool transposed, unsigned mn, unsigned elementBytes) {
  Layout l = {swizzle, transposed, mn, 32 / elementBytes, elementBytes, 0, 0};
  if (!transposed && swizzle)
    l.leading = 16, l.stride = 8 * swizzle;
  else if (!transposed)
    l.leading = 128, l.stride = 256; // core matrices of a row of them are neighbours
  else if (swizzle)
    l.leading = 16 * swizzle, l.stride = 8 * swizzle; // the second 8 of k, then the next columns
  else
    l.leading = 128, l.stride = 256;
  return l;
}

static std::string list(unsigned n, const std::string &text) { // text with # replaced
  std::string all;
  for (unsigned i = 0; i < n; ++i) {
    std::string one = text;
    for (size_t at; (at = one.find('#')) != std::string::npos;)
      one.replace(at, 1, std::to_string(i));
    all += (i && text.back() != '\n' ? ", " : "") + one;
  }
  return all;
}

enum Wrong { None, NoFence, NoWait, NoProxyFence, Uncommitted };

/// 128 threads copy `bytes` of x to shared memory, multiply `steps` times with the same operands and write c,
/// row-major.
static std::string kernel(const std::string &type, unsigned n, bool ta, bool tb, unsigned steps, Wrong wrong = None) {
  unsigned r = n / 2;
  bool tf32 = type == "tf32";
  std::string acc = "{ " + list(r, "float") + " }";
  std::string name = "@optc.nv.wgmma.m64n" + std::to_string(n) + (tf32 ? "k8.f32." : "k16.f32.") + type;
  std::string wait = "@optc.nv.wgmma.wait.n" + std::to_string(n);
  std::string text = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @optc.nv.fence.proxy.async()
declare void @optc.nv.wgmma.fence() convergent
declare void @optc.nv.wgmma.commit() convergent
@tile = external addrspace(3) global [0 x i8], align 1024
declare )" + acc + " " +
                     name + "(" + list(r, "float") + ", i64, i64, i32" + (tf32 ? "" : ", i32, i32") +
                     ") convergent\ndeclare " + acc + " " + wait + "(" + list(r, "float") + ") convergent\n" + R"(
define ptx_kernel void @k(ptr %x, ptr %c, i32 %bytes, i64 %da, i64 %db) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = mul i32 %t, 4
  br label %loop
loop:
  %i = phi i32 [ %t4, %0 ], [ %in, %loop ]
  %px = getelementptr i8, ptr %x, i32 %i
  %v = load i32, ptr %px, align 4
  %ps = getelementptr i8, ptr addrspace(3) @tile, i32 %i
  store i32 %v, ptr addrspace(3) %ps, align 4
  %in = add i32 %i, 512
  %more = icmp ult i32 %in, %bytes
  br i1 %more, label %loop, label %ready
ready:
)";
  text += wrong == NoProxyFence ? "" : "  call void @optc.nv.fence.proxy.async()\n";
  text += "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
  text += wrong == NoFence ? "" : "  call void @optc.nv.wgmma.fence()\n";
  std::string current = list(r, "float 0.0");
  for (unsigned s = 0; s < steps; ++s) {
    std::string m = "%m" + std::to_string(s);
    text += "  " + m + " = call " + acc + " " + name + "(" + current + ", i64 %da, i64 %db, i32 " + (s ? "1" : "0") +
            (tf32 ? "" : std::string(", i32 ") + (ta ? "1" : "0") + ", i32 " + (tb ? "1" : "0")) + ")\n";
    text += list(r, "  " + m + "_# = extractvalue " + acc + " " + m + ", #\n");
    current = list(r, "float " + m + "_#");
  }
  text += wrong == Uncommitted ? "" : "  call void @optc.nv.wgmma.commit()\n";
  std::string result = "%m" + std::to_string(steps - 1);
  if (wrong != NoWait) {
    text += "  %w = call " + acc + " " + wait + "(" + current + ")\n";
    result = "%w";
  }
  text += "  %warp = lshr i32 %t, 5\n  %lane = and i32 %t, 31\n  %g = lshr i32 %lane, 2\n  %q = and i32 %lane, 3\n"
          "  %w16 = mul i32 %warp, 16\n  %row = add i32 %w16, %g\n  %q2 = mul i32 %q, 2\n  %rn = mul i32 %row, " +
          std::to_string(n) + "\n  %first = add i32 %rn, %q2\n";
  for (unsigned i = 0; i < r; ++i) {
    std::string k = std::to_string(i);
    unsigned offset = i / 4 * 8 + (i & 1) + (i >> 1 & 1) * 8 * n;
    text += "  %e" + k + " = extractvalue " + acc + " " + result + ", " + k + "\n  %o" + k + " = add i32 %first, " +
            std::to_string(offset) + "\n  %p" + k + " = getelementptr float, ptr %c, i32 %o" + k +
            "\n  store float %e" + k + ", ptr %p" + k + "\n";
  }
  if (wrong == NoWait)
    text += "  %w = call " + acc + " " + wait + "(" + current + ")\n";
  return text + "  ret void\n}\n";
}

static float value(const std::string &type, uint32_t bits) {
  if (type == "f16") {
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    float v = exponent ? std::ldexp(1.0f + mantissa / 1024.0f, exponent - 15) : std::ldexp(float(mantissa), -24);
    return bits & 0x8000 ? -v : v;
  }
  if (type == "bf16")
    bits <<= 16;
  float v;
  memcpy(&v, &bits, 4);
  return v;
}

/// Random small numbers, as bits.
static uint32_t randomBits(const std::string &type, std::mt19937 &random) {
  if (type == "f16")
    return (random() & 0x83ff) | (13 + random() % 4) << 10;
  if (type == "bf16")
    return (random() & 0x807f) | (125 + random() % 4) << 7;
  return (random() & 0x807fe000) | (125 + random() % 4) << 23; // bits that TF32 has
}

/// Multiplies with a kernel that `kernel` made for these layouts; the error or the first element that is wrong.
static std::string multiply(Emulated &program, const std::string &type, unsigned n, Layout a, Layout b,
                            unsigned steps = 1, bool check = true, uint64_t descriptorOfB = 0) {
  std::mt19937 random(n);
  unsigned bytes = a.bytes() + b.bytes(), size = a.elementBytes;
  std::vector<uint8_t, DeviceAllocator<uint8_t>> x(bytes);
  std::vector<float> left(64 * a.k), right(n * b.k);
  auto fill = [&](std::vector<float> &values, const Layout &l, unsigned start) {
    for (unsigned i = 0; i < l.mn; ++i)
      for (unsigned j = 0; j < l.k; ++j) {
        uint32_t bits = randomBits(type, random);
        memcpy(&x[start + l.offset(i, j)], &bits, size);
        values[i * l.k + j] = value(type, bits);
      }
  };
  fill(left, a, 0);
  fill(right, b, a.bytes());
  std::vector<float> c(64 * n);
  void *px = program.device(x), *pc = program.device(c);
  int count = bytes;
  uint64_t da = a.descriptor(0), db = descriptorOfB ? descriptorOfB : b.descriptor(a.bytes());
  std::string error = program.run("k", {1}, {128}, {&px, &pc, &count, &da, &db}, bytes);
  if (!error.empty() || !check)
    return error.empty() && std::isnan(c[0]) ? "NaN" : error;
  for (unsigned i = 0; i < 64; ++i)
    for (unsigned j = 0; j < n; ++j) {
      double want = 0;
      for (unsigned k = 0; k < a.k; ++k)
        want += double(left[i * a.k + k]) * right[j * a.k + k];
      want *= steps;
      if (!(std::abs(c[i * n + j] - want) <= 1e-4 * std::abs(want) + 1e-3))
        return "element " + std::to_string(i) + "," + std::to_string(j) + " is " + std::to_string(c[i * n + j]) +
               " instead of " + std::to_string(want);
    }
  return "";
}

static std::string multiplyOnce(const std::string &type, Layout a, Layout b, const char *modes, unsigned steps,
                                Wrong wrong = None) {
  Emulated program(kernel(type, b.mn, a.transposed, b.transposed, steps, wrong), modes);
  return multiply(program, type, b.mn, a, b, steps, /*check=*/wrong == None);
}

TEST(EmulateProducts, AllLayouts) {
  for (bool ta : {false, true})
    for (bool tb : {false, true}) {
      unsigned n = tb ? 128 : 24; // more than one row of the pattern
      Emulated program(kernel("f16", n, ta, tb, 1));
      for (unsigned swizzle : {0u, 32u, 64u, 128u})
        EXPECT_EQ(multiply(program, "f16", n, layout(swizzle, ta, 64, 2), layout(swizzle, tb, n, 2)), "")
            << swizzle << " " << ta << tb;
    }
}

TEST(EmulateProducts, AllTypesAndWidths) {
  for (unsigned n : {8u, 256u})
    EXPECT_EQ(multiplyOnce("f16", layout(128, false, 64, 2), layout(128, false, n, 2), "", 2), "") << n;
  EXPECT_EQ(multiplyOnce("bf16", layout(128, false, 64, 2), layout(128, true, 64, 2), "", 2), "");
  Emulated program(kernel("tf32", 32, false, false, 2));
  for (unsigned swizzle : {0u, 32u, 64u, 128u})
    EXPECT_EQ(multiply(program, "tf32", 32, layout(swizzle, false, 64, 4), layout(swizzle, false, 32, 4), 2), "")
        << swizzle;
}

TEST(EmulateProducts, AllModes) {
  for (const char *modes : {"late-tma", "race", "random:1", "race,late-tma,random:2"})
    EXPECT_EQ(multiplyOnce("f16", layout(128, false, 64, 2), layout(128, false, 16, 2), modes, 2), "") << modes;
}

TEST(EmulateProducts, WrongUsesAreFound) {
  Layout a = layout(128, false, 64, 2), b = layout(128, false, 16, 2);
  EXPECT_TRUE(contains(multiplyOnce("f16", a, b, "", 1, NoFence), "no wgmma.fence"));
  EXPECT_TRUE(contains(multiplyOnce("f16", a, b, "", 1, Uncommitted), "have not been committed"));
  EXPECT_TRUE(contains(multiplyOnce("f16", a, b, "race", 1, NoProxyFence), "without a fence.proxy.async"));
  EXPECT_EQ(multiplyOnce("f16", a, b, "", 1, NoWait), "NaN");

  EXPECT_TRUE(contains(multiplyOnce("f16", a, b, "capability:100", 1), "of sm_90a only, and the device is sm_100"));

  Emulated program(kernel("f16", 16, false, false, 1));
  std::string error = multiply(program, "f16", 16, a, b, 1, true, b.descriptor(128 << 10));
  EXPECT_TRUE(contains(error, "wgmma: operand b reads shared+131072, outside of the block's")) << error;
  error = multiply(program, "f16", 16, a, b, 1, true, b.descriptor(8192) | uint64_t(1) << 49);
  EXPECT_TRUE(contains(error, "the base offset of descriptor b is 1")) << error;
  // The other half of the operands' swizzle: an answer, but another one.
  error = multiply(program, "f16", 16, a, b, 1, true, layout(64, false, 16, 2).descriptor(8192));
  EXPECT_TRUE(contains(error, "instead of")) << error;
}
