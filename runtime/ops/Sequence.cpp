//===- Sequence.cpp - sequence operators ----------------------------------===//
#include "Sequence.h"

using namespace optc::rt;

/// A position in [-size, size) or, for `end`, up to and including size.
static int64_t position(optc_host *h, const char *op, const optc_tensor &t, int64_t size, bool end) {
  int64_t p = integerAt(h, op, "position", t, 0);
  if (p < -size || p >= size + end)
    fail(h, OPTC_RUN_FAILED, "%s: position %lld is outside of a sequence of %lld", op, (long long)p, (long long)size);
  return p < 0 ? p + size : p;
}

static void checkItem(optc_host *h, const char *op, const optc_seq *seq, const optc_tensor &item) {
  if (!item.data || !item.dtype)
    fail(h, OPTC_RUN_FAILED, "%s: the item is not a tensor", op);
  if (seq->dtype && item.dtype != seq->dtype)
    fail(h, OPTC_RUN_FAILED, "%s: the item is %s, the sequence holds %s", op, optc_dtype_name(item.dtype),
         optc_dtype_name(seq->dtype));
}

/// The rank that the generated code counts on; -1: any.
static void checkRank(optc_host *h, const char *op, const optc_tensor &t, int64_t rank) {
  if (rank >= 0 && t.rank != rank)
    fail(h, OPTC_RUN_FAILED, "%s: the result has shape %s, rank %lld is expected", op, shapeText(t.rank, t.dims).text,
         (long long)rank);
}

OPTC_OP(sequence_empty) {
  checkCall(h, "SequenceEmpty", n, 0, attrs, 1, m, 1);
  out[0] = sequenceHandle(h, newItems(h, 0), 0, optc_dtype(attr[0]));
  return 0;
}

OPTC_OP(sequence_construct) {
  checkCall(h, "SequenceConstruct", n, 1, attrs, 0, m, 1);
  SeqItems *items = newItems(h, n);
  optc_seq types = {items, 0, in[0].dtype};
  for (int32_t i = 0; i < n; ++i) {
    checkItem(h, "SequenceConstruct", &types, in[i]);
    items->data[i] = copyTensor(h, in[i]);
  }
  items->size = n;
  out[0] = sequenceHandle(h, items, n, in[0].dtype);
  return 0;
}

OPTC_OP(sequence_insert) {
  checkCall(h, "SequenceInsert", n, 2, attrs, 0, m, 1);
  const optc_seq *seq = sequenceOf(h, "SequenceInsert", in[0]);
  checkItem(h, "SequenceInsert", seq, in[1]);
  int64_t at = n > 2 && in[2].data ? position(h, "SequenceInsert", in[2], seq->size, true) : seq->size;
  optc_tensor item = copyTensor(h, in[1]);
  if (at == seq->size) {
    out[0] = append(h, seq, item);
    return 0;
  }
  SeqItems *items = newItems(h, seq->size + 1);
  memcpy(items->data, seq->items->data, sizeof(optc_tensor) * size_t(at));
  items->data[at] = item;
  memcpy(items->data + at + 1, seq->items->data + at, sizeof(optc_tensor) * size_t(seq->size - at));
  items->size = seq->size + 1;
  out[0] = sequenceHandle(h, items, items->size, seq->dtype ? seq->dtype : item.dtype);
  return 0;
}

OPTC_OP(sequence_erase) {
  checkCall(h, "SequenceErase", n, 1, attrs, 0, m, 1);
  const optc_seq *seq = sequenceOf(h, "SequenceErase", in[0]);
  if (!seq->size)
    fail(h, OPTC_RUN_FAILED, "SequenceErase: the sequence is empty");
  int64_t at = n > 1 && in[1].data ? position(h, "SequenceErase", in[1], seq->size, false) : seq->size - 1;
  if (at == seq->size - 1) {
    out[0] = sequenceHandle(h, seq->items, at, seq->dtype);
    return 0;
  }
  SeqItems *items = newItems(h, seq->size - 1);
  memcpy(items->data, seq->items->data, sizeof(optc_tensor) * size_t(at));
  memcpy(items->data + at, seq->items->data + at + 1, sizeof(optc_tensor) * size_t(seq->size - at - 1));
  items->size = seq->size - 1;
  out[0] = sequenceHandle(h, items, items->size, seq->dtype);
  return 0;
}

OPTC_OP(sequence_at) {
  checkCall(h, "SequenceAt", n, 2, attrs, 0, m, 1);
  const optc_seq *seq = sequenceOf(h, "SequenceAt", in[0]);
  const optc_tensor &item = seq->items->data[position(h, "SequenceAt", in[1], seq->size, false)];
  checkRank(h, "SequenceAt", item, attrs > 0 ? attr[0] : -1);
  out[0] = makeTensor(h, item.dtype, item.rank, item.dims);
  memcpy(out[0].data, item.data, size_t(count(item) * storageBytes(item.dtype)));
  return 0;
}

OPTC_OP(sequence_length) {
  checkCall(h, "SequenceLength", n, 1, attrs, 0, m, 1);
  const optc_seq *seq = sequenceOf(h, "SequenceLength", in[0]);
  out[0] = makeTensor(h, OPTC_INT64, 0, nullptr);
  *static_cast<int64_t *>(out[0].data) = seq->size;
  return 0;
}

OPTC_OP(concat_from_sequence) {
  checkCall(h, "ConcatFromSequence", n, 1, attrs, 2, m, 1);
  out[0] = joinItems(h, "ConcatFromSequence", sequenceOf(h, "ConcatFromSequence", in[0]), attr[0], attr[1] != 0);
  checkRank(h, "ConcatFromSequence", out[0], attrs > 2 ? attr[2] : -1);
  return 0;
}

OPTC_OP(split_to_sequence) {
  constexpr const char *op = "SplitToSequence";
  checkCall(h, op, n, 1, attrs, 2, m, 1);
  const optc_tensor &x = in[0];
  int32_t axis = checkAxis(h, op, attr[0], x.rank);
  Split s = splitAt(x, axis);
  bool given = n > 1 && in[1].data, each = given && in[1].rank == 0;
  bool squeeze = !given && attr[1] == 0;
  int64_t step = each ? integerAt(h, op, "split", in[1], 0) : 1;
  if (step <= 0)
    fail(h, OPTC_RUN_FAILED, "%s: a split of %lld is not positive", op, (long long)step);
  int64_t pieces = given && !each ? count(in[1]) : s.axis / step + (s.axis % step != 0);
  if (given && !each) {
    int64_t sum = 0;
    for (int64_t i = 0; i < pieces; ++i) {
      int64_t length = integerAt(h, op, "split", in[1], i);
      if (length < 0 || length > s.axis - sum)
        fail(h, OPTC_RUN_FAILED, "%s: the lengths of split do not fit axis %d of %lld", op, axis, (long long)s.axis);
      sum += length;
    }
    if (sum != s.axis)
      fail(h, OPTC_RUN_FAILED, "%s: the lengths of split add up to %lld, axis %d has %lld", op, (long long)sum, axis,
           (long long)s.axis);
  }
  SeqItems *items = newItems(h, pieces);
  int64_t width = storageBytes(x.dtype), start = 0;
  for (int64_t i = 0; i < pieces; ++i) {
    int64_t length = given && !each          ? integerAt(h, op, "split", in[1], i)
                     : step < s.axis - start ? step
                                             : s.axis - start;
    optc_tensor t = x;
    if (squeeze) {
      --t.rank;
      for (int32_t d = axis; d < t.rank; ++d)
        t.dims[d] = x.dims[d + 1];
    } else {
      t.dims[axis] = length;
    }
    int64_t piece = length * s.inner * width;
    auto *dst = static_cast<char *>(runAlloc(h, s.outer * piece));
    t.data = dst;
    for (int64_t o = 0; o < s.outer; ++o)
      memcpy(dst + o * piece, static_cast<const char *>(x.data) + (o * s.axis + start) * s.inner * width,
             size_t(piece));
    items->data[items->size++] = t;
    start += length;
  }
  out[0] = sequenceHandle(h, items, pieces, x.dtype);
  return 0;
}
