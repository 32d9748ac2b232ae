//===- Nms.cpp - NonMaxSuppression ----------------------------------------===//
#include "Common.h"
#include <algorithm>

using namespace optc::rt;

namespace {
struct Box {
  float y1, x1, y2, x2;
};
struct Candidate {
  float score;
  int64_t index;
};
} // namespace

static Box boxAt(const float *p, bool center) {
  if (center) // x, y, width, height
    return {p[1] - p[3] / 2, p[0] - p[2] / 2, p[1] + p[3] / 2, p[0] + p[2] / 2};
  return {std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]), std::max(p[1], p[3])};
}

static bool overlapsMoreThan(const Box &a, const Box &b, float threshold) {
  float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1), width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (!(height > 0 && width > 0))
    return false;
  float common = height * width, areaA = (a.y2 - a.y1) * (a.x2 - a.x1), areaB = (b.y2 - b.y1) * (b.x2 - b.x1);
  float all = areaA + areaB - common;
  return areaA > 0 && areaB > 0 && all > 0 && common / all > threshold;
}

static float optionalFloat(optc_host *h, const optc_tensor *in, int32_t n, int32_t i, float otherwise) {
  if (i >= n || !in[i].data || count(in[i]) < 1)
    return otherwise;
  if (in[i].dtype != OPTC_FLOAT)
    fail(h, OPTC_RUN_FAILED, "NonMaxSuppression: operand %d is %s; float32 is supported", i,
         optc_dtype_name(in[i].dtype));
  return *static_cast<const float *>(in[i].data);
}

OPTC_OP(nms) {
  checkCall(h, "NonMaxSuppression", n, 2, attrs, 1, m, 1);
  const optc_tensor &boxes = in[0], &scores = in[1];
  if (boxes.dtype != OPTC_FLOAT || scores.dtype != OPTC_FLOAT || boxes.rank != 3 || scores.rank != 3 ||
      boxes.dims[2] != 4 || boxes.dims[0] != scores.dims[0] || boxes.dims[1] != scores.dims[2])
    fail(h, OPTC_RUN_FAILED,
         "NonMaxSuppression: boxes %s and scores %s do not fit; float32 [batch,boxes,4] and [batch,classes,boxes] are "
         "needed",
         shapeText(boxes.rank, boxes.dims).text, shapeText(scores.rank, scores.dims).text);
  bool center = attr[0];
  int64_t most = n > 2 && in[2].data ? integerAt(h, "NonMaxSuppression", "max_output_boxes_per_class", in[2], 0) : 0;
  float iou = optionalFloat(h, in, n, 3, 0), least = optionalFloat(h, in, n, 4, -__builtin_inff());
  bool hasLeast = n > 4 && in[4].data;
  int64_t batches = scores.dims[0], classes = scores.dims[1], number = scores.dims[2];
  most = std::min(std::max<int64_t>(most, 0), number);

  // Indices gather in run memory, growing: the result must be allocated last.
  auto *candidates = allocArray<Candidate>(h, number);
  auto *chosen = allocArray<Box>(h, number);
  int64_t found = 0, room = 64;
  auto *rows = static_cast<int64_t *>(runAlloc(h, room * 24));
  for (int64_t b = 0; most && b < batches; ++b)
    for (int64_t c = 0; c < classes; ++c) {
      const float *score = static_cast<const float *>(scores.data) + (b * classes + c) * number;
      const float *box = static_cast<const float *>(boxes.data) + b * number * 4;
      int64_t left = 0, kept = 0;
      for (int64_t i = 0; i < number; ++i)
        if (!hasLeast || score[i] > least)
          candidates[left++] = {score[i] == score[i] ? score[i] : -__builtin_inff(), i};
      std::sort(candidates, candidates + left, [](const Candidate &x, const Candidate &y) {
        return x.score > y.score || (x.score == y.score && x.index < y.index);
      });
      for (int64_t k = 0; k < left && kept < most; ++k) {
        Box next = boxAt(box + candidates[k].index * 4, center);
        bool suppressed = false;
        for (int64_t j = 0; j < kept && !suppressed; ++j)
          suppressed = overlapsMoreThan(next, chosen[j], iou);
        if (suppressed)
          continue;
        chosen[kept++] = next;
        if (found == room) {
          auto *grown = static_cast<int64_t *>(runAlloc(h, room * 48));
          memcpy(grown, rows, size_t(room) * 24);
          rows = grown;
          room *= 2;
        }
        int64_t row[3] = {b, c, candidates[k].index};
        memcpy(rows + found++ * 3, row, sizeof(row));
      }
    }
  int64_t dims[2] = {found, 3};
  out[0] = makeTensor(h, OPTC_INT64, 2, dims);
  memcpy(out[0].data, rows, size_t(found) * 24);
  return 0;
}
