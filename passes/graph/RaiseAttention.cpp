//===- RaiseAttention.cpp - com.microsoft's attention and embeddings ------===//
//
// QAttention is an exact product of integers for query, key and value, then attention on floats; Attention is the same
// with a product of floats. QEmbedLayerNormalization looks rows up in tables of bytes and dequantizes those.
//===----------------------------------------------------------------------===//
#include "optc/passes/graph/Raise.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace optc;

/// Which keys a row may see, as terms of the scores: 0 or the mask's filter value, [batch, 1, 1 or rows, keys]. The
/// mask holds ends of sequences, ends and starts, or an integer per key that is positive for those to see.
static Value paddingTerms(Raise &r, Value mask, Value keys, Value batch) {
  int64_t rank = r.ranked(mask).getRank();
  Value sees;
  if (rank == 1) {
    Value ends = r.cast(mask, r.i64()), position = r.unsqueezed(r.below(keys), {0});
    // With zeros behind, the second half is there in either case.
    Value starts = r.joined({ends, r.zeros(batch, r.i64())}, 0);
    starts = r.sliced(starts, batch, r.make("Add", {batch, batch}, r.i64()), 0);
    ends = r.sliced(ends, r.vector({0}), batch, 0);
    sees = r.make("And",
                  {r.make("Less", {position, r.unsqueezed(ends, {1})}, r.boolean()),
                   r.make("GreaterOrEqual", {position, r.unsqueezed(starts, {1})}, r.boolean())},
                  r.boolean());
  } else {
    sees = r.make("Greater", {r.cast(mask, r.i64()), r.scalar(0)}, r.boolean());
  }
  sees = rank == 3 ? r.unsqueezed(sees, {1}) : r.unsqueezed(sees, {1, 2});
  float filter = r.floatAttr("mask_filter_value", -10000);
  return r.make("Where", {sees, r.number(0), r.number(filter)}, r.f32());
}

/// `terms` (or 0) where a row may see a key, the lowest number behind the row's own position.
static Value causalTerms(Raise &r, Value terms, Value rows, Value keys) {
  Value first = r.minus(keys, rows); // keys of the past
  Value row = r.unsqueezed(r.make("Add", {r.below(rows), first}, r.i64()), {1});
  Value sees = r.make("LessOrEqual", {r.unsqueezed(r.below(keys), {0}), row}, r.boolean());
  return r.make("Where", {sees, terms ? terms : r.number(0), r.number(std::numeric_limits<float>::lowest())}, r.f32());
}

/// Attention of [batch, rows, heads * size] with keys and values of the past in front; `terms` are added to scores.
static Raised attend(Raise &r, ArrayRef<Value> qkv, ArrayRef<int64_t> sizes, Value mask, Value past, Value terms) {
  int64_t heads = r.intAttr("num_heads", 1);
  auto perHead = [&](unsigned i) {
    return r.transposed(r.reshaped(qkv[i], {0, 0, heads, sizes[i] / heads}), {0, 2, 1, 3});
  };
  Value q = perHead(0), k = perHead(1), v = perHead(2), present;
  Value rows = r.sizeOf(q, 2), batch = r.sizeOf(q, 0);
  if (past) {
    k = r.joined({r.gathered(past, r.scalar(0), 0), k}, 2);
    v = r.joined({r.gathered(past, r.scalar(1), 0), v}, 2);
  }
  if (r.wants(1))
    present = r.joined({r.unsqueezed(k, {0}), r.unsqueezed(v, {0})}, 0);
  Value keys = r.sizeOf(k, 2);
  double scale = r.floatAttr("scale", 0);
  scale = scale != 0 ? scale : 1 / std::sqrt(double(sizes[0] / heads));
  Value scores = r.times(r.make("MatMul", {q, r.transposed(k, {0, 1, 3, 2})}, r.f32()), r.number(scale));
  Value masked = mask ? paddingTerms(r, mask, keys, batch) : Value();
  if (r.intAttr("unidirectional", 0))
    masked = causalTerms(r, masked, rows, keys);
  scores = r.plus(r.plus(scores, terms), masked);
  Value shares = r.make("Softmax", {scores}, r.f32(), r.integer("axis", -1));
  Value y = r.transposed(r.make("MatMul", {shares, v}, r.f32()), {0, 2, 1, 3});
  return {r.reshaped(y, {0, 0, sizes[2]}), present};
}

/// Why the op is no attention that is built here; empty when it is. `mask` is dropped where it only fills its place.
static std::string reasonAgainst(Raise &r, unsigned pastAt, ArrayRef<int64_t> sizes, Value &mask) {
  int64_t heads = r.intAttr("num_heads", 0);
  for (StringRef flag : {"do_rotary", "past_present_share_buffer"})
    if (r.intAttr(flag, 0))
      return ("has attribute " + flag + " = 1; 0 is supported: export the model without it").str();
  for (int64_t size : sizes)
    if (size < 1 || size % heads)
      return "has num_heads " + std::to_string(heads) + " and a size of query, key or value of " +
             std::to_string(size) + "; a multiple of num_heads that is known is supported";
  if ((r.at(pastAt) || r.wants(1)) && sizes[1] != sizes[2])
    return "has past or present and other sizes of keys than of values; equal sizes are supported";
  if (!mask)
    return "";
  auto type = r.ranked(mask);
  if (!type || type.getRank() < 1 || type.getRank() > 3)
    return "has a mask_index of rank " + (type ? std::to_string(type.getRank()) : "unknown") +
           "; 1 (ends, or ends and starts), 2 and 3 (a value per key) are supported";
  if (type.getRank() == 2 && type.getDimSize(1) == 1)
    mask = Value();
  return "";
}

/// The sizes of query, key and value in a weight of [input, all of them].
static SmallVector<int64_t> sizesOf(Raise &r) {
  auto weight = r.typeAt(1);
  if (auto given = r.op->getAttrOfType<DenseI64ArrayAttr>("qkv_hidden_sizes"); given && given.size() == 3)
    return llvm::to_vector(given.asArrayRef());
  int64_t all = weight && weight.getRank() == 2 && !weight.isDynamicDim(1) ? weight.getDimSize(1) : 0;
  return SmallVector<int64_t>(3, all % 3 ? 0 : all / 3);
}

/// input, weight, bias, input_scale, weight_scale, mask_index, input_zero_point, weight_zero_point, past
static Raised raiseQAttention(Raise &r) {
  Value mask = r.at(5);
  SmallVector<int64_t> sizes = sizesOf(r);
  if (!r.elementOf(r.at(2)).isF32())
    return r.refuse("has a bias of float16; float32 is supported: cast it");
  if (std::string reason = reasonAgainst(r, 8, sizes, mask); !reason.empty())
    return r.refuse(reason);
  Value all = r.product(r.at(0), r.at(1), r.at(6), r.at(7), r.times(r.at(3), r.at(4)));
  return attend(r, r.split(r.plus(all, r.at(2)), 2, sizes), sizes, mask, r.at(8), Value());
}

/// input, weights, bias, mask_index, past, attention_bias, past_sequence_length
static Raised raiseAttention(Raise &r) {
  Value mask = r.at(3);
  SmallVector<int64_t> sizes = sizesOf(r);
  if (!r.elementOf(r.at(0)).isF32() || r.at(6))
    return r.refuse("has another type than float32, or past_sequence_length; float32 with a past of its own length is "
                    "supported");
  if (std::string reason = reasonAgainst(r, 4, sizes, mask); !reason.empty())
    return r.refuse(reason);
  Value all = r.plus(r.make("MatMul", {r.at(0), r.at(1)}, r.f32()), r.at(2));
  return attend(r, r.split(all, 2, sizes), sizes, mask, r.at(4), r.at(5));
}

/// input_ids, segment_ids, tables of words, positions and segments, gamma, beta, mask; then their five scales and five
/// zero points. The second result counts the ones of the mask.
static Raised raiseQEmbedLayerNorm(Raise &r) {
  auto row = [&](unsigned i, Value ids) {
    return r.dequantized(r.gathered(r.at(i), ids, 0), r.at(i + 6), r.at(i + 11));
  };
  Value ids = r.at(0), sum = r.plus(row(2, ids), row(3, r.below(r.sizeOf(ids, 1))));
  if (r.at(1)) {
    if (!r.at(4) || !r.at(10) || !r.at(15))
      return r.refuse("has segment_ids without segment_embedding, its scale and its zero point");
    sum = r.plus(sum, row(4, r.at(1)));
  }
  auto vector = [&](unsigned i) { return r.dequantized(r.at(i), r.at(i + 6), r.at(i + 11)); };
  Type f32 = r.unranked(r.f32());
  Operation *normal = onnx::createOp(r.b, r.loc, "LayerNormalization", {sum, vector(5), vector(6)}, {f32},
                                     {r.integer("axis", -1), r.real("epsilon", r.floatAttr("epsilon", 1e-12))});
  Type i32 = r.b.getI32Type();
  Value count = r.zeros(r.sizeOf(ids, 0), i32);
  if (Value mask = r.at(7)) {
    Value one = onnx::ConstantOp::create(r.b, r.loc, DenseElementsAttr::get(RankedTensorType::get({}, i32), 1));
    Value ones = r.cast(r.make("Equal", {mask, one}, r.boolean()), i32);
    count = r.make("ReduceSum", {ones, r.vector({1})}, i32, r.integer("keepdims", 0));
  }
  return {normal->getResult(0), count};
}

void optc::registerRaisedAttention(RaiseTable &table) {
  table["onnx.ms.QAttention"] = raiseQAttention;
  table["onnx.ms.Attention"] = raiseAttention;
  table["onnx.ms.QEmbedLayerNormalization"] = raiseQEmbedLayerNorm;
}
