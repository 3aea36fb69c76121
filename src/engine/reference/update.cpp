#include <algorithm>
#include <cmath>

#include "engine/reference/engine_class.h"

namespace throughtime::reference {

void ReferenceEngine::apply_update(const UpdateCall& call) {
  check_update(call);
  HostOptimizer<double>& optimizer = own(call.optimizer);
  const std::size_t size = call.target.size;
  double* gradient = change(call.gradient);
  if (config_.communicator) config_.communicator->all_reduce_sum(std::span<double>(gradient, size));

  double squares = 0, clamped_squares = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double scaled = gradient[i] * call.gradient_scale;
    const double bound = call.clip.value > 0 ? call.clip.value : HUGE_VAL;
    const double clamped = std::min(std::max(scaled, -bound), bound);
    squares += scaled * scaled;
    clamped_squares += clamped * clamped;
  }
  if (call.norm) *change(call.norm) = std::sqrt(squares);
  double factor = call.gradient_scale;
  if (call.clip.norm > 0) factor *= std::min(1.0, call.clip.norm / (std::sqrt(clamped_squares) + 1e-6));

  // The kernel clamps before it multiplies: clamp(g s, c) = s clamp(g, c / |s|).
  const double clip_value = call.clip.value > 0 ? call.clip.value / std::abs(call.gradient_scale) : 0.0;
  for (std::size_t k = 0; k < optimizer.moments.size(); ++k) optimizer.pointers[k] = change(optimizer.moments[k]);
  const auto coefficients = optimizer.type.coefficients(optimizer.config, ++optimizer.step, call.rate);
  optimizer.type.reference(coefficients, size, factor, clip_value, gradient, change(call.target),
                           optimizer.pointers.data());
}

}  // namespace throughtime::reference
