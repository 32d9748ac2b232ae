//===- Model.h - what the object writer has to know besides the code ------===//
#ifndef OPTC_CODEGEN_OBJECT_MODEL_H
#define OPTC_CODEGEN_OBJECT_MODEL_H
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace optc {

/// An input or output, in the terms of optc_io_desc (runtime/dispatch.h).
struct SignatureValue {
  std::string name;
  int32_t kind = 0;          ///< 0 tensor, 1 sequence of tensors, 2 optional tensor, 3 optional sequence
  int32_t dtype = 0;         ///< ONNX TensorProto.DataType
  int32_t rank = 0;          ///< -1: not known
  std::vector<int64_t> dims; ///< >= 0 static; -1 - s: symbol s; INT64_MIN: unknown
  /// The default of an input: where it lies among the constants, or its strings.
  std::optional<uint64_t> defaultOffset;
  std::optional<std::vector<std::string>> defaultStrings;

  bool hasDefault() const { return defaultOffset || defaultStrings; }
};

/// Becomes the optc_model_desc of the artifact and its header.
struct ModelSignature {
  std::string name;     ///< a C identifier: prefix of all exported symbols
  std::string metadata; ///< JSON
  std::string entry = "host_main";
  std::vector<SignatureValue> inputs, outputs;
  std::vector<std::string> symbols;
  int64_t arenaBytes = 0;
  uint64_t weightBytes = 0; ///< of all constants, from the first offset on
  /// Set when a run takes memory besides the arena: the first node that does, "" if it has no name.
  std::optional<std::string> runTimeSized;
  /// What a program on the device leaves to the CPU, and why: a text each.
  std::vector<std::string> hostFallbacks;
};

/// A constant at a byte offset of the artifact's constants. Never copied into memory as a whole: `bytes` may point into
/// a mapped file.
struct WeightBlob {
  /// How the stored bytes follow from `bytes`; sub-byte values get one byte each.
  enum Recipe { Copy, UnpackNibblesSigned, UnpackNibblesUnsigned, UnpackCrumbsSigned, UnpackCrumbsUnsigned };

  /// Panels of a matrix (#kernel.packing): [outer..., ceil(n / lanes), groups of k, lanes, depth], zeros behind the
  /// last column and in groups that k does not fill: the last one of a run then ends with the run, or has zeros behind
  /// the end when the run is shorter than a group. Sizes and strides, in elements of `bytes`, outermost first; n and k
  /// are flattened in their order.
  struct Panels {
    struct Axis {
      uint64_t size, stride;
    };
    std::vector<Axis> outer, n, k;
    uint64_t lanes = 1, elementBytes = 4;
    uint64_t depth = 1; ///< steps of k in a group
    size_t run = 0;     ///< the last axes of k, which groups do not cross
    static uint64_t count(llvm::ArrayRef<Axis> axes) {
      uint64_t product = 1;
      for (const Axis &axis : axes)
        product *= axis.size;
      return product;
    }
    uint64_t panels() const { return (count(n) + lanes - 1) / lanes; }
    uint64_t runSize() const { return count(llvm::ArrayRef(k).take_back(run)); }
    uint64_t groupsPerRun() const { return (runSize() + depth - 1) / depth; }
    uint64_t groups() const { return count(llvm::ArrayRef(k).drop_back(run)) * groupsPerRun(); }
    uint64_t size() const { return count(outer) * panels() * groups() * lanes * depth * elementBytes; }
  };

  uint64_t offset = 0; ///< a multiple of 64
  llvm::ArrayRef<char> bytes;
  Recipe recipe = Copy;
  uint64_t count = 0;                          ///< of sub-byte values; 0: as many as `bytes` holds
  std::optional<Panels> panels = std::nullopt; ///< of bytes that are copied

  /// Bytes in the artifact.
  uint64_t size() const {
    if (panels)
      return panels->size();
    if (recipe == Copy)
      return bytes.size();
    uint64_t all = bytes.size() * (recipe <= UnpackNibblesUnsigned ? 2 : 4);
    return count && count < all ? count : all;
  }
};

} // namespace optc
#endif
