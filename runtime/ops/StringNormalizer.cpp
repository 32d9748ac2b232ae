//===- StringNormalizer.cpp -----------------------------------------------===//
#include "Strings.h"

using namespace optc::rt;

enum Case { Keep, Lower, Upper };

static optc_string withCase(optc_host *h, const optc_string &s, int to) {
  if (to == Keep || !s.size)
    return s;
  char *bytes = newBytes(h, s.size * 2 + 4),
       *q = bytes; // a letter of these alphabets grows from one byte to two at most
  for (const char *p = s.data, *end = s.data + s.size; p != end;)
    q = putCodePoint(q, changeCase(nextCodePoint(p, end), to));
  return {bytes, q - bytes};
}

OPTC_OP(string_normalizer) {
  checkCall(h, "StringNormalizer", n, 1, attrs, 2, m, 1);
  const optc_tensor &x = in[0];
  requireStrings(h, "StringNormalizer", x);
  if (x.rank != 1 && !(x.rank == 2 && x.dims[0] == 1))
    fail(h, OPTC_RUN_FAILED, "StringNormalizer: the input has shape %s; [C] and [1,C] are supported",
         shapeText(x.rank, x.dims).text);
  if (attr[0] < Keep || attr[0] > Upper)
    fail(h, OPTC_RUN_FAILED, "StringNormalizer: case change %lld; 0, 1 and 2 are supported", (long long)attr[0]);
  int64_t total = count(x), stops = n > 1 && in[1].data ? count(in[1]) : 0, kept = 0;
  if (stops)
    requireStrings(h, "StringNormalizer", in[1]);
  bool sensitive = attr[1];
  auto *result = allocArray<optc_string>(h, total);
  auto *stopwords = allocArray<optc_string>(h, stops);
  for (int64_t k = 0; k < stops; ++k)
    stopwords[k] = withCase(h, strings(in[1])[k], sensitive ? Keep : Lower);
  for (int64_t i = 0; i < total; ++i) {
    optc_string text = stops ? withCase(h, strings(x)[i], sensitive ? Keep : Lower) : optc_string{};
    bool stopped = false;
    for (int64_t k = 0; k < stops && !stopped; ++k)
      stopped = equal(text, stopwords[k]);
    if (!stopped)
      result[kept++] = withCase(h, strings(x)[i], int(attr[0]));
  }
  // Nothing left: one empty string, as the operator says.
  if (!kept && total)
    result[kept++] = {"", 0};
  int64_t dims[2] = {1, kept};
  int64_t *shape = x.rank == 1 ? dims + 1 : dims;
  out[0] = makeTensor(h, OPTC_STRING, x.rank, shape);
  memcpy(out[0].data, result, sizeof(optc_string) * size_t(kept));
  return 0;
}
