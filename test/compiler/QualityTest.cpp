//===- QualityTest.cpp - the metrics of the guardrail ---------------------===//
#include "optc/compiler/Quality.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace optc;

TEST(Quality, Cosine) {
  EXPECT_DOUBLE_EQ(cosine({1, 0}, {2, 0}), 1);
  EXPECT_DOUBLE_EQ(cosine({1, 0}, {0, 2}), 0);
  EXPECT_DOUBLE_EQ(cosine({1, 1}, {-1, -1}), -1);
  EXPECT_NEAR(cosine({1, 1}, {1, 0}), std::sqrt(0.5), 1e-12);
  EXPECT_DOUBLE_EQ(cosine({0, 0}, {0, 0}), 1);
  EXPECT_DOUBLE_EQ(cosine({0, 0}, {1, 0}), 0);
  EXPECT_DOUBLE_EQ(cosine({NAN, 1}, {1, 1}), 0);
  EXPECT_DOUBLE_EQ(cosine({INFINITY, 1}, {INFINITY, 1}), 0);
  EXPECT_DOUBLE_EQ(cosine({}, {}), 1);
}

TEST(Quality, LargestOfEachRow) {
  EXPECT_EQ(largestOf({1, 3, 2, 5, 5, 4}, 3), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(largestOf({1, NAN, 2}, 3), (std::vector<int64_t>{-1})); // never right
  EXPECT_EQ(largestOf({-INFINITY, -1}, 1), (std::vector<int64_t>{0, 0}));
  EXPECT_TRUE(largestOf({}, 3).empty());
  EXPECT_TRUE(largestOf({1, 2}, 0).empty());
}
