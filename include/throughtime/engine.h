#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "throughtime/choice.h"
#include "throughtime/communicator.h"
#include "throughtime/model.h"
#include "throughtime/optimizer.h"
#include "throughtime/window.h"

namespace throughtime {

class Archive;

/// A vector of numbers that lives where the engine computes. A default Buffer is "none".
struct Buffer {
  std::int32_t id = -1;
  std::size_t size = 0;
  explicit operator bool() const { return id >= 0; }
};

/// What a tape keeps of an unroll.
enum class Keep {
  nothing,   // forward only: evaluation, burn-in, a pass that only stores states
  state,     // enough for cotangents of states, not for parameter gradients
  gradient,  // everything pull_back can do
};

struct TapeShape {
  int steps = 0;  // the longest window it must hold
  int batch = 0;  // exactly this many rows
  Keep keep = Keep::gradient;
  int losses = 0;  // the most steps of a window that carry a loss; 0: all of them may
};

/// Storage of one unroll and the workspaces of both directions; asked for once, used many times.
class Tape {
 public:
  virtual ~Tape() = default;
  /// Bytes that grow with the window's length: what the paper's tables call activations.
  virtual std::size_t activation_bytes() const = 0;
  /// All bytes, workspaces included.
  virtual std::size_t bytes() const = 0;
  const TapeShape& shape() const { return shape_; }

 protected:
  explicit Tape(TapeShape shape) : shape_(shape) {}

 private:
  TapeShape shape_;
};

class Engine;

/// Moments of one optimizer for one buffer.
class OptimizerState {
 public:
  virtual ~OptimizerState() = default;
  /// Back to the first step.
  virtual void reset() = 0;
  void archive(Archive& archive, Engine& engine);
  std::int64_t step = 0;        // updates done
  std::vector<Buffer> moments;  // each as long as the buffer it serves
};

/// How a window of one row or of a few passes through an engine that has short ways for them: `general` is the way of
/// all others, to compare with. They add sums up in different orders.
enum class SingleRows { in_one_piece, general };
constexpr auto names_of(SingleRows) { return choice_names("in_one_piece", "general"); }

struct EngineConfig {
  std::string name = "cpu";
  int threads = 1;
  std::shared_ptr<Communicator> communicator;  // null: one process; else each rank computes its rows of every window
  int rows = 1;                                // of a typical window: what "auto" goes by
  SingleRows single_rows = SingleRows::in_one_piece;
};

struct UnrollCall {
  const Window& window;
  Buffer parameters;
  Tape& tape;
  bool training = true;                   // dropout on
  Buffer initial_state = {};              // [B, S]; none: zeros
  Buffer final_state = {};                // out [B, S]; may be the same buffer as initial_state
  Buffer losses = {};                     // out [L, B]: loss of each step and row, 0 where its weight is 0
  Buffer loss_sum = {};                   // [1] += sum of weight * loss
  Buffer correct_sum = {};                // [1] += sum of the weights where the largest output is the label's
  Buffer penalties = {};                  // [2] += sums of weight * PenaltyConfig::activation's, ::slowness's; training
  Buffer predictions = {};                // out [L, B, outputs], zero where the weight is 0
  Buffer states = {};                     // out [state_steps, B, S]
  std::span<const int> state_steps = {};  // after how many steps (0 = the initial state), ascending
  bool checked = false;  // the caller has looked at the window, its inputs and its targets (or at the whole that it is
                         // a part of): an engine need not do so again
};

struct PullBackCall {
  Tape& tape;  // of the unroll with the same window and parameters
  const Window& window;
  Buffer parameters;
  int first = 0;                  // the part of the tape: steps [first, last)
  int last = -1;                  // -1: to the end
  Buffer gradient = {};           // [P]; none: state-only work
  bool add = false;               // add to the gradient instead of overwriting it
  bool losses = true;             // false: only the cotangents below flow, no loss
  Buffer end_cotangent = {};      // [B, S]: dL/d(state after step last - 1)
  Buffer step_cotangents = {};    // [L, B, S]: entry l is added to dL/d(state after step l)
  Buffer initial_cotangent = {};  // out [B, S]: dL/d(state before step `first`); may be end_cotangent's buffer
  Buffer tap_norms = {};          // out [last - first + 1, B]: |dL/d(state)| before step first, ..., after last - 1
  Buffer tap_vectors = {};        // out [last - first + 1, B, S]: the vectors themselves
  bool checked = false;           // as in UnrollCall
};

/// FPTT's terms around an update of W: the gradient becomes g - lambda + penalty alpha (W - W-bar) and is clipped as a
/// whole; after the optimizer's step lambda -= alpha (W - W-bar), W-bar = (1 - b) W-bar + b W - (b / alpha) lambda.
struct DynamicRegulariser {
  Buffer average;           // W-bar, as long as W
  Buffer multiplier;        // lambda, likewise
  double alpha = 0;         // > 0
  double penalty = 1;       // m of the released code
  double averaging = 0.5;   // b
  bool settle = true;       // false: lambda and W-bar stay as they are (an inner iteration)
  Buffer diagnostics = {};  // out [3]: |loss gradient|, |regulariser's gradient|, |W - W-bar| after the update
};

struct UpdateCall {
  Buffer target;
  Buffer gradient;
  OptimizerState& optimizer;
  double rate = 0;
  double gradient_scale = 1;  // the learner's mean over rows and steps
  Clip clip = {};
  Buffer norm = {};  // out [1]: norm of the scaled gradient, regulariser included, before clipping
  const DynamicRegulariser* regulariser = nullptr;
};

/// Executes windows of one model, which must outlive it. Nothing here reads a number back inside a training step:
/// losses, norms and predictions are buffers, read when somebody wants to see them. The engine sums over rows and
/// steps; the learner scales. No call allocates except `allocate`, `make_tape` and `make_optimizer`.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const Model& model() const = 0;
  virtual std::string_view name() const = 0;
  virtual int threads() const = 0;
  /// Bytes of one number of a buffer.
  virtual std::size_t number_bytes() const = 0;
  /// Bytes that tapes and buffers can still take where this engine computes; UINT64_MAX: nobody tells.
  virtual std::uint64_t memory_bytes() const = 0;
  /// Bytes of a device's memory that engines of this process hold; 0: this one computes in the host's.
  virtual std::uint64_t held_bytes() const { return 0; }
  /// Waits until everything that was asked for is done. Whoever reads a clock calls it first; a host is always done.
  virtual void finish() {}

  virtual Buffer allocate(std::size_t size) = 0;  // zeros
  virtual std::unique_ptr<Tape> make_tape(const TapeShape& shape) = 0;
  virtual std::unique_ptr<OptimizerState> make_optimizer(const OptimizerConfig& config, Buffer target) = 0;

  virtual void write(Buffer buffer, std::span<const double> values) = 0;
  virtual void read(Buffer buffer, std::span<double> values) const = 0;
  std::vector<double> read(Buffer buffer) const;

  virtual void unroll(const UnrollCall& call) = 0;
  virtual void pull_back(const PullBackCall& call) = 0;
  virtual void apply_update(const UpdateCall& call) = 0;

  virtual void copy(Buffer from, Buffer to) = 0;
  virtual void fill(Buffer buffer, double value) = 0;
  virtual void scale(Buffer buffer, double factor) = 0;
  virtual void axpy(double factor, Buffer x, Buffer y) = 0;  // y += factor * x
  virtual void dot(Buffer x, Buffer y, Buffer result) = 0;   // result [1] = <x, y>
  /// rows[i] of `table` [N, width] <-> row i of `rows_of` [indices, width]; scatter works in the order of the indices:
  /// it adds every row, or puts it in the place of what was there (of equal indices the last one stays).
  virtual void gather_rows(Buffer table, int width, std::span<const std::int64_t> indices, Buffer rows) = 0;
  virtual void scatter_add_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) = 0;
  virtual void scatter_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) = 0;
  /// The sum of the ranks' buffers takes the place of each; nothing happens where there is one process.
  virtual void sum_over_ranks(Buffer buffer) = 0;
};

/// A way to compute, and what others would have to ask its name for.
struct EngineType {
  std::string name;
  std::string description;
  std::unique_ptr<Engine> (*make)(const Model& model, const EngineConfig& config) = nullptr;
  bool exact = false;   // double precision: central differences check it, and it checks the others; there is one
  bool on_host = true;  // computes with the threads and the memory of this process
  /// Why it cannot compute here: not in this build, no device. Null or an empty answer: it can.
  std::string (*missing)() = nullptr;

  bool usable() const { return missing == nullptr || missing().empty(); }
};

/// The engine of that name, usable here or not; refuses unknown names with the nearest known one.
const EngineType& find_engine(const std::string& name);
/// Adds an engine. Call it before others are looked for (it is not thread-safe); refuses a name already taken.
void register_engine(EngineType engine);
std::vector<const EngineType*> all_engines();
std::vector<std::string> engine_names();
/// Those that can compute here, in the same order.
std::vector<const EngineType*> usable_engines();
/// Refuses an engine that cannot compute here and says why.
void require_usable(const EngineType& engine);

/// An engine by its name, or for "auto" by a rule: the GPU where it will be faster.
struct EngineChoice {
  std::string name;
  std::string why;  // empty: it was named
};
EngineChoice choose_engine(const std::string& name, const Model& model, int rows);
/// Whether that name, or what "auto" may choose, computes on a device.
bool may_use_device(const std::string& name);
/// All names, and "auto".
std::vector<std::string> engine_choices();

/// Makes the engine that the configuration names; each of several ranks gets one around it, for its rows alone.
std::unique_ptr<Engine> make_engine(const Model& model, const EngineConfig& config);

}  // namespace throughtime
