//===- Conv.cpp - Conv, ConvTranspose, DeformConv, Col2Im -----------------===//
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/DimMath.h"
#include "optc/passes/lowering/Scalars.h"

using namespace mlir;
using namespace optc;

using Iter = utils::IteratorType;

static SmallVector<Dim> tail(ArrayRef<Dim> dims, size_t skip) {
  return llvm::to_vector(dims.drop_front(std::min(skip, dims.size())));
}

/// sum[n, m, ...] (of `accElem`) plus an optional bias[m], as elements of `elem`.
static Value withBias(Lowering &l, Value sum, Type accElem, Value bias, Type elem, ArrayRef<Dim> dims) {
  if (!bias)
    return convertElements(l, sum, accElem, elem, dims);
  Type biasElem = l.elem(bias);
  requireEqual(l, l.dims(bias)[0], dims[1], "the bias has another length than the result has channels");
  SmallVector<Dim> column(dims.size() - 1, constDim(l, 1));
  column[0] = l.dims(bias)[0];
  Lowering::Input b{l.view(l.get(bias), biasElem, column), biasElem, column};
  return l.elementwise(
      {Lowering::Input{sum, accElem, llvm::to_vector(dims)}, b}, elem, dims,
      [&](OpBuilder &b, Location loc, ValueRange in) { return ScalarOps{b, loc, accElem}.add(in[0], in[1]); });
}

static LogicalResult checkRanks(Operation *op, ArrayRef<Dim> xDims, ArrayRef<Dim> wDims) {
  if (xDims.size() >= 3 && wDims.size() == xDims.size())
    return success();
  return unsupported(op, "X and W must have equal ranks from 3 on, but they have " + Twine(xDims.size()) + " and " +
                             Twine(wDims.size()));
}

/// Refuses group counts that do not divide the channels.
static LogicalResult checkGroups(Operation *op, Dim channels, Dim filters, int64_t group) {
  if (group < 1)
    return unsupported(op, "attribute 'group' is " + Twine(group) + "; it must be at least 1");
  for (Dim dim : {channels, filters})
    if (std::optional<int64_t> size = constOf(dim); size && *size % group != 0)
      return unsupported(op, "attribute 'group' is " + Twine(group) + ", which does not divide " + Twine(*size) +
                                 " channels");
  return success();
}

/// The attribute kernel_shape, from which the result's sizes come, must be what W has.
static LogicalResult checkKernelShape(Operation *op, Lowering &l, ArrayRef<Dim> wDims) {
  auto shape = op->getAttrOfType<DenseI64ArrayAttr>("kernel_shape");
  if (!shape || shape.empty())
    return success();
  if (shape.size() + 2 != static_cast<int64_t>(wDims.size()))
    return unsupported(op, "attribute 'kernel_shape' has " + Twine(shape.size()) + " values, but W has " +
                               Twine(wDims.size() - 2) + " spatial axes");
  for (auto [want, have] : llvm::zip(shape.asArrayRef(), wDims.drop_front(2))) {
    if (std::optional<int64_t> size = constOf(have); size && *size != want)
      return unsupported(op, "attribute 'kernel_shape' has the value " + Twine(want) + " where W has the size " +
                                 Twine(*size));
    requireEqual(l, have, constDim(l, want), "the sizes of W are not those of kernel_shape");
  }
  return success();
}

/// y[n, g, r, p] = the sum over c of x[n, g, c, p] * w[g, c, r], or w[g, r, c] with `rowsFirst`.
static Value groupedProduct(Lowering &l, StringRef label, Lowering::Input x, Lowering::Input w, bool rowsFirst,
                            Type accElem, ArrayRef<Dim> dims) {
  MLIRContext *ctx = l.b.getContext();
  AffineExpr n, g, r, p, c;
  bindDims(ctx, n, g, r, p, c);
  SmallVector<AffineExpr> weights = {g, c, r};
  if (rowsFirst)
    std::swap(weights[1], weights[2]);
  SmallVector<AffineMap> maps = {AffineMap::get(5, 0, {n, g, c, p}, ctx), AffineMap::get(5, 0, weights, ctx),
                                 AffineMap::get(5, 0, {n, g, r, p}, ctx)};
  Value zero = ScalarOps{l.b, l.loc, accElem}.constant(0);
  return l.contract(label, {x, w}, maps,
                    {Iter::parallel, Iter::parallel, Iter::parallel, Iter::parallel, Iter::reduction}, accElem, dims,
                    zero, multiplyAdd(x.elem, w.elem, accElem));
}

static LogicalResult lowerConv(Operation *op, Lowering &l) {
  auto conv = cast<onnx::ConvOp>(op);
  SmallVector<Dim> xDims = llvm::to_vector(l.dims(conv.getX())), wDims = llvm::to_vector(l.dims(conv.getW())),
                   out = llvm::to_vector(l.dims(conv.getY()));
  int64_t group = conv.getGroup();
  if (failed(checkRanks(op, xDims, wDims)) || failed(checkGroups(op, xDims[1], wDims[0], group)))
    return failure();
  FailureOr<Window> window = windowOf(op, l, tail(xDims, 2), tail(wDims, 2), tail(out, 2));
  if (failed(window))
    return failure();
  Type elem = l.elem(conv.getY()), accElem = accumulatorOf(elem);
  if (failed(checkKernelShape(op, l, wDims)))
    return failure();
  Lowering::Input x = padded(l, *window, l.input(conv.getX()), [](ScalarOps s) { return s.constant(0); });
  Value sum = convolve(l, *window, x, l.input(conv.getW()), group, accElem, multiplyAdd(elem, elem, accElem));
  l.set(conv.getY(), withBias(l, sum, accElem, conv.getB(), elem, out));
  return success();
}

//===----------------------------------------------------------------------===//
// Gather form of "columns to image"
//===----------------------------------------------------------------------===//

/// image[n, c, p...] = bias[c] + the sum of columns[n, c, k..., i...] over all k, i with p + padBegin = i * stride + k
/// * dilation.
static Value gatherColumns(Lowering &l, StringRef label, Lowering::Input columns, ArrayRef<Value> kernel,
                           ArrayRef<Value> in, ArrayRef<Value> padBegin, ArrayRef<int64_t> strides,
                           ArrayRef<int64_t> dilations, Value bias, Type elem, ArrayRef<Dim> outDims) {
  Type accElem = columns.elem;
  Value biasTensor = l.get(bias);
  return l.generate(label, elem, outDims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    ScalarOps zero{b, loc, accElem};
    Value sum = scalarLoops(b, loc, kernel, {zero.constantInt(0)}, [&](OpBuilder &b, ValueRange k, ValueRange acc) {
      IndexMath m{b, loc};
      ScalarOps ops{b, loc, accElem};
      SmallVector<Value> source = {at[0], at[1]};
      llvm::append_range(source, k);
      Value valid;
      for (size_t i = 0; i < kernel.size(); ++i) {
        Value t = m.sub(m.add(at[2 + i], padBegin[i]), m.mul(k[i], dilations[i]));
        Value from = m.div(t, strides[i]);
        valid = m.both(valid, m.both(m.le(m.c(0), t), m.inside(from, in[i])));
        if (strides[i] != 1)
          valid = m.both(valid, m.eq(m.rem(t, strides[i]), m.c(0)));
        source.push_back(from);
      }
      Value next = ifElse(b, loc, valid, acc[0], [&](OpBuilder &nested) {
        ScalarOps ops{nested, loc, accElem};
        return ops.add(acc[0], l.load(nested, loc, columns.lowered, accElem, source));
      });
      (void)ops;
      return SmallVector<Value>{next};
    })[0];
    if (!biasTensor)
      return sum;
    return ScalarOps{b, loc, accElem}.add(sum, l.load(b, loc, biasTensor, elem, {at[1]}));
  });
}

static LogicalResult lowerConvTranspose(Operation *op, Lowering &l) {
  auto conv = cast<onnx::ConvTransposeOp>(op);
  SmallVector<Dim> xDims = llvm::to_vector(l.dims(conv.getX())), wDims = llvm::to_vector(l.dims(conv.getW())),
                   out = llvm::to_vector(l.dims(conv.getY()));
  int64_t group = conv.getGroup();
  if (failed(checkRanks(op, xDims, wDims)) || failed(checkGroups(op, xDims[1], xDims[1], group)))
    return failure();
  SmallVector<Dim> in = tail(xDims, 2), kernel = tail(wDims, 2), spatial = tail(out, 2);
  // The window of the forward convolution that this is the transpose of: it maps the output to the input.
  FailureOr<Window> window = windowOf(op, l, spatial, kernel, in);
  if (failed(window))
    return failure();
  size_t rank = in.size();
  StringRef autoPad = conv.getAutoPad();
  bool givenShape = conv.getOutputShape() && !conv.getOutputShape()->empty();
  IndexMath m{l.b, l.loc};
  SmallVector<Value> padBegin, kernelSizes = l.indices(kernel), inSizes = l.indices(in);
  auto outputPadding = conv.getOutputPadding();
  if (outputPadding && !outputPadding->empty() && outputPadding->size() != rank)
    return unsupported(op, "attribute 'output_padding' has " + Twine(outputPadding->size()) + " values; " +
                               Twine(rank) + " are needed");
  for (size_t i = 0; i < rank; ++i) {
    if (!givenShape && (autoPad == "NOTSET" || autoPad == "VALID" || autoPad.empty())) {
      padBegin.push_back(window->padBegin[i]);
      continue;
    }
    // total = stride * (in - 1) + output_padding + (kernel - 1) * dilation + 1 - out
    int64_t extra = outputPadding && !outputPadding->empty() ? (*outputPadding)[i] : 0;
    Value full =
        m.add(m.mul(m.add(inSizes[i], -1), window->strides[i]), m.mul(m.add(kernelSizes[i], -1), window->dilations[i]));
    Value total = m.max(m.sub(m.add(full, extra + 1), l.index(spatial[i])), m.c(0));
    Value half = m.div(total, 2);
    padBegin.push_back(autoPad == "SAME_UPPER" ? half : m.sub(total, half));
  }

  // columns[n, g, m, k, i] = sum over c of X[n, g, c, i] * W[g, c, m, k], then every output gathers its columns.
  Type elem = l.elem(conv.getY()), accElem = accumulatorOf(elem);
  requireEqual(l, xDims[1], wDims[0], "the channels of X and W differ");
  if (failed(checkKernelShape(op, l, wDims)))
    return failure();
  if (conv.getB())
    requireEqual(l, l.dims(conv.getB())[0], out[1], "the bias has another length than the result has channels");
  Dim groups = constDim(l, group), channels = divideDim(l, xDims[1], group), filters = wDims[1];
  Dim positions = productOf(l, in), taps = productOf(l, kernel);
  Dim rows = mulDims(l, filters, taps);
  SmallVector<Dim> xView = {xDims[0], groups, channels, positions}, wView = {groups, channels, rows},
                   colDims = {xDims[0], groups, rows, positions};
  Value columns =
      groupedProduct(l, "convtranspose", {l.view(l.get(conv.getX()), elem, xView), elem, xView},
                     {l.view(l.get(conv.getW()), elem, wView), elem, wView}, /*rowsFirst=*/false, accElem, colDims);
  SmallVector<Dim> full = {xDims[0], mulDims(l, groups, filters)};
  llvm::append_range(full, kernel);
  llvm::append_range(full, in);
  Lowering::Input cols{l.view(columns, accElem, full), accElem, full};
  l.set(conv.getY(), gatherColumns(l, "columns_to_image", cols, kernelSizes, inSizes, padBegin, window->strides,
                                   window->dilations, conv.getB(), elem, out));
  return success();
}

static LogicalResult lowerCol2Im(Operation *op, Lowering &l) {
  auto col2im = cast<onnx::Col2ImOp>(op);
  SmallVector<Dim> out = llvm::to_vector(l.dims(col2im.getOutput())),
                   inDims = llvm::to_vector(l.dims(col2im.getInput()));
  if (out.size() < 3 || inDims.size() != 3)
    return unsupported(op, "the input must have rank 3 and image_shape at least one element");
  size_t rank = out.size() - 2;
  SmallVector<Dim> spatial = tail(out, 2), ones(rank, constDim(l, 1));
  FailureOr<Window> window = windowOf(op, l, spatial, ones, ones);
  if (failed(window))
    return failure();
  auto pads = col2im.getPads();
  Type elem = l.elem(col2im.getInput()), accElem = accumulatorOf(elem);
  IndexMath m{l.b, l.loc};
  // Blocks per axis: (image + pads - ((block - 1) * dilation + 1)) / stride + 1.
  SmallVector<Value> kernel, blocks;
  Value taps = m.c(1), positions = m.c(1);
  for (size_t i = 0; i < rank; ++i) {
    kernel.push_back(l.hostIndex(col2im.getBlockShape(), i));
    int64_t pad = pads && !pads->empty() ? (*pads)[i] + (*pads)[rank + i] : 0;
    Value span = m.add(m.mul(m.add(kernel[i], -1), window->dilations[i]), 1);
    Value room = m.sub(m.add(l.index(spatial[i]), pad), span);
    require(l, m.both(m.le(m.c(1), kernel[i]), m.le(m.c(0), room)), "image_shape is smaller than a block");
    blocks.push_back(m.add(m.div(room, window->strides[i]), 1));
    taps = m.mul(taps, kernel[i]);
    positions = m.mul(positions, blocks[i]);
  }
  require(l, m.both(m.eq(m.mul(l.index(out[1]), taps), l.index(inDims[1])), m.eq(positions, l.index(inDims[2]))),
          "the input has other sizes than image_shape and block_shape ask for");
  // The input stays flat, [n, c * taps, positions]: the sizes of blocks may be known at run time only.
  Value x = l.get(col2im.getInput());
  Value y = l.generate("col2im", elem, out, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    ScalarOps zero{b, loc, accElem};
    return scalarLoops(b, loc, kernel, {zero.constantInt(0)}, [&](OpBuilder &b, ValueRange k, ValueRange acc) {
      IndexMath m{b, loc};
      Value valid, tap = m.c(0), position = m.c(0);
      for (size_t i = 0; i < rank; ++i) {
        Value t = m.sub(m.add(at[2 + i], window->padBegin[i]), m.mul(k[i], window->dilations[i]));
        Value from = m.div(t, window->strides[i]);
        valid = m.both(valid, m.both(m.le(m.c(0), t), m.inside(from, blocks[i])));
        valid = m.both(valid, m.eq(m.rem(t, window->strides[i]), m.c(0)));
        tap = m.add(m.mul(tap, kernel[i]), k[i]);
        position = m.add(m.mul(position, blocks[i]), from);
      }
      Value channel = m.add(m.mul(at[1], taps), tap);
      return SmallVector<Value>{ifElse(b, loc, valid, acc[0], [&](OpBuilder &nested) {
        Value v = l.load(nested, loc, x, elem, {at[0], channel, position});
        return ScalarOps{nested, loc, accElem}.add(acc[0], v);
      })};
    })[0];
  });
  l.set(col2im.getOutput(), y);
  return success();
}

//===----------------------------------------------------------------------===//
// DeformConv
//===----------------------------------------------------------------------===//

/// Multilinear interpolation of x[lead..., position...] with zeros outside.
static Value sampleLinear(Lowering &l, OpBuilder &b, Location loc, Value x, Type elem, ArrayRef<Value> lead,
                          ArrayRef<Value> position, ArrayRef<Value> sizes, Type work) {
  IndexMath m{b, loc};
  FloatMath f(b, loc, work);
  size_t rank = position.size();
  SmallVector<Value> low, fraction;
  for (Value p : position) {
    Value floor = f.floor(p);
    low.push_back(f.toIndex(floor, -kCoordinateLimit, kCoordinateLimit));
    fraction.push_back(f.sub(p, floor));
  }
  Value sum = f.constant(0);
  for (unsigned corner = 0; corner < (1u << rank); ++corner) {
    SmallVector<Value> at(lead.begin(), lead.end());
    Value inside, weight;
    for (size_t i = 0; i < rank; ++i) {
      bool upper = corner >> (rank - 1 - i) & 1;
      at.push_back(upper ? m.add(low[i], 1) : low[i]);
      inside = m.both(inside, m.inside(at.back(), sizes[i]));
      Value w = upper ? fraction[i] : f.sub(f.constant(1), fraction[i]);
      weight = weight ? f.mul(weight, w) : w;
    }
    Value term = ifElse(b, loc, inside, f.constant(0), [&](OpBuilder &nested) {
      return FloatMath(nested, loc, work).mul(weight, l.load(nested, loc, x, elem, at));
    });
    sum = f.add(sum, term);
  }
  return sum;
}

static LogicalResult lowerDeformConv(Operation *op, Lowering &l) {
  auto conv = cast<onnx::DeformConvOp>(op);
  SmallVector<Dim> xDims = llvm::to_vector(l.dims(conv.getX())), wDims = llvm::to_vector(l.dims(conv.getW())),
                   out = llvm::to_vector(l.dims(conv.getY()));
  int64_t group = conv.getGroup(), offsetGroup = conv.getOffsetGroup();
  size_t rank = xDims.size() - 2;
  if (xDims.size() < 3 || wDims.size() != xDims.size() || rank > 4)
    return unsupported(op, "X and W must have equal ranks from 3 to 6, but they have " + Twine(xDims.size()) + " and " +
                               Twine(wDims.size()));
  if (failed(checkGroups(op, xDims[1], wDims[0], group)) || failed(checkGroups(op, xDims[1], xDims[1], offsetGroup)))
    return failure();
  SmallVector<Dim> kernel = tail(wDims, 2), spatial = tail(out, 2);
  FailureOr<Window> window = windowOf(op, l, tail(xDims, 2), kernel, spatial);
  if (failed(window))
    return failure();
  Type elem = l.elem(conv.getY()), accElem = accumulatorOf(elem);
  IndexMath host{l.b, l.loc};
  SmallVector<Value> sizes = l.indices(tail(xDims, 2)), kernelSizes = l.indices(kernel);
  Value taps = l.index(productOf(l, kernel)), perGroup = l.index(divideDim(l, xDims[1], offsetGroup));
  Value x = l.get(conv.getX()), offset = l.get(conv.getOffset()), mask = l.get(conv.getMask());
  require(l, host.eq(l.index(l.dims(conv.getOffset())[1]), host.mul(taps, offsetGroup * rank)),
          "offset does not have offset_group * kernel size * rank channels");
  requireEqual(l, xDims[1], scaleDim(l, wDims[1], group), "the channels of X are not those of W times group");
  if (failed(checkKernelShape(op, l, wDims)))
    return failure();
  for (size_t i = 0; i < rank; ++i)
    require(l, host.eq(l.index(l.dims(conv.getOffset())[2 + i]), l.index(spatial[i])),
            "offset does not have the output's spatial sizes");
  if (mask)
    require(l, host.eq(l.index(l.dims(conv.getMask())[1]), host.mul(taps, offsetGroup)),
            "mask does not have offset_group * kernel size channels");

  // samples[n, c, k..., o...], then a convolution whose taps are an axis.
  SmallVector<Dim> sampled = {xDims[0], xDims[1]};
  llvm::append_range(sampled, kernel);
  llvm::append_range(sampled, spatial);
  Value samples =
      l.generate("deform_samples", accElem, sampled, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        IndexMath m{b, loc};
        FloatMath f(b, loc, accElem);
        ValueRange k = at.slice(2, rank), o = at.slice(2 + rank, rank);
        Value tap = m.c(0);
        for (size_t i = 0; i < rank; ++i)
          tap = m.add(m.mul(tap, kernelSizes[i]), k[i]);
        tap = m.add(m.mul(m.div(at[1], perGroup), taps), tap);
        SmallVector<Value> position;
        for (size_t i = 0; i < rank; ++i) {
          SmallVector<Value> from = {at[0], m.add(m.mul(tap, rank), static_cast<int64_t>(i))};
          llvm::append_range(from, o);
          Value start =
              m.sub(m.add(m.mul(o[i], window->strides[i]), m.mul(k[i], window->dilations[i])), window->padBegin[i]);
          position.push_back(f.add(f.fromIndex(start), l.load(b, loc, offset, elem, from)));
        }
        Value v = sampleLinear(l, b, loc, x, elem, {at[0], at[1]}, position, sizes, accElem);
        if (mask) {
          SmallVector<Value> from = {at[0], tap};
          llvm::append_range(from, o);
          v = f.mul(v, l.load(b, loc, mask, elem, from));
        }
        return v;
      });
  Dim channels = wDims[1], filters = divideDim(l, wDims[0], group), groups = constDim(l, group);
  Dim positions = productOf(l, spatial), inner = mulDims(l, channels, productOf(l, kernel));
  SmallVector<Dim> sView = {xDims[0], groups, inner, positions}, wView = {groups, filters, inner},
                   yView = {xDims[0], groups, filters, positions};
  Value sum =
      groupedProduct(l, "deformconv", {l.view(samples, accElem, sView), accElem, sView},
                     {l.view(l.get(conv.getW()), elem, wView), elem, wView}, /*rowsFirst=*/true, accElem, yView);
  l.set(conv.getY(), withBias(l, l.view(sum, accElem, out), accElem, conv.getB(), elem, out));
  return success();
}

void optc::registerConvLowerings(LoweringTable &table) {
  static constexpr std::pair<StringLiteral, LowerFn> kFunctions[] = {{"onnx.Conv", lowerConv},
                                                                     {"onnx.ConvTranspose", lowerConvTranspose},
                                                                     {"onnx.Col2Im", lowerCol2Im},
                                                                     {"onnx.DeformConv", lowerDeformConv}};
  for (auto [name, function] : kFunctions)
    table[name] = function;
}
