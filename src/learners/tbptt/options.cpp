#include "learners/tbptt/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "learners/adaptive_tbptt/estimator.h"
#include "learners/support.h"
#include "learners/tbptt/plan.h"

namespace throughtime {

void describe(TbpttConfig& config, OptionList& list) {
  list.add("preset", config.preset, std::string(preset_help) + "you give all three instead of K");
  list.add("truncation", config.truncation, "K, the truncation in steps; every preset but custom needs it",
           between(0, truncation_limit));
  list.add("steps", config.steps, "preset = custom: steps of a window", between(0, truncation_limit));
  list.add("losses", config.losses, "preset = custom: how many steps at the end of a window have a loss", at_least(0));
  list.add("stride", config.stride, "preset = custom: steps from one window to the next", between(0, truncation_limit));
  describe_windows(config, list);
  describe(config.estimate, list);
}

void check_learner(const TbpttConfig& config, const Model& model, const StretchShape& shape) {
  check_shape(shape);
  check_chunks("tbptt", {config.chunk, config.ref_stream});
  window_lengths(config);
  if (config.estimate.logged > 0) check_estimates(config.estimate, model, shape);
}

std::vector<std::string> learner_notes(const TbpttConfig& config, const StretchShape& shape,
                                       const OptimizerConfig& optimizer) {
  const bool custom = config.preset == TbpttPreset::custom;
  const int longest = custom ? config.steps : config.truncation;
  std::vector<std::string> notes = rate_notes("tbptt", config.rate_scaling, optimizer);
  if (longest > shape.steps)
    notes.push_back(
        fmt::format("learner.tbptt.{} = {} is longer than the {} steps of a sequence: nothing is cut off within it",
                    custom ? "steps" : "truncation", longest, shape.steps));
  return notes;
}

std::vector<std::string> rate_notes(std::string_view learner, RateScaling scaling, const OptimizerConfig& optimizer) {
  if (scaling == RateScaling::none || !find_optimizer(optimizer.name).scale_free) return {};
  return {
      fmt::format("advice: learner.{}.rate_scaling = \"{}\" is for steps that grow with the gradient, and those of {} "
                  "do not; \"none\" did better here (docs/adaptive-tbptt.md)",
                  learner, name_of(scaling), optimizer.name)};
}

StreamNeeds stream_needs(const TbpttConfig& config) {
  const Lengths lengths = window_lengths(config);
  require_nothing_ahead("tbptt", config.preset, lengths);
  const int past = config.estimate.logged > 0 ? stream_past(config.estimate) : 0;
  return {lengths.stride, std::max(lengths.steps, past)};
}

EstimateSettings estimate_settings(const TbpttConfig& config) {
  const bool looks_back = config.preset == TbpttPreset::paper || config.preset == TbpttPreset::ref;
  return {config.estimate, looks_back ? config.truncation : 0};
}

}  // namespace throughtime
