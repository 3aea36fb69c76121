#pragma once

#include <cstddef>
#include <vector>

#include "throughtime/engine.h"
#include "throughtime/index.h"

namespace throughtime::reference {

/// Numbers kept per step and row: [slots, B, width]. With fewer slots than steps the oldest are overwritten.
class Ring {
 public:
  Ring(int slots, int batch, std::size_t width)
      : slots_(slots), batch_(batch), width_(width), numbers_(elements(slots, batch) * width) {}
  double* at(int step, int row) { return numbers_.data() + (elements(step % slots_, batch_) + elements(row)) * width_; }
  std::size_t bytes() const { return numbers_.size() * sizeof(double); }

 private:
  int slots_, batch_;
  std::size_t width_;
  std::vector<double> numbers_;
};

/// Scratch of one step of one row unless a shape says otherwise; the widest layer decides.
struct Workspace {
  explicit Workspace(const Model& model, int batch);
  std::size_t bytes() const;

  std::vector<std::vector<double>> effective, d_effective;  // per layer: recurrent matrix [recurrent_rows * H, H]
  std::vector<std::vector<double>> recurrent_mask;          // per layer: of its raw block, where weights are dropped
  std::vector<double> raw_weights;                          // the largest of those blocks, or its gradient
  std::vector<double> zero_state;                           // [S]: the state before a reset step
  std::vector<double> raw_input, d_raw_input;               // [raw_inputs]
  std::vector<double> mask;                                 // the widest site
  std::vector<double> input_gates, d_input_gates;           // [input_rows * H]
  std::vector<double> recurrent_gates, d_recurrent_gates;   // [recurrent_rows * H]
  std::vector<double> d_gated;                              // [H]
  std::vector<double> d_inputs;                             // [D]
  std::vector<double> features, d_features;                 // [top H]: what the head sees
  std::vector<double> inner, d_inner;                       // [head hidden]
  std::vector<double> outputs, d_outputs, target;           // [outputs]
  std::vector<std::vector<double>> own;                     // per linear layer of the head's own: what it puts out
  std::vector<double> branch_inputs, branch_outputs;        // [branches, width], [branches, outputs] of such a head
  std::vector<double> head_scratch;                         // of its kernels
  std::vector<double> d_state;                              // [B, S]: cotangent of the state after the current step
  std::vector<double> d_before;                             // [S]: of the state before it
  std::vector<double> difference_scale;                     // [B]: of the slowness penalty
};

/// What an unroll leaves for pull_back. A tape that keeps less has the same parts with fewer slots.
class ReferenceTape final : public Tape {
 public:
  ReferenceTape(const Model& model, const TapeShape& shape);
  std::size_t activation_bytes() const override;
  std::size_t bytes() const override;

  double* state(int step, int row) { return states_.at(step, row); }
  /// Saved numbers of layer k: [saved, H].
  double* saved(int step, int row, std::size_t k) { return saved_.at(step, row) + saved_offset_[k]; }
  /// What layer k received, dropout included: [D].
  double* inputs(int step, int row, std::size_t k) { return inputs_.at(step, row) + input_offset_[k]; }

  const Model& model;
  Workspace work;
  int unrolled = 0;       // steps of the last unroll
  bool training = false;  // whether it drew masks

 private:
  std::vector<std::size_t> saved_offset_, input_offset_;  // per layer, and the width of a row at the end
  Ring states_;  // slot l: the state after l steps, as the step left it (a reset is applied where it is read)
  Ring saved_;
  Ring inputs_;
};

}  // namespace throughtime::reference
