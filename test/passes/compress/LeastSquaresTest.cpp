//===- LeastSquaresTest.cpp - fit a layer to its outputs ------------------===//
#include "optc/passes/compress/LeastSquares.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace optc;

/// Numbers in [-1, 1) that are the same everywhere.
static float noise(uint32_t &state) {
  state = state * 1664525u + 1013904223u;
  return static_cast<float>(state >> 8) / (1 << 23) - 1;
}

TEST(LeastSquares, FactorsAndSolves) {
  // L = [[2], [1, 3], [-1, 0.5, 1.5]]
  std::vector<double> matrix = {4, 2, -2, 2, 10, 0.5, -2, 0.5, 3.5};
  std::vector<double> full = matrix;
  ASSERT_TRUE(choleskyFactor(matrix, 3));
  EXPECT_DOUBLE_EQ(matrix[0], 2);
  EXPECT_DOUBLE_EQ(matrix[3], 1);
  EXPECT_DOUBLE_EQ(matrix[4], 3);
  EXPECT_DOUBLE_EQ(matrix[6], -1);
  EXPECT_DOUBLE_EQ(matrix[7], 0.5);
  EXPECT_DOUBLE_EQ(matrix[8], 1.5);
  std::vector<double> x = {0.5, -2, 3}, b(3);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      b[i] += full[i * 3 + j] * x[j];
  choleskySolve(matrix, 3, b);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(b[i], x[i], 1e-14);
}

TEST(LeastSquares, RefusesWhatIsNotPositiveDefinite) {
  for (std::vector<double> matrix :
       {std::vector<double>{1, 2, 2, 1}, {0, 0, 0, 0}, {1, 0, 0, NAN}, {INFINITY, 0, 0, 1}})
    EXPECT_FALSE(choleskyFactor(matrix, 2));
}

TEST(LeastSquares, FindsTheLayerThatMadeTheOutputs) {
  constexpr int in = 5, out = 3;
  uint32_t state = 7;
  std::vector<double> w(in * out), bias(out);
  for (double &v : w)
    v = noise(state);
  for (double &v : bias)
    v = noise(state);
  LeastSquares fit(in, out);
  for (int n = 0; n < 200; ++n) {
    std::vector<float> x(in), y(out);
    for (float &v : x)
      v = noise(state);
    for (int o = 0; o < out; ++o) {
      double sum = bias[o];
      for (int i = 0; i < in; ++i)
        sum += w[o * in + i] * x[i];
      y[o] = static_cast<float>(sum);
    }
    fit.add(x, y);
  }
  EXPECT_EQ(fit.count(), 200);
  std::vector<double> foundW(in * out), foundBias(out);
  double before = fit.error(foundW, foundBias);
  ASSERT_TRUE(fit.solve(1e-9, foundW, foundBias));
  EXPECT_LT(fit.error(foundW, foundBias), before * 1e-9);
  for (int i = 0; i < in * out; ++i)
    EXPECT_NEAR(foundW[i], w[i], 1e-5);
  for (int o = 0; o < out; ++o)
    EXPECT_NEAR(foundBias[o], bias[o], 1e-5);
  // Nothing is better than what is right, so it stays.
  std::vector<double> again = w, againBias = bias;
  for (double &v : again)
    v = static_cast<float>(v);
  fit.solve(1e-9, again, againBias);
  EXPECT_LE(fit.error(again, againBias), before * 1e-9);
}

TEST(LeastSquares, OneInputMakesUpForAnotherThatIsGone) {
  // y = x0 + x1 with x1 = 2 * x0, of which only x0 is left: W = 3.
  LeastSquares fit(1, 1);
  uint32_t state = 3;
  for (int n = 0; n < 50; ++n) {
    float x = noise(state), y = 3 * x;
    fit.add(x, y);
  }
  std::vector<double> w = {1}, bias = {0};
  ASSERT_TRUE(fit.solve(1e-6, w, bias));
  EXPECT_NEAR(w[0], 3, 1e-4);
  EXPECT_NEAR(bias[0], 0, 1e-4);
}

TEST(LeastSquares, DirectionsThatSamplesLeaveOpenStayAsTheyWere) {
  // The second input is always zero: its weight is not touched.
  LeastSquares fit(2, 1);
  for (float x : {-1.0f, 0.5f, 2.0f})
    fit.add({x, 0.0f}, 4 * x);
  std::vector<double> w = {1, 7}, bias = {0};
  ASSERT_TRUE(fit.solve(1e-6, w, bias));
  EXPECT_NEAR(w[0], 4, 1e-4);
  EXPECT_NEAR(w[1], 7, 1e-9);
}

TEST(LeastSquares, NoSamplesAndNoNumbersChangeNothing) {
  std::vector<double> w = {1, 2}, bias = {3};
  LeastSquares none(2, 1);
  EXPECT_FALSE(none.solve(1e-3, w, bias));
  LeastSquares strange(2, 1);
  strange.add({NAN, 1.0f}, 1.0f);
  EXPECT_FALSE(strange.solve(1e-3, w, bias));
  EXPECT_EQ(w, (std::vector<double>{1, 2}));
  EXPECT_EQ(bias, (std::vector<double>{3}));
}
