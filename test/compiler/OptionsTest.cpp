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

TEST(Options, Compression) {
  Options o =
      parse({"m.onnx", "--precision=int8", "--calibrate=d", "--calibration-method=percentile:99.9", "--golden", "g.npz",
             "--metric=top1", "--max-drop=0.5%", "--rollback=2", "--keep-float=a", "--keep-float=b", "--journal=j"});
  EXPECT_EQ(o.compression.precision, Precision::Int8);
  EXPECT_EQ(o.compression.calibrate, "d");
  EXPECT_EQ(o.compression.method.kind, compress::RangeMethod::Percentile);
  EXPECT_EQ(o.compression.method.percent, 99.9);
  EXPECT_EQ(
      parse({"m.onnx", "--precision=int8", "--calibrate=d", "--calibration-method=minmax"}).compression.method.kind,
      compress::RangeMethod::MinMax);
  EXPECT_EQ(parse({"m.onnx"}).compression.method.kind, compress::RangeMethod::Mse);
  EXPECT_EQ(o.compression.golden, "g.npz");
  EXPECT_EQ(o.compression.metric, Metric::Top1);
  EXPECT_DOUBLE_EQ(*o.compression.maxDrop, 0.005);
  EXPECT_EQ(o.compression.rollback, 2u);
  EXPECT_EQ(o.compression.keepFloat, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(o.compression.journal, "j");
  EXPECT_EQ(parse({"m.onnx", "--precision=int4", "--group-size=64"}).compression.groupSize, 64);
  EXPECT_FALSE(parse({"m.onnx", "--precision=f32"}).compression.isActive());
  EXPECT_FALSE(parse({"m.onnx"}).compression.isActive());
}

// No option is taken that would do nothing.
TEST(Options, CompressionThatDoesNotFit) {
  const struct {
    std::vector<const char *> args;
    const char *message;
  } cases[] = {
      {{"--precision=int7"}, "--precision=int7: unknown value; there are: f32, f16, bf16, int8, int4"},
      {{"--calibrate=d"}, "--calibrate needs --precision=int8"},
      {{"--precision=int4", "--calibrate=d"}, "--calibrate needs --precision=int8"},
      {{"--precision=int8", "--calibration-method=percentile:99"}, "--calibration-method needs --calibrate"},
      {{"--precision=int8", "--calibration-method=mse"}, "--calibration-method needs --calibrate"},
      {{"--precision=int8", "--calibration-method=minmax"}, "--calibration-method needs --calibrate"},
      {{"--calibration-method=median"}, "expected mse, minmax, or percentile:P"},
      {{"--calibration-method=percentile:101"}, "50 < P <= 100"},
      {{"--precision=int8", "--group-size=64"}, "--group-size needs --precision=int4"},
      {{"--group-size=1"}, "--group-size=1: expected an integer of 2 or more"},
      {{"--keep-float=a"}, "--keep-float needs --precision"},
      {{"--golden=d", "--metric=top1", "--max-drop=0"}, "nothing is compressed"},
      {{"--precision=int8", "--golden=d", "--max-drop=0"}, "--golden needs --metric=top1 or --metric=cosine"},
      {{"--precision=int8", "--golden=d", "--metric=top1"}, "--golden needs --max-drop=X"},
      {{"--precision=int8", "--metric=top1"}, "--metric needs --golden=DIR"},
      {{"--precision=int8", "--max-drop=0.1"}, "--max-drop needs --golden=DIR"},
      {{"--precision=int8", "--rollback=1"}, "--rollback needs --golden=DIR"},
      {{"--metric=f1"}, "--metric=f1: unknown value; there are: top1, cosine"},
      {{"--max-drop=2"}, "expected a number from 0 to 1, or a percentage"},
      {{"--max-drop=-0.1"}, "expected a number from 0 to 1"},
      {{"--max-drop=nan"}, "expected a number from 0 to 1"},
      {{"--journal=j"}, "nothing is decided"},
      {{"--precision=int8", "--stop-after=graph"}, "the phase 'compress' does not run with"},
  };
  for (const auto &c : cases) {
    std::vector<const char *> args = c.args;
    args.push_back("m.onnx");
    EXPECT_NE(refuse(args).find(c.message), std::string::npos) << c.message;
  }
  EXPECT_NE(refuse({"m.mlir", "--start-from=layout", "--precision=int8"}).find("does not run with --start-from=layout"),
            std::string::npos);
}

TEST(Options, Pruning) {
  PruneOptions p = parse({"m.onnx", "--prune=2:4,channels:0.25", "--prune", "magnitude:0.5"}).compression.prune;
  EXPECT_TRUE(p.any());
  EXPECT_EQ(p.keep, 2);
  EXPECT_EQ(p.of, 4);
  EXPECT_EQ(p.channels, 0.25);
  EXPECT_EQ(p.multiple, 0);
  EXPECT_EQ(p.magnitude, 0.5);
  EXPECT_EQ(parse({"m.onnx", "--prune=channels:0.25:8"}).compression.prune.multiple, 8);
  EXPECT_FALSE(parse({"m.onnx"}).compression.isActive());
  for (const char *value : {"--prune=", "--prune=half", "--prune=magnitude", "--prune=magnitude:0",
                            "--prune=magnitude:1", "--prune=magnitude:nan", "--prune=channels:-0.1",
                            "--prune=channels:0.5:0", "--prune=channels:0.5:x", "--prune=4:4", "--prune=0:4",
                            "--prune=2:65", "--prune=2:4,1:4", "--prune=2:4,,", "--prune=channels:0.1,channels:0.2"}) {
    std::string message = refuse({"m.onnx", value});
    EXPECT_NE(message.find("--prune="), std::string::npos) << message;
    EXPECT_NE(message.find("none of magnitude:R, channels:R, channels:R:MULTIPLE"), std::string::npos) << message;
  }
}

TEST(Options, ModelsAreNoText) {
  EXPECT_EQ(parse({"m.onnx", "--emit=onnx"}).emit, EmitKind::Onnx);
  EXPECT_NE(refuse({"m.onnx", "--emit=onnx", "-o", "-"}).find("only text"), std::string::npos);
  EXPECT_NE(refuse({"m.onnx", "--emit=onnx", "--stop-after=graph"}).find("--stop-after=graph"), std::string::npos);
  EXPECT_NE(refuse({"m.mlir", "--emit=onnx", "--start-from=tensor"}).find("--start-from=tensor"), std::string::npos);
}
