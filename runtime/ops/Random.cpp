//===- Random.cpp - random numbers ----------------------------------------===//
//
// Philox 4x32-10 (Salmon et al., SC 2011): the i-th number depends on the seed and i only.
//
//===----------------------------------------------------------------------===//
#include "Common.h"
#include <math.h>
#include <sys/random.h>
#include <time.h>

using namespace optc::rt;

namespace {
struct Philox {
  uint32_t key[2];
  uint32_t salt;
  struct Block {
    uint32_t v[4];
  };
  Block operator()(uint64_t counter) const {
    uint32_t c[4] = {uint32_t(counter), uint32_t(counter >> 32), salt, 0}, k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round) {
      uint64_t a = uint64_t(0xD2511F53u) * c[0], b = uint64_t(0xCD9E8D57u) * c[2];
      uint32_t next[4] = {uint32_t(b >> 32) ^ c[1] ^ k0, uint32_t(b), uint32_t(a >> 32) ^ c[3] ^ k1, uint32_t(a)};
      memcpy(c, next, sizeof(c));
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    Block r;
    memcpy(r.v, c, sizeof(c));
    return r;
  }
  /// In [0, 1), 53 bits; two per block.
  double uniform(uint64_t i) const {
    Block b = (*this)(i >> 1);
    int at = int(i & 1) * 2;
    return double((uint64_t(b.v[at]) << 21) ^ (b.v[at + 1] >> 11)) * 0x1p-53;
  }
  /// Box-Muller; two per block.
  double normal(uint64_t i) const {
    double u = 1 - uniform(i & ~uint64_t(1)), v = uniform(i | 1), r = sqrt(-2 * log(u)), angle = 6.283185307179586 * v;
    return i & 1 ? r * sin(angle) : r * cos(angle);
  }
};
} // namespace

static Philox makePhilox(bool seeded, int64_t seed, int64_t salt) {
  Philox p = {{uint32_t(seed), 0}, uint32_t(salt)};
  if (!seeded && getrandom(p.key, sizeof(p.key), 0) != ssize_t(sizeof(p.key))) {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    p.key[0] = uint32_t(t.tv_nsec);
    p.key[1] = uint32_t(t.tv_sec);
  }
  return p;
}

OPTC_OP(random) {
  enum { Uniform, Normal, Bernoulli };
  checkCall(h, "a random operator", n, 0, attrs, 7, m, 1);
  bool like = n > 0 && in[0].data;
  auto dtype = optc_dtype(attr[1]);
  double a = floatBits(attr[4]), b = floatBits(attr[5]);
  if (!isNumber(dtype) || (attr[0] == Bernoulli && (!like || !isNumber(in[0].dtype))))
    fail(h, OPTC_RUN_FAILED, "a random operator cannot make %s", optc_dtype_name(dtype));
  out[0] = like ? makeTensor(h, dtype, in[0].rank, in[0].dims) : makeTensor(h, dtype, attrs - 7, attr + 7);
  Philox random = makePhilox(attr[2] != 0, attr[3], attr[6]);
  for (int64_t i = 0, total = count(out[0]); i < total; ++i) {
    double v = attr[0] == Normal ? a + b * random.normal(uint64_t(i)) : random.uniform(uint64_t(i));
    if (attr[0] == Bernoulli) {
      v = v < numberAt(in[0], i) ? 1 : 0;
    } else if (attr[0] == Uniform) {
      v = a + (b - a) * v;
      if (dtype == OPTC_FLOAT && float(v) >= float(b) && a < b) // rounding must not reach the open end
        v = nextafterf(float(b), float(a));
    }
    storeNumber(out[0], i, v);
  }
  return 0;
}

OPTC_OP(multinomial) {
  checkCall(h, "Multinomial", n, 1, attrs, 5, m, 1);
  const optc_tensor &x = in[0];
  auto dtype = optc_dtype(attr[1]);
  if (x.rank != 2 || !isNumber(x.dtype) || (dtype != OPTC_INT32 && dtype != OPTC_INT64) || attr[0] < 0 ||
      (x.dims[1] == 0 && x.dims[0] && attr[0]))
    fail(h, OPTC_RUN_FAILED, "Multinomial: input %s and %lld samples of %s do not fit", shapeText(x.rank, x.dims).text,
         (long long)attr[0], optc_dtype_name(dtype));
  int64_t batch = x.dims[0], classes = x.dims[1], samples = attr[0], dims[2] = {batch, samples};
  out[0] = makeTensor(h, dtype, 2, dims);
  Scratch scratch(h);
  auto *sums = allocArray<double>(h, classes);
  Philox random = makePhilox(attr[2] != 0, attr[3], attr[4]);
  for (int64_t r = 0; r < batch; ++r) {
    double largest = -INFINITY, sum = 0;
    for (int64_t c = 0; c < classes; ++c)
      largest = fmax(largest, numberAt(x, r * classes + c));
    for (int64_t c = 0; c < classes; ++c)
      sums[c] = sum += largest == -INFINITY ? 1 : exp(numberAt(x, r * classes + c) - largest);
    for (int64_t s = 0; s < samples; ++s) {
      double v = random.uniform(uint64_t(r * samples + s)) * sum;
      int64_t low = 0, high = classes - 1; // the first class whose sum is above v
      while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sums[middle] > v)
          high = middle;
        else
          low = middle + 1;
      }
      storeNumber(out[0], r * samples + s, double(low));
    }
  }
  return 0;
}
