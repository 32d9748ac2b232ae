//===- optc-opt.cpp - run single passes on textual IR ---------------------===//
#include "optc/compiler/Dialects.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  optc::registerDialects(registry);
  optc::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "optc's passes, one by one\n", registry));
}
