#pragma once

#include "engine/reference/tape.h"

namespace throughtime::reference {

/// What both directions over one window share.
struct Pass {
  const Model& model;
  const Window& window;
  ReferenceTape& tape;
  const double* parameters;

  /// A block of the parameters, or of a gradient laid out like them; null where the block or the vector is absent.
  const double* block(int index) const {
    return index < 0 ? nullptr : parameters + model.parameters().block(index).offset;
  }
  double* block_of(double* gradient, int index) const {
    return index < 0 || !gradient ? nullptr : gradient + model.parameters().block(index).offset;
  }
  /// Whether the weights of this pass are dropped ones.
  bool drops_weights() const { return tape.training && model.config().dropout.recurrent > 0; }
  /// Whether penalties on the outputs belong to the losses of this pass.
  bool penalises() const { return tape.training && model.config().penalties.any(); }
  /// The state that step `step` starts from: what the step before left, or zeros at a reset.
  const double* state_before(int step, int row) const {
    return window.resets_at(step, row) ? tape.work.zero_state.data() : tape.state(step, row);
  }
};

/// Where an unroll writes; null: not asked for. Shapes as in UnrollCall.
struct UnrollOutputs {
  double* losses = nullptr;
  double* loss_sum = nullptr;
  double* correct_sum = nullptr;
  double* penalties = nullptr;
  double* predictions = nullptr;
  double* states = nullptr;
  std::span<const int> state_steps;
};

/// Where a pull-back reads and writes; null: absent. Shapes as in PullBackCall.
struct PullBackArguments {
  int first = 0, last = 0;
  bool losses = true;
  double* gradient = nullptr;  // added to
  const double* end_cotangent = nullptr;
  const double* step_cotangents = nullptr;
  double* initial_cotangent = nullptr;
  double* tap_norms = nullptr;
  double* tap_vectors = nullptr;
};

/// Effective recurrent matrices of all layers, into the workspace.
void make_effective_weights(const Pass& pass);

/// Writes row `row`'s raw input [token part, reals] at `step` to work.raw_input; zeros at a padding position.
void gather_input(const Pass& pass, int step, int row);

/// Runs the window from the state in slot 0 of the tape.
void run_forward(const Pass& pass, const UnrollOutputs& outputs);

/// Outputs z of the head for the state after `step`, into work.outputs (and work.features, work.inner on the way); of a
/// head with layers of its own those of all branches, into work.branch_outputs.
void head_forward(const Pass& pass, int step, int row);
/// The row of such a head that is in the workspace.
LayeredRow<double> layered_row(const Pass& pass);
/// The part of head_forward and head_backward that such a head has in place of linear layers: from work.features to
/// the outputs, and from its loss to work.d_features.
void layered_forward(const Pass& pass, int step, int row);
void layered_backward(const Pass& pass, int step, int row, double* gradient);
/// Adds the loss of (step, row) to dL/d(top h) in `d_top` [H] and, unless null, to `gradient`.
void head_backward(const Pass& pass, int step, int row, double* d_top, double* gradient);

void run_backward(const Pass& pass, const PullBackArguments& arguments);

/// Scales of the rows' differences (penalties.h), into the workspace; before the two below.
void scale_differences(const Pass& pass);
/// Adds the penalties on the output after `step` to sums [2].
void add_penalties(const Pass& pass, int step, int row, double* sums);
/// Adds the slowness penalty of (step, row) to dL/d(top h) after that step, or before it.
void add_slowness_after(const Pass& pass, int step, int row, double* d_top);
void add_slowness_before(const Pass& pass, int step, int row, double* d_top);

/// Multiplies `values` [width] by the mask of the row at one site, where the unroll was in training and the share is
/// not 0. That of a token is one number for its row of the embedding.
void mask_token(const Pass& pass, std::int32_t token, double* values);
void mask_input(const Pass& pass, int step, int row, double* values);
void mask_between(const Pass& pass, int step, int row, int layer, double* values);
void mask_output(const Pass& pass, int step, int row, double* values);
/// Those of the head's outputs; in evaluations too, where the model says so.
void mask_logits(const Pass& pass, int step, int row, double* values);
/// Those of what a head with layers of its own hands to its output layer, all branches end to end.
void mask_latent(const Pass& pass, int step, int row, double* values);

}  // namespace throughtime::reference
