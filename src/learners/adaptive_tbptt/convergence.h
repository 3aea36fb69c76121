#pragma once

#include <span>

namespace throughtime {

/// What Theorem 2 of Aicher, Foti and Fox (2019) knows about a loss and its stochastic gradient.
struct ConvergenceConstants {
  double decrease = 0;    // D_L = L(W_1) - min L
  double smoothness = 0;  // L: the gradient is Lipschitz with this constant
  double variance = 0;    // sigma^2 of the stochastic gradient
  double bias = 0;        // delta: bound of the relative bias, below 1
};

/// The largest rate that the theorem allows: (1 - delta) / (L (1 + delta)^2).
double largest_rate(const ConvergenceConstants& constants);
/// Its bound of min_n |g(W_n)|^2 after one step with each rate; refuses rates that are too large.
double gradient_bound(const ConvergenceConstants& constants, std::span<const double> rates);
/// The constant rate with the smallest bound after `steps` steps, were it allowed, and that bound.
double best_constant_rate(const ConvergenceConstants& constants, int steps);
double best_gradient_bound(const ConvergenceConstants& constants, int steps);
/// How much larger the bound is than that of an unbiased gradient with the same rates: 1 / (1 - delta).
double bias_factor(double delta);

}  // namespace throughtime
