//===- SelectionTest.cpp - TopK, NonZero, Compress, Unique, NMS -----------===//
#include "Support.h"
#include <algorithm>
#include <cmath>

using namespace test;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

TEST(TopK, TiesTakeTheLowerIndexAndNaNIsLargest) {
  Floats x = {1, 3, 3, -0.0f, 0, NAN};
  Ints k = {4};
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto r = call(optc_op_topk, h, {tensor(x, {1, 6}), tensor(k, {1})}, {-1, 1, 1}, 2);
              EXPECT_EQ(dimsOf(r[0]), (Ints{1, 4}));
              EXPECT_EQ(valuesOf<int64_t>(r[1]), (Ints{5, 1, 2, 0}));
              r = call(optc_op_topk, h, {tensor(x, {6, 1}), tensor(k, {1})}, {0, 0, 1}, 2);
              EXPECT_EQ(valuesOf<int64_t>(r[1]), (Ints{3, 4, 0, 1}));
              r = call(optc_op_topk, h, {tensor(x, {6}), tensor(k, {1})}, {0, 1, 0}, 2);
              EXPECT_EQ(valuesOf<int64_t>(r[1]), (Ints{0, 1, 2, 5}));
            }),
            "");
}

TEST(TopK, SmallTypesAndInnerAxes) {
  std::vector<uint8_t> x = {1, 200, 7, 9, 255, 0};
  Ints k = {1};
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto r = call(optc_op_topk, h, {tensor(x, {3, 2}), tensor(k, {1})}, {0, 1, 1}, 2);
              EXPECT_EQ(valuesOf<uint8_t>(r[0]), (std::vector<uint8_t>{255, 200}));
              EXPECT_EQ(valuesOf<int64_t>(r[1]), (Ints{2, 0}));
            }),
            "");
}

TEST(TopK, HeapAndSelectionAgreeWithSorting) {
  std::vector<int32_t> x(1000);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = int32_t(i * 7919 % 257);
  Ints order(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    order[i] = int64_t(i);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return x[size_t(a)] > x[size_t(b)] || (x[size_t(a)] == x[size_t(b)] && a < b);
  });
  EXPECT_EQ(inModel([&](optc_host *h) {
              for (int64_t count : {1, 5, 124, 125, 500, 1000}) {
                Ints k = {count};
                auto r = call(optc_op_topk, h, {tensor(x, {1000}), tensor(k, {1})}, {0, 1, 1}, 2);
                EXPECT_EQ(valuesOf<int64_t>(r[1]), Ints(order.begin(), order.begin() + count)) << count;
              }
            }),
            "");
}

TEST(TopK, RefusesAKThatIsTooLarge) {
  Floats x = {1, 2};
  Ints k = {3};
  EXPECT_EQ(inModel([&](optc_host *h) { call(optc_op_topk, h, {tensor(x, {2}), tensor(k, {1})}, {0, 1, 1}, 2); }),
            "TopK: k is 3, but axis 0 has 2 elements");
  EXPECT_EQ(inModel([&](optc_host *h) { call(optc_op_topk, h, {tensor(x, {2}), tensor(k, {1})}, {1, 1, 1}, 2); }),
            "TopK: axis 1 is outside of rank 1");
}

TEST(NonZero, SkipsNegativeZeroAndKnowsScalars) {
  Floats x = {1, -0.0f, 0, NAN};
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto r = call(optc_op_nonzero, h, {tensor(x, {2, 2})}, {});
              EXPECT_EQ(dimsOf(r[0]), (Ints{2, 2}));
              EXPECT_EQ(valuesOf<int64_t>(r[0]), (Ints{0, 1, 0, 1}));
              r = call(optc_op_nonzero, h, {tensor(x, {})}, {});
              EXPECT_EQ(dimsOf(r[0]), (Ints{0, 1}));
            }),
            "");
}

TEST(Compress, WithAndWithoutAxis) {
  Ints x = {1, 2, 3, 4, 5, 6};
  std::vector<uint8_t> c = {0, 1, 1};
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto r = call(optc_op_compress, h, {tensor(x, {3, 2}), tensor(c, {3}, OPTC_BOOL)}, {0});
              EXPECT_EQ(valuesOf<int64_t>(r[0]), (Ints{3, 4, 5, 6}));
              r = call(optc_op_compress, h, {tensor(x, {3, 2}), tensor(c, {3}, OPTC_BOOL)}, {OPTC_NO_AXIS});
              EXPECT_EQ(valuesOf<int64_t>(r[0]), (Ints{2, 3}));
            }),
            "");
  EXPECT_EQ(
      inModel([&](optc_host *h) { call(optc_op_compress, h, {tensor(x, {3, 2}), tensor(c, {3}, OPTC_BOOL)}, {1}); }),
      "Compress: the condition chooses slice 2, but axis 1 has 2");
}

TEST(Unique, SortedAndInOrderOfAppearance) {
  Floats x = {2, 1, 1, 3, 4, 3};
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto r = call(optc_op_unique, h, {tensor(x, {6})}, {OPTC_NO_AXIS, 1}, 4);
              EXPECT_EQ(valuesOf<float>(r[0]), (Floats{1, 2, 3, 4}));
              EXPECT_EQ(valuesOf<int64_t>(r[1]), (Ints{1, 0, 3, 4}));
              EXPECT_EQ(valuesOf<int64_t>(r[2]), (Ints{1, 0, 0, 2, 3, 2}));
              EXPECT_EQ(valuesOf<int64_t>(r[3]), (Ints{2, 1, 2, 1}));
              r = call(optc_op_unique, h, {tensor(x, {2, 3})}, {OPTC_NO_AXIS, 0}, 4);
              EXPECT_EQ(valuesOf<float>(r[0]), (Floats{2, 1, 3, 4}));
              EXPECT_EQ(valuesOf<int64_t>(r[1]), (Ints{0, 1, 3, 4}));
              EXPECT_EQ(valuesOf<int64_t>(r[2]), (Ints{0, 1, 1, 2, 3, 2}));
              EXPECT_EQ(valuesOf<int64_t>(r[3]), (Ints{1, 2, 2, 1}));
            }),
            "");
}

TEST(Unique, AlongAnAxis) {
  Floats x = {1, 0, 0, 1, 0, 0, 2, 3, 4};
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto r = call(optc_op_unique, h, {tensor(x, {3, 3})}, {0, 1}, 4);
              EXPECT_EQ(valuesOf<float>(r[0]), (Floats{1, 0, 0, 2, 3, 4}));
              EXPECT_EQ(valuesOf<int64_t>(r[2]), (Ints{0, 0, 1}));
              Floats cols = {1, 0, 1, 2, 2, 2};
              r = call(optc_op_unique, h, {tensor(cols, {2, 3})}, {-1, 1}, 4);
              EXPECT_EQ(valuesOf<float>(r[0]), (Floats{0, 1, 2, 2}));
              EXPECT_EQ(valuesOf<int64_t>(r[1]), (Ints{1, 0}));
            }),
            "");
}

TEST(NonMaxSuppression, SuppressesByIou) {
  Floats boxes = {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, -0.1f, 1, 0.9f, 0, 10, 1, 11, 0, 10.1f, 1, 11.1f, 0, 100, 1, 101};
  Floats scores = {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f}, iou = {0.5f}, least = {0.4f};
  Ints most = {3};
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto r =
                  call(optc_op_nms, h,
                       {tensor(boxes, {1, 6, 4}), tensor(scores, {1, 1, 6}), tensor(most, {1}), tensor(iou, {1})}, {0});
              EXPECT_EQ(dimsOf(r[0]), (Ints{3, 3}));
              EXPECT_EQ(valuesOf<int64_t>(r[0]), (Ints{0, 0, 3, 0, 0, 0, 0, 0, 5}));
              r = call(optc_op_nms, h,
                       {tensor(boxes, {1, 6, 4}), tensor(scores, {1, 1, 6}), tensor(most, {1}), tensor(iou, {1}),
                        tensor(least, {1})},
                       {0});
              EXPECT_EQ(valuesOf<int64_t>(r[0]), (Ints{0, 0, 3, 0, 0, 0}));
              r = call(optc_op_nms, h, {tensor(boxes, {1, 6, 4}), tensor(scores, {1, 1, 6})}, {0});
              EXPECT_EQ(dimsOf(r[0]), (Ints{0, 3}));
            }),
            "");
}
