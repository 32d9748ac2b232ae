//===- Proto.cpp - TensorProto, SequenceProto and OptionalProto files -----===//
//
// A bounded reader of the protobuf wire format: test data must load fast, and a library for three messages would be
// most of the start-up.
//
//===----------------------------------------------------------------------===//
#include "optc/runtime/files/Value.h"
#include <cstring>

using namespace optc::run;

namespace {
/// One field of a message; lengths are checked.
struct Field {
  uint32_t number = 0, wire = 0;
  uint64_t value = 0;         // wire types 0, 1, 5
  const char *data = nullptr; // wire type 2
  size_t size = 0;
};

struct Reader {
  const char *p, *end;
  bool bad = false;

  Reader(const char *data, size_t size) : p(data), end(data + size) {}
  uint64_t varint() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (p == end)
        break;
      uint8_t b = uint8_t(*p++);
      v |= uint64_t(b & 0x7f) << shift;
      if (!(b & 0x80))
        return v;
    }
    bad = true;
    return 0;
  }
  template <typename T> T fixed() {
    T v = 0;
    if (size_t(end - p) < sizeof(T)) {
      bad = true;
      p = end;
      return 0;
    }
    memcpy(&v, p, sizeof(T));
    p += sizeof(T);
    return v;
  }
  /// False at the end or after damage.
  bool next(Field &f) {
    if (p == end || bad)
      return false;
    uint64_t key = varint();
    f.number = uint32_t(key >> 3);
    f.wire = uint32_t(key & 7);
    switch (f.wire) {
    case 0:
      f.value = varint();
      break;
    case 1:
      f.value = fixed<uint64_t>();
      break;
    case 5:
      f.value = fixed<uint32_t>();
      break;
    case 2: {
      uint64_t n = varint();
      if (bad || n > uint64_t(end - p)) {
        bad = true;
        return false;
      }
      f.data = p;
      f.size = size_t(n);
      p += n;
      break;
    }
    default:
      bad = true;
    }
    return !bad && f.number != 0;
  }
};
} // namespace

/// Repeated numbers, packed or not.
template <typename Store> static bool eachVarint(const Field &f, Store store) {
  if (f.wire == 0) {
    store(f.value);
    return true;
  }
  if (f.wire != 2)
    return false;
  Reader r(f.data, f.size);
  while (r.p != r.end && !r.bad)
    store(r.varint());
  return !r.bad;
}

template <typename T> static bool appendFixed(const Field &f, std::vector<char> &out) {
  if (f.wire == 2 && f.size % sizeof(T) == 0) {
    out.insert(out.end(), f.data, f.data + f.size);
    return true;
  }
  if (f.wire != (sizeof(T) == 4 ? 5 : 1))
    return false;
  out.insert(out.end(), reinterpret_cast<const char *>(&f.value), reinterpret_cast<const char *>(&f.value) + sizeof(T));
  return true;
}

static bool parseTensor(const char *data, size_t size, Value &v, std::string &error) {
  Reader r(data, size);
  Field f;
  std::vector<char> floats, doubles;
  std::vector<uint64_t> int32s, int64s, uint64s;
  const Field none;
  Field raw = none;
  bool hasRaw = false, ok = true;
  while (ok && r.next(f)) {
    switch (f.number) {
    case 1:
      ok = eachVarint(f, [&](uint64_t d) { v.dims.push_back(int64_t(d)); });
      break;
    case 2:
      ok = f.wire == 0;
      v.dtype = optc_dtype(f.value);
      break;
    case 4:
      ok = appendFixed<float>(f, floats);
      break;
    case 5:
      ok = eachVarint(f, [&](uint64_t x) { int32s.push_back(x); });
      break;
    case 6:
      ok = f.wire == 2;
      if (ok)
        v.strings.emplace_back(f.data, f.size);
      break;
    case 7:
      ok = eachVarint(f, [&](uint64_t x) { int64s.push_back(x); });
      break;
    case 8: // name
      ok = f.wire == 2;
      break;
    case 9:
      ok = f.wire == 2;
      raw = f;
      hasRaw = true;
      break;
    case 10:
      ok = appendFixed<double>(f, doubles);
      break;
    case 11:
      ok = eachVarint(f, [&](uint64_t x) { uint64s.push_back(x); });
      break;
    case 13:
    case 14:
      if (f.number == 13 || f.value == 1) {
        error = "its data is external; store it inline";
        return false;
      }
      break;
    }
  }
  if (!ok || r.bad) {
    error = "it is not a TensorProto";
    return false;
  }
  int32_t bits = optc_dtype_bits(v.dtype);
  int64_t n = v.count(), bytes = packedBytes(v.dtype, n);
  if (!bits || bytes < 0 || v.dims.size() > OPTC_MAX_RANK) {
    error = "its element type " + std::to_string(v.dtype) + " or shape " + shapeText(v.dims) + " is not valid";
    return false;
  }
  v.kind = v.dtype == OPTC_STRING ? OPTC_STRINGS : OPTC_TENSOR;
  int64_t have;
  if (v.dtype == OPTC_STRING) {
    have = int64_t(v.strings.size());
    bytes = n;
  } else if (hasRaw) {
    v.data.assign(raw.data, raw.data + raw.size);
    have = int64_t(v.data.size());
  } else {
    auto put = [&](const std::vector<uint64_t> &values, size_t width) {
      for (uint64_t x : values)
        v.data.insert(v.data.end(), reinterpret_cast<const char *>(&x), reinterpret_cast<const char *>(&x) + width);
    };
    if (v.dtype == OPTC_FLOAT || v.dtype == OPTC_COMPLEX64)
      v.data = floats;
    else if (v.dtype == OPTC_DOUBLE || v.dtype == OPTC_COMPLEX128)
      v.data = doubles;
    else if (v.dtype == OPTC_INT64)
      put(int64s, 8);
    else if (v.dtype == OPTC_UINT32 || v.dtype == OPTC_UINT64)
      put(uint64s, size_t(bits / 8));
    else
      put(int32s, bits < 8 ? 1 : size_t(bits / 8));
    have = int64_t(v.data.size());
  }
  if (have != bytes) {
    error = "it holds " + std::to_string(have) + (v.dtype == OPTC_STRING ? " strings" : " bytes") + ", " + describe(v) +
            " needs " + std::to_string(bytes);
    return false;
  }
  return true;
}

static bool parseMessage(const char *data, size_t size, int32_t kind, int depth, Value &v, std::string &error);

/// SequenceProto (optional = false) and OptionalProto have the same fields 1 to 7.
static bool parseContainer(const char *data, size_t size, bool optional, int depth, Value &v, std::string &error) {
  Reader r(data, size);
  Field f;
  v.kind = optional ? OPTC_OPTIONAL : OPTC_SEQUENCE;
  while (r.next(f)) {
    Value item;
    bool isItem = f.number == 3 || f.number == 5 || f.number == 7;
    if (f.number == 4 || f.number == 6) {
      error = f.number == 4 ? "sparse tensors are not supported" : "maps are not supported";
      return false;
    }
    if ((f.number == 1 && f.wire != 2) || (f.number == 2 && f.wire != 0) || (isItem && f.wire != 2) || f.number > 7) {
      error = optional ? "it is not an OptionalProto" : "it is not a SequenceProto";
      return false;
    }
    if (!isItem)
      continue;
    if (!parseMessage(f.data, f.size, f.number == 3 ? 0 : f.number == 5 ? 1 : 2, depth + 1, item, error))
      return false;
    v.items.push_back(std::move(item));
  }
  if (r.bad || (optional && v.items.size() > 1)) {
    error = optional ? "it is not an OptionalProto" : "it is not a SequenceProto";
    return false;
  }
  if (!v.items.empty())
    v.dtype = v.items[0].dtype;
  return true;
}

static bool parseMessage(const char *data, size_t size, int32_t kind, int depth, Value &v, std::string &error) {
  if (depth > 8) {
    error = "it is nested too deeply";
    return false;
  }
  return kind == 0 ? parseTensor(data, size, v, error) : parseContainer(data, size, kind != 1, depth, v, error);
}

bool optc::run::parseProto(const std::string &bytes, int32_t kind, Value &v, std::string &error) {
  std::string first;
  const int32_t order[4][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int32_t k : order[kind & 3]) {
    Value candidate;
    std::string why;
    if (parseMessage(bytes.data(), bytes.size(), k, 0, candidate, why)) {
      v = std::move(candidate);
      return true;
    }
    if (first.empty())
      first = why;
  }
  error = first;
  return false;
}

//===-- writing --------------------------------------------------------------//

static void putVarint(std::string &s, uint64_t v) {
  for (; v >= 0x80; v >>= 7)
    s += char(v | 0x80);
  s += char(v);
}
static void putNumber(std::string &s, uint32_t field, uint64_t v) {
  putVarint(s, field << 3);
  putVarint(s, v);
}
static void putBytes(std::string &s, uint32_t field, const std::string &bytes) {
  putVarint(s, field << 3 | 2);
  putVarint(s, bytes.size());
  s += bytes;
}

std::string optc::run::writeProto(const Value &v, const std::string &name) {
  std::string s;
  if (v.isTensor()) {
    for (int64_t d : v.dims)
      putNumber(s, 1, uint64_t(d));
    putNumber(s, 2, uint64_t(v.dtype));
    for (const std::string &x : v.strings)
      putBytes(s, 6, x);
    if (!name.empty())
      putBytes(s, 8, name);
    if (v.kind == OPTC_TENSOR)
      putBytes(s, 9, std::string(v.data.begin(), v.data.end()));
    return s;
  }
  if (!name.empty())
    putBytes(s, 1, name);
  bool nested = !v.items.empty() && !v.items[0].isTensor();
  putNumber(s, 2, v.kind == OPTC_OPTIONAL && v.items.empty() ? 0 : nested ? 3 : 1);
  for (const Value &item : v.items)
    putBytes(s, nested ? 5 : 3, writeProto(item, ""));
  return s;
}
