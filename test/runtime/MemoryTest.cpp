//===- MemoryTest.cpp - what host programs do with the run's memory -------===//
#include "Support.h"
#include <algorithm>
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

//===-- optc_rt_solve_arena --------------------------------------------------//

namespace {
struct Solved {
  std::vector<int64_t> bytes;
  std::vector<int32_t> lifetimes;
  std::vector<void *> buffers;
  int64_t taken = 0;

  void solve(optc_host *h) {
    buffers.resize(bytes.size());
    int64_t mark = optc_rt_mark(h);
    optc_rt_solve_arena(h, int32_t(bytes.size()), bytes.data(), lifetimes.data(), buffers.data());
    taken = optc_rt_mark(h) - mark;
  }
  /// Aligned, and apart from all that is in use at the same time.
  bool isValid() const {
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (uintptr_t(buffers[i]) % 64)
        return false;
      for (size_t j = 0; j < i; ++j) {
        auto *a = static_cast<char *>(buffers[i]), *b = static_cast<char *>(buffers[j]);
        bool meet = lifetimes[2 * i] <= lifetimes[2 * j + 1] && lifetimes[2 * j] <= lifetimes[2 * i + 1];
        if (meet && a < b + std::max<int64_t>(bytes[j], 1) && b < a + std::max<int64_t>(bytes[i], 1))
          return false;
      }
    }
    return true;
  }
};
} // namespace

TEST(SolveArena, ChainsShareTwoPlaces) {
  EXPECT_EQ(inModel([](optc_host *h) {
              Solved s;
              for (int32_t i = 0; i < 50; ++i) {
                s.bytes.push_back(1000);
                s.lifetimes.insert(s.lifetimes.end(), {i, i + 1});
              }
              s.solve(h);
              EXPECT_TRUE(s.isValid());
              EXPECT_EQ(s.taken, 2 * 1024);
              // The same point of the program with other sizes, and with the first ones again.
              std::vector<void *> before = s.buffers;
              s.bytes[3] = 5000;
              s.bytes[10] = 0;
              s.solve(h);
              EXPECT_TRUE(s.isValid());
              EXPECT_EQ(s.taken, 5056 + 1024);
              s.bytes[3] = s.bytes[10] = 1000;
              s.solve(h);
              EXPECT_EQ(s.taken, 2 * 1024);
              for (size_t i = 0; i < before.size(); ++i)
                EXPECT_EQ(static_cast<char *>(s.buffers[i]) - static_cast<char *>(s.buffers[0]),
                          static_cast<char *>(before[i]) - static_cast<char *>(before[0]));
            }),
            "");
}

TEST(SolveArena, AnySizesAndLifetimes) {
  EXPECT_EQ(inModel([](optc_host *h) {
              uint32_t seed = 1;
              auto random = [&](uint32_t below) { return (seed = seed * 1664525 + 1013904223) / 65536 % below; };
              std::deque<Solved> points(12);
              for (Solved &s : points)
                for (uint32_t n = random(40) + 1; s.bytes.size() < n;) {
                  s.bytes.push_back(0);
                  auto first = int32_t(random(30));
                  s.lifetimes.insert(s.lifetimes.end(), {first, first + int32_t(random(8))});
                }
              int64_t mark = optc_rt_mark(h);
              for (int round = 0; round < 300; ++round) {
                Solved &s = points[random(12)];
                for (int64_t &size : s.bytes)
                  size = random(5) ? int64_t(random(5000)) : 0;
                s.solve(h);
                ASSERT_TRUE(s.isValid()) << round;
                optc_rt_release(h, mark);
              }
            }),
            "");
}

TEST(SolveArena, RefusesSizesThatAreNone) {
  auto solve = [](std::vector<int64_t> bytes) {
    return inModel([&](optc_host *h) {
      static const int32_t lifetimes[] = {0, 1, 1, 2};
      void *buffers[2];
      optc_rt_solve_arena(h, 2, bytes.data(), lifetimes, buffers);
      ADD_FAILURE() << "a failing service must not return";
    });
  };
  EXPECT_EQ(solve({64, -1}), "a size is negative or too large (-1 bytes)");
  EXPECT_EQ(solve({INT64_MAX, 64}).substr(0, 13), "out of memory");
  EXPECT_EQ(solve({INT64_MAX / 5, INT64_MAX / 5}).substr(0, 13), "out of memory");
}
