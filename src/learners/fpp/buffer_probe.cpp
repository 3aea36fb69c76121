#include "learners/fpp/buffer_probe.h"

#include <limits>

#include "throughtime/index.h"

namespace throughtime {

BufferProbe::BufferProbe(Engine& engine, int steps, int rows, const Transitions& transitions, const StateCells& cells,
                         const TrajectoryDraws& draws)
    : engine_(engine), transitions_(transitions), cells_(cells), draws_(draws), from_(elements(rows)) {
  window_.steps = steps;
  window_.batch = rows;
  window_.source.resize(elements(rows));
  window_.start.resize(elements(rows));
  window_.weight.resize(elements(steps, rows));
  starts_ = engine.allocate(elements(rows, engine.model().state_size()));
  sum_ = engine.allocate(1);
}

/// Trajectories of all streams one after the other, as many at a time as the window has rows.
double BufferProbe::mean_loss(Buffer parameters, Tape& tape) {
  const int T = window_.steps;
  double weights = 0;
  engine_.fill(sum_, 0);
  window_.sources = transitions_.sources();
  clear();
  for (std::int64_t end = transitions_.oldest() + T - 1; end <= transitions_.newest(); ++end)
    for (int stream = 0; stream < transitions_.rows(); ++stream) {
      const float weight = transitions_.weight(end, stream);
      if (weight == 0 || transitions_.run(end, stream) < T) continue;
      add(end, stream, weight);
      weights += weight;
      if (filled_ == window_.batch) unroll(parameters, tape);
    }
  if (filled_ > 0) unroll(parameters, tape);
  return weights > 0 ? engine_.read(sum_).front() / weights : std::numeric_limits<double>::quiet_NaN();
}

void BufferProbe::add(std::int64_t end, int stream, float weight) {
  const std::int64_t first = end - window_.steps + 1;
  window_.source[filled_] = stream;
  window_.start[filled_] = first;
  if (!window_.flags.empty()) transitions_.mark_held(window_, filled_, stream, first);
  window_.weight[window_.weight.size() - from_.size() + filled_] = weight;
  from_[filled_] = draws_.first_state(end, stream, window_.steps);
  ++filled_;
}

/// Rows that are left over show what the first one does, with a weight of zero.
void BufferProbe::unroll(Buffer parameters, Tape& tape) {
  for (int row = filled_; row < window_.batch; ++row) {
    window_.source[row] = window_.source[0];
    window_.start[row] = window_.start[0];
    from_[row] = from_[0];
  }
  cells_.gather(from_, starts_);
  engine_.unroll({.window = window_,
                  .parameters = parameters,
                  .tape = tape,
                  .training = false,
                  .initial_state = starts_,
                  .loss_sum = sum_});
  clear();
}

void BufferProbe::clear() {
  window_.weight.assign(window_.weight.size(), 0.0f);
  window_.flags.assign(transitions_.any_held() ? window_.weight.size() : 0, StepFlag::go_on);
  filled_ = 0;
}

}  // namespace throughtime
