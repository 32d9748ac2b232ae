//===- Warp.cpp - shuffles, votes and matrices of a warp -------------------===//
#include "Engine.h"
#include <algorithm>
#include <cstring>
#include <utility>

using namespace optc::emulator;

static constexpr uint32_t kAllLanes = ~0u;

float optc::emulator::fromHalf(uint16_t bits) {
  static const std::vector<float> table = [] {
    std::vector<float> made(1 << 16);
    for (uint32_t h = 0; h < made.size(); ++h) {
      uint32_t sign = (h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 0x3ff, wide;
      if (exponent == 31)
        wide = sign | 0x7f800000 | mantissa << 13;
      else if (exponent)
        wide = sign | (exponent + 112) << 23 | mantissa << 13;
      else {
        float value = mantissa * 0x1p-24f;
        memcpy(&wide, &value, 4);
        wide |= sign;
      }
      memcpy(&made[h], &wide, 4);
    }
    return made;
  }();
  return table[bits];
}

//===-- Shuffles and votes ---------------------------------------------------===//

namespace {
struct Shuffle {
  uint32_t value, operand, clamp; ///< the last two of shfl.sync
  bool inRange;
};
enum class Way { Up, Down, Xor, Index };
struct Vote {
  uint32_t value, result;
};
} // namespace

template <Way way> static void shuffle(Block &block, Warp &, uint32_t warp, Meeting &m) {
  uint32_t values[32];
  for (int lane = 0; lane < 32; ++lane)
    if (m.mask >> lane & 1)
      values[lane] = static_cast<Shuffle *>(m.arguments[lane])->value;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(m.mask >> lane & 1))
      continue;
    Shuffle &s = *static_cast<Shuffle *>(m.arguments[lane]);
    // As in PTX: segments of the warp, and the bound inside of one.
    int operand = s.operand & 31, segment = s.clamp >> 8 & 31, bound = s.clamp & 31;
    int maxLane = (lane & segment) | (bound & ~segment), minLane = lane & segment, from;
    if constexpr (way == Way::Up)
      from = lane - operand, s.inRange = from >= maxLane;
    else if constexpr (way == Way::Down)
      from = lane + operand, s.inRange = from <= maxLane;
    else if constexpr (way == Way::Xor)
      from = lane ^ operand, s.inRange = from <= maxLane;
    else
      from = minLane | (operand & ~segment), s.inRange = from <= maxLane;
    if (!s.inRange)
      from = lane;
    if (!(m.mask >> from & 1))
      fail(block.threads[warp * 32 + lane], "shfl.sync reads lane %d, which is not in its mask %#x", from, m.mask);
    s.value = values[from];
  }
}

template <Way way>
static uint64_t shuffled(Thread *t, uint32_t site, uint32_t mask, uint32_t value, uint32_t operand, uint32_t clamp) {
  Shuffle s = {value, operand, clamp, false};
  meet(*t, site, mask, "shfl.sync", false, &s, shuffle<way>);
  return s.value | static_cast<uint64_t>(s.inRange) << 32;
}

/// Combines the values of all lanes.
template <typename F>
static uint32_t combine(Thread *t, uint32_t site, uint32_t mask, const char *name, uint32_t value, F) {
  Vote v = {value, 0};
  meet(*t, site, mask, name, false, &v, [](Block &, Warp &, uint32_t, Meeting &m) {
    uint32_t result = 0;
    bool first = true;
    for (int lane = 0; lane < 32; ++lane)
      if (m.mask >> lane & 1) {
        uint32_t x = static_cast<Vote *>(m.arguments[lane])->value;
        result = first ? F::first(x, lane) : F::next(result, x, lane);
        first = false;
      }
    for (int lane = 0; lane < 32; ++lane)
      if (m.mask >> lane & 1)
        static_cast<Vote *>(m.arguments[lane])->result = result;
  });
  return v.result;
}

#define OPTC_COMBINE(NAME, FIRST, NEXT)                                                                                \
  namespace {                                                                                                          \
  struct NAME {                                                                                                        \
    static uint32_t first(uint32_t x, int lane) { return (void)lane, FIRST; }                                          \
    static uint32_t next(uint32_t r, uint32_t x, int lane) { return (void)lane, NEXT; }                                \
  };                                                                                                                   \
  }
OPTC_COMBINE(Ballot, (x & 1) << lane, r | (x & 1) << lane)
OPTC_COMBINE(Sum, x, r + x)
OPTC_COMBINE(And, x, r &x)
OPTC_COMBINE(Or, x, r | x)
OPTC_COMBINE(Xor, x, r ^ x)
OPTC_COMBINE(UMin, x, std::min(r, x))
OPTC_COMBINE(UMax, x, std::max(r, x))
OPTC_COMBINE(SMin, x, static_cast<uint32_t>(std::min(static_cast<int32_t>(r), static_cast<int32_t>(x))))
OPTC_COMBINE(SMax, x, static_cast<uint32_t>(std::max(static_cast<int32_t>(r), static_cast<int32_t>(x))))
#undef OPTC_COMBINE

//===-- Matrices -------------------------------------------------------------===//

namespace {
/// What a lane gives to a matrix operation.
struct MatrixCall {
  void *result;
  const void *operands;
};
} // namespace

/// ldmatrix: lane 8 * j + r gives the address of row r of matrix j.
template <int count, bool transposed> static void loadMatrices(Block &block, Warp &, uint32_t warp, Meeting &m) {
  Thread *lanes = &block.threads[warp * 32];
  for (int j = 0; j < count; ++j) {
    uint16_t matrix[8][8];
    for (int r = 0; r < 8; ++r) {
      void *row;
      Thread &lane = lanes[8 * j + r];
      memcpy(&row, static_cast<MatrixCall *>(m.arguments[8 * j + r])->operands, sizeof row);
      if (reinterpret_cast<uint64_t>(row) % 16)
        fail(lane, "ldmatrix: the row at shared+%lld is not aligned to 16 bytes",
             static_cast<long long>(static_cast<uint8_t *>(row) - lane.shared));
      bool random = std::exchange(block.engine.modes.random, false); // no switch inside
      accessShared(lane, row, 16, false, "ldmatrix");
      block.engine.modes.random = random;
      memcpy(matrix[r], row, 16);
    }
    for (int lane = 0; lane < 32; ++lane) {
      auto *to = static_cast<uint16_t *>(static_cast<MatrixCall *>(m.arguments[lane])->result) + 2 * j;
      int g = lane / 4, t = lane % 4 * 2;
      to[0] = transposed ? matrix[t][g] : matrix[g][t];
      to[1] = transposed ? matrix[t + 1][g] : matrix[g][t + 1];
    }
  }
}

template <int count> static void storeMatrices(Block &block, Warp &, uint32_t warp, Meeting &m) {
  Thread *lanes = &block.threads[warp * 32];
  for (int j = 0; j < count; ++j)
    for (int r = 0; r < 8; ++r) {
      void *row;
      Thread &lane = lanes[8 * j + r];
      memcpy(&row, static_cast<MatrixCall *>(m.arguments[8 * j + r])->operands, sizeof row);
      if (reinterpret_cast<uint64_t>(row) % 16)
        fail(lane, "stmatrix: the row at shared+%lld is not aligned to 16 bytes",
             static_cast<long long>(static_cast<uint8_t *>(row) - lane.shared));
      bool random = std::exchange(block.engine.modes.random, false);
      accessShared(lane, row, 16, true, "stmatrix");
      block.engine.modes.random = random;
      for (int t = 0; t < 4; ++t) {
        auto *values = static_cast<const uint8_t *>(static_cast<MatrixCall *>(m.arguments[r * 4 + t])->operands) + 8;
        memcpy(static_cast<uint8_t *>(row) + 4 * t, values + 4 * j, 4);
      }
    }
}

// Element `e` of a register as what products add up.
static float halfAt(uint32_t r, int e) { return fromHalf(static_cast<uint16_t>(r >> 16 * e)); }
static float bfloatAt(uint32_t r, int e) { return fromBFloat(static_cast<uint16_t>(r >> 16 * e)); }
static float tf32At(uint32_t r, int) {
  r &= 0xffffe000u;
  float value;
  memcpy(&value, &r, 4);
  return value;
}
static int32_t byteAt(uint32_t r, int e) { return static_cast<int8_t>(r >> 8 * e); }

/// mma: the operands of a lane are a (4 registers), b (2), c (4).
template <auto elementAt, int perRegister> static void multiplyFragments(Block &, Warp &, uint32_t, Meeting &m) {
  using Sum = decltype(elementAt(0, 0));
  constexpr int kHalf = 4 * perRegister, k = 2 * kHalf;
  static thread_local Sum a[16][k], b[8][k];
  for (int lane = 0; lane < 32; ++lane) {
    int g = lane / 4, t = lane % 4 * perRegister;
    auto *registers = static_cast<const uint32_t *>(static_cast<MatrixCall *>(m.arguments[lane])->operands);
    for (int e = 0; e < perRegister; ++e) {
      a[g][t + e] = elementAt(registers[0], e);
      a[g + 8][t + e] = elementAt(registers[1], e);
      a[g][t + e + kHalf] = elementAt(registers[2], e);
      a[g + 8][t + e + kHalf] = elementAt(registers[3], e);
      b[g][t + e] = elementAt(registers[4], e);
      b[g][t + e + kHalf] = elementAt(registers[5], e);
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    auto *call = static_cast<MatrixCall *>(m.arguments[lane]);
    Sum c[4];
    memcpy(c, static_cast<const uint32_t *>(call->operands) + 6, 16);
    for (int e = 0; e < 4; ++e) {
      int row = lane / 4 + 8 * (e >> 1), column = lane % 4 * 2 + (e & 1);
      Sum sum = 0;
      for (int i = 0; i < k; ++i)
        sum += a[row][i] * b[column][i];
      c[e] += sum;
    }
    memcpy(call->result, c, 16);
  }
}

static void meetMatrix(Thread *t, uint32_t site, const char *name, void *result, const void *operands,
                       void (*run)(Block &, Warp &, uint32_t, Meeting &)) {
  MatrixCall call = {result, operands};
  meet(*t, site, kAllLanes, name, true, &call, run);
}

//===-- What generated code calls -------------------------------------------===//

namespace optc::emulator {

uint64_t shuffleUp(Thread *t, uint32_t site, uint32_t mask, uint32_t v, uint32_t b, uint32_t c) {
  return shuffled<Way::Up>(t, site, mask, v, b, c);
}
uint64_t shuffleDown(Thread *t, uint32_t site, uint32_t mask, uint32_t v, uint32_t b, uint32_t c) {
  return shuffled<Way::Down>(t, site, mask, v, b, c);
}
uint64_t shuffleXor(Thread *t, uint32_t site, uint32_t mask, uint32_t v, uint32_t b, uint32_t c) {
  return shuffled<Way::Xor>(t, site, mask, v, b, c);
}
uint64_t shuffleIndex(Thread *t, uint32_t site, uint32_t mask, uint32_t v, uint32_t b, uint32_t c) {
  return shuffled<Way::Index>(t, site, mask, v, b, c);
}
uint32_t ballot(Thread *t, uint32_t site, uint32_t mask, uint32_t p) {
  return combine(t, site, mask, "vote.sync", p, Ballot());
}
uint32_t voteAll(Thread *t, uint32_t site, uint32_t mask, uint32_t p) {
  return combine(t, site, mask, "vote.sync", p & 1, And());
}
uint32_t voteAny(Thread *t, uint32_t site, uint32_t mask, uint32_t p) {
  return combine(t, site, mask, "vote.sync", p & 1, Or());
}
uint32_t reduceAdd(Thread *t, uint32_t site, uint32_t v, uint32_t mask) {
  return combine(t, site, mask, "redux.sync.add", v, Sum());
}
uint32_t reduceAnd(Thread *t, uint32_t site, uint32_t v, uint32_t mask) {
  return combine(t, site, mask, "redux.sync.and", v, And());
}
uint32_t reduceOr(Thread *t, uint32_t site, uint32_t v, uint32_t mask) {
  return combine(t, site, mask, "redux.sync.or", v, Or());
}
uint32_t reduceXor(Thread *t, uint32_t site, uint32_t v, uint32_t mask) {
  return combine(t, site, mask, "redux.sync.xor", v, Xor());
}
uint32_t reduceUMin(Thread *t, uint32_t site, uint32_t v, uint32_t mask) {
  return combine(t, site, mask, "redux.sync.umin", v, UMin());
}
uint32_t reduceUMax(Thread *t, uint32_t site, uint32_t v, uint32_t mask) {
  return combine(t, site, mask, "redux.sync.umax", v, UMax());
}
uint32_t reduceMin(Thread *t, uint32_t site, uint32_t v, uint32_t mask) {
  return combine(t, site, mask, "redux.sync.min", v, SMin());
}
uint32_t reduceMax(Thread *t, uint32_t site, uint32_t v, uint32_t mask) {
  return combine(t, site, mask, "redux.sync.max", v, SMax());
}
uint32_t elect(Thread *t, uint32_t) {
  Warp &warp = t->block->warps[t->warp];
  if (warp.live != kAllLanes)
    fail(*t, "elect.sync of a whole warp, whose live lanes are %#x", warp.live);
  return t->lane == 0;
}

void setMaxRegisters(Thread *t, uint32_t, uint32_t count) {
  requireChip(*t, "setmaxnreg", /*onlyThat=*/true);
  if (count < 24 || count > 256 || count % 8)
    fail(*t, "setmaxnreg of %u registers; 24 to 256 in steps of 8 are possible", count);
}

uint32_t loadMatrix1(Thread *t, uint32_t site, void *row) {
  uint32_t result;
  meetMatrix(t, site, "ldmatrix", &result, &row, loadMatrices<1, false>);
  return result;
}
uint32_t loadMatrix1T(Thread *t, uint32_t site, void *row) {
  uint32_t result;
  meetMatrix(t, site, "ldmatrix", &result, &row, loadMatrices<1, true>);
  return result;
}
void loadMatrix2(Thread *t, uint32_t site, void *result, const void *operands, uint32_t) {
  meetMatrix(t, site, "ldmatrix", result, operands, loadMatrices<2, false>);
}
void loadMatrix2T(Thread *t, uint32_t site, void *result, const void *operands, uint32_t) {
  meetMatrix(t, site, "ldmatrix", result, operands, loadMatrices<2, true>);
}
void loadMatrix4(Thread *t, uint32_t site, void *result, const void *operands, uint32_t) {
  meetMatrix(t, site, "ldmatrix", result, operands, loadMatrices<4, false>);
}
void loadMatrix4T(Thread *t, uint32_t site, void *result, const void *operands, uint32_t) {
  meetMatrix(t, site, "ldmatrix", result, operands, loadMatrices<4, true>);
}
void storeMatrix4(Thread *t, uint32_t site, void *row, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  struct {
    void *row;
    uint32_t values[4];
  } operands = {row, {a, b, c, d}};
  meetMatrix(t, site, "stmatrix", nullptr, &operands, storeMatrices<4>);
}

void mmaF16(Thread *t, uint32_t site, void *result, const void *operands, uint32_t) {
  meetMatrix(t, site, "mma.sync", result, operands, multiplyFragments<halfAt, 2>);
}
void mmaBF16(Thread *t, uint32_t site, void *result, const void *operands, uint32_t) {
  meetMatrix(t, site, "mma.sync", result, operands, multiplyFragments<bfloatAt, 2>);
}
void mmaTF32(Thread *t, uint32_t site, void *result, const void *operands, uint32_t) {
  meetMatrix(t, site, "mma.sync", result, operands, multiplyFragments<tf32At, 1>);
}
void mmaS8(Thread *t, uint32_t site, void *result, const void *operands, uint32_t) {
  meetMatrix(t, site, "mma.sync", result, operands, multiplyFragments<byteAt, 4>);
}

} // namespace optc::emulator
