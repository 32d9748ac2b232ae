//===- WeightFile.cpp - constants as an ELF object, streamed --------------===//
#include "optc/codegen/object/WeightFile.h"
#include "optc/codegen/CompileError.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <cstring>

using namespace llvm;
using namespace optc;

static constexpr uint64_t kPage = 4096;
static constexpr size_t kChunk = 1 << 20;

namespace {
/// A string table that is filled once.
struct Strings {
  std::string bytes = std::string(1, '\0');
  uint32_t add(StringRef s) {
    uint32_t at = bytes.size();
    bytes.append(s.begin(), s.end());
    bytes.push_back('\0');
    return at;
  }
};
/// 2- and 4-bit values, first in the low bits, as bytes: one row per packed byte.
template <unsigned Bits, bool Signed> struct UnpackTable {
  static constexpr unsigned kPerByte = 8 / Bits;
  std::array<std::array<char, kPerByte>, 256> rows{};
  constexpr UnpackTable() {
    for (unsigned byte = 0; byte < 256; ++byte)
      for (unsigned i = 0; i < kPerByte; ++i) {
        int value = (byte >> (Bits * i)) & ((1 << Bits) - 1);
        if (Signed && value >> (Bits - 1))
          value -= 1 << Bits;
        rows[byte][i] = static_cast<char>(value);
      }
  }
};
} // namespace

template <unsigned Bits, bool Signed>
static Error writeUnpacked(OutputFile &file, uint64_t at, ArrayRef<char> bytes, uint64_t size) {
  static constexpr UnpackTable<Bits, Signed> table;
  constexpr unsigned per = table.kPerByte;
  std::vector<char> chunk;
  chunk.reserve(kChunk);
  while (size) {
    chunk.clear();
    size_t take = std::min<uint64_t>(bytes.size(), kChunk / per);
    for (char byte : bytes.take_front(take))
      chunk.insert(chunk.end(), table.rows[static_cast<uint8_t>(byte)].begin(),
                   table.rows[static_cast<uint8_t>(byte)].end());
    bytes = bytes.drop_front(take);
    size_t n = std::min<uint64_t>(chunk.size(), size);
    if (Error error = file.write(ArrayRef<char>(chunk.data(), n), at))
      return error;
    at += n;
    size -= n;
  }
  return Error::success();
}

/// Offsets, in elements, of the flattened positions of some axes.
static std::vector<uint64_t> offsetsOf(ArrayRef<WeightBlob::Panels::Axis> axes) {
  std::vector<uint64_t> offsets{0};
  for (const auto &axis : axes) {
    std::vector<uint64_t> next;
    next.reserve(offsets.size() * axis.size);
    for (uint64_t base : offsets)
      for (uint64_t i = 0; i < axis.size; ++i)
        next.push_back(base + i * axis.stride);
    offsets = std::move(next);
  }
  return offsets;
}

/// Copies element `i` of some packed values.
template <unsigned Bits, bool Signed> static void unpackOne(ArrayRef<char> source, uint64_t i, char *to) {
  static constexpr UnpackTable<Bits, Signed> table;
  *to = table.rows[static_cast<uint8_t>(source[i / table.kPerByte])][i % table.kPerByte];
}

template <size_t Bytes> static void copyOne(ArrayRef<char> source, uint64_t i, char *to) {
  std::memcpy(to, source.data() + i * Bytes, Bytes);
}

/// Two values per byte, in place: the first half of every step's lanes in the low bits, the second in the high ones.
/// `flipped` bits are inverted.
static ArrayRef<char> shareBytes(MutableArrayRef<char> panel, uint64_t lanes, int flipped) {
  uint64_t half = lanes / 2, steps = panel.size() / lanes;
  for (uint64_t step = 0; step < steps; ++step)
    for (uint64_t i = 0; i < half; ++i) {
      const char *from = panel.data() + step * lanes + i;
      panel[step * half + i] = static_cast<char>(((from[0] & 15) | (from[half] & 15) << 4) ^ flipped * 0x11);
    }
  return panel.take_front(steps * half);
}

template <size_t Bytes, auto Take = copyOne<Bytes>, unsigned PerByte = 1>
static Error writePanels(OutputFile &file, uint64_t at, ArrayRef<char> source, const WeightBlob::Panels &p) {
  std::vector<uint64_t> outer = offsetsOf(p.outer), n = offsetsOf(p.n), k = offsetsOf(p.k);
  uint64_t run = std::max<uint64_t>(p.runSize(), 1), groupsPerRun = p.groupsPerRun();
  std::vector<char> panel(p.groups() * p.lanes * p.depth * Bytes);
  for (uint64_t base : outer)
    for (uint64_t first = 0; first < n.size(); first += p.lanes) {
      uint64_t columns = std::min<uint64_t>(p.lanes, n.size() - first);
      std::memset(panel.data(), 0, panel.size());
      for (size_t row = 0; row < k.size(); ++row) {
        uint64_t group = row / run * groupsPerRun + row % run / p.depth, slot = row % run % p.depth;
        uint64_t left = run % p.depth;
        if (left && run >= p.depth && row % run >= run - left)
          slot += p.depth - left;
        for (uint64_t lane = 0; lane < columns; ++lane) {
          uint64_t from = base + k[row] + n[first + lane];
          if (from >= source.size() / Bytes * PerByte)
            return internalError("a packing reads behind its constant");
          Take(source, from, panel.data() + ((group * p.lanes + lane) * p.depth + slot) * Bytes);
        }
      }
      ArrayRef<char> stored = p.perByte == 2 ? shareBytes(panel, p.lanes, p.addsBias ? 8 : 0) : ArrayRef<char>(panel);
      if (Error error = file.write(stored, at))
        return error;
      at += stored.size();
    }
  return Error::success();
}

static Error writeBlob(OutputFile &file, uint64_t base, const WeightBlob &blob) {
  uint64_t at = base + blob.offset, size = blob.size();
  if (const auto &p = blob.panels; p && p->perByte != 1 && (p->perByte != 2 || p->elementBytes != 1 || p->lanes % 2))
    return internalError("panels of " + Twine(p->lanes) + " lanes with " + Twine(p->perByte) + " values per byte");
  if (blob.panels && blob.recipe != WeightBlob::Copy)
    switch (blob.recipe) {
    case WeightBlob::UnpackNibblesSigned:
      return writePanels<1, unpackOne<4, true>, 2>(file, at, blob.bytes, *blob.panels);
    case WeightBlob::UnpackNibblesUnsigned:
      return writePanels<1, unpackOne<4, false>, 2>(file, at, blob.bytes, *blob.panels);
    case WeightBlob::UnpackCrumbsSigned:
      return writePanels<1, unpackOne<2, true>, 4>(file, at, blob.bytes, *blob.panels);
    default:
      return writePanels<1, unpackOne<2, false>, 4>(file, at, blob.bytes, *blob.panels);
    }
  if (blob.panels)
    switch (blob.panels->elementBytes) {
    case 1:
      return writePanels<1>(file, at, blob.bytes, *blob.panels);
    case 2:
      return writePanels<2>(file, at, blob.bytes, *blob.panels);
    case 4:
      return writePanels<4>(file, at, blob.bytes, *blob.panels);
    case 8:
      return writePanels<8>(file, at, blob.bytes, *blob.panels);
    default:
      return internalError("panels of " + Twine(blob.panels->elementBytes) + "-byte elements");
    }
  switch (blob.recipe) {
  case WeightBlob::Copy:
    return file.write(blob.bytes, at);
  case WeightBlob::UnpackNibblesSigned:
    return writeUnpacked<4, true>(file, at, blob.bytes, size);
  case WeightBlob::UnpackNibblesUnsigned:
    return writeUnpacked<4, false>(file, at, blob.bytes, size);
  case WeightBlob::UnpackCrumbsSigned:
    return writeUnpacked<2, true>(file, at, blob.bytes, size);
  case WeightBlob::UnpackCrumbsUnsigned:
    return writeUnpacked<2, false>(file, at, blob.bytes, size);
  }
  return internalError("unknown recipe of a constant");
}

Error optc::writeWeightObject(OutputFile &file, const optc::Target &target, StringRef symbol,
                              ArrayRef<WeightBlob> blobs) {
  uint64_t size = 0;
  for (const WeightBlob &blob : blobs) {
    if (blob.offset < size || blob.offset % 64)
      return internalError("constants overlap or are not aligned at offset " + Twine(blob.offset));
    size = blob.offset + blob.size();
  }

  enum { Null, Data, Stack, SymTab, StrTab, ShStrTab, NumSections };
  Strings names, symbols;
  ELF::Elf64_Shdr headers[NumSections] = {};
  ELF::Elf64_Sym syms[2] = {};
  syms[1].st_name = symbols.add(symbol);
  syms[1].setBindingAndType(ELF::STB_GLOBAL, ELF::STT_OBJECT);
  syms[1].st_other = ELF::STV_HIDDEN;
  syms[1].st_shndx = Data;
  syms[1].st_size = size;

  // The constants come last: what describes them has a known size.
  uint64_t at = sizeof(ELF::Elf64_Ehdr) + sizeof(headers);
  auto section = [&](int index, StringRef name, uint32_t type, uint64_t flags, uint64_t bytes,
                     uint64_t align) -> ELF::Elf64_Shdr & {
    ELF::Elf64_Shdr &h = headers[index];
    at = alignTo(at, align);
    h.sh_name = names.add(name);
    h.sh_type = type;
    h.sh_flags = flags;
    h.sh_offset = at;
    h.sh_size = bytes;
    h.sh_addralign = align;
    at += bytes;
    return h;
  };
  section(Stack, ".note.GNU-stack", ELF::SHT_PROGBITS, 0, 0, 1);
  ELF::Elf64_Shdr &symtab = section(SymTab, ".symtab", ELF::SHT_SYMTAB, 0, sizeof(syms), 8);
  symtab.sh_link = StrTab;
  symtab.sh_info = 1; // first symbol that is not local
  symtab.sh_entsize = sizeof(ELF::Elf64_Sym);
  section(StrTab, ".strtab", ELF::SHT_STRTAB, 0, symbols.bytes.size(), 1);
  // A large section may lie beyond 2 GiB from the code.
  StringRef dataName = target.isX86() ? ".lrodata.optc" : ".rodata.optc";
  uint64_t dataFlags = ELF::SHF_ALLOC | (target.isX86() ? uint64_t(ELF::SHF_X86_64_LARGE) : 0);
  names.add(dataName);
  section(ShStrTab, ".shstrtab", ELF::SHT_STRTAB, 0, 0, 1);
  headers[ShStrTab].sh_size = names.bytes.size();
  at += names.bytes.size();
  ELF::Elf64_Shdr &data = headers[Data];
  data.sh_name = StringRef(names.bytes).find(dataName);
  data.sh_type = ELF::SHT_PROGBITS;
  data.sh_flags = dataFlags;
  data.sh_offset = alignTo(at, kPage);
  data.sh_size = size;
  data.sh_addralign = kPage;

  ELF::Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELF::ElfMagic, 4);
  header.e_ident[ELF::EI_CLASS] = ELF::ELFCLASS64;
  header.e_ident[ELF::EI_DATA] = ELF::ELFDATA2LSB;
  header.e_ident[ELF::EI_VERSION] = ELF::EV_CURRENT;
  header.e_type = ELF::ET_REL;
  header.e_machine = target.isX86() ? ELF::EM_X86_64 : ELF::EM_AARCH64;
  header.e_version = ELF::EV_CURRENT;
  header.e_shoff = sizeof(header);
  header.e_ehsize = sizeof(header);
  header.e_shentsize = sizeof(ELF::Elf64_Shdr);
  header.e_shnum = NumSections;
  header.e_shstrndx = ShStrTab;

  auto put = [&](const void *bytes, size_t n, uint64_t offset) {
    return file.write(StringRef(static_cast<const char *>(bytes), n), offset);
  };
  if (Error error = put(&header, sizeof(header), 0))
    return error;
  if (Error error = put(headers, sizeof(headers), header.e_shoff))
    return error;
  if (Error error = put(syms, sizeof(syms), symtab.sh_offset))
    return error;
  if (Error error = file.write(StringRef(symbols.bytes), headers[StrTab].sh_offset))
    return error;
  if (Error error = file.write(StringRef(names.bytes), headers[ShStrTab].sh_offset))
    return error;
  for (const WeightBlob &blob : blobs)
    if (Error error = writeBlob(file, data.sh_offset, blob))
      return error;
  return Error::success();
}
