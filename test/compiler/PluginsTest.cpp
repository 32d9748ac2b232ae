//===- PluginsTest.cpp - descriptions of plugins and what they register -----===//
#include "optc/compiler/Plugins.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Pass/PassManager.h"
#include "optc/compiler/Driver.h"
#include "optc/compiler/Options.h"
#include "optc/compiler/Phases.h"
#include "optc/compiler/PluginApi.h"
#include "optc/compiler/PluginFile.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mlir;
using namespace optc;

namespace {
/// Has the name that the test gives: MLIR's registry is global, so no two tests can share one.
struct Nothing : PassWrapper<Nothing, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Nothing)
  explicit Nothing(StringRef argument) : argument(argument.str()) {}
  Nothing(const Nothing &other) : PassWrapper(other), argument(other.argument) {}
  StringRef getArgument() const final { return argument; }
  StringRef getDescription() const final { return "does nothing"; }
  void runOnOperation() override {}
  std::string argument;
  Option<int64_t> count{*this, "count", llvm::cl::desc("a number"), llvm::cl::init(3)};
  Option<bool> flag{*this, "flag", llvm::cl::desc("a flag"), llvm::cl::init(false)};
};
/// Not the arith dialect.
struct FalseArith : Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FalseArith)
  static StringRef getDialectNamespace() { return "arith"; }
  explicit FalseArith(MLIRContext *context) : Dialect("arith", context, TypeID::get<FalseArith>()) {}
};
struct OwnDialect : Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OwnDialect)
  static StringRef getDialectNamespace() { return "own"; }
  explicit OwnDialect(MLIRContext *context) : Dialect("own", context, TypeID::get<OwnDialect>()) {}
};
} // namespace

static PluginRegistrar::PassFactory makes(const char *name) {
  return [name] { return std::make_unique<Nothing>(name); };
}

static optc_plugin_info describe(void (*registerAll)(void *)) {
  return {OPTC_PLUGIN_ABI,
          sizeof(optc_plugin_info),
          LLVM_VERSION_STRING,
          OPTC_BUILD_ID,
          OPTC_MLIR_BUILD_ID,
          OPTC_PLUGIN_FLAGS,
          TypeID::get<ModuleOp>().getAsOpaquePointer(),
          TypeID::get<onnx::OnnxDialect>().getAsOpaquePointer(),
          "test",
          "2.0",
          registerAll};
}
static PluginRegistrar &registrarOf(void *registrar) { return *static_cast<PluginRegistrar *>(registrar); }

/// The message of the usage error.
static std::string refusal(Error error) {
  std::string message;
  handleAllErrors(std::move(error), [&](const CompileError &e) {
    EXPECT_EQ(e.code(), ExitCode::Usage);
    message = e.message();
  });
  return message;
}
static std::string refuse(const optc_plugin_info &info) {
  PluginSet set;
  std::string message = refusal(set.add(info, "x.so"));
  EXPECT_TRUE(set.empty());
  EXPECT_TRUE(StringRef(message).starts_with("the plugin x.so cannot be used: ")) << message;
  return message;
}
static std::string refuse(void (*registerAll)(void *)) { return refuse(describe(registerAll)); }

#define EXPECT_HAS(TEXT, PART) EXPECT_NE((TEXT).find(PART), std::string::npos) << (TEXT)

TEST(Plugins, EveryMemberHasToFit) {
  // Called for a description that fits only.
  auto never = +[](void *) { ADD_FAILURE() << "was called"; };
  optc_plugin_info info = describe(never);
  info.abi = 2;
  EXPECT_HAS(refuse(info), "version 2 of the plugin interface, this optc has version 1");
  info = describe(never);
  info.size += 8;
  EXPECT_HAS(refuse(info), "bytes, that of this optc has");
  info = describe(never);
  info.llvm_version = nullptr;
  EXPECT_HAS(refuse(info), "built with LLVM (none)");
  info.llvm_version = "21.1.0";
  EXPECT_HAS(refuse(info), "built with LLVM 21.1.0");
  info = describe(never);
  info.build_id = "x";
  EXPECT_HAS(refuse(info), "another optc (build x, this is build");
  info = describe(never);
  info.mlir_build_id = "x";
  EXPECT_HAS(refuse(info), "the libMLIR of build ID x, optc runs on");
  info = describe(never);
  info.flags ^= OPTC_PLUGIN_STATISTICS;
  EXPECT_HAS(refuse(info), "NDEBUG");
  info.flags = OPTC_PLUGIN_FLAGS | (uint64_t(1) << 40);
  EXPECT_HAS(refuse(info), "flags that this optc does not know");
  info = describe(never);
  info.mlir_copy = &info;
  EXPECT_HAS(refuse(info), "another copy of MLIR");
  info = describe(never);
  info.optc_copy = nullptr;
  EXPECT_HAS(refuse(info), "another copy of optc");
  info = describe(never);
  info.name = "";
  EXPECT_HAS(refuse(info), "lacks the name");
  EXPECT_HAS(refuse(describe(nullptr)), "register_plugin");
}

TEST(Plugins, BuildIdOfLibMLIR) {
  std::string id = buildIdOfAddress(TypeID::get<ModuleOp>().getAsOpaquePointer());
  EXPECT_EQ(id, OPTC_MLIR_BUILD_ID);
  EXPECT_EQ(buildIdOfAddress(nullptr), "");
}

TEST(Plugins, Refusals) {
  EXPECT_HAS(refuse([](void *) {}), "it registers nothing");
  EXPECT_HAS(refuse([](void *r) { registrarOf(r).registerPass(nullptr); }), "makes no pass");
  EXPECT_HAS(refuse([](void *r) { registrarOf(r).registerPass(makes("")); }), "has no name");
  EXPECT_HAS(refuse([](void *r) { registrarOf(r).registerPass(makes("canonicalize")); }),
             "'canonicalize' has the name of a pass that exists");
  for (const char *phase : {"grpah", "import", "object", ""}) {
    static const char *name;
    name = phase;
    EXPECT_HAS(refuse([](void *r) { registrarOf(r).insertPass(PluginPosition::After, name, makes("never")); }),
               "after the phase '" + std::string(phase) +
                   "', where none can be; the phases with passes are graph, compress, tensor, layout, dispatch, "
                   "configure, plan, "
                   "kernel, "
                   "llvm");
  }
  EXPECT_HAS(refuse([](void *r) { registrarOf(r).addDialect<FalseArith>(); }), "'arith' has the name of a dialect");
}

TEST(Plugins, NamesAreOnce) {
  PluginSet set;
  auto add = +[](void *r) { registrarOf(r).addDialect<OwnDialect>(); };
  optc_plugin_info info = describe(add);
  ASSERT_EQ(refusal(set.add(info, "a.so")), "");
  EXPECT_HAS(refusal(set.add(info, "b.so")), "the plugin a.so has the same name, 'test'");
  info.name = "other";
  EXPECT_HAS(refusal(set.add(info, "b.so")), "'own' has the name of a dialect of the plugin 'test'");
  EXPECT_EQ(set.names(), "test");
  DialectRegistry registry;
  set.registerDialects(registry);
  EXPECT_TRUE(static_cast<bool>(registry.getDialectAllocator("own")));
}

TEST(Plugins, PassesAndOptions) {
  PluginSet set;
  PassOptionTexts options;
  EXPECT_HAS(refusal(set.addOption("a:b=1", options)), "there are none: name the plugin with --plugin=FILE.so");
  ASSERT_EQ(refusal(set.add(describe([](void *r) {
                              registrarOf(r).insertPass(PluginPosition::Before, "tensor", makes("test-inserted"));
                              registrarOf(r).insertPass(PluginPosition::After, "tensor", makes("test-inserted"));
                              registrarOf(r).registerPass(makes("test-registered"));
                            }),
                            "x.so")),
            "");
  EXPECT_HAS(refusal(set.addOption("test-registered:count=1", options)), "there are: test-inserted");
  EXPECT_HAS(refusal(set.addOption("test-inserted", options)), "no option is named; the pass and its defaults: ");
  EXPECT_HAS(refusal(set.addOption("test-inserted:size=1", options)), "test-inserted{count=3 flag=false}");
  EXPECT_HAS(refusal(set.addOption("test-inserted:count=many", options)), "test-inserted{count=3 flag=false}");
  EXPECT_TRUE(options["test-inserted"].empty());
  ASSERT_EQ(refusal(set.addOption("test-inserted:count=7", options)), "");
  ASSERT_EQ(refusal(set.addOption("test-inserted:flag=true", options)), "");

  MLIRContext context;
  for (const Phase &phase : phases())
    for (PluginPosition position : {PluginPosition::Before, PluginPosition::After}) {
      PassManager pm(&context, ModuleOp::getOperationName());
      auto names = set.addPasses(pm, phase, position, options);
      ASSERT_TRUE(static_cast<bool>(names));
      EXPECT_EQ(names->size(), phase.name == "tensor" ? 1u : 0u);
      std::string text;
      raw_string_ostream os(text);
      pm.printAsTextualPipeline(os);
      if (!names->empty())
        EXPECT_EQ(text, "builtin.module(func.func(test-inserted{count=7 flag=true}))");
    }
  std::string list = set.describe();
  EXPECT_HAS(list, "test 2.0 (x.so)\n  before tensor: test-inserted{count=3 flag=false}\n    does nothing\n");
  EXPECT_HAS(list, "  optc-opt only: test-registered{count=3 flag=false}\n");
}

namespace {
/// Fails on every function, or leaves one that does not verify.
struct Breaks : Nothing {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Breaks)
  Breaks(StringRef argument, bool says) : Nothing(argument), says(says) {}
  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<Breaks>(*this); }
  void runOnOperation() override {
    if (!says)
      return getOperation().getBody().front().getTerminator()->erase();
    getOperation().emitError("this pass never works");
    signalPassFailure();
  }
  bool says;
};
} // namespace

TEST(Plugins, AFailureIsThePluginsFault) {
  SmallString<128> model;
  int fd;
  ASSERT_FALSE(sys::fs::createTemporaryFile("plugin", "mlir", fd, model));
  raw_fd_ostream(fd, /*shouldClose=*/true)
      << "func.func @main(%x: tensor<2xf32> {onnx.name = \"x\"}) -> (tensor<2xf32> {onnx.name = \"y\"}) {\n"
         "  return %x : tensor<2xf32>\n}\n";
  for (bool says : {true, false}) {
    auto plugins = std::make_shared<PluginSet>();
    auto add = says ? +[](void *r) {
      registrarOf(r).insertPass(PluginPosition::After, "graph",
                                [] { return std::make_unique<Breaks>("test-says", true); });
    } : +[](void *r) {
      registrarOf(r).insertPass(PluginPosition::After, "graph",
                                [] { return std::make_unique<Breaks>("test-leaves", false); });
    };
    ASSERT_EQ(refusal(plugins->add(describe(add), "x.so")), "");
    Expected<Options> options = parseOptions({model.c_str(), "--stop-after=tensor"});
    ASSERT_TRUE(static_cast<bool>(options));
    options->plugins = plugins;
    std::string out, problems;
    raw_string_ostream outStream(out), problemStream(problems);
    EXPECT_EQ(compile(*options, outStream, problemStream), ExitCode::Input);
    EXPECT_EQ(out, "");
    EXPECT_HAS(problems, says ? "this pass never works" : "error: ");
    EXPECT_HAS(problems, std::string("note: this happened after the phase 'graph', in the pass '") +
                             (says ? "test-says" : "test-leaves") + "' of the plugin 'test'");
    EXPECT_EQ(problems.find("defect of optc"), std::string::npos);
  }
  sys::fs::remove(model);
}

TEST(Plugins, CommandLine) {
  for (std::vector<const char *> args : {std::vector<const char *>{"m.onnx", "--plugin=no/such.so"},
                                         {"--plugin", "no/such.so", "m.onnx"},
                                         {"--plugin=no/such.so", "--unknown"},
                                         {"--help", "--plugin=no/such.so"}})
    EXPECT_HAS(refusal(parseOptions(args).takeError()), "the plugin no/such.so cannot be used: it cannot be read");
  EXPECT_HAS(refusal(parseOptions({"m.onnx", "--plugin"}).takeError()), "--plugin needs a value: --plugin=FILE.so");
  EXPECT_HAS(refusal(parseOptions({"m.onnx", "--plugin="}).takeError()), "--plugin needs the name of a file");
  // Values of other flags and what is behind -- are no plugins.
  Expected<Options> options = parseOptions({"-o", "--plugin=x.so", "--", "--plugin=x.so"});
  ASSERT_TRUE(static_cast<bool>(options));
  EXPECT_EQ(options->output, "--plugin=x.so");
  EXPECT_EQ(options->model, "--plugin=x.so");
}
