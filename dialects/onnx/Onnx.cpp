//===- Onnx.cpp - the onnx dialect and its hand-written ops ----------------===//
#include "optc/dialects/onnx/Onnx.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace optc::onnx;

#include "optc/dialects/onnx/OnnxDialect.cpp.inc"

namespace {
/// ONNX ops can be moved and inlined freely.
struct OnnxInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void OnnxDialect::initialize() {
  registerTypes();
  registerOnnxDialectOperations(this);
  addInterfaces<OnnxInliner>();
}

Operation *OnnxDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

//===----------------------------------------------------------------------===//
// Constant
//===----------------------------------------------------------------------===//

void ConstantOp::build(OpBuilder &, OperationState &state, ElementsAttr value) {
  state.addAttribute("value", value);
  state.addTypes(value.getType());
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseAttribute(value, "value", result.attributes))
    return failure();
  result.addTypes(value.getType());
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << ' ' << getValue();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ConstantOp::verify() {
  if (getValue().getType() != getOutput().getType())
    return emitOpError() << "has a value of type " << getValue().getType() << " and a result of type "
                         << getOutput().getType();
  if (!allowed(getOutput().getType(), ~0ULL))
    return emitOpError() << "has the element type " << cast<ShapedType>(getOutput().getType()).getElementType()
                         << ", which is not a type of ONNX";
  return success();
}

//===----------------------------------------------------------------------===//
// Subgraphs
//===----------------------------------------------------------------------===//

/// Each region that is present has one block that ends in onnx.Yield.
static LogicalResult verifyBodies(Operation *op) {
  const OpInfo *info = infoFor(op);
  for (const AttrInfo &attr : info->attributes) {
    if (attr.kind != AttrKind::Graph)
      continue;
    Region &region = op->getRegion(info->region(attr.name));
    if (region.empty())
      continue;
    Block &block = region.front();
    if (block.empty() || !isa<YieldOp>(block.back()))
      return op->emitOpError() << "has a subgraph '" << attr.name << "' that does not end in onnx.Yield";
  }
  return success();
}

static Operation *terminator(Region &region) { return &region.front().back(); }

LogicalResult IfOp::verifyRegions() {
  if (failed(verifyBodies(*this)))
    return failure();
  for (Region &region : (*this)->getRegions()) {
    if (region.getNumArguments())
      return emitOpError() << "has a branch with inputs";
    unsigned count = terminator(region)->getNumOperands();
    if (count != getNumResults())
      return emitOpError() << "has " << getNumResults() << " results and a branch of " << count << " outputs";
  }
  return success();
}

LogicalResult LoopOp::verifyRegions() {
  if (failed(verifyBodies(*this)))
    return failure();
  unsigned carried = getVInitial().size();
  if (getBody().getNumArguments() != carried + 2)
    return emitOpError() << "carries " << carried << " values, so its body takes " << carried + 2 << " inputs, not "
                         << getBody().getNumArguments();
  unsigned outputs = terminator(getBody())->getNumOperands();
  if (outputs != getNumResults() + 1 || getNumResults() < carried)
    return emitOpError() << "carries " << carried << " values and has " << getNumResults()
                         << " results, so its body gives " << getNumResults() + 1 << " outputs, not " << outputs;
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  if (failed(verifyBodies(*this)))
    return failure();
  int64_t scanned = getNumScanInputs(), operands = getNumOperands();
  if (scanned < 1 || scanned > operands)
    return emitOpError() << "has num_scan_inputs = " << scanned << " and " << operands << " inputs";
  if (getBody().getNumArguments() != operands)
    return emitOpError() << "has " << operands << " inputs and a body of " << getBody().getNumArguments() << " inputs";
  int64_t outputs = terminator(getBody())->getNumOperands(), results = getNumResults();
  if (outputs != results || results < operands - scanned)
    return emitOpError() << "has " << operands - scanned << " states and " << results << " results, and a body of "
                         << outputs << " outputs";
  return success();
}

LogicalResult SequenceMapOp::verifyRegions() {
  if (failed(verifyBodies(*this)))
    return failure();
  if (getBody().getNumArguments() != getNumOperands())
    return emitOpError() << "has " << getNumOperands() << " inputs and a body of " << getBody().getNumArguments()
                         << " inputs";
  unsigned outputs = terminator(getBody())->getNumOperands();
  if (outputs != getNumResults())
    return emitOpError() << "has " << getNumResults() << " results and a body of " << outputs << " outputs";
  return success();
}

LogicalResult PreviewFlexAttentionOp::verifyRegions() { return verifyBodies(*this); }
