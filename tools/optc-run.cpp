//===- optc-run.cpp - runs, checks and measures artifacts -----------------===//
#include "run/Options.h"

int main(int argc, char **argv) {
  optc::run::Options options;
  int code;
  return optc::run::parseOptions(argc, argv, false, options, code) ? optc::run::runArtifact(options) : code;
}
