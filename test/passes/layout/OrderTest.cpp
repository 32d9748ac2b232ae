//===- OrderTest.cpp - orders of dimensions through views -----------------===//
#include "optc/passes/layout/Layout.h"
#include <gtest/gtest.h>

using namespace optc::layout;

namespace {

/// Constants, and negative numbers for sizes known at run time only: equal ones are equal sizes.
llvm::SmallVector<Size> sizes(std::initializer_list<int64_t> list) {
  llvm::SmallVector<Size> result;
  for (int64_t size : list)
    result.push_back(size >= 0 ? Size{size, {}, -1} : Size{mlir::ShapedType::kDynamic, {}, -size});
  return result;
}

std::optional<Order> through(std::initializer_list<int64_t> source, std::initializer_list<int64_t> result,
                             Order order) {
  return throughView(sizes(source), sizes(result), order);
}

const Order kChannelsLast = {0, 2, 3, 1};

TEST(ThroughView, SplitsAndMerges) {
  EXPECT_EQ(through({1, 6, 8, 5}, {1, 2, 3, 8, 5}, kChannelsLast), Order({0, 3, 4, 1, 2}));
  EXPECT_EQ(through({2, 2, 3, 8, 5}, {2, 6, 8, 5}, {0, 3, 4, 1, 2}), Order({0, 2, 3, 1}));
  EXPECT_EQ(through({2, 6, 8, 5}, {2, 6, 40}, kChannelsLast), Order({0, 2, 1}));
  EXPECT_EQ(through({2, 6, 40}, {2, 6, 8, 5}, {0, 2, 1}), kChannelsLast);
}

TEST(ThroughView, DimensionsOfOneElementMoveFreely) {
  EXPECT_EQ(through({2, 6, 1, 1}, {2, 6}, kChannelsLast), Order({0, 1}));
  EXPECT_EQ(through({2, 6, 1, 5}, {1, 2, 6, 5}, kChannelsLast), Order({0, 1, 3, 2}));
}

TEST(ThroughView, SizesOfRunTime) {
  EXPECT_EQ(through({-1, 6, -2, -3}, {-1, 6, -4}, kChannelsLast), Order({0, 2, 1}));
  EXPECT_EQ(through({-1, 24, -4}, {-1, 6, 2, 2, -2, -3}, {0, 2, 1}), Order({0, 4, 5, 1, 2, 3}));
  // Which dimension of the result holds which of the source is not known.
  EXPECT_EQ(through({-1, -2, 6}, {-3, -4, 6}, {1, 0, 2}), std::nullopt);
}

TEST(ThroughView, RefusesWhatIsNoNeighbourInMemory) {
  EXPECT_EQ(through({2, 6, 8, 5}, {2, 48, 5}, kChannelsLast), std::nullopt);
  EXPECT_EQ(through({2, 6, 8, 5}, {12, 8, 5}, kChannelsLast), std::nullopt);
  EXPECT_EQ(through({2, 3}, {3, 2}, {1, 0}), std::nullopt);
  EXPECT_EQ(through({2, 0, 3}, {0}, {1, 0, 2}), std::nullopt);
  // Merged in the wrong order.
  EXPECT_EQ(through({2, 6, 8, 5}, {2, 6, 40}, {0, 3, 2, 1}), std::nullopt);
}

TEST(OrderByLoops, FreeDimensionsFollowTheOneBefore) {
  EXPECT_EQ(orderByLoops({0, 1, -1, 2}, {0, 2, 1}), Order({0, 3, 1, 2}));
  EXPECT_EQ(orderByLoops({-1, 1, 0}, {0, 1}), Order({0, 2, 1}));
  EXPECT_EQ(orderByLoops({-1, -1}, {}), Order({0, 1}));
}

TEST(SameMemory, IgnoresDimensionsOfOneElement) {
  EXPECT_TRUE(sameMemory({2, 6, 1, 1}, {0, 1, 2, 3}, kChannelsLast));
  EXPECT_FALSE(sameMemory({2, 6, 1, 2}, {0, 1, 2, 3}, kChannelsLast));
}

} // namespace
