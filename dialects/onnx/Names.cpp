//===- Names.cpp - how messages call nodes and operators ------------------===//
#include "optc/dialects/onnx/Names.h"

using namespace mlir;

std::string optc::onnx::nodeName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (std::string name = nodeName(part); !name.empty())
        return name;
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return nodeName(call.getCallee());
  return {};
}

std::string optc::onnx::describeOp(Operation *op) {
  StringRef kind = op->getName().stripDialect();
  std::string name = nodeName(op->getLoc());
  if (name.empty())
    return kind.str();
  return "node '" + name + "' (" + kind.str() + ")";
}
