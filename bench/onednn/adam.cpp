#include "bench/onednn/adam.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace throughtime::bench {
namespace {

constexpr double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, largest_norm = 1;

double norm_of(const float* values, std::size_t size) {
  constexpr std::size_t lanes = 16;  // sums side by side, so that the compiler may use whole registers
  double sums[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double value = values[i + lane];
      sums[lane] += value * value;
    }
  for (; i < size; ++i) sums[0] += static_cast<double>(values[i]) * values[i];
  double sum = 0;
  for (const double part : sums) sum += part;
  return std::sqrt(sum);
}

}  // namespace

// Compiled without errno of square roots (CMakeLists.txt): the loop is a vector loop then.
void Adam::update(double rate, const float* gradient, float* weights) {
  ++updates_;
  const std::size_t size = first_.size();
  const auto scale = static_cast<float>(std::min(1.0, largest_norm / (norm_of(gradient, size) + 1e-6)));
  const double root = std::sqrt(1 - std::pow(beta2, updates_));
  const auto step = static_cast<float>(rate * root / (1 - std::pow(beta1, updates_)));
  const auto least = static_cast<float>(epsilon * root);
  const auto a = static_cast<float>(1 - beta1), b = static_cast<float>(1 - beta2);
  float *first = first_.data(), *second = second_.data();
#pragma omp simd
  for (std::size_t i = 0; i < size; ++i) {
    const float g = gradient[i] * scale;
    first[i] += a * (g - first[i]);
    second[i] += b * (g * g - second[i]);
    weights[i] -= step * first[i] / (std::sqrt(second[i]) + least);
  }
}

}  // namespace throughtime::bench
