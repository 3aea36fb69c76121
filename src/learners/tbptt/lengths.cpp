#include "learners/tbptt/lengths.h"

#include <algorithm>
#include <vector>

#include "core/names.h"
#include "learners/adaptive_tbptt/decay.h"
#include "learners/support.h"
#include "learners/tbptt/state_ring.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

std::vector<std::string> presets() { return {"custom", "paper", "ref", "plain", "original", "double-tf", "buffer"}; }

/// Rounds of a stream that estimates draw their places from.
int estimation_past(const EstimateConfig& estimate) {
  constexpr int choices = 1000;  // ends of a place
  require_range("estimate", "lags", estimate.lags, 1, 1'000'000);
  require_range("estimate", "burn_in", estimate.burn_in, 0, 1'000'000);
  return estimate.burn_in + estimate.lags + choices;
}

void require_nothing_ahead(const Lengths& lengths, const std::string& preset) {
  if (lengths.ahead > 0)
    refuse("tbptt", "the preset '{}' looks ahead of a window, and a stream has nothing there; take another preset",
           preset);
}

}  // namespace

Lengths preset_lengths(const std::string& preset, int k) {
  if (preset == "paper") return {2 * k + 1, k, k};
  if (preset == "ref") return {2 * k - 1, k, k};
  if (preset == "plain") return {k, k, k};
  if (preset == "original") return {k, 1, 1};
  if (preset == "double-tf") return {2 * k - 1, 2 * k - 1, 2 * k - 1};
  if (preset == "buffer") return {k, k, k, k - 1};
  refuse_unknown("tbptt", "preset", preset, presets());
}

Lengths window_lengths(const LearnerConfig& config) {
  if (config.preset != "custom") {
    const Lengths lengths = preset_lengths(config.preset, std::clamp(config.truncation, 1, 1'000'000'000));
    require_range("tbptt", "truncation", config.truncation, 1, 1'000'000'000);
    if (config.steps != 0 || config.losses != 0 || config.stride != 0)
      refuse("tbptt", "the preset '{}' sets steps, losses and stride from truncation; leave them out, or use 'custom'",
             config.preset);
    return lengths;
  }
  if (config.truncation != 0)
    refuse("tbptt", "truncation belongs to a preset such as paper or plain; custom needs steps, losses, stride");
  if (config.steps < 1) refuse("tbptt", "steps must be at least 1, got {}", config.steps);
  if (config.losses < 1 || config.losses > config.steps)
    refuse("tbptt", "losses must be between 1 and steps ({}), got {}", config.steps, config.losses);
  if (config.stride < 1) refuse("tbptt", "stride must be at least 1, got {}", config.stride);
  return {config.steps, config.losses, config.stride, 0};
}

LearnerConfig adaptive_config(LearnerConfig config, std::int64_t row_steps) {
  config.estimate = with_fitting_lags(config.estimate, row_steps);
  decay_options(config.estimate);
  if (config.preset == "custom") config.preset = "paper";
  if (config.truncation == 0) config.truncation = config.estimate.shortest;
  return config;
}

Lengths longest_lengths(const LearnerConfig& adaptive) {
  return preset_lengths(adaptive.preset, std::max(adaptive.estimate.longest, adaptive.truncation));
}

StreamNeeds tbptt_stream(const LearnerConfig& config) {
  const Lengths lengths = window_lengths(config);
  require_nothing_ahead(lengths, config.preset);
  const EstimateConfig estimate = with_fitting_lags(config.estimate, 0);
  return {lengths.stride, std::max(lengths.steps, estimate.logged > 0 ? estimation_past(estimate) : 0)};
}

StreamNeeds adaptive_tbptt_stream(const LearnerConfig& config) {
  const LearnerConfig chosen = adaptive_config(config, 0);
  const Lengths longest = longest_lengths(chosen);
  require_nothing_ahead(longest, chosen.preset);
  return {longest.stride, std::max(longest.steps + StateRing::spacing, estimation_past(chosen.estimate))};
}

}  // namespace throughtime
