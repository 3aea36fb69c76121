#include "engine/cuda/kernels/inputs.h"

#include "engine/cuda/kernels/inputs_body.h"
#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/reduce.cuh"

namespace throughtime::cuda {

void issue(const Context& context, const GatherInputs& call) {
  launch_cells(context, call, call.places, token_width(call) + call.reals, "gather inputs");
}

void issue(const Context& context, const ApplyMask& call) {
  launch_cells(context, make_mask_plan(call), call.entries, (call.width + 3) / 4, "dropout mask");
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

namespace {

constexpr int norm_threads = 256;
constexpr int widest_of_warp = 1024;

__global__ void __launch_bounds__(norm_threads) norms_by_warp(const RowNorms call, int lanes) {
  take_turn();
  const std::size_t row = (static_cast<std::size_t>(blockIdx.x) * norm_threads + threadIdx.x) / lanes;
  if (row < call.entries) row_norm(WarpGroup::here(lanes), call, row);
}

__global__ void __launch_bounds__(norm_threads) norms_by_block(const RowNorms call) {
  take_turn();
  row_norm(BlockGroup::here(), call, blockIdx.x);
}

}  // namespace

void issue(const Context& context, const RowNorms& call) {
  if (call.entries == 0) return;
  if (call.width <= widest_of_warp) {
    const int lanes = std::min(warp_lanes, power_of_two_from(call.width)), rows = norm_threads / lanes;
    launch(Turn(context, (call.entries + rows - 1) / rows, norm_threads, 0), "row norms", norms_by_warp, call, lanes);
  } else {
    launch(Turn(context, call.entries, norm_threads, 0), "row norms", norms_by_block, call);
  }
}

}  // namespace throughtime::cuda
