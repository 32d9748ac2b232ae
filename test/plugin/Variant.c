/*===- Variant.c - plugins that do not fit, one per macro ---------------------===*/
#include "optc/compiler/PluginApi.h"

#ifndef ABI
#define ABI OPTC_PLUGIN_ABI
#endif
#ifndef SIZE
#define SIZE sizeof(optc_plugin_info)
#endif
#ifndef LLVM
#define LLVM LLVM_VERSION_STRING
#endif
#ifndef BUILD
#define BUILD OPTC_BUILD_ID
#endif
#ifndef MLIR
#define MLIR OPTC_MLIR_BUILD_ID
#endif
#ifndef ENTRY
#define ENTRY optc_plugin_entry
#endif

#ifdef MISSING
void optc_test_missing_function(void);
#endif

static void registerNothing(void *registrar) {
  (void)registrar;
#ifdef MISSING
  optc_test_missing_function();
#endif
}

const optc_plugin_info *ENTRY(void) {
  static const optc_plugin_info info = {ABI, SIZE, LLVM, BUILD, MLIR, 0, 0, 0, "variant", "1.0", registerNothing};
  return &info;
}
