//===- OptionsTest.cpp - the command line of optc -------------------------===//
#include "optc/compiler/Options.h"
#include "optc/codegen/CompileError.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optc;

static Options parse(std::vector<const char *> args) {
  Expected<Options> options = parseOptions(args);
  if (options)
    return *options;
  ADD_FAILURE() << toString(options.takeError());
  return {};
}

/// The message of a usage error.
static std::string refuse(std::vector<const char *> args) {
  Expected<Options> options = parseOptions(args);
  if (options) {
    ADD_FAILURE() << "was accepted";
    return "";
  }
  std::string message;
  handleAllErrors(options.takeError(), [&](const CompileError &e) {
    EXPECT_EQ(e.code(), ExitCode::Usage);
    message = e.message();
  });
  return message;
}

TEST(Options, Defaults) {
  Options o = parse({"dir/my-model.v2.onnx"});
  EXPECT_EQ(o.model, "dir/my-model.v2.onnx");
  EXPECT_EQ(o.name, "my_model_v2");
  EXPECT_EQ(o.optLevel, 2);
  EXPECT_EQ(o.target, "native");
  EXPECT_EQ(o.emit, EmitKind::SharedObject);
}

TEST(Options, ValuesWithAndWithoutEqualsSign) {
  for (auto args : {std::vector<const char *>{"--target=znver3", "--name", "n", "m.onnx", "-o", "x", "-O3"},
                    std::vector<const char *>{"m.onnx", "-O3", "--target", "znver3", "--name=n", "-o", "x"}}) {
    Options o = parse(args);
    EXPECT_EQ(o.target, "znver3");
    EXPECT_EQ(o.name, "n");
    EXPECT_EQ(o.output, "x");
    EXPECT_EQ(o.optLevel, 3);
  }
}

TEST(Options, DimsAndShapes) {
  Options o = parse({"m.onnx", "--dim", "batch=4", "--dim=a=b=2", "--shape", "x=1x3x?", "--shape=s="});
  EXPECT_EQ(o.dims.at("batch"), 4);
  EXPECT_EQ(o.dims.at("a=b"), 2);
  EXPECT_EQ(o.shapes.at("x"), (std::vector<int64_t>{1, 3, -1}));
  EXPECT_TRUE(o.shapes.at("s").empty());
}

TEST(Options, Bytes) {
  EXPECT_EQ(parse({"m.onnx", "--max-memory=3M"}).maxMemory, uint64_t(3) << 20);
  EXPECT_EQ(parse({"m.onnx", "--max-size=17"}).maxSize, 17u);
  refuse({"m.onnx", "--max-size=99999999999999999999"});
  refuse({"m.onnx", "--max-size=17179869184G"});
  refuse({"m.onnx", "--max-size=-1"});
}

TEST(Options, NamesAreIdentifiers) {
  EXPECT_EQ(identifierFrom("1x"), "model_1x");
  EXPECT_EQ(identifierFrom(""), "model_");
  EXPECT_EQ(parse({"\xC3\xA4.onnx"}).name, "__");
  refuse({"m.onnx", "--name=a-b"});
  refuse({"m.onnx", "--name=1"});
}

TEST(Options, Refusals) {
  EXPECT_NE(refuse({}).find("no model"), std::string::npos);
  EXPECT_NE(refuse({"a.onnx", "b.onnx"}).find("two models"), std::string::npos);
  EXPECT_NE(refuse({"a.onnx", "--tagret=native"}).find("did you mean --target?"), std::string::npos);
  EXPECT_NE(refuse({"a.onnx", "--emit=dll"}).find("static-lib"), std::string::npos);
  EXPECT_NE(refuse({"a.onnx", "--stop-after=end"}).find("configure"), std::string::npos);
  EXPECT_NE(refuse({"a.onnx", "--check=1"}).find("takes no value"), std::string::npos);
  EXPECT_NE(refuse({"a.onnx", "-o"}).find("needs a value"), std::string::npos);
  EXPECT_NE(refuse({"a.onnx", "-O4"}).find("unknown option"), std::string::npos);
  EXPECT_NE(refuse({"a.onnx", "--dim=x"}).find("NAME=N"), std::string::npos);
  EXPECT_NE(refuse({"a.onnx", "--dim=x=-1"}).find("NAME=N"), std::string::npos);
  EXPECT_NE(refuse({"a.onnx", "--shape=x=1xy"}).find("1x3x224x224"), std::string::npos);
  EXPECT_NE(refuse({"a.onnx", "--timeout=0"}).find("seconds"), std::string::npos);
  EXPECT_NE(refuse({"a.onnx", "-o", "-"}).find("standard output"), std::string::npos);
  refuse({"a.onnx", "--start-from=plan"});
  refuse({"a.mlir", "--start-from=import"});
  refuse({"a.mlir", "--start-from=plan", "--stop-after=tensor"});
  refuse({"a.mlir", "--dim=x=1"});
}

TEST(Options, ADoubleDashEndsThem) { EXPECT_EQ(parse({"--", "--check"}).model, "--check"); }

TEST(Options, HelpNamesEveryExitCode) {
  std::string text = helpText();
  for (const char *part : {"--max-memory=BYTES", "-o FILE", "70 a defect of optc"})
    EXPECT_NE(text.find(part), std::string::npos);
}
