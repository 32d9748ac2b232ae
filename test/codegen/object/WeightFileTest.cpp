//===- WeightFileTest.cpp - the object file of the constants --------------===//
#include "optc/codegen/object/WeightFile.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optc;

namespace {
/// Writes blobs and reads the object back with LLVM's reader.
struct Written {
  explicit Written(StringRef target, ArrayRef<WeightBlob> blobs) {
    SmallString<128> path;
    sys::fs::createUniquePath("optc-weights-%%%%%%.o", path, /*MakeAbsolute=*/true);
    Expected<optc::Target> resolved = resolveTarget(target);
    Expected<OutputFile> file = OutputFile::create(path);
    if (!resolved || !file) {
      consumeError(resolved.takeError());
      consumeError(file.takeError());
      return;
    }
    error = toString(writeWeightObject(*file, *resolved, "m_weights", blobs));
    buffer = std::move(*MemoryBuffer::getFile(file->path()));
    if (!error.empty())
      return;
    object = cantFail(object::ObjectFile::createELFObjectFile(buffer->getMemBufferRef()));
    for (const object::SectionRef &section : object->sections())
      if (cantFail(section.getName()).ends_with("rodata.optc")) {
        name = cantFail(section.getName()).str();
        data = cantFail(section.getContents()).str();
        flags = object::ELFSectionRef(section).getFlags();
        align = section.getAlignment().value();
      }
  }
  std::string error, name, data;
  uint64_t flags = 0, align = 0;
  std::unique_ptr<MemoryBuffer> buffer;
  std::unique_ptr<object::ObjectFile> object;
};

ArrayRef<char> bytes(StringRef s) { return {s.data(), s.size()}; }
} // namespace

TEST(WeightFile, PlacesBlobsAtTheirOffsets) {
  Written w("x86-64-v2", {{0, bytes("abc")}, {128, bytes("xy")}});
  ASSERT_EQ(w.error, "");
  EXPECT_EQ(w.name, ".lrodata.optc");
  ASSERT_EQ(w.data.size(), 130u);
  EXPECT_EQ(w.data.substr(0, 3), "abc");
  EXPECT_EQ(w.data.substr(3, 125), std::string(125, '\0'));
  EXPECT_EQ(w.data.substr(128), "xy");
  EXPECT_EQ(w.align, 4096u);
  EXPECT_EQ(w.flags, uint64_t(ELF::SHF_ALLOC | ELF::SHF_X86_64_LARGE));
}

TEST(WeightFile, PacksGroupsOfSteps) {
  // Two runs of three steps, three columns: groups of two, of which the second ends with the run.
  WeightBlob blob{0, bytes("abcdefghijklmnopqr")};
  WeightBlob::Panels panels;
  panels.n = {{3, 1}};
  panels.k = {{2, 9}, {3, 3}};
  panels.lanes = 2;
  panels.elementBytes = 1;
  panels.depth = 2;
  panels.run = 1;
  blob.panels = panels;
  EXPECT_EQ(blob.size(), 32u);
  Written w("x86-64-v2", {blob});
  ASSERT_EQ(w.error, "");
  EXPECT_EQ(w.data, std::string("adbe\0g\0hjmkn\0p\0qcf\0\0\0i\0\0lo\0\0\0r\0\0", 32));
  // A run shorter than a group has zeros behind it.
  panels.depth = 4;
  blob.panels = panels;
  Written other("x86-64-v2", {blob});
  ASSERT_EQ(other.error, "");
  EXPECT_EQ(other.data, std::string("adg\0beh\0jmp\0knq\0cfi\0\0\0\0\0lor\0\0\0\0\0", 32));
}

TEST(WeightFile, PacksValuesSmallerThanBytes) {
  WeightBlob blob{0, bytes("\x21\xF3")}; // 1, 2, 3, -1
  blob.recipe = WeightBlob::UnpackNibblesSigned;
  blob.count = 4;
  WeightBlob::Panels panels;
  panels.n = {{2, 1}};
  panels.k = {{2, 2}};
  panels.lanes = 3;
  panels.elementBytes = 1;
  blob.panels = panels;
  Written w("x86-64-v2", {blob});
  ASSERT_EQ(w.error, "");
  EXPECT_EQ(w.data, std::string("\1\2\0\3\xFF\0", 6));
}

TEST(WeightFile, PutsHalvesOfPanelsIntoSharedBytes) {
  // Columns of three: 1, 2, 3 and -1, 4, 5; the fourth lane is empty.
  WeightBlob blob{0, bytes("\x21\xF3\x54")};
  blob.recipe = WeightBlob::UnpackNibblesSigned;
  blob.count = 6;
  WeightBlob::Panels panels;
  panels.n = {{3, 1}};
  panels.k = {{2, 3}};
  panels.lanes = 4;
  panels.elementBytes = 1;
  panels.perByte = 2;
  blob.panels = panels;
  EXPECT_EQ(blob.size(), 4u);
  Written w("x86-64-v2", {blob});
  ASSERT_EQ(w.error, "");
  EXPECT_EQ(w.data, std::string("\x31\x02\x5F\x04", 4));
  panels.addsBias = true;
  blob.panels = panels;
  Written biased("x86-64-v2", {blob});
  ASSERT_EQ(biased.error, "");
  EXPECT_EQ(biased.data, std::string("\xB9\x8A\xD7\x8C", 4));
  panels.addsBias = false;
  blob.panels = panels;
  // Values of 2 bits as well: 3, 2, 1 and 0, 1, 2, extended to 4.
  blob.bytes = bytes(StringRef("\x1B\x09", 2));
  blob.recipe = WeightBlob::UnpackCrumbsSigned;
  Written crumbs("x86-64-v2", {blob});
  ASSERT_EQ(crumbs.error, "");
  EXPECT_EQ(crumbs.data, std::string("\x1F\x0E\xE0\x01", 4));
}

TEST(WeightFile, RefusesSharedBytesOfOddPanels) {
  WeightBlob blob{0, bytes("ab")};
  WeightBlob::Panels panels;
  panels.n = {{2, 1}};
  panels.lanes = 3;
  panels.elementBytes = 1;
  panels.perByte = 2;
  blob.panels = panels;
  EXPECT_NE(Written("x86-64-v2", {blob}).error, "");
}

TEST(WeightFile, DefinesOneHiddenSymbol) {
  Written w("x86-64-v2", {{0, bytes("abcd")}});
  ASSERT_EQ(w.error, "");
  int symbols = 0;
  for (const object::ELFSymbolRef symbol : cast<object::ELFObjectFileBase>(*w.object).symbols()) {
    ++symbols;
    EXPECT_EQ(cantFail(symbol.getName()), "m_weights");
    EXPECT_EQ(symbol.getOther(), ELF::STV_HIDDEN);
    EXPECT_EQ(symbol.getSize(), 4u);
    EXPECT_EQ(cantFail(symbol.getValue()), 0u);
  }
  EXPECT_EQ(symbols, 1);
}

TEST(WeightFile, HasNoLargeSectionsOnAArch64) {
  Written w("aarch64", {{0, bytes("abcd")}});
  ASSERT_EQ(w.error, "");
  EXPECT_EQ(w.name, ".rodata.optc");
  EXPECT_EQ(w.flags, uint64_t(ELF::SHF_ALLOC));
  EXPECT_EQ(w.object->getArch(), Triple::aarch64);
}

TEST(WeightFile, UnpacksSubByteValues) {
  // 0xF8: nibbles 8, 15; crumbs 0, 2, 3, 3.
  StringRef packed("\xF8", 1);
  struct {
    WeightBlob::Recipe recipe;
    std::vector<signed char> expected;
  } cases[] = {{WeightBlob::UnpackNibblesSigned, {-8, -1}},
               {WeightBlob::UnpackNibblesUnsigned, {8, 15}},
               {WeightBlob::UnpackCrumbsSigned, {0, -2, -1, -1}},
               {WeightBlob::UnpackCrumbsUnsigned, {0, 2, 3, 3}}};
  for (const auto &c : cases) {
    Written w("x86-64-v2", {{0, bytes(packed), c.recipe, 0}});
    ASSERT_EQ(w.error, "");
    EXPECT_EQ(std::vector<signed char>(w.data.begin(), w.data.end()), c.expected) << c.recipe;
  }
}

TEST(WeightFile, UnpacksAnOddNumberOfValues) {
  Written w("x86-64-v2", {{0, bytes("\x21\x03"), WeightBlob::UnpackNibblesUnsigned, 3}});
  ASSERT_EQ(w.error, "");
  EXPECT_EQ(w.data, std::string("\x01\x02\x03", 3));
}

TEST(WeightFile, UnpacksMoreThanOneChunk) {
  std::string packed(3 << 20, '\x21');
  Written w("x86-64-v2", {{64, bytes(packed), WeightBlob::UnpackNibblesUnsigned, 0}});
  ASSERT_EQ(w.error, "");
  ASSERT_EQ(w.data.size(), 64 + 2 * packed.size());
  for (size_t i = 64; i < w.data.size(); i += 4096)
    ASSERT_EQ(w.data.substr(i, 2), "\x01\x02") << i;
}

TEST(WeightFile, RefusesOverlapAndMisalignment) {
  EXPECT_NE(Written("x86-64-v2", {{0, bytes(std::string(65, 'a'))}, {64, bytes("b")}}).error, "");
  EXPECT_NE(Written("x86-64-v2", {{8, bytes("b")}}).error, "");
}

TEST(OutputFile, LeavesNothingBehindWithoutCommit) {
  SmallString<128> path;
  sys::fs::createUniquePath("optc-output-%%%%%%", path, /*MakeAbsolute=*/true);
  std::string temporary;
  {
    Expected<OutputFile> file = OutputFile::create(path);
    ASSERT_TRUE(bool(file));
    temporary = file->path().str();
    cantFail(file->append("text"));
    EXPECT_TRUE(sys::fs::exists(temporary));
  }
  EXPECT_FALSE(sys::fs::exists(temporary));
  EXPECT_FALSE(sys::fs::exists(path));
}

TEST(OutputFile, NeverReplacesADevice) {
  Expected<OutputFile> file = OutputFile::create("/dev/null");
  ASSERT_FALSE(bool(file));
  EXPECT_NE(toString(file.takeError()).find("not a regular file"), std::string::npos);
}
