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
  checkCall(h, "a loop's scan output", n, 1, attrs, 3, m, 1);
  const optc_seq *list = sequenceOf(h, "a loop's scan output", in[0]);
  if (list->size) {
    out[0] = joinItems(h, "a loop's scan output", list, attr[0], true, attr[1] != 0);
    return 0;
  }
  // No iteration: the declared shape, with 0 for what is not known.
  int32_t rank = attrs - 2;
  int32_t axis = checkAxis(h, "a loop's scan output", attr[0], rank);
  if (rank > OPTC_MAX_RANK)
    fail(h, OPTC_RUN_FAILED, "a loop's scan output has rank %d; up to %d is supported", rank, OPTC_MAX_RANK);
  int64_t dims[OPTC_MAX_RANK];
  for (int32_t d = 0, from = 3; d < rank; ++d) {
    int64_t size = d == axis ? 0 : attr[from++];
    dims[d] = size < 0 ? 0 : size;
  }
  out[0] = makeTensor(h, optc_dtype(attr[2]), rank, dims);
  return 0;
}

OPTC_OP(list_concat) {
  checkCall(h, "a loop's list", n, 1, attrs, 1, m, 1);
  out[0] = joinItems(h, "a loop's list", sequenceOf(h, "a loop's list", in[0]), attr[0], false, false);
  return 0;
}
