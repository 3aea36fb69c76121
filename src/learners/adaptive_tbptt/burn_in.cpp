#include "learners/adaptive_tbptt/burn_in.h"

#include <algorithm>

#include "learners/support.h"

namespace throughtime {
namespace {

constexpr int most_steps = 32;  // at once

}  // namespace

BurnIn::BurnIn(Engine& engine, int rows)
    : engine_(engine), tape_(engine.make_tape({.steps = most_steps, .batch = rows, .keep = Keep::nothing})) {
  reserve(part_, most_steps, rows);
}

void BurnIn::run(const Window& window, int steps, Buffer parameters, bool training, Buffer state) {
  engine_.fill(state, 0);
  for (int first = 0; first < steps; first += most_steps) {
    slice(window, first, std::min(most_steps, steps - first), part_);
    std::fill(part_.weight.begin(), part_.weight.end(), 0.0f);
    engine_.unroll({.window = part_,
                    .parameters = parameters,
                    .tape = *tape_,
                    .training = training,
                    .initial_state = state,
                    .final_state = state});
  }
}

}  // namespace throughtime
