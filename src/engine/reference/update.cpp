#include <algorithm>
#include <cmath>

#include "engine/reference/engine_class.h"
#include "optimizers/dynamic_regulariser.h"

namespace throughtime::reference {

void ReferenceEngine::apply_update(const UpdateCall& call) {
  check_update(call);
  HostOptimizer<double>& optimizer = own(call.optimizer);
  const std::size_t size = call.target.size;
  const DynamicRegulariser* terms = call.regulariser;
  double* gradient = change(call.gradient);
  double* weights = change(call.target);

  double scale = call.gradient_scale;
  RegulariserKernels<double>::Squares parts;
  if (terms) {
    parts = reference_regulariser().add_terms(size, scale, terms->penalty * terms->alpha, weights,
                                              numbers(terms->average), numbers(terms->multiplier), gradient);
    scale = 1;
  }
  double squares = 0, clamped_squares = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double scaled = gradient[i] * scale;
    const double bound = call.clip.value > 0 ? call.clip.value : HUGE_VAL;
    const double clamped = std::min(std::max(scaled, -bound), bound);
    squares += scaled * scaled;
    clamped_squares += clamped * clamped;
  }
  if (call.norm) *change(call.norm) = std::sqrt(squares);
  double factor = scale;
  if (call.clip.norm > 0) factor *= std::min(1.0, call.clip.norm / (std::sqrt(clamped_squares) + 1e-6));

  // The kernel clamps before it multiplies: clamp(g s, c) = s clamp(g, c / |s|).
  const double clip_value = call.clip.value > 0 ? call.clip.value / std::abs(scale) : 0.0;
  for (std::size_t k = 0; k < optimizer.moments.size(); ++k) optimizer.pointers[k] = change(optimizer.moments[k]);
  const auto coefficients = optimizer.type.coefficients(optimizer.config, ++optimizer.step, call.rate);
  optimizer.type.reference(coefficients, size, factor, clip_value, gradient, weights, optimizer.pointers.data());

  if (!terms || !terms->settle) return;
  const double distance = reference_regulariser().settle(size, terms->alpha, terms->averaging, weights,
                                                         change(terms->average), change(terms->multiplier));
  if (!terms->diagnostics) return;
  double* diagnostics = change(terms->diagnostics);
  diagnostics[0] = std::sqrt(parts.loss);
  diagnostics[1] = std::sqrt(parts.regulariser);
  diagnostics[2] = std::sqrt(distance);
}

}  // namespace throughtime::reference
