//===- StringTest.cpp - string operators ----------------------------------===//
#include "Support.h"
#include <clocale>
#include <cmath>

using namespace test;
using Ints = std::vector<int64_t>;
using Texts = std::vector<std::string>;

/// Whether the pattern matches; "" or the error.
static std::string regex(const char *pattern, const char *text, bool &matched) {
  auto p = strings({pattern}), t = strings({text});
  return inModel([&](optc_host *h) {
    matched = valuesOf<uint8_t>(call(optc_op_regex_full_match, h, {tensor(t, {1}), tensor(p, {1})}, {})[0])[0];
  });
}

TEST(Regex, Matches) {
  struct Case {
    const char *pattern, *text;
    bool matches;
  } cases[] = {{"a*b", "aaab", true},
               {"a*b", "aaabc", false},
               {"", "", true},
               {"", "a", false},
               {"(ab|cd)+", "abcdab", true},
               {"(ab|cd)+", "abc", false},
               {R"((\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$))", "account@gmail.com", true},
               {R"((\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$))", "account@hotmail.com", false},
               {"[a-c]{2,3}", "abc", true},
               {"[a-c]{2,3}", "a", false},
               {"[^a-c]", "d", true},
               {"[^a-c]", "a", false},
               {"[]a]+", "]a", true},
               {"[a-]+", "-a", true},
               {"(?i)HeLLo", "hEllO", true},
               {"a(?i:b)c", "aBc", true},
               {"a(?i:b)c", "aBC", false},
               {"(?i:ä)", "Ä", true},
               {".", "ü", true},
               {".", "\n", false},
               {"(?s).", "\n", true},
               {R"(\d{3}-\d+)", "123-4", true},
               {R"([\d\s]+)", "1 2", true},
               {R"([^\D]+)", "12", true},
               {"[[:alpha:]]+", "abC", true},
               {"[[:^alpha:]]+", "12", true},
               {R"(\bfoo\b)", "foo", true},
               {R"(foo\b.bar)", "foo bar", true},
               {R"(\Qa.b\E)", "a.b", true},
               {R"(\Qa.b\E)", "axb", false},
               {"x{2}{", "xx{", true},
               {"x{,3}", "x{,3}", true},
               {R"(\x41\x{42}\103)", "ABC", true},
               {"(?P<name>a)b", "ab", true},
               {"a||b", "", true},
               {"(a*)*", "aaa", true},
               {"(|a)+", "aaa", true},
               {"^a$", "a", true},
               {"a$b", "ab", false},
               {"(?m)a$\n^b", "a\nb", true},
               {"a+?", "aa", true},
               {"((a{0,10}){0,10}){0,10}", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true},
               {"(a|aa)+c", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false}};
  for (const Case &c : cases) {
    bool matched = !c.matches;
    EXPECT_EQ(regex(c.pattern, c.text, matched), "") << c.pattern;
    EXPECT_EQ(matched, c.matches) << c.pattern << " on " << c.text;
  }
}

TEST(Regex, Refuses) {
  bool matched;
  for (const char *bad : {"(",
                          ")",
                          "a)",
                          "[",
                          "[a",
                          "*",
                          "a**",
                          "\\",
                          "[b-a]",
                          "a{3,1}",
                          "a{1001}",
                          "(?=a)",
                          "(?<=a)",
                          "\\1",
                          "\\p{L}",
                          "\\y",
                          "[[:nope:]]",
                          "\xff",
                          "((((a{1000}){1000}){1000}){1000})",
                          "((((){1000}){1000}){1000})",
                          "(?i",
                          "(?P<a"})
    EXPECT_NE(regex(bad, "a", matched).find("RegexFullMatch: "), std::string::npos) << bad;
  std::string deep(5000, '(');
  EXPECT_NE(regex(deep.c_str(), "a", matched).find("nest too deeply"), std::string::npos);
  std::string longText(100000, 'a'), longPattern = longText + "|b";
  EXPECT_EQ(regex(longPattern.c_str(), longText.c_str(), matched), "");
}

TEST(Strings, EqualAndConcatBroadcast) {
  auto a = strings({"x", "y"}), b = strings({"x", "", "y"});
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto r = call(optc_op_string_equal, h, {tensor(a, {2, 1}), tensor(b, {3})}, {})[0];
              EXPECT_EQ(valuesOf<uint8_t>(r), (std::vector<uint8_t>{1, 0, 0, 0, 0, 1}));
              EXPECT_EQ(stringsOf(call(optc_op_string_concat, h, {tensor(a, {2, 1}), tensor(b, {3})}, {})[0]),
                        (Texts{"xx", "x", "xy", "yx", "y", "yy"}));
              call(optc_op_string_equal, h, {tensor(a, {2}), tensor(b, {3})}, {});
            }),
            "Equal: shapes [2] and [3] do not broadcast");
}

TEST(Strings, Split) {
  auto x = strings({"a,b,,c", "", " a  b c "}), comma = strings({","});
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto r = call(optc_op_string_split, h, {tensor(x, {3}), tensor(comma, {})}, {-1}, 2);
              EXPECT_EQ(dimsOf(r[0]), (Ints{3, 4}));
              EXPECT_EQ(stringsOf(r[0]), (Texts{"a", "b", "", "c", "", "", "", "", " a  b c ", "", "", ""}));
              EXPECT_EQ(valuesOf<int64_t>(r[1]), (Ints{4, 1, 1}));
              r = call(optc_op_string_split, h, {tensor(x, {3})}, {1}, 2);
              EXPECT_EQ(stringsOf(r[0]), (Texts{"a,b,,c", "", "", "", "a", "b c "}));
              EXPECT_EQ(valuesOf<int64_t>(r[1]), (Ints{1, 0, 2}));
            }),
            "");
}

TEST(Strings, Normalizer) {
  auto x = strings({"Monday", "ÄÖ", "tuesday", "monday"}), stop = strings({"monday"});
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto run = [&](int64_t to, int64_t sensitive) {
                return stringsOf(
                    call(optc_op_string_normalizer, h, {tensor(x, {4}), tensor(stop, {1})}, {to, sensitive})[0]);
              };
              EXPECT_EQ(run(1, 1), (Texts{"monday", "äö", "tuesday"}));
              EXPECT_EQ(run(2, 0), (Texts{"ÄÖ", "TUESDAY"}));
              auto only = call(optc_op_string_normalizer, h, {tensor(stop, {1, 1}), tensor(stop, {1})}, {0, 1})[0];
              EXPECT_EQ(dimsOf(only), (Ints{1, 1}));
              EXPECT_EQ(stringsOf(only), (Texts{""}));
            }),
            "");
}

TEST(Strings, GatherAndLabels) {
  auto x = strings({"a", "b", "c", "b"}), other = strings({"?"});
  Ints indices = {2, -1}, values = {10, 20, 30}, keys = {5, 7, 7}, query = {7, 6}, none = {-1};
  EXPECT_EQ(inModel([&](optc_host *h) {
              EXPECT_EQ(
                  stringsOf(call(optc_op_string_gather, h, {tensor(x, {2, 2}), tensor(indices, {2})}, {1})[0]).size(),
                  4u);
              ADD_FAILURE();
            }),
            "Gather: index 2 is outside of axis 1 of 2");
  EXPECT_EQ(
      inModel([&](optc_host *h) {
        EXPECT_EQ(stringsOf(call(optc_op_string_gather, h, {tensor(x, {4}), tensor(indices, {2})}, {0})[0]),
                  (Texts{"c", "b"}));
        auto k = strings({"b", "a", "b"});
        EXPECT_EQ(
            valuesOf<int64_t>(call(optc_op_label_encoder, h,
                                   {tensor(x, {4}), tensor(k, {3}), tensor(values, {3}), tensor(none, {1})}, {})[0]),
            (Ints{20, 10, -1, 10}));
        EXPECT_EQ(stringsOf(call(optc_op_label_encoder, h,
                                 {tensor(query, {2}), tensor(keys, {3}), tensor(k, {3}), tensor(other, {1})}, {})[0]),
                  (Texts{"a", "?"}));
      }),
      "");
}

TEST(Strings, CastToText) {
  setlocale(LC_ALL, "de_DE.UTF-8"); // where it exists, decimal points must not become commas
  std::vector<float> f = {0.1f, 1, -2.5f, 1e-5f, 1.5e20f, NAN, -INFINITY, 123456.789f, 0, 1e16f, 1e15f};
  std::vector<double> d = {0.1, 1.0 / 3};
  Ints i = {INT64_MIN, 42};
  std::vector<uint8_t> b = {1, 0};
  EXPECT_EQ(inModel([&](optc_host *h) {
              EXPECT_EQ(stringsOf(call(optc_op_cast_to_string, h, {tensor(f, {11})}, {})[0]),
                        (Texts{"0.1", "1.0", "-2.5", "1e-05", "1.5e+20", "nan", "-inf", "123456.79", "0.0", "1e+16",
                               "1000000000000000.0"}));
              EXPECT_EQ(stringsOf(call(optc_op_cast_to_string, h, {tensor(d, {2})}, {})[0]),
                        (Texts{"0.1", "0.3333333333333333"}));
              EXPECT_EQ(stringsOf(call(optc_op_cast_to_string, h, {tensor(i, {2})}, {})[0]),
                        (Texts{"-9223372036854775808", "42"}));
              EXPECT_EQ(stringsOf(call(optc_op_cast_to_string, h, {tensor(b, {2}, OPTC_BOOL)}, {})[0]),
                        (Texts{"True", "False"}));
            }),
            "");
}

TEST(Strings, CastFromText) {
  auto x = strings({"3.14", "1e-5", "1E8", " 7", "NaN", "+INF", "-inf"}),
       whole = strings({"-9223372036854775808", "9223372036854775807", "3.9"});
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto r = valuesOf<float>(call(optc_op_cast_from_string, h, {tensor(x, {7})}, {OPTC_FLOAT})[0]);
              EXPECT_EQ(std::vector<float>(r.begin(), r.begin() + 4), (std::vector<float>{3.14f, 1e-5f, 1e8f, 7}));
              EXPECT_TRUE(std::isnan(r[4]));
              EXPECT_EQ(r[5], INFINITY);
              EXPECT_EQ(r[6], -INFINITY);
              EXPECT_EQ(valuesOf<int64_t>(call(optc_op_cast_from_string, h, {tensor(whole, {3})}, {OPTC_INT64})[0]),
                        (Ints{INT64_MIN, INT64_MAX, 3}));
            }),
            "");
  for (const char *bad : {"", "abc", "0x10", "1 2", "--1"}) {
    auto s = strings({bad});
    EXPECT_EQ(inModel([&](optc_host *h) { call(optc_op_cast_from_string, h, {tensor(s, {1})}, {OPTC_FLOAT}); }),
              "Cast: element 0, '" + std::string(bad) + "', is not a number");
  }
}

TEST(TfIdf, CountsWithSkips) {
  std::vector<int32_t> x = {1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8};
  Ints pool = {2, 3, 5, 4, 5, 6, 7, 8, 6, 7}, counts = {0, 4}, indexes = {0, 1, 2, 3, 4, 5, 6};
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto run = [&](int64_t low, int64_t skip) {
                return valuesOf<float>(call(
                    optc_op_tfidf, h, {tensor(x, {12}), tensor(pool, {10}), tensor(counts, {2}), tensor(indexes, {7})},
                    {0, low, 2, skip})[0]);
              };
              EXPECT_EQ(run(2, 0), (std::vector<float>{0, 0, 0, 0, 1, 1, 1}));
              EXPECT_EQ(run(1, 0), (std::vector<float>{0, 3, 1, 0, 1, 1, 1}));
              EXPECT_EQ(run(1, 5), (std::vector<float>{0, 3, 1, 0, 1, 3, 1}));
            }),
            "");
}

TEST(Random, SeedsRangesAndMoments) {
  EXPECT_EQ(inModel([&](optc_host *h) {
              auto draw = [&](int64_t kind, int64_t seeded, int64_t salt) {
                return valuesOf<float>(
                    call(optc_op_random, h, {optc_tensor{}},
                         {kind, OPTC_FLOAT, seeded, floatBits(3), floatBits(-1), floatBits(2), salt, 100, 100})[0]);
              };
              auto u = draw(0, 1, 0), g = draw(1, 1, 0);
              EXPECT_EQ(u, draw(0, 1, 0));
              EXPECT_NE(u, draw(0, 1, 1));
              EXPECT_NE(draw(0, 0, 0), draw(0, 0, 0));
              double sum = 0, square = 0, mean = 0;
              for (size_t i = 0; i < u.size(); ++i) {
                EXPECT_TRUE(u[i] >= -1 && u[i] < 2);
                mean += u[i] / 1e4;
                sum += g[i] / 1e4;
                square += (g[i] + 1) * (g[i] + 1) / 1e4;
              }
              EXPECT_NEAR(mean, 0.5, 0.03);
              EXPECT_NEAR(sum, -1, 0.06);
              EXPECT_NEAR(square, 4, 0.2);
              std::vector<float> p = {0, 1, 0.5f}, logits = {0, -INFINITY, 0};
              auto b = valuesOf<float>(call(optc_op_random, h, {tensor(p, {3})}, {2, OPTC_FLOAT, 1, 1, 0, 0, 0})[0]);
              EXPECT_EQ(b[0], 0);
              EXPECT_EQ(b[1], 1);
              int64_t zeros = 0;
              for (int64_t c : valuesOf<int64_t>(
                       call(optc_op_multinomial, h, {tensor(logits, {1, 3})}, {1000, OPTC_INT64, 1, 7, 0})[0])) {
                EXPECT_NE(c, 1);
                zeros += c == 0;
              }
              EXPECT_NEAR(double(zeros), 500, 80);
            }),
            "");
}
