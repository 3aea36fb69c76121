#include "engine/cuda/kernels/vectors.h"

#include "engine/cuda/kernels/aligned.h"
#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/reduce.cuh"
#include "engine/cuda/kernels/vectors_body.h"

namespace throughtime::cuda {
namespace {

/// Four neighbours per thread, in accesses of 16 bytes.
template <class Operation>
__global__ void __launch_bounds__(element_threads) stream_fours(const Stream<Operation> call) {
  take_turn();
  const std::size_t i = 4 * (static_cast<std::size_t>(blockIdx.x) * element_threads + threadIdx.x);
  if (i + 4 > call.count) {
    for (std::size_t k = i; k < call.count; ++k) write_element(call, k);
    return;
  }
  const float factor = call.factor ? *call.factor : 0.0f;
  float4 x = {}, y = {};
  if constexpr (Operation::reads_x) x = *reinterpret_cast<const float4*>(call.x + i);
  if constexpr (Operation::reads_y) y = *reinterpret_cast<const float4*>(call.y + i);
  *reinterpret_cast<float4*>(call.y + i) =
      make_float4(Operation::value(factor, x.x, y.x), Operation::value(factor, x.y, y.y),
                  Operation::value(factor, x.z, y.z), Operation::value(factor, x.w, y.w));
}

template <class Operation>
void launch_stream(const Context& context, const Stream<Operation>& call, const char* what) {
  if (call.count == 0) return;
  if (!aligned_to_fours(call.x, call.y)) return launch_elements(context, call, call.count, what);
  const std::size_t fours = (call.count + 3) / 4;
  const auto blocks = static_cast<unsigned>((fours + element_threads - 1) / element_threads);
  launch(Turn(context, blocks, element_threads, 0), what, stream_fours<Operation>, call);
}

constexpr int dot_threads = 512;
constexpr std::size_t dot_share = 4096;  // numbers that a block should have at least

/// Block b adds every gridDim.x-th run of 4 * dot_threads numbers.
__global__ void __launch_bounds__(dot_threads) dot_parts(const Dot call) {
  take_turn();
  constexpr int batch = 4;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * dot_threads * batch;
  double sum = 0;
  for (std::size_t first = static_cast<std::size_t>(blockIdx.x) * dot_threads * batch + threadIdx.x; first < call.count;
       first += stride) {
    float x[batch], y[batch];
    for (int k = 0; k < batch; ++k) {
      const std::size_t i = first + k * dot_threads;
      x[k] = i < call.count ? call.x[i] : 0.0f;
      y[k] = i < call.count ? call.y[i] : 0.0f;
    }
    for (int k = 0; k < batch; ++k) sum += static_cast<double>(x[k]) * y[k];
  }
  sum = BlockGroup::here().sum(sum);
  if (threadIdx.x != 0) return;
  if (gridDim.x == 1)
    *call.result = static_cast<float>(sum);
  else
    call.partial[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(most_partials) dot_total(const Dot call, int parts) {
  take_turn();
  const int part = static_cast<int>(threadIdx.x);
  const double sum = BlockGroup::here().sum(part < parts ? call.partial[part] : 0.0);
  if (part == 0) *call.result = static_cast<float>(sum);
}

}  // namespace

void issue(const Context& context, const Fill& call) { launch_stream(context, stream_of(call), "fill"); }
void issue(const Context& context, const Copy& call) { launch_stream(context, stream_of(call), "copy"); }
void issue(const Context& context, const Scale& call) { launch_stream(context, stream_of(call), "scale"); }
void issue(const Context& context, const Axpy& call) { launch_stream(context, stream_of(call), "axpy"); }

/// Of nothing it is 0: one block writes that.
void issue(const Context& context, const Dot& call) {
  const std::size_t shares = (call.count + dot_share - 1) / dot_share;
  const int parts = static_cast<int>(std::clamp<std::size_t>(shares, 1, most_partials));
  launch(Turn(context, parts, dot_threads, 0), "dot", dot_parts, call);
  if (parts == 1) return;
  launch(Turn(context, 1, most_partials, 0), "dot", dot_total, call, parts);
}

void issue(const Context& context, const MoveRows& call) {
  launch_cells(context, call, call.entries, call.width, "move rows");
}

}  // namespace throughtime::cuda
