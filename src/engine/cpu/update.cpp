#include "engine/cpu/update.h"

#include <algorithm>
#include <cmath>

#include "core/denormals.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

namespace {

constexpr std::size_t kBlock = 16384;  // numbers that one task handles
constexpr std::size_t kMostMoments = 4;

}  // namespace

/// Calls task(number of the block, where it begins, its size).
template <class Task>
void Updater::for_each_block(std::size_t size, ThreadPool& pool, const Task& task) {
  const std::size_t blocks = (size + kBlock - 1) / kBlock;
  if (partial_.size() < blocks) partial_.resize(blocks);
  pool.run(static_cast<int>(blocks), [&](int i) {
    const std::size_t begin = elements(i, kBlock);
    task(elements(i), begin, std::min(kBlock, size - begin));
  });
}

/// The whole gradient in place of the loss gradient, and the squares of its parts.
Updater::Squares Updater::add_terms(const UpdateCall& call, const UpdateArrays& arrays, ThreadPool& pool) {
  const auto scale = static_cast<float>(call.gradient_scale);
  const auto pull = static_cast<float>(call.regulariser->penalty * call.regulariser->alpha);
  for_each_block(arrays.size, pool, [&](std::size_t block, std::size_t at, std::size_t count) {
    partial_[block] = regulariser_.add_terms(count, scale, pull, arrays.weights + at, arrays.average + at,
                                             arrays.multiplier + at, arrays.gradient + at);
  });
  Squares sum;
  for (std::size_t block = 0; block < (arrays.size + kBlock - 1) / kBlock; ++block) {
    sum.total += partial_[block].total;
    sum.loss += partial_[block].loss;
    sum.regulariser += partial_[block].regulariser;
  }
  return sum;
}

double Updater::squares(const UpdateArrays& arrays, ThreadPool& pool) {
  for_each_block(arrays.size, pool, [&](std::size_t block, std::size_t at, std::size_t count) {
    partial_[block].total = products_.sum_of_squares(count, arrays.gradient + at);
  });
  double sum = 0;
  for (std::size_t block = 0; block < (arrays.size + kBlock - 1) / kBlock; ++block) sum += partial_[block].total;
  return sum;
}

/// scale times the shrinkage of the global norm. Where single values are clamped too, the norm is that of the clamped
/// gradient, so they are clamped here already.
double Updater::clip_factor(const UpdateCall& call, const UpdateArrays& arrays, double scale, double clip_value,
                            double norm, ThreadPool& pool) {
  if (call.clip.norm == 0) return scale;
  if (clip_value > 0) {
    const auto bound = static_cast<float>(clip_value);
    for (std::size_t i = 0; i < arrays.size; ++i) arrays.gradient[i] = std::clamp(arrays.gradient[i], -bound, bound);
    norm = std::abs(scale) * std::sqrt(squares(arrays, pool));
  }
  return scale * std::min(1.0, call.clip.norm / (norm + 1e-6));
}

/// Optimizer and regulariser on each block; returns |W - W-bar|^2.
double Updater::step(const UpdateCall& call, HostOptimizer<float>& optimizer, const UpdateArrays& arrays, float factor,
                     float clip_value, ThreadPool& pool) {
  const UpdateCoefficients coefficients = optimizer.type.coefficients(optimizer.config, ++optimizer.step, call.rate);
  const OptimizerType::Fast update = optimizer.type.fast();
  const DynamicRegulariser* terms = call.regulariser;
  for_each_block(arrays.size, pool, [&](std::size_t block, std::size_t at, std::size_t count) {
    float* moments[kMostMoments] = {};
    for (std::size_t k = 0; k < optimizer.pointers.size(); ++k) moments[k] = optimizer.pointers[k] + at;
    update(coefficients, count, factor, clip_value, arrays.gradient + at, arrays.weights + at, moments);
    if (terms && terms->settle)
      partial_[block].total =
          regulariser_.settle(count, static_cast<float>(terms->alpha), static_cast<float>(terms->averaging),
                              arrays.weights + at, arrays.average + at, arrays.multiplier + at);
  });
  double distance = 0;
  if (terms && terms->settle)
    for (std::size_t block = 0; block < (arrays.size + kBlock - 1) / kBlock; ++block) distance += partial_[block].total;
  return distance;
}

void Updater::run(const UpdateCall& call, HostOptimizer<float>& optimizer, const UpdateArrays& arrays,
                  ThreadPool& pool) {
  if (optimizer.moments.size() > kMostMoments)
    refuse("apply_update", "an optimizer may have {} moments at most, got {}", kMostMoments, optimizer.moments.size());
  const FlushDenormals flush;  // once, not for each pass
  double scale = call.gradient_scale, norm = 0;
  Squares parts;
  if (call.regulariser) {
    parts = add_terms(call, arrays, pool);
    scale = 1;
    norm = std::sqrt(parts.total);
  } else if (arrays.norm || call.clip.norm > 0) {
    norm = std::abs(scale) * std::sqrt(squares(arrays, pool));
  }
  if (arrays.norm) *arrays.norm = static_cast<float>(norm);

  // The kernel clamps before it multiplies: clamp(g s, c) = s clamp(g, c / |s|).
  const double clip_value = call.clip.value > 0 ? call.clip.value / std::abs(scale) : 0.0;
  const double factor = clip_factor(call, arrays, scale, clip_value, norm, pool);
  const double distance =
      step(call, optimizer, arrays, static_cast<float>(factor), static_cast<float>(clip_value), pool);
  if (!arrays.diagnostics || !call.regulariser || !call.regulariser->settle) return;
  arrays.diagnostics[0] = static_cast<float>(std::sqrt(parts.loss));
  arrays.diagnostics[1] = static_cast<float>(std::sqrt(parts.regulariser));
  arrays.diagnostics[2] = static_cast<float>(std::sqrt(distance));
}

}  // namespace throughtime::cpu
