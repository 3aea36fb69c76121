#include "engine/cuda/cuda_engine.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/memory.h"
#include "engine/checks.h"
#include "engine/cuda/cells/registry.h"
#include "engine/cuda/counts.h"
#include "engine/cuda/engine_class.h"
#include "engine/cuda/kernels/vectors.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace cuda {
namespace {

constexpr std::size_t small_write = 1 << 16;  // numbers that travel with the calls instead of on their own

RecorderLimits limits() {
  RecorderLimits limits;
  const char* graphs = std::getenv("THROUGHTIME_CUDA_GRAPHS");  // 0: kernel by kernel, to look for errors
  limits.graphs = !graphs || std::strcmp(graphs, "0") != 0;
  return limits;
}

/// The GPU of a rank; refuses where there is none. Called before anything else touches the device.
int choose_device(const EngineConfig& config) {
  if (const std::string absence = cuda_absence(); !absence.empty()) refuse("cuda", "{}", absence);
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "looking for GPUs");
  const int device = config.communicator ? config.communicator->rank() % devices : 0;
  if (const cudaError_t error = cudaSetDevice(device); error != cudaSuccess)
    refuse("cuda", "GPU {} cannot be used: {}", device, cudaGetErrorString(error));
  return device;
}

/// The levels of a head of quantiles, on the device.
DeviceArray<double> levels_of(const Model& model) {
  if (model.head().band != HeadBand::quantiles) return {};
  const std::vector<double>& levels = model.config().head.levels;
  DeviceArray<double> copy(levels.size());
  check(cudaMemcpy(copy.data(), levels.data(), copy.bytes(), cudaMemcpyHostToDevice), "levels of the head");
  return copy;
}

}  // namespace

CudaOptimizer::CudaOptimizer(Engine& engine, const OptimizerConfig& optimizer, std::size_t size)
    : type(find_optimizer(optimizer.name)),
      config(optimizer),
      update(find_device_update(optimizer.name.c_str())),
      engine_(engine) {
  if (!update) refuse("cuda", "the optimizer '{}' has no device kernels; use run.engine=cpu", optimizer.name);
  for (int k = 0; k < type.moments; ++k) moments.push_back(engine.allocate(size));
  reset();
}

void CudaOptimizer::reset() {
  step = 0;
  for (const Buffer& moment : moments) engine_.fill(moment, type.first_moment);
}

CudaEngine::CudaEngine(const Model& model, EngineConfig config)
    : model_(model),
      config_(std::move(config)),
      device_(choose_device(config_)),
      recorder_(executor_, limits()),
      staging_(model, recorder_),
      head_(find_device_head(model.head().name.c_str())),
      levels_(levels_of(model)),
      partials_(elements(8, most_partials)) {
  if (!head_) refuse("cuda", "the head '{}' has no device kernels; use run.engine=cpu", model.head().name);
  for (const Layer& layer : model.layers()) {
    const DeviceCell* cell = layer.cell->device ? layer.cell->device() : find_device_cell(layer.cell->name);
    if (!cell)
      refuse("cuda", "the cell '{}' has no device kernels; add its .cu (docs/cells.md) or use run.engine=cpu",
             layer.cell->name);
    cells_.push_back({cell, cell->whole_fits && cell->whole_fits(layer.hidden)});
  }
}

CudaEngine::~CudaEngine() = default;

std::uint64_t CudaEngine::held_bytes() const { return device_counts().bytes; }

void CudaEngine::finish() {
  recorder_.flush();
  executor_.finish();
}

Buffer CudaEngine::allocate(std::size_t size) {
  require_buffer_memory(*this, size);
  recorder_.flush();
  buffers_.push_back({DeviceArray<float>(size), 0});
  return {static_cast<std::int32_t>(buffers_.size() - 1), size};
}

std::unique_ptr<Tape> CudaEngine::make_tape(const TapeShape& shape) {
  recorder_.flush();
  auto tape = std::make_unique<CudaTape>(model_, shape);
  Window longest;
  longest.steps = shape.steps;
  longest.batch = shape.batch;
  // A list holds an unroll and a pull-back at least, so that both go into one graph.
  recorder_.reserve(std::min<std::size_t>(4 * staging_.bytes_of(longest), std::size_t{256} << 20));
  return tape;
}

std::unique_ptr<OptimizerState> CudaEngine::make_optimizer(const OptimizerConfig& config, Buffer target) {
  numbers(target);
  return std::make_unique<CudaOptimizer>(*this, config, target.size);
}

const CudaEngine::Slot& CudaEngine::slot(Buffer buffer) const {
  const auto index = elements(buffer.id);
  if (!buffer || index >= buffers_.size() || buffers_[index].numbers.size() != buffer.size)
    refuse(name(), "no buffer with id {} and {} numbers was allocated by this engine", buffer.id, buffer.size);
  return buffers_[index];
}

float* CudaEngine::change(Buffer buffer) {
  auto& found = const_cast<Slot&>(slot(buffer));
  ++found.version;
  return found.numbers.data();
}

CudaTape& CudaEngine::own_tape(std::string_view speaker, Tape& tape) const {
  auto* own = dynamic_cast<CudaTape*>(&tape);
  if (!own || &own->model != &model_) refuse(speaker, "the tape was made by another engine");
  return *own;
}

float* CudaEngine::download(Buffer buffer) const {
  const float* from = numbers(buffer);
  auto& executor = const_cast<StreamExecutor&>(executor_);
  recorder_.flush();
  const std::size_t bytes = buffer.size * sizeof(float);
  if (transfer_.size() < bytes) {
    executor.finish();
    transfer_ = PinnedBytes(bytes);
  }
  check(cudaMemcpyAsync(transfer_.data(), from, bytes, cudaMemcpyDeviceToHost, executor_.context().stream), "read");
  executor.finish();
  return reinterpret_cast<float*>(transfer_.data());
}

void CudaEngine::upload(Buffer buffer) {
  check(cudaMemcpyAsync(change(buffer), transfer_.data(), buffer.size * sizeof(float), cudaMemcpyHostToDevice,
                        executor_.context().stream),
        "write");
  executor_.finish();
}

void CudaEngine::write(Buffer buffer, std::span<const double> values) {
  require_size("write", "the buffer", buffer, values.size());
  const auto convert = [&](float* from) {
    std::transform(values.begin(), values.end(), from, [](double value) { return static_cast<float>(value); });
  };
  if (values.size() <= small_write) {
    recorder_.begin_call(CallRecorder::bytes_of<float>(values.size()));
    const auto room = recorder_.numbers<float>(values.size());
    convert(room.host);
    add(Copy{values.size(), room.device, change(buffer)});
    return recorder_.end_call();
  }
  recorder_.flush();
  executor_.finish();
  if (transfer_.size() < values.size() * sizeof(float)) transfer_ = PinnedBytes(values.size() * sizeof(float));
  convert(reinterpret_cast<float*>(transfer_.data()));
  upload(buffer);
}

void CudaEngine::read(Buffer buffer, std::span<double> values) const {
  require_size("read", "the buffer", buffer, values.size());
  std::copy_n(download(buffer), values.size(), values.begin());
}

void CudaEngine::copy(Buffer from, Buffer to) {
  require_size("copy", "the target", to, from.size);
  recorder_.begin_call(0);
  add(Copy{from.size, numbers(from), change(to)});
  recorder_.end_call();
}

void CudaEngine::fill(Buffer buffer, double value) {
  recorder_.begin_call(16);
  add(Fill{buffer.size, recorder_.number(static_cast<float>(value)), change(buffer)});
  recorder_.end_call();
}

void CudaEngine::scale(Buffer buffer, double factor) {
  recorder_.begin_call(16);
  add(Scale{buffer.size, recorder_.number(static_cast<float>(factor)), change(buffer)});
  recorder_.end_call();
}

void CudaEngine::axpy(double factor, Buffer x, Buffer y) {
  require_size("axpy", "y", y, x.size);
  recorder_.begin_call(16);
  add(Axpy{x.size, recorder_.number(static_cast<float>(factor)), numbers(x), change(y)});
  recorder_.end_call();
}

void CudaEngine::dot(Buffer x, Buffer y, Buffer result) {
  require_size("dot", "y", y, x.size);
  require_size("dot", "result", result, 1);
  recorder_.begin_call(0);
  add(Dot{x.size, numbers(x), numbers(y), partials_.data(), change(result)});
  recorder_.end_call();
}

MoveRows CudaEngine::move_rows(int width, std::span<const std::int64_t> indices) {
  const auto room = recorder_.numbers<std::int64_t>(indices.size());
  std::copy(indices.begin(), indices.end(), room.host);
  MoveRows move;
  move.entries = static_cast<int>(indices.size());
  move.width = width;
  move.indices = room.device;
  return move;
}

void CudaEngine::gather_rows(Buffer table, int width, std::span<const std::int64_t> indices, Buffer rows) {
  check_rows("gather_rows", table, width, indices, rows);
  recorder_.begin_call(CallRecorder::bytes_of<std::int64_t>(indices.size()));
  MoveRows move = move_rows(width, indices);
  move.from = numbers(table);
  move.to = change(rows);
  add(move);
  recorder_.end_call();
}

void CudaEngine::scatter_add_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) {
  check_rows("scatter_add_rows", table, width, indices, rows);
  recorder_.begin_call(16 * indices.size() + 4096);
  AddSortedRows sum = staging_.rows(indices, static_cast<std::int64_t>(table.size / elements(width)));
  sum.width = sum.stride = width;
  sum.rows = numbers(rows);
  sum.table = change(table);
  add(sum);
  recorder_.end_call();
}

void CudaEngine::scatter_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) {
  check_rows("scatter_rows", table, width, indices, rows);
  recorder_.begin_call(CallRecorder::bytes_of<std::int64_t>(indices.size()) +
                       CallRecorder::bytes_of<bool>(indices.size()));
  MoveRows move = move_rows(width, indices);
  const auto keep = recorder_.numbers<std::uint8_t>(indices.size());
  staging_.mark_last(indices, static_cast<std::int64_t>(table.size / elements(width)), keep.host);
  move.scatter = 1;
  move.keep = keep.device;
  move.from = numbers(rows);
  move.to = change(table);
  add(move);
  recorder_.end_call();
}

/// The communicator adds up in the order of the ranks, on the hosts.
void CudaEngine::sum_over_ranks(Buffer buffer) {
  if (!config_.communicator) return;
  config_.communicator->all_reduce_sum(std::span<float>(download(buffer), buffer.size));
  upload(buffer);
}

void CudaEngine::apply_update(const UpdateCall& call) {
  check_update(call);
  if (typeid(call.optimizer) != typeid(CudaOptimizer))
    refuse("apply_update", "the optimizer was made by another engine");
  auto& optimizer = static_cast<CudaOptimizer&>(call.optimizer);
  recorder_.begin_call(CallRecorder::bytes_of<UpdateNumbers>(1));
  UpdateNumbers changing;
  changing.coefficients = optimizer.type.coefficients(optimizer.config, ++optimizer.step, call.rate);
  changing.gradient_scale = call.gradient_scale;
  changing.clip_value = call.clip.value;
  changing.clip_norm = call.clip.norm;
  Update update;
  update.count = call.target.size;
  update.weights = change(call.target);
  update.gradient = change(call.gradient);
  update.partial = partials_.data();
  update.norm = change_or_null(call.norm);
  update.clipped = call.clip.norm > 0 ? 1 : 0;
  for (std::size_t k = 0; k < optimizer.moments.size(); ++k) update.moments[k] = change(optimizer.moments[k]);
  if (const DynamicRegulariser* terms = call.regulariser) {
    changing.pull = terms->penalty * terms->alpha;
    changing.alpha = terms->alpha;
    changing.averaging = terms->averaging;
    update.regularised = 1;
    update.settle = terms->settle ? 1 : 0;
    update.average = change(terms->average);
    update.multiplier = change(terms->multiplier);
    update.diagnostics = terms->settle ? change_or_null(terms->diagnostics) : nullptr;
  }
  update.numbers = recorder_.number(changing);
  recorder_.add<Context, Update>(optimizer.update, update);
  recorder_.end_call();
  recorder_.flush();
}

}  // namespace cuda

std::string cuda_absence() {
  DeviceFacts facts;
  const cudaError_t error = cudaGetDeviceCount(&facts.devices);
  if (error != cudaSuccess) facts.devices = 0;
  facts.driver_is_old = error == cudaErrorInsufficientDriver;
  if (cudaDriverGetVersion(&facts.driver) != cudaSuccess) facts.driver = 0;
  facts.runtime = CUDART_VERSION;
  if (cudaDeviceProp properties; facts.devices > 0) {
    facts.answers = cudaGetDeviceProperties(&properties, 0) == cudaSuccess;
    if (facts.answers) facts.name = properties.name, facts.major = properties.major, facts.minor = properties.minor;
  }
  return absence_of(facts);
}

DeviceCounts cuda_counts() {
  const cuda::Counts& all = cuda::device_counts();
  return {.arrays = all.arrays,
          .pinned = all.pinned,
          .waits = all.waits,
          .upload_waits = all.upload_waits,
          .bytes = all.bytes};
}

std::unique_ptr<Engine> make_cuda_engine(const Model& model, const EngineConfig& config) {
  return std::make_unique<cuda::CudaEngine>(model, config);
}

}  // namespace throughtime
