//===- SamplesTest.cpp - folders and archives of recorded inputs ----------===//
#include "optc/compiler/Samples.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace optc;

namespace {
struct SamplesTest : testing::Test {
  SamplesTest() {
    llvm::sys::fs::createUniqueDirectory("samples", folder);
    model = {input("x", {1, 2})};
  }
  ~SamplesTest() override { llvm::sys::fs::remove_directories(folder); }

  static InputSpec input(std::string name, std::vector<int64_t> dims) {
    InputSpec spec;
    spec.name = std::move(name);
    spec.dtype = OPTC_FLOAT;
    spec.dims = std::move(dims);
    spec.ranked = true;
    return spec;
  }
  /// A .npy file of 0, 1, 2 ...; its header is what numpy writes.
  void write(const std::string &name, std::vector<int64_t> dims, const char *type = "<f4") {
    int64_t count = 1;
    std::string shape;
    for (int64_t d : dims) {
      count *= d;
      shape += std::to_string(d) + ",";
    }
    std::string header = std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (" + shape + "), }\n";
    std::string path = (folder + "/" + name).str();
    llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path));
    std::error_code code;
    llvm::raw_fd_ostream os(path, code);
    os << llvm::StringRef("\x93NUMPY\x01\x00", 8) << char(header.size()) << char(0) << header;
    bool isFloat = llvm::StringRef(type).ends_with("f4");
    for (int64_t i = 0; i < count; ++i) {
      float f = float(i);
      os.write(isFloat ? reinterpret_cast<const char *>(&f) : reinterpret_cast<const char *>(&i), isFloat ? 4 : 8);
    }
  }
  llvm::Expected<SampleSet> open() { return SampleSet::open("--calibrate", folder, model); }
  std::string refusal() {
    llvm::Expected<SampleSet> set = open();
    return set ? "it was accepted" : llvm::toString(set.takeError());
  }
  /// The first element of every sample.
  std::vector<float> firsts(size_t input = 0) {
    std::vector<float> all;
    llvm::Expected<SampleSet> set = open();
    if (!set) {
      ADD_FAILURE() << llvm::toString(set.takeError());
      return all;
    }
    for (size_t i = 0; i < set->size(); ++i) {
      llvm::Expected<Sample> sample = set->load(i);
      EXPECT_TRUE(bool(sample));
      const run::Value &value = (*sample)[input];
      EXPECT_EQ(int64_t(value.data.size()), run::packedBytes(value.dtype, value.count()));
      all.push_back(float(run::element(value, 0)));
    }
    return all;
  }
  static bool has(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos ? true : (ADD_FAILURE() << text, false);
  }

  llvm::SmallString<128> folder;
  std::vector<InputSpec> model;
};
} // namespace

TEST_F(SamplesTest, FirstAxisCountsSamples) {
  write("x.npy", {3, 2});
  EXPECT_EQ(firsts(), (std::vector<float>{0, 2, 4}));
}

TEST_F(SamplesTest, OneAxisMore) {
  write("x.npy", {2, 1, 2});
  EXPECT_EQ(firsts(), (std::vector<float>{0, 2}));
}

TEST_F(SamplesTest, OneSample) {
  write("x.npy", {1, 2});
  EXPECT_EQ(firsts(), (std::vector<float>{0}));
}

TEST_F(SamplesTest, RowsOfABatch) {
  model = {input("x", {2, 2})};
  write("x.npy", {6, 2});
  EXPECT_EQ(firsts(), (std::vector<float>{0, 4, 8}));
  write("x.npy", {5, 2});
  has(refusal(), "takes 2 rows at a time, and the 5 of");
}

TEST_F(SamplesTest, UnknownSizes) {
  model = {input("x", {-1, 2})};
  write("x.npy", {3, 2});
  EXPECT_EQ(firsts(), (std::vector<float>{0, 2, 4}));
}

// An input of which there is one value serves all samples of another.
TEST_F(SamplesTest, SharedInput) {
  model.push_back(input("a/b", {3}));
  write("x.npy", {3, 2});
  write("a_b.npy", {3});
  EXPECT_EQ(firsts(0).size(), 3u);
  EXPECT_EQ(firsts(1), (std::vector<float>{0, 0, 0}));
}

TEST_F(SamplesTest, FoldersInTheOrderOfNumbers) {
  write("set_10/input_0.npy", {1, 2}); // no such file is looked for
  write("set_10/x.npy", {1, 2});
  write("set_9/x.npy", {1, 2});
  EXPECT_EQ(firsts(), (std::vector<float>{0, 0}));
  write("set_9/x.npy", {2, 2});
  has(refusal(), "takes float32[1,2], but ");
  llvm::sys::fs::remove((folder + "/set_9/x.npy").str());
  has(refusal(), "has no value for input 'x': neither input_0.pb nor x.npy");
}

TEST_F(SamplesTest, Labels) {
  write("x.npy", {3, 2});
  write("labels.npy", {3}, "<i8");
  llvm::Expected<SampleSet> set = open();
  ASSERT_TRUE(bool(set));
  ASSERT_NE(set->extra("labels"), nullptr);
  EXPECT_EQ(set->extra("labels")->count(), 3);
  EXPECT_EQ(set->extra("other"), nullptr);
  EXPECT_EQ(set->files().size(), 2u);
}

TEST_F(SamplesTest, WhatDoesNotMatch) {
  has(refusal(), "it has no values for input 'x', which is float32[1,2]; a folder holds x.npy");
  write("x.npy", {3, 4});
  has(refusal(), "input 'x' takes float32[1,2], but ");
  write("x.npy", {3, 2}, "<i8");
  has(refusal(), "has int64[1,2]; give that type and shape");
  write("x.npy", {0, 2});
  has(refusal(), "holds no sample");
  write("x.npy", {3, 2});
  model.push_back(input("y", {1}));
  write("y.npy", {2});
  has(refusal(), "has 3 samples, but ");
  model.clear();
  has(refusal(), "the model has no inputs");
  llvm::Expected<SampleSet> none = SampleSet::open("--golden", folder.str().str() + "/none", {input("x", {1})});
  has(llvm::toString(none.takeError()), "there is no such file or folder");
  llvm::Expected<SampleSet> text = SampleSet::open("--golden", folder.str().str() + "/y.npy", {input("x", {1})});
  has(llvm::toString(text.takeError()), "a folder or an .npz file is expected");
}
