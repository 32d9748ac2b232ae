//===- Guards.h - what ends the program early -----------------------------===//
#ifndef OPTC_COMPILER_GUARDS_H
#define OPTC_COMPILER_GUARDS_H

namespace optc {

/// For programs (not for libraries): a crash becomes exit code 70 and a reproducer file, exhausted memory exit code 4.
/// Temporary files are removed on every signal.
void installCrashGuards(int argc, char **argv);
/// Ends the program with exit code 3 after so many seconds.
void startTimeout(double seconds);

} // namespace optc
#endif
