//===- Load.cpp - loading artifacts from files ----------------------------===//
//
// The file is checked, and its query function found, by reading its ELF dynamic symbol table before the dynamic linker
// sees it.
//
//===----------------------------------------------------------------------===//
#include "Internal.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace optc::rt;

static constexpr char kSuffix[] = "_optc_query";

namespace {
struct Mapped {
  const char *data = nullptr;
  size_t size = 0;
  ~Mapped() {
    if (data)
      munmap(const_cast<char *>(data), size);
  }
  bool inside(uint64_t at, uint64_t n) const { return at <= size && n <= size - at; }
};
} // namespace

#if defined(__x86_64__)
static constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
static constexpr int kMachine = EM_AARCH64;
#else
static constexpr int kMachine = EM_NONE;
#endif

/// Copies the name of the query function into `name`; the reason why not otherwise.
static const char *findQuery(const Mapped &f, char *name, size_t room) {
  Elf64_Ehdr e;
  if (f.size < sizeof(e) || memcmp(f.data, ELFMAG, SELFMAG))
    return "is not an ELF file; an artifact made with --emit=so is expected";
  memcpy(&e, f.data, sizeof(e));
  if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_ident[EI_DATA] != ELFDATA2LSB || (kMachine && e.e_machine != kMachine))
    return "is for another processor; compile the model with --target= for this machine";
  if (e.e_type != ET_DYN)
    return "is not a shared object; an artifact made with --emit=so is expected";
  if (e.e_shentsize != sizeof(Elf64_Shdr) || !f.inside(e.e_shoff, uint64_t(e.e_shnum) * sizeof(Elf64_Shdr)))
    return "has a damaged section table";
  for (unsigned i = 0; i < e.e_shnum; ++i) {
    Elf64_Shdr symbols, strings;
    memcpy(&symbols, f.data + e.e_shoff + i * sizeof(Elf64_Shdr), sizeof(symbols));
    if (symbols.sh_type != SHT_DYNSYM)
      continue;
    if (symbols.sh_link >= e.e_shnum)
      return "has a damaged symbol table";
    memcpy(&strings, f.data + e.e_shoff + symbols.sh_link * sizeof(Elf64_Shdr), sizeof(strings));
    if (!f.inside(symbols.sh_offset, symbols.sh_size) || !f.inside(strings.sh_offset, strings.sh_size))
      return "has a damaged symbol table";
    for (uint64_t s = 0; s + sizeof(Elf64_Sym) <= symbols.sh_size; s += sizeof(Elf64_Sym)) {
      Elf64_Sym sym;
      memcpy(&sym, f.data + symbols.sh_offset + s, sizeof(sym));
      if (sym.st_shndx == SHN_UNDEF || sym.st_name >= strings.sh_size)
        continue;
      const char *text = f.data + strings.sh_offset + sym.st_name;
      size_t n = strnlen(text, strings.sh_size - sym.st_name), tail = sizeof(kSuffix) - 1;
      if (n > tail && n < room && n < strings.sh_size - sym.st_name && !memcmp(text + n - tail, kSuffix, tail)) {
        memcpy(name, text, n + 1);
        return nullptr;
      }
    }
  }
  return "exports no function NAME_optc_query, so it is not an optc artifact";
}

extern "C" optc_status optc_model_load_file(const char *path, optc_model **model, optc_error *error) {
  if (!model || !path)
    return setError(error, OPTC_INVALID_ARGUMENT, "optc_model_load_file: a null pointer was given");
  *model = nullptr;
  char name[1024];
  {
    Mapped f;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      return setError(error, OPTC_IO, "cannot open '%s': %s", path, strerror(errno));
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0) {
      close(fd);
      return setError(error, OPTC_IO, "'%s' is not a regular file with contents", path);
    }
    void *data = mmap(nullptr, size_t(st.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (data == MAP_FAILED)
      return setError(error, OPTC_IO, "cannot map '%s': %s", path, strerror(errno));
    f.data = static_cast<const char *>(data);
    f.size = size_t(st.st_size);
    if (const char *reason = findQuery(f, name, sizeof(name)))
      return setError(error, OPTC_IO, "'%s' %s", path, reason);
  }
  // Without a slash the dynamic linker would search its own paths.
  char local[4096];
  const char *file = path;
  if (!strchr(path, '/')) {
    size_t n = strlen(path);
    if (n + 3 > sizeof(local))
      return setError(error, OPTC_IO, "the path of the artifact is too long");
    memcpy(local, "./", 2);
    memcpy(local + 2, path, n + 1);
    file = local;
  }
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return setError(error, OPTC_IO, "cannot load '%s': %s", path, dlerror());
  auto query = reinterpret_cast<optc_query>(dlsym(library, name));
  const optc_api *api = query ? query(OPTC_API_ABI) : nullptr;
  if (!api || api->abi != OPTC_API_ABI || api->size < sizeof(optc_api) || !api->desc) {
    dlclose(library);
    return setError(error, OPTC_UNSUPPORTED,
                    "'%s' does not serve version %d of the runtime's API; compile the model again with the optc that "
                    "this runtime came with",
                    path, OPTC_API_ABI);
  }
  optc_status status = api->model_from_desc(api->desc, model, error);
  if (status) {
    dlclose(library);
    return status;
  }
  (*model)->api = api;
  (*model)->library = library;
  return OPTC_OK;
}

extern "C" void optc_model_destroy(optc_model *model) {
  if (!model)
    return;
  void *library = model->library;
  model->api->model_destroy(model);
  if (library)
    dlclose(library);
}
