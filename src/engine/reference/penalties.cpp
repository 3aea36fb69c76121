#include "engine/penalties.h"

#include <algorithm>

#include "engine/reference/passes.h"
#include "throughtime/index.h"

namespace throughtime::reference {
namespace {

/// The last layer's output after `step` steps.
const double* top_output(const Pass& pass, int step, int row) {
  return pass.tape.state(step, row) + pass.model.layers().back().state_offset;
}

/// The derivative of the slowness penalty of (step, row) by h_step - h_{step - 1} is this times it; 0: there is none.
double slowness_factor(const Pass& pass, int step, int row) {
  if (!pass.penalises() || !has_difference(pass.window, step, row)) return 0;
  return 2 * pass.window.weight_at(step, row) * pass.tape.work.difference_scale[elements(row)] *
         pass.model.config().penalties.slowness / pass.model.top_hidden();
}

void add_difference(const Pass& pass, int step, int row, double sign, double* d_top) {
  const double factor = sign * slowness_factor(pass, step, row);
  if (factor == 0) return;
  const double *after = top_output(pass, step + 1, row), *before = top_output(pass, step, row);
  for (int i = 0; i < pass.model.top_hidden(); ++i) d_top[i] += factor * (after[i] - before[i]);
}

}  // namespace

void scale_differences(const Pass& pass) {
  if (!pass.penalises() || pass.model.config().penalties.slowness == 0) return;
  for (int row = 0; row < pass.window.batch; ++row)
    pass.tape.work.difference_scale[elements(row)] = difference_scale(pass.window, row);
}

void add_penalties(const Pass& pass, int step, int row, double* sums) {
  const double weight = pass.window.weight_at(step, row);
  if (!pass.penalises() || weight == 0) return;
  const int hidden = pass.model.top_hidden();
  const double *after = top_output(pass, step + 1, row), *before = top_output(pass, step, row);
  std::vector<double>& masked = pass.tape.work.features;
  std::copy_n(after, hidden, masked.data());
  mask_output(pass, step, row, masked.data());
  const double slowness = slowness_factor(pass, step, row) / 2;
  const double activation = weight * pass.model.config().penalties.activation / hidden;
  for (int i = 0; i < hidden; ++i) {
    sums[0] += activation * masked[i] * masked[i];
    if (slowness != 0) sums[1] += slowness * (after[i] - before[i]) * (after[i] - before[i]);
  }
}

void add_slowness_after(const Pass& pass, int step, int row, double* d_top) {
  add_difference(pass, step, row, 1, d_top);
}

void add_slowness_before(const Pass& pass, int step, int row, double* d_top) {
  add_difference(pass, step, row, -1, d_top);
}

}  // namespace throughtime::reference
