#include "engine/cuda/kernels/heads.h"

#include <cstring>

#include "engine/cuda/kernels/heads_body.h"
#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/reduce.cuh"

namespace throughtime::cuda {
namespace {

constexpr int short_threads = 256;
constexpr int staged_threads = 512;
constexpr int long_threads = 1024;
constexpr int widest_of_warp = 256;
constexpr int widest_staged =
    12000;  // 48 KB, which every device gives a block without being asked, less what sums take

/// Several rows a block, some lanes of a warp for each.
template <class Head, class Call>
__global__ void __launch_bounds__(short_threads) short_rows(const Call call, int lanes) {
  take_turn();
  const std::size_t row = (static_cast<std::size_t>(blockIdx.x) * short_threads + threadIdx.x) / lanes;
  if (row >= static_cast<std::size_t>(call.entries)) return;
  const WarpGroup group = WarpGroup::here(lanes);
  if constexpr (requires { call.losses; })
    Head::loss(group, call, row, nullptr);
  else
    Head::predict(group, call, row, nullptr);
}

/// A row a block. Where it fits into shared memory it is read once, by blocks of `most` threads, several on a
/// multiprocessor; a longer one is read twice, by one large block on each: the second time it is found in the cache.
template <class Head, int most, class Call>
__global__ void __launch_bounds__(most, most == staged_threads ? 3 : 1) long_rows(const Call call, int staged) {
  take_turn();
  extern __shared__ float room[];
  float* stage = staged ? room : nullptr;
  if constexpr (requires { call.losses; })
    Head::loss(BlockGroup::here(), call, blockIdx.x, stage);
  else
    Head::predict(BlockGroup::here(), call, blockIdx.x, stage);
}

/// How a row is cut depends on its width alone.
template <class Head, class Call>
void launch_rows(const Context& context, const Call& call) {
  if (call.entries == 0 || call.outputs == 0) return;
  if (call.outputs <= widest_of_warp) {
    const int lanes = std::min(warp_lanes, power_of_two_from(call.outputs)), rows = short_threads / lanes;
    launch(Turn(context, (call.entries + rows - 1) / rows, short_threads, 0), "head", short_rows<Head, Call>, call,
           lanes);
  } else if (call.outputs <= widest_staged) {
    const std::size_t bytes = Head::stages ? sizeof(float) * call.outputs : 0;
    const int shares = (call.outputs + BlockGroup::batch - 1) / BlockGroup::batch;
    const int threads = std::min(staged_threads, power_of_two_from(shares));
    launch(Turn(context, call.entries, threads, bytes), "head", long_rows<Head, staged_threads, Call>, call,
           Head::stages);
  } else {
    launch(Turn(context, call.entries, long_threads, 0), "head", long_rows<Head, long_threads, Call>, call, 0);
  }
}

template <class Head>
constexpr DeviceHead device_head = {launch_rows<Head, HeadLoss>, launch_rows<Head, HeadPredict>};

void softmax_loss(const Context& context, const HeadLoss& call) {
  call.values ? launch_rows<DeviceSoftmax<true>>(context, call) : launch_rows<DeviceSoftmax<false>>(context, call);
}
constexpr DeviceHead softmax = {softmax_loss, launch_rows<DeviceSoftmax<false>, HeadPredict>};
constexpr DeviceHead mixture_of_softmaxes = {nullptr, nullptr, &mixture_of_softmaxes_branches};

struct Row {
  const char* name;
  const DeviceHead* head;
};
constexpr Row heads[] = {
    {"softmax", &softmax},
    {"regression", &device_head<DeviceSeparable<SquaredError>>},
    {"bernoulli", &device_head<DeviceSeparable<NegativeLogLikelihood>>},
    {"point_process", &device_head<DevicePointProcess>},
    {"quantile", &device_head<DeviceQuantile>},
    {"gaussian", &device_head<DeviceGaussian>},
    {"mixture_of_softmaxes", &mixture_of_softmaxes},
};

constexpr int sum_threads = 1024;

__global__ void __launch_bounds__(sum_threads) add_sum(const AddSum call) {
  take_turn();
  const BlockGroup group = BlockGroup::here();
  double sum = 0;
  walk(group, call.entries, call.a, 0.0f, [&](int first, const float* x) {
    float weight[BlockGroup::batch];
    for (int k = 0; k < BlockGroup::batch; ++k) {
      const int i = first + k * group.lanes;
      weight[k] = call.weights && i < call.entries ? call.weights[i] : 1.0f;
    }
    for (int k = 0; k < BlockGroup::batch; ++k) sum += static_cast<double>(x[k]) * weight[k];
  });
  sum = group.sum(sum);
  if (group.lane == 0) *call.sum = static_cast<float>(*call.sum + sum);
}

}  // namespace

const DeviceHead* find_device_head(const char* name) {
  for (const Row& row : heads)
    if (std::strcmp(row.name, name) == 0) return row.head;
  return nullptr;
}

void issue(const Context& context, const MovePlaces& call) {
  launch_cells(context, call, call.entries, call.width, "move places");
}

void issue(const Context& context, const AddSum& call) {
  if (call.entries == 0) return;
  launch(Turn(context, 1, sum_threads, 0), "add sum", add_sum, call);
}

}  // namespace throughtime::cuda
