//===- optc-opt.cpp - run single passes on textual IR ---------------------===//
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "optc/compiler/Dialects.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  optc::registerDialects(registry);
  optc::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "optc's passes, one by one\n", registry));
}
