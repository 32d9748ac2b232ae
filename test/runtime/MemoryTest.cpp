//===- MemoryTest.cpp - what host programs do with the run's memory -------===//
#include "Support.h"
#include <cstring>

using namespace test;

static char *filled(optc_host *h, int64_t bytes, int value) {
  auto *p = static_cast<char *>(optc_rt_alloc(h, bytes));
  memset(p, value, size_t(bytes));
  return p;
}

static bool holds(const void *p, int64_t bytes, int value) {
  for (int64_t i = 0; i < bytes; ++i)
    if (static_cast<const char *>(p)[i] != char(value))
      return false;
  return true;
}

TEST(Keep, MovesDownWhatIsAboveTheMark) {
  EXPECT_EQ(inModel([](optc_host *h) {
              char *below = filled(h, 100, 1);
              int64_t mark = optc_rt_mark(h);
              char *dropped = filled(h, 1000, 2), *a = filled(h, 300, 3), *b = filled(h, 5000, 4);
              filled(h, 10, 5);
              static char outside[64];
              memset(outside, 6, sizeof(outside));
              // Out of order, one of them twice, with what is not above the mark in between.
              void *data[] = {b, below, a, outside, b, nullptr};
              int64_t bytes[] = {5000, 100, 300, 64, 5000, 0};
              optc_rt_keep(h, mark, data, bytes, 6, nullptr, 0);
              EXPECT_EQ(data[2], dropped);
              EXPECT_EQ(data[0], dropped + 320);
              EXPECT_EQ(data[4], data[0]);
              EXPECT_EQ(data[1], below);
              EXPECT_EQ(data[3], outside);
              EXPECT_EQ(data[5], nullptr);
              EXPECT_TRUE(holds(data[2], 300, 3) && holds(data[0], 5000, 4) && holds(below, 100, 1));
              // The rest is free again.
              EXPECT_EQ(optc_rt_alloc(h, 1), dropped + 320 + 5056);
            }),
            "");
}

TEST(Keep, AcrossChunks) {
  EXPECT_EQ(inModel([](optc_host *h) {
              filled(h, 1000, 1);
              int64_t mark = optc_rt_mark(h);
              void *data[4];
              int64_t bytes[4] = {30000, 60000, 200, 3 << 20};
              std::vector<int> values{10, 11, 12, 13};
              for (int i = 0; i < 4; ++i) {
                data[i] = filled(h, bytes[i], values[size_t(i)]);
                filled(h, 50000 + 100000 * i, 99);
              }
              for (int round = 0; round < 20; ++round) {
                filled(h, 40000 * round, 98);
                std::swap(data[0], data[round % 4]);
                std::swap(bytes[0], bytes[round % 4]);
                std::swap(values[0], values[size_t(round % 4)]);
                optc_rt_keep(h, mark, data, bytes, 4, nullptr, 0);
                for (int i = 0; i < 4; ++i)
                  ASSERT_TRUE(holds(data[i], bytes[i], values[size_t(i)])) << round << " " << i;
              }
            }),
            "");
}

TEST(Keep, DescriptorsOfTensors) {
  EXPECT_EQ(inModel([](optc_host *h) {
              int64_t mark = optc_rt_mark(h);
              char *first = filled(h, 500, 1);
              optc_tensor t = {}, absent = {};
              t.data = filled(h, 48, 2);
              t.dtype = OPTC_FLOAT;
              t.rank = 2;
              t.dims[0] = 3;
              t.dims[1] = 4;
              optc_tensor sequence = call(optc_op_sequence_construct, h, {t}, {})[0];
              void *handle = sequence.data, *data[] = {t.data};
              int64_t bytes[] = {48};
              optc_tensor *values[] = {&t, &absent, &sequence};
              optc_rt_keep(h, mark, data, bytes, 1, values, 3);
              EXPECT_EQ(t.data, first);
              EXPECT_EQ(data[0], first);
              EXPECT_EQ(absent.data, nullptr);
              EXPECT_EQ(sequence.data, handle);
              EXPECT_TRUE(holds(t.data, 48, 2));
              int64_t zero = 0;
              optc_tensor position = {&zero, OPTC_INT64, 0, {}};
              filled(h, 500, 3);
              EXPECT_TRUE(holds(call(optc_op_sequence_at, h, {sequence, position}, {2})[0].data, 48, 2));
            }),
            "");
}

TEST(Keep, ALoopStaysSmall) {
  EXPECT_EQ(inModel([](optc_host *h) {
              int64_t mark = optc_rt_mark(h);
              void *carried = filled(h, 70000, 0);
              int64_t bytes = 70000, before = 0;
              for (int i = 0; i < 100000; ++i) {
                optc_rt_alloc(h, 100000);
                auto *next = static_cast<char *>(optc_rt_alloc(h, bytes));
                next[0] = char(static_cast<char *>(carried)[0] + 1);
                carried = next;
                optc_rt_keep(h, mark, &carried, &bytes, 1, nullptr, 0);
                if (i == 10)
                  before = optc_context_memory(h);
              }
              EXPECT_EQ(static_cast<char *>(carried)[0], char(100000));
              EXPECT_EQ(optc_context_memory(h), before);
              EXPECT_LT(before, 1 << 20);
            }),
            "");
}
