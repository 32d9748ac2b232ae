//===- launcher.cpp - the program in front of an --emit=exe artifact ------===//
//
// The compiler copies this program, appends the artifact's .so and 16 bytes: the magic "OPTCEXE1" and the size of the
// .so, little-endian. It then behaves like optc-run on that artifact.
//
//===----------------------------------------------------------------------===//
#include "run/Options.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/// A memory file with the artifact; -1 after printing why not.
static int extract() {
  const char *reason = "cannot read the program's own file";
  int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), memory = -1;
  struct stat st;
  char trailer[16];
  uint64_t size = 0;
  if (self >= 0 && !fstat(self, &st)) {
    reason = "no model is appended to this program; make one with optc --emit=exe";
    if (st.st_size > 16 && pread(self, trailer, 16, st.st_size - 16) == 16 && !memcmp(trailer, "OPTCEXE1", 8)) {
      memcpy(&size, trailer + 8, 8);
      if (size && size <= uint64_t(st.st_size) - 16)
        memory = memfd_create("model.so", MFD_CLOEXEC);
      reason = size && memory < 0 ? strerror(errno) : "the model behind this program is damaged";
    }
  }
  static char buffer[1 << 20];
  uint64_t at = memory < 0 ? 0 : uint64_t(st.st_size) - 16 - size, left = memory < 0 ? 0 : size;
  while (left) {
    ssize_t n = pread(self, buffer, left < sizeof(buffer) ? size_t(left) : sizeof(buffer), off_t(at));
    if (n <= 0 || write(memory, buffer, size_t(n)) != n) {
      reason = "out of memory for the model";
      close(memory);
      memory = -1;
      break;
    }
    at += uint64_t(n);
    left -= uint64_t(n);
  }
  if (self >= 0)
    close(self);
  if (memory < 0)
    fprintf(stderr, "%s\n", reason);
  return memory;
}

int main(int argc, char **argv) {
  optc::run::Options options;
  int code;
  if (!optc::run::parseOptions(argc, argv, true, options, code))
    return code;
  int memory = extract();
  if (memory < 0)
    return optc::run::Environment;
  options.artifact = "/proc/self/fd/" + std::to_string(memory);
  return optc::run::runArtifact(options);
}
