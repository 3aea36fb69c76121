// All steps of a layer in one kernel, backward: the same division as forward (recurrence_forward.cuh), each block with
// the gate rows of its own units. A step:
//   pointwise threads wait for what the step after it left at their unit (one number from each block), and turn it into
//                     the cotangents of the unit's gates, for their block, and of its state
//   every thread      multiplies its weights with the cotangents of its block's gates: this block's part of dL/dh of
//   all
//                     units, which goes to the blocks that have them
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
struct BackwardMemory {
  static constexpr CellShape shape = Cell::shape;
  // Gates of a unit lie side by side, three as if they were four: [unit][gate_stride].
  static constexpr int gates = shape.recurrent_rows, gate_stride = gates == 3 ? 4 : gates;
  // What is copied ahead, for each row and unit.
  static constexpr int saved = 0, states = saved + shape.saved, cotangents = states + shape.states,
                       d_outputs = cotangents + shape.states, from_above = d_outputs + 1, copied = from_above + 1;
  int rows, blocks;

  __host__ __device__ int padded_rows() const { return rounded_up(rows, 4); }
  static constexpr int d_gates = bell_floats;  // [2][rows][units][gate_stride]; 2, since a fast warp is a step ahead
  __host__ __device__ int parts() const {
    return d_gates + 2 * padded_rows() * Division::units * gate_stride;  // [2][blocks][rows][units]
  }
  __host__ __device__ int copies() const {
    return parts() + 2 * blocks * rows * Division::units;  // [slot][copied][pair]
  }
  __host__ __device__ int end() const { return copies() + copy_slots * copied * Division::pairs; }
  __host__ __device__ std::size_t bytes() const { return sizeof(float) * end(); }
};

#if defined(__CUDACC__)

/// One pointwise thread's row of the batch, and what it carries from step to step.
template <class Cell>
struct BackwardPair {
  int row;                           // of the cluster
  bool here;                         // whether there is such a row, and such a unit
  StepFlag flag, before;             // of this step, and of the one before it
  bool left_nothing;                 // the step after this one reset the row
  float next[Cell::shape.states];    // the state after this step
  float d_next[Cell::shape.states];  // its cotangent, without the products
  float d_input[Cell::shape.input_rows], d_recurrent[Cell::shape.recurrent_rows];
};

template <class Cell, class Division>
struct BackwardBlock : Place<StepsBackward, BackwardMemory<Cell, Division>, Division> {
  using Base = Place<StepsBackward, BackwardMemory<Cell, Division>, Division>;
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
  using Memory = BackwardMemory<Cell, Division>;
  using Layout = BackLayout<Cell::shape.recurrent_rows, Division>;
  using Weights = float[Layout::numbers][Division::columns];
  using Pair = BackwardPair<Cell>;
  static constexpr CellShape shape = Cell::shape;
  static constexpr int gates = shape.recurrent_rows;
  static constexpr int gates_ready = 1, parts_ready = gates_ready + Division::groups;  // barriers, one for each group

  __device__ __forceinline__ float* d_gates(int turn, int row) const {
    return shared + Memory::d_gates + ((turn & 1) * memory.padded_rows() + row) * Division::units * Layout::gate_stride;
  }
  // Message n: what turn n - 1 left. Turn 0 is the last step.
  __device__ __forceinline__ float* part(int message, int from_block, int row) const {
    return shared + memory.parts() + (((message & 1) * blocks + from_block) * memory.rows + row) * Division::units;
  }
  __device__ __forceinline__ void announce_parts(int message, int group) const {
    const int units = min(Division::units, call.hidden - block * Division::units);
    bell(message, group).announce(static_cast<unsigned>(blocks * group_rows(group).count * units) * sizeof(float));
  }

  // ---- pointwise threads.

  __device__ __forceinline__ std::size_t carry_at(int tensor, const Pair& pair) const {
    return (static_cast<std::size_t>(tensor) * call.batch + rows.first + pair.row) * call.hidden + unit;
  }

  template <int passes>
  __device__ __forceinline__ void begin_pairs(Pair (&pairs)[passes]) const {
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
      pairs[pass].row = Base::pass_row(pass);
      pairs[pass].here = Base::pass_exists(pass);
    }
    for_pairs(pairs, [&](Pair& pair, int) {
      pair.flag = flag(call.steps - 1, pair.row);
      pair.left_nothing = false;
#pragma unroll
      for (int k = 0; k < shape.states; ++k) {
        pair.next[k] = call.states[k * call.state_plane + entry(call.steps, pair.row) * call.hidden + unit];
        pair.d_next[k] = k < call.carried ? call.carry[carry_at(k, pair)] : 0.0f;
      }
    });
    for (int ahead = 1; ahead < copy_slots; ++ahead) {
      for_pairs(pairs, [&](Pair& pair, int pass) { ask_for_tape(call.steps - ahead, pair, pass); });
      end_group();
    }
  }

  /// Asks for the tape of `step` and what else arrives there.
  __device__ __forceinline__ void ask_for_tape(int step, const Pair& pair, int pass) const {
    if (step < 0) return;
    const std::size_t here = entry(step, pair.row), at = here * call.hidden + unit;
    const auto ask = [&](int i, const float* from) { copy_ahead(copied(step, i, pass), from); };
#pragma unroll
    for (int k = 0; k < shape.saved; ++k) ask(Memory::saved + k, call.saved + k * call.saved_plane + at);
#pragma unroll
    for (int k = 0; k < shape.states; ++k) ask(Memory::states + k, call.states + k * call.state_plane + at);
    if (call.step_cotangents)
#pragma unroll
      for (int k = 0; k < shape.states; ++k)
        ask(Memory::cotangents + k, call.step_cotangents + here * call.state_size + k * call.hidden + unit);
    if (call.d_outputs) ask(Memory::d_outputs, call.d_outputs + at);
    if (call.from_above) ask(Memory::from_above, call.from_above + at);
  }

  /// Asks ahead, and waits for what was asked for `step`; the flags of the step before come along.
  template <int passes>
  __device__ __forceinline__ void prepare_step(int step, Pair (&pairs)[passes]) const {
    for_pairs(pairs, [&](Pair& pair, int pass) {
      ask_for_tape(step - copy_slots + 1, pair, pass);
      pair.before = flag(step - 1, pair.row);
    });
    end_group();
    wait_for_groups<copy_slots - 1>();
  }

  /// Until what turn `turn` - 1 left for the group's rows is here, whole.
  __device__ __forceinline__ void wait_for_parts(int turn) const {
    if (turn == 0) return;
    if constexpr (Division::one_block) {
      meet<Division::meeting_threads>(parts_ready + group);
    } else {
      bell(turn, group).wait(((turn - 1) >> 1) & 1);
      if (thread == 0) announce_parts(turn, group);
    }
  }

  /// dL/d(state) as the step that ran last (in turn `turn` - 1) left it.
  __device__ __forceinline__ void receive(int turn, const Pair& pair, float* d_next) const {
#pragma unroll
    for (int k = 0; k < shape.states; ++k) d_next[k] = pair.d_next[k];
    if (turn > 0)
#pragma unroll
      for (int from = 0; from < Division::width / Division::units; ++from)
        if (from < blocks) d_next[0] += part(turn, from, pair.row)[local_unit];
#pragma unroll
    for (int k = 0; k < shape.states; ++k) d_next[k] = pair.left_nothing ? 0.0f : d_next[k];
  }

  /// Adds what arrives at the state after `step`, and writes the sum down where it is asked for.
  __device__ __forceinline__ void add_cotangents(int step, int pass, const Pair& pair, float* d_next) const {
    if (call.step_cotangents)
#pragma unroll
      for (int k = 0; k < shape.states; ++k) d_next[k] += *copied(step, Memory::cotangents + k, pass);
    if (call.d_outputs) d_next[0] += *copied(step, Memory::d_outputs, pass);
    if (call.taps)
#pragma unroll
      for (int k = 0; k < shape.states; ++k)
        call.taps[entry(step, pair.row) * call.state_size + k * call.hidden + unit] = d_next[k];
    if (call.from_above && pair.flag != StepFlag::hold) d_next[0] += *copied(step, Memory::from_above, pass);
  }

  /// The pointwise work of a step, up to the cotangents of gates, which go to the product threads.
  __device__ __forceinline__ void begin_step(int step, int turn, int pass, Pair& pair) const {
    float d_next[shape.states], d_state[shape.states], saved[at_least_one(shape.saved)], state[shape.states];
    float raw_state[shape.states];
#pragma unroll
    for (int k = 0; k < shape.saved; ++k) saved[k] = *copied(step, Memory::saved + k, pass);
#pragma unroll
    for (int k = 0; k < shape.states; ++k) {
      raw_state[k] = *copied(step, Memory::states + k, pass);
      state[k] = pair.flag == StepFlag::reset ? 0.0f : raw_state[k];
    }
    receive(turn, pair, d_next);
    add_cotangents(step, pass, pair, d_next);
    Cell::template backward<float>(call.options, saved, state, pair.next, d_next, pair.d_input, pair.d_recurrent,
                                   d_state);
    const bool held = pair.flag == StepFlag::hold;
#pragma unroll
    for (int gate = 0; gate < shape.input_rows; ++gate) pair.d_input[gate] = held ? 0.0f : pair.d_input[gate];
#pragma unroll
    for (int gate = 0; gate < gates; ++gate) {
      pair.d_recurrent[gate] = shape.joint ? pair.d_input[gate] : held ? 0.0f : pair.d_recurrent[gate];
      d_gates(turn, pair.row)[local_unit * Layout::gate_stride + gate] = pair.d_recurrent[gate];
    }
#pragma unroll
    for (int k = 0; k < shape.states; ++k) {
      pair.d_next[k] = held ? d_next[k] : d_state[k];
      pair.next[k] = raw_state[k];
    }
    pair.left_nothing = pair.flag == StepFlag::reset;
    pair.flag = pair.before;
  }
  __device__ __forceinline__ void store_step(int step, const Pair& pair) const {
    const std::size_t here = entry(step, pair.row);
    store_gates<shape.input_rows>(pair.d_input, here, call.hidden, unit, call.d_input_gates);
    if constexpr (!shape.joint) store_gates<gates>(pair.d_recurrent, here, call.hidden, unit, call.d_recurrent_gates);
  }

  __device__ __forceinline__ void write_carry(const Pair& pair) const {
    float d_first[shape.states];
    receive(call.steps, pair, d_first);
#pragma unroll
    for (int k = 0; k < shape.states; ++k) call.carry[carry_at(k, pair)] = d_first[k];
  }

  // ---- product threads.

  /// Sends this thread's share of the products of `count` rows to the blocks that have those units.
  template <int count>
  __device__ __forceinline__ void send_parts(int turn, int group, int row, int first_column, int lane,
                                             const float* values) const {
    constexpr int columns = Division::columns, splits = most_splits(count * columns, Division::back_lanes);
    if (lane >= splits) return;
#pragma unroll
    for (int i = 0; i < count * columns / splits; ++i) {
      const int index = i * splits + lane, to_row = row + index / columns, column = first_column + index % columns;
      if (to_row >= rows.count || column >= call.hidden) continue;
      float* to = part(turn + 1, block, to_row) + column % Division::units;
      if constexpr (Division::one_block) {
        *to = values[i];
      } else {
        const int owner = column / Division::units;
        send(address_in_block(shared_address(to), owner), values[i],
             address_in_block(bell(turn + 1, group).address, owner));
      }
    }
  }
  template <int count>
  __device__ __forceinline__ void multiply_some(int turn, int group, int row, const Weights& weights) const {
    const int lane = thread % Division::back_lanes, first_column = thread / Division::back_lanes * Division::columns;
    float values[count * Division::columns];
    multiply_back<count, gates, Division>(weights, d_gates(turn, row), lane, values);
    send_parts<count>(turn, group, row, first_column, lane, values);
  }
  __device__ __forceinline__ void multiply_all(int turn, int group, const Weights& weights) const {
    const RowRange all = group_rows(group);
    for (int row = all.first; row < all.first + all.count; row += Division::product_rows) {
      const int left = all.first + all.count - row;
      if (Division::product_rows == 2 && left > 1)
        multiply_some<2>(turn, group, row, weights);
      else
        multiply_some<1>(turn, group, row, weights);
    }
  }

  // ---- all threads.

  /// Units that do not exist have no cotangents.
  __device__ __forceinline__ void clear_gates() const {
    const int all = 2 * memory.padded_rows() * Division::units * Layout::gate_stride;
    for (int i = threadIdx.x; i < all; i += Division::block_threads) d_gates(0, 0)[i] = 0.0f;
  }
  __device__ __forceinline__ void load_product_weights(Weights& weights) const {
    load_weights_back<gates, Division>(call.recurrent_weights, call.hidden, block * Division::units,
                                       thread / Division::back_lanes * Division::columns, thread % Division::back_lanes,
                                       weights);
  }
  __device__ __forceinline__ void run_products() const {
    Weights weights;
    load_product_weights(weights);
    take_turn();
    Base::start_together();
    for (int turn = 0; turn < call.steps; ++turn)
#pragma unroll
      for (int group = 0; group < Division::groups; ++group) {
        if (group_rows(group).count == 0) continue;
        meet<Division::meeting_threads>(gates_ready + group);
        multiply_all(turn, group, weights);
        if (Division::one_block) arrive<Division::meeting_threads>(parts_ready + group);
      }
  }
  /// `passes`: enough for the rows of the cluster.
  template <int passes>
  __device__ __forceinline__ void run_pointwise() const {
    take_turn();
    Pair pairs[passes];
    begin_pairs(pairs);
    Base::start_together();
    if (group_rows(group).count == 0) return;
    prepare_step(call.steps - 1, pairs);
    for (int turn = 0; turn < call.steps; ++turn) {
      const int step = call.steps - 1 - turn;
      wait_for_parts(turn);
      for_pairs(pairs, [&](Pair& pair, int pass) { begin_step(step, turn, pass, pair); });
      arrive<Division::meeting_threads>(gates_ready + group);
      for_pairs(pairs, [&](Pair& pair, int) { store_step(step, pair); });
      prepare_step(step - 1, pairs);
    }
    wait_for_parts(call.steps);
    for_pairs(pairs, [&](Pair& pair, int) { write_carry(pair); });
  }

  __device__ __forceinline__ void run() const {
    // As on the way forward.
    if constexpr (requires { typename Cell::Weights; }) take_turn();
    Base::create_bells([&](int message, int of_group) { announce_parts(message, of_group); });
    clear_gates();
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
    all_steps_backward(const __grid_constant__ StepsBackward call) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  extern __shared__ float4 shared_memory[];
  BackwardBlock<Cell, Division>(call, reinterpret_cast<float*>(shared_memory)).run();
#endif
}

#endif  // __CUDACC__

}  // namespace throughtime::cuda
