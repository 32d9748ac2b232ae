//===- Guards.cpp - what ends the program early ---------------------------===//
#include "optc/compiler/Guards.h"
#include "optc/codegen/CompileError.h"
#include "optc/compiler/Driver.h"
#include "optc/compiler/Version.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <string>
#include <thread>
#include <unistd.h>

using namespace optc;

/// Made beforehand: a signal handler must not allocate.
static char crashText[8192], crashFile[512];

static void say(const char *text) {
  if (::write(2, text, std::strlen(text)) < 0)
    return;
}

[[noreturn]] static void crash(const char *what) {
  static volatile std::sig_atomic_t again = 0;
  if (again)
    ::_exit(static_cast<int>(ExitCode::Internal));
  again = 1;
  const char *phase = currentPhase();
  say("\noptc: error: optc crashed (");
  say(what);
  say(") in the phase '");
  say(phase ? phase : "start");
  say("'\n");
  int fd = ::open(crashFile, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) {
    bool good = ::write(fd, crashText, std::strlen(crashText)) > 0;
    good &= ::write(fd, "phase: ", 7) > 0 &&
            ::write(fd, phase ? phase : "start", std::strlen(phase ? phase : "start")) > 0 && ::write(fd, "\n", 1) > 0;
    ::close(fd);
    if (good) {
      say("optc: note: this is a defect of optc; how to see it again is in ");
      say(crashFile);
      say("\n");
    }
  }
  llvm::sys::RunInterruptHandlers(); // removes temporary files
  ::_exit(static_cast<int>(ExitCode::Internal));
}

[[noreturn]] static void outOfMemory() {
  say("\noptc: error: out of memory\n");
  llvm::sys::RunInterruptHandlers();
  ::_exit(static_cast<int>(ExitCode::Environment));
}

void optc::installCrashGuards(int argc, char **argv) {
  std::string text = "optc " OPTC_VERSION " crashed. The command line:\n";
  for (int i = 0; i < argc; ++i)
    text += (i ? " '" : "'") + std::string(argv[i]) + "'";
  char folder[4096];
  text += std::string("\nin the folder: ") + (::getcwd(folder, sizeof(folder)) ? folder : "?") + "\n";
  std::strncpy(crashText, text.c_str(), sizeof(crashText) - 1);
  const char *temp = std::getenv("TMPDIR");
  std::snprintf(crashFile, sizeof(crashFile), "%s/optc-crash-%d.txt", temp && *temp ? temp : "/tmp", int(::getpid()));

  // LLVM's handlers (with their own stack) remove temporary files, then call this. Handlers of our own would be
  // replaced by them.
  llvm::sys::AddSignalHandler([](void *) { crash("a signal: invalid memory access, stack overflow or abort"); },
                              nullptr);
  std::set_new_handler([] { outOfMemory(); });
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { outOfMemory(); });
  llvm::install_fatal_error_handler(
      [](void *, const char *reason, bool) {
        say("\noptc: error: ");
        say(reason);
        crash("fatal error in LLVM");
      },
      nullptr);
}

void optc::startTimeout(double seconds) {
  std::thread([seconds] {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    say("\noptc: error: --timeout is over; nothing was written\n");
    llvm::sys::RunInterruptHandlers();
    ::_exit(static_cast<int>(ExitCode::Limit));
  }).detach();
}
