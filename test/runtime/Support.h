//===- Support.h - running operators and services inside a model ----------===//
#ifndef OPTC_TEST_RUNTIME_SUPPORT_H
#define OPTC_TEST_RUNTIME_SUPPORT_H
#include "optc/runtime/ops/ops.h"
#include "optc/runtime/optc.h"
#include "gtest/gtest.h"
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace test {

/// The entry of the test's models calls this.
inline std::function<void(optc_host *)> *program;
inline int32_t runProgram(optc_host *h) {
  (*program)(h);
  return 0;
}

/// Runs `body` as the host program of a model without inputs and outputs; the error message, empty when it succeeded.
inline std::string inModel(std::function<void(optc_host *)> body) {
  optc_model_desc desc = {};
  desc.abi = OPTC_DISPATCH_ABI;
  desc.size = sizeof(desc);
  desc.name = "test";
  desc.entry = runProgram;
  optc_error error = {};
  optc_model *model = nullptr;
  optc_context *context = nullptr;
  program = &body;
  if (!optc_model_from_desc(&desc, &model, &error) && !optc_context_create(model, nullptr, &context, &error))
    optc_run(context, nullptr, 0, nullptr, 0, nullptr, &error);
  optc_context_destroy(context);
  optc_model_destroy(model);
  return error.status ? error.message : "";
}

template <typename T> constexpr optc_dtype dtypeOf() {
  if (std::is_same_v<T, float>)
    return OPTC_FLOAT;
  if (std::is_same_v<T, double>)
    return OPTC_DOUBLE;
  if (std::is_same_v<T, int64_t>)
    return OPTC_INT64;
  if (std::is_same_v<T, int32_t>)
    return OPTC_INT32;
  if (std::is_same_v<T, uint8_t>)
    return OPTC_UINT8;
  return OPTC_STRING;
}

/// A tensor over a vector of the test.
template <typename T>
optc_tensor tensor(std::vector<T> &data, std::vector<int64_t> dims, optc_dtype dtype = dtypeOf<T>()) {
  static T nothing;
  optc_tensor t = {};
  t.data = data.empty() ? &nothing : data.data();
  t.dtype = dtype;
  t.rank = int32_t(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    t.dims[i] = dims[i];
  return t;
}

inline std::vector<int64_t> dimsOf(const optc_tensor &t) { return std::vector<int64_t>(t.dims, t.dims + t.rank); }
template <typename T> std::vector<T> valuesOf(const optc_tensor &t) {
  int64_t n = 1;
  for (int32_t i = 0; i < t.rank; ++i)
    n *= t.dims[i];
  return std::vector<T>(static_cast<const T *>(t.data), static_cast<const T *>(t.data) + n);
}
inline std::vector<std::string> stringsOf(const optc_tensor &t) {
  std::vector<std::string> r;
  for (const optc_string &s : valuesOf<optc_string>(t))
    r.emplace_back(s.data, size_t(s.size));
  return r;
}

/// optc_strings over literals.
inline std::vector<optc_string> strings(std::vector<const char *> texts) {
  std::vector<optc_string> r;
  for (const char *s : texts)
    r.push_back({s, int64_t(strlen(s))});
  return r;
}

/// Calls an operator; an optc_tensor{} operand is absent.
inline std::vector<optc_tensor> call(optc_library_op op, optc_host *h, std::vector<optc_tensor> in,
                                     std::vector<int64_t> attrs, int results = 1) {
  std::vector<optc_tensor> out(size_t(results), optc_tensor{});
  op(h, in.data(), int32_t(in.size()), attrs.data(), int32_t(attrs.size()), out.data(), results);
  return out;
}

inline int64_t floatBits(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}

} // namespace test
#endif
