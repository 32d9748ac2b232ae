//===- TfIdf.cpp - TfIdfVectorizer ----------------------------------------===//
#include "Strings.h"
#include <algorithm>

using namespace optc::rt;

namespace {
/// An n-gram of the pool: where it starts and the output's column.
struct Gram {
  int64_t start, number;
};

struct GramPool {
  optc_dtype dtype;
  const char *data;
  int64_t width;
  Gram *grams; // sorted within a length

  /// Order of an n-gram of the pool against elements x[0], x[stride], ...
  int compare(int64_t start, const char *x, int64_t stride, int64_t length) const {
    for (int64_t i = 0; i < length; ++i)
      if (int c = compareElements(dtype, data + (start + i) * width, x + i * stride * width))
        return c;
    return 0;
  }
  const Gram *find(int64_t first, int64_t last, const char *x, int64_t stride, int64_t length) const {
    while (first < last) {
      int64_t middle = first + (last - first) / 2;
      int c = compare(grams[middle].start, x, stride, length);
      if (!c)
        return &grams[middle];
      if (c < 0)
        first = middle + 1;
      else
        last = middle;
    }
    return nullptr;
  }
};
} // namespace

OPTC_OP(tfidf) {
  enum Mode { TF, IDF, TFIDF };
  constexpr const char *op = "TfIdfVectorizer";
  checkCall(h, op, n, 4, attrs, 4, m, 1);
  const optc_tensor &x = in[0], &pool = in[1], &counts = in[2], &indexes = in[3];
  const optc_tensor *weights = n > 4 && in[4].data ? &in[4] : nullptr;
  if (x.rank < 1 || x.rank > 2 || !isSortable(x.dtype))
    fail(h, OPTC_RUN_FAILED, "%s: the input is %s%s; int32, int64 and string of rank 1 and 2 are supported", op,
         optc_dtype_name(x.dtype), shapeText(x.rank, x.dims).text);
  int64_t lowest = attr[1], highest = attr[2], skips = attr[3], lengths = count(counts), poolSize = count(pool),
          columns = 0;
  int64_t numGrams = count(indexes);
  if (lowest < 1 || highest < lowest || highest > lengths || skips < 0 || lengths < 1 ||
      (weights && (weights->dtype != OPTC_FLOAT || count(*weights) != numGrams)))
    fail(h, OPTC_RUN_FAILED,
         "%s: n-gram lengths %lld to %lld, %lld skips and %lld weights do not fit %lld counts and %lld indexes", op,
         (long long)lowest, (long long)highest, (long long)skips, (long long)(weights ? count(*weights) : 0),
         (long long)lengths, (long long)numGrams);
  for (int64_t i = 0; i < numGrams; ++i) {
    int64_t c = integerAt(h, op, "ngram_indexes", indexes, i);
    if (c < 0 || c > (int64_t(1) << 40))
      fail(h, OPTC_RUN_FAILED, "%s: ngram_indexes holds %lld", op, (long long)c);
    columns = std::max(columns, c + 1);
  }
  int64_t batch = x.rank == 2 ? x.dims[0] : 1, length = x.dims[x.rank - 1], dims[2] = {batch, columns};
  out[0] = makeTensor(h, OPTC_FLOAT, x.rank, x.rank == 2 ? dims : dims + 1);
  auto *result = static_cast<float *>(out[0].data);
  memset(result, 0, size_t(batch * columns) * 4);
  Scratch scratch(h);

  // The pool holds all 1-grams, then all 2-grams, ...; ngram_counts says where each length begins. It may be of int64
  // while x is int32.
  GramPool p = {pool.dtype, static_cast<const char *>(pool.data), storageBytes(pool.dtype),
                allocArray<Gram>(h, numGrams)};
  auto *begin = allocArray<int64_t>(h, lengths + 1);
  int64_t made = 0;
  for (int64_t l = 0; l < lengths; ++l) {
    int64_t from = integerAt(h, op, "ngram_counts", counts, l),
            to = l + 1 < lengths ? integerAt(h, op, "ngram_counts", counts, l + 1) : poolSize;
    if (from < 0 || to < from || to > poolSize || (to - from) % (l + 1) || made + (to - from) / (l + 1) > numGrams)
      fail(h, OPTC_RUN_FAILED, "%s: ngram_counts does not fit the pool of %lld and %lld indexes", op,
           (long long)poolSize, (long long)numGrams);
    begin[l] = made;
    for (; from < to; from += l + 1, ++made)
      p.grams[made] = {from, made};
    std::sort(p.grams + begin[l], p.grams + made, [&](const Gram &a, const Gram &b) {
      int c = p.compare(a.start, p.data + b.start * p.width, 1, l + 1);
      return c < 0 || (c == 0 && a.number < b.number);
    });
  }
  begin[lengths] = made;
  const char *data = static_cast<const char *>(x.data);
  if (x.dtype != pool.dtype) {
    if (x.dtype != OPTC_INT32 || pool.dtype != OPTC_INT64)
      fail(h, OPTC_RUN_FAILED, "%s: the input is %s, the pool %s", op, optc_dtype_name(x.dtype),
           optc_dtype_name(pool.dtype));
    auto *wide = allocArray<int64_t>(h, batch * length);
    for (int64_t i = 0; i < batch * length; ++i)
      wide[i] = static_cast<const int32_t *>(x.data)[i];
    data = reinterpret_cast<const char *>(wide);
  }

  for (int64_t b = 0; b < batch; ++b) {
    const char *row = data + b * length * p.width;
    for (int64_t l = lowest; l <= highest; ++l)
      for (int64_t stride = 1; stride <= skips + 1 && (l > 1 || stride == 1); ++stride)
        for (int64_t i = 0; i + (l - 1) * stride < length; ++i)
          if (const Gram *g = p.find(begin[l - 1], begin[l], row + i * p.width, stride, l)) {
            float *cell = result + b * columns + integerAt(h, op, "ngram_indexes", indexes, g->number);
            *cell += 1;
          }
    if (attr[0] == TF)
      continue;
    for (int64_t g = 0; g < numGrams; ++g) {
      float &cell = result[b * columns + integerAt(h, op, "ngram_indexes", indexes, g)];
      float w = weights ? static_cast<const float *>(weights->data)[g] : 1;
      if (cell != 0)
        cell = attr[0] == IDF ? w : cell * w;
    }
  }
  return 0;
}
