/*===- ops.h - the irregular operators of the runtime ----------------------===*
 *
 * Every function has the form optc_library_op (dispatch.h). Conventions:
 *  - Operands are contiguous, in storage form; data == NULL: absent. `dtype` is the ONNX type.
 *  - Attributes are int64; floats travel by the 32 bits of the float in the low bits.
 *  - Outputs are new memory of optc_rt_alloc and may be written to; bytes of strings, sequences
 *    and lists live until the end of the run, whatever is released. Outputs beyond `m` are not made.
 *  - An axis may be negative. Sizes, ranges and element types are checked; a failure ends the run.
 *  - A sequence or list is {data: handle, dtype 0, rank 0}; it is never changed by an operator: a new
 *    handle comes back. Appending to the newest version takes constant time.
 *===----------------------------------------------------------------------===*/
#ifndef OPTC_RUNTIME_OPS_H
#define OPTC_RUNTIME_OPS_H
#include "../dispatch.h"
#ifdef __cplusplus
extern "C" {
#endif

#define OPTC_OP(NAME)                                                                                                  \
  int32_t optc_op_##NAME(optc_host *h, const optc_tensor *in, int32_t n, const int64_t *attr, int32_t attrs,           \
                         optc_tensor *out, int32_t m)

/* Stands for an axis that was not given (flattened). */
#define OPTC_NO_AXIS INT64_MIN

/* ---- selection ---- */
/* (x, k: integer[1]) {axis, largest, sorted} -> values, indices: int64. Equal elements: the lower index first; NaN is
 * the largest value. sorted = 0 keeps the order of the input. */
OPTC_OP(topk);
/* (x) {} -> int64[rank, n]; -0.0 is zero, an empty string too. */
OPTC_OP(nonzero);
/* (x, condition: bool[c]) {axis or OPTC_NO_AXIS} -> the chosen slices. */
OPTC_OP(compress);
/* (x) {axis or OPTC_NO_AXIS, sorted} -> y, first indices, inverse indices, counts (int64[.]). NaNs are equal. */
OPTC_OP(unique);
/* (boxes[b,n,4], scores[b,c,n], max_output_boxes_per_class?, iou_threshold?, score_threshold?) {center_point_box} ->
 * int64[k,3] */
OPTC_OP(nms);

/* ---- sequences ---- */
/* () {dtype} -> sequence */
OPTC_OP(sequence_empty);
/* (tensor...) {} -> sequence */
OPTC_OP(sequence_construct);
/* (sequence, tensor, position?) {} -> sequence */
OPTC_OP(sequence_insert);
/* (sequence, position?) {} -> sequence */
OPTC_OP(sequence_erase);
/* (sequence, position) {rank = -1} -> tensor (a copy), of that rank unless -1 */
OPTC_OP(sequence_at);
/* (sequence) {} -> int64 scalar */
OPTC_OP(sequence_length);
/* (sequence) {axis, new_axis, rank = -1} -> tensor */
OPTC_OP(concat_from_sequence);
/* (x, split?: integer scalar or [n]) {axis, keepdims} -> sequence */
OPTC_OP(split_to_sequence);

/* ---- lists: scan outputs of Loop and Scan ---- */
/* () {} -> list */
OPTC_OP(list_new);
/* (list, tensor) {} -> list */
OPTC_OP(list_append);
/* (list) {dims of an item...} -> the items along a new first axis. Sizes <= 0 are not known; the others are checked,
 * and all are used when the list is empty. */
OPTC_OP(list_stack);
/* (tensor...) {axis, new_axis} -> Concat, for elements of any size */
OPTC_OP(list_concat);

/* ---- values: optionals, sequences, tensors of unknown rank ---- */
/* (value) {dtype, rank, must_exist} -> the same value. A tensor is copied: with rank -1 for the rest of the run, else
 * into memory like any result. dtype 0 and rank -1: any. An absent optional stays absent unless must_exist. */
OPTC_OP(value_copy);
/* (value) {} -> bool scalar */
OPTC_OP(value_exists);

/* ---- random numbers (Philox 4x32-10: results do not depend on threads) ---- */
/* (like?) {kind, dtype, seeded, seed, a, b, salt, dims...} -> tensor of like's shape, or of dims when `like` is absent.
 * kind 0: uniform in [a, b); 1: normal with mean a and scale b; 2: Bernoulli with the probabilities in `like`.
 * seed, a, b: bits of floats. salt: anything that differs per node. seeded = 0: a fresh seed per call. */
OPTC_OP(random);
/* (x[batch, classes]: log-probabilities) {sample_size, dtype, seeded, seed, salt} -> [batch, sample_size] of int32 or
 * int64 */
OPTC_OP(multinomial);

/* ---- strings: elements are optc_string ---- */
/* (offsets: int64[n + 1], bytes) {dims...} -> string: element i is bytes[offsets[i], offsets[i + 1]), not copied */
OPTC_OP(string_constant);
/* (a, b) {} -> bool, broadcast */
OPTC_OP(string_equal);
/* (a, b) {} -> string, broadcast */
OPTC_OP(string_concat);
/* (x, delimiter?: string) {maxsplit or -1} -> string[..., most], int64[...]: the pieces, padded with "", and their
 * number. No or an empty delimiter: runs of white space. */
OPTC_OP(string_split);
/* (x: [c] or [1,c], stopwords?: string[.]) {case: 0 none, 1 lower, 2 upper; is_case_sensitive} -> string. Letters
 * outside ASCII change case for Latin-1, Latin Extended-A, Greek and Cyrillic. */
OPTC_OP(string_normalizer);
/* (x, pattern: string) {} -> bool: RE2 syntax without back-references; time is linear in the input */
OPTC_OP(regex_full_match);
/* (x, indices) {axis} -> Gather, for elements of any size; without attributes the indices count in the flattened x */
OPTC_OP(string_gather);
/* (x: [c] or [n,c] of int32, int64 or string; pool, ngram_counts: int64, ngram_indexes: int64, weights?: float)
 * {mode: 0 TF, 1 IDF, 2 TFIDF; min_gram_length, max_gram_length, max_skip_count} -> float */
OPTC_OP(tfidf);
/* (x, keys[k], values[k], default[1]) {} -> tensor of the values' type in the shape of x. The first of equal keys wins;
 * NaN finds NaN. */
OPTC_OP(label_encoder);
/* (x) {} -> string: shortest text that reads back as the same number, the way numpy prints it */
OPTC_OP(cast_to_string);
/* (x: string) {dtype} -> number; text that is no number ends the run */
OPTC_OP(cast_from_string);

#ifdef __cplusplus
}
#endif
#endif
