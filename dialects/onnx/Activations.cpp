//===- Activations.cpp - the functions of RNN, GRU and LSTM ---------------===//
#include "optc/dialects/onnx/Activations.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace optc;
using onnx::Activation;

/// With the defaults of their parameters.
static constexpr Activation kActivations[] = {
    {"relu", 0, 0, 0},         {"tanh", 0, 0, 0},
    {"sigmoid", 0, 0, 0},      {"affine", 2, 1, 0},
    {"leakyrelu", 1, 0.01, 0}, {"thresholdedrelu", 1, 1, 0},
    {"scaledtanh", 2, 1, 1},   {"hardsigmoid", 2, 0.2, 0.5},
    {"elu", 1, 1, 0},          {"softsign", 0, 0, 0},
    {"softplus", 0, 0, 0},
};

std::optional<SmallVector<Activation>> onnx::activationsOf(Operation *op, ArrayRef<StringLiteral> defaults,
                                                           int64_t directions, std::string &reason) {
  SmallVector<StringRef> names;
  if (auto attr = op->getAttrOfType<ArrayAttr>("activations"); attr && !attr.empty()) {
    for (Attribute a : attr)
      names.push_back(cast<StringAttr>(a).getValue());
  } else {
    for (int64_t d = 0; d < directions; ++d)
      llvm::append_range(names, defaults);
  }
  size_t needed = defaults.size() * directions;
  if (names.size() != needed) {
    reason = "attribute 'activations' has " + std::to_string(names.size()) + " names, but " + std::to_string(needed) +
             " are needed";
    return std::nullopt;
  }
  auto floats = [&](StringRef name) -> ArrayRef<float> {
    auto attr = op->getAttrOfType<DenseF32ArrayAttr>(name);
    return attr ? attr.asArrayRef() : ArrayRef<float>();
  };
  ArrayRef<float> alphas = floats("activation_alpha"), betas = floats("activation_beta");
  auto next = [](ArrayRef<float> &list, bool wanted, double fallback) -> double {
    return wanted && !list.empty() ? list.consume_front() : fallback;
  };
  SmallVector<Activation> found;
  for (StringRef name : names) {
    const Activation *known =
        llvm::find_if(kActivations, [&](const Activation &a) { return name.equals_insensitive(a.name); });
    if (known == std::end(kActivations)) {
      reason = ("attribute 'activations' has '" + name +
                "'; supported are Relu, Tanh, Sigmoid, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, "
                "Elu, Softsign and Softplus")
                   .str();
      return std::nullopt;
    }
    Activation one = *known;
    one.alpha = next(alphas, one.parameters >= 1, one.alpha);
    one.beta = next(betas, one.parameters >= 2, one.beta);
    found.push_back(one);
  }
  return found;
}
