//===- RunFilesTest.cpp - the files, options and comparison of optc-run ---===//
#include "optc/tools/run/Options.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace optc::run;

template <typename T> static Value tensor(optc_dtype dtype, std::vector<int64_t> dims, std::vector<T> data) {
  Value v;
  v.kind = OPTC_TENSOR;
  v.dtype = dtype;
  v.dims = dims;
  v.data.resize(data.size() * sizeof(T));
  if (!data.empty())
    memcpy(v.data.data(), data.data(), v.data.size());
  return v;
}
static Value floats(std::vector<float> data) { return tensor(OPTC_FLOAT, {int64_t(data.size())}, data); }

//===-- protobuf -------------------------------------------------------------//

TEST(Proto, RoundTripsEveryKind) {
  Value words, sequence, optional, absent;
  words.kind = OPTC_STRINGS;
  words.dtype = OPTC_STRING;
  words.dims = {2};
  words.strings = {"ä", ""};
  sequence.kind = OPTC_SEQUENCE;
  sequence.items = {floats({1, 2}), floats({})};
  optional.kind = OPTC_OPTIONAL;
  optional.items = {sequence};
  absent.kind = OPTC_OPTIONAL;
  struct Case {
    Value v;
    int32_t kind;
  } cases[] = {{floats({1, NAN}), 0}, {words, 0},  {sequence, 1},
               {optional, 2},         {absent, 2}, {tensor<uint8_t>(OPTC_INT4, {3}, {0x78, 0x02}), 0}};
  for (const Case &c : cases) {
    Value back;
    std::string error;
    ASSERT_TRUE(parseProto(writeProto(c.v, "name"), c.kind, back, error)) << error;
    EXPECT_EQ(compare("o", back, c.v, {}), "");
  }
}

TEST(Proto, ReadsTypedFields) {
  Value v;
  std::string error;
  // dims 2 (packed), type float16, int32_data packed 0x3c00 0x4000
  ASSERT_TRUE(parseProto(std::string("\x0a\x01\x02\x10\x0a\x2a\x05\x80\x78\x80\x80\x01", 12), 0, v, error)) << error;
  EXPECT_EQ(element(v, 0), 1);
  EXPECT_EQ(element(v, 1), 2);
}

TEST(Proto, RefusesDamage) {
  std::string good = writeProto(floats({1, 2, 3}), "x");
  for (size_t n = 1; n < good.size(); ++n) {
    Value v;
    std::string error;
    parseProto(good.substr(0, n), int32_t(n & 3), v,
               error); // must not crash; short files may happen to be valid messages
    for (int flip = 0; flip < 8; ++flip) {
      std::string bad = good;
      bad[n] = char(bad[n] ^ (1 << flip));
      Value w;
      parseProto(bad, 0, w, error);
    }
  }
  Value v;
  std::string error;
  EXPECT_FALSE(parseProto(good.substr(0, good.size() - 1), 0, v, error));
  EXPECT_EQ(error, "it is not a TensorProto");
  std::string nested;
  for (int i = 0; i < 100; ++i)
    nested = "\x2a" + std::string(1, char(nested.size() & 0x7f)) + nested.substr(0, 127);
  EXPECT_FALSE(parseProto(nested, 1, v, error));
}

//===-- npy ------------------------------------------------------------------//

static std::string npy(const std::string &header, const std::string &data) {
  std::string s("\x93NUMPY\x01\x00", 8);
  s += char(header.size() & 255);
  s += char(header.size() >> 8);
  return s + header + data;
}

TEST(Npy, RoundTripsEveryType) {
  for (optc_dtype t = 1; t < OPTC_NUM_DTYPES; ++t) {
    Value v = randomValue(t, {3, 2}, 7), back;
    std::string error;
    ASSERT_TRUE(parseNpy(writeNpy(v), t, back, error)) << optc_dtype_name(t) << error;
    EXPECT_EQ(compare("o", back, v, {0, 0}), "") << optc_dtype_name(t);
    EXPECT_EQ(writeNpy(v).find('\n') % 64, 63u);
  }
}

TEST(Npy, ColumnMajor) {
  float data[4] = {1, 3, 2, 4};
  Value v;
  std::string error;
  ASSERT_TRUE(parseNpy(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n",
                           std::string(reinterpret_cast<char *>(data), 16)),
                       0, v, error))
      << error;
  EXPECT_EQ(element(v, 1), 2);
}

TEST(Npy, RefusesWhatItCannotRead) {
  Value v;
  std::string error;
  EXPECT_FALSE(parseNpy("x", 0, v, error));
  EXPECT_FALSE(parseNpy(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "aaaa"), 0, v, error));
  EXPECT_EQ(error, "its type '>f4' is not supported; little-endian numbers, bool and strings are");
  EXPECT_FALSE(
      parseNpy(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "aaaa"), 0, v = Value(), error));
  EXPECT_EQ(error, "its type '|O' is not supported; little-endian numbers, bool and strings are");
  EXPECT_FALSE(parseNpy(npy("{'descr': '', 'fortran_order': False, 'shape': (1,), }", "aaaa"), 0, v = Value(), error));
  EXPECT_EQ(error, "its header is damaged: {'descr': '', 'fortran_order': False, 'shape': (1,), }");
  EXPECT_FALSE(
      parseNpy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "aaaa"), 0, v = Value(), error));
  EXPECT_EQ(error, "its data is cut off");
  EXPECT_FALSE(
      parseNpy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999999,9999999999999999), }", "aaaa"),
               0, v = Value(), error));
  std::string good = writeNpy(floats({1, 2, 3}));
  for (size_t n = 0; n < good.size(); ++n) {
    Value w;
    parseNpy(good.substr(0, n), 0, w, error);
    std::string bad = good;
    bad[n] = char(bad[n] ^ 0x55);
    parseNpy(bad, OPTC_BFLOAT16, w = Value(), error);
    parseNpz(bad, "x", 0, w = Value(), error);
  }
}

//===-- comparison -----------------------------------------------------------//

TEST(Compare, ToleranceAndSpecialValues) {
  EXPECT_EQ(compare("y", floats({1, NAN, INFINITY}), floats({1.0009f, NAN, INFINITY}), {1e-3, 0}), "");
  EXPECT_EQ(compare("y", floats({1, 2}), floats({1, 2.5f}), {1e-3, 1e-7}),
            "output 'y' differs at [1]: got 2, expected 2.5; 1 of 2 elements differ, the largest error is 0.5 at [1] "
            "(allowed: 1e-07 + 0.001 * |expected|)");
  EXPECT_NE(compare("y", floats({1}), floats({INFINITY}), {1e-3, 0}), "");
  EXPECT_NE(compare("y", floats({NAN}), floats({1}), {1e9, 1e9}), "");
  EXPECT_EQ(compare("y", floats({1}), floats({1, 2}), {}), "output 'y' is float32[1], expected float32[2]");
  EXPECT_EQ(compare("y", floats({1}), tensor<double>(OPTC_DOUBLE, {1}, {1}), {}),
            "output 'y' is float32[1], expected float64[1]");
  EXPECT_NE(compare("y", tensor<int64_t>(OPTC_INT64, {1}, {INT64_MAX}),
                    tensor<int64_t>(OPTC_INT64, {1}, {INT64_MAX - 1}), {0, 0.5})
                .find("9223372036854775806"),
            0u);
}

TEST(Compare, SmallTypes) {
  EXPECT_EQ(element(tensor<uint8_t>(OPTC_FLOAT8E4M3FN, {1}, {0x7e}), 0), 448);
  EXPECT_EQ(element(tensor<uint8_t>(OPTC_FLOAT8E5M2, {1}, {0x7b}), 0), 57344);
  EXPECT_EQ(element(tensor<uint8_t>(OPTC_FLOAT8E8M0, {1}, {128}), 0), 2);
  EXPECT_EQ(element(tensor<uint8_t>(OPTC_FLOAT4E2M1, {2}, {0xf1}), 1), -6);
  EXPECT_EQ(element(tensor<uint16_t>(OPTC_FLOAT16, {1}, {1}), 0), std::ldexp(1.0, -24));
  EXPECT_TRUE(std::isnan(element(tensor<uint8_t>(OPTC_FLOAT8E4M3FNUZ, {1}, {0x80}), 0)));
}

//===-- options --------------------------------------------------------------//

static int parse(std::vector<const char *> args, Options &o) {
  args.insert(args.begin(), "optc-run");
  int code = -1;
  testing::internal::CaptureStderr();
  bool ok = parseOptions(int(args.size()), const_cast<char **>(args.data()), false, o, code);
  testing::internal::GetCapturedStderr();
  return ok ? 0 : code;
}

TEST(Options, Parses) {
  Options o;
  ASSERT_EQ(parse({"a.so", "--input", "x=y=in.npy", "--bench=0.5", "--rtol=1e-2", "--atol", "0", "--threads", "2",
                   "--dim=N=4"},
                  o),
            0);
  EXPECT_EQ(o.inputs[0], "x=y=in.npy");
  EXPECT_EQ(o.benchSeconds, 0.5);
  EXPECT_EQ(o.tolerance.relative, 1e-2);
  EXPECT_EQ(o.threads, 2);
  EXPECT_EQ(o.dims["N"], 4);
}

TEST(Options, RefusesWithTwo) {
  const std::vector<std::vector<const char *>> wrong = {{},
                                                        {"a", "b"},
                                                        {"a", "--input"},
                                                        {"a", "--input", "x"},
                                                        {"a", "--bench=-1"},
                                                        {"a", "--threads", "0"},
                                                        {"a", "--rtol", "x"},
                                                        {"a", "--nothing"},
                                                        {"a", "--info=1"},
                                                        {"a", "--dim", "N=-1"}};
  for (const std::vector<const char *> &args : wrong) {
    Options o;
    EXPECT_EQ(parse(args, o), int(BadUsage));
  }
}

TEST(Files, NamesOfTensors) { EXPECT_EQ(fileName("a/b:0 ä-_.x"), "a_b_0___-_.x"); }
