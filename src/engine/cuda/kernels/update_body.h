// The numbers of ONE parameter in an update, for host and device; update.cu walks over all of them.
#pragma once

#include <cmath>
#include <limits>

#ifndef THROUGHTIME_NUMBERS
#define THROUGHTIME_NUMBERS "engine/cuda/numbers.h"
#endif
#include "engine/cuda/kernels/update.h"
#include "optimizers/dynamic_regulariser-inl.h"
#include "optimizers/rule-inl.h"

namespace throughtime::cuda {

/// Sums of squares over the gradient, before the step.
struct Squares {
  double total = 0;        // of the gradient that is clipped
  double clamped = 0;      // of the same with every number clamped
  double loss = 0;         // of the loss' part of it
  double regulariser = 0;  // of the regulariser's part
};

/// What multiplies the gradient after FPTT's terms have joined: they have met a scaled one.
THROUGHTIME_INLINE double scale_left(const Update& call, const UpdateNumbers& numbers) {
  return call.regularised ? 1.0 : numbers.gradient_scale;
}

/// The kernels clamp before they scale: clamp(g s, c) = s clamp(g, c / |s|).
THROUGHTIME_INLINE float clamp_bound(const Update& call, const UpdateNumbers& numbers) {
  if (numbers.clip_value <= 0) return std::numeric_limits<float>::infinity();
  return static_cast<float>(numbers.clip_value / std::abs(scale_left(call, numbers)));
}

/// The numbers of the pass before the step, the same for all parameters.
struct TermNumbers {
  float scale, pull, bound;
  THROUGHTIME_INLINE TermNumbers(const Update& call, const UpdateNumbers& numbers)
      : scale(static_cast<float>(numbers.gradient_scale)),
        pull(static_cast<float>(numbers.pull)),
        bound(clamp_bound(call, numbers)) {}
};

/// The loss' gradient with FPTT's terms.
THROUGHTIME_INLINE float join_terms(const TermNumbers& k, float gradient, float weight, float average, float multiplier,
                                    Squares& squares) {
  const float scaled = k.scale * gradient;
  const float term = DynamicTerms::gradient(k.pull, weight, average, multiplier);
  squares.loss += static_cast<double>(scaled) * scaled;
  squares.regulariser += static_cast<double>(term) * term;
  return scaled + term;
}

THROUGHTIME_INLINE void add_squares(const TermNumbers& k, float gradient, Squares& squares) {
  squares.total += static_cast<double>(gradient) * gradient;
  if (k.bound == std::numeric_limits<float>::infinity()) return;
  const double clamped = clamp(gradient, k.bound);
  squares.clamped += clamped * clamped;
}

/// Of the gradient as it is before it is clipped.
THROUGHTIME_INLINE double gradient_norm(const Update& call, const UpdateNumbers& numbers, const Squares& squares) {
  return std::abs(scale_left(call, numbers)) * std::sqrt(squares.total);
}

/// What multiplies the clamped gradient.
THROUGHTIME_INLINE double clip_factor(const Update& call, const UpdateNumbers& numbers, const Squares& squares) {
  const double scale = scale_left(call, numbers);
  if (!call.clipped || numbers.clip_norm <= 0) return scale;
  const double norm = std::abs(scale) * std::sqrt(numbers.clip_value > 0 ? squares.clamped : squares.total);
  const double shrinkage = numbers.clip_norm / (norm + 1e-6);
  return scale * (shrinkage < 1 ? shrinkage : 1.0);
}

/// The numbers of the step, the same for all parameters.
struct StepNumbers {
  Coefficients<float> coefficients;
  float factor, bound;
  float alpha, averaging, averaging_over_alpha;

  THROUGHTIME_INLINE StepNumbers(const Update& call, const UpdateNumbers& numbers, const Squares& squares)
      : coefficients(numbers.coefficients),
        factor(static_cast<float>(clip_factor(call, numbers, squares))),
        bound(clamp_bound(call, numbers)),
        alpha(static_cast<float>(numbers.alpha)),
        averaging(static_cast<float>(numbers.averaging)),
        averaging_over_alpha(averaging / alpha) {}
};

template <class Rule>
THROUGHTIME_INLINE void step_one(const StepNumbers& k, float gradient, float& weight, float* moment) {
  update_one<Rule, float>(k.coefficients, k.factor, k.bound, gradient, weight, moment);
}

/// W-bar and lambda after the step; returns the square of W - W-bar.
THROUGHTIME_INLINE double settle_one(const StepNumbers& k, float weight, float& average, float& multiplier) {
  DynamicTerms::settle(k.alpha, k.averaging, k.averaging_over_alpha, weight, average, multiplier);
  const double distance = static_cast<double>(weight) - average;
  return distance * distance;
}

}  // namespace throughtime::cuda
