// The persistent recurrence: which shapes it runs, and its launches.
#pragma once

#include "engine/cuda/cells/division.cuh"
#include "engine/cuda/cells/recurrence_backward.cuh"
#include "engine/cuda/cells/recurrence_forward.cuh"

namespace throughtime::cuda {

#if defined(__CUDACC__)

template <class Cell, class Division>
struct Recurrence {
  static int blocks(int hidden) { return (hidden + Division::units - 1) / Division::units; }
  static int resident_forward(int hidden) {
    const ForwardMemory<Cell, Division> most{Division::most_rows, blocks(Division::width)};
    return resident_clusters<&all_steps_forward<Cell, Division>>(blocks(hidden), Division::block_threads, most.bytes());
  }
  static int resident_backward(int hidden) {
    const BackwardMemory<Cell, Division> most{Division::most_rows, blocks(Division::width)};
    return resident_clusters<&all_steps_backward<Cell, Division>>(blocks(hidden), Division::block_threads,
                                                                  most.bytes());
  }

  static void forward(const Context& context, const StepsForward& call) {
    const int clusters = clusters_for<Division>(call.batch, resident_forward(call.hidden));
    const ForwardMemory<Cell, Division> memory{most_rows_of_cluster(call.batch, clusters), blocks(call.hidden)};
    const int of_cluster = blocks(call.hidden);
    const Turn turn(context, of_cluster * clusters, Division::block_threads, memory.bytes(), of_cluster);
    launch(turn, "the steps of a cell", all_steps_forward<Cell, Division>, call);
  }
  static void backward(const Context& context, const StepsBackward& call) {
    const int clusters = clusters_for<Division>(call.batch, resident_backward(call.hidden));
    const BackwardMemory<Cell, Division> memory{most_rows_of_cluster(call.batch, clusters), blocks(call.hidden)};
    const int of_cluster = blocks(call.hidden);
    const Turn turn(context, of_cluster * clusters, Division::block_threads, memory.bytes(), of_cluster);
    launch(turn, "the steps of a cell back", all_steps_backward<Cell, Division>, call);
  }
};

/// Whether this device runs it for layers of that many units, at any batch size.
template <class Cell>
bool whole_fits(int hidden) {
  if (hidden < 1 || hidden > most_whole_hidden) return false;
  const auto runs = [hidden](auto division) {
    using Kernels = Recurrence<Cell, decltype(division)>;
    return Kernels::resident_forward(hidden) > 0 && Kernels::resident_backward(hidden) > 0;
  };
  return with_division<Cell::shape.recurrent_rows>(hidden, 1, runs) &&
         with_division<Cell::shape.recurrent_rows>(hidden, few_rows + 1, runs);
}
template <class Cell>
void whole_forward(const Context& context, const StepsForward& call) {
  if (call.steps == 0 || call.batch == 0) return;
  with_division<Cell::shape.recurrent_rows>(
      call.hidden, call.batch, [&](auto division) { Recurrence<Cell, decltype(division)>::forward(context, call); });
}
template <class Cell>
void whole_backward(const Context& context, const StepsBackward& call) {
  if (call.steps == 0 || call.batch == 0) return;
  with_division<Cell::shape.recurrent_rows>(
      call.hidden, call.batch, [&](auto division) { Recurrence<Cell, decltype(division)>::backward(context, call); });
}

#endif  // __CUDACC__

}  // namespace throughtime::cuda
