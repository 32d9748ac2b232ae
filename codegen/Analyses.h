//===- Analyses.h - what LLVM's passes need to run --------------*- C++ -*-===//
#ifndef OPTC_CODEGEN_ANALYSES_H
#define OPTC_CODEGEN_ANALYSES_H
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"

namespace optc {

/// Analysis managers that know each other, for passes on one module.
struct Analyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;

  Analyses(llvm::PassBuilder &builder, const llvm::Module &module) {
    functions.registerPass(
        [&] { return llvm::TargetLibraryAnalysis(llvm::TargetLibraryInfoImpl(module.getTargetTriple())); });
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(callGraph);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, callGraph, modules);
  }
};

} // namespace optc
#endif
