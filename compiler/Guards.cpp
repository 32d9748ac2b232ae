//===- Guards.cpp - what ends the program early ---------------------------===//
#include "optc/compiler/Guards.h"
#include "optc/codegen/CompileError.h"
#include "optc/compiler/Driver.h"
#include "optc/compiler/Version.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include <atomic>
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

/// Only the first thread that fails reports; one that fails while reporting ends the program.
static void enterOnce(ExitCode code) {
  static std::atomic<pid_t> reporter = 0;
  pid_t nobody = 0, self = ::gettid();
  if (reporter.compare_exchange_strong(nobody, self))
    return;
  if (reporter == self)
    ::_exit(static_cast<int>(code));
  for (;;)
    ::pause();
}

[[noreturn]] static void crash(const char *what) {
  enterOnce(ExitCode::Internal);
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

/// A page of a mapped file that is not there: what lld writes to a full disk, or a model that was cut short meanwhile.
[[noreturn]] static void mappingFailed() {
  enterOnce(ExitCode::Environment);
  say("\noptc: error: a mapped file cannot be written or read any more: is the disk full, or was the model changed?\n");
  llvm::sys::RunInterruptHandlers();
  ::_exit(static_cast<int>(ExitCode::Environment));
}

static void onSignal(int signal) {
  if (signal == SIGBUS)
    mappingFailed();
  crash("a signal: invalid memory access, stack overflow or abort");
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

  // LLVM's handlers come first: they set up a stack of their own and remove temporary files on interrupts. They are
  // withdrawn at the first signal, so a second thread that fails would end the program with that; ours stay.
  llvm::sys::AddSignalHandler([](void *) { onSignal(SIGSEGV); }, nullptr);
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP})
    ::sigaction(signal, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN); // a limit on file sizes is an error of write
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
