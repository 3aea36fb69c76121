#include "learners/fpp/schedule.h"

#include <algorithm>
#include <cmath>

namespace throughtime {
namespace {

constexpr int last_phase = 4;

}  // namespace

int FppSchedule::phase(std::int64_t step) const {
  const std::int64_t phase = config_.phase_steps > 0 ? step / config_.phase_steps : 0;
  // The released code goes on dividing for as long as it runs.
  const std::int64_t most =
      config_.variant == FppVariant::random && config_.chance == FppChance::divided ? 10'000 : last_phase;
  return static_cast<int>(std::min(phase, most));
}

FppPlan FppSchedule::decayed(int phase) const {
  const int T = config_.steps;
  if (phase >= last_phase) return {1, T};
  if (config_.decay == FppDecay::subtractive) return {std::max(1, T - 2 * phase), std::min(T, 1 + 2 * phase)};
  return {std::max(1, T >> phase), std::min(T, 1 << phase)};
}

double FppSchedule::chance(int phase) const {
  if (config_.chance == FppChance::multiplicative) return std::pow(0.8, phase);
  if (config_.chance == FppChance::divided) return std::pow(1.2, -phase);
  return 1 - 0.2 * phase;
}

FppPlan FppSchedule::plan(std::int64_t step, double coin) const {
  if (config_.variant == FppVariant::decay) return decayed(phase(step));
  if (config_.variant == FppVariant::random && coin >= chance(phase(step))) return {1, config_.steps};
  return {config_.steps, config_.updates};
}

double FppSchedule::lambda(std::int64_t step) const {
  if (config_.lambda_growth == 1) return config_.lambda;
  const double grown = config_.lambda * std::pow(config_.lambda_growth, static_cast<double>(step) / 1000);
  return config_.lambda_most > 0 ? std::min(grown, config_.lambda_most) : grown;
}

int FppSchedule::most_updates() const {
  return config_.variant == FppVariant::plain ? config_.updates : std::max(config_.updates, config_.steps);
}

}  // namespace throughtime
