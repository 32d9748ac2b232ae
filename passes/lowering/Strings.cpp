//===- Strings.cpp - operators on strings ---------------------------------===//
//
// The runtime does them. Attributes that are texts travel as constant tensors of strings.
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/Ml.h"
#include "optc/passes/lowering/Pointwise.h"

using namespace mlir;
using namespace optc;

/// Calls the runtime with lowered constants after the onnx operands.
static LogicalResult call(Operation *op, Lowering &l, kernel::LibraryFn fn, ArrayRef<std::pair<Value, Type>> constants,
                          ArrayRef<int64_t> params) {
  if (failed(requireRanked(op, l)))
    return failure();
  SmallVector<Value> operands;
  SmallVector<Type> elems;
  for (Value v : op->getOperands()) {
    operands.push_back(l.get(v));
    elems.push_back(l.elem(v));
  }
  for (auto [value, elem] : constants) {
    operands.push_back(value ? value : kernel::AbsentOp::create(l.b, l.loc, l.b.getNoneType()).getResult());
    elems.push_back(elem);
  }
  setLibraryResults(l, fn, operands, elems, params, llvm::to_vector_of<Value>(op->getResults()));
  return success();
}

static LogicalResult lowerStringConcat(Operation *op, Lowering &l) {
  return call(op, l, kernel::LibraryFn::string_concat, {}, {});
}

static std::pair<Value, Type> text(Lowering &l, StringRef value) {
  return {stringConstant(l, value, {}), onnx::StringType::get(l.b.getContext())};
}

static LogicalResult lowerStringSplit(Operation *o, Lowering &l) {
  auto op = cast<onnx::StringSplitOp>(o);
  int64_t most = op.getMaxsplit() ? std::max<int64_t>(*op.getMaxsplit(), 0) : -1;
  return call(op, l, kernel::LibraryFn::string_split, text(l, op.getDelimiter().value_or("")), {most});
}

static LogicalResult lowerRegexFullMatch(Operation *o, Lowering &l) {
  auto op = cast<onnx::RegexFullMatchOp>(o);
  if (!op.getPattern())
    return unsupported(op, "attribute pattern is missing");
  return call(op, l, kernel::LibraryFn::regex_full_match, text(l, *op.getPattern()), {});
}

static LogicalResult lowerStringNormalizer(Operation *o, Lowering &l) {
  auto op = cast<onnx::StringNormalizerOp>(o);
  static const StringRef actions[] = {"NONE", "LOWER", "UPPER"};
  const StringRef *action = llvm::find(actions, op.getCaseChangeAction());
  if (action == std::end(actions))
    return unsupported(op, "attribute case_change_action \"" + op.getCaseChangeAction() +
                               "\"; supported are NONE, LOWER and UPPER");
  std::pair<Value, Type> stopwords;
  if (op.getStopwords() && !op.getStopwords()->empty())
    stopwords = {constantOf(l, *op.getStopwords()), onnx::StringType::get(op.getContext())};
  return call(op, l, kernel::LibraryFn::string_normalizer, stopwords,
              {action - actions, static_cast<int64_t>(op.getIsCaseSensitive())});
}

static LogicalResult lowerTfIdf(Operation *o, Lowering &l) {
  auto op = cast<onnx::TfIdfVectorizerOp>(o);
  static const StringRef modes[] = {"TF", "IDF", "TFIDF"};
  const StringRef *mode = llvm::find(modes, op.getMode());
  if (mode == std::end(modes))
    return unsupported(op, "attribute mode \"" + op.getMode() + "\"; supported are TF, IDF and TFIDF");
  bool strings = isString(l.elem(op.getX()));
  if (strings ? !op.getPoolStrings() : !op.getPoolInt64s())
    return unsupported(op, Twine("attribute ") + (strings ? "pool_strings" : "pool_int64s") +
                               " is missing, which this input needs");
  Type i64 = l.b.getI64Type(), string = onnx::StringType::get(op.getContext());
  SmallVector<std::pair<Value, Type>> constants;
  if (strings)
    constants.push_back({constantOf(l, *op.getPoolStrings()), string});
  else
    constants.push_back({constantOf(l, *op.getPoolInt64s()), i64});
  constants.push_back({constantOf(l, op.getNgramCounts()), i64});
  constants.push_back({constantOf(l, op.getNgramIndexes()), i64});
  if (op.getWeights())
    constants.push_back({constantOf(l, *op.getWeights()), l.b.getF32Type()});
  return call(op, l, kernel::LibraryFn::tfidf, constants,
              {mode - modes, static_cast<int64_t>(op.getMinGramLength()), static_cast<int64_t>(op.getMaxGramLength()),
               static_cast<int64_t>(op.getMaxSkipCount())});
}

void optc::registerStringLowerings(LoweringTable &table) {
  static const LoweringRow rows[] = {
      {"onnx.StringConcat", lowerStringConcat},     {"onnx.StringSplit", lowerStringSplit},
      {"onnx.RegexFullMatch", lowerRegexFullMatch}, {"onnx.StringNormalizer", lowerStringNormalizer},
      {"onnx.TfIdfVectorizer", lowerTfIdf},
  };
  registerRows(table, rows);
}
