//===- Sequence.h - sequences and lists -----------------------------------===//
#ifndef OPTC_RUNTIME_OPS_SEQUENCE_H
#define OPTC_RUNTIME_OPS_SEQUENCE_H
#include "Common.h"

namespace optc::rt {
/// A sequence or list handle; ends the run when the operand is none.
const optc_seq *sequenceOf(optc_host *h, const char *op, const optc_tensor &t);
/// A new handle for a prefix of `items`.
optc_tensor sequenceHandle(optc_host *h, SeqItems *items, int64_t size, optc_dtype dtype);
SeqItems *newItems(optc_host *h, int64_t capacity);
/// The sequence with `item` (not copied here) at its end.
optc_tensor append(optc_host *h, const optc_seq *seq, const optc_tensor &item);
/// All items along an existing or a new axis.
optc_tensor joinItems(optc_host *h, const char *op, const optc_seq *seq, int64_t axis, bool newAxis);
} // namespace optc::rt
#endif
