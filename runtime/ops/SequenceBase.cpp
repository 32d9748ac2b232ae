//===- SequenceBase.cpp - handles of sequences and lists ------------------===//
//
// A handle is a prefix of a shared, growing array. Appending to the newest version extends the array in place; every
// other change copies the array of descriptors. Items themselves are copied once, when they enter, and live until the
// end of the run.
//
//===----------------------------------------------------------------------===//
#include "Sequence.h"

using namespace optc::rt;

const optc_seq *optc::rt::sequenceOf(optc_host *h, const char *op, const optc_tensor &t) {
  if (!t.data || t.dtype != 0)
    fail(h, OPTC_RUN_FAILED, "%s: an operand is %s, a sequence is needed", op, t.data ? "a tensor" : "absent");
  return static_cast<const optc_seq *>(t.data);
}

SeqItems *optc::rt::newItems(optc_host *h, int64_t capacity) {
  auto *items = static_cast<SeqItems *>(runAlloc(h, sizeof(SeqItems)));
  int64_t bytes;
  *items = {static_cast<optc_tensor *>(runAlloc(h, mulSize(capacity, sizeof(optc_tensor), bytes) ? bytes : -1)), 0,
            capacity};
  return items;
}

optc_tensor optc::rt::sequenceHandle(optc_host *h, SeqItems *items, int64_t size, optc_dtype dtype) {
  auto *seq = static_cast<optc_seq *>(runAlloc(h, sizeof(optc_seq)));
  *seq = {items, size, dtype};
  optc_tensor t = {};
  t.data = seq;
  return t;
}

optc_tensor optc::rt::append(optc_host *h, const optc_seq *seq, const optc_tensor &item) {
  SeqItems *items = seq->items;
  if (items->size != seq->size || items->size == items->capacity) {
    items = newItems(h, seq->size < 4 ? 8 : seq->size * 2);
    memcpy(items->data, seq->items->data, sizeof(optc_tensor) * size_t(seq->size));
    items->size = seq->size;
  }
  items->data[items->size++] = item;
  return sequenceHandle(h, items, items->size, seq->dtype ? seq->dtype : item.dtype);
}

optc_tensor optc::rt::joinItems(optc_host *h, const char *op, const optc_seq *seq, int64_t axisAttr, bool newAxis) {
  if (!seq->size)
    fail(h, OPTC_RUN_FAILED, "%s: the sequence is empty, so the result has no shape", op);
  const optc_tensor *items = seq->items->data;
  const optc_tensor &first = items[0];
  int32_t rank = first.rank + newAxis, axis = checkAxis(h, op, axisAttr, rank);
  int64_t dims[OPTC_MAX_RANK + 1], length = 0;
  for (int64_t i = 0; i < seq->size; ++i) {
    const optc_tensor &t = items[i];
    bool fits = t.rank == first.rank && t.dtype == first.dtype;
    for (int32_t d = 0; fits && d < t.rank; ++d)
      fits = t.dims[d] == first.dims[d] || (!newAxis && d == axis);
    if (!fits)
      fail(h, OPTC_RUN_FAILED, "%s: item %lld is %s%s, item 0 is %s%s", op, (long long)i, optc_dtype_name(t.dtype),
           shapeText(t.rank, t.dims).text, optc_dtype_name(first.dtype), shapeText(first.rank, first.dims).text);
    if (__builtin_add_overflow(length, newAxis ? 1 : t.dims[axis], &length))
      fail(h, OPTC_RUN_FAILED, "%s: the result is too large", op);
  }
  for (int32_t d = 0, from = 0; d < rank; ++d)
    dims[d] = d == axis ? (from += !newAxis, length) : first.dims[from++];
  optc_tensor result = makeTensor(h, first.dtype, rank, dims);
  int64_t width = storageBytes(first.dtype), outer = countElements(axis, dims),
          inner = countElements(rank - axis - 1, dims + axis + 1);
  auto *dst = static_cast<char *>(result.data);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < seq->size; ++i) {
      const optc_tensor &t = items[i];
      int64_t piece = (newAxis ? 1 : t.dims[axis]) * inner * width;
      memcpy(dst, static_cast<const char *>(t.data) + o * piece, size_t(piece));
      dst += piece;
    }
  return result;
}
