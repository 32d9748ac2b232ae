//===- OutputFile.h - a file that appears whole or not at all -------------===//
#ifndef OPTC_CODEGEN_OBJECT_OUTPUTFILE_H
#define OPTC_CODEGEN_OBJECT_OUTPUTFILE_H
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace optc {

/// A file under a temporary name beside its destination. Gone unless `commit` succeeds, also when a signal ends the
/// process.
class OutputFile {
public:
  /// An empty, open file. Errors are sentences with exit code 4.
  static llvm::Expected<OutputFile> create(llvm::StringRef destination);
  OutputFile(OutputFile &&other);
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  llvm::StringRef path() const { return temporary; }
  llvm::Error write(llvm::ArrayRef<char> bytes, uint64_t offset);
  llvm::Error write(llvm::StringRef bytes, uint64_t offset) {
    return write(llvm::ArrayRef<char>(bytes.data(), bytes.size()), offset);
  }
  llvm::Error append(llvm::StringRef bytes);
  uint64_t size() const { return end; }
  /// Fails when the disk has no room for `bytes` more. For writers that map the file, to which a full disk is a signal.
  llvm::Error checkSpace(uint64_t bytes);
  /// For files that another program part has written under `path()`: renames to the destination, with usual
  /// permissions.
  llvm::Error commit(bool executable = false);
  llvm::Error failed(std::error_code why) const;

private:
  OutputFile(std::string destination, std::string temporary, int fd)
      : destination(std::move(destination)), temporary(std::move(temporary)), fd(fd) {}
  std::string destination, temporary;
  int fd;
  uint64_t end = 0;
};

/// Writes a text; "-" is standard output.
llvm::Error writeTextFile(llvm::StringRef path, llvm::StringRef text);

} // namespace optc
#endif
