//===- Conv.cpp - shapes of convolutions, pooling and resampling -----------===//
#include "optc/dialects/onnx/shapes/Shapes.h"
#include <cmath>

using namespace mlir;
using namespace optc;

namespace {
/// The window of a convolution or pooling along every spatial axis.
struct Window {
  SmallVector<Dim> kernel;
  SmallVector<int64_t> strides, dilations, pads;
  StringRef autoPad;
  bool ceil = false;
  int64_t rank() const { return kernel.size(); }
};
} // namespace

/// An INTS attribute of `count` entries; `fallback` for all when absent.
static LogicalResult windowAttr(ShapeContext &ctx, StringRef name, size_t count, int64_t fallback, int64_t lowest,
                                SmallVector<int64_t> &values) {
  auto given = ctx.intsAttr(name);
  values = given ? std::move(*given) : SmallVector<int64_t>(count, fallback);
  if (values.size() != count)
    return ctx.error(name + " has " + Twine(values.size()) + " entries, expected " + Twine(count));
  for (int64_t v : values)
    if (v < lowest || v > std::numeric_limits<int32_t>::max())
      return ctx.error(name + " has the entry " + Twine(v) + ", expected at least " + Twine(lowest));
  return success();
}

/// Reads strides, dilations, pads and auto_pad for a window of the given sizes.
static FailureOr<Window> readWindow(ShapeContext &ctx, ArrayRef<Dim> kernel) {
  Window w;
  w.kernel.assign(kernel.begin(), kernel.end());
  size_t n = kernel.size();
  if (failed(windowAttr(ctx, "strides", n, 1, 1, w.strides)) ||
      failed(windowAttr(ctx, "dilations", n, 1, 1, w.dilations)) ||
      failed(windowAttr(ctx, "pads", 2 * n, 0, -(int64_t(1) << 31), w.pads)))
    return failure();
  w.autoPad = ctx.strAttr("auto_pad", "NOTSET");
  if (!llvm::is_contained({"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", ""}, w.autoPad))
    return ctx.error("auto_pad = '" + w.autoPad + "' is none of NOTSET, SAME_UPPER, SAME_LOWER, VALID");
  if (w.autoPad == "VALID")
    w.pads.assign(2 * n, 0);
  w.ceil = ctx.intAttr("ceil_mode", 0);
  return w;
}

/// The number of positions of the window along axis `i` of an input of size `in`.
static Dim positions(ShapeContext &ctx, const Window &w, int64_t i, Dim in) {
  ShapeTable &t = ctx.table;
  int64_t stride = w.strides[i];
  if (w.autoPad.starts_with("SAME"))
    return t.ceilDiv(in, stride);
  // The last element of the window lies (kernel - 1) * dilation behind the first.
  Dim reach = t.mul(t.sub(w.kernel[i], 1), w.dilations[i]);
  int64_t before = w.pads[i], after = w.pads[i + w.rank()];
  Dim free = t.sub(t.add(in, before + after), t.add(reach, 1));
  if (!w.ceil)
    return t.add(t.floorDiv(free, stride), 1);
  // A window must not start behind the input.
  return t.min(t.add(t.ceilDiv(free, stride), 1), t.ceilDiv(t.add(in, before), stride));
}

static FailureOr<SmallVector<Dim>> outputs(ShapeContext &ctx, const Window &w, ArrayRef<Dim> spatial,
                                           ArrayRef<Dim> whole) {
  SmallVector<Dim> result;
  for (auto [i, d] : llvm::enumerate(spatial)) {
    Dim size = positions(ctx, w, i, d);
    if (size->isConst() && size->value < 0)
      return ctx.error("the window of size " + ctx.str(w.kernel) + " is larger than the padded input of shape " +
                       ctx.str(whole));
    result.push_back(size);
  }
  return result;
}

LogicalResult optc::inferConv(ShapeContext &ctx, unsigned xi, unsigned wi, Type element) {
  if (!ctx.ranked(xi))
    return ctx.ranked(wi) ? ctx.setRank(0, element, ctx.rank(wi)) : ctx.setUnranked(0, element);
  ArrayRef<Dim> x = ctx.dims(xi);
  if (x.size() < 3)
    return ctx.error("the input of shape " + ctx.str(x) + " has no spatial axis");
  if (!ctx.ranked(wi))
    return ctx.setRank(0, element, x.size());
  ArrayRef<Dim> w = ctx.dims(wi);
  if (w.size() != x.size())
    return ctx.error("the input of shape " + ctx.str(x) + " and the weight of shape " + ctx.str(w) + " differ in rank");
  int64_t group = ctx.intAttr("group", 1);
  if (group < 1)
    return ctx.error("group = " + Twine(group) + " must be at least 1");
  if (ShapeContext::differ(x[1], ctx.table.mul(w[1], group)))
    return ctx.error("the input of shape " + ctx.str(x) + " has not the channels that the weight of shape " +
                     ctx.str(w) + " takes with group = " + Twine(group));
  if (w[0]->isConst() && w[0]->value % group)
    return ctx.error("the weight of shape " + ctx.str(w) + " cannot be split into group = " + Twine(group));
  SmallVector<Dim> kernel(w.drop_front(2));
  if (auto given = ctx.intsAttr("kernel_shape")) {
    if (given->size() != kernel.size())
      return ctx.error("kernel_shape has " + Twine(given->size()) + " entries for " + Twine(kernel.size()) +
                       " spatial axes");
    for (auto [k, g] : llvm::zip(kernel, ctx.constants(*given)))
      if (ShapeContext::differ(k, g))
        return ctx.error("kernel_shape does not match the weight of shape " + ctx.str(w));
    kernel = ctx.constants(*given);
  }
  FailureOr<Window> window = readWindow(ctx, kernel);
  if (failed(window))
    return failure();
  auto spatial = outputs(ctx, *window, x.drop_front(2), x);
  if (failed(spatial))
    return failure();
  SmallVector<Dim> dims = {x[0], w[0]};
  dims.append(*spatial);
  return ctx.set(0, element, dims);
}

template <unsigned x, unsigned w> static LogicalResult conv(ShapeContext &ctx) {
  return inferConv(ctx, x, w, ctx.resultElement(0));
}

LogicalResult optc::inferPool(ShapeContext &ctx, bool channelsLast) {
  auto kernel = ctx.intsAttr("kernel_shape");
  if (!kernel)
    return ctx.error("has no kernel_shape");
  for (int64_t k : *kernel)
    if (k < 1)
      return ctx.error("kernel_shape has the entry " + Twine(k));
  SmallVector<Dim> dims;
  if (ctx.ranked(0)) {
    dims = ctx.dims(0);
    if (dims.size() != kernel->size() + 2)
      return ctx.error("kernel_shape has " + Twine(kernel->size()) + " entries for an input of shape " + ctx.str(dims));
    FailureOr<Window> window = readWindow(ctx, ctx.constants(*kernel));
    if (failed(window))
      return failure();
    int64_t first = channelsLast ? 1 : 2;
    auto spatial = outputs(ctx, *window, ArrayRef<Dim>(dims).slice(first, kernel->size()), dims);
    if (failed(spatial))
      return failure();
    llvm::copy(*spatial, dims.begin() + first);
  }
  for (unsigned i : {0, 1})
    if (ctx.hasResult(i) && failed(ctx.ranked(0) ? ctx.set(i, ctx.resultElement(i), dims)
                                                 : ctx.setRank(i, ctx.resultElement(i), kernel->size() + 2)))
      return failure();
  return success();
}
static LogicalResult pool(ShapeContext &ctx) { return inferPool(ctx, false); }

static LogicalResult inferGlobalPool(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  SmallVector<Dim> dims = ctx.dims(0);
  if (dims.size() < 2)
    return ctx.error("the input of shape " + ctx.str(dims) + " has no channels");
  std::fill(dims.begin() + 2, dims.end(), ctx.constant(1));
  return ctx.set(0, element, dims);
}

static LogicalResult inferConvTranspose(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0) || !ctx.ranked(1))
    return ctx.ranked(0) || ctx.ranked(1) ? ctx.setRank(0, element, ctx.ranked(0) ? ctx.rank(0) : ctx.rank(1))
                                          : ctx.setUnranked(0, element);
  ArrayRef<Dim> x = ctx.dims(0), w = ctx.dims(1);
  if (x.size() < 3 || w.size() != x.size())
    return ctx.error("the input of shape " + ctx.str(x) + " and the weight of shape " + ctx.str(w) + " do not fit");
  if (ShapeContext::differ(x[1], w[0]))
    return ctx.error("the input of shape " + ctx.str(x) + " has not the channels that the weight of shape " +
                     ctx.str(w) + " takes");
  int64_t group = ctx.intAttr("group", 1), n = x.size() - 2;
  if (group < 1)
    return ctx.error("group = " + Twine(group) + " must be at least 1");
  SmallVector<Dim> dims = {x[0], ctx.table.mul(w[1], group)};
  SmallVector<Dim> kernel(w.drop_front(2));
  if (auto given = ctx.intsAttr("kernel_shape")) {
    if (int64_t(given->size()) != n)
      return ctx.error("kernel_shape has " + Twine(given->size()) + " entries for " + Twine(n) + " spatial axes");
    kernel = ctx.constants(*given);
  }
  if (auto shape = ctx.intsAttr("output_shape"); shape && !shape->empty()) {
    // Some writers give batch and channels as well.
    if (int64_t(shape->size()) != n && int64_t(shape->size()) != n + 2)
      return ctx.error("output_shape has " + Twine(shape->size()) + " entries for " + Twine(n) + " spatial axes");
    dims.append(ctx.constants(ArrayRef(*shape).take_back(n)));
    return ctx.set(0, element, dims);
  }
  FailureOr<Window> window = readWindow(ctx, kernel);
  SmallVector<int64_t> extra;
  if (failed(window) || failed(windowAttr(ctx, "output_padding", n, 0, 0, extra)))
    return failure();
  ShapeTable &t = ctx.table;
  for (int64_t i = 0; i < n; ++i) {
    Dim in = x[i + 2];
    if (window->autoPad.starts_with("SAME")) {
      dims.push_back(t.mul(in, window->strides[i]));
      continue;
    }
    Dim reach = t.add(t.mul(t.sub(kernel[i], 1), window->dilations[i]), 1);
    Dim size = t.add(t.mul(t.sub(in, 1), window->strides[i]), reach);
    dims.push_back(t.add(size, extra[i] - window->pads[i] - window->pads[i + n]));
  }
  return ctx.set(0, element, dims);
}

static LogicalResult inferMaxUnpool(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  auto kernel = ctx.intsAttr("kernel_shape");
  if (!kernel)
    return ctx.error("has no kernel_shape");
  if (failed(ctx.expectRank(2, 1)))
    return failure();
  if (auto shape = ctx.elements(2, kernel->size() + 2))
    return ctx.set(0, element, *shape);
  if (!ctx.ranked(0) || ctx.has(2))
    return ctx.setRank(0, element, kernel->size() + 2);
  SmallVector<Dim> dims = ctx.dims(0);
  if (dims.size() != kernel->size() + 2)
    return ctx.error("kernel_shape has " + Twine(kernel->size()) + " entries for an input of shape " + ctx.str(dims));
  FailureOr<Window> w = readWindow(ctx, ctx.constants(*kernel));
  if (failed(w))
    return failure();
  for (auto [i, k] : llvm::enumerate(*kernel)) {
    Dim &d = dims[i + 2];
    d = ctx.table.mul(ctx.table.sub(d, 1), w->strides[i]);
    d = ctx.table.add(d, k - w->pads[i] - w->pads[i + kernel->size()]);
  }
  return ctx.set(0, element, dims);
}

//===----------------------------------------------------------------------===//
// Resize and sampling
//===----------------------------------------------------------------------===//

/// floor(size * scale), rounded as float like the operator's definition.
static Dim scaled(ShapeContext &ctx, Dim size, double scale) {
  if (size->isConst()) {
    float value = std::floor(float(size->value) * float(scale));
    return value >= 0 && value < 1e15f ? ctx.constant(int64_t(value)) : nullptr;
  }
  if (scale == std::floor(scale) && scale >= 1 && scale < 1e6)
    return ctx.table.mul(size, int64_t(scale));
  double inverse = 1 / scale;
  // Powers of two are exact.
  if (inverse == std::floor(inverse) && inverse >= 1 && inverse < 1e6 && llvm::isPowerOf2_64(uint64_t(inverse)))
    return ctx.table.floorDiv(size, int64_t(inverse));
  return nullptr;
}

/// sizes with keep_aspect_ratio_policy: one scale for all resized axes.
static void keepAspect(ShapeContext &ctx, StringRef policy, ArrayRef<Dim> in, ArrayRef<int64_t> axes,
                       SmallVector<Dim> &dims) {
  float scale = 0;
  bool known = true, any = false;
  for (int64_t a : axes) {
    if (!in[a]->isConst() || in[a]->value < 1 || !dims[a]->isConst()) {
      known = false;
      break;
    }
    float s = float(dims[a]->value) / float(in[a]->value);
    scale = !any ? s : policy == "not_larger" ? std::min(scale, s) : std::max(scale, s);
    any = true;
  }
  for (int64_t a : axes) {
    float size = known ? std::round(scale * float(in[a]->value)) : -1;
    dims[a] = size >= 0 && size < 1e15f ? ctx.constant(int64_t(size)) : ctx.leaf(0, a);
  }
}

static LogicalResult inferResize(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  SmallVector<Dim> in = ctx.dims(0), dims = in;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, in.size()));
  if (auto given = ctx.intsAttr("axes")) {
    axes.clear();
    for (int64_t a : *given) {
      auto axis = ctx.axis(a, in.size(), "axes: axis");
      if (failed(axis))
        return failure();
      axes.push_back(*axis);
    }
  }
  auto count = [&](size_t n) -> LogicalResult {
    return n == axes.size() ? success()
                            : ctx.error("scales or sizes have " + Twine(n) + " entries for " + Twine(axes.size()) +
                                        " axes of the input of shape " + ctx.str(in));
  };
  if (ctx.has(3)) {
    auto sizes = ctx.elements(3);
    if (!sizes) {
      for (int64_t a : axes)
        dims[a] = ctx.leaf(0, a);
      return ctx.set(0, element, dims);
    }
    if (failed(count(sizes->size())))
      return failure();
    for (auto [a, s] : llvm::zip(axes, *sizes))
      dims[a] = s;
    StringRef policy = ctx.strAttr("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch")
      keepAspect(ctx, policy, in, axes, dims);
    return ctx.set(0, element, dims);
  }
  if (!ctx.has(2))
    return ctx.error("has neither scales nor sizes");
  auto scales = ctx.constFloats(2);
  if (scales && failed(count(scales->size())))
    return failure();
  for (auto [i, a] : llvm::enumerate(axes)) {
    if (scales && !((*scales)[i] > 0))
      return ctx.error("a scale must be greater than 0");
    Dim d = scales ? scaled(ctx, in[a], (*scales)[i]) : nullptr;
    dims[a] = d ? d : ctx.leaf(0, a);
  }
  return ctx.set(0, element, dims);
}

static LogicalResult inferGridSample(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0) || !ctx.ranked(1))
    return ctx.ranked(0) ? ctx.setRank(0, element, ctx.rank(0)) : ctx.setUnranked(0, element);
  ArrayRef<Dim> x = ctx.dims(0), grid = ctx.dims(1);
  if (x.size() < 3 || grid.size() != x.size() || ShapeContext::differ(grid.back(), ctx.constant(x.size() - 2)))
    return ctx.error("the input of shape " + ctx.str(x) + " and the grid of shape " + ctx.str(grid) + " do not fit");
  SmallVector<Dim> dims = {x[0], x[1]};
  dims.append(grid.begin() + 1, grid.end() - 1);
  return ctx.set(0, element, dims);
}

/// One image per region of interest.
static LogicalResult roi(ShapeContext &ctx, int64_t height, int64_t width) {
  for (unsigned i : {0, 1})
    if (failed(ctx.expectRank(i, i ? 2 : 4)))
      return failure();
  if (height < 1 || width < 1)
    return ctx.error("the output size " + Twine(height) + " x " + Twine(width) + " must be positive");
  Dim rois = ctx.ranked(1) ? ctx.dims(1)[0] : ctx.leaf(0, 0),
      channels = ctx.ranked(0) ? ctx.dims(0)[1] : ctx.leaf(0, 1);
  return ctx.set(0, ctx.resultElement(0), {rois, channels, ctx.constant(height), ctx.constant(width)});
}

static LogicalResult inferRoiAlign(ShapeContext &ctx) {
  return roi(ctx, ctx.intAttr("output_height", 1), ctx.intAttr("output_width", 1));
}

static LogicalResult inferMaxRoiPool(ShapeContext &ctx) {
  auto shape = ctx.intsAttr("pooled_shape");
  if (!shape || shape->size() != 2)
    return ctx.error("pooled_shape must have two entries");
  return roi(ctx, (*shape)[0], (*shape)[1]);
}

static LogicalResult inferAffineGrid(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  auto size = ctx.elements(1);
  if (!size)
    return ctx.setUnranked(0, element);
  if (size->size() != 4 && size->size() != 5)
    return ctx.error("size " + ctx.str(*size) + " must have 4 or 5 entries");
  SmallVector<Dim> dims = {size->front()};
  dims.append(size->begin() + 2, size->end());
  dims.push_back(ctx.constant(size->size() - 2));
  return ctx.set(0, element, dims);
}

void optc::registerConvShapes(ShapeFnTable &t) {
  add(t, {"Conv", "DeformConv"}, conv<0, 1>);
  add(t, {"ConvTranspose"}, inferConvTranspose);
  add(t, {"MaxPool", "AveragePool", "LpPool"}, pool);
  add(t, {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"}, inferGlobalPool);
  add(t, {"MaxUnpool"}, inferMaxUnpool);
  add(t, {"Resize"}, inferResize);
  add(t, {"GridSample"}, inferGridSample);
  add(t, {"RoiAlign"}, inferRoiAlign);
  add(t, {"MaxRoiPool"}, inferMaxRoiPool);
  add(t, {"AffineGrid"}, inferAffineGrid);
}
