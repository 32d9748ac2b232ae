//===- PluginFile.h - a plugin as a file -----------------------------------===//
#ifndef OPTC_COMPILER_PLUGINFILE_H
#define OPTC_COMPILER_PLUGINFILE_H
#include "llvm/Support/Error.h"
#include <string>

struct optc_plugin_info;

namespace optc {

/// Loads a plugin, for the rest of the process, and calls its entry. No code of the file runs before the file was found
/// to be whole, for this machine, and to need no other libMLIR or libLLVM than the loaded ones: a second one would end
/// the process. The error says what is wrong with the file.
llvm::Expected<const optc_plugin_info *> openPlugin(const std::string &path);

/// The file that holds an address of this process; empty when none does.
std::string fileOfAddress(const void *address);
/// The GNU build ID of the loaded file that holds an address, in hexadecimal; empty when it has none.
std::string buildIdOfAddress(const void *address);

} // namespace optc
#endif
