// All steps of a layer in one kernel, forward. Recurrent weights stay in registers; a cluster of blocks carries a few
// rows of the batch through all steps, and nothing but h travels between its blocks. A step:
//   every thread     waits for h of all units, multiplies its weights with it, hands the sums to its block
//   pointwise threads turn the gates of one unit of one row into its next state, and send h to all blocks
// Every sum has an order that depends on the division alone: a row's bits depend neither on the rows beside it nor on
// its cluster.
#pragma once

#include "engine/cuda/cells/division.cuh"
#include "engine/cuda/cells/exchange.cuh"
#include "engine/cuda/cells/place.cuh"
#include "engine/cuda/cells/pointwise.cuh"
#include "engine/cuda/cells/product.cuh"
#include "engine/cuda/device_cell.h"

namespace throughtime::cuda {

/// The shared memory of a block, in floats; `rows`: the most of any cluster.
template <class Cell, class Division>
struct ForwardMemory {
  static constexpr int gates = Cell::shape.recurrent_rows, input_gates = Cell::shape.input_rows;
  // A row of sums is padded so that lanes with different gates write to different banks.
  using Layout = FrontLayout<gates, Division>;
  static constexpr int sums_stride = Division::units + 32 / Layout::lanes * Layout::units;
  static constexpr int copied = input_gates > most_fused_inputs ? input_gates : most_fused_inputs;
  int rows, blocks;

  // Products come in groups of up to 4 rows, of which the last may be missing.
  __host__ __device__ int padded_rows() const { return rounded_up(rows, 4); }
  static constexpr int state = bell_floats;                                                     // h: [2][rows][width]
  __host__ __device__ int sums() const { return state + 2 * padded_rows() * Division::width; }  // [rows, gate][units]
  __host__ __device__ int copies() const { return sums() + padded_rows() * gates * sums_stride; }  // [slot][..][pair]
  __host__ __device__ int fused() const { return copies() + copy_slots * copied * Division::pairs; }
  // Input weights [gate, D], input bias [gate] and recurrent bias [gate], each [units].
  __host__ __device__ int end() const {
    return fused() + (input_gates * (most_fused_inputs + 1) + gates) * Division::units;
  }
  __host__ __device__ std::size_t bytes() const { return sizeof(float) * end(); }
};

#if defined(__CUDACC__)

/// One pointwise thread's row of the batch, and what it carries from step to step.
template <class Cell>
struct ForwardPair {
  int row;                          // of the cluster
  bool here;                        // whether there is such a row, and such a unit
  bool held;                        // at this step
  StepFlag ahead;                   // of the next step
  std::size_t at;                   // of this step, in [steps, B, H]
  float state[Cell::shape.states];  // before this step
  float input[Cell::shape.input_rows], recurrent[Cell::shape.recurrent_rows];  // without the products
  float next[Cell::shape.states], saved[at_least_one(Cell::shape.saved)];
};

template <class Cell, class Division>
struct ForwardBlock : Place<StepsForward, ForwardMemory<Cell, Division>, Division> {
  using Base = Place<StepsForward, ForwardMemory<Cell, Division>, Division>;
  using Base::Base;
  using Base::bell;
  using Base::block;
  using Base::blocks;
  using Base::call;
  using Base::copied;
  using Base::entry;
  using Base::flag;
  using Base::for_pairs;
  using Base::group;
  using Base::group_rows;
  using Base::local_unit;
  using Base::memory;
  using Base::rows;
  using Base::shared;
  using Base::thread;
  using Base::unit;
  using Memory = ForwardMemory<Cell, Division>;
  using Pair = ForwardPair<Cell>;
  using Layout = typename Memory::Layout;
  using Weights = typename Layout::Weights;
  static constexpr CellShape shape = Cell::shape;
  static constexpr int gates = shape.recurrent_rows;
  static constexpr int sums_ready = 1, state_ready = sums_ready + Division::groups;  // barriers, one for each group

  __device__ __forceinline__ float* state(int step, int row) const {
    return shared + Memory::state + ((step & 1) * memory.padded_rows() + row) * Division::width;
  }
  __device__ __forceinline__ void announce_state(int step, int group) const {
    bell(step, group).announce(static_cast<unsigned>(group_rows(group).count * call.hidden) * sizeof(float));
  }

  /// Number k of a row of a learner's states, for unit `of`.
  __device__ __forceinline__ std::size_t in_rows(int k, int row, int of) const {
    return static_cast<std::size_t>(rows.first + row) * call.state_size + k * call.hidden + of;
  }
  /// Tensor k before the first step.
  __device__ __forceinline__ float first_state(int k, int row, int of) const {
    if (!call.begins) return call.states[k * call.state_plane + entry(0, row) * call.hidden + of];
    return call.initial ? call.initial[in_rows(k, row, of)] : 0.0f;
  }

  // ---- pointwise threads.

  template <int passes>
  __device__ __forceinline__ void begin_pairs(Pair (&pairs)[passes]) const {
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
      pairs[pass].row = Base::pass_row(pass);
      pairs[pass].here = Base::pass_exists(pass);
    }
    for_pairs(pairs, [&](Pair& pair, int) {
      const StepFlag now = flag(0, pair.row);
      pair.held = now == StepFlag::hold;
      pair.at = entry(0, pair.row) * call.hidden + unit;
#pragma unroll
      for (int k = 0; k < shape.states; ++k) {
        const float before = first_state(k, pair.row, unit);
        if (call.begins) call.states[k * call.state_plane + pair.at] = before;
        pair.state[k] = now == StepFlag::reset ? 0.0f : before;
      }
    });
    for (int step = 0; step < copy_slots - 1; ++step) {
      for_pairs(pairs, [&](Pair& pair, int pass) { ask_for_input(step, pair, pass); });
      end_group();
    }
  }

  /// Asks for what the input gives to this thread's unit at `step`: x where the product is fused, else gates.
  __device__ __forceinline__ void ask_for_input(int step, const Pair& pair, int pass) const {
    if (step >= call.steps) return;
    const std::size_t here = entry(step, pair.row);
    if (call.input_gates) {
      const float* from = call.input_gates + here * shape.input_rows * call.hidden + unit;
#pragma unroll
      for (int gate = 0; gate < shape.input_rows; ++gate)
        copy_ahead(copied(step, gate, pass), from + gate * call.hidden);
    } else {
#pragma unroll
      for (int d = 0; d < most_fused_inputs; ++d)
        if (d < call.inputs) copy_ahead(copied(step, d, pass), call.x + here * call.inputs + d);
    }
  }

  /// Input weights and biases of the block's units. Both biases of a joint cell are one.
  __device__ __forceinline__ void load_fused() const {
    float* to = shared + memory.fused() + local_unit;
    if (group > 0 || thread >= Division::units || unit >= call.hidden) return;
    for (int gate = 0; gate < shape.input_rows; ++gate) {
      const int at = gate * call.hidden + unit;
      for (int d = 0; d < most_fused_inputs; ++d)
        to[(gate * most_fused_inputs + d) * Division::units] =
            !call.input_gates && d < call.inputs ? call.input_weights[static_cast<std::size_t>(at) * call.inputs + d]
                                                 : 0.0f;
      float bias = call.input_bias ? call.input_bias[at] : 0.0f;
      if (shape.joint && call.recurrent_bias) bias += call.recurrent_bias[at];
      to[(shape.input_rows * most_fused_inputs + gate) * Division::units] = bias;
    }
    for (int gate = 0; gate < gates; ++gate)
      to[(shape.input_rows * (most_fused_inputs + 1) + gate) * Division::units] =
          !shape.joint && call.recurrent_bias ? call.recurrent_bias[gate * call.hidden + unit] : 0.0f;
  }

  /// What of a step's gates does not depend on h.
  __device__ __forceinline__ void begin_gates(int step, Pair& pair, int pass) const {
    const float* weights = shared + memory.fused() + local_unit;
    const float* bias = weights + shape.input_rows * most_fused_inputs * Division::units;
    const float* recurrent_bias = bias + shape.input_rows * Division::units;
#pragma unroll
    for (int gate = 0; gate < shape.input_rows; ++gate) pair.input[gate] = bias[gate * Division::units];
    if (call.input_gates) {
#pragma unroll
      for (int gate = 0; gate < shape.input_rows; ++gate) pair.input[gate] += *copied(step, gate, pass);
    } else {
#pragma unroll
      for (int d = 0; d < most_fused_inputs; ++d)
        if (d < call.inputs) {
          const float x = *copied(step, d, pass);
#pragma unroll
          for (int gate = 0; gate < shape.input_rows; ++gate)
            pair.input[gate] = fmaf(weights[(gate * most_fused_inputs + d) * Division::units], x, pair.input[gate]);
        }
    }
#pragma unroll
    for (int gate = 0; gate < gates; ++gate)
      pair.recurrent[gate] = shape.joint ? 0.0f : recurrent_bias[gate * Division::units];
  }

  /// Everything of a step that need not wait for h: asks ahead, flags, the input's part of the gates.
  template <int passes>
  __device__ __forceinline__ void prepare_step(int step, Pair (&pairs)[passes]) const {
    for_pairs(pairs, [&](Pair& pair, int pass) {
      ask_for_input(step + copy_slots - 1, pair, pass);
      pair.ahead = flag(step + 1, pair.row);
    });
    end_group();
    wait_for_groups<copy_slots - 1>();
    for_pairs(pairs, [&](Pair& pair, int pass) { begin_gates(step, pair, pass); });
  }

  /// Hands h, as the next step sees it, to all blocks.
  __device__ __forceinline__ void send_state(int step, int row, float h) const {
    float* to = state(step, row) + unit;
    if constexpr (Division::one_block) {
      *to = h;
    } else {
      const unsigned address = shared_address(to), ring = bell(step, group).address;
#pragma unroll
      for (int other = 0; other < Division::width / Division::units; ++other)
        if (other < blocks) send(address_in_block(address, other), h, address_in_block(ring, other));
    }
  }

  /// The pointwise work of a step, once the products are there.
  __device__ __forceinline__ void finish_step(int step, Pair& pair) const {
    const float* sums = shared + memory.sums() + pair.row * gates * Memory::sums_stride + local_unit;
#pragma unroll
    for (int gate = 0; gate < gates; ++gate) pair.recurrent[gate] += sums[gate * Memory::sums_stride];
    Cell::template forward<float>(call.options, pair.input, pair.recurrent, pair.state, pair.next, pair.saved);
#pragma unroll
    for (int k = 0; k < shape.states; ++k) {
      pair.next[k] = pair.held ? pair.state[k] : pair.next[k];
      pair.state[k] = pair.ahead == StepFlag::reset ? 0.0f : pair.next[k];
    }
    pair.held = pair.ahead == StepFlag::hold;
    if (step + 1 < call.steps) send_state(step + 1, pair.row, pair.state[0]);
  }
  __device__ __forceinline__ void store_step(Pair& pair) const {
    const std::size_t after = pair.at + static_cast<std::size_t>(call.batch) * call.hidden;
#pragma unroll
    for (int k = 0; k < shape.states; ++k) call.states[k * call.state_plane + after] = pair.next[k];
    if (call.saved)
#pragma unroll
      for (int k = 0; k < shape.saved; ++k) call.saved[k * call.saved_plane + pair.at] = pair.saved[k];
    pair.at = after;
  }

  // ---- product threads.

  /// Until h of the group's rows before `step` is here, whole.
  __device__ __forceinline__ void wait_for_state(int step, int group) const {
    if (step == 0) return;
    if constexpr (Division::one_block) {
      meet<Division::meeting_threads>(state_ready + group);
    } else {
      bell(step, group).wait(((step - 1) >> 1) & 1);
      if (thread == 0) announce_state(step, group);
    }
  }

  __device__ __forceinline__ void multiply_all(int step, int group, const Weights& weights) const {
    const int lane = thread % Layout::lanes, first_unit = thread / Layout::lanes * Layout::units;
    float* sums = shared + memory.sums() + first_unit;
    const RowRange all = group_rows(group);
    for (int row = all.first; row < all.first + all.count; row += Division::product_rows) {
      const float* h = state(step, row);
      float* to = sums + row * gates * Memory::sums_stride;
      const int left = all.first + all.count - row;
      if (Division::product_rows == 2 && left > 1)
        multiply<2, gates, Division>(weights, h, lane, to, Memory::sums_stride);
      else
        multiply<1, gates, Division>(weights, h, lane, to, Memory::sums_stride);
    }
  }

  // ---- all threads.

  /// h before the first step, for all units: every block reads it for itself.
  __device__ __forceinline__ void load_first_state() const {
    for (int i = threadIdx.x; i < memory.padded_rows() * Division::width; i += Division::block_threads) {
      const int row = i / Division::width, column = i % Division::width;
      float h = 0.0f;
      if (row < rows.count && column < call.hidden && flag(0, row) != StepFlag::reset) h = first_state(0, row, column);
      state(0, 0)[i] = h;
      state(1, 0)[i] = 0.0f;  // what lies beyond the units there are stays zero
    }
  }
  __device__ __forceinline__ void load_product_weights(Weights& weights) const {
    load_weights<gates, Division>(call.recurrent_weights, call.hidden,
                                  block * Division::units + thread / Layout::lanes * Layout::units,
                                  thread % Layout::lanes, weights);
  }

  __device__ __forceinline__ void run_products() const {
    Weights weights;
    load_product_weights(weights);
    take_turn();
    load_first_state();
    Base::start_together();
    for (int step = 0; step < call.steps; ++step)
#pragma unroll
      for (int group = 0; group < Division::groups; ++group) {
        if (group_rows(group).count == 0) continue;
        wait_for_state(step, group);
        multiply_all(step, group, weights);
        arrive<Division::meeting_threads>(sums_ready + group);
      }
  }
  /// `passes`: enough for the rows of the cluster.
  template <int passes>
  __device__ __forceinline__ void run_pointwise() const {
    load_fused();
    take_turn();
    load_first_state();
    Pair pairs[passes];
    begin_pairs(pairs);
    Base::start_together();
    if (group_rows(group).count == 0) return;
    prepare_step(0, pairs);
    for (int step = 0; step < call.steps; ++step) {
      meet<Division::meeting_threads>(sums_ready + group);
      for_pairs(pairs, [&](Pair& pair, int) { finish_step(step, pair); });
      if (Division::one_block && step + 1 < call.steps) arrive<Division::meeting_threads>(state_ready + group);
      for_pairs(pairs, [&](Pair& pair, int) { store_step(pair); });
      prepare_step(step + 1, pairs);
    }
    if (call.final_state)
      for_pairs(pairs, [&](Pair& pair, int) {
#pragma unroll
        for (int k = 0; k < shape.states; ++k) call.final_state[in_rows(k, pair.row, unit)] = pair.next[k];
      });
  }

  __device__ __forceinline__ void run() const {
    // Parameters are never written by the kernel before; what a cell makes of them may be.
    if constexpr (requires { typename Cell::Weights; }) take_turn();
    Base::create_bells([&](int message, int of_group) { announce_state(message, of_group); });
    if (!Base::helps)
      run_products();
    else if (group_rows(0).count <= Division::pass_rows)
      run_pointwise<1>();
    else
      run_pointwise<Division::most_passes>();
    Base::end_together();
  }
};

template <class Cell, class Division>
__global__ void __launch_bounds__(Division::block_threads, 1)
    all_steps_forward(const __grid_constant__ StepsForward call) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  extern __shared__ float4 shared_memory[];
  ForwardBlock<Cell, Division>(call, reinterpret_cast<float*>(shared_memory)).run();
#endif
}

#endif  // __CUDACC__

}  // namespace throughtime::cuda
