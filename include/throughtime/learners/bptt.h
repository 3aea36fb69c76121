#pragma once

#include "throughtime/learners/method.h"
#include "throughtime/learners/terminal_losses.h"

namespace throughtime {

/// The tape of the whole stretch, or of about sqrt(T) steps with one more forward pass.
enum class BpttMemory { full, recompute };
constexpr auto names_of(BpttMemory) { return choice_names("full", "recompute"); }

/// Back-propagation through time.
struct BpttConfig {
  BpttMemory memory = BpttMemory::full;
  bool aux_losses = false;  // FPTT's losses at the ends of windows, one update on their mean
  // Of aux_losses:
  int windows = 0;        // K, windows of a sequence; or window_length
  int window_length = 0;  // steps of a window, instead of K
  Remainder remainder = Remainder::automatic;
  TerminalConfig terminal = {};
};

/// Refuses settings that cannot work on stretches of that shape.
void check_learner(const BpttConfig& config, const Model& model, const StretchShape& shape);
std::unique_ptr<Learner> make_learner(const BpttConfig& config, Trainee& trainee, const StretchShape& shape);
StreamNeeds stream_needs(const BpttConfig& config);
void describe(BpttConfig& config, OptionList& list);

}  // namespace throughtime
