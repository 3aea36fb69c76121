#pragma once

#include <vector>

#include "engine/cpu/few_rows/row_plan.h"
#include "engine/cpu/passes.h"

namespace throughtime::cpu {

/// Whether a model is made of what windows of one row or of a few know: recurrent layers with steps of their own, so
/// small that the way there costs as much as the arithmetic, and an output layer; no masks, no penalties.
bool has_small_layers(const Model& model, const std::vector<RowKernels>& rows);

/// A window of one row that passes through in one piece: the cells go through all of its steps in one call per layer,
/// the head reads its weights where they are, and gradients are summed up where the flat vector has them. Nothing is
/// cut, collected or packed but what the cells read, and calls are those of the tape's plan. It takes what most streams
/// are made of; everything else goes the general way. Both leave the same things on the tape, so that one may go back
/// where the other went forth.
class RowWindow {
 public:
  RowWindow(const Model& model, const std::vector<RowKernels>& rows, SingleRows choice);

  /// Whether tapes of that shape need a plan.
  bool fits(const TapeShape& shape) const { return fits_ && shape.batch == 1; }
  /// Whether it takes that window: one row, no reset, no held step, no more steps than a slice works on at once.
  bool takes(const Window& window, const Slice& slice) const {
    return fits_ && slice.rows == 1 && window.steps <= slice.chunk && (window.flags.empty() || all_go_on(window));
  }
  static void unroll(const Context& context, const UnrollArrays& call, Slice& slice, RowPlan& plan);

  /// Whether it pulls back so: the whole window, nothing but losses and the cotangent at its end entering.
  static bool takes(const PullBackArrays& call) {
    return call.first == 0 && call.last == call.window.steps && !call.step_cotangents && !call.tap_norms &&
           !call.tap_vectors;
  }
  /// `gradient` [P]: null, or written, or added to.
  static void pull_back(const Context& context, const PullBackArrays& call, float* gradient, Slice& slice,
                        RowPlan& plan);

 private:
  static bool all_go_on(const Window& window);
  static void gather(const Window& window, const RowPlan::Input& input);
  static void run_head(const Context& context, const UnrollArrays& call, Slice& slice, const RowPlan::Head& head);
  static void look_at(const Context& context, const UnrollArrays& call, Slice& slice, const RowPlan::Head& head,
                      int step);
  static void pull_back_layer(const Context& context, const PullBackArrays& call, Slice& slice, RowPlan& plan,
                              std::size_t k);
  static void add_head_gradient(const Context& context, int losses, RowPlan::Head& head);

  bool fits_ = false;
};

}  // namespace throughtime::cpu
