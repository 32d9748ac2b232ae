//===- OutputFile.cpp - a file that appears whole or not at all -----------===//
#include "optc/codegen/object/OutputFile.h"
#include "optc/codegen/CompileError.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace optc;

static Error describe(StringRef path, std::error_code why) {
  return environmentError("cannot write " + path + ": " + why.message() +
                          (why == std::errc::no_space_on_device  ? "; free some space or choose another place with -o"
                           : why == std::errc::permission_denied ? "; choose a folder that you may write to with -o"
                           : why == std::errc::no_such_file_or_directory
                               ? "; make the folder first or choose another place with -o"
                               : ""));
}

/// True for pipes, devices and the like, which must not be replaced by a rename.
static bool isSpecial(StringRef path) {
  sys::fs::file_status status;
  return !sys::fs::status(path, status) && sys::fs::exists(status) && !sys::fs::is_regular_file(status) &&
         !sys::fs::is_directory(status);
}

Expected<OutputFile> OutputFile::create(StringRef destination) {
  if (sys::fs::is_directory(destination))
    return environmentError("cannot write " + destination + ": it is a folder; name a file with -o");
  if (isSpecial(destination))
    return environmentError("cannot write " + destination + ": it is not a regular file; name another with -o");
  SmallString<256> temporary;
  int fd;
  if (std::error_code why = sys::fs::createUniqueFile(destination + ".%%%%%%%%.tmp", fd, temporary))
    return describe(destination, why);
  sys::RemoveFileOnSignal(temporary);
  return OutputFile(destination.str(), std::string(temporary), fd);
}

OutputFile::OutputFile(OutputFile &&other)
    : destination(std::move(other.destination)), temporary(std::move(other.temporary)), fd(other.fd), end(other.end) {
  other.fd = -1;
  other.temporary.clear();
}

OutputFile::~OutputFile() {
  if (fd >= 0)
    ::close(fd);
  if (!temporary.empty()) {
    sys::fs::remove(temporary);
    sys::DontRemoveFileOnSignal(temporary);
  }
}

Error OutputFile::failed(std::error_code why) const { return describe(destination, why); }

Error OutputFile::write(ArrayRef<char> bytes, uint64_t offset) {
  end = std::max(end, offset + bytes.size());
  while (!bytes.empty()) {
    // One call writes at most 2 GiB.
    ssize_t n = sys::RetryAfterSignal(-1, ::pwrite, fd, bytes.data(), std::min<size_t>(bytes.size(), 64 << 20), offset);
    if (n <= 0)
      return failed(n < 0 ? std::error_code(errno, std::generic_category())
                          : std::make_error_code(std::errc::no_space_on_device));
    bytes = bytes.drop_front(n);
    offset += n;
  }
  return Error::success();
}

Error OutputFile::append(StringRef bytes) { return write(bytes, end); }

Error OutputFile::checkSpace(uint64_t bytes) {
  // Where the file system cannot tell (EOPNOTSUPP), nothing is wrong yet.
  bool full = ::fallocate(fd, 0, end, bytes) && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG);
  if (full)
    return failed(std::error_code(errno, std::generic_category()));
  return ::ftruncate(fd, end) ? failed(std::error_code(errno, std::generic_category())) : Error::success();
}

Error OutputFile::commit(bool executable) {
  mode_t mask = ::umask(0);
  ::umask(mask);
  if (::chmod(temporary.c_str(), (executable ? 0777 : 0666) & ~mask))
    return failed(std::error_code(errno, std::generic_category()));
  int toClose = fd;
  fd = -1;
  if (::close(toClose)) // network file systems report a full disk here
    return failed(std::error_code(errno, std::generic_category()));
  if (std::error_code why = sys::fs::rename(temporary, destination))
    return failed(why);
  sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
  return Error::success();
}

Error optc::writeTextFile(StringRef path, StringRef text) {
  if (path == "-") {
    outs() << text;
    outs().flush();
    if (std::error_code why = outs().error()) {
      outs().clear_error();
      return describe("standard output", why);
    }
    return Error::success();
  }
  if (isSpecial(path)) { // /dev/null, process substitution
    std::error_code why;
    raw_fd_ostream os(path, why);
    if (!why) {
      os << text;
      os.close();
      why = os.error();
      os.clear_error();
    }
    return why ? describe(path, why) : Error::success();
  }
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  if (Error error = file->append(text))
    return error;
  return file->commit();
}
