//===- Npy.cpp - numpy's .npy and .npz files ------------------------------===//
#include "optc/runtime/files/Value.h"
#include <cstring>
#include <zlib.h>

using namespace optc::run;

namespace {
struct Descr {
  const char *text;
  optc_dtype dtype;
};
} // namespace

/// First match wins when writing: types that numpy lacks are stored as the integers of their size.
static constexpr Descr kDescr[] = {{"f4", OPTC_FLOAT},
                                   {"f8", OPTC_DOUBLE},
                                   {"f2", OPTC_FLOAT16},
                                   {"i1", OPTC_INT8},
                                   {"u1", OPTC_UINT8},
                                   {"i2", OPTC_INT16},
                                   {"u2", OPTC_UINT16},
                                   {"i4", OPTC_INT32},
                                   {"u4", OPTC_UINT32},
                                   {"i8", OPTC_INT64},
                                   {"u8", OPTC_UINT64},
                                   {"b1", OPTC_BOOL},
                                   {"c8", OPTC_COMPLEX64},
                                   {"c16", OPTC_COMPLEX128},
                                   {"V2", OPTC_UINT16},
                                   {"V1", OPTC_UINT8},
                                   // Written only: a reader knows the type from the model.
                                   {"u2", OPTC_BFLOAT16},
                                   {"i1", OPTC_INT4},
                                   {"i1", OPTC_INT2}};

/// The text after 'key': in the header dictionary.
static bool field(const std::string &header, const char *key, std::string &value) {
  size_t at = header.find("'" + std::string(key) + "'");
  if (at == std::string::npos || (at = header.find(':', at)) == std::string::npos)
    return false;
  at = header.find_first_not_of(' ', at + 1);
  if (at == std::string::npos)
    return false;
  size_t end = header[at] == '('    ? header.find(')', at)
               : header[at] == '\'' ? header.find('\'', at + 1)
                                    : header.find_first_of(",}", at);
  if (end == std::string::npos)
    return false;
  value = header[at] == '(' || header[at] == '\'' ? header.substr(at + 1, end - at - 1) : header.substr(at, end - at);
  return true;
}

static void appendUtf8(std::string &s, uint32_t c) {
  if (c < 0x80)
    s += char(c);
  else if (c < 0x800)
    (s += char(0xc0 | c >> 6)) += char(0x80 | (c & 63));
  else if (c < 0x10000)
    ((s += char(0xe0 | c >> 12)) += char(0x80 | (c >> 6 & 63))) += char(0x80 | (c & 63));
  else
    (((s += char(0xf0 | (c >> 18 & 7))) += char(0x80 | (c >> 12 & 63))) += char(0x80 | (c >> 6 & 63))) +=
        char(0x80 | (c & 63));
}

/// From column-major to row-major order.
template <typename Move> static void reorder(const std::vector<int64_t> &dims, int64_t count, Move move) {
  std::vector<int64_t> index(dims.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = 0, stride = 1;
    for (size_t d = 0; d < dims.size(); ++d) {
      from += index[d] * stride;
      stride *= dims[d];
    }
    move(i, from);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d])
        break;
      index[d] = 0;
    }
  }
}

bool optc::run::parseNpy(const std::string &bytes, optc_dtype want, Value &v, std::string &error) {
  if (bytes.size() < 10 || memcmp(bytes.data(), "\x93NUMPY", 6)) {
    error = "it is not a .npy file";
    return false;
  }
  bool large = bytes[6] >= 2;
  size_t start = large ? 12 : 10, length = 0;
  for (size_t i = 0; i < start - 8; ++i)
    length |= size_t(uint8_t(bytes[8 + i < bytes.size() ? 8 + i : 8])) << (8 * i);
  if (bytes.size() < start || bytes.size() - start < length) {
    error = "its header is cut off";
    return false;
  }
  std::string header = bytes.substr(start, length), descr, order, shape;
  if (!field(header, "descr", descr) || !field(header, "fortran_order", order) || !field(header, "shape", shape) ||
      descr.size() < 2) {
    error = "its header is damaged: " + header.substr(0, header.find_last_not_of(" \n") + 1);
    return false;
  }
  for (size_t at = 0; at < shape.size();) {
    size_t digits = shape.find_first_of("0123456789", at);
    if (digits == std::string::npos)
      break;
    size_t end = shape.find_first_not_of("0123456789", digits);
    end = end == std::string::npos ? shape.size() : end;
    if (end - digits > 18 || v.dims.size() >= OPTC_MAX_RANK) {
      error = "its shape (" + shape + ") is not supported";
      return false;
    }
    v.dims.push_back(std::stoll(shape.substr(digits, end - digits)));
    at = end;
  }
  std::string type = descr.substr(1);
  bool fortran = order.substr(0, 4) == "True";
  int64_t n = v.count();
  const char *data = bytes.data() + start + length;
  size_t size = bytes.size() - start - length;
  if ((type[0] == 'U' || type[0] == 'S') && type.size() > 1 && descr[0] != '>') {
    size_t characters = 0;
    for (size_t i = 1; i < type.size() && type[i] >= '0' && type[i] <= '9' && characters < (1u << 24); ++i)
      characters = characters * 10 + size_t(type[i] - '0');
    size_t width = characters * (type[0] == 'U' ? 4 : 1);
    if (n < 0 || (width && size_t(n) > size / width)) {
      error = "its data is cut off";
      return false;
    }
    v.kind = OPTC_STRINGS;
    v.dtype = OPTC_STRING;
    v.strings.resize(size_t(n));
    auto read = [&](int64_t to, int64_t from) {
      std::string &s = v.strings[size_t(to)];
      if (type[0] == 'S') {
        s.assign(data + size_t(from) * width, strnlen(data + size_t(from) * width, width));
        return;
      }
      for (size_t i = 0; i < characters; ++i) {
        uint32_t c;
        memcpy(&c, data + size_t(from) * width + 4 * i, 4);
        if (!c)
          break;
        appendUtf8(s, c);
      }
    };
    if (fortran)
      reorder(v.dims, n, read);
    else
      for (int64_t i = 0; i < n; ++i)
        read(i, i);
  } else {
    for (const Descr &d : kDescr)
      if (type == d.text && descr[0] != '>') {
        v.dtype = d.dtype;
        break;
      }
    int64_t need = packedBytes(v.dtype, n);
    if (!v.dtype || need < 0) {
      error = "its type '" + descr + "' is not supported; little-endian numbers, bool and strings are";
      return false;
    }
    if (int64_t(size) < need) {
      error = "its data is cut off";
      return false;
    }
    v.kind = OPTC_TENSOR;
    v.data.assign(data, data + need);
    if (fortran) {
      size_t width = size_t(optc_dtype_bits(v.dtype) / 8);
      reorder(v.dims, n, [&](int64_t to, int64_t from) {
        memcpy(v.data.data() + size_t(to) * width, data + size_t(from) * width, width);
      });
    }
  }
  retype(v, want);
  return true;
}

std::string optc::run::writeNpy(const Value &v) {
  std::string descr = "|u1", body;
  int32_t bits = optc_dtype_bits(v.dtype);
  if (v.kind == OPTC_STRINGS) {
    std::vector<std::vector<uint32_t>> all;
    size_t longest = 1;
    for (const std::string &s : v.strings) {
      std::vector<uint32_t> points;
      for (size_t i = 0; i < s.size();) {
        uint8_t c = uint8_t(s[i]);
        size_t n = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
        uint32_t x = n == 1 ? c : c & (0xff >> (n + 1));
        for (size_t k = 1; k < n && i + k < s.size(); ++k)
          x = x << 6 | (uint8_t(s[i + k]) & 63);
        points.push_back(x);
        i += n;
      }
      longest = points.size() > longest ? points.size() : longest;
      all.push_back(points);
    }
    for (std::vector<uint32_t> &points : all) {
      points.resize(longest);
      body.append(reinterpret_cast<const char *>(points.data()), longest * 4);
    }
    descr = "<U" + std::to_string(longest);
  } else {
    for (const Descr &d : kDescr)
      if (v.dtype == d.dtype) {
        descr = (bits <= 8 ? "|" : "<") + std::string(d.text);
        break;
      }
    if (bits < 8)
      for (int64_t i = 0, n = v.count(); i < n; ++i)
        body += char(subByte(v, i));
    else
      body.assign(v.data.begin(), v.data.end());
  }
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (int64_t d : v.dims)
    header += std::to_string(d) + ",";
  header += "), }";
  while ((header.size() + 11) % 64)
    header += ' ';
  header += '\n';
  std::string s("\x93NUMPY\x01\x00", 8);
  s += char(header.size() & 255);
  s += char(header.size() >> 8);
  return s + header + body;
}

//===-- .npz: a zip file of .npy files ---------------------------------------//

static uint32_t number(const std::string &s, size_t at, int bytes) {
  uint32_t v = 0;
  for (int i = 0; i < bytes; ++i)
    v |= uint32_t(uint8_t(s[at + size_t(i)])) << (8 * i);
  return v;
}

static bool inflate(const char *data, size_t size, size_t expected, std::string &out) {
  if (expected > size * 1100 + 64) // more than deflate can expand
    return false;
  out.resize(expected);
  z_stream z = {};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
    return false;
  z.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(data));
  z.avail_in = uInt(size);
  z.next_out = reinterpret_cast<Bytef *>(&out[0]);
  z.avail_out = uInt(expected);
  int rc = ::inflate(&z, Z_FINISH);
  inflateEnd(&z);
  return rc == Z_STREAM_END && z.total_out == expected;
}

namespace {
/// A file inside a zip file.
struct Entry {
  std::string name;
  size_t method, packed, size, local;
};
} // namespace

/// The directory of a zip file.
static bool readDirectory(const std::string &bytes, std::vector<Entry> &entries, std::string &error) {
  size_t end = bytes.rfind("PK\x05\x06");
  if (end == std::string::npos || bytes.size() - end < 22) {
    error = "it is not a .npz file";
    return false;
  }
  size_t count = number(bytes, end + 10, 2), at = number(bytes, end + 16, 4);
  for (size_t i = 0; i < count; ++i) {
    if (at > bytes.size() || bytes.size() - at < 46 || number(bytes, at, 4) != 0x02014b50) {
      error = "its directory is damaged";
      return false;
    }
    size_t nameSize = number(bytes, at + 28, 2),
           skip = nameSize + number(bytes, at + 30, 2) + number(bytes, at + 32, 2);
    if (bytes.size() - at - 46 < skip) {
      error = "its directory is damaged";
      return false;
    }
    entries.push_back({bytes.substr(at + 46, nameSize), number(bytes, at + 10, 2), number(bytes, at + 20, 4),
                       number(bytes, at + 24, 4), number(bytes, at + 42, 4)});
    at += 46 + skip;
  }
  return true;
}

bool optc::run::listNpz(const std::string &bytes, std::vector<std::string> &names, std::string &error) {
  std::vector<Entry> entries;
  if (!readDirectory(bytes, entries, error))
    return false;
  for (const Entry &e : entries) {
    size_t n = e.name.size();
    names.push_back(n > 4 && !e.name.compare(n - 4, 4, ".npy") ? e.name.substr(0, n - 4) : e.name);
  }
  return true;
}

bool optc::run::parseNpz(const std::string &bytes, const std::string &name, optc_dtype want, Value &v,
                         std::string &error) {
  std::vector<Entry> entries;
  if (!readDirectory(bytes, entries, error))
    return false;
  std::string names;
  for (const Entry &e : entries) {
    if (e.name != name + ".npy" && e.name != fileName(name) + ".npy" && entries.size() != 1) {
      names += " " + e.name;
      continue;
    }
    if (e.packed == 0xffffffffu || e.size == 0xffffffffu || e.local == 0xffffffffu) {
      error = "entries of 4 GiB and more are not supported; use .npy files";
      return false;
    }
    if (e.local > bytes.size() || bytes.size() - e.local < 30) {
      error = "it is damaged";
      return false;
    }
    size_t data = e.local + 30 + number(bytes, e.local + 26, 2) + number(bytes, e.local + 28, 2);
    if (data > bytes.size() || bytes.size() - data < e.packed) {
      error = "it is cut off";
      return false;
    }
    if (e.method == 0)
      return parseNpy(bytes.substr(data, e.packed), want, v, error);
    std::string plain;
    if (e.method != 8 || !inflate(bytes.data() + data, e.packed, e.size, plain)) {
      error = "entry " + e.name + " cannot be decompressed";
      return false;
    }
    return parseNpy(plain, want, v, error);
  }
  error = "it has no entry " + name + ".npy; it holds:" + names;
  return false;
}
