#include "engine/cuda/steps.h"

#include "engine/cuda/products.h"
#include "throughtime/index.h"

namespace throughtime::cuda {
namespace {

/// Recurrent rows that multiply the state before the step, and those that wait for the gated one.
struct RecurrentRows {
  explicit RecurrentRows(const CellShape& shape, int hidden)
      : early((shape.recurrent_rows - shape.late_rows) * hidden),
        late(shape.late_rows * hidden),
        all(shape.recurrent_rows * hidden) {}
  int early, late, all;
};

void forward_step(const Context& context, const LayerForward& call, int step) {
  const StepsForward& steps = call.steps;
  const CellShape& shape = call.cell->shape;
  const RecurrentRows rows(shape, steps.hidden);
  const std::size_t place = elements(step, steps.batch, steps.hidden);
  LinearForward product;
  product.rows = steps.batch;
  product.inputs = steps.hidden;
  product.y_stride = rows.all;
  if (rows.early > 0) {
    product.outputs = rows.early;
    product.x = steps.states + place;
    product.weights = steps.recurrent_weights;
    product.y = call.products;
    issue(context, product);
  }
  if (rows.late > 0) {
    call.cell->step_forward_early(context, steps, step, call.products);
    product.outputs = rows.late;
    product.x = steps.saved + elements(shape.gated) * steps.saved_plane + place;
    product.weights = steps.recurrent_weights + elements(rows.early, steps.hidden);
    product.y = call.products + rows.early;
    issue(context, product);
  }
  call.cell->step_forward(context, steps, step, call.products);
}

void backward_step(const Context& context, const LayerBackward& call, int step) {
  const StepsBackward& steps = call.steps;
  const CellShape& shape = call.cell->shape;
  const RecurrentRows rows(shape, steps.hidden);
  call.cell->step_backward(context, steps, step);
  const float* d_gates =
      (shape.joint ? steps.d_input_gates : steps.d_recurrent_gates) + elements(step, steps.batch, rows.all);
  LinearBackward product;
  product.rows = steps.batch;
  product.inputs = steps.hidden;
  product.d_y_stride = rows.all;
  if (rows.late > 0) {
    product.outputs = rows.late;
    product.d_y = d_gates + rows.early;
    product.weights = steps.recurrent_weights + elements(rows.early, steps.hidden);
    product.d_x = call.d_gated;
    issue(context, product);
    call.cell->step_backward_early(context, steps, step, call.d_gated);
  }
  if (rows.early == 0) return;
  product.outputs = rows.early;
  product.add = 1;
  product.d_y = d_gates;
  product.weights = steps.recurrent_weights;
  product.d_x = steps.carry;
  issue(context, product);
}

}  // namespace

void issue(const Context& context, const LayerForward& call) {
  if (call.whole) return call.cell->whole_forward(context, call.steps);
  for (int step = 0; step < call.steps.steps; ++step) forward_step(context, call, step);
}

void issue(const Context& context, const LayerBackward& call) {
  if (call.whole) return call.cell->whole_backward(context, call.steps);
  for (int step = call.steps.steps - 1; step >= 0; --step) backward_step(context, call, step);
  call.cell->finish_backward(context, call.steps);
}

void issue(const Context& context, const MapWeights& call) {
  const auto map = call.adjoint ? call.cell->adjoint_weights : call.cell->apply_weights;
  map(context, call.options, call.hidden, call.from, call.to);
}

}  // namespace throughtime::cuda
