//===- Tensors.cpp - TensorProto to attributes ----------------------------===//
#include "optc/compiler/import/Tensors.h"
#include "optc/compiler/import/Text.h"
#include "optc/dialects/onnx/Elements.h"
#include "optc/dialects/onnx/Types.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace optc;
using namespace optc::import;
using optc_onnx::SparseTensorProto;
using optc_onnx::TensorProto;

namespace {

/// How an element type is stored: bits of an element in raw_data, the field for typed elements, the bits of one entry
/// of that field that count, and how many entries an element takes there.
struct Storage {
  int bits;
  int field;
  int entryBits;
  int entries;
};

const Storage storages[] = {
    {0, 0, 0, 0},             // UNDEFINED
    {32, FloatData, 32, 1},   // FLOAT
    {8, Int32Data, 8, 1},     // UINT8
    {8, Int32Data, 8, 1},     // INT8
    {16, Int32Data, 16, 1},   // UINT16
    {16, Int32Data, 16, 1},   // INT16
    {32, Int32Data, 32, 1},   // INT32
    {64, Int64Data, 64, 1},   // INT64
    {0, 0, 0, 0},             // STRING
    {8, Int32Data, 8, 1},     // BOOL
    {16, Int32Data, 16, 1},   // FLOAT16
    {64, DoubleData, 64, 1},  // DOUBLE
    {32, Uint64Data, 32, 1},  // UINT32
    {64, Uint64Data, 64, 1},  // UINT64
    {64, FloatData, 32, 2},   // COMPLEX64
    {128, DoubleData, 64, 2}, // COMPLEX128
    {16, Int32Data, 16, 1},   // BFLOAT16
    {8, Int32Data, 8, 1},     // FLOAT8E4M3FN
    {8, Int32Data, 8, 1},     // FLOAT8E4M3FNUZ
    {8, Int32Data, 8, 1},     // FLOAT8E5M2
    {8, Int32Data, 8, 1},     // FLOAT8E5M2FNUZ
    {4, Int32Data, 8, 1},     // UINT4
    {4, Int32Data, 8, 1},     // INT4
    {4, Int32Data, 8, 1},     // FLOAT4E2M1
    {8, Int32Data, 8, 1},     // FLOAT8E8M0
    {2, Int32Data, 8, 1},     // UINT2
    {2, Int32Data, 8, 1},     // INT2
    {6, Int32Data, 6, 1},     // FLOAT6E2M3
    {6, Int32Data, 6, 1},     // FLOAT6E3M2
};

const char *fieldName(int field) {
  switch (field) {
  case FloatData:
    return "float_data";
  case Int32Data:
    return "int32_data";
  case Int64Data:
    return "int64_data";
  case RawData:
    return "raw_data";
  case DoubleData:
    return "double_data";
  default:
    return "uint64_data";
  }
}

} // namespace

uint64_t optc::import::packedBytes(int dataType, uint64_t elements) {
  uint64_t bits = storages[dataType].bits;
  return bits % 8 ? (elements * bits + 7) / 8 : elements * (bits / 8);
}

RankedTensorType optc::import::tensorType(MLIRContext &ctx, int dataType, ArrayRef<int64_t> dims, std::string &reason) {
  Type element = optc::onnx::elementTypeOf(&ctx, dataType);
  if (!element) {
    reason = dataType == 0 ? "has no element type"
                           : ("has the element type number " + Twine(dataType) + ", which ONNX does not define").str();
    return {};
  }
  // 2^56 elements: far beyond any memory, and sizes in bits still fit 64 bits.
  int64_t elements = 1;
  constexpr int64_t most = 1LL << 56;
  SmallVector<int64_t> shape;
  for (int64_t d : dims) {
    if (d < 0 && d != ShapedType::kDynamic) {
      reason = ("has the negative size " + Twine(d) + " in its shape").str();
      return {};
    }
    shape.push_back(d);
    if (d == ShapedType::kDynamic || d == 0)
      continue;
    if (d > most / elements) {
      reason = "has a shape with more elements than any memory holds";
      return {};
    }
    elements *= d;
  }
  if (shape.size() > 64) {
    reason = ("has " + Twine(shape.size()) + " dimensions; optc supports up to 64").str();
    return {};
  }
  return RankedTensorType::get(shape, element);
}

//===----------------------------------------------------------------------===//
// Typed elements
//===----------------------------------------------------------------------===//

/// Appends the low `bits` of a number, in whole bytes.
static void appendNumber(std::string &out, uint64_t value, int bits) {
  for (int i = 0; i < bits; i += 8)
    out.push_back(static_cast<char>(value >> i));
}

/// Decodes packed varints; false when the bytes are none.
static bool decodeVarints(StringRef bytes, int bits, std::string &out) {
  while (!bytes.empty()) {
    uint64_t value = 0;
    size_t i = 0;
    for (;; ++i) {
      if (i == bytes.size() || i == 10)
        return false;
      value |= static_cast<uint64_t>(bytes[i] & 0x7f) << (7 * i);
      if (!(bytes[i] & 0x80))
        break;
    }
    bytes = bytes.drop_front(i + 1);
    appendNumber(out, value, bits);
  }
  return true;
}

/// The typed elements that protobuf holds, in field `field`.
static std::string elementsOf(const TensorProto &t, int field, int bits) {
  std::string out;
  switch (field) {
  case FloatData:
    out.assign(reinterpret_cast<const char *>(t.float_data().data()), t.float_data_size() * sizeof(float));
    break;
  case DoubleData:
    out.assign(reinterpret_cast<const char *>(t.double_data().data()), t.double_data_size() * sizeof(double));
    break;
  case Int32Data:
    for (int32_t v : t.int32_data())
      appendNumber(out, static_cast<uint32_t>(v), bits);
    break;
  case Int64Data:
    for (int64_t v : t.int64_data())
      appendNumber(out, v, bits);
    break;
  default:
    for (uint64_t v : t.uint64_data())
      appendNumber(out, v, bits);
  }
  return out;
}

/// The fields of elements that protobuf holds.
static SmallVector<int> fieldsOf(const TensorProto &t) {
  SmallVector<int> fields;
  const std::pair<int, int> sizes[] = {{FloatData, t.float_data_size()},   {Int32Data, t.int32_data_size()},
                                       {Int64Data, t.int64_data_size()},   {DoubleData, t.double_data_size()},
                                       {Uint64Data, t.uint64_data_size()}, {RawData, t.has_raw_data()}};
  for (auto [field, size] : sizes)
    if (size)
      fields.push_back(field);
  return fields;
}

bool TensorReader::typed(const TensorProto &t, const Payload *payload, uint64_t elements, TensorData &data,
                         std::string &reason) {
  const Storage &storage = storages[t.data_type()];
  std::string bytes;
  if (!payload) {
    bytes = elementsOf(t, storage.field, storage.entryBits);
  } else if (storage.field == FloatData || storage.field == DoubleData) {
    // These are laid out as in raw_data already.
    if (payload->size() == 1) {
      data.bytes = payload->front().bytes;
      data.mapped = true;
    } else {
      for (const PayloadChunk &chunk : *payload)
        bytes += chunk.bytes;
    }
  } else {
    for (const PayloadChunk &chunk : *payload) {
      // A number takes a byte at least, so the result is at most eight times as long.
      if (chunk.bytes.size() >
          caps.convertedBytes / 8 - std::min<uint64_t>(bytes.size() / 8, caps.convertedBytes / 8)) {
        reason = "has too many typed elements; store them as raw_data";
        return false;
      }
      if (!decodeVarints(chunk.bytes, storage.entryBits, bytes)) {
        reason = ("has damaged numbers in " + Twine(fieldName(storage.field))).str();
        return false;
      }
    }
  }
  if (!data.mapped)
    data.own(std::move(bytes));
  uint64_t entryBytes = (storage.entryBits + 7) / 8;
  uint64_t got = data.bytes.size() / entryBytes;
  uint64_t expected =
      storage.bits == 4 || storage.bits == 2 ? packedBytes(t.data_type(), elements) : elements * storage.entries;
  if (data.bytes.size() % entryBytes || got != expected) {
    reason =
        ("has " + Twine(got) + " entries in " + fieldName(storage.field) + " where its shape needs " + Twine(expected))
            .str();
    return false;
  }
  if (storage.bits == 6) {
    // One element per entry there, four in three bytes in raw_data.
    std::string packed(packedBytes(t.data_type(), elements), '\0');
    for (uint64_t i = 0; i < elements; ++i) {
      unsigned code = data.bytes[i] & 63, bit = i * 6 % 8;
      packed[i * 6 / 8] |= code << bit;
      if (bit > 2)
        packed[i * 6 / 8 + 1] |= code >> (8 - bit);
    }
    data.own(std::move(packed));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// External data
//===----------------------------------------------------------------------===//

/// An unsigned decimal number, all of it.
static bool parseNumber(StringRef text, uint64_t &value) { return !text.getAsInteger(10, value); }

bool TensorReader::external(const TensorProto &t, uint64_t size, TensorData &data, std::string &reason) {
  std::string location, offsetText = "0", lengthText;
  for (const auto &entry : t.external_data()) {
    if (entry.key() == "location")
      location = entry.value();
    else if (entry.key() == "offset")
      offsetText = entry.value();
    else if (entry.key() == "length")
      lengthText = entry.value();
  }
  std::string file = quoted(location);
  auto fail = [&](const Twine &why) {
    reason = why.str();
    return false;
  };
  if (location.empty())
    return fail("keeps its data in another file, but does not say in which (external_data has no location)");
  if (folder.empty())
    return fail("keeps its data in the file " + file + ", which a model from memory cannot refer to");
  if (StringRef(location).contains('\0'))
    return fail("keeps its data in the file " + file + ", which is no valid file name");
  bool climbs = llvm::any_of(llvm::make_range(llvm::sys::path::begin(location), llvm::sys::path::end(location)),
                             [](StringRef part) { return part == ".."; });
  if (llvm::sys::path::is_absolute(location) || climbs)
    return fail("keeps its data in the file " + file +
                ", which is outside the folder of the model; only relative paths inside it are followed");
  SmallString<256> path(folder), realPath, realFolder;
  llvm::sys::path::append(path, location);
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return fail("keeps its data in the file " + file + ", which cannot be read (" + error.message() +
                "); put it beside the model");
  if (llvm::sys::fs::real_path(path, realPath) || llvm::sys::fs::real_path(folder, realFolder))
    return fail("keeps its data in the file " + file + ", whose path cannot be resolved");
  StringRef inside = realPath;
  StringRef root = StringRef(realFolder).rtrim('/');
  if (!inside.consume_front(root) || !inside.starts_with("/"))
    return fail("keeps its data in the file " + file +
                ", which is a link that leads outside the folder of the model; put the file itself there");
  uint64_t offset, length = size;
  if (!parseNumber(offsetText, offset))
    return fail("has the offset " + quoted(offsetText) + " into the file " + file + ", which is no valid number");
  if (!lengthText.empty() && !parseNumber(lengthText, length))
    return fail("has the length " + quoted(lengthText) + " in the file " + file + ", which is no valid number");
  if (length != size)
    return fail("takes " + Twine(length) + " bytes of the file " + file + " where its type and shape need " +
                Twine(size));
  if (size == 0) {
    data.own("");
    return true;
  }
  std::string why;
  const llvm::MemoryBuffer *buffer = files.map(path, why);
  if (!buffer)
    return fail("keeps its data in the file " + file + ", which " + why);
  if (offset > buffer->getBufferSize() || length > buffer->getBufferSize() - offset)
    return fail("is out of bounds of the file " + file + ": offset " + Twine(offset) + " and length " + Twine(length) +
                " do not fit its " + Twine(buffer->getBufferSize()) + " bytes");
  data.bytes = buffer->getBuffer().substr(offset, length);
  data.mapped = true;
  return true;
}

//===----------------------------------------------------------------------===//
// TensorReader
//===----------------------------------------------------------------------===//

bool TensorReader::read(const TensorProto &t, TensorData &data, std::string &reason) {
  SmallVector<int64_t> dims(t.dims().begin(), t.dims().end());
  if (llvm::is_contained(dims, ShapedType::kDynamic)) {
    reason = "has a negative size in its shape";
    return false;
  }
  data.type = tensorType(ctx, t.data_type(), dims, reason);
  if (!data.type)
    return false;
  uint64_t elements = data.type.getNumElements();
  bool isExternal = t.data_location() == TensorProto::EXTERNAL;
  if (t.data_type() == TensorProto::STRING) {
    if (isExternal || t.has_segment() || !fieldsOf(t).empty()) {
      reason = "holds strings outside of string_data, which ONNX does not allow";
      return false;
    }
    if (static_cast<uint64_t>(t.string_data_size()) != elements) {
      reason = ("has " + Twine(t.string_data_size()) + " strings where its shape needs " + Twine(elements)).str();
      return false;
    }
    data.strings.assign(t.string_data().begin(), t.string_data().end());
    return true;
  }
  const Storage &storage = storages[t.data_type()];
  uint64_t size = packedBytes(t.data_type(), elements);
  if (isExternal) {
    if (!external(t, size, data, reason))
      return false;
  } else {
    const Payload *payload = nullptr;
    SmallVector<int> fields = fieldsOf(t);
    if (t.has_segment() && static_cast<uint64_t>(t.segment().begin()) < skeleton.payloads.size()) {
      payload = &skeleton.payloads[t.segment().begin()];
      for (const PayloadChunk &chunk : *payload)
        if (!llvm::is_contained(fields, chunk.field))
          fields.push_back(chunk.field);
    }
    if (fields.size() > 1) {
      reason = (Twine("has elements in both ") + fieldName(fields[0]) + " and " + fieldName(fields[1])).str();
      return false;
    }
    if (!fields.empty() && fields[0] != RawData && fields[0] != storage.field) {
      reason = (Twine("has elements in ") + fieldName(fields[0]) + ", where its type needs " +
                fieldName(storage.field) + " or raw_data")
                   .str();
      return false;
    }
    if (fields.empty() || fields[0] == RawData) {
      if (payload) {
        data.bytes = payload->front().bytes;
        data.mapped = true;
      } else {
        data.own(t.raw_data());
      }
      if (data.bytes.size() != size) {
        reason =
            ("has " + Twine(data.bytes.size()) + " bytes of data where its type and shape need " + Twine(size)).str();
        return false;
      }
    } else if (!typed(t, payload, elements, data, reason)) {
      return false;
    }
  }
  if (t.data_type() == TensorProto::BOOL && llvm::any_of(data.bytes, [](char c) { return c & ~1; })) {
    std::string normal = data.bytes.str();
    for (char &c : normal)
      c = c != 0;
    data.own(std::move(normal));
  }
  return true;
}

ElementsAttr TensorReader::attribute(TensorData &data) {
  int dataType = optc::onnx::dataTypeOf(data.type.getElementType());
  if (dataType == TensorProto::STRING) {
    SmallVector<StringRef> strings(data.strings.begin(), data.strings.end());
    return cast<ElementsAttr>(Attribute(DenseStringElementsAttr::get(data.type, strings)));
  }
  ArrayRef<char> bytes(data.bytes.data(), data.bytes.size());
  return optc::onnx::elementsAttr(data.type, bytes, [&] {
    size_t alignment = 1;
    while (alignment < 64 && reinterpret_cast<uintptr_t>(bytes.data()) % (alignment * 2) == 0)
      alignment *= 2;
    return data.mapped ? UnmanagedAsmResourceBlob::allocateWithAlign(bytes, alignment)
                       : HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64, false);
  });
}

ElementsAttr TensorReader::attribute(const TensorProto &t, std::string &reason) {
  TensorData data;
  if (!read(t, data, reason))
    return {};
  return attribute(data);
}

ElementsAttr TensorReader::attribute(const SparseTensorProto &t, std::string &reason) {
  TensorData values, indices, dense;
  std::string why;
  auto fail = [&](const Twine &what) -> ElementsAttr {
    reason = what.str();
    return {};
  };
  if (!read(t.values(), values, why))
    return fail("is a sparse tensor whose part 'values' " + why);
  if (!read(t.indices(), indices, why))
    return fail("is a sparse tensor whose part 'indices' " + why);
  SmallVector<int64_t> dims(t.dims().begin(), t.dims().end());
  if (llvm::is_contained(dims, ShapedType::kDynamic))
    return fail("has a negative size in its shape");
  int dataType = t.values().data_type();
  dense.type = tensorType(ctx, dataType, dims, reason);
  if (!dense.type)
    return {};
  int bits = storages[dataType].bits;
  if (bits % 8 || bits == 0)
    return fail("is a sparse tensor of " + optc::onnx::dataTypeName(dense.type.getElementType()) +
                ", which optc does not read; store it dense");
  uint64_t elements = dense.type.getNumElements(), width = bits / 8;
  if (elements > caps.convertedBytes / width)
    return fail("is a sparse tensor of " + Twine(elements) + " elements, too many to store densely");
  uint64_t rank = dims.size(), count = values.bytes.size() / width;
  bool linear = indices.type.getRank() == 1;
  if (t.indices().data_type() != TensorProto::INT64 || values.type.getRank() != 1 ||
      indices.type.getShape() !=
          (linear ? ArrayRef<int64_t>{int64_t(count)} : ArrayRef<int64_t>{int64_t(count), int64_t(rank)}))
    return fail("is a sparse tensor whose indices do not fit its values: int64 [" + Twine(count) + "] or [" +
                Twine(count) + ", " + Twine(rank) + "] is needed");
  std::string bytes(elements * width, '\0');
  auto indexAt = [&](uint64_t i) { return llvm::support::endian::read64le(indices.bytes.data() + 8 * i); };
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t at = linear ? indexAt(i) : 0;
    for (uint64_t d = 0; !linear && d < rank; ++d) {
      uint64_t index = indexAt(i * rank + d);
      if (index >= static_cast<uint64_t>(dims[d]))
        return fail("is a sparse tensor with the index " + Twine(static_cast<int64_t>(index)) + " on axis " + Twine(d) +
                    " of size " + Twine(dims[d]));
      at = at * dims[d] + index;
    }
    if (at >= elements)
      return fail("is a sparse tensor with the index " + Twine(static_cast<int64_t>(at)) + " among " + Twine(elements) +
                  " elements");
    std::copy_n(values.bytes.data() + i * width, width, bytes.data() + at * width);
  }
  dense.own(std::move(bytes));
  return attribute(dense);
}
