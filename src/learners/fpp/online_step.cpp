#include "learners/fpp/online_step.h"

#include <algorithm>
#include <numeric>

#include "throughtime/index.h"

namespace throughtime {

OnlineStep::OnlineStep(Engine& engine, FppFeed feed, const Transitions& transitions, StateCells& cells)
    : engine_(engine), feed_(feed), transitions_(transitions), cells_(cells) {
  const int streams = transitions.rows();
  tape_ = engine.make_tape({.steps = 1, .batch = streams, .keep = Keep::nothing});
  state_ = engine.allocate(elements(streams, engine.model().state_size()));
  window_.steps = 1;
  window_.batch = streams;
  window_.source.resize(elements(streams));
  std::iota(window_.source.begin(), window_.source.end(), 0);
  window_.start.resize(elements(streams));
  window_.weight.resize(elements(streams));
  window_.flags.reserve(elements(streams));
  begins_.resize(elements(streams));
}

void OnlineStep::run(Buffer parameters, Buffer loss_sum, Buffer correct_sum) {
  const std::int64_t t = transitions_.newest();
  aim(t);
  if (feed_ == FppFeed::buffer) cells_.read(t - 1, state_);
  engine_.unroll({.window = window_,
                  .parameters = parameters,
                  .tape = *tape_,
                  .training = false,
                  .initial_state = state_,
                  .final_state = state_,
                  .loss_sum = loss_sum,
                  .correct_sum = correct_sum,
                  .checked = true});
  cells_.append(t, begins_, state_);
}

void OnlineStep::aim(std::int64_t t) {
  window_.sources = transitions_.sources();
  const bool any_held = transitions_.any_held();
  bool flags = any_held;
  for (int row = 0; row < window_.batch; ++row) {
    window_.start[row] = t;
    window_.weight[row] = transitions_.weight(t, row);
    begins_[row] = transitions_.run(t, row) == 1 && !transitions_.held(t, row);
    flags = flags || begins_[row];
  }
  window_.flags.clear();
  if (flags)
    for (const std::uint8_t begins : begins_) window_.flags.push_back(begins != 0 ? StepFlag::reset : StepFlag::go_on);
  for (int row = 0; row < window_.batch && any_held; ++row) transitions_.mark_held(window_, row, row, t);
}

}  // namespace throughtime
