#include <fmt/format.h>

#include <cmath>

#include "train/diagnose/diagnosis.h"

// What a diagnosis means, in words.

namespace throughtime {
namespace {

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

std::string decay_text(const Diagnosis& diagnosis) {
  if (std::isnan(diagnosis.beta)) return "Some gradients are no numbers, so nothing can be said about their decay.";
  if (diagnosis.beta == 0)
    return fmt::format("Geometric decay: met. From lag {} on gradients are zero to the last digit.", diagnosis.tail);
  if (diagnosis.decays)
    return fmt::format("Geometric decay: met. From lag {} on gradients shrink to {:.4f} of their size per step.",
                       diagnosis.tail, diagnosis.beta);
  return fmt::format(
      "Geometric decay: not met. From lag {} on gradients do not shrink ({:.4f} a step), so no truncation can "
      "be trusted; look at more lags (--lags), or use learner.name = \"bptt\".",
      diagnosis.tail, diagnosis.beta);
}

/// The smallest delta that some K reaches.
std::string choice_text(const Diagnosis& diagnosis) {
  for (auto choice = diagnosis.choices.rbegin(); choice != diagnosis.choices.rend(); ++choice) {
    if (!choice->reached) continue;
    return fmt::format(
        "To keep the bias of the gradient below {}, set learner.name = \"tbptt\", learner.tbptt.preset = \"paper\", "
        "learner.tbptt.truncation = {}; or learner.name = \"adaptive_tbptt\" with learner.adaptive_tbptt.delta = {}, "
        "which looks again as training goes on.",
        percent(choice->delta), choice->truncation, choice->delta);
  }
  return fmt::format(
      "No K up to {} keeps the bias below {}: back-propagate through whole sequences (learner.name = "
      "\"bptt\"), or look at more lags (--lags).",
      diagnosis.longest, percent(diagnosis.choices.front().delta));
}

std::string own_text(const Diagnosis& diagnosis) {
  const int k = std::min(diagnosis.truncation, diagnosis.lags);
  const TruncationFacts& facts = diagnosis.lengths[k];
  std::string text = fmt::format("The configuration's own K = {} has an estimated bias {} {}", diagnosis.truncation,
                                 k < diagnosis.truncation ? "of at most" : "of",
                                 std::isfinite(facts.relative_bias) ? percent(facts.relative_bias) : "without bound");
  if (facts.measured_bias) text += fmt::format(", a measured one of {}", percent(*facts.measured_bias));
  return text + ".";
}

}  // namespace

std::vector<std::string> advice_of(const Diagnosis& diagnosis) {
  std::vector<std::string> advice = {decay_text(diagnosis)};
  if (diagnosis.decays) advice.push_back(choice_text(diagnosis));
  if (diagnosis.truncation > 0) advice.push_back(own_text(diagnosis));
  if (!diagnosis.measured.empty())
    advice.push_back(fmt::format("The true bias was not measured: {}.", diagnosis.measured));
  return advice;
}

}  // namespace throughtime
