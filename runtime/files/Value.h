//===- Value.h - host-side values and their files ------------------------===//
#ifndef OPTC_RUNTIME_FILES_VALUE_H
#define OPTC_RUNTIME_FILES_VALUE_H
#include "optc/runtime/optc.h"
#include <deque>
#include <string>
#include <vector>

namespace optc::run {

/// A value read from a file or copied out of a run. Elements are in the ABI's form (sub-byte types packed).
struct Value {
  int32_t kind = OPTC_NONE;
  optc_dtype dtype = 0;
  std::vector<int64_t> dims;
  std::vector<char> data;
  std::vector<std::string> strings;
  std::vector<Value> items;

  bool isTensor() const { return kind == OPTC_TENSOR || kind == OPTC_STRINGS; }
  /// -1 when a size is negative or the product overflows.
  int64_t count() const;
};

/// Bytes of `count` packed elements, -1 on overflow.
int64_t packedBytes(optc_dtype dtype, int64_t count);
/// Element `i` of a sub-byte tensor, sign-extended for signed types.
int subByte(const Value &v, int64_t i);
void setSubByte(Value &v, int64_t i, int value);

/// Storage behind optc_values: item lists and string arrays.
struct Keeper {
  std::deque<std::vector<optc_value>> items;
  std::deque<std::vector<optc_string>> strings;
};
optc_value toRuntime(const Value &v, Keeper &keep);
Value fromRuntime(const optc_value &v);

/// "float32[2,3]", "sequence of 3", ...
std::string describe(const Value &v);
std::string shapeText(const std::vector<int64_t> &dims);
/// The file name of a tensor: characters outside [A-Za-z0-9_.-] become '_'.
std::string fileName(const std::string &name);

// Readers and writers; false with a sentence in `error` (which names the file).
bool readFile(const std::string &path, std::string &bytes, std::string &error);
bool writeFile(const std::string &path, const std::string &bytes, std::string &error);
/// `want` tells bfloat16, 8-bit floats and sub-byte types from the plain integers that numpy stores them as; 0: take
/// the file's type.
bool parseNpy(const std::string &bytes, optc_dtype want, Value &v, std::string &error);
std::string writeNpy(const Value &v);
bool parseNpz(const std::string &bytes, const std::string &name, optc_dtype want, Value &v, std::string &error);
/// The names of the arrays of a .npz file, without ".npy".
bool listNpz(const std::string &bytes, std::vector<std::string> &names, std::string &error);
/// TensorProto, SequenceProto or OptionalProto; `kind` is optc_io_desc.kind, the form that is tried first.
bool parseProto(const std::string &bytes, int32_t kind, Value &v, std::string &error);
std::string writeProto(const Value &v, const std::string &name);
/// The element type `v` is meant to have: numpy's integers become bfloat16 and so on. False when it does not fit.
bool retype(Value &v, optc_dtype want);

/// Reproducible pseudo-random contents.
Value randomValue(optc_dtype dtype, const std::vector<int64_t> &dims, uint64_t seed);

/// An element as a double (real part of complex numbers).
double element(const Value &v, int64_t i, bool imaginary = false);

} // namespace optc::run
#endif
