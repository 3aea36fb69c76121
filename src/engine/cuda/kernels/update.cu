#include "engine/cuda/kernels/update.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "engine/cuda/context.h"
#include "engine/cuda/kernels/aligned.h"
#include "engine/cuda/kernels/reduce.cuh"
#include "engine/cuda/kernels/turns.cuh"
#include "engine/cuda/kernels/update_body.h"
#include "engine/cuda/kernels/vectors.h"
#include "optimizers/adadelta-inl.h"
#include "optimizers/adagrad-inl.h"
#include "optimizers/adam-inl.h"
#include "optimizers/anchored-inl.h"
#include "optimizers/asgd-inl.h"
#include "optimizers/momentum-inl.h"
#include "optimizers/rmsprop-inl.h"
#include "optimizers/rmsprop_tf1-inl.h"
#include "optimizers/sgd-inl.h"

namespace throughtime::cuda {
namespace {

constexpr int most_threads = 512;

/// An update cut by its size alone: thread t takes runs t, t + threads, ... of four parameters.
struct Plan {
  Update call;
  int blocks = 1, threads = 128;
  int aligned = 0;  // four numbers may be read at once; the sums' order is the same without
  int summed = 0;   // squares are summed before the step
};

Plan make_plan(const Update& call) {
  Plan plan{call};
  const std::size_t fours = (call.count + 3) / 4;
  plan.threads = fours <= 128 * most_partials ? 128 : most_threads;
  plan.blocks = static_cast<int>(std::min<std::size_t>(most_partials, (fours + plan.threads - 1) / plan.threads));
  plan.aligned =
      aligned_to_fours(call.weights, call.gradient, call.moments[0], call.moments[1], call.average, call.multiplier);
  plan.summed = call.regularised || call.clipped || call.norm;
  return plan;
}

struct Four {
  float v[4];
};

/// Numbers [at, at + 4) of a vector; zeros behind its end.
__device__ __forceinline__ Four load_four(const Plan& plan, const float* from, std::size_t at) {
  if (plan.aligned && at + 4 <= plan.call.count) {
    const float4 x = *reinterpret_cast<const float4*>(from + at);
    return {{x.x, x.y, x.z, x.w}};
  }
  Four four;
  for (int k = 0; k < 4; ++k) four.v[k] = at + k < plan.call.count ? from[at + k] : 0.0f;
  return four;
}

__device__ __forceinline__ void store_four(const Plan& plan, const Four& four, float* to, std::size_t at) {
  if (plan.aligned && at + 4 <= plan.call.count) {
    *reinterpret_cast<float4*>(to + at) = make_float4(four.v[0], four.v[1], four.v[2], four.v[3]);
    return;
  }
  for (int k = 0; k < 4; ++k)
    if (at + k < plan.call.count) to[at + k] = four.v[k];
}

__device__ __forceinline__ std::size_t first_of_thread() {
  return 4 * (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x);
}
__device__ __forceinline__ std::size_t next_of_thread() { return 4 * static_cast<std::size_t>(gridDim.x) * blockDim.x; }

// partial [5][most_partials]: of each block, what these name.
enum Partial { partial_total, partial_clamped, partial_loss, partial_regulariser, partial_distance };

__device__ __forceinline__ void leave_sum(const Plan& plan, Partial which, double mine) {
  const double sum = BlockGroup::here().sum(mine);
  if (threadIdx.x == 0) plan.call.partial[which * most_partials + blockIdx.x] = sum;
}

/// The sum over all blocks, for the lanes of a warp.
__device__ __forceinline__ double total_of(const Plan& plan, Partial which) {
  const WarpGroup warp = WarpGroup::here(warp_lanes);
  const double* partial = plan.call.partial + which * most_partials;
  double own[most_partials / warp_lanes], sum = 0;
  for (int k = 0; k < most_partials / warp_lanes; ++k) {
    const int block = k * warp_lanes + warp.lane;
    own[k] = block < plan.blocks ? partial[block] : 0.0;
  }
  for (const double x : own) sum += x;
  return warp.sum(sum);
}

/// FPTT's terms join the gradient; sums of squares of each block.
template <bool regularised>
__global__ void __launch_bounds__(most_threads) prepare_update(const Plan plan) {
  take_turn();
  const Update& call = plan.call;
  const TermNumbers k(call, *call.numbers);
  Squares squares;
  for (std::size_t at = first_of_thread(); at < call.count; at += next_of_thread()) {
    Four gradient = load_four(plan, call.gradient, at);
    if constexpr (regularised) {
      const Four weight = load_four(plan, call.weights, at), average = load_four(plan, call.average, at);
      const Four multiplier = load_four(plan, call.multiplier, at);
      for (int i = 0; i < 4; ++i)
        gradient.v[i] = join_terms(k, gradient.v[i], weight.v[i], average.v[i], multiplier.v[i], squares);
      store_four(plan, gradient, call.gradient, at);
    }
    for (int i = 0; i < 4; ++i) add_squares(k, gradient.v[i], squares);
  }
  leave_sum(plan, partial_total, squares.total);
  if (call.numbers->clip_value > 0) leave_sum(plan, partial_clamped, squares.clamped);
  if (!regularised || !call.diagnostics) return;
  leave_sum(plan, partial_loss, squares.loss);
  leave_sum(plan, partial_regulariser, squares.regulariser);
}

/// What a thread holds of its four parameters.
template <class Rule, bool settles>
struct Parameters {
  Four gradient, weight, moment[Rule::moments + 1], average, multiplier;

  __device__ __forceinline__ void load(const Plan& plan, std::size_t at) {
    const Update& call = plan.call;
    gradient = load_four(plan, call.gradient, at);
    weight = load_four(plan, call.weights, at);
    for (int m = 0; m < Rule::moments; ++m) moment[m] = load_four(plan, call.moments[m], at);
    if constexpr (settles) {
      average = load_four(plan, call.average, at);
      multiplier = load_four(plan, call.multiplier, at);
    }
  }

  /// Returns the squares of W - W-bar of the first `inside`; behind them is what has no place.
  __device__ __forceinline__ double step(const StepNumbers& k, std::size_t inside) {
    double distance = 0;
    for (int i = 0; i < 4; ++i) {
      float own[Rule::moments + 1];
      for (int m = 0; m < Rule::moments; ++m) own[m] = moment[m].v[i];
      step_one<Rule>(k, gradient.v[i], weight.v[i], own);
      for (int m = 0; m < Rule::moments; ++m) moment[m].v[i] = own[m];
      if constexpr (settles) {
        const double square = settle_one(k, weight.v[i], average.v[i], multiplier.v[i]);
        if (static_cast<std::size_t>(i) < inside) distance += square;
      }
    }
    return distance;
  }

  __device__ __forceinline__ void store(const Plan& plan, std::size_t at) const {
    const Update& call = plan.call;
    store_four(plan, weight, call.weights, at);
    for (int m = 0; m < Rule::moments; ++m) store_four(plan, moment[m], call.moments[m], at);
    if constexpr (settles) {
      store_four(plan, average, call.average, at);
      store_four(plan, multiplier, call.multiplier, at);
    }
  }
};

/// Every block adds up the squares of all, in the same order: its first warp does.
__device__ __forceinline__ Squares all_squares(const Plan& plan) {
  Squares squares;
  if (!plan.summed) return squares;
  squares.total = total_of(plan, partial_total);
  if (plan.call.numbers->clip_value > 0) squares.clamped = total_of(plan, partial_clamped);
  return squares;
}

/// The rule steps, W-bar and lambda settle. The first parameters are on their way while the squares are added up.
template <class Rule, bool settles>
__global__ void __launch_bounds__(most_threads) step_update(const Plan plan) {
  take_turn();
  __shared__ alignas(StepNumbers) unsigned char room[sizeof(StepNumbers)];
  const Update& call = plan.call;
  std::size_t at = first_of_thread();
  Parameters<Rule, settles> own;
  if (at < call.count) own.load(plan, at);
  if (threadIdx.x < warp_lanes) {
    const Squares squares = all_squares(plan);
    if (threadIdx.x == 0) new (room) StepNumbers(call, *call.numbers, squares);
    if (threadIdx.x == 0 && blockIdx.x == 0 && call.norm)
      *call.norm = static_cast<float>(gradient_norm(call, *call.numbers, squares));
  }
  __syncthreads();
  const StepNumbers k = *reinterpret_cast<const StepNumbers*>(room);
  double distance = 0;
  while (at < call.count) {
    distance += own.step(k, call.count - at);
    own.store(plan, at);
    at += next_of_thread();
    if (at < call.count) own.load(plan, at);
  }
  if (settles && call.diagnostics) leave_sum(plan, partial_distance, distance);
}

/// A warp for each of the three.
__global__ void __launch_bounds__(3 * warp_lanes) write_diagnostics(const Plan plan) {
  take_turn();
  const int which = static_cast<int>(threadIdx.x) / warp_lanes;
  const double squares = total_of(plan, which == 0   ? partial_loss
                                        : which == 1 ? partial_regulariser
                                                     : partial_distance);
  if (threadIdx.x % warp_lanes == 0) plan.call.diagnostics[which] = static_cast<float>(std::sqrt(squares));
}

template <class Rule>
void issue_update(const Context& context, const Update& call) {
  if (call.count == 0) return;
  const Plan plan = make_plan(call);
  const bool settles = call.regularised && call.settle;
  if (plan.summed) {
    const auto prepare = call.regularised ? prepare_update<true> : prepare_update<false>;
    launch(Turn(context, plan.blocks, plan.threads, 0), "prepare update", prepare, plan);
  }
  const auto step = settles ? step_update<Rule, true> : step_update<Rule, false>;
  launch(Turn(context, plan.blocks, plan.threads, 0), "update", step, plan);
  if (!settles || !call.diagnostics) return;
  launch(Turn(context, 1, 3 * warp_lanes, 0), "diagnostics", write_diagnostics, plan);
}

struct Row {
  const char* name;
  IssueUpdate issue;
};
constexpr Row updates[] = {
    {"sgd", issue_update<Sgd>},         {"momentum", issue_update<Momentum>}, {"adam", issue_update<Adam>},
    {"rmsprop", issue_update<RmsProp>}, {"adagrad", issue_update<Adagrad>},   {"rmsprop_tf1", issue_update<RmsPropTf1>},
    {"asgd", issue_update<Asgd>},       {"adadelta", issue_update<Adadelta>}, {"anchored", issue_update<Anchored>},
};

}  // namespace

IssueUpdate find_device_update(const char* name) {
  for (const Row& row : updates)
    if (std::strcmp(row.name, name) == 0) return row.issue;
  return nullptr;
}

}  // namespace throughtime::cuda
