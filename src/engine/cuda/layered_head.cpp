// A head with layers of its own (HeadLayers): features -> y -> x of each branch -> z of each branch, for a chunk of
// rows at a time. The branches of these rows are the rows of one product with the output layer.
#include "engine/cuda/engine_class.h"
#include "engine/cuda/head_rows.h"
#include "engine/cuda/products.h"
#include "engine/dropout.h"
#include "throughtime/index.h"

namespace throughtime::cuda {

static_assert(most_own_layers == HeadLayers::most);

HeadBranches CudaEngine::head_branches(const Pass& pass, const HeadRows& rows) const {
  const HeadLayers& own = model_.head_layers();
  HeadSpace& space = pass.tape.head;
  HeadBranches branches;
  branches.entries = rows.count;
  branches.outputs = model_.outputs();
  branches.branches = own.branches;
  branches.width = own.width;
  branches.epsilon = own.epsilon;
  for (std::size_t k = 0; k < own.linear.size(); ++k) branches.y[k] = space.branches.y[k].data();
  branches.x = space.branches.x.data();
  branches.z = space.outputs.data();
  branches.numbers = space.branches.numbers.data();
  branches.mixed = space.branches.mixed.data();
  return branches;
}

/// One mask for all branches of a row, end to end.
void CudaEngine::mask_branches(const Pass& pass, const HeadRows& rows, float* x) {
  const HeadLayers& own = model_.head_layers();
  apply_mask(pass, latent_dropout(model_.config().dropout), rows.count, own.branches * own.width, 0, rows.places(), x);
}

void CudaEngine::branch_outputs(const Pass& pass, const HeadRows& rows, const float* features) {
  const HeadLayers& own = model_.head_layers();
  const HeadBranches branches = head_branches(pass, rows);
  for (std::size_t k = 0; k < own.linear.size(); ++k)
    linear(pass, rows.count, model_.top_hidden(), own.linear[k].outputs, features, model_.head_layer_weight[k],
           model_.head_layer_bias[k], branches.y[k]);
  recorder_.add<Context, HeadBranches>(head_->branches->spread, branches);
  mask_branches(pass, rows, branches.x);
  linear(pass, rows.count * own.branches, own.width, branches.outputs, branches.x, model_.head_weight, model_.head_bias,
         branches.z);
}

void CudaEngine::predict_branches(const Pass& pass, const HeadRows& rows, float* predictions) {
  const BranchesPredict predict{head_branches(pass, rows), rows.places(), predictions};
  recorder_.add<Context, BranchesPredict>(head_->branches->predict, predict);
}

void CudaEngine::pull_back_branches(const Pass& pass, const HeadRows& rows, const float* features, float* d_features,
                                    int join, float* gradient) {
  const HeadLayers& own = model_.head_layers();
  HeadBranches branches = head_branches(pass, rows);
  LinearBackward back;
  back.rows = rows.count * own.branches;
  back.inputs = own.width;
  back.outputs = branches.outputs;
  back.d_y_stride = branches.outputs;
  back.d_y = branches.z;
  back.weights = block(pass, model_.head_weight);
  back.d_x = pass.tape.head.branches.d_x.data();
  pull_back_linear(pass, back, branches.x, model_.head_weight, model_.head_bias, gradient);
  branches.x = back.d_x;
  mask_branches(pass, rows, branches.x);
  recorder_.add<Context, HeadBranches>(head_->branches->collect, branches);
  for (std::size_t k = 0; k < own.linear.size(); ++k) {
    const int outputs = own.linear[k].outputs;
    back = {.rows = rows.count, .inputs = model_.top_hidden(), .outputs = outputs, .add = k > 0 ? 1 : join};
    back.d_y_stride = outputs;
    back.d_y = branches.y[k];
    back.weights = block(pass, model_.head_layer_weight[k]);
    back.d_x = d_features;
    pull_back_linear(pass, back, features, model_.head_layer_weight[k], model_.head_layer_bias[k], gradient);
  }
}

}  // namespace throughtime::cuda
