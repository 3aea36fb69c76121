#include "learners/fpp/fpp.h"
#include "throughtime/error.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

constexpr const char* speaker = "sliding_tbptt";

/// T-BPTT from the state that was stored when it was the newest is FPP on the newest trajectory alone, with no penalty
/// and states that stay.
FppConfig as_fpp(const SlidingTbpttConfig& config) {
  FppConfig sliding;
  sliding.steps = config.steps;
  sliding.buffer = config.steps;
  sliding.sample = FppSample::newest;
  sliding.penalise = FppPenalise::none;
  sliding.state_rate = 0;
  return sliding;
}

}  // namespace

void check_learner(const SlidingTbpttConfig& config, const Model&, const StretchShape&) {
  require_range(speaker, "steps (T)", config.steps, 1, 1'000'000'000);
}

std::unique_ptr<Learner> make_learner(const SlidingTbpttConfig& config, Trainee& trainee, const StretchShape& shape) {
  check_learner(config, trainee.engine.model(), shape);
  return std::make_unique<Fpp>(speaker, as_fpp(config), config.start, trainee, shape);
}

StreamNeeds stream_needs(const SlidingTbpttConfig&) { return {}; }

void describe(SlidingTbpttConfig& config, OptionList& list) {
  list.add("steps", config.steps, "T, how many steps each update goes back, at least 1", between(0, 1e9));
  list.add("start", config.start,
           "stored: a window starts from the stored state; shifted: from the last state of the window before");
}

}  // namespace throughtime
