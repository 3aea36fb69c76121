// All steps of a layer in one kernel, forward. Recurrent weights stay in registers; a cluster of blocks carries a few
// rows of the batch through all steps, and nothing but h travels between its blocks. A step:
//   every thread     waits for h of all units, multiplies its weights with it, hands the sums to its block
//   pointwise threads turn the gates of one unit of one row into its next state, and send h to all blocks
// Every sum has an order that depends on the division alone: a row's bits depend neither on the rows beside it nor on
// its cluster.
#pragma once

#include "engine/cuda/cells/division.cuh"
#include "engine/cuda/cells/exchange.cuh"
#include "engine/cuda/cells/pointwise.cuh"
#include "engine/cuda/device_cell.h"

namespace throughtime::cuda {

/// The shared memory of a block, in floats; `rows`: the most of any cluster.
template <class Cell, class Division>
struct ForwardMemory {
  static constexpr int gates = Cell::shape.recurrent_rows, input_gates = Cell::shape.input_rows;
  // A row of sums is padded so that lanes with different gates write to different banks.
  static constexpr int sums_stride = Division::units + 32 / Division::lanes;
  static constexpr int copied = input_gates > most_fused_inputs ? input_gates : most_fused_inputs;
  int rows;

  // Products come in groups of up to 4 rows, of which the last may be missing.
  __host__ __device__ int padded_rows() const { return rounded_up(rows, 4); }
  static constexpr int bells = 0;  // 2 for each group, of 8 bytes
  static constexpr int state = 8;  // h: [2][rows][width]
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

/// `count` (1, 2 or 4) neighbouring numbers of a row of weights, zeros from `valid` on. At once where `wide` says so.
template <int count>
__device__ __forceinline__ void load_neighbours(const float* from, int valid, bool wide, float* to) {
  if (wide && valid >= count) {
    if constexpr (count == 4) {
      const float4 four = __ldg(reinterpret_cast<const float4*>(from));
      to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
    } else if constexpr (count == 2) {
      const float2 two = __ldg(reinterpret_cast<const float2*>(from));
      to[0] = two.x, to[1] = two.y;
    } else {
      to[0] = __ldg(from);
    }
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i) to[i] = i < valid ? __ldg(from + i) : 0.0f;
  }
}
/// Whether rows of that many weights begin at addresses for wide loads.
__device__ __forceinline__ bool wide_rows(const float* weights, int hidden) {
  return hidden % 4 == 0 && reinterpret_cast<std::size_t>(weights) % 16 == 0;
}

/// The part of the recurrent weights that a thread holds: all gates of unit `unit`, columns (4 lanes) q + 4 lane + e.
template <int gates, class Division>
__device__ __forceinline__ void load_weights(const float* weights, int hidden, int unit, int lane,
                                             float (&held)[gates][Division::depth]) {
  const bool wide = wide_rows(weights, hidden);
#pragma unroll
  for (int gate = 0; gate < gates; ++gate)
#pragma unroll
    for (int q = 0; q < Division::depth / 4; ++q) {
      const int column = (q * Division::lanes + lane) * 4;
      const float* from = weights + (static_cast<std::size_t>(gate) * hidden + unit) * hidden + column;
      load_neighbours<4>(from, unit < hidden ? hidden - column : 0, wide, held[gate] + q * 4);
    }
}

/// Side by side sums of one product: enough of them that no addition waits for the one before.
constexpr int chains_for(int outputs) { return outputs >= 3 ? 1 : outputs == 2 ? 2 : 4; }
template <int chains>
__device__ __forceinline__ float add_up(const float (&part)[chains]) {
  if constexpr (chains == 4)
    return (part[0] + part[1]) + (part[2] + part[3]);
  else if constexpr (chains == 2)
    return part[0] + part[1];
  else
    return part[0];
}

/// sums [row, gate][unit] of `rows` rows: this thread's part of the products, added up over the lanes of its unit.
/// `state`: h of the first of these rows, [rows][width].
template <int rows, int gates, class Division>
__device__ __forceinline__ void multiply(const float (&weights)[gates][Division::depth], const float* state, int lane,
                                         float* sums, int sums_stride) {
  constexpr int chains = chains_for(gates), count = rows * gates, lanes = Division::lanes;
  float part[rows][gates][chains] = {};
#pragma unroll
  for (int q = 0; q < Division::depth / 4; ++q)
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const float4 h = *reinterpret_cast<const float4*>(state + row * Division::width + (q * lanes + lane) * 4);
      const float columns[4] = {h.x, h.y, h.z, h.w};
#pragma unroll
      for (int e = 0; e < 4; ++e)
#pragma unroll
        for (int gate = 0; gate < gates; ++gate)
          part[row][gate][e % chains] = fmaf(weights[gate][q * 4 + e], columns[e], part[row][gate][e % chains]);
    }
  float values[count];
#pragma unroll
  for (int i = 0; i < count; ++i) values[i] = add_up<chains>(part[i / gates][i % gates]);
  sum_over_lanes<count, lanes>(values, lane);
  constexpr int splits = most_splits(count, lanes);
  if (lane < splits)
#pragma unroll
    for (int i = 0; i < count / splits; ++i) sums[(i * splits + lane) * sums_stride] = values[i];
}

/// One pointwise thread's row of the batch, and what it carries from step to step.
template <class Cell>
struct ForwardPair {
  int row = 0;                       // of the cluster
  bool here = false;                 // whether there is such a row, and such a unit
  bool held = false;                 // at this step
  StepFlag ahead = StepFlag::go_on;  // of the next step
  float state[Cell::shape.states];   // before this step
  float input[Cell::shape.input_rows], recurrent[Cell::shape.recurrent_rows];  // without the products
};

template <class Cell, class Division>
struct ForwardBlock {
  using Memory = ForwardMemory<Cell, Division>;
  using Pairs = ForwardPair<Cell>[Division::passes];
  static constexpr CellShape shape = Cell::shape;
  static constexpr int gates = shape.recurrent_rows;
  static constexpr int sums_ready = 1, state_ready = sums_ready + Division::groups;  // barriers, one for each group

  const StepsForward& call;
  Memory memory;
  float* shared;
  int thread;  // of the product threads or of the pointwise threads
  int block, blocks;
  RowRange rows;
  int group;             // of a pointwise thread
  int local_unit, unit;  // of the pointwise work; `unit` counts over the cluster

  __device__ __forceinline__ std::size_t entry(int step, int row) const {
    return static_cast<std::size_t>(step) * call.batch + rows.first + row;
  }
  __device__ __forceinline__ float* state(int step, int row) const {
    return shared + Memory::state + ((step & 1) * memory.padded_rows() + row) * Division::width;
  }
  __device__ __forceinline__ RowRange group_rows(int group) const { return rows_of_group<Division>(rows.count, group); }
  __device__ __forceinline__ Bell bell(int step, int group) const {
    return {shared_address(shared + Memory::bells) + (group * 2 + (step & 1)) * 8};
  }
  __device__ __forceinline__ void announce_state(int step, int group) const {
    bell(step, group).announce(static_cast<unsigned>(group_rows(group).count * call.hidden) * sizeof(float));
  }
  /// Number i of what was copied ahead for this thread's row in `pass` of `group`.
  __device__ __forceinline__ float* copied(int step, int i, int pass) const {
    return shared + memory.copies() + ((step % copy_slots) * Memory::copied + i) * Division::pairs +
           (group * Division::passes + pass) * Division::group_threads + thread;
  }
  template <class Action>
  static __device__ __forceinline__ void for_passes(Action action) {
#pragma unroll
    for (int pass = 0; pass < Division::passes; ++pass) action(pass);
  }

  // ---- pointwise threads.

  __device__ __forceinline__ StepFlag flag(int step, int row) const {
    if (!call.flags || step >= call.steps) return StepFlag::go_on;
    return static_cast<StepFlag>(call.flags[entry(step, row)]);
  }

  __device__ __forceinline__ void begin_pairs(Pairs& pairs) const {
    for_passes([&](int pass) {
      auto& pair = pairs[pass];
      const int row = thread / Division::units + pass * Division::pass_rows;
      pair.row = group_rows(group).first + row;
      pair.here = row < group_rows(group).count && unit < call.hidden;
      if (!pair.here) return;
      const StepFlag now = flag(0, pair.row);
      pair.held = now == StepFlag::hold;
#pragma unroll
      for (int k = 0; k < shape.states; ++k)
        pair.state[k] =
            now == StepFlag::reset ? 0.0f : call.states[k * call.state_plane + entry(0, pair.row) * call.hidden + unit];
    });
  }

  /// Asks for what the input gives to this thread's units at `step`: x where the product is fused, else gates.
  __device__ __forceinline__ void ask_for_input(int step, const Pairs& pairs) const {
    if (step < call.steps)
      for_passes([&](int pass) {
        if (!pairs[pass].here) return;
        const std::size_t here = entry(step, pairs[pass].row);
        if (call.input_gates) {
          const float* from = call.input_gates + here * shape.input_rows * call.hidden + unit;
#pragma unroll
          for (int gate = 0; gate < shape.input_rows; ++gate)
            copy_ahead(copied(step, gate, pass), from + gate * call.hidden);
        } else {
          const float* from = call.x + here * call.inputs;
#pragma unroll
          for (int d = 0; d < most_fused_inputs; ++d)
            if (d < call.inputs) copy_ahead(copied(step, d, pass), from + d);
        }
      });
    end_group();
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
      float bias = !call.input_gates && call.input_bias ? call.input_bias[at] : 0.0f;
      if (shape.joint && call.recurrent_bias) bias += call.recurrent_bias[at];
      to[(shape.input_rows * most_fused_inputs + gate) * Division::units] = bias;
    }
    for (int gate = 0; gate < gates; ++gate)
      to[(shape.input_rows * (most_fused_inputs + 1) + gate) * Division::units] =
          !shape.joint && call.recurrent_bias ? call.recurrent_bias[gate * call.hidden + unit] : 0.0f;
  }

  /// What of a step's gates does not depend on h, and the flags of the next step.
  __device__ __forceinline__ void begin_gates(int step, Pairs& pairs) const {
    for_passes([&](int pass) {
      auto& pair = pairs[pass];
      if (pair.here) pair.ahead = flag(step + 1, pair.row);
    });
    wait_for_groups<copy_slots - 1>();
    const float* weights = shared + memory.fused() + local_unit;
    const float* bias = weights + shape.input_rows * most_fused_inputs * Division::units;
    const float* recurrent_bias = bias + shape.input_rows * Division::units;
    for_passes([&](int pass) {
      auto& pair = pairs[pass];
      if (!pair.here) return;
#pragma unroll
      for (int gate = 0; gate < shape.input_rows; ++gate) {
        float sum = bias[gate * Division::units];
        if (call.input_gates)
          sum += *copied(step, gate, pass);
        else
#pragma unroll
          for (int d = 0; d < most_fused_inputs; ++d)
            if (d < call.inputs)
              sum = fmaf(weights[(gate * most_fused_inputs + d) * Division::units], *copied(step, d, pass), sum);
        pair.input[gate] = sum;
      }
#pragma unroll
      for (int gate = 0; gate < gates; ++gate) pair.recurrent[gate] = recurrent_bias[gate * Division::units];
    });
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
  __device__ __forceinline__ void finish_step(int step, Pairs& pairs) const {
    const bool last = step + 1 == call.steps;
    float next[Division::passes][shape.states], saved[Division::passes][at_least_one(shape.saved)];
    for_passes([&](int pass) {
      auto& pair = pairs[pass];
      if (!pair.here) return;
      const float* sums = shared + memory.sums() + pair.row * gates * Memory::sums_stride + local_unit;
#pragma unroll
      for (int gate = 0; gate < gates; ++gate) pair.recurrent[gate] += sums[gate * Memory::sums_stride];
      Cell::template forward<float>(call.options, pair.input, pair.recurrent, pair.state, next[pass], saved[pass]);
#pragma unroll
      for (int k = 0; k < shape.states; ++k) {
        next[pass][k] = pair.held ? pair.state[k] : next[pass][k];
        pair.state[k] = pair.ahead == StepFlag::reset ? 0.0f : next[pass][k];
      }
      pair.held = pair.ahead == StepFlag::hold;
      if (!last) send_state(step + 1, pair.row, pair.state[0]);
    });
    if (Division::one_block && Division::helpers > 0 && !last) arrive<Division::meeting_threads>(state_ready + group);
    for_passes([&](int pass) {
      if (!pairs[pass].here) return;
      const std::size_t at = entry(step, pairs[pass].row) * call.hidden + unit;
      const std::size_t after = at + static_cast<std::size_t>(call.batch) * call.hidden;
#pragma unroll
      for (int k = 0; k < shape.states; ++k) call.states[k * call.state_plane + after] = next[pass][k];
      if (call.saved)
#pragma unroll
        for (int k = 0; k < shape.saved; ++k) call.saved[k * call.saved_plane + at] = saved[pass][k];
    });
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

  __device__ __forceinline__ void multiply_all(int step, int group,
                                               const float (&weights)[gates][Division::depth]) const {
    const int lane = thread % Division::lanes, product_unit = thread / Division::lanes;
    float* sums = shared + memory.sums() + product_unit;
    const RowRange all = group_rows(group);
    for (int row = all.first; row < all.first + all.count; row += Division::product_rows) {
      const float* h = state(step, row);
      float* to = sums + row * gates * Memory::sums_stride;
      const int left = all.first + all.count - row;
      if (Division::product_rows > 2 && left > 2)
        multiply<Division::product_rows, gates, Division>(weights, h, lane, to, Memory::sums_stride);
      else if (left >= 2)
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
      if (row < rows.count && column < call.hidden && flag(0, row) != StepFlag::reset)
        h = call.states[entry(0, row) * call.hidden + column];
      state(0, 0)[i] = h;
      state(1, 0)[i] = 0.0f;  // what lies beyond the units there are stays zero
    }
  }
  __device__ __forceinline__ void create_bells() const {
    for (int i = 0; i < 2 * Division::groups; ++i) bell(i % 2, i / 2).create();
    Bell::publish_creation();
    for (int i = 0; i < 2 * Division::groups; ++i) announce_state(i % 2, i / 2);
  }
  __device__ __forceinline__ void start_together() const {
    if constexpr (Division::one_block)
      meet<Division::block_threads>(0);
    else
      synchronize_cluster();
  }
  __device__ __forceinline__ void load_product_weights(float (&weights)[gates][Division::depth]) const {
    load_weights<gates, Division>(call.recurrent_weights, call.hidden,
                                  block * Division::units + thread / Division::lanes, thread % Division::lanes,
                                  weights);
  }
  __device__ __forceinline__ void prepare_pairs(Pairs& pairs) const {
    begin_pairs(pairs);
    for (int step = 0; step < copy_slots - 1; ++step) ask_for_input(step, pairs);
    load_fused();
  }

  /// Every thread has both kinds of work.
  __device__ __forceinline__ void run_alike() const {
    float weights[gates][Division::depth];
    Pairs pairs;
    load_product_weights(weights);
    prepare_pairs(pairs);
    start_together();
    for (int step = 0; step < call.steps; ++step) {
      ask_for_input(step + copy_slots - 1, pairs);
      begin_gates(step, pairs);
      wait_for_state(step, 0);
      multiply_all(step, 0, weights);
      meet<Division::meeting_threads>(sums_ready);
      finish_step(step, pairs);
    }
  }
  __device__ __forceinline__ void run_products() const {
    float weights[gates][Division::depth];
    load_product_weights(weights);
    start_together();
    for (int step = 0; step < call.steps; ++step)
#pragma unroll
      for (int group = 0; group < Division::groups; ++group) {
        if (group_rows(group).count == 0) continue;
        wait_for_state(step, group);
        multiply_all(step, group, weights);
        arrive<Division::meeting_threads>(sums_ready + group);
      }
  }
  __device__ __forceinline__ void run_pointwise() const {
    Pairs pairs;
    prepare_pairs(pairs);
    start_together();
    if (group_rows(group).count == 0) return;
    for (int step = 0; step < call.steps; ++step) {
      ask_for_input(step + copy_slots - 1, pairs);
      begin_gates(step, pairs);
      meet<Division::meeting_threads>(sums_ready + group);
      finish_step(step, pairs);
    }
  }

  __device__ __forceinline__ void run() const {
    if (!Division::one_block && threadIdx.x == 0) create_bells();
    load_first_state();
    if constexpr (Division::helpers == 0)
      run_alike();
    else if (threadIdx.x < Division::threads)
      run_products();
    else
      run_pointwise();
    if constexpr (!Division::one_block) synchronize_cluster();  // no block leaves while another may write to it
  }
};

template <class Cell, class Division>
__global__ void __launch_bounds__(Division::block_threads, 1)
    all_steps_forward(const __grid_constant__ StepsForward call) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  extern __shared__ float4 shared_memory[];
  const int blocks = Division::one_block ? 1 : static_cast<int>(blocks_of_cluster());
  const int block = Division::one_block ? 0 : static_cast<int>(block_in_cluster());
  const int clusters = static_cast<int>(gridDim.x) / blocks;
  int thread = static_cast<int>(threadIdx.x), group = 0;
  if (Division::helpers > 0 && thread >= Division::threads) {
    group = (thread - Division::threads) / Division::group_threads;
    thread = (thread - Division::threads) % Division::group_threads;
  }
  const int local_unit = thread % Division::units;
  ForwardBlock<Cell, Division>{call,
                               {most_rows_of_cluster(call.batch, clusters)},
                               reinterpret_cast<float*>(shared_memory),
                               thread,
                               block,
                               blocks,
                               rows_of_cluster(call.batch, static_cast<int>(blockIdx.x) / blocks, clusters),
                               group,
                               local_unit,
                               block * Division::units + local_unit}
      .run();
#endif
}

#endif  // __CUDACC__

}  // namespace throughtime::cuda
