#pragma once

#include <memory>
#include <vector>

#include "engine/cuda/device_cell.h"
#include "engine/cuda/kernels/heads.h"
#include "engine/cuda/kernels/update.h"
#include "engine/cuda/kernels/vectors.h"
#include "engine/cuda/staging.h"
#include "engine/cuda/steps.h"
#include "engine/cuda/stream_executor.h"
#include "engine/cuda/tape.h"
#include "engine/dropout.h"
#include "throughtime/engine.h"

namespace throughtime::cuda {

struct LinearBackward;
struct TokenMask;

/// Moments of an optimizer on the device.
class CudaOptimizer final : public OptimizerState {
 public:
  CudaOptimizer(Engine& engine, const OptimizerConfig& optimizer, std::size_t size);
  void reset() override;

  const OptimizerType& type;
  const OptimizerConfig config;
  const IssueUpdate update;

 private:
  Engine& engine_;
};

/// What both directions over one window share: device pointers to what the call names.
struct Pass {
  const Window& window;
  CudaTape& tape;
  const float* parameters = nullptr;
  const std::uint8_t* flags = nullptr;
  const MaskNumbers* mask = nullptr;
};

/// Where an unroll writes; null: not asked for. Shapes as in UnrollCall.
struct UnrollOutputs {
  float* losses = nullptr;
  float* loss_sum = nullptr;
  float* correct_sum = nullptr;
  float* penalties = nullptr;  // null too where there are none
  float* predictions = nullptr;
  float* states = nullptr;
  std::span<const int> state_steps;

  bool scored() const { return losses || loss_sum || correct_sum; }
  bool heads() const { return scored() || penalties || predictions; }
};

/// Where a pull-back reads and writes; null: absent. Shapes as in PullBackCall.
struct PullBackArguments {
  int first = 0, last = 0;
  bool losses = true;
  float* gradient = nullptr;  // added to
  const float* end_cotangent = nullptr;
  const float* step_cotangents = nullptr;
  float* initial_cotangent = nullptr;
  float* taps = nullptr;  // [last - first + 1, B, S]
};

/// Single precision on a GPU. A call is checked and recorded; lists of calls run as graphs (engine/recorder).
class CudaEngine final : public Engine {
 public:
  CudaEngine(const Model& model, EngineConfig config);
  ~CudaEngine() override;

  const Model& model() const override { return model_; }
  std::string_view name() const override { return "cuda"; }
  int threads() const override { return 1; }
  std::size_t number_bytes() const override { return sizeof(float); }
  std::uint64_t memory_bytes() const override { return memory_left(); }
  std::uint64_t held_bytes() const override;
  void finish() override;

  Buffer allocate(std::size_t size) override;
  std::unique_ptr<Tape> make_tape(const TapeShape& shape) override;
  std::unique_ptr<OptimizerState> make_optimizer(const OptimizerConfig& config, Buffer target) override;

  using Engine::read;
  void write(Buffer buffer, std::span<const double> values) override;
  void read(Buffer buffer, std::span<double> values) const override;

  void unroll(const UnrollCall& call) override;
  void pull_back(const PullBackCall& call) override;
  void apply_update(const UpdateCall& call) override;

  void copy(Buffer from, Buffer to) override;
  void fill(Buffer buffer, double value) override;
  void scale(Buffer buffer, double factor) override;
  void axpy(double factor, Buffer x, Buffer y) override;
  void dot(Buffer x, Buffer y, Buffer result) override;
  void gather_rows(Buffer table, int width, std::span<const std::int64_t> indices, Buffer rows) override;
  void scatter_add_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) override;
  void scatter_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) override;
  void sum_over_ranks(Buffer buffer) override;

  const RecorderCounts& counts() const { return recorder_.counts(); }

 private:
  /// The numbers of a buffer, to read; refuses a handle that is none or of another engine.
  const float* numbers(Buffer buffer) const { return slot(buffer).numbers.data(); }
  const float* numbers_or_null(Buffer buffer) const { return buffer ? numbers(buffer) : nullptr; }
  /// The same to change: what was derived from them is out of date afterwards.
  float* change(Buffer buffer);
  float* change_or_null(Buffer buffer) { return buffer ? change(buffer) : nullptr; }
  /// All numbers of a buffer, in pinned memory that the next read or write takes again.
  float* download(Buffer buffer) const;
  /// From there into a buffer; both directions wait.
  void upload(Buffer buffer);
  MoveRows move_rows(int width, std::span<const std::int64_t> indices);
  CudaTape& own_tape(std::string_view speaker, Tape& tape) const;
  template <class Operation>
  void add(const Operation& operation);

  // A block of the parameters, or of a gradient laid out like them; null where the block or the vector is absent.
  const float* block(const Pass& pass, int index) const;
  float* block_of(float* gradient, int index) const;
  /// Between rows of states and the planes of layer k, each `plane` numbers behind the one before.
  MoveStates move_states(std::size_t k, int batch, std::size_t plane) const;

  // The recurrent weights of layer k: its raw block, what a mask leaves of it, what the cell's map makes of that.
  static bool drops_weights(const Pass& pass, std::size_t k);
  const float* raw_weights(const Pass& pass, std::size_t k) const;
  /// What it multiplies with.
  const float* recurrent_weights(const Pass& pass, std::size_t k) const;
  /// Of all layers, into the tape: for the way back too.
  void map_weights(const Pass& pass);
  MapWeights weight_map(std::size_t k, int adjoint, const float* from, float* to) const;
  /// to = base + mask * from.
  void drop_weights(const Pass& pass, std::size_t k, const float* from, const float* base, float* to);
  // And their gradient, the same way back: added up in the tape where the weights are not the raw block.
  void begin_recurrent_gradient(const Pass& pass, std::size_t k);
  float* d_recurrent_weights(const Pass& pass, std::size_t k, float* gradient) const;
  float* d_raw_weights(const Pass& pass, std::size_t k, float* gradient) const;
  void end_recurrent_gradient(const Pass& pass, std::size_t k, float* gradient);

  /// The mask of the embedding's rows; one without numbers where none are dropped.
  TokenMask token_mask(const Pass& pass) const;
  void apply_mask(const Pass& pass, const DropoutSite& site, int entries, int width, int first_step,
                  const std::int32_t* places, float* values, bool always = false, int stride = 0);
  /// y [rows, outputs] = x W^T + bias.
  void linear(const Pass& pass, int rows, int inputs, int outputs, const float* x, int weight, int bias, float* y,
              int y_stride = 0, int second_bias = -1);
  /// Gradients of a linear layer: weights and biases; `rows` of d_y [outputs] and x [inputs].
  void add_gradient(CudaTape& tape, int rows, int inputs, int outputs, const float* d_y, int d_y_stride, const float* x,
                    float* d_weights);
  void add_bias_gradient(CudaTape& tape, int rows, int outputs, const float* d_y, int stride, float* d_bias,
                         float* d_second = nullptr);

  // forward.cpp
  void load_states(const Pass& pass, const float* initial);
  /// `initial` with the window's first piece, `final_state` with its last; null: zeros, not asked for.
  void forward_piece(const Pass& pass, const StagedInputs& inputs, int begin, int end, const float* initial,
                     float* final_state);
  void first_input(const Pass& pass, const StagedInputs& inputs, int begin, int end);
  const float* layer_input(const Pass& pass, std::size_t k, int begin, int end);
  void forward_layer(const Pass& pass, std::size_t k, const float* x, int begin, int end, const float* initial,
                     float* final_state);
  void hand_out_states(const Pass& pass, int begin, int end, const UnrollOutputs& out);
  void store_state(const Pass& pass, std::size_t k, int slot, float* rows);

  // penalties.cpp
  struct HeadRows;  // some of the places that carry a loss
  static bool penalises(const Pass& pass, double strength) { return pass.tape.training && strength > 0; }
  void sum_activation(const Pass& pass, const HeadRows& rows, const float* features, float* sum);
  void pull_back_activation(const Pass& pass, const HeadRows& rows, const float* features, float* d_features);
  /// Of steps [begin, end), which the tape holds from slot(begin) on. `factors`: of the window.
  void sum_slowness(const Pass& pass, const float* factors, int begin, int end, float* sum);
  void pull_back_slowness(const Pass& pass, const float* factors, int first, int last);
  /// What the first step of a part sends to the state before it, which has been carried there.
  void pull_back_slowness_before(const Pass& pass, const float* factors, int first);

  // head.cpp
  void evaluate_head(const Pass& pass, const StagedLosses& losses, int begin, int end, int slot_begin,
                     const UnrollOutputs& out);
  void evaluate_rows(const Pass& pass, const HeadRows& rows, const UnrollOutputs& out);
  void head_outputs(const Pass& pass, const HeadRows& rows, const float* features);
  const float* head_features(const Pass& pass, const HeadRows& rows);
  void score(const Pass& pass, const HeadRows& rows, bool d_z, float* losses, float* correct);
  /// Whether the cotangents are in the tape's d_outputs; else they joined those of the state at the end.
  /// `differences`: factors of the slowness penalty, or null.
  bool pull_back_head(const Pass& pass, const StagedLosses& losses, const float* differences,
                      const PullBackArguments& arguments);
  void pull_back_rows(const Pass& pass, const HeadRows& rows, float* gradient);
  /// A linear layer of the head, which read `x`: its gradients, and what `back` says.
  void pull_back_linear(const Pass& pass, const LinearBackward& back, const float* x, int weight, int bias,
                        float* gradient);
  /// From the outputs' cotangents to those of the features, of which `d_features` says where they go.
  void pull_back_outputs(const Pass& pass, const HeadRows& rows, const float* features, float* d_features, int join,
                         float* gradient);

  // layered_head.cpp: the same for a head with layers of its own
  HeadBranches head_branches(const Pass& pass, const HeadRows& rows) const;
  void mask_branches(const Pass& pass, const HeadRows& rows, float* x);
  void branch_outputs(const Pass& pass, const HeadRows& rows, const float* features);
  void predict_branches(const Pass& pass, const HeadRows& rows, float* predictions);
  void pull_back_branches(const Pass& pass, const HeadRows& rows, const float* features, float* d_features, int join,
                          float* gradient);

  // backward.cpp
  void pull_back_piece(const Pass& pass, const PullBackArguments& arguments, int begin, int end);
  void pull_back_layer(const Pass& pass, const PullBackArguments& arguments, std::size_t k, int begin, int end);
  void add_layer_gradient(const Pass& pass, std::size_t k, int begin, int end, float* gradient);
  void add_input_gradient(const Pass& pass, int begin, int end, float* gradient);

  struct Slot {
    DeviceArray<float> numbers;
    std::uint64_t version = 0;  // counts its changes
  };
  const Slot& slot(Buffer buffer) const;

  struct LayerKernels {
    const DeviceCell* cell = nullptr;
    bool whole = false;
  };

  const Model& model_;
  EngineConfig config_;
  int device_ = 0;
  StreamExecutor executor_;
  mutable CallRecorder recorder_;
  Staging staging_;
  std::vector<LayerKernels> cells_;
  const DeviceHead* head_ = nullptr;
  DeviceArray<double> levels_;  // of the head's quantiles
  std::vector<Slot> buffers_;
  DeviceArray<double> partials_;  // of dot and update
  mutable PinnedBytes transfer_;  // of read and write
};

template <class Operation>
void CudaEngine::add(const Operation& operation) {
  recorder_.add<Context, Operation>([](const Context& context, const Operation& what) { issue(context, what); },
                                    operation);
}

}  // namespace throughtime::cuda
