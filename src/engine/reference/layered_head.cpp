#include <algorithm>

#include "engine/reference/linear.h"
#include "engine/reference/passes.h"
#include "engine/targets.h"

// A head with layers of its own (HeadLayers): features -> y -> x of each branch -> z of each branch.
namespace throughtime::reference {

LayeredRow<double> layered_row(const Pass& pass) {
  Workspace& work = pass.tape.work;
  LayeredRow<double> row;
  row.layers = &pass.model.head_layers();
  row.outputs = pass.model.outputs();
  for (std::size_t k = 0; k < work.own.size(); ++k) row.y[k] = work.own[k].data();
  row.x = work.branch_inputs.data();
  row.x_stride = elements(row.layers->width);
  row.z = work.branch_outputs.data();
  row.z_stride = elements(row.outputs);
  row.scratch = work.head_scratch.data();
  return row;
}

void layered_forward(const Pass& pass, int step, int row) {
  const Model& model = pass.model;
  Workspace& work = pass.tape.work;
  const LayeredRow<double> own = layered_row(pass);
  for (std::size_t k = 0; k < work.own.size(); ++k)
    affine(own.layers->linear[k].outputs, model.top_hidden(), pass.block(model.head_layer_weight[k]),
           work.features.data(), pass.block(model.head_layer_bias[k]), own.y[k]);
  model.head().reference.layered.spread(own);
  mask_latent(pass, step, row, own.x);
  for (int branch = 0; branch < own.layers->branches; ++branch)
    affine(own.outputs, own.layers->width, pass.block(model.head_weight), own.x + elements(branch) * own.x_stride,
           pass.block(model.head_bias), own.z + elements(branch) * own.z_stride);
}

void layered_backward(const Pass& pass, int step, int row, double* gradient) {
  const Model& model = pass.model;
  Workspace& work = pass.tape.work;
  const LayeredRow<double> own = layered_row(pass);
  const int width = own.layers->width, top = model.top_hidden();
  const auto target = row_target(model, pass.window, step, row, work.target.data());
  model.head().reference.layered.loss(own, target, pass.window.weight_at(step, row), true, nullptr);
  for (int branch = 0; branch < own.layers->branches; ++branch) {
    double *x = own.x + elements(branch) * own.x_stride, *d_z = own.z + elements(branch) * own.z_stride;
    if (gradient) {
      add_outer(own.outputs, width, d_z, x, pass.block_of(gradient, model.head_weight));
      add(own.outputs, d_z, pass.block_of(gradient, model.head_bias));
    }
    std::fill_n(x, width, 0.0);
    add_transposed(own.outputs, width, pass.block(model.head_weight), d_z, x);
  }
  mask_latent(pass, step, row, own.x);
  model.head().reference.layered.collect(own);
  std::fill(work.d_features.begin(), work.d_features.end(), 0.0);
  for (std::size_t k = 0; k < work.own.size(); ++k) {
    const int outputs = own.layers->linear[k].outputs;
    add_transposed(outputs, top, pass.block(model.head_layer_weight[k]), own.y[k], work.d_features.data());
    if (!gradient) continue;
    add_outer(outputs, top, own.y[k], work.features.data(), pass.block_of(gradient, model.head_layer_weight[k]));
    if (model.head_layer_bias[k] >= 0) add(outputs, own.y[k], pass.block_of(gradient, model.head_layer_bias[k]));
  }
}

}  // namespace throughtime::reference
