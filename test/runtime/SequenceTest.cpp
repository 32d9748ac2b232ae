//===- SequenceTest.cpp - sequences and lists -----------------------------===//
#include "Support.h"

using namespace test;
using Ints = std::vector<int64_t>;

TEST(Sequence, VersionsAreIndependent) {
  Ints a = {1}, b = {2}, c = {3}, zero = {0};
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto empty = call(optc_op_sequence_empty, h, {}, {OPTC_INT64})[0];
              auto one = call(optc_op_sequence_insert, h, {empty, tensor(a, {1})}, {})[0];
              auto two = call(optc_op_sequence_insert, h, {one, tensor(b, {1})}, {})[0];
              auto other = call(optc_op_sequence_insert, h, {one, tensor(c, {1}), optc_tensor{}}, {})[0];
              auto front = call(optc_op_sequence_insert, h, {two, tensor(c, {1}), tensor(zero, {})}, {})[0];
              auto items = [&](optc_tensor s) {
                return valuesOf<int64_t>(call(optc_op_concat_from_sequence, h, {s}, {0, 0})[0]);
              };
              EXPECT_EQ(items(two), (Ints{1, 2}));
              EXPECT_EQ(items(other), (Ints{1, 3}));
              EXPECT_EQ(items(front), (Ints{3, 1, 2}));
              EXPECT_EQ(items(call(optc_op_sequence_erase, h, {front, tensor(zero, {})}, {})[0]), (Ints{1, 2}));
              EXPECT_EQ(items(call(optc_op_sequence_erase, h, {front}, {})[0]), (Ints{3, 1}));
              EXPECT_EQ(valuesOf<int64_t>(call(optc_op_sequence_length, h, {empty}, {})[0]), (Ints{0}));
              Ints last = {-1};
              EXPECT_EQ(valuesOf<int64_t>(call(optc_op_sequence_at, h, {front, tensor(last, {})}, {})[0]), (Ints{2}));
            }),
            "");
}

TEST(Sequence, RefusesWrongPositionsAndTypes) {
  Ints a = {1}, far = {2};
  std::vector<float> f = {1};
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto s = call(optc_op_sequence_construct, h, {tensor(a, {1})}, {})[0];
              call(optc_op_sequence_at, h, {s, tensor(far, {})}, {});
            }),
            "SequenceAt: position 2 is outside of a sequence of 1");
  EXPECT_EQ(inModel([&](optc_host *h) { call(optc_op_sequence_construct, h, {tensor(a, {1}), tensor(f, {1})}, {}); }),
            "SequenceConstruct: the item is float32, the sequence holds int64");
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto s = call(optc_op_sequence_empty, h, {}, {OPTC_FLOAT})[0];
              call(optc_op_concat_from_sequence, h, {s}, {0, 0});
            }),
            "ConcatFromSequence: the sequence is empty, so the result has no shape");
}

TEST(Sequence, SplitAndJoin) {
  Ints x = {0, 1, 2, 3, 4, 5}, two = {2}, lengths = {1, 2};
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto at = [&](optc_tensor s, int64_t i) {
                Ints p = {i};
                return call(optc_op_sequence_at, h, {s, tensor(p, {})}, {})[0];
              };
              auto columns = call(optc_op_split_to_sequence, h, {tensor(x, {2, 3})}, {1, 0})[0];
              EXPECT_EQ(dimsOf(at(columns, 1)), (Ints{2}));
              EXPECT_EQ(valuesOf<int64_t>(at(columns, 1)), (Ints{1, 4}));
              EXPECT_EQ(valuesOf<int64_t>(call(optc_op_concat_from_sequence, h, {columns}, {1, 1})[0]), x);
              auto chunks = call(optc_op_split_to_sequence, h, {tensor(x, {2, 3}), tensor(two, {})}, {1, 0})[0];
              EXPECT_EQ(dimsOf(at(chunks, 1)), (Ints{2, 1}));
              auto pieces = call(optc_op_split_to_sequence, h, {tensor(x, {2, 3}), tensor(lengths, {2})}, {-1, 0})[0];
              EXPECT_EQ(valuesOf<int64_t>(at(pieces, 1)), (Ints{1, 2, 4, 5}));
              call(optc_op_split_to_sequence, h, {tensor(x, {3, 2}), tensor(lengths, {2})}, {1, 0});
            }),
            "SplitToSequence: the lengths of split do not fit axis 1 of 2");
}

TEST(List, Stacks) {
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto list = call(optc_op_list_new, h, {}, {})[0];
              for (int64_t i = 0; i < 20; ++i) {
                int64_t mark = optc_rt_mark(h);
                Ints item = {i, -i};
                list = call(optc_op_list_append, h, {list, tensor(item, {2})}, {})[0];
                optc_rt_release(h, mark);
              }
              auto r = call(optc_op_list_stack, h, {list}, {2})[0];
              EXPECT_EQ(dimsOf(r), (Ints{20, 2}));
              EXPECT_EQ(valuesOf<int64_t>(r)[38], 19);
              auto empty = call(optc_op_list_new, h, {}, {})[0];
              EXPECT_EQ(dimsOf(call(optc_op_list_stack, h, {empty}, {3, -1})[0]), (Ints{0, 3, 0}));
              call(optc_op_list_stack, h, {list}, {3});
            }),
            "a loop's scan output: iteration 0 gives shape [2], rank 1 and the sizes known are expected");
}

TEST(List, ConcatTakesTensors) {
  auto a = strings({"a", "b"}), b = strings({"c"});
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto r = call(optc_op_list_concat, h, {tensor(a, {1, 2}), tensor(b, {1, 1})}, {1, 0})[0];
              EXPECT_EQ(stringsOf(r), (std::vector<std::string>{"a", "b", "c"}));
            }),
            "");
}

TEST(Value, CopiesAndAbsence) {
  Ints x = {1, 2};
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto optional = call(optc_op_value_copy, h, {tensor(x, {2})}, {0, -1, 0})[0],
                   absent = call(optc_op_value_copy, h, {optc_tensor{}}, {0, -1, 0})[0];
              EXPECT_NE(optional.data, x.data());
              EXPECT_EQ(valuesOf<uint8_t>(call(optc_op_value_exists, h, {optional}, {})[0])[0], 1);
              EXPECT_EQ(valuesOf<uint8_t>(call(optc_op_value_exists, h, {absent}, {})[0])[0], 0);
              EXPECT_EQ(valuesOf<int64_t>(call(optc_op_value_copy, h, {optional}, {OPTC_INT64, 1, 1})[0]), x);
              call(optc_op_value_copy, h, {absent}, {0, -1, 1});
            }),
            "an optional is read that has no value");
  EXPECT_EQ(inModel([&](optc_host *h) { call(optc_op_value_copy, h, {tensor(x, {2})}, {OPTC_FLOAT, 1, 1}); }),
            "a value is int64[2], float32 of rank 1 is expected");
}
