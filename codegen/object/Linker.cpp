//===- Linker.cpp - the linker, in process --------------------------------===//
#include "optc/codegen/object/Linker.h"
#include "lld/Common/Driver.h"
#include "optc/codegen/CompileError.h"
#include "optc/codegen/object/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;
using namespace optc;

static Error runLinker(ArrayRef<std::string> args) {
  // lld keeps state of a run in globals.
  static std::mutex mutex;
  static bool usable = true;
  std::lock_guard lock(mutex);
  if (!usable)
    return internalError("the linker crashed before and cannot run again in this process");
  SmallVector<const char *> argv = {"ld.lld"};
  for (const std::string &arg : args)
    argv.push_back(arg.c_str());
  std::string text;
  raw_string_ostream os(text);
  lld::Result result = lld::lldMain(argv, os, os, {{lld::Gnu, &lld::elf::link}});
  usable = result.canRunAgain;
  if (result.retCode == 0)
    return Error::success();
  StringRef message = StringRef(text).trim();
  message.consume_front("ld.lld: error: ");
  if (message.contains("No space left") || message.contains("ermission denied") ||
      message.contains("annot allocate memory"))
    return environmentError("the linker failed: " + message);
  return internalError("the linker failed: " + message);
}

/// The libc and libm to link against: the run-time files, which need no development package.
static std::vector<std::string> systemLibraries(const optc::Target &target) {
  static constexpr StringLiteral kX86[] = {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64",
                                           "/usr/lib64"};
  static constexpr StringLiteral kAArch64[] = {"/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                               "/usr/aarch64-linux-gnu/lib"};
#if defined(__aarch64__)
  static constexpr StringLiteral kNativeAArch64[] = {"/lib64", "/usr/lib64"};
#else
  static constexpr ArrayRef<StringLiteral> kNativeAArch64 = {};
#endif
  SmallVector<StringLiteral> folders;
  if (target.isX86())
    folders.append(std::begin(kX86), std::end(kX86));
  else {
    folders.append(std::begin(kAArch64), std::end(kAArch64));
    folders.append(std::begin(kNativeAArch64), std::end(kNativeAArch64));
  }
  for (StringRef folder : folders) {
    std::string libc = (folder + "/libc.so.6").str(), libm = (folder + "/libm.so.6").str();
    if (sys::fs::exists(libc) && sys::fs::exists(libm))
      return {libm, libc};
  }
  return {};
}

static const char *emulation(const optc::Target &target) { return target.isX86() ? "elf_x86_64" : "aarch64linux"; }

Error optc::linkSharedObject(const optc::Target &target, StringRef name, ArrayRef<std::string> files,
                             StringRef output) {
  std::vector<std::string> exports;
  for (StringRef suffix : {"_optc_query", "_create", "_run", "_destroy"})
    exports.push_back((name + suffix).str());
  return linkSharedLibrary(target, name, exports, files, output);
}

Error optc::linkSharedLibrary(const optc::Target &target, StringRef name, ArrayRef<std::string> exports,
                              ArrayRef<std::string> files, StringRef output) {
  Expected<OutputFile> script = OutputFile::create((output + ".map").str());
  if (!script)
    return script.takeError();
  if (Error error = script->append("{ global: " + join(exports, "; ") + "; local: *; };\n"))
    return error;

  std::vector<std::string> args = {"-shared",
                                   "-m",
                                   emulation(target),
                                   "--gc-sections",
                                   "--build-id=none",
                                   "--hash-style=gnu",
                                   "--eh-frame-hdr",
                                   "-z",
                                   "noexecstack",
                                   "-z",
                                   "relro",
                                   "-z",
                                   "now",
                                   "-O1",
                                   "--no-undefined-version",
                                   "-soname",
                                   (name + ".so").str(),
                                   "--version-script=" + script->path().str(),
                                   "-o",
                                   output.str()};
  llvm::append_range(args, files);
  std::vector<std::string> libraries = systemLibraries(target);
  if (libraries.empty())
    llvm::append_range(args, std::initializer_list<std::string>{"-z", "undefs"}); // found when the artifact is loaded
  else {
    args.push_back("-z");
    args.push_back("defs");
    args.push_back("--as-needed");
    llvm::append_range(args, libraries);
  }
  return runLinker(args);
}

Error optc::linkRelocatable(const optc::Target &target, ArrayRef<std::string> files, StringRef output) {
  std::vector<std::string> args = {"-r", "-m", emulation(target), "--build-id=none", "-o", output.str()};
  llvm::append_range(args, files);
  return runLinker(args);
}
