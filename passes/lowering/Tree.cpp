//===- Tree.cpp - tree ensembles of ai.onnx.ml ----------------------------===//
//
// All three operators are brought into one form: nodes in flat arrays, leaves with ranges of (target, weight) pairs. A
// row of the input walks down every tree; each leaf's weights are folded into the scores of the row.
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/Ml.h"
#include "optc/passes/lowering/Pointwise.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace optc;

namespace {

enum Mode : int64_t { LEQ, LT, GTE, GT, EQ, NEQ, MEMBER, LEAF };

struct Node {
  int64_t feature = 0, mode = LEAF, onTrue = 0, onFalse = 0, missing = 0;
  double split = 0;
  int64_t begin = 0, end = 0; ///< leaf: its weights; MEMBER: its set
};

struct Ensemble {
  std::vector<Node> nodes;
  SmallVector<int64_t> roots, targets;
  SmallVector<double> weights, members, base;
  int64_t numTargets = 0, maxFeature = -1;
  StringRef aggregate = "SUM";
};

} // namespace

static const StringRef aggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};

/// Checks what the walk relies on: indices in range, no cycle.
static LogicalResult verifyEnsemble(Operation *op, Ensemble &e) {
  int64_t n = e.nodes.size();
  for (const Node &node : e.nodes) {
    if (node.mode == LEAF)
      continue;
    if (node.onTrue < 0 || node.onTrue >= n || node.onFalse < 0 || node.onFalse >= n || node.feature < 0)
      return unsupported(op, "a node refers to a child or a feature that does not exist");
    e.maxFeature = std::max(e.maxFeature, node.feature);
  }
  for (int64_t target : e.targets)
    if (target < 0 || target >= e.numTargets)
      return unsupported(op, "a leaf refers to target " + Twine(target) + " of " + Twine(e.numTargets));
  // 0: new, 1: on the path, 2: done.
  std::vector<char> state(n, 0);
  for (int64_t root : e.roots) {
    SmallVector<int64_t> path{root};
    while (!path.empty()) {
      int64_t at = path.back();
      if (state[at] == 2 || e.nodes[at].mode == LEAF) {
        state[at] = 2;
        path.pop_back();
        continue;
      }
      bool back = state[at] == 1;
      state[at] = 1;
      bool pushed = false;
      for (int64_t child : {e.nodes[at].onTrue, e.nodes[at].onFalse}) {
        if (state[child] == 1)
          return unsupported(op, "the nodes of a tree form a cycle");
        if (state[child] == 0 && !pushed) {
          path.push_back(child);
          pushed = true;
        }
      }
      (void)back;
      if (!pushed) {
        state[at] = 2;
        path.pop_back();
      }
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
/// The arrays of an ensemble as constants, of thresholds in `elem`.
struct Tables {
  Value feature, mode, onTrue, onFalse, missing, split, begin, end, roots, targets, weights, members, base;
};
} // namespace

template <typename Member> static Value column(Lowering &l, const Ensemble &e, Member member) {
  SmallVector<int64_t> values;
  for (const Node &node : e.nodes)
    values.push_back(node.*member);
  return constantOf(l, ArrayRef<int64_t>(values));
}

static Value numbers(Lowering &l, ArrayRef<double> values, Type elem) {
  static constexpr double none[] = {0}; // a tensor of size 0 would have no address
  if (values.empty())
    values = none;
  if (elem.isF64())
    return constantOf(l, values);
  SmallVector<float> narrow(values.begin(), values.end());
  return constantOf(l, ArrayRef<float>(narrow));
}

/// Whether `x` goes to the true branch of node `at`.
static Value decide(Lowering &l, OpBuilder &b, Location loc, const Ensemble &e, const Tables &t, Type elem, Value at,
                    Value x) {
  Type i64 = b.getI64Type();
  ScalarOps n{b, loc, i64};
  Value split = l.load(b, loc, t.split, elem, at), mode;
  llvm::SmallSet<int64_t, 8> used;
  for (const Node &node : e.nodes)
    if (node.mode != LEAF)
      used.insert(node.mode);
  auto compare = [&](arith::CmpFPredicate p) -> Value { return arith::CmpFOp::create(b, loc, p, x, split); };
  Value result = arith::ConstantIntOp::create(b, loc, 0, 1);
  static const std::pair<int64_t, arith::CmpFPredicate> comparisons[] = {
      {LEQ, arith::CmpFPredicate::OLE}, {LT, arith::CmpFPredicate::OLT}, {GTE, arith::CmpFPredicate::OGE},
      {GT, arith::CmpFPredicate::OGT},  {EQ, arith::CmpFPredicate::OEQ}, {NEQ, arith::CmpFPredicate::UNE}};
  if (used.size() > 1)
    mode = l.load(b, loc, t.mode, i64, at);
  auto choose = [&](int64_t m, Value v) {
    result = mode ? Value(arith::SelectOp::create(b, loc, n.eq(mode, n.constantInt(m)), v, result)) : v;
  };
  for (auto [m, predicate] : comparisons)
    if (used.count(m))
      choose(m, compare(predicate));
  if (used.count(MEMBER)) {
    auto toIndex = [&](Value v) { return arith::IndexCastOp::create(b, loc, b.getIndexType(), v).getResult(); };
    Value begin = toIndex(l.load(b, loc, t.begin, i64, at)), end = toIndex(l.load(b, loc, t.end, i64, at));
    auto loop = scf::ForOp::create(
        b, loc, begin, end, IndexBuilder{b, loc}.cst(1), ValueRange{arith::ConstantIntOp::create(b, loc, 0, 1)},
        [&](OpBuilder &b, Location loc, Value i, ValueRange found) {
          Value same = ScalarOps{b, loc, elem}.eq(l.load(b, loc, t.members, elem, i), x);
          scf::YieldOp::create(b, loc, ValueRange{arith::OrIOp::create(b, loc, same, found[0])});
        });
    choose(MEMBER, loop.getResult(0));
  }
  if (llvm::any_of(e.nodes, [](const Node &node) { return node.missing; })) {
    Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
    Value tracks =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, l.load(b, loc, t.missing, i64, at), n.constantInt(0));
    result = arith::OrIOp::create(b, loc, result, arith::AndIOp::create(b, loc, isNan, tracks));
  }
  return result;
}

/// Scores [N, numTargets] in f32, or f64 for f64 inputs.
static FailureOr<Lowering::Input> scoresOf(Operation *op, Lowering &l, Value x, Ensemble &e) {
  FailureOr<Lowering::Input> in = rowsOf(op, l, x);
  if (failed(in) || failed(verifyEnsemble(op, e)))
    return failure();
  if (std::optional<int64_t> width = knownSize(in->dims[1]); width && e.maxFeature >= *width)
    return unsupported(op, "a node tests feature " + Twine(e.maxFeature) + ", the input has " + Twine(*width));
  else if (!width)
    l.check(IndexBuilder{l.b, l.loc}.lt(l.constIndex(e.maxFeature), l.index(in->dims[1])),
            "the input has too few features for the trees");
  Type elem = in->elem.isF64() ? in->elem : Type(l.b.getF32Type()), i64 = l.b.getI64Type();
  if (e.roots.empty() || e.numTargets < 1)
    return unsupported(op, "there are no trees or no targets");
  if (e.targets.empty())
    e.targets.push_back(0), e.weights.push_back(0); // Never read; a tensor of size 0 would have no address.
  if (e.members.empty())
    e.members.push_back(0);
  bool average = e.aggregate == "AVERAGE", smallest = e.aggregate == "MIN", largest = e.aggregate == "MAX";
  if (e.base.size() != 1)
    e.base.resize(e.numTargets, 0);
  else
    e.base.assign(e.numTargets, e.base[0]);
  Tables t{column(l, e, &Node::feature),
           column(l, e, &Node::mode),
           column(l, e, &Node::onTrue),
           column(l, e, &Node::onFalse),
           column(l, e, &Node::missing),
           Value(),
           column(l, e, &Node::begin),
           column(l, e, &Node::end),
           constantOf(l, ArrayRef<int64_t>(e.roots)),
           constantOf(l, ArrayRef<int64_t>(e.targets)),
           numbers(l, e.weights, elem),
           numbers(l, e.members, elem),
           numbers(l, e.base, elem)};
  SmallVector<double> splits;
  for (const Node &node : e.nodes)
    splits.push_back(node.split);
  t.split = numbers(l, splits, elem);

  Dim rows = in->dims[0], width = l.shapes.constant(e.numTargets);
  Value rowCount = l.index(rows), treeCount = l.constIndex(e.roots.size()), targetCount = l.constIndex(e.numTargets);
  double trees = e.roots.size();
  Value scores = l.loops("tree_ensemble", {{elem, {rows, width}}}, [&](OpBuilder &b, Location loc, ValueRange dest) {
    auto toIndex = [&](OpBuilder &b, Value v) {
      return arith::IndexCastOp::create(b, loc, b.getIndexType(), v).getResult();
    };
    return Lowering::loopNest(
        b, loc, rowCount, dest, [&](OpBuilder &b, Location loc, ValueRange row, ValueRange carried) {
          ScalarOps s{b, loc, elem};
          // The starts are finite, as in ONNX's reference: a target without a leaf shows them.
          auto limits =
              elem.isF64()
                  ? std::pair(std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max())
                  : std::pair<double, double>(std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max());
          Value start = s.constant(smallest ? limits.second : largest ? limits.first : 0);
          Value current = Lowering::loopNest(
              b, loc, targetCount, carried[0], [&](OpBuilder &b, Location loc, ValueRange i, ValueRange c) {
                return SmallVector<Value>{insertRaw(b, loc, start, c[0], {row[0], i[0]})};
              })[0];
          current = Lowering::loopNest(
              b, loc, treeCount, current, [&](OpBuilder &b, Location loc, ValueRange tree, ValueRange c) {
                Value root = toIndex(b, l.load(b, loc, t.roots, i64, tree));
                auto walk = scf::WhileOp::create(
                    b, loc, TypeRange{b.getIndexType()}, ValueRange{root},
                    [&](OpBuilder &b, Location loc, ValueRange at) {
                      Value inner =
                          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, l.load(b, loc, t.mode, i64, at[0]),
                                                ScalarOps{b, loc, i64}.constantInt(LEAF));
                      scf::ConditionOp::create(b, loc, inner, at);
                    },
                    [&](OpBuilder &b, Location loc, ValueRange at) {
                      Value feature = toIndex(b, l.load(b, loc, t.feature, i64, at[0]));
                      Value x =
                          castScalar(b, loc, l.load(b, loc, in->lowered, in->elem, {row[0], feature}), in->elem, elem);
                      Value yes = decide(l, b, loc, e, t, elem, at[0], x);
                      Value next = ScalarOps{b, loc, i64}.select(yes, l.load(b, loc, t.onTrue, i64, at[0]),
                                                                 l.load(b, loc, t.onFalse, i64, at[0]));
                      scf::YieldOp::create(b, loc, ValueRange{toIndex(b, next)});
                    });
                Value leaf = walk.getResult(0);
                Value begin = toIndex(b, l.load(b, loc, t.begin, i64, leaf)),
                      end = toIndex(b, l.load(b, loc, t.end, i64, leaf));
                auto fold = scf::ForOp::create(
                    b, loc, begin, end, IndexBuilder{b, loc}.cst(1), c,
                    [&](OpBuilder &b, Location loc, Value k, ValueRange c) {
                      ScalarOps s{b, loc, elem};
                      SmallVector<Value> at{row[0], toIndex(b, l.load(b, loc, t.targets, i64, k))};
                      Value old = tensor::ExtractOp::create(b, loc, c[0], at),
                            weight = l.load(b, loc, t.weights, elem, k);
                      if (average)
                        weight = s.div(weight, s.constant(trees));
                      Value now = smallest ? s.min(old, weight) : largest ? s.max(old, weight) : s.add(old, weight);
                      scf::YieldOp::create(b, loc, ValueRange{insertRaw(b, loc, now, c[0], at)});
                    });
                return SmallVector<Value>{fold.getResult(0)};
              })[0];
          return Lowering::loopNest(b, loc, targetCount, current,
                                    [&](OpBuilder &b, Location loc, ValueRange i, ValueRange c) {
                                      Value score = tensor::ExtractOp::create(b, loc, c[0], ValueRange{row[0], i[0]});
                                      score = ScalarOps{b, loc, elem}.add(score, l.load(b, loc, t.base, elem, i[0]));
                                      return SmallVector<Value>{insertRaw(b, loc, score, c[0], {row[0], i[0]})};
                                    });
        });
  })[0];
  return Lowering::Input{scores, elem, {rows, width}};
}

/// Hands scores over in the element type and shape of the result.
static void setScores(Lowering &l, Value result, const Lowering::Input &scores) {
  Type to = l.elem(result);
  Value converted = scores.lowered;
  if (to != scores.elem)
    converted = l.elementwise(scores, to, scores.dims, [&](OpBuilder &b, Location loc, ValueRange x) {
      return castScalar(b, loc, x[0], scores.elem, to);
    });
  l.set(result, l.view(converted, to, l.dims(result)));
}

//===----------------------------------------------------------------------===//
// TreeEnsemble
//===----------------------------------------------------------------------===//

static LogicalResult lowerTreeEnsemble(Operation *o, Lowering &l) {
  auto op = cast<onnx::MLTreeEnsembleOp>(o);
  FailureOr<SmallVector<double>> modes = readNumbers(op.getNodesModes()), splits = readNumbers(op.getNodesSplits()),
                                 weights = readNumbers(op.getLeafWeights());
  if (failed(modes) || failed(splits) || failed(weights))
    return unsupported(op, "attributes nodes_modes, nodes_splits or leaf_weights cannot be read");
  ArrayRef<int64_t> features = op.getNodesFeatureids(), onTrue = op.getNodesTruenodeids(),
                    onFalse = op.getNodesFalsenodeids(), trueLeafs = op.getNodesTrueleafs(),
                    falseLeafs = op.getNodesFalseleafs(), targets = op.getLeafTargetids(),
                    missing = orEmpty(op.getNodesMissingValueTracksTrue());
  size_t n = modes->size();
  if (splits->size() != n || features.size() != n || onTrue.size() != n || onFalse.size() != n ||
      trueLeafs.size() != n || falseLeafs.size() != n || (!missing.empty() && missing.size() != n) ||
      targets.size() != weights->size())
    return unsupported(op, "attributes of the nodes or of the leaves have different lengths");
  if (op.getAggregateFunction() > 3 || static_cast<int64_t>(op.getAggregateFunction()) < 0)
    return unsupported(op,
                       "attribute aggregate_function " + Twine(op.getAggregateFunction()) + "; supported are 0 to 3");
  static const StringRef transforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  if (op.getPostTransform() > 4 || static_cast<int64_t>(op.getPostTransform()) < 0)
    return unsupported(op, "attribute post_transform " + Twine(op.getPostTransform()) + "; supported are 0 to 4");

  Ensemble e;
  e.aggregate = aggregates[op.getAggregateFunction()];
  e.numTargets = op.getNTargets().value_or(1);
  e.weights = *weights;
  e.targets.assign(targets.begin(), targets.end());
  e.nodes.resize(n + targets.size()); // Leaf i is node n + i.
  for (size_t i = 0; i < targets.size(); ++i) {
    e.nodes[n + i].begin = i;
    e.nodes[n + i].end = i + 1;
  }
  SmallVector<double> members;
  if (ElementsAttr attr = op.getMembershipValuesAttr()) {
    FailureOr<SmallVector<double>> values = readNumbers(attr);
    if (failed(values))
      return unsupported(op, "attribute membership_values cannot be read");
    members = *values;
  }
  size_t nextMember = 0;
  for (size_t i = 0; i < n; ++i) {
    Node &node = e.nodes[i];
    if ((*modes)[i] < LEQ || (*modes)[i] > MEMBER)
      return unsupported(op, "a node has mode " + Twine(static_cast<int64_t>((*modes)[i])) + "; supported are 0 to 6");
    auto child = [&](int64_t to, bool leaf) {
      return leaf ? (to >= 0 && to < static_cast<int64_t>(targets.size()) ? to + static_cast<int64_t>(n) : -1)
                  : (to < static_cast<int64_t>(n) ? to : -1);
    };
    node = {features[i],
            static_cast<int64_t>((*modes)[i]),
            child(onTrue[i], trueLeafs[i]),
            child(onFalse[i], falseLeafs[i]),
            missing.empty() ? 0 : missing[i],
            (*splits)[i],
            0,
            0};
    if (node.mode == MEMBER) { // The sets follow each other in the order of the nodes, each closed by a NaN.
      node.begin = e.members.size();
      while (nextMember < members.size() && !std::isnan(members[nextMember]))
        e.members.push_back(members[nextMember++]);
      ++nextMember;
      node.end = e.members.size();
    }
  }
  for (int64_t root : op.getTreeRoots()) {
    if (root < 0 || root >= static_cast<int64_t>(n))
      return unsupported(op, "attribute tree_roots refers to node " + Twine(root) + " of " + Twine(n));
    e.roots.push_back(root);
  }
  FailureOr<Lowering::Input> scores = scoresOf(op, l, op.getX(), e);
  if (failed(scores))
    return failure();
  FailureOr<Value> y = postTransform(op, l, *scores, transforms[op.getPostTransform()]);
  if (failed(y))
    return failure();
  scores->lowered = *y;
  setScores(l, op.getY(), *scores);
  return success();
}

//===----------------------------------------------------------------------===//
// TreeEnsembleClassifier, TreeEnsembleRegressor
//===----------------------------------------------------------------------===//

/// Numbers of `name`, or of `name`_as_tensor.
static SmallVector<double> floatsOf(Operation *op, const Twine &name) {
  if (auto tensor = op->getAttrOfType<ElementsAttr>((name + "_as_tensor").str()))
    if (FailureOr<SmallVector<double>> values = readNumbers(tensor); succeeded(values))
      return *values;
  if (auto array = op->getAttrOfType<DenseF32ArrayAttr>(name.str()))
    return SmallVector<double>(array.asArrayRef().begin(), array.asArrayRef().end());
  return {};
}
static ArrayRef<int64_t> intsOf(Operation *op, const Twine &name) {
  auto array = op->getAttrOfType<DenseI64ArrayAttr>(name.str());
  return array ? array.asArrayRef() : ArrayRef<int64_t>();
}

/// Reads the nodes, and the leaves' weights from the attributes that start with `what` ("class" or "target").
static LogicalResult readTrees(Operation *op, StringRef what, Ensemble &e) {
  static const std::pair<StringRef, int64_t> modeNames[] = {{"BRANCH_LEQ", LEQ}, {"BRANCH_LT", LT}, {"BRANCH_GTE", GTE},
                                                            {"BRANCH_GT", GT},   {"BRANCH_EQ", EQ}, {"BRANCH_NEQ", NEQ},
                                                            {"LEAF", LEAF}};
  auto modes = op->getAttrOfType<ArrayAttr>("nodes_modes");
  ArrayRef<int64_t> trees = intsOf(op, "nodes_treeids"), ids = intsOf(op, "nodes_nodeids"),
                    features = intsOf(op, "nodes_featureids"), onTrue = intsOf(op, "nodes_truenodeids"),
                    onFalse = intsOf(op, "nodes_falsenodeids"), missing = intsOf(op, "nodes_missing_value_tracks_true");
  SmallVector<double> splits = floatsOf(op, "nodes_values"), weights = floatsOf(op, what + "_weights");
  size_t n = trees.size();
  if (!modes || modes.size() != n || ids.size() != n || features.size() != n || onTrue.size() != n ||
      onFalse.size() != n || splits.size() != n || (!missing.empty() && missing.size() != n))
    return unsupported(op, "attributes of the nodes have different lengths");
  llvm::DenseMap<std::pair<int64_t, int64_t>, int64_t> index;
  for (size_t i = 0; i < n; ++i)
    index[{trees[i], ids[i]}] = i;
  auto child = [&](size_t i, int64_t id) {
    auto it = index.find({trees[i], id});
    return it == index.end() ? int64_t(-1) : it->second;
  };
  e.nodes.resize(n);
  llvm::SmallSet<int64_t, 16> seen;
  SmallVector<std::pair<int64_t, int64_t>> roots;
  for (size_t i = 0; i < n; ++i) {
    StringRef name = cast<StringAttr>(modes[i]).getValue();
    const auto *mode = llvm::find_if(modeNames, [&](auto &m) { return m.first == name; });
    if (mode == std::end(modeNames))
      return unsupported(op, "a node has mode \"" + name +
                                 "\"; supported are BRANCH_LEQ, _LT, _GTE, _GT, _EQ, _NEQ and LEAF");
    e.nodes[i] = {features[i],
                  mode->second,
                  child(i, onTrue[i]),
                  child(i, onFalse[i]),
                  missing.empty() ? 0 : missing[i],
                  splits[i],
                  0,
                  0};
    if (seen.insert(trees[i]).second) // The first node of a tree is its root.
      roots.push_back({trees[i], i});
  }
  llvm::sort(roots);
  for (auto [tree, root] : roots)
    e.roots.push_back(root);

  ArrayRef<int64_t> leafTrees = intsOf(op, what + "_treeids"), leafNodes = intsOf(op, what + "_nodeids"),
                    leafTargets = intsOf(op, what + "_ids");
  if (leafTrees.size() != weights.size() || leafNodes.size() != weights.size() || leafTargets.size() != weights.size())
    return unsupported(op, "attributes " + what + "_treeids, _nodeids, _ids and _weights have different lengths");
  std::vector<SmallVector<size_t, 1>> byNode(n);
  for (size_t i = 0; i < weights.size(); ++i) {
    auto it = index.find({leafTrees[i], leafNodes[i]});
    if (it == index.end())
      return unsupported(op, "a weight belongs to node " + Twine(leafNodes[i]) + " of tree " + Twine(leafTrees[i]) +
                                 ", which does not exist");
    byNode[it->second].push_back(i);
  }
  for (size_t i = 0; i < n; ++i) {
    e.nodes[i].begin = e.targets.size();
    for (size_t k : byNode[i]) {
      e.targets.push_back(leafTargets[k]);
      e.weights.push_back(weights[k]);
    }
    e.nodes[i].end = e.targets.size();
  }
  e.base = floatsOf(op, "base_values");
  return success();
}

static LogicalResult lowerTreeEnsembleRegressor(Operation *o, Lowering &l) {
  auto op = cast<onnx::MLTreeEnsembleRegressorOp>(o);
  Ensemble e;
  if (failed(readTrees(op, "target", e)))
    return failure();
  e.numTargets = op.getNTargets().value_or(1);
  const StringRef *aggregate = llvm::find(aggregates, op.getAggregateFunction());
  if (aggregate == std::end(aggregates))
    return unsupported(op, "attribute aggregate_function \"" + op.getAggregateFunction() +
                               "\"; supported are AVERAGE, SUM, MIN and MAX");
  e.aggregate = *aggregate;
  FailureOr<Lowering::Input> scores = scoresOf(op, l, op.getX(), e);
  if (failed(scores))
    return failure();
  FailureOr<Value> y = postTransform(op, l, *scores, op.getPostTransform());
  if (failed(y))
    return failure();
  scores->lowered = *y;
  setScores(l, op.getY(), *scores);
  return success();
}

static LogicalResult lowerTreeEnsembleClassifier(Operation *o, Lowering &l) {
  auto op = cast<onnx::MLTreeEnsembleClassifierOp>(o);
  Ensemble e;
  if (failed(readTrees(op, "class", e)))
    return failure();
  ArrayRef<int64_t> ints = orEmpty(op.getClasslabelsInt64s());
  ArrayAttr strings = op.getClasslabelsStringsAttr();
  if (strings && strings.empty())
    strings = {};
  int64_t classes = strings ? strings.size() : ints.size();
  if (classes < 2)
    return unsupported(op, "class labels for " + Twine(classes) + " classes; at least 2 are needed");
  // With weights for one class only, that score is for the second class and decides the first.
  llvm::SmallSet<int64_t, 8> scored(op.getClassIds() ? op.getClassIds()->begin() : nullptr,
                                    op.getClassIds() ? op.getClassIds()->end() : nullptr);
  bool binary = scored.size() == 1 && classes == 2;
  e.numTargets = classes;
  if (binary && e.base.size() == 1)
    e.base = {0, e.base[0]};
  if (binary)
    for (int64_t &target : e.targets)
      target = 1;
  FailureOr<Lowering::Input> scores = scoresOf(op, l, op.getX(), e);
  if (failed(scores))
    return failure();
  StringRef kind = op.getPostTransform();
  if (binary) {
    Lowering::Input raw = *scores;
    bool complement = kind == "NONE" || kind == "PROBIT";
    scores->lowered =
        l.generate("binary_scores", raw.elem, raw.dims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
          IndexBuilder m{b, loc};
          ScalarOps s{b, loc, raw.elem};
          Value x = l.load(b, loc, raw.lowered, raw.elem, {at[0], m.cst(1)});
          return s.select(m.eq(at[1], m.cst(1)), x, complement ? s.sub(s.constant(1), x) : s.neg(x));
        });
  }
  FailureOr<Value> z = postTransform(op, l, *scores, kind);
  if (failed(z))
    return failure();
  scores->lowered = *z;
  setScores(l, op.getZ(), *scores);
  l.set(op.getY(),
        l.view(bestLabels(l, *scores, ints, strings),
               strings ? Type(onnx::StringType::get(op.getContext())) : Type(l.b.getI64Type()), l.dims(op.getY())));
  return success();
}

void optc::registerTreeLowerings(LoweringTable &table) {
  static const LoweringRow rows[] = {
      {"onnx.ml.TreeEnsemble", lowerTreeEnsemble},
      {"onnx.ml.TreeEnsembleRegressor", lowerTreeEnsembleRegressor},
      {"onnx.ml.TreeEnsembleClassifier", lowerTreeEnsembleClassifier},
  };
  registerRows(table, rows);
}
