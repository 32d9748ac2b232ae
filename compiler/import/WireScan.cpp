//===- WireScan.cpp - bounded scan of an ONNX file ------------------------===//
#include "optc/compiler/import/WireScan.h"
#include "optc/compiler/import/Text.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/LEB128.h"

using namespace llvm;
using namespace optc;
using namespace optc::import;

namespace {

enum class Message : uint8_t {
  None,  // bytes, string or packed numbers
  Entry, // a counted message or string that is copied as it is
  Model,
  Graph,
  Node,
  Attribute,
  Tensor,
  SparseTensor,
  ValueInfo,
  Type,
  Tensors,
  Sequence,
  Map,
  Shape,
  Function,
  Training,
  NumMessages
};

struct Field {
  Message in;
  int number;
  Message message;
};

/// The nested messages of onnx.proto. Fields that are not listed are copied uncounted.
const Field fields[] = {
    {Message::Model, 7, Message::Graph},
    {Message::Model, 8, Message::Entry},
    {Message::Model, 14, Message::Entry},
    {Message::Model, 20, Message::Training},
    {Message::Model, 25, Message::Function},
    {Message::Model, 26, Message::Entry},
    {Message::Graph, 1, Message::Node},
    {Message::Graph, 5, Message::Tensor},
    {Message::Graph, 15, Message::SparseTensor},
    {Message::Graph, 11, Message::ValueInfo},
    {Message::Graph, 12, Message::ValueInfo},
    {Message::Graph, 13, Message::ValueInfo},
    {Message::Graph, 14, Message::Entry},
    {Message::Graph, 16, Message::Entry},
    {Message::Node, 1, Message::Entry},
    {Message::Node, 2, Message::Entry},
    {Message::Node, 5, Message::Attribute},
    {Message::Node, 9, Message::Entry},
    {Message::Node, 10, Message::Entry},
    {Message::Attribute, 5, Message::Tensor},
    {Message::Attribute, 6, Message::Graph},
    {Message::Attribute, 9, Message::Entry},
    {Message::Attribute, 10, Message::Tensor},
    {Message::Attribute, 11, Message::Graph},
    {Message::Attribute, 14, Message::Type},
    {Message::Attribute, 15, Message::Type},
    {Message::Attribute, 22, Message::SparseTensor},
    {Message::Attribute, 23, Message::SparseTensor},
    {Message::Tensor, 6, Message::Entry},
    {Message::Tensor, 13, Message::Entry},
    {Message::Tensor, 16, Message::Entry},
    {Message::SparseTensor, 1, Message::Tensor},
    {Message::SparseTensor, 2, Message::Tensor},
    {Message::ValueInfo, 2, Message::Type},
    {Message::ValueInfo, 4, Message::Entry},
    {Message::Type, 1, Message::Tensors},
    {Message::Type, 4, Message::Sequence},
    {Message::Type, 5, Message::Map},
    {Message::Type, 7, Message::Entry},
    {Message::Type, 8, Message::Tensors},
    {Message::Type, 9, Message::Sequence},
    {Message::Sequence, 1, Message::Type},
    {Message::Map, 2, Message::Type},
    {Message::Tensors, 2, Message::Shape},
    {Message::Shape, 1, Message::Entry},
    {Message::Function, 4, Message::Entry},
    {Message::Function, 5, Message::Entry},
    {Message::Function, 6, Message::Entry},
    {Message::Function, 7, Message::Node},
    {Message::Function, 9, Message::Entry},
    {Message::Function, 11, Message::Attribute},
    {Message::Function, 12, Message::ValueInfo},
    {Message::Function, 14, Message::Entry},
    {Message::Training, 1, Message::Graph},
    {Message::Training, 2, Message::Graph},
    {Message::Training, 3, Message::Entry},
    {Message::Training, 4, Message::Entry},
};

constexpr unsigned maxField = 32;
struct FieldTable {
  Message of[static_cast<size_t>(Message::NumMessages)][maxField] = {};
  FieldTable() {
    for (const Field &f : fields)
      of[static_cast<size_t>(f.in)][f.number] = f.message;
  }
};

bool isPayload(uint64_t field) {
  return field == FloatData || field == Int32Data || field == Int64Data || field == RawData || field == DoubleData ||
         field == Uint64Data;
}

/// Payloads up to this size stay in the skeleton.
constexpr uint64_t smallPayload = 1024;

/// One field of a message: `value` for numbers, `bytes` for length-delimited ones, `all` with its tag.
struct WireField {
  uint64_t number;
  unsigned wireType;
  StringRef bytes;
  StringRef all;
};

class Scanner {
public:
  Scanner(StringRef file, const ImportCaps &caps, Skeleton &skeleton) : file(file), caps(caps), skeleton(skeleton) {}

  bool message(Message kind, StringRef bytes, std::string &out, unsigned depth);
  std::string reason;
  /// Set when the reason is a bound rather than broken bytes.
  bool overBound = false;
  bool sawGraph = false;
  /// The file begins as models do: with ir_version.
  bool beginsAsModel = false;

private:
  bool fail(const Twine &why) {
    if (reason.empty())
      reason = why.str();
    return false;
  }
  bool bound(const Twine &why) {
    overBound = true;
    return fail(why);
  }
  bool next(StringRef &rest, WireField &field);
  bool varint(StringRef &rest, uint64_t &value);
  bool tensor(StringRef bytes, std::string &out, unsigned depth);
  bool count(Message kind);
  uint64_t position(StringRef at) const { return at.data() - file.data(); }

  StringRef file;
  const ImportCaps &caps;
  Skeleton &skeleton;
  uint64_t entries = 0;
  const FieldTable table;
};

void appendVarint(std::string &out, uint64_t value) {
  uint8_t buffer[10];
  out.append(reinterpret_cast<char *>(buffer), encodeULEB128(value, buffer));
}

bool Scanner::varint(StringRef &rest, uint64_t &value) {
  value = 0;
  for (unsigned i = 0; i < 10 && i < rest.size(); ++i) {
    uint8_t byte = rest[i];
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (!(byte & 0x80)) {
      rest = rest.drop_front(i + 1);
      return true;
    }
  }
  return fail(rest.size() < 10 ? "it ends in the middle of a number at byte " + Twine(position(rest))
                               : "there is no valid number at byte " + Twine(position(rest)));
}

bool Scanner::next(StringRef &rest, WireField &field) {
  StringRef start = rest;
  uint64_t tag, length;
  if (!varint(rest, tag))
    return false;
  field.number = tag >> 3;
  field.wireType = tag & 7;
  field.bytes = StringRef();
  if (field.number == 0 || field.number > 536870911)
    return fail("there is no valid field at byte " + Twine(position(start)));
  switch (field.wireType) {
  case 0:
    if (!varint(rest, length))
      return false;
    break;
  case 1:
  case 5: {
    size_t size = field.wireType == 1 ? 8 : 4;
    if (rest.size() < size)
      return fail("it ends in the middle of a number at byte " + Twine(position(rest)));
    rest = rest.drop_front(size);
    break;
  }
  case 2:
    if (!varint(rest, length))
      return false;
    if (length > rest.size())
      return fail("the field at byte " + Twine(position(start)) + " claims " + Twine(length) + " bytes where " +
                  Twine(rest.size()) + " are left");
    field.bytes = rest.take_front(length);
    rest = rest.drop_front(length);
    break;
  default:
    return fail("there is no valid field at byte " + Twine(position(start)));
  }
  field.all = start.drop_back(rest.size());
  return true;
}

bool Scanner::count(Message kind) {
  if (kind == Message::Node && ++skeleton.nodes > caps.nodes)
    return bound("it has more than " + Twine(caps.nodes) + " nodes");
  if (++entries > caps.entries)
    return bound("it has more than " + Twine(caps.entries) + " entries outside its weights");
  return true;
}

bool Scanner::tensor(StringRef bytes, std::string &out, unsigned depth) {
  // First see whether the elements are worth leaving out, and whether they can be: numbers outside packed fields
  // interleave with the others, so such tensors go through protobuf.
  uint64_t payloadBytes = 0;
  bool unpacked = false;
  WireField field;
  for (StringRef rest = bytes; !rest.empty();) {
    if (!next(rest, field))
      return false;
    if (field.number == 3)
      return bound("it has a tensor that is split into segments, which no model uses; save it with whole tensors");
    if (!isPayload(field.number))
      continue;
    payloadBytes += field.bytes.size();
    unpacked |= field.wireType != 2;
  }
  bool leave = payloadBytes > smallPayload && !unpacked;
  Payload payload;
  for (StringRef rest = bytes; !rest.empty();) {
    if (!next(rest, field))
      return false;
    if (leave && isPayload(field.number)) {
      // Of a singular field the last one counts.
      if (field.number == RawData)
        llvm::erase_if(payload, [](const PayloadChunk &c) { return c.field == RawData; });
      payload.push_back({static_cast<int>(field.number), field.bytes});
      continue;
    }
    bool counted = field.wireType == 2 && field.number < maxField &&
                   table.of[static_cast<size_t>(Message::Tensor)][field.number] == Message::Entry;
    if (counted && !count(Message::Entry))
      return false;
    out.append(field.all.data(), field.all.size());
  }
  if (!leave)
    return true;
  // segment { begin: index }
  std::string segment("\x08", 1);
  appendVarint(segment, skeleton.payloads.size());
  out.push_back(0x1a);
  appendVarint(out, segment.size());
  out += segment;
  skeleton.payloads.push_back(std::move(payload));
  return true;
}

bool Scanner::message(Message kind, StringRef bytes, std::string &out, unsigned depth) {
  if (depth > caps.nesting)
    return bound("it is nested deeper than " + Twine(caps.nesting) + " levels");
  if (kind == Message::Tensor)
    return tensor(bytes, out, depth);
  WireField field;
  for (StringRef rest = bytes; !rest.empty();) {
    if (!next(rest, field))
      return false;
    if (kind == Message::Model && field.number == 1 && field.wireType == 0)
      beginsAsModel |= field.all.data() == file.data();
    Message child = Message::None;
    if (field.wireType == 2 && field.number < maxField)
      child = table.of[static_cast<size_t>(kind)][field.number];
    if (child != Message::None && !count(child))
      return false;
    sawGraph |= child == Message::Graph && kind == Message::Model;
    if (child == Message::None || child == Message::Entry) {
      out.append(field.all.data(), field.all.size());
    } else {
      std::string inner;
      if (!message(child, field.bytes, inner, depth + 1))
        return false;
      appendVarint(out, field.number << 3 | 2);
      appendVarint(out, inner.size());
      out += inner;
    }
    if (out.size() > caps.structureBytes)
      return bound("it has more than " + Twine(caps.structureBytes) + " bytes outside its weights");
  }
  return true;
}

struct Magic {
  StringRef bytes;
  size_t offset;
  StringRef what;
};

const Magic magics[] = {
    {"version https://git-lfs", 0, "is a Git LFS pointer, not the model; run `git lfs pull` in its repository"},
    {StringRef("PK\x03\x04", 4), 0,
     "is a ZIP archive (PyTorch checkpoints are), not an ONNX model; export it with torch.onnx.export"},
    {StringRef("\x89HDF", 4), 0, "is an HDF5 file (Keras), not an ONNX model; convert it with tf2onnx"},
    {"TFL3", 4, "is a TensorFlow Lite file, not an ONNX model; convert it with tf2onnx"},
    {"ORTM", 4, "is an ONNX Runtime (.ort) file; compile the .onnx it was made from"},
    {StringRef("\x1f\x8b", 2), 0, "is compressed with gzip; unpack it first"},
    {StringRef("\x80\x02", 2), 0, "is a Python pickle, not an ONNX model; export the model with torch.onnx.export"},
    {"<?xml", 0, "is an XML file (OpenVINO's IR?), not an ONNX model"},
    {"ML\xefR", 0, "is MLIR bytecode, not an ONNX model"},
};

bool looksLikeText(StringRef bytes) {
  StringRef head = bytes.take_front(512);
  return llvm::all_of(head, [](char c) { return isPrint(c) || c == '\n' || c == '\t' || c == '\r'; });
}

} // namespace

bool optc::import::scanModel(StringRef bytes, StringRef name, const ImportCaps &caps, Skeleton &skeleton,
                             Problems &problems) {
  std::string file = quoted(name);
  if (bytes.empty()) {
    problems.add(file + " is empty; an ONNX model is expected.");
    return false;
  }
  for (const Magic &magic : magics) {
    if (bytes.substr(magic.offset).starts_with(magic.bytes)) {
      problems.add(file + " " + magic.what + ".");
      return false;
    }
  }
  Scanner scanner(bytes, caps, skeleton);
  if (scanner.message(Message::Model, bytes, skeleton.bytes, 0)) {
    if (scanner.sawGraph)
      return true;
    if (looksLikeText(bytes))
      problems.add(file + " is a text file, not a binary ONNX model; convert it with onnx.load and onnx.save.");
    else
      problems.add(file + " holds no graph, so it is not a complete ONNX model; export it again.");
    return false;
  }
  if (scanner.overBound)
    problems.add(file + " is refused: " + scanner.reason + ".");
  else if (looksLikeText(bytes))
    problems.add(file + " is a text file, not a binary ONNX model; convert it with onnx.load and onnx.save.");
  else if (scanner.sawGraph || scanner.beginsAsModel)
    problems.add(file + " is truncated or damaged: " + scanner.reason + "; copy or export the model again.");
  else
    problems.add(file + " is not an ONNX model: " + scanner.reason + ".");
  return false;
}
