#pragma once

#include <cmath>
#include <span>

#include "learners/adaptive_tbptt/decay.h"
#include "throughtime/error.h"

namespace throughtime::testing {

/// What Theorem 2 of Aicher, Foti and Fox (2019) knows about a loss and its stochastic gradient.
struct ConvergenceConstants {
  double decrease = 0;    // D_L = L(W_1) - min L
  double smoothness = 0;  // L: the gradient is Lipschitz with this constant
  double variance = 0;    // sigma^2 of the stochastic gradient
  double bias = 0;        // delta: bound of the relative bias, below 1
};

inline void check(const ConvergenceConstants& constants) {
  if (!(constants.bias >= 0 && constants.bias < 1))
    refuse("convergence", "the relative bias must be at least 0 and below 1, got {}", constants.bias);
  if (!(constants.smoothness > 0))
    refuse("convergence", "the smoothness must be positive, got {}", constants.smoothness);
  if (!(constants.decrease >= 0)) refuse("convergence", "the decrease must be 0 or more, got {}", constants.decrease);
  if (!(constants.variance >= 0)) refuse("convergence", "the variance must be 0 or more, got {}", constants.variance);
}

inline void check_steps(const ConvergenceConstants& constants, int steps) {
  check(constants);
  if (steps < 1) refuse("convergence", "steps must be at least 1, got {}", steps);
  if (constants.variance == 0) refuse("convergence", "without variance no rate is best; take the largest");
}

inline double largest_rate(const ConvergenceConstants& constants) {
  check(constants);
  return (1 - constants.bias) / (constants.smoothness * (1 + constants.bias) * (1 + constants.bias));
}

inline double gradient_bound(const ConvergenceConstants& constants, std::span<const double> rates) {
  const double largest = largest_rate(constants);
  double sum = 0, squares = 0;
  for (const double rate : rates) {
    if (!(rate > 0 && rate <= largest))
      refuse("convergence", "a rate must be positive and at most {}, got {}", largest, rate);
    sum += rate;
    squares += rate * rate;
  }
  if (rates.empty()) refuse("convergence", "the bound needs at least 1 step");
  return (2 * constants.decrease + constants.smoothness * constants.variance * squares) * bias_factor(constants.bias) /
         sum;
}

inline double best_constant_rate(const ConvergenceConstants& constants, int steps) {
  check_steps(constants, steps);
  return std::sqrt(2 * constants.decrease / (steps * constants.smoothness * constants.variance));
}

inline double best_gradient_bound(const ConvergenceConstants& constants, int steps) {
  check_steps(constants, steps);
  return bias_factor(constants.bias) *
         std::sqrt(8 * constants.decrease * constants.smoothness * constants.variance / steps);
}

}  // namespace throughtime::testing
