//===- LeastSquares.cpp - fit a layer to its outputs ----------------------===//
#include "optc/passes/compress/LeastSquares.h"
#include <cassert>
#include <cmath>

using namespace llvm;
using namespace optc;

bool optc::choleskyFactor(MutableArrayRef<double> matrix, int64_t n) {
  // Row by row: each element is a product of two rows, which are contiguous.
  for (int64_t i = 0; i < n; ++i) {
    double *row = matrix.data() + i * n;
    for (int64_t j = 0; j <= i; ++j) {
      const double *other = matrix.data() + j * n;
      double sum = row[j];
      for (int64_t k = 0; k < j; ++k)
        sum -= row[k] * other[k];
      if (j < i) {
        row[j] = sum / other[j];
      } else {
        if (!(sum > 0) || !std::isfinite(sum))
          return false;
        row[i] = std::sqrt(sum);
      }
    }
  }
  return true;
}

void optc::choleskySolve(ArrayRef<double> factor, int64_t n, MutableArrayRef<double> b) {
  for (int64_t i = 0; i < n; ++i) {
    double sum = b[i];
    for (int64_t k = 0; k < i; ++k)
      sum -= factor[i * n + k] * b[k];
    b[i] = sum / factor[i * n + i];
  }
  for (int64_t i = n; i-- > 0;) {
    b[i] /= factor[i * n + i];
    for (int64_t k = 0; k < i; ++k)
      b[k] -= factor[i * n + k] * b[i];
  }
}

void LeastSquares::add(ArrayRef<float> x, ArrayRef<float> y) {
  assert(int64_t(x.size()) == inputs && int64_t(y.size()) == outputs);
  int64_t n = inputs + 1;
  auto at = [&](int64_t i) { return i < inputs ? double(x[i]) : one; };
  for (int64_t i = 0; i < n; ++i) {
    double v = at(i);
    if (v == 0) // behind a ReLU, half of them are
      continue;
    double *row = gram.data() + i * n;
    for (int64_t j = 0; j <= i; ++j)
      row[j] += v * at(j);
    double *sums = cross.data() + i * outputs;
    for (int64_t o = 0; o < outputs; ++o)
      sums[o] += v * y[o];
  }
  for (float v : y)
    squares += double(v) * v;
  ++samples;
}

double LeastSquares::error(ArrayRef<double> weights, ArrayRef<double> bias) const {
  int64_t n = inputs + 1;
  double sum = squares;
  std::vector<double> w(n);
  for (int64_t o = 0; o < outputs; ++o) {
    std::copy_n(weights.data() + o * inputs, inputs, w.data());
    w[inputs] = bias[o];
    for (int64_t i = 0; i < n; ++i) {
      double product = 0;
      for (int64_t j = 0; j < n; ++j)
        product += gram[std::max(i, j) * n + std::min(i, j)] * w[j];
      sum += w[i] * (product - 2 * cross[i * outputs + o]);
    }
  }
  return std::max(0.0, sum) / std::max<int64_t>(1, samples * outputs);
}

bool LeastSquares::solve(double ridge, MutableArrayRef<double> weights, MutableArrayRef<double> bias) {
  int64_t n = inputs + 1;
  std::vector<double> factor = gram;
  double mean = 0;
  for (int64_t i = 0; i < inputs; ++i)
    mean += gram[i * n + i] / std::max<int64_t>(1, inputs);
  double pull = ridge * mean;
  for (int64_t i = 0; i < n; ++i)
    factor[i * n + i] += pull;
  if (!(pull > 0) || !choleskyFactor(factor, n))
    return false;
  double before = error(weights, bias);
  std::vector<double> newWeights(weights.size()), newBias(bias.size()), b(n);
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t i = 0; i < n; ++i)
      b[i] = cross[i * outputs + o] + pull * (i < inputs ? weights[o * inputs + i] : bias[o]);
    choleskySolve(factor, n, b);
    std::copy_n(b.begin(), inputs, newWeights.begin() + o * inputs);
    newBias[o] = b[inputs];
  }
  if (!(error(newWeights, newBias) < before))
    return false;
  std::copy(newWeights.begin(), newWeights.end(), weights.begin());
  std::copy(newBias.begin(), newBias.end(), bias.begin());
  return true;
}
