//===- List.cpp - scan outputs of loops -----------------------------------===//
#include "Sequence.h"

using namespace optc::rt;

OPTC_OP(list_new) {
  checkCall(h, "a loop's list", n, 0, attrs, 0, m, 1);
  out[0] = sequenceHandle(h, newItems(h, 8), 0, 0);
  return 0;
}

OPTC_OP(list_append) {
  checkCall(h, "a loop's list", n, 2, attrs, 0, m, 1);
  const optc_seq *list = sequenceOf(h, "a loop's list", in[0]);
  if (!in[1].data || !in[1].dtype)
    fail(h, OPTC_RUN_FAILED, "a loop's scan output is not a tensor");
  out[0] = append(h, list, copyTensor(h, in[1]));
  return 0;
}

OPTC_OP(list_stack) {
  constexpr const char *op = "a loop's scan output";
  checkCall(h, op, n, 1, attrs, 0, m, 1);
  const optc_seq *list = sequenceOf(h, op, in[0]);
  if (attrs >= OPTC_MAX_RANK)
    fail(h, OPTC_RUN_FAILED, "%s has rank %d; up to %d is supported", op, attrs + 1, OPTC_MAX_RANK);
  for (int64_t i = 0; i < list->size; ++i) {
    const optc_tensor &t = list->items->data[i];
    bool fits = t.rank == attrs;
    for (int32_t d = 0; fits && d < attrs; ++d)
      fits = attr[d] <= 0 || t.dims[d] == attr[d];
    if (!fits)
      fail(h, OPTC_RUN_FAILED, "%s: iteration %lld gives shape %s, rank %d and the sizes known are expected", op,
           (long long)i, shapeText(t.rank, t.dims).text, attrs);
  }
  if (list->size) {
    out[0] = joinItems(h, op, list, 0, true);
    return 0;
  }
  // No iteration: 0 for what is not known.
  int64_t dims[OPTC_MAX_RANK] = {0};
  for (int32_t d = 0; d < attrs; ++d)
    dims[d + 1] = attr[d] < 0 ? 0 : attr[d];
  out[0] = makeTensor(h, OPTC_UNDEFINED, attrs + 1, dims);
  return 0;
}

OPTC_OP(list_concat) {
  checkCall(h, "Concat", n, 1, attrs, 2, m, 1);
  SeqItems items = {const_cast<optc_tensor *>(in), n, n};
  optc_seq all = {&items, n, in[0].dtype};
  out[0] = joinItems(h, "Concat", &all, attr[0], attr[1] != 0);
  return 0;
}
