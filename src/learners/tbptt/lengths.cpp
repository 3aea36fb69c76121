#include "learners/tbptt/lengths.h"

#include <cmath>

#include "throughtime/error.h"

namespace throughtime {

Lengths preset_lengths(TbpttPreset preset, int k) {
  switch (preset) {
    case TbpttPreset::paper:
      return {2 * k + 1, k, k};
    case TbpttPreset::ref:
      return {2 * k - 1, k, k};
    case TbpttPreset::plain:
      return {k, k, k};
    case TbpttPreset::original:
      return {k, 1, 1};
    case TbpttPreset::double_tf:
      return {2 * k - 1, 2 * k - 1, 2 * k - 1};
    case TbpttPreset::buffer:
      return {k, k, k, k - 1};
    case TbpttPreset::custom:
      break;
  }
  refuse("tbptt", "the preset 'custom' has no truncation; it needs steps, losses and stride");
}

Lengths window_lengths(const TbpttConfig& config) {
  if (config.preset != TbpttPreset::custom) {
    require_range("tbptt", "truncation", config.truncation, 1, truncation_limit);
    if (config.steps != 0 || config.losses != 0 || config.stride != 0)
      refuse("tbptt", "the preset '{}' sets steps, losses and stride from truncation; leave them out, or use 'custom'",
             name_of(config.preset));
    return preset_lengths(config.preset, config.truncation);
  }
  if (config.truncation != 0)
    refuse("tbptt", "truncation belongs to a preset such as paper or plain; custom needs steps, losses, stride");
  if (config.steps < 1) refuse("tbptt", "steps must be at least 1, got {}", config.steps);
  if (config.losses < 1 || config.losses > config.steps)
    refuse("tbptt", "losses must be between 1 and steps ({}), got {}", config.steps, config.losses);
  if (config.stride < 1) refuse("tbptt", "stride must be at least 1, got {}", config.stride);
  require_range("tbptt", "steps", config.steps, 1, truncation_limit);
  require_range("tbptt", "stride", config.stride, 1, truncation_limit);
  return {config.steps, config.losses, config.stride};
}

double rate_factor(RateScaling scaling, int k) {
  switch (scaling) {
    case RateScaling::sqrt:
      return std::sqrt(k);
    case RateScaling::linear:
      return k;
    case RateScaling::none:
      break;
  }
  return 1;
}

void require_nothing_ahead(std::string_view speaker, TbpttPreset preset, const Lengths& lengths) {
  if (lengths.ahead > 0)
    refuse(speaker, "the preset '{}' looks ahead of a window, and a stream has nothing there; take another preset",
           name_of(preset));
}

}  // namespace throughtime
