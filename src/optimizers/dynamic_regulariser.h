#pragma once

#include <cstddef>

namespace throughtime {

/// The two passes of FPTT's regulariser over (a part of) the flat vector, before and after the optimizer's.
template <class Real>
struct RegulariserKernels {
  /// Squares summed over the part.
  struct Squares {
    double total = 0, loss = 0, regulariser = 0;
  };
  /// gradient [n] <- scale * gradient - lambda + pull (W - average), where pull = penalty alpha.
  Squares (*add_terms)(std::size_t n, Real scale, Real pull, const Real* weights, const Real* average,
                       const Real* multiplier, Real* gradient) = nullptr;
  /// lambda -= alpha (W - average); average = (1 - b) average + b W - (b / alpha) lambda. Returns |W - average|^2.
  double (*settle)(std::size_t n, Real alpha, Real averaging, const Real* weights, Real* average,
                   Real* multiplier) = nullptr;
};

RegulariserKernels<double> reference_regulariser();
RegulariserKernels<float> fast_regulariser();

}  // namespace throughtime
