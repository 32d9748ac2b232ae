//===- WireScan.h - bounded scan of an ONNX file ----------------*- C++ -*-===//
//
// Walks the protobuf wire format of a model before protobuf sees it. Enforces bounds, and writes a skeleton: the same
// model without the payloads of big tensors, whose places in the file are recorded instead.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_COMPILER_IMPORT_WIRESCAN_H
#define OPTC_COMPILER_IMPORT_WIRESCAN_H
#include "optc/compiler/import/Import.h"

namespace optc::import {

/// Field numbers of TensorProto that hold elements.
enum PayloadField : int { FloatData = 4, Int32Data = 5, Int64Data = 7, RawData = 9, DoubleData = 10, Uint64Data = 11 };

/// A piece of the elements of a tensor: the bytes of one length-delimited field.
struct PayloadChunk {
  int field;
  llvm::StringRef bytes;
};

/// The elements of a tensor that were left in the file. raw_data has exactly one chunk.
using Payload = llvm::SmallVector<PayloadChunk, 1>;

struct Skeleton {
  /// A serialized ModelProto. A tensor whose payload was left out has `segment.begin` set to an index of `payloads`;
  /// the scan refuses models that use `segment` themselves.
  std::string bytes;
  std::vector<Payload> payloads;
  uint64_t nodes = 0;
};

/// Fails with one sentence in `problems`, which calls the file `name`.
bool scanModel(llvm::StringRef bytes, llvm::StringRef name, const ImportCaps &caps, Skeleton &skeleton,
               Problems &problems);

} // namespace optc::import
#endif
