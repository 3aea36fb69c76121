#include "engine/cuda/kernels/mixture.h"

#include "engine/cuda/kernels/groups.cuh"
#include "engine/cuda/kernels/mixture_body.h"

namespace throughtime::cuda {

void issue(const Context& context, const WeighExperts& call) {
  launch_groups(context, call, call.rows.entries, call.rows.branches, "weights of experts");
}
void issue(const Context& context, const SpreadExperts& call) {
  launch_cells(context, call, call.rows.entries, call.rows.branches * call.rows.width, "inputs of experts");
}
void issue(const Context& context, const CollectExperts& call) {
  launch_cells(context, call, call.rows.entries, call.rows.branches * call.rows.width, "inputs of experts back");
}
void issue(const Context& context, const MeasureExperts& call) {
  launch_groups(context, call, rows_of_experts(call.rows), call.rows.outputs, "experts");
}
void issue(const Context& context, const MixExperts& mix) {
  launch_cells(context, mix, mix.call.rows.entries, mix.call.rows.outputs, "a mixture");
}
void issue(const Context& context, const MixPredictions& mix) {
  launch_cells(context, mix, mix.call.rows.entries, mix.call.rows.outputs, "predictions of a mixture");
}
void issue(const Context& context, const SettleRow& settle) {
  const HeadBranches& rows = settle.call.rows;
  const bool reads_outputs = settle.call.loss.values || settle.call.loss.correct;
  launch_groups(context, settle, rows.entries, reads_outputs ? rows.outputs : rows.branches, "losses of a mixture");
}
void issue(const Context& context, const SettleExpert& settle) {
  const HeadBranches& rows = settle.call.rows;
  launch_groups(context, settle, rows_of_experts(rows), rows.outputs, "posteriors of experts");
}
void issue(const Context& context, const PullBackExperts& back) {
  const HeadBranches& rows = back.call.rows;
  launch_cells(context, back, rows_of_experts(rows), rows.outputs, "experts back");
}

}  // namespace throughtime::cuda
