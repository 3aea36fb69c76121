#include "engine/cuda/kernels/penalties.h"

#include "engine/cuda/kernels/groups.cuh"
#include "engine/cuda/kernels/penalties_body.h"

namespace throughtime::cuda {

void issue(const Context& context, const RowSquares& call) {
  launch_groups(context, call, static_cast<std::size_t>(call.entries), call.width, "squares of rows");
}

void issue(const Context& context, const AddWeighedRows& call) {
  launch_cells(context, call, static_cast<std::size_t>(call.entries), call.width, "add weighed rows");
}

void issue(const Context& context, const PullDifferences& call) {
  const std::size_t places = static_cast<std::size_t>(call.steps) * static_cast<std::size_t>(call.batch);
  launch_cells(context, call, places, call.hidden, "differences back");
}

}  // namespace throughtime::cuda
