//===- Signal.cpp - shapes of transforms, strings and images ---------------===//
#include "optc/dialects/onnx/shapes/Shapes.h"

using namespace mlir;
using namespace optc;

static LogicalResult inferDFT(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  SmallVector<Dim> dims = ctx.dims(0);
  int64_t rank = dims.size();
  if (rank < 2 || (dims.back()->isConst() && dims.back()->value != 1 && dims.back()->value != 2))
    return ctx.error("the last axis of the input of shape " + ctx.str(dims) + " must have 1 or 2 entries");
  bool onesided = ctx.intAttr("onesided", 0), inverse = ctx.intAttr("inverse", 0);
  dims.back() = ctx.constant(onesided && inverse ? 1 : 2);
  int64_t given = -2;
  if (ctx.has(2)) {
    auto axes = ctx.constElements(2);
    if (!axes || axes->size() != 1) {
      for (int64_t i = 0; i + 1 < rank; ++i)
        dims[i] = ctx.leaf(0, i);
      return ctx.set(0, element, dims);
    }
    given = axes->front();
  }
  auto axis = ctx.axis(given, rank);
  if (failed(axis))
    return failure();
  if (*axis == rank - 1)
    return ctx.error("axis " + Twine(given) + " is that of real and imaginary parts");
  Dim length = onesided && inverse ? ctx.table.mul(ctx.table.sub(dims[*axis], 1), 2) : dims[*axis];
  if (ctx.has(1)) {
    auto lengths = ctx.elements(1);
    length = lengths && lengths->size() == 1 ? lengths->front() : ctx.leaf(0, *axis);
  }
  dims[*axis] = onesided && !inverse ? ctx.table.add(ctx.table.floorDiv(length, 2), 1) : length;
  return ctx.set(0, element, dims);
}

static LogicalResult inferSTFT(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setRank(0, element, 4);
  ArrayRef<Dim> signal = ctx.dims(0);
  if (signal.size() != 2 && signal.size() != 3)
    return ctx.error("the signal of shape " + ctx.str(signal) + " must have rank 3");
  Dim frame = signal[1];
  if (auto lengths = ctx.elements(3); lengths && lengths->size() == 1)
    frame = lengths->front();
  else if (ctx.has(3))
    frame = nullptr;
  else if (ctx.has(2))
    frame = ctx.ranked(2) && ctx.rank(2) == 1 ? ctx.dims(2)[0] : nullptr;
  auto steps = ctx.elements(1);
  Dim step = steps && steps->size() == 1 ? steps->front() : nullptr;
  if (step && step->isConst() && step->value < 1)
    return ctx.error("frame_step = " + Twine(step->value) + " must be positive");
  ShapeTable &t = ctx.table;
  Dim frames = frame && step ? t.add(t.floorDiv(t.sub(signal[1], frame), step), 1) : ctx.leaf(0, 1);
  Dim bins = !frame ? ctx.leaf(0, 2) : ctx.intAttr("onesided", 1) ? t.add(t.floorDiv(frame, 2), 1) : frame;
  return ctx.set(0, element, {signal[0], frames, bins, ctx.constant(2)});
}

static LogicalResult inferStringNormalizer(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  SmallVector<Dim> dims = ctx.dims(0);
  if (dims.size() != 1 && !(dims.size() == 2 && !ShapeContext::differ(dims[0], ctx.constant(1))))
    return ctx.error("the input of shape " + ctx.str(dims) + " must be [C] or [1, C]");
  auto stopwords = ctx.op->getAttrOfType<ArrayAttr>("stopwords");
  if (stopwords && !stopwords.empty())
    dims.back() = ctx.leaf(0, dims.size() - 1);
  return ctx.set(0, element, dims);
}

static LogicalResult inferStringSplit(ShapeContext &ctx) {
  Type string = ctx.resultElement(0), i64 = ctx.resultElement(1);
  if (!ctx.ranked(0))
    return success(succeeded(ctx.setUnranked(0, string)) && succeeded(ctx.setUnranked(1, i64)));
  SmallVector<Dim> dims = ctx.dims(0);
  if (failed(ctx.set(1, i64, dims)))
    return failure();
  dims.push_back(ctx.leaf(0, dims.size()));
  return ctx.set(0, string, dims);
}

static LogicalResult inferImageDecoder(ShapeContext &ctx) {
  StringRef format = ctx.strAttr("pixel_format", "RGB");
  if (!llvm::is_contained({"RGB", "BGR", "Grayscale"}, format))
    return ctx.error("pixel_format = '" + format + "' is none of RGB, BGR, Grayscale");
  // Data that cannot be decoded gives an empty image.
  return ctx.setRank(0, ctx.resultElement(0), 3);
}

static LogicalResult inferTfIdf(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  auto indexes = ctx.intsAttr("ngram_indexes");
  if (!indexes || indexes->empty())
    return ctx.error("has no ngram_indexes");
  int64_t last = *llvm::max_element(*indexes);
  if (last < 0 || last >= (int64_t(1) << 40))
    return ctx.error("ngram_indexes has the entry " + Twine(last));
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  ArrayRef<Dim> dims = ctx.dims(0);
  if (dims.empty() || dims.size() > 2)
    return ctx.error("the input of shape " + ctx.str(dims) + " must be [C] or [N, C]");
  Dim columns = ctx.constant(last + 1);
  return dims.size() == 1 ? ctx.set(0, element, {columns}) : ctx.set(0, element, {dims[0], columns});
}

void optc::registerSignalShapes(ShapeFnTable &t) {
  add(t, {"DFT"}, inferDFT);
  add(t, {"STFT"}, inferSTFT);
  add(t, {"StringNormalizer"}, inferStringNormalizer);
  add(t, {"StringSplit"}, inferStringSplit);
  add(t, {"ImageDecoder"}, inferImageDecoder);
  add(t, {"TfIdfVectorizer"}, inferTfIdf);
}
