//===- Tensors.h - TensorProto to attributes --------------------*- C++ -*-===//
#ifndef OPTC_COMPILER_IMPORT_TENSORS_H
#define OPTC_COMPILER_IMPORT_TENSORS_H
#include "mlir/IR/BuiltinAttributes.h"
#include "onnx/onnx_pb.h"
#include "optc/compiler/import/WireScan.h"

namespace optc::import {

/// The elements of a tensor as ONNX lays them out in raw_data: little-endian, sub-byte types packed, bool a byte.
struct TensorData {
  mlir::RankedTensorType type;
  llvm::StringRef bytes;
  /// `bytes` lie in a file that outlives the context.
  bool mapped = false;
  std::string owned;
  /// Instead of bytes for tensors of strings.
  std::vector<std::string> strings;

  void own(std::string data) {
    owned = std::move(data);
    bytes = owned;
    mapped = false;
  }
};

/// Reads tensors of one model. Reasons of failures are clauses: "has 3 elements where its shape needs 4".
class TensorReader {
public:
  TensorReader(mlir::MLIRContext &ctx, const Skeleton &skeleton, llvm::StringRef folder, const ImportCaps &caps,
               ImportedFiles &files)
      : ctx(ctx), skeleton(skeleton), folder(folder), caps(caps), files(files) {}

  bool read(const optc_onnx::TensorProto &tensor, TensorData &data, std::string &reason);
  /// The tensor as a value of onnx.Constant, null with a reason.
  mlir::ElementsAttr attribute(const optc_onnx::TensorProto &tensor, std::string &reason);
  /// A sparse tensor made dense.
  mlir::ElementsAttr attribute(const optc_onnx::SparseTensorProto &tensor, std::string &reason);
  /// Dense up to 1024 bytes, else a resource.
  mlir::ElementsAttr attribute(TensorData &data);

private:
  bool external(const optc_onnx::TensorProto &tensor, uint64_t size, TensorData &data, std::string &reason);
  bool typed(const optc_onnx::TensorProto &tensor, const Payload *payload, uint64_t elements, TensorData &data,
             std::string &reason);

  mlir::MLIRContext &ctx;
  const Skeleton &skeleton;
  std::string folder;
  const ImportCaps &caps;
  ImportedFiles &files;
};

/// The type of a tensor, null with a reason for element types and shapes that cannot be.
mlir::RankedTensorType tensorType(mlir::MLIRContext &ctx, int dataType, llvm::ArrayRef<int64_t> dims,
                                  std::string &reason);

/// Bytes of `elements` elements of this ONNX type in raw_data.
uint64_t packedBytes(int dataType, uint64_t elements);

} // namespace optc::import
#endif
