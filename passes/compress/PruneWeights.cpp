//===- PruneWeights.cpp - zeros in place of small weights -----------------===//
//
// Shapes stay. Two patterns: a share of each layer's weights wherever they are, and at most N of M neighbours along the
// axis that the layer sums over (2:4 is what sparse tensor cores take). Neighbours of a convolution are input channels
// at one tap: products over channels-last tensors sum in that order.
//
// Magnitudes of IEEE floats are ordered as their bits without the sign are, so no arithmetic is needed, and NaNs, which
// nothing could stand for, are the largest.
//
//===----------------------------------------------------------------------===//
#include "optc/dialects/onnx/Names.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/passes/compress/Journal.h"
#include "optc/passes/compress/Prune.h"
#include "optc/passes/compress/Weights.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace optc {
#define GEN_PASS_DEF_PRUNEWEIGHTS
#include "optc/passes/compress/Prune.h.inc"
} // namespace optc

using namespace optc;

/// The order of magnitudes: the bits without the sign.
template <typename T> static T keyAt(const char *bytes, int64_t i) {
  T code;
  std::memcpy(&code, bytes + i * sizeof(T), sizeof(T));
  return static_cast<T>(code << 1) >> 1;
}

/// Zeroes the `count` smallest elements, of equal ones the first. Finds the largest that goes digit by digit: no copy
/// of the keys.
template <typename T> static void zeroSmallest(MutableArrayRef<char> bytes, int64_t count) {
  int64_t n = bytes.size() / sizeof(T), below = 0;
  T bound = 0;
  constexpr unsigned digits = sizeof(T) * 8 / 16;
  std::vector<int64_t> histogram(1 << 16);
  for (unsigned digit = digits; digit-- > 0;) {
    unsigned shift = digit * 16;
    std::fill(histogram.begin(), histogram.end(), 0);
    for (int64_t i = 0; i < n; ++i) {
      T key = keyAt<T>(bytes.data(), i);
      // Shifting twice, since a shift by all bits is undefined.
      if (digit + 1 == digits || (key >> shift >> 15 >> 1) == (bound >> shift >> 15 >> 1))
        ++histogram[(key >> shift) & 0xffff];
    }
    unsigned value = 0;
    while (value < 0xffff && below + histogram[value] < count)
      below += histogram[value++];
    bound |= static_cast<T>(static_cast<T>(value) << shift);
  }
  int64_t atBound = count - below;
  for (int64_t i = 0; i < n; ++i) {
    T key = keyAt<T>(bytes.data(), i);
    if (key < bound || (key == bound && atBound-- > 0))
      std::memset(bytes.data() + i * sizeof(T), 0, sizeof(T));
  }
}

/// Zeroes all but the `keep` largest of every `of` neighbours along an axis, of equal ones the last.
template <typename T>
static void zeroNeighbours(MutableArrayRef<char> bytes, ArrayRef<int64_t> shape, int64_t axis, int64_t keep,
                           int64_t of) {
  int64_t inner = 1;
  for (int64_t size : shape.drop_front(axis + 1))
    inner *= size;
  int64_t blocks = bytes.size() / sizeof(T) / (inner * of);
  SmallVector<int64_t> order(of);
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t i = 0; i < inner; ++i) {
      int64_t base = block * of * inner + i;
      for (auto [j, at] : llvm::enumerate(order))
        at = base + j * inner;
      llvm::sort(order, [&](int64_t a, int64_t b) {
        return std::pair(keyAt<T>(bytes.data(), b), a) < std::pair(keyAt<T>(bytes.data(), a), b);
      });
      for (int64_t at : ArrayRef<int64_t>(order).drop_front(keep))
        std::memset(bytes.data() + at * sizeof(T), 0, sizeof(T));
    }
}

/// Calls `f` with a number of as many bytes.
template <typename Fn> static void dispatchWidth(unsigned bytes, Fn f) {
  if (bytes == 2)
    f(uint16_t());
  else if (bytes == 4)
    f(uint32_t());
  else
    f(uint64_t());
}

static int64_t countZeros(const onnx::ConstantBytes &value) {
  int64_t zeros = 0;
  dispatchWidth(value.elementBytes(), [&](auto zero) {
    for (int64_t i = 0, e = value.type().getNumElements(); i < e; ++i)
      zeros += keyAt<decltype(zero)>(value.bytes().data(), i) == 0;
  });
  return zeros;
}

namespace {
struct PruneWeights : optc::impl::PruneWeightsBase<PruneWeights> {
  using PruneWeightsBase::PruneWeightsBase;

  void runOnOperation() override {
    if (magnitude < 0 || magnitude >= 1 || keep < 0 || (keep && (of <= keep || of > 64))) {
      getOperation()->emitError()
          << "optc-prune-weights: magnitude lies in [0, 1), and keep below of, which is at most 64";
      return signalPassFailure();
    }
    // One constant may be the weight of several layers.
    llvm::MapVector<Operation *, SmallVector<WeightOperand>> weights;
    getOperation().walk([&](Operation *op) {
      if (!isLayer(op))
        return;
      SmallVector<WeightOperand> own = weightsOf(op);
      if (own.empty())
        journal.skip(op, method(), "it has no weights that are constants of floats");
      for (WeightOperand &weight : own)
        weights[weight.operand->get().getDefiningOp()].push_back(weight);
    });
    for (auto &[constant, uses] : weights)
      prune(cast<onnx::ConstantOp>(constant), uses);
    journal.store(getOperation());
  }

private:
  std::string method() const {
    std::string text;
    if (keep)
      text = std::to_string(keep) + ":" + std::to_string(of);
    if (magnitude > 0)
      text += (text.empty() ? "" : ",") + PruneJournal::methodName("magnitude", magnitude);
    return text;
  }

  void skip(ArrayRef<WeightOperand> uses, const Twine &reason) {
    ++skipped;
    for (const WeightOperand &use : uses)
      journal.skip(use.operand->getOwner(), method(), reason);
  }

  void prune(onnx::ConstantOp constant, ArrayRef<WeightOperand> uses) {
    for (Operation *user : constant->getUsers())
      if (llvm::none_of(uses, [&](const WeightOperand &use) { return use.operand->getOwner() == user; }))
        return skip(uses, "its weights are also read by " + onnx::describeOp(user) + ", which is no layer");
    onnx::ConstantBytes value(constant.getValue());
    if (!value)
      return skip(uses, "its weights have no bytes");
    int64_t axis = uses.front().reductionAxis;
    ArrayRef<int64_t> shape = value.type().getShape();
    bool inGroups = keep && shape[axis] % of == 0 &&
                    llvm::all_of(uses, [&](const WeightOperand &use) { return use.reductionAxis == axis; });
    if (keep && !inGroups) {
      std::string size = std::to_string(shape[axis]);
      skip(uses, shape[axis] % of ? "it sums over " + size + " inputs, which are not groups of " + std::to_string(of)
                                  : "layers that share its weights sum over different axes of them");
      if (magnitude == 0)
        return;
    }
    ElementsAttr pruned = onnx::makeElements(value.type(), [&](MutableArrayRef<char> bytes) {
      llvm::copy(value.bytes(), bytes.begin());
      dispatchWidth(value.elementBytes(), [&](auto zero) {
        using T = decltype(zero);
        if (inGroups)
          zeroNeighbours<T>(bytes, shape, axis, keep, of);
        if (magnitude > 0)
          zeroSmallest<T>(bytes, static_cast<int64_t>(magnitude * value.type().getNumElements()));
      });
    });
    constant.setValueAttr(pruned);
    ++prunedWeights;
    int64_t zeros = countZeros(onnx::ConstantBytes(pruned));
    for (const WeightOperand &use : uses)
      journal.pruned(use.operand->getOwner(), method(), "weights", value.type().getNumElements(),
                     value.type().getNumElements() - zeros);
  }

  PruneJournal journal;
};
} // namespace
