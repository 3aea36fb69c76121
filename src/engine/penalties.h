#pragma once

#include "throughtime/model.h"
#include "throughtime/window.h"

namespace throughtime {

// Penalties on the outputs of the last layer (PenaltyConfig), for engines that compute on the host. At step l of a row
// with a loss of weight w, with H units, h' the output after dropout and c the row's difference_scale, they are
//   w activation / H |h'_l|^2   and   w c slowness / H |h_l - h_{l-1}|^2.

/// Whether the difference between the outputs after steps `step` - 1 and `step` counts: both lie in the window, a loss
/// belongs to the later one, and the row goes on from one to the other, neither reset nor held.
inline bool has_difference(const Window& window, int step, int row) {
  return step > 0 && window.weight_at(step, row) != 0 && window.flag_at(step, row) == StepFlag::go_on &&
         !window.holds_at(step - 1, row);
}

/// Makes the sum of a row's differences weigh as much as its losses do, although there are fewer: the sum of the
/// weights of the losses over that of the differences; 0 where there is none.
inline double difference_scale(const Window& window, int row) {
  double losses = 0, differences = 0;
  for (int step = 0; step < window.steps; ++step) {
    const double weight = window.weight_at(step, row);
    losses += weight;
    if (has_difference(window, step, row)) differences += weight;
  }
  return differences > 0 ? losses / differences : 0;
}

}  // namespace throughtime
