#include "engine/cuda/kernels/inputs.h"

#include "engine/cuda/kernels/groups.cuh"
#include "engine/cuda/kernels/inputs_body.h"

namespace throughtime::cuda {

void issue(const Context& context, const GatherInputs& call) {
  launch_cells(context, call, call.places, token_width(call) + call.reals, "gather inputs");
}

void issue(const Context& context, const ApplyMask& call) {
  launch_cells(context, make_mask_plan(call), call.entries, (call.width + 3) / 4, "dropout mask");
}

void issue(const Context& context, const MaskTokens& call) {
  launch_cells(context, make_mask_plan(call), call.entries, (call.width + 3) / 4, "dropout of tokens");
}

void issue(const Context& context, const DropWeights& call) {
  launch_elements(context, make_mask_plan(call), (call.count + 3) / 4, "weight drop");
}

void issue(const Context& context, const ZeroResets& call) {
  launch_cells(context, call, call.places, call.hidden, "zero resets");
}

void issue(const Context& context, const MoveStates& call) {
  launch_cells(context, call, static_cast<std::size_t>(call.tensors) * call.batch, call.hidden, "move states");
}

void issue(const Context& context, const SpreadBias& call) {
  launch_cells(context, call, call.rows, call.width, "spread bias");
}

void issue(const Context& context, const SumParts& call) { launch_elements(context, call, call.count, "sum parts"); }

void issue(const Context& context, const RowNorms& call) {
  launch_groups(context, call, static_cast<std::size_t>(call.entries), call.width, "row norms");
}

}  // namespace throughtime::cuda
