//===- ChannelsTest.cpp - which channels of a model belong together -------===//
#include "optc/passes/compress/Channels.h"
#include "mlir/Parser/Parser.h"
#include "optc/compiler/Dialects.h"
#include "optc/passes/compress/PruneChannels.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir;
using namespace optc;

namespace {
/// The channels of a function @main, by the names of layers.
class Traced {
public:
  explicit Traced(StringRef body) {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    module = parseSourceString<ModuleOp>(body, ParserConfig(&context));
    if (!module)
      return;
    auto main = module->lookupSymbol<func::FuncOp>("main");
    EXPECT_TRUE(succeeded(inferShapes(main, table)));
    graph.emplace(main, table);
  }

  /// The channels that a layer makes.
  ChannelIds made(StringRef layer) const {
    for (const ChannelAxis &axis : graph->axes())
      if (nodeName(axis.layer) == layer)
        return axis.ids;
    ADD_FAILURE() << "no layer " << layer.str();
    return {};
  }
  /// How many sets the channels of some layers are.
  size_t sets(std::initializer_list<StringRef> layers) const {
    std::set<int> roots;
    for (StringRef layer : layers)
      for (int id : made(layer))
        roots.insert(graph->rootOf(id));
    return roots.size();
  }
  bool together(StringRef a, int i, StringRef b, int j) const {
    return graph->rootOf(made(a)[i]) == graph->rootOf(made(b)[j]);
  }
  std::string reason(StringRef layer, int i = 0) const { return graph->reasonToStay(made(layer)[i]).str(); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  ShapeTable table;
  std::optional<ChannelGraph> graph;
};
} // namespace

TEST(Channels, AdditionsAndNormalizationsKeepChannelsTogether) {
  Traced t(R"(func.func @main(%x: tensor<1x3x4x4xf32>) -> tensor<1x2x4x4xf32> {
    %w = onnx.Constant dense<1.0> : tensor<4x3x1x1xf32>
    %s = onnx.Constant dense<1.0> : tensor<4xf32>
    %o = onnx.Constant dense<1.0> : tensor<2x4x1x1xf32>
    %0 = "onnx.Conv"(%x, %w) : (tensor<1x3x4x4xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x4x4xf32> loc("a")
    %1 = "onnx.InstanceNormalization"(%0, %s, %s) : (tensor<1x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
    %2 = "onnx.Conv"(%x, %w) : (tensor<1x3x4x4xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x4x4xf32> loc("b")
    %3 = "onnx.Add"(%1, %2) : (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
    %4 = "onnx.Conv"(%3, %o) : (tensor<1x4x4x4xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x4x4xf32> loc("out")
    return %4 : tensor<1x2x4x4xf32>
  })");
  ASSERT_TRUE(t.graph);
  EXPECT_EQ(t.sets({"a", "b"}), 4u);
  EXPECT_TRUE(t.together("a", 2, "b", 2));
  EXPECT_FALSE(t.together("a", 2, "b", 1));
  EXPECT_EQ(t.reason("a"), "");
  EXPECT_EQ(t.reason("out", 1), "they are an output of the model");
}

TEST(Channels, GroupsStayEqualAndDepthwiseFiltersFollow) {
  Traced t(R"(func.func @main(%x: tensor<1x4x4xf32>) -> tensor<1x1x4xf32> {
    %w = onnx.Constant dense<1.0> : tensor<6x2x1xf32>
    %d = onnx.Constant dense<1.0> : tensor<12x1x1xf32>
    %o = onnx.Constant dense<1.0> : tensor<1x12x1xf32>
    %0 = "onnx.Conv"(%x, %w) {group = 2 : i64} : (tensor<1x4x4xf32>, tensor<6x2x1xf32>) -> tensor<1x6x4xf32> loc("grouped")
    %1 = "onnx.Conv"(%0, %d) {group = 6 : i64} : (tensor<1x6x4xf32>, tensor<12x1x1xf32>) -> tensor<1x12x4xf32> loc("depthwise")
    %2 = "onnx.Conv"(%1, %o) : (tensor<1x12x4xf32>, tensor<1x12x1xf32>) -> tensor<1x1x4xf32> loc("out")
    return %2 : tensor<1x1x4xf32>
  })");
  ASSERT_TRUE(t.graph);
  // Three sets of two filters each, at equal places of both groups.
  EXPECT_EQ(t.sets({"grouped"}), 3u);
  EXPECT_TRUE(t.together("grouped", 1, "grouped", 4));
  // A depthwise convolution makes none of its own; two filters per channel read it.
  for (const ChannelInput &input : t.graph->inputs()) {
    ASSERT_EQ(nodeName(input.layer), "out");
    ASSERT_EQ(input.ids.size(), 12u);
    EXPECT_EQ(t.graph->rootOf(input.ids[4]), t.graph->rootOf(input.ids[5]));
    EXPECT_EQ(t.graph->rootOf(input.ids[2]), t.graph->rootOf(t.made("grouped")[1]));
  }
  EXPECT_EQ(t.graph->inputs().size(), 1u);
}

TEST(Channels, FlattenedAndConcatenatedPositionsRememberTheirChannel) {
  Traced t(R"(func.func @main(%x: tensor<2x3x2xf32>) -> tensor<2x1xf32> {
    %w = onnx.Constant dense<1.0> : tensor<2x3x1xf32>
    %o = onnx.Constant dense<1.0> : tensor<10x1xf32>
    %0 = "onnx.Conv"(%x, %w) : (tensor<2x3x2xf32>, tensor<2x3x1xf32>) -> tensor<2x2x2xf32> loc("conv")
    %1 = "onnx.Concat"(%x, %0) {axis = 1 : i64} : (tensor<2x3x2xf32>, tensor<2x2x2xf32>) -> tensor<2x5x2xf32>
    %2 = "onnx.Flatten"(%1) : (tensor<2x5x2xf32>) -> tensor<2x10xf32>
    %3 = "onnx.MatMul"(%2, %o) : (tensor<2x10xf32>, tensor<10x1xf32>) -> tensor<2x1xf32> loc("out")
    return %3 : tensor<2x1xf32>
  })");
  ASSERT_TRUE(t.graph);
  ASSERT_EQ(t.graph->inputs().size(), 1u);
  ChannelIds ids = t.graph->inputs().front().ids;
  ASSERT_EQ(ids.size(), 10u);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(t.graph->reasonToStay(ids[i]), "they are no layer's");
  EXPECT_EQ(ids[6], t.made("conv")[0]);
  EXPECT_EQ(ids[7], t.made("conv")[0]);
  EXPECT_EQ(ids[8], t.made("conv")[1]);
}

TEST(Channels, ReshapesThatSplitChannelsKeepThem) {
  Traced t(R"(func.func @main(%x: tensor<1x3x4xf32>) -> tensor<1x2x2x4xf32> {
    %w = onnx.Constant dense<1.0> : tensor<4x3x1xf32>
    %s = onnx.Constant dense<[1, 2, 2, 4]> : tensor<4xi64>
    %0 = "onnx.Conv"(%x, %w) : (tensor<1x3x4xf32>, tensor<4x3x1xf32>) -> tensor<1x4x4xf32> loc("conv")
    %1 = "onnx.Reshape"(%0, %s) : (tensor<1x4x4xf32>, tensor<4xi64>) -> tensor<1x2x2x4xf32> loc("heads")
    return %1 : tensor<1x2x2x4xf32>
  })");
  ASSERT_TRUE(t.graph);
  EXPECT_NE(t.reason("conv").find("node 'heads' (Reshape)"), std::string::npos) << t.reason("conv");
}

TEST(Channels, HowManyStay) {
  // Automatic: within an eighth of what was asked for, in whole vectors where that is many.
  EXPECT_EQ(channelsToKeep(1024, 0.3, 0), 720);
  EXPECT_EQ(channelsToKeep(64, 0.3, 0), 48);
  EXPECT_EQ(channelsToKeep(64, 0.9, 0), 6);
  EXPECT_EQ(channelsToKeep(16, 0.3, 0), 12);
  EXPECT_EQ(channelsToKeep(3, 0.3, 0), 2);
  EXPECT_EQ(channelsToKeep(1, 0.9, 0), 1);
  EXPECT_EQ(channelsToKeep(100, 0.3, 1), 70);
  EXPECT_EQ(channelsToKeep(100, 0.999, 8), 8);
  EXPECT_EQ(channelsToKeep(5, 0.999, 8), 5);
  EXPECT_EQ(channelsToKeep(100, 0.001, 8), 96);
  for (int64_t channels = 1; channels < 300; ++channels)
    for (double ratio : {0.1, 0.3, 0.5, 0.9}) {
      int64_t kept = channelsToKeep(channels, ratio, 0);
      EXPECT_GE(kept, 1);
      EXPECT_LE(kept, channels);
      EXPECT_NEAR(kept, channels * (1 - ratio), channels * (1 - ratio) / 8 + 1);
    }
}
