#include <algorithm>

#include "engine/reference/linear.h"
#include "engine/reference/passes.h"
#include "engine/targets.h"

namespace throughtime::reference {

void head_forward(const Pass& pass, int step, int row) {
  const Model& model = pass.model;
  const int hidden = model.config().head.hidden;
  Workspace& work = pass.tape.work;
  std::copy_n(pass.tape.state(step + 1, row) + model.layers().back().state_offset, model.top_hidden(),
              work.features.data());
  mask_output(pass, step, row, work.features.data());
  if (model.head_layers().any()) return layered_forward(pass, step, row);
  if (hidden > 0)
    affine(hidden, model.top_hidden(), pass.block(model.head_inner_weight), work.features.data(),
           pass.block(model.head_inner_bias), work.inner.data());
  const std::vector<double>& last = hidden > 0 ? work.inner : work.features;
  affine(model.linear_outputs(), static_cast<int>(last.size()), pass.block(model.head_weight), last.data(),
         pass.block(model.head_bias), work.outputs.data());
  mask_logits(pass, step, row, work.outputs.data());
  if (model.head_constants >= 0)
    std::copy_n(pass.block(model.head_constants), model.head().constants, work.outputs.end() - model.head().constants);
}

namespace {

/// From the loss to work.d_features through the linear layers of a head that has none of its own.
void linear_backward(const Pass& pass, int step, int row, double* gradient) {
  const Model& model = pass.model;
  const int outputs = model.linear_outputs(), top = model.top_hidden(), hidden = model.config().head.hidden;
  Workspace& work = pass.tape.work;
  const auto target = row_target(model, pass.window, step, row, work.target.data());
  model.head().reference.loss(model.outputs(), work.outputs.data(), target, pass.window.weight_at(step, row),
                              work.d_outputs.data());
  mask_logits(pass, step, row, work.d_outputs.data());

  const std::vector<double>& last = hidden > 0 ? work.inner : work.features;
  std::vector<double>& d_last = hidden > 0 ? work.d_inner : work.d_features;
  const int width = static_cast<int>(last.size());
  std::fill(d_last.begin(), d_last.end(), 0.0);
  add_transposed(outputs, width, pass.block(model.head_weight), work.d_outputs.data(), d_last.data());
  if (gradient) {
    add_outer(outputs, width, work.d_outputs.data(), last.data(), pass.block_of(gradient, model.head_weight));
    if (model.head_bias >= 0) add(outputs, work.d_outputs.data(), pass.block_of(gradient, model.head_bias));
    if (model.head_constants >= 0)
      add(model.head().constants, work.d_outputs.data() + outputs, pass.block_of(gradient, model.head_constants));
  }
  if (hidden > 0) {
    std::fill(work.d_features.begin(), work.d_features.end(), 0.0);
    add_transposed(hidden, top, pass.block(model.head_inner_weight), work.d_inner.data(), work.d_features.data());
    if (gradient) {
      add_outer(hidden, top, work.d_inner.data(), work.features.data(),
                pass.block_of(gradient, model.head_inner_weight));
      if (model.head_inner_bias >= 0) add(hidden, work.d_inner.data(), pass.block_of(gradient, model.head_inner_bias));
    }
  }
}

}  // namespace

void head_backward(const Pass& pass, int step, int row, double* d_top, double* gradient) {
  const Model& model = pass.model;
  const int top = model.top_hidden();
  Workspace& work = pass.tape.work;
  head_forward(pass, step, row);
  if (model.head_layers().any())
    layered_backward(pass, step, row, gradient);
  else
    linear_backward(pass, step, row, gradient);
  if (pass.penalises()) {
    const double factor = 2 * pass.window.weight_at(step, row) * model.config().penalties.activation / top;
    for (int i = 0; i < top; ++i) work.d_features[i] += factor * work.features[i];
  }
  mask_output(pass, step, row, work.d_features.data());
  add(top, work.d_features.data(), d_top);
}

}  // namespace throughtime::reference
