//===- Value.cpp - conversions between files' and the runtime's values ----===//
#include "optc/runtime/files/Value.h"
#include <cstdio>
#include <cstring>

using namespace optc::run;

int64_t Value::count() const {
  int64_t n = 1;
  for (int64_t d : dims)
    if (d < 0)
      return -1;
  for (int64_t d : dims)
    if (d == 0)
      return 0;
  for (int64_t d : dims)
    if (__builtin_mul_overflow(n, d, &n))
      return -1;
  return n;
}

int64_t optc::run::packedBytes(optc_dtype dtype, int64_t count) {
  int32_t bits = optc_dtype_bits(dtype);
  int64_t bytes;
  if (!bits || count < 0)
    return -1;
  if (bits < 8)
    return count / (8 / bits) + (count % (8 / bits) != 0);
  return __builtin_mul_overflow(count, int64_t(bits / 8), &bytes) ? -1 : bytes;
}

int optc::run::subByte(const Value &v, int64_t i) {
  int bits = optc_dtype_bits(v.dtype), per = 8 / bits;
  int x = (uint8_t(v.data[size_t(i / per)]) >> (i % per * bits)) & ((1 << bits) - 1);
  bool isSigned = v.dtype == OPTC_INT4 || v.dtype == OPTC_INT2;
  return isSigned && x >> (bits - 1) ? x - (1 << bits) : x;
}

void optc::run::setSubByte(Value &v, int64_t i, int value) {
  int bits = optc_dtype_bits(v.dtype), per = 8 / bits, mask = (1 << bits) - 1, shift = int(i % per) * bits;
  char &b = v.data[size_t(i / per)];
  b = char((uint8_t(b) & ~(mask << shift)) | (value & mask) << shift);
}

optc_value optc::run::toRuntime(const Value &v, Keeper &keep) {
  optc_value r = {};
  r.kind = v.kind;
  r.dtype = v.dtype;
  if (v.isTensor()) {
    const void *data = v.data.data();
    if (v.kind == OPTC_STRINGS) {
      keep.strings.emplace_back();
      for (const std::string &s : v.strings)
        keep.strings.back().push_back({s.data(), int64_t(s.size())});
      data = keep.strings.back().data();
    }
    return optc_value_tensor(v.dtype, int32_t(v.dims.size()), v.dims.data(), data);
  }
  std::vector<optc_value> items;
  for (const Value &item : v.items)
    items.push_back(toRuntime(item, keep));
  keep.items.push_back(std::move(items));
  r.size = int64_t(v.items.size());
  r.items = keep.items.back().data();
  return r;
}

Value optc::run::fromRuntime(const optc_value &r) {
  Value v;
  v.kind = r.kind;
  v.dtype = r.dtype;
  if (v.isTensor()) {
    v.dims.assign(r.tensor.shape, r.tensor.shape + r.tensor.ndim);
    int64_t n = v.count();
    const char *data = static_cast<const char *>(r.tensor.data) + r.tensor.byte_offset;
    if (v.kind == OPTC_STRINGS) {
      auto *s = reinterpret_cast<const optc_string *>(data);
      for (int64_t i = 0; i < n; ++i)
        v.strings.emplace_back(s[i].data ? s[i].data : "", size_t(s[i].size));
    } else if (n > 0) {
      v.data.assign(data, data + packedBytes(v.dtype, n));
    }
    return v;
  }
  for (int64_t i = 0; i < r.size; ++i)
    v.items.push_back(fromRuntime(r.items[i]));
  return v;
}

std::string optc::run::shapeText(const std::vector<int64_t> &dims) {
  std::string s = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    s += (i ? "," : "") + std::to_string(dims[i]);
  return s + "]";
}

std::string optc::run::describe(const Value &v) {
  switch (v.kind) {
  case OPTC_TENSOR:
  case OPTC_STRINGS:
    return optc_dtype_name(v.dtype) + shapeText(v.dims);
  case OPTC_SEQUENCE:
    return "a sequence of " + std::to_string(v.items.size());
  case OPTC_OPTIONAL:
    return v.items.empty() ? "an absent optional" : "an optional of " + describe(v.items[0]);
  case OPTC_MAP:
    return "a map";
  }
  return "nothing";
}

std::string optc::run::fileName(const std::string &name) {
  std::string s = name;
  for (char &c : s)
    if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
          c == '-'))
      c = '_';
  return s;
}

bool optc::run::retype(Value &v, optc_dtype want) {
  if (!want || v.dtype == want)
    return true;
  if (v.kind != OPTC_TENSOR)
    return false;
  int32_t bits = optc_dtype_bits(want), have = optc_dtype_bits(v.dtype);
  bool integers = v.dtype == OPTC_UINT8 || v.dtype == OPTC_INT8 || v.dtype == OPTC_UINT16;
  bool exotic = want == OPTC_BFLOAT16 || (want >= OPTC_FLOAT8E4M3FN && want <= OPTC_INT2);
  if (!integers || !exotic)
    return false;
  if (bits >= 8) {
    v.dtype = want;
    return have == bits;
  }
  if (have != 8)
    return false;
  Value packed;
  packed.kind = OPTC_TENSOR;
  packed.dtype = want;
  packed.dims = v.dims;
  int64_t n = v.count();
  packed.data.resize(size_t(packedBytes(want, n)));
  for (int64_t i = 0; i < n; ++i)
    setSubByte(packed, i, v.data[size_t(i)]);
  v = std::move(packed);
  return true;
}

bool optc::run::readFile(const std::string &path, std::string &bytes, std::string &error) {
  FILE *f = fopen(path.c_str(), "rb");
  if (!f) {
    error = "cannot open '" + path + "': " + strerror(errno);
    return false;
  }
  char buffer[1 << 16];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), f));)
    bytes.append(buffer, n);
  bool ok = !ferror(f);
  fclose(f);
  if (!ok)
    error = "cannot read '" + path + "'";
  return ok;
}

bool optc::run::writeFile(const std::string &path, const std::string &bytes, std::string &error) {
  FILE *f = fopen(path.c_str(), "wb");
  bool ok = f && fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size();
  if (f)
    ok &= fclose(f) == 0;
  if (!ok)
    error = "cannot write '" + path + "': " + strerror(errno);
  return ok;
}

//===-- random contents ------------------------------------------------------//

static uint64_t next(uint64_t &s) { // splitmix64
  uint64_t z = (s += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

Value optc::run::randomValue(optc_dtype dtype, const std::vector<int64_t> &dims, uint64_t seed) {
  Value v;
  v.kind = dtype == OPTC_STRING ? OPTC_STRINGS : OPTC_TENSOR;
  v.dtype = dtype;
  v.dims = dims;
  int64_t n = v.count(), bytes = packedBytes(dtype, n);
  if (bytes < 0)
    return Value();
  if (v.kind == OPTC_STRINGS) {
    for (int64_t i = 0; i < n; ++i)
      v.strings.push_back("s" + std::to_string(next(seed) % 100));
    return v;
  }
  v.data.resize(size_t(bytes));
  auto fill = [&](auto make) {
    using T = decltype(make());
    for (size_t i = 0; i + sizeof(T) <= v.data.size(); i += sizeof(T)) {
      T x = make();
      memcpy(v.data.data() + i, &x, sizeof(T));
    }
  };
  auto uniform = [&] { return double(int64_t(next(seed)) >> 11) * 0x1p-52; }; // [-1, 1)
  switch (dtype) {
  case OPTC_FLOAT:
  case OPTC_COMPLEX64:
    fill([&] { return float(uniform()); });
    break;
  case OPTC_DOUBLE:
  case OPTC_COMPLEX128:
    fill([&] { return uniform(); });
    break;
  case OPTC_FLOAT16: // exponents of [2^-3, 1)
    fill([&] {
      uint64_t r = next(seed);
      return uint16_t((r & 0x83ff) | (12 + (r >> 20) % 3) << 10);
    });
    break;
  case OPTC_BFLOAT16:
    fill([&] {
      uint64_t r = next(seed);
      return uint16_t((r & 0x807f) | (124 + (r >> 20) % 3) << 7);
    });
    break;
  // Indices and flags: 0 and 1 are valid almost everywhere.
  case OPTC_BOOL:
    fill([&] { return uint8_t(next(seed) & 1); });
    break;
  case OPTC_INT32:
  case OPTC_UINT32:
    fill([&] { return uint32_t(next(seed) & 1); });
    break;
  case OPTC_INT64:
  case OPTC_UINT64:
    fill([&] { return uint64_t(next(seed) & 1); });
    break;
  case OPTC_FLOAT8E4M3FN:
  case OPTC_FLOAT8E4M3FNUZ:
  case OPTC_FLOAT8E5M2:
  case OPTC_FLOAT8E5M2FNUZ:
    fill([&] { return uint8_t(next(seed) & 0xb7); }); // no NaN or infinity
    break;
  default:
    fill([&] { return uint8_t(next(seed)); });
  }
  return v;
}
