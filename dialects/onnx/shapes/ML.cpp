//===- ML.cpp - shapes of ai.onnx.ml and of the training previews ----------===//
#include "optc/dialects/onnx/shapes/Shapes.h"

using namespace mlir;
using namespace optc;

static Type stringType(ShapeContext &ctx) { return onnx::StringType::get(ctx.op->getContext()); }
static Type int64Type(ShapeContext &ctx) { return IntegerType::get(ctx.op->getContext(), 64); }
static Type floatType(ShapeContext &ctx) { return Float32Type::get(ctx.op->getContext()); }

static LogicalResult sameWith(ShapeContext &ctx, Type element) {
  return ctx.ranked(0) ? ctx.set(0, element, ctx.dims(0)) : ctx.setUnranked(0, element);
}

/// The number of rows of [N, C] or [C].
static FailureOr<Dim> rows(ShapeContext &ctx, unsigned result) {
  if (!ctx.ranked(0))
    return ctx.hasResult(result) ? ctx.leaf(result, 0) : ctx.constant(1);
  if (ctx.rank(0) == 0 || ctx.rank(0) > 2)
    return ctx.error("the input of shape " + ctx.str(ctx.dims(0)) + " must be [N, C] or [C]");
  return ctx.rank(0) == 2 ? ctx.dims(0)[0] : ctx.constant(1);
}

static size_t attrSize(ShapeContext &ctx, StringRef name) {
  Attribute attr = ctx.op->getAttr(name);
  if (auto ints = dyn_cast_or_null<DenseI64ArrayAttr>(attr))
    return ints.size();
  if (auto floats = dyn_cast_or_null<DenseF32ArrayAttr>(attr))
    return floats.size();
  auto array = dyn_cast_or_null<ArrayAttr>(attr);
  return array ? array.size() : 0;
}

static LogicalResult inferArrayFeatureExtractor(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0) || !ctx.ranked(1))
    return ctx.setUnranked(0, element);
  SmallVector<Dim> dims = ctx.dims(0);
  if (dims.empty())
    return ctx.error("the input is a scalar");
  Dim picked = ctx.table.numElements(ctx.dims(1));
  if (dims.size() == 1)
    return ctx.set(0, element, {ctx.constant(1), picked});
  dims.back() = picked;
  return ctx.set(0, element, dims);
}

static LogicalResult inferCategoryMapper(ShapeContext &ctx) {
  return sameWith(ctx, isa_and_nonnull<onnx::StringType>(ctx.elementType(0)) ? int64Type(ctx) : stringType(ctx));
}

static LogicalResult inferLabelEncoder(ShapeContext &ctx) {
  Type element;
  if (auto tensor = ctx.op->getAttrOfType<ElementsAttr>("values_tensor"))
    element = cast<ShapedType>(tensor.getType()).getElementType();
  else if (ctx.hasAttr("values_strings"))
    element = stringType(ctx);
  else if (ctx.hasAttr("values_int64s"))
    element = int64Type(ctx);
  else if (ctx.hasAttr("values_floats"))
    element = floatType(ctx);
  else
    return ctx.error("has none of the attributes values_*");
  return sameWith(ctx, element);
}

static LogicalResult inferCastMap(ShapeContext &ctx) {
  StringRef to = ctx.strAttr("cast_to", "TO_FLOAT");
  Type element = to == "TO_STRING" ? stringType(ctx) : to == "TO_INT64" ? int64Type(ctx) : floatType(ctx);
  if (ctx.strAttr("map_form", "DENSE") == "SPARSE")
    return ctx.set(0, element, {ctx.constant(1), ctx.constant(ctx.intAttr("max_map", 1))});
  return ctx.set(0, element, {ctx.constant(1), ctx.leaf(0, 1)});
}

static LogicalResult inferDictVectorizer(ShapeContext &ctx) {
  auto map = dyn_cast_or_null<onnx::MapType>(ctx.in(0).type);
  Type element = ctx.resultElement(0);
  if (auto tensor = map ? dyn_cast<TensorType>(map.getValueType()) : TensorType())
    element = tensor.getElementType();
  size_t size = std::max(attrSize(ctx, "string_vocabulary"), attrSize(ctx, "int64_vocabulary"));
  return ctx.set(0, element, {ctx.constant(1), ctx.constant(size)});
}

static LogicalResult inferFeatureVectorizer(ShapeContext &ctx) {
  auto sizes = ctx.intsAttr("inputdimensions");
  FailureOr<Dim> n = rows(ctx, 0);
  if (failed(n))
    return failure();
  Dim columns = ctx.constant(0);
  for (int64_t s : sizes ? *sizes : SmallVector<int64_t>())
    columns = ctx.table.add(columns, s);
  return ctx.set(0, ctx.resultElement(0), {*n, sizes ? columns : ctx.leaf(0, 1)});
}

static LogicalResult inferOneHotEncoder(ShapeContext &ctx) {
  if (!ctx.ranked(0))
    return ctx.setUnranked(0);
  SmallVector<Dim> dims = ctx.dims(0);
  dims.push_back(ctx.constant(std::max(attrSize(ctx, "cats_int64s"), attrSize(ctx, "cats_strings"))));
  return ctx.set(0, ctx.resultElement(0), dims);
}

/// Labels [N] and scores [N, columns].
static LogicalResult classifier(ShapeContext &ctx, bool strings, int64_t columns) {
  FailureOr<Dim> labels = rows(ctx, 0), scores = rows(ctx, 1);
  if (failed(labels) || failed(scores) || failed(ctx.set(0, strings ? stringType(ctx) : int64Type(ctx), {*labels})))
    return failure();
  Dim width = columns > 0 || !ctx.hasResult(1) ? ctx.constant(columns) : ctx.leaf(1, 1);
  return ctx.set(1, floatType(ctx), {*scores, width});
}

static LogicalResult inferLinearClassifier(ShapeContext &ctx) {
  size_t strings = attrSize(ctx, "classlabels_strings"), ints = attrSize(ctx, "classlabels_ints");
  return classifier(ctx, strings, std::max({strings, ints, strings || ints ? size_t(0) : attrSize(ctx, "intercepts")}));
}

static LogicalResult inferTreeClassifier(ShapeContext &ctx) {
  size_t strings = attrSize(ctx, "classlabels_strings"), ints = attrSize(ctx, "classlabels_int64s");
  return classifier(ctx, strings, std::max(strings, ints));
}

static LogicalResult inferSVMClassifier(ShapeContext &ctx) {
  size_t strings = attrSize(ctx, "classlabels_strings"), ints = attrSize(ctx, "classlabels_ints");
  int64_t classes = std::max(strings, ints);
  // Without probabilities a support vector machine scores every pair of classes.
  bool pairs = !attrSize(ctx, "prob_a") && attrSize(ctx, "vectors_per_class") && classes > 2;
  return classifier(ctx, strings, pairs ? classes * (classes - 1) / 2 : classes);
}

template <int64_t fallback> static LogicalResult inferRegressor(ShapeContext &ctx) {
  FailureOr<Dim> n = rows(ctx, 0);
  if (failed(n))
    return failure();
  int64_t targets = fallback;
  for (StringRef name : {"n_targets", "targets"})
    if (ctx.info->attribute(name))
      targets = ctx.intAttr(name, fallback);
  if (targets < 1)
    return ctx.error("the number of targets " + Twine(targets) + " must be positive");
  return ctx.set(0, ctx.resultElement(0), {*n, ctx.constant(targets)});
}

static LogicalResult inferZipMap(ShapeContext &ctx) {
  MLIRContext *mlir = ctx.op->getContext();
  Type key = attrSize(ctx, "classlabels_strings") ? stringType(ctx) : int64Type(ctx);
  Type value = RankedTensorType::get({}, floatType(ctx));
  return ctx.setType(0, onnx::SeqType::get(mlir, onnx::MapType::get(mlir, key, value)));
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

/// Type and sizes of an input.
static LogicalResult setLike(ShapeContext &ctx, unsigned result, unsigned input) {
  ShapeInfo info = ctx.in(input);
  info.elements.reset();
  return ctx.setInfo(result, info);
}

/// The optimizers take `groups` tensors per parameter (parameter, gradient, states) and return all but the gradient.
template <int64_t groups> static LogicalResult inferOptimizer(ShapeContext &ctx) {
  int64_t n = int64_t(ctx.op->getNumOperands()) - 2;
  if (n < groups || n % groups || int64_t(ctx.op->getNumResults()) != n / groups * (groups - 1))
    return ctx.error("takes " + Twine(groups) + " and gives " + Twine(groups - 1) + " tensors per parameter, has " +
                     Twine(n) + " inputs and " + Twine(ctx.op->getNumResults()) + " outputs");
  int64_t count = n / groups;
  for (int64_t i = 0, e = ctx.op->getNumResults(); i < e; ++i) {
    int64_t source = i < count ? i : i + count;
    if (failed(setLike(ctx, i, 2 + source)))
      return failure();
  }
  return success();
}

/// One derivative per input.
static LogicalResult inferGradient(ShapeContext &ctx) {
  if (ctx.op->getNumResults() > ctx.op->getNumOperands())
    return ctx.error("has more outputs than inputs");
  for (unsigned i = 0, e = ctx.op->getNumResults(); i < e; ++i)
    if (failed(setLike(ctx, i, i)))
      return failure();
  return success();
}

void optc::registerMLShapes(ShapeFnTable &t) {
  add(t, {"ml.Binarizer", "ml.Imputer", "ml.Normalizer", "ml.Scaler"}, sameAsFirst);
  add(t, {"ml.ArrayFeatureExtractor"}, inferArrayFeatureExtractor);
  add(t, {"ml.CategoryMapper"}, inferCategoryMapper);
  add(t, {"ml.LabelEncoder"}, inferLabelEncoder);
  add(t, {"ml.CastMap"}, inferCastMap);
  add(t, {"ml.DictVectorizer"}, inferDictVectorizer);
  add(t, {"ml.FeatureVectorizer"}, inferFeatureVectorizer);
  add(t, {"ml.OneHotEncoder"}, inferOneHotEncoder);
  add(t, {"ml.LinearClassifier"}, inferLinearClassifier);
  add(t, {"ml.TreeEnsembleClassifier"}, inferTreeClassifier);
  add(t, {"ml.SVMClassifier"}, inferSVMClassifier);
  add(t, {"ml.LinearRegressor", "ml.SVMRegressor", "ml.TreeEnsemble", "ml.TreeEnsembleRegressor"}, inferRegressor<1>);
  add(t, {"ml.ZipMap"}, inferZipMap);
  add(t, {"preview.Adagrad", "preview.Momentum"}, inferOptimizer<3>);
  add(t, {"preview.Adam"}, inferOptimizer<4>);
  add(t, {"preview.Gradient"}, inferGradient);
}
