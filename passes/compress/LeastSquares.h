//===- LeastSquares.h - fit a layer to its outputs --------------*- C++ -*-===//
#ifndef OPTC_PASSES_COMPRESS_LEASTSQUARES_H
#define OPTC_PASSES_COMPRESS_LEASTSQUARES_H
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace optc {

/// Factors a symmetric positive definite matrix of n rows into L * L^T, in place: the lower triangle becomes L. False
/// when it is not positive definite (Golub and Van Loan, "Matrix Computations", 4th edition, algorithm 4.2.1).
bool choleskyFactor(llvm::MutableArrayRef<double> matrix, int64_t n);
/// Solves L * L^T * x = b, in place.
void choleskySolve(llvm::ArrayRef<double> factor, int64_t n, llvm::MutableArrayRef<double> b);

/// Finds W and b of  min sum |y - W x - b|^2 + ridge * |W - W0|^2  over samples, by its normal equations in double
/// precision. This is how He et al. reconstruct layers ("Channel Pruning for Accelerating Very Deep Neural Networks",
/// ICCV 2017, section 3.1), with the pull towards W0, since few samples leave directions open.
class LeastSquares {
public:
  /// Without a bias, b stays what it is.
  LeastSquares(int64_t inputs, int64_t outputs, bool hasBias = true)
      : inputs(inputs), outputs(outputs), one(hasBias), gram((inputs + 1) * (inputs + 1)),
        cross((inputs + 1) * outputs) {}

  void add(llvm::ArrayRef<float> x, llvm::ArrayRef<float> y);
  int64_t count() const { return samples; }

  /// `weights` is W0, [outputs][inputs], and becomes W; `bias` likewise. `ridge` is relative to the mean square of the
  /// inputs. The mean square of what is left before and after comes with it; false when the system has no solution, or
  /// none that is better.
  bool solve(double ridge, llvm::MutableArrayRef<double> weights, llvm::MutableArrayRef<double> bias);
  /// The mean square of y - W x - b per output.
  double error(llvm::ArrayRef<double> weights, llvm::ArrayRef<double> bias) const;

private:
  int64_t inputs, outputs, samples = 0;
  double one; ///< behind the inputs, for the bias
  /// Sums of [x, 1] [x, 1]^T (lower triangle), of [x, 1] y^T, and of y^2.
  std::vector<double> gram, cross;
  double squares = 0;
};

} // namespace optc
#endif
