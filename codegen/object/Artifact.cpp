//===- Artifact.cpp - from code and constants to files --------------------===//
#include "optc/codegen/object/Artifact.h"
#include "optc/codegen/CompileError.h"
#include "optc/codegen/object/EmitObject.h"
#include "optc/codegen/object/Linker.h"
#include "optc/codegen/object/OutputFile.h"
#include "optc/codegen/object/WeightFile.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <chrono>
#include <deque>
#include <dlfcn.h>

using namespace llvm;
using namespace optc;

namespace {
/// Adds the time of its life to a field of the statistics.
class Stopwatch {
public:
  explicit Stopwatch(double &total) : total(total), start(std::chrono::steady_clock::now()) {}
  ~Stopwatch() { total += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count(); }

private:
  double &total;
  std::chrono::steady_clock::time_point start;
};

/// One emission: the objects on disk until they are linked.
class Emitter {
public:
  Emitter(const optc::Target &target, const ModelSignature &signature, const ArtifactOptions &options,
          ArtifactStats &stats)
      : target(target), signature(signature), options(options), stats(stats) {}
  Error run(mlir::ModuleOp module, ArrayRef<WeightBlob> weights);

private:
  Error writeObjects(std::unique_ptr<Module> module, ArrayRef<WeightBlob> weights);
  Error linkShared(OutputFile &output);
  Error linkObject(OutputFile &output);
  Error archive(OutputFile &output);
  Error addLibraries(std::vector<NewArchiveMember> &members,
                     std::vector<object::OwningBinary<object::Binary>> &libraries);
  Error appendToLauncher(StringRef shared, OutputFile &output);
  std::string intermediate(StringRef suffix) const;

  const optc::Target &target;
  const ModelSignature &signature;
  const ArtifactOptions &options;
  ArtifactStats &stats;
  std::deque<OutputFile> objects;
  std::deque<std::string> names; ///< of archive members
};
} // namespace

std::string optc::findInstalledFile(StringRef name) {
  // dladdr finds the library that this code is in; liboptc.so sits in lib/.
  Dl_info info;
  static const char here = 0;
  if (!dladdr(&here, &info) || !info.dli_fname)
    return "";
  SmallString<256> library;
  if (sys::fs::real_path(info.dli_fname, library))
    return "";
  for (StringRef folder : {"", "optc", "../bin", "../lib/optc"}) {
    SmallString<256> path = sys::path::parent_path(library);
    sys::path::append(path, folder, name);
    if (sys::fs::exists(path))
      return std::string(path);
  }
  return "";
}

std::string Emitter::intermediate(StringRef suffix) const { return options.output + suffix.str(); }

Error Emitter::writeObjects(std::unique_ptr<Module> module, ArrayRef<WeightBlob> weights) {
  {
    Stopwatch watch(stats.codegenMs);
    Expected<std::vector<SmallVector<char, 0>>> code = emitObjects(std::move(module), target, options.optLevel);
    if (!code)
      return code.takeError();
    for (SmallVector<char, 0> &bytes : *code) {
      Expected<OutputFile> file = OutputFile::create(intermediate(".o"));
      if (!file)
        return file.takeError();
      if (Error error = file->write(ArrayRef<char>(bytes), 0))
        return error;
      stats.codeBytes += bytes.size();
      objects.push_back(std::move(*file));
    }
  }
  if (weights.empty())
    return Error::success();
  Stopwatch watch(stats.weightsMs);
  Expected<OutputFile> file = OutputFile::create(intermediate(".weights.o"));
  if (!file)
    return file.takeError();
  if (Error error = writeWeightObject(*file, target, weightSymbol(signature), weights))
    return error;
  stats.weightBytes = file->size();
  objects.push_back(std::move(*file));
  return Error::success();
}

/// Room for what the linker makes of these files at most.
static Error checkSpace(OutputFile &output, ArrayRef<std::string> files) {
  uint64_t bytes = 64 << 10; // headers, and alignment between segments
  for (const std::string &path : files) {
    uint64_t size = 0;
    sys::fs::file_size(path, size);
    bytes += size;
  }
  return output.checkSpace(bytes);
}

Error Emitter::linkShared(OutputFile &output) {
  std::string runtime = findInstalledFile(target.isAArch64() ? "aarch64/liboptc_rt.a" : "liboptc_rt.a");
#if defined(__aarch64__)
  if (runtime.empty() && target.isAArch64())
    runtime = findInstalledFile("liboptc_rt.a");
#endif
  if (runtime.empty())
    return environmentError("optc's runtime for " + StringRef(target.triple).split('-').first +
                            " (liboptc_rt.a) is not installed beside liboptc.so; use --emit=obj or --emit=static-lib "
                            "and link the runtime of the target");
  std::vector<std::string> files;
  for (const OutputFile &object : objects)
    files.push_back(object.path().str());
  llvm::append_range(files, options.libraries);
  files.push_back(runtime);
  if (Error error = checkSpace(output, files))
    return error;
  Error error = linkSharedObject(target, signature.name, files, output.path());
  if (options.libraries.empty())
    return error;
  // The linker trips over nothing else that is not optc's own.
  return handleErrors(std::move(error), [&](std::unique_ptr<CompileError> e) -> Error {
    if (e->code() != ExitCode::Internal)
      return Error(std::move(e));
    return usageError("the kernels of plugins in " + join(options.libraries, ", ") +
                      " cannot be linked: " + e->message() + "; they may need each other, libc and libm only");
  });
}

Error Emitter::linkObject(OutputFile &output) {
  std::vector<std::string> files;
  for (const OutputFile &object : objects)
    files.push_back(object.path().str());
  llvm::append_range(files, options.libraries);
  if (Error error = checkSpace(output, files))
    return error;
  return linkRelocatable(target, files, output.path());
}

static Expected<object::OwningBinary<object::Binary>> openLibrary(StringRef file) {
  Expected<object::OwningBinary<object::Binary>> binary = object::createBinary(file);
  if (!binary)
    return usageError(file + " is no object and no archive: " + toString(binary.takeError()));
  if (!isa<object::ObjectFile, object::Archive>(binary->getBinary()))
    return usageError(file + " is no object and no archive");
  return binary;
}

Expected<bool> optc::isForTarget(StringRef file, const optc::Target &target) {
  Expected<object::OwningBinary<object::Binary>> binary = openLibrary(file);
  if (!binary)
    return binary.takeError();
  auto fits = [&](const object::Binary &code) {
    auto *object = dyn_cast<object::ELFObjectFileBase>(&code);
    return object && object->getArch() == Triple(target.triple).getArch();
  };
  auto *archive = dyn_cast<object::Archive>(binary->getBinary());
  if (!archive)
    return fits(*binary->getBinary());
  Error error = Error::success();
  bool all = true;
  for (const object::Archive::Child &child : archive->children(error)) {
    Expected<std::unique_ptr<object::Binary>> member = child.getAsBinary();
    if (!member) {
      consumeError(std::move(error));
      return usageError(file + " has a damaged member: " + toString(member.takeError()));
    }
    all &= fits(**member);
  }
  if (error)
    return usageError(file + " is damaged: " + toString(std::move(error)));
  return all;
}

/// Everything in the libraries becomes members of the archive.
Error Emitter::addLibraries(std::vector<NewArchiveMember> &members,
                            std::vector<object::OwningBinary<object::Binary>> &libraries) {
  for (const std::string &file : options.libraries) {
    Expected<object::OwningBinary<object::Binary>> library = openLibrary(file);
    if (!library)
      return library.takeError();
    auto *archive = dyn_cast<object::Archive>(library->getBinary());
    if (!archive) {
      Expected<NewArchiveMember> member = NewArchiveMember::getFile(file, /*Deterministic=*/true);
      if (!member)
        return environmentError(toString(member.takeError()));
      member->MemberName = names.emplace_back(sys::path::filename(file));
      members.push_back(std::move(*member));
      continue;
    }
    Error error = Error::success();
    for (const object::Archive::Child &child : archive->children(error)) {
      Expected<NewArchiveMember> member = NewArchiveMember::getOldMember(child, /*Deterministic=*/true);
      if (!member) {
        consumeError(std::move(error));
        return environmentError(file + ": " + toString(member.takeError()));
      }
      members.push_back(std::move(*member));
    }
    if (error)
      return environmentError(file + ": " + toString(std::move(error)));
    libraries.push_back(std::move(*library));
  }
  return Error::success();
}

Error Emitter::archive(OutputFile &output) {
  std::vector<NewArchiveMember> members;
  for (size_t i = 0; i < objects.size(); ++i) {
    Expected<NewArchiveMember> member = NewArchiveMember::getFile(objects[i].path(), /*Deterministic=*/true);
    if (!member)
      return environmentError(toString(member.takeError()));
    bool isWeights = i + 1 == objects.size() && stats.weightBytes;
    std::string name = signature.name + (isWeights ? "_weights" : i ? "_" + std::to_string(i) : "") + ".o";
    // The name has to live as long as the member.
    member->MemberName = names.emplace_back(std::move(name));
    members.push_back(std::move(*member));
  }
  std::vector<object::OwningBinary<object::Binary>> libraries; // members point into them
  if (Error error = addLibraries(members, libraries))
    return error;
  std::error_code why;
  raw_fd_ostream os(output.path(), why);
  if (why)
    return output.failed(why);
  Error error = writeArchiveToStream(os, members, SymtabWritingMode::NormalSymtab, object::Archive::K_GNU,
                                     /*Deterministic=*/true, /*Thin=*/false);
  os.close();
  why = os.error();
  os.clear_error();
  if (error)
    return environmentError("cannot write " + options.output + ": " + toString(std::move(error)));
  return why ? output.failed(why) : Error::success();
}

/// What tools/launcher.cpp reads: the launcher, the artifact, "OPTCEXE1" and the size of the artifact (8 bytes,
/// little-endian).
Error Emitter::appendToLauncher(StringRef shared, OutputFile &output) {
  bool hostIsX86 = Triple(sys::getProcessTriple()).isX86();
  if (hostIsX86 != target.isX86())
    return environmentError("--emit=exe needs a launcher for " + StringRef(target.triple).split('-').first +
                            ", which is not installed; use --emit=obj");
  std::string launcher = findInstalledFile("optc-launcher");
  if (launcher.empty())
    return environmentError(
        "the launcher of --emit=exe (optc-launcher) is not installed beside liboptc.so; use --emit=so and optc-run");
  uint64_t size = 0;
  for (StringRef path : {StringRef(launcher), shared}) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> bytes =
        MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!bytes)
      return environmentError("cannot read " + path + ": " + bytes.getError().message());
    size = (*bytes)->getBufferSize();
    if (Error error = output.append((*bytes)->getBuffer()))
      return error;
  }
  char trailer[16];
  std::memcpy(trailer, "OPTCEXE1", 8);
  support::endian::write64le(trailer + 8, size);
  return output.append(StringRef(trailer, 16));
}

Error Emitter::run(mlir::ModuleOp module, ArrayRef<WeightBlob> weights) {
  LLVMContext context;
  bool shared = options.kind == ArtifactKind::SharedObject || options.kind == ArtifactKind::Executable ||
                options.kind == ArtifactKind::LlvmIr;
  std::unique_ptr<Module> code;
  {
    Stopwatch watch(stats.translateMs);
    Expected<std::unique_ptr<Module>> made =
        translateModel(module, context, target, signature, shared ? Linkage::Shared : Linkage::Static, options.device);
    if (!made)
      return made.takeError();
    code = std::move(*made);
  }
  if (options.kind == ArtifactKind::LlvmIr) {
    Stopwatch watch(stats.codegenMs);
    if (Error error = optimizeModule(*code, target, options.optLevel))
      return error;
    std::string text;
    raw_string_ostream os(text);
    code->print(os, nullptr);
    stats.fileBytes = text.size();
    return writeTextFile(options.output, text);
  }

  Expected<OutputFile> output = OutputFile::create(options.output);
  if (!output)
    return output.takeError();
  // The header is on disk before the artifact is replaced: a full disk leaves the old pair.
  std::optional<OutputFile> header;
  if (!options.headerPath.empty()) {
    Expected<OutputFile> file = OutputFile::create(options.headerPath);
    if (!file)
      return file.takeError();
    if (Error error = file->append(options.header))
      return error;
    header.emplace(std::move(*file));
  }
  if (Error error = writeObjects(std::move(code), weights))
    return error;
  Stopwatch watch(stats.linkMs);
  switch (options.kind) {
  case ArtifactKind::SharedObject:
    if (Error error = linkShared(*output))
      return error;
    break;
  case ArtifactKind::Executable: {
    Expected<OutputFile> so = OutputFile::create(intermediate(".so"));
    if (!so)
      return so.takeError();
    if (Error error = linkShared(*so))
      return error;
    if (Error error = appendToLauncher(so->path(), *output))
      return error;
    break;
  }
  case ArtifactKind::Object:
    if (Error error = linkObject(*output))
      return error;
    break;
  default:
    if (Error error = archive(*output))
      return error;
  }
  uint64_t size = 0;
  sys::fs::file_size(output->path(), size);
  stats.fileBytes = size;
  if (options.maxBytes && size > *options.maxBytes)
    return makeError(ExitCode::Limit,
                     "the artifact has " + Twine(size) + " bytes, more than --max-size=" + Twine(*options.maxBytes));
  bool executable = options.kind == ArtifactKind::SharedObject || options.kind == ArtifactKind::Executable;
  if (Error error = output->commit(executable))
    return error;
  return header ? header->commit() : Error::success();
}

Error optc::emitArtifact(mlir::ModuleOp module, const optc::Target &target, const ModelSignature &signature,
                         ArrayRef<WeightBlob> weights, const ArtifactOptions &options, ArtifactStats &stats) {
  return Emitter(target, signature, options, stats).run(module, weights);
}
