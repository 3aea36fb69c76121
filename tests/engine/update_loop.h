// For files that are compiled with the numbers of a device (THROUGHTIME_NUMBERS).
#pragma once

#include "engine/cuda/kernels/update_body.h"

namespace throughtime::cuda {

/// An update as the kernels make it: a pass that joins and sums, a pass that steps and settles. Returns |W - W-bar|^2.
template <class Rule>
double run_update(const Update& call, Squares& squares) {
  const TermNumbers terms(call, *call.numbers);
  for (std::size_t i = 0; i < call.count; ++i) {
    if (call.regularised)
      call.gradient[i] =
          join_terms(terms, call.gradient[i], call.weights[i], call.average[i], call.multiplier[i], squares);
    add_squares(terms, call.gradient[i], squares);
  }
  const StepNumbers step(call, *call.numbers, squares);
  double distance = 0;
  for (std::size_t i = 0; i < call.count; ++i) {
    float moment[Rule::moments + 1];
    for (int m = 0; m < Rule::moments; ++m) moment[m] = call.moments[m][i];
    step_one<Rule>(step, call.gradient[i], call.weights[i], moment);
    for (int m = 0; m < Rule::moments; ++m) call.moments[m][i] = moment[m];
    if (call.settle) distance += settle_one(step, call.weights[i], call.average[i], call.multiplier[i]);
  }
  return distance;
}

}  // namespace throughtime::cuda
