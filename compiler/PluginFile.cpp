//===- PluginFile.cpp - a plugin as a file ---------------------------------===//
#include "optc/compiler/PluginFile.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <cstring>
#include <dlfcn.h>
#include <link.h>

using namespace llvm;
using namespace optc;

static Error problem(const Twine &reason) { return createStringError(inconvertibleErrorCode(), reason); }

std::string optc::fileOfAddress(const void *address) {
  Dl_info info;
  return address && dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

namespace {
struct BuildIdSearch {
  uintptr_t address;
  std::string id;
};
} // namespace

/// The build ID among the notes of a segment.
static std::string buildIdOfNotes(const char *at, size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof(note));
    uint64_t name = alignTo(note.n_namesz, 4), used = sizeof(note) + name + alignTo(note.n_descsz, 4);
    if (used > size)
      break;
    const char *text = at + sizeof(note);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !std::memcmp(text, "GNU", 4))
      return toHex(StringRef(text + name, note.n_descsz), /*LowerCase=*/true);
    at += used;
    size -= used;
  }
  return "";
}

static int searchBuildId(dl_phdr_info *file, size_t, void *data) {
  auto &search = *static_cast<BuildIdSearch *>(data);
  ArrayRef<ElfW(Phdr)> segments(file->dlpi_phdr, file->dlpi_phnum);
  if (none_of(segments, [&](const ElfW(Phdr) & s) {
        return s.p_type == PT_LOAD && search.address - file->dlpi_addr - s.p_vaddr < s.p_memsz;
      }))
    return 0;
  for (const ElfW(Phdr) &s : segments)
    if (s.p_type == PT_NOTE && search.id.empty())
      search.id = buildIdOfNotes(reinterpret_cast<const char *>(file->dlpi_addr + s.p_vaddr), s.p_memsz);
  return 1;
}

std::string optc::buildIdOfAddress(const void *address) {
  BuildIdSearch search{reinterpret_cast<uintptr_t>(address), ""};
  dl_iterate_phdr(searchBuildId, &search);
  return search.id;
}

/// The names of the shared objects that `file` needs.
static Expected<SmallVector<StringRef>> neededLibraries(const object::ELFFile<object::ELF64LE> &elf) {
  auto entries = elf.dynamicEntries();
  if (!entries)
    return entries.takeError();
  uint64_t strings = 0, size = 0;
  for (const auto &entry : *entries) {
    strings = entry.getTag() == DT_STRTAB ? uint64_t(entry.getPtr()) : strings;
    size = entry.getTag() == DT_STRSZ ? uint64_t(entry.getVal()) : size;
  }
  SmallVector<StringRef> names;
  Expected<const uint8_t *> table = elf.toMappedAddr(strings);
  if (!table)
    return table.takeError();
  if (size > uint64_t(elf.end() - *table))
    return problem("its table of names lies outside of the file");
  StringRef text(reinterpret_cast<const char *>(*table), size);
  for (const auto &entry : *entries)
    if (entry.getTag() == DT_NEEDED)
      names.push_back(text.substr(entry.getVal()).split('\0').first);
  return names;
}

/// What can be known before any code of the file runs.
static Error checkFile(StringRef path) {
  if (sys::fs::is_directory(path))
    return problem("it is a folder");
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return problem("it cannot be read: " + file.getError().message());
  StringRef bytes = (*file)->getBuffer();
  if (!bytes.starts_with(StringRef("\177ELF\2\1", 6)))
    return problem(bytes.empty() ? "it is empty" : "it is not a shared object (ELF, 64 bit)");
  auto elf = object::ELFFile<object::ELF64LE>::create(bytes);
  if (!elf)
    return problem("it is damaged: " + toString(elf.takeError()));
  const auto &header = elf->getHeader();
  if (header.e_type != ET_DYN)
    return problem("it is not a shared object: link it with -shared");
  static const ElfW(Ehdr) *own = [] {
    Dl_info info;
    return dladdr(reinterpret_cast<void *>(&openPlugin), &info) ? static_cast<ElfW(Ehdr) *>(info.dli_fbase) : nullptr;
  }();
  if (own && header.e_machine != own->e_machine)
    return problem("it is for another machine (ELF machine " + Twine(header.e_machine) + ", optc is for " +
                   Twine(own->e_machine) + ")");
  auto segments = elf->program_headers();
  if (!segments)
    return problem("it is damaged: " + toString(segments.takeError()));
  // The loader maps what is not there, and the process ends with SIGBUS.
  for (const auto &s : *segments)
    if (s.p_offset > bytes.size() || s.p_filesz > bytes.size() - s.p_offset)
      return problem("it is cut off: a segment ends behind the end of the file");
  Expected<SmallVector<StringRef>> needed = neededLibraries(*elf);
  if (!needed)
    return problem("it is damaged: " + toString(needed.takeError()));
  auto streams = static_cast<raw_fd_ostream &(*)()>(&errs);
  const std::pair<StringRef, std::string> loaded[] = {
      {"libMLIR", fileOfAddress(mlir::TypeID::get<mlir::ModuleOp>().getAsOpaquePointer())},
      {"libLLVM", fileOfAddress(reinterpret_cast<const void *>(streams))}};
  for (StringRef library : *needed)
    for (const auto &[name, file] : loaded)
      if ((library.starts_with((name + ".so").str()) || library.starts_with((name + "-").str())) &&
          library != sys::path::filename(file))
        return problem("it needs " + library + ", and optc runs on " + sys::path::filename(file) +
                       "; build it against the LLVM of this optc (" LLVM_VERSION_STRING ")");
  return Error::success();
}

Expected<const optc_plugin_info *> optc::openPlugin(const std::string &path) {
  if (Error error = checkFile(path))
    return std::move(error);
  // What is undefined is an error now and not in the middle of a pass; its symbols stay its own.
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return problem("it cannot be loaded: " + Twine(reason ? reason : "no reason given"));
  }
  auto entry = reinterpret_cast<const optc_plugin_info *(*)()>(dlsym(handle, "optc_plugin_entry"));
  if (!entry)
    return problem("it does not export optc_plugin_entry; OPTC_PLUGIN of optc/compiler/PluginApi.h defines it");
  const optc_plugin_info *info = entry();
  return info ? Expected<const optc_plugin_info *>(info) : problem("its optc_plugin_entry returns a null pointer");
}
