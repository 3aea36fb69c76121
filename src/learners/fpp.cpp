#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "core/denormals.h"
#include "core/names.h"
#include "engine/targets.h"
#include "learners/fpp_schedule.h"
#include "learners/registry.h"
#include "learners/state_cells.h"
#include "learners/transitions.h"
#include "throughtime/error.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

void check(const std::string& speaker, const FppConfig& config) {
  const auto known = [&](const char* what, const std::string& value, const std::vector<std::string>& names) {
    if (std::find(names.begin(), names.end(), value) == names.end()) refuse_unknown(speaker, what, value, names);
  };
  known("penalty", config.penalty, {"sum_half", "mean"});
  known("penalise", config.penalise, {"both", "weights", "states", "none"});
  known("order", config.order, {"sequential", "parallel"});
  known("state_optimizer", config.state_optimizer, {"sgd", "rmsprop"});
  known("state_gradient", config.state_gradient, {"sample", "batch_mean"});
  known("batch", config.batch, {"streams", "blocks"});
  known("collisions", config.collisions, {"add", "overwrite"});
  known("sample", config.sample, {"uniform", "newest"});
  known("ends", config.ends, {"weighted", "all"});
  known("feed", config.feed, {"buffer", "running"});
  known("write_back", config.write_back, {"each", "last"});
  known("variant", config.variant, {"plain", "decay", "random"});
  known("decay", config.decay, {"halving", "subtractive"});
  known("chance", config.chance, {"additive", "multiplicative", "divided"});
  known("start", config.start, {"stored", "shifted"});
  require_range(speaker, "buffer", config.buffer, 1, 1'000'000'000);
  if (config.steps < 1 || config.steps > config.buffer)
    refuse(speaker, "fpp_steps (T) must be between 1 and the buffer's transitions ({}), got {}", config.buffer, config.steps);
  if (!(config.lambda >= 0)) refuse(speaker, "lambda must be 0 or positive, got {}", config.lambda);
  if (!(config.lambda_growth > 0)) refuse(speaker, "lambda_growth must be positive, got {}", config.lambda_growth);
  if (!(config.lambda_most >= 0)) refuse(speaker, "lambda_most must be 0 (no bound) or positive, got {}", config.lambda_most);
  if (!(config.state_rate >= 0)) refuse(speaker, "state_rate must be 0 or positive, got {}", config.state_rate);
  require_range(speaker, "updates", config.updates, 1, 1'000'000);
  require_range(speaker, "blocks", config.blocks, 1, 1'000'000);
  if (config.variant != "plain" && config.phase_steps < 1)
    refuse(speaker, "the variant {} needs phase_steps, a fifth of the run's steps, got {}", config.variant, config.phase_steps);
  if (config.batch == "blocks" && config.state_optimizer == "rmsprop" && config.collisions == "add")
    refuse(speaker, "rmsprop cannot add two gradients of one cell: use collisions = overwrite, or sgd");
}

/// What an update asks of the options, compared once: with the smallest nets a comparison of names is felt.
struct Choices {
  explicit Choices(const FppConfig& config)
      : sequential(config.order == "sequential"),
        writes_each(config.write_back == "each"),
        reads_buffer(config.feed == "buffer"),
        flips(config.variant == "random"),
        blocks(config.batch == "blocks"),
        any_end(config.ends == "all"),
        only_newest(config.sample == "newest"),
        mean_penalty(config.penalty == "mean"),
        batch_mean(config.state_gradient == "batch_mean"),
        on_weights(config.penalise == "both" || config.penalise == "weights"),
        on_states(config.penalise == "both" || config.penalise == "states") {}
  bool sequential, writes_each, reads_buffer, flips, blocks, any_end, only_newest, mean_penalty, batch_mean;
  bool on_weights, on_states;  // who feels the penalty
};

/// Fixed Point Propagation. The states s_t of the last N transitions are variables beside W; an update draws the end i of
/// a trajectory, makes the T-step prediction shat_i from the stored s_{i-T}, and descends
///   L_i = l(shat_i; y_i) + lambda/2 |s_i - shat_i|^2
/// in W, s_{i-T} and s_i. With e = dl/dshat_i - lambda (s_i - shat_i) entering at the end of one backward pass,
///   d/dW = (dshat_i/dW)^T e,   d/ds_{i-T} = (dshat_i/ds_{i-T})^T e,   d/ds_i = lambda (s_i - shat_i).
/// Without a penalty and with eta_s = 0 it is truncated back-propagation from a buffer of stored states; where only the
/// newest transition is drawn, the sliding one.
class Fpp final : public Learner {
 public:
  Fpp(std::string name, const FppConfig& config, Trainee& trainee, const StretchShape& shape)
      : Learner(trainee),
        name_(std::move(name)),
        config_(config),
        choices_(config),
        shape_(shape),
        schedule_(config),
        random_(shape.seed, Purpose::sampling),
        transitions_(trainee.engine.model(), config.buffer, shape.batch),
        width_(trainee.engine.model().state_size()),
        rows_(config.batch == "blocks" ? config.blocks : shape.batch),
        cells_(trainee.engine, config, shape.batch, rows_) {
    Engine& engine = trainee.engine;
    tape_ = engine.make_tape({.steps = config.steps, .batch = rows_, .keep = Keep::gradient, .losses = 1});
    online_tape_ = engine.make_tape({.steps = 1, .batch = shape.batch, .keep = Keep::nothing});
    state_ = engine.allocate(static_cast<std::size_t>(shape.batch) * width_);
    compact_ = engine.allocate(static_cast<std::size_t>(rows_) * width_);
    trajectories_.resize(config.order == "parallel" ? static_cast<std::size_t>(schedule_.most_updates()) : 1);
    for (Trajectory& trajectory : trajectories_) make(trajectory);
    if (config.start == "shifted") last_ = engine.allocate(static_cast<std::size_t>(rows_) * width_);
    reserve(part_, config.steps, rows_);
    part_.batch = rows_;
    part_.source.resize(static_cast<std::size_t>(rows_));
    part_.start.resize(static_cast<std::size_t>(rows_));
    make_online_window();
    if (config.fixed) probe_ = std::make_unique<Probe>();
    if (config.fixed) probe_->sum = engine.allocate(1);
  }

  std::string_view name() const override { return name_; }
  std::size_t activation_bytes() const override { return tape_->activation_bytes() + online_tape_->activation_bytes(); }

  /// Algorithm 1. Every step of the stretch is an online step.
  void learn(const Window& stretch, const RateFunction& rate) override {
    const FlushDenormals flush;  // once for all steps: an engine's own switches inside it cost next to nothing
    check_stretch(name(), shape_, stretch);
    check_inputs(trainee_.engine.model(), stretch);
    check_targets(trainee_.engine.model(), stretch, 0, stretch.steps);
    for (int step = 0; step < stretch.steps; ++step) {
      if (!config_.fixed || !transitions_.full()) observe(stretch, step);
      if (!config_.fixed || transitions_.full()) train(rate);
      ++step_;
    }
  }

  std::vector<Diagnostic> diagnostics() const override {
    if (!config_.fixed) return {};
    return {{"buffer_loss", buffer_loss()}};
  }

  void archive(Archive& archive) override {
    Learner::archive(archive);
    archive.integer("step", step_);
    archive.integer("draws", draws_);
    archive.integer("has_last", has_last_);
    transitions_.archive(archive);
    cells_.archive(archive);
    archive.buffer("state", trainee_.engine, state_);
    if (last_) archive.buffer("last", trainee_.engine, last_);
  }

 private:
  /// One sampled trajectory per row and what came of it.
  struct Trajectory {
    std::vector<std::int64_t> start_cells, end_cells;  // [R]: where s_{i-T} and s_i are
    std::vector<std::int64_t> active;                  // rows that take part
    Buffer gradient;                                   // [P]
    Buffer start, end;                                 // [R, S]: s_{i-T}, s_i
    Buffer prediction;                                 // [R, S]: shat_i, then lambda (shat_i - s_i)
    Buffer start_cotangent;                            // [R, S]: d/ds_{i-T}
    bool penalised = false;                            // there is a penalty
  };
  struct Probe {
    Window window;
    Buffer sum;
  };

  void make(Trajectory& trajectory) {
    Engine& engine = trainee_.engine;
    const std::size_t states = static_cast<std::size_t>(rows_) * width_;
    trajectory.start_cells.resize(static_cast<std::size_t>(rows_));
    trajectory.end_cells.resize(static_cast<std::size_t>(rows_));
    trajectory.active.reserve(static_cast<std::size_t>(rows_));
    trajectory.gradient = trajectories_.size() > 1 ? engine.allocate(trainee_.gradient.size) : trainee_.gradient;
    trajectory.start = engine.allocate(states);
    trajectory.end = engine.allocate(states);
    trajectory.prediction = engine.allocate(states);
    trajectory.start_cotangent = engine.allocate(states);
  }

  void make_online_window() {
    const auto rows = static_cast<std::size_t>(shape_.batch);
    online_.steps = 1;
    online_.batch = shape_.batch;
    online_.start.resize(rows);
    online_.weight.resize(rows);
    online_.reset.reserve(rows);
    begins_.resize(rows);
    for (std::size_t row = 0; row < rows; ++row) online_.source.push_back(static_cast<std::int32_t>(row));
  }

  // ------------------------------------------------------------ 1 and 2: s_t = f(s_{t-1}, o_t), appended

  void observe(const Window& stretch, int step) {
    transitions_.append(stretch, step);
    const std::int64_t t = transitions_.newest();
    online_.sources = transitions_.sources();
    bool any = transitions_.any_held();
    for (int row = 0; row < shape_.batch; ++row) {
      const auto r = static_cast<std::size_t>(row);
      online_.start[r] = t;
      online_.weight[r] = transitions_.weight(t, row);
      begins_[r] = transitions_.run(t, row) == 1 && !transitions_.held(t, row);
      any = any || begins_[r];
    }
    online_.reset.clear();
    if (any) online_.reset.assign(begins_.begin(), begins_.end());
    for (int row = 0; row < shape_.batch && transitions_.any_held(); ++row) mark_held(online_, row, row, t);
    if (choices_.reads_buffer) cells_.read(t - 1, state_);
    trainee_.engine.unroll({.window = online_,
                            .parameters = trainee_.parameters,
                            .tape = *online_tape_,
                            .training = false,
                            .initial_state = state_,
                            .final_state = state_,
                            .loss_sum = config_.fixed ? Buffer() : loss_sum_,
                            .correct_sum = config_.fixed ? Buffer() : correct_sum_});
    if (!config_.fixed) loss_weight_ += sum_of_weights(name(), online_.weight);
    cells_.append(t, begins_, state_);
  }

  /// Flags the steps [first, first + window.steps) at which a row's stream slept.
  void mark_held(Window& window, int row, int stream, std::int64_t first) const {
    for (int step = 0; step < window.steps; ++step)
      if (transitions_.held(first + step, stream))
        window.reset[static_cast<std::size_t>(step) * static_cast<std::size_t>(window.batch) +
                     static_cast<std::size_t>(row)] = Window::hold_flag;
  }

  // ------------------------------------------------------------ 3: M updates

  void train(const RateFunction& rate) {
    const double coin = choices_.flips ? random_.uniform(static_cast<std::uint64_t>(step_), 0, of_coins) : 0;
    const FppPlan plan = schedule_.plan(step_, coin);
    const double lambda = choices_.on_weights || choices_.on_states ? schedule_.lambda(step_) : 0;
    if (choices_.sequential) {
      for (int m = 0; m < plan.updates; ++m) {
        Trajectory& trajectory = trajectories_.front();
        if (!draw(plan.steps, trajectory)) return;
        differentiate(lambda, trajectory);
        if (choices_.writes_each || m + 1 == plan.updates) move_states(trajectory);
        update(static_cast<double>(trajectory.active.size()), rate);
      }
      return;
    }
    for (int m = 0; m < plan.updates; ++m) {
      Trajectory& trajectory = trajectories_[static_cast<std::size_t>(m)];
      if (!draw(plan.steps, trajectory)) return;  // the first draw fails, or none
      differentiate(lambda, trajectory);
    }
    for (int m = 0; m < plan.updates; ++m) {
      Trajectory& trajectory = trajectories_[static_cast<std::size_t>(m)];
      if (choices_.writes_each || m + 1 == plan.updates) move_states(trajectory);
      if (trajectories_.size() > 1) trainee_.engine.copy(trajectory.gradient, trainee_.gradient);
      update(static_cast<double>(trajectory.active.size()), rate);
    }
  }

  bool may_end(std::int64_t end, int row, int T) const {
    return transitions_.run(end, row) >= T && !transitions_.held(end, row) &&
           (choices_.any_end || transitions_.weight(end, row) != 0);
  }

  /// Draws the ends of the rows' trajectories, uniformly over those that lie inside one sequence. False: there is none.
  bool draw(int T, Trajectory& trajectory) {
    const std::int64_t low = transitions_.oldest() + T - 1;
    const std::int64_t high = transitions_.newest() - (config_.newest ? 0 : 1);
    if (high < low) return false;
    const auto number = static_cast<std::uint64_t>(draws_++);
    set_length(T);
    trajectory.active.clear();
    const auto last_weights = part_.weight.end() - rows_;
    std::int64_t end = -1;
    for (int row = 0; row < rows_; ++row) {
      int stream = row;
      if (choices_.blocks) {
        std::tie(end, stream) = pick_pair(low, high, T, number, static_cast<std::uint32_t>(row));
      } else if (row == 0) {
        end = pick_end(low, high, T, number);
      }
      if (end < 0) return false;
      const bool active = may_end(end, stream, T);
      if (active) trajectory.active.push_back(row);
      last_weights[row] = active ? transitions_.weight(end, stream) : 0.0f;
      aim(trajectory, row, stream, end, T, active);
    }
    return true;
  }

  /// One end for all streams, such that at least one of them may end there.
  std::int64_t pick_end(std::int64_t low, std::int64_t high, int T, std::uint64_t number) const {
    const auto good = [&](std::int64_t index) {
      for (int row = 0; row < shape_.batch; ++row)
        if (may_end(low + index, row, T)) return true;
      return false;
    };
    if (choices_.only_newest) return good(high - low) ? high : -1;
    const std::int64_t index = pick(high - low + 1, number, 0, good);
    return index < 0 ? -1 : low + index;
  }

  std::pair<std::int64_t, int> pick_pair(std::int64_t low, std::int64_t high, int T, std::uint64_t number,
                                         std::uint32_t block) const {
    const std::int64_t streams = shape_.batch;
    const auto good = [&](std::int64_t index) {
      return may_end(low + index / streams, static_cast<int>(index % streams), T);
    };
    const std::int64_t index = pick((high - low + 1) * streams, number, block, good);
    if (index < 0) return {-1, 0};
    return {low + index / streams, static_cast<int>(index % streams)};
  }

  /// Uniform over the good ones of `choices`, -1 if there is none. A second draw, over a list of the good ones, comes
  /// only after a first one that was not: most streams have targets everywhere.
  template <class Good>
  std::int64_t pick(std::int64_t choices, std::uint64_t number, std::uint32_t row, const Good& good) const {
    const auto first = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(choices), number, row, 0));
    if (good(first)) return first;
    std::int64_t count = 0;
    for (std::int64_t index = 0; index < choices; ++index) count += good(index) ? 1 : 0;
    if (count == 0) return -1;
    auto left = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(count), number, row, 1));
    for (std::int64_t index = 0;; ++index)
      if (good(index) && left-- == 0) return index;
  }

  void set_length(int T) {
    part_.sources = transitions_.sources();
    part_.mask_key = static_cast<std::uint64_t>(draws_) * 0x9e3779b97f4a7c15u;
    part_.reset.clear();
    if (transitions_.any_held()) part_.reset.resize(static_cast<std::size_t>(T) * static_cast<std::size_t>(rows_), 0);
    if (part_.steps == T) return;
    part_.steps = T;
    part_.weight.assign(static_cast<std::size_t>(T) * static_cast<std::size_t>(rows_), 0.0f);
  }

  /// The window of a row, o_{i-T+1} ... o_i of its stream, and its cells.
  void aim(Trajectory& trajectory, int row, int stream, std::int64_t end, int T, bool active) {
    const auto r = static_cast<std::size_t>(row);
    const std::int64_t first = end - T + 1;
    part_.source[r] = stream;
    part_.start[r] = first;
    if (!part_.reset.empty()) mark_held(part_, row, stream, first);
    trajectory.start_cells[r] = active ? first_state(end, stream, T) : cells_.nobodys();
    trajectory.end_cells[r] = active ? cells_.after(end, stream) : cells_.nobodys();
  }
  /// The cell of s_{i-T}: after the transition before the window, or the start of the sequence.
  std::int64_t first_state(std::int64_t end, int stream, int T) const {
    return transitions_.run(end, stream) == T ? cells_.before_first(end - T + 1, stream) : cells_.after(end - T, stream);
  }

  /// Gradients of L_i at the current W and states; nothing is changed yet.
  void differentiate(double lambda, Trajectory& trajectory) {
    Engine& engine = trainee_.engine;
    cells_.gather(trajectory.start_cells, trajectory.start);
    const bool shifted = last_ && has_last_;
    engine.unroll({.window = part_,
                   .parameters = trainee_.parameters,
                   .tape = *tape_,
                   .initial_state = shifted ? last_ : trajectory.start,
                   .final_state = trajectory.prediction,
                   .loss_sum = config_.fixed ? loss_sum_ : Buffer(),
                   .correct_sum = config_.fixed ? correct_sum_ : Buffer()});
    if (config_.fixed) loss_weight_ += sum_of_weights(name(), part_.weight);
    if (last_) {
      engine.copy(trajectory.prediction, last_);
      has_last_ = true;
    }
    trajectory.penalised = lambda > 0;
    if (trajectory.penalised) make_penalty(lambda, trajectory);
    const bool one_pass = choices_.on_weights == choices_.on_states || !trajectory.penalised;
    const Buffer penalty = trajectory.penalised ? trajectory.prediction : Buffer();
    const bool moves = config_.state_rate > 0;
    engine.pull_back({.tape = *tape_,
                      .window = part_,
                      .parameters = trainee_.parameters,
                      .gradient = trajectory.gradient,
                      .end_cotangent = choices_.on_weights ? penalty : Buffer(),
                      .initial_cotangent = moves && one_pass ? trajectory.start_cotangent : Buffer()});
    if (moves && !one_pass)
      engine.pull_back({.tape = *tape_,
                        .window = part_,
                        .parameters = trainee_.parameters,
                        .end_cotangent = choices_.on_states ? penalty : Buffer(),
                        .initial_cotangent = trajectory.start_cotangent});
  }

  /// prediction <- lambda (shat_i - s_i) in the scale of the penalty; zero in rows that take no part.
  void make_penalty(double lambda, Trajectory& trajectory) {
    Engine& engine = trainee_.engine;
    cells_.gather(trajectory.end_cells, trajectory.end);
    engine.axpy(-1, trajectory.end, trajectory.prediction);
    engine.scale(trajectory.prediction, choices_.mean_penalty ? 2 * lambda / width_ : lambda);
    if (trajectory.active.size() == static_cast<std::size_t>(rows_)) return;
    engine.gather_rows(trajectory.prediction, width_, trajectory.active, compact_);
    engine.fill(trajectory.prediction, 0);
    engine.scatter_rows(compact_, width_, trajectory.active, trajectory.prediction);
  }

  /// s_{i-T} -= eta_s d/ds_{i-T};  s_i -= eta_s lambda (s_i - shat_i).
  void move_states(Trajectory& trajectory) {
    if (config_.state_rate == 0) return;
    const double share = choices_.batch_mean ? 1.0 / static_cast<double>(trajectory.active.size()) : 1.0;
    cells_.descend(trajectory.start_cells, trajectory.start, trajectory.start_cotangent, share);
    if (trajectory.penalised && choices_.on_states)
      cells_.descend(trajectory.end_cells, trajectory.end, trajectory.prediction, -share);
  }

  /// Fixed buffer: mean loss over all its windows, from the stored states.
  double buffer_loss() const {
    Engine& engine = trainee_.engine;
    Window& window = probe_->window;
    window = part_;
    window.sources = transitions_.sources();
    const int T = config_.steps;
    window.steps = T;
    window.weight.assign(static_cast<std::size_t>(T) * static_cast<std::size_t>(rows_), 0.0f);
    const auto clear_flags = [&] { window.reset.assign(transitions_.any_held() ? window.weight.size() : 0, 0); };
    clear_flags();
    std::vector<std::int64_t> cells(static_cast<std::size_t>(rows_));
    double weights = 0;
    engine.fill(probe_->sum, 0);
    // Windows of all streams one after the other, `rows_` at a time; what is left over has weight zero.
    std::size_t filled = 0;
    const auto flush = [&] {
      if (filled == 0) return;
      for (std::size_t row = filled; row < cells.size(); ++row) {
        window.source[row] = window.source[0];
        window.start[row] = window.start[0];
        cells[row] = cells[0];
        window.weight[window.weight.size() - cells.size() + row] = 0;
      }
      cells_.gather(cells, compact_);
      engine.unroll({.window = window, .parameters = trainee_.parameters, .tape = *tape_, .training = false,
                     .initial_state = compact_, .loss_sum = probe_->sum});
      clear_flags();
      filled = 0;
    };
    for (std::int64_t end = transitions_.oldest() + T - 1; end <= transitions_.newest(); ++end)
      for (int stream = 0; stream < shape_.batch; ++stream) {
        const float weight = transitions_.weight(end, stream);
        if (weight == 0 || transitions_.run(end, stream) < T) continue;
        window.source[filled] = stream;
        window.start[filled] = end - T + 1;
        if (transitions_.any_held()) mark_held(window, static_cast<int>(filled), stream, end - T + 1);
        cells[filled] = first_state(end, stream, T);
        window.weight[window.weight.size() - cells.size() + filled] = weight;
        weights += weight;
        if (++filled == cells.size()) flush();
      }
    flush();
    return weights > 0 ? engine.read(probe_->sum).front() / weights : std::numeric_limits<double>::quiet_NaN();
  }

  static constexpr std::uint64_t of_coins = 2;  // element of the coins of Random-FPP; draws have 0 and 1

  std::string name_;
  FppConfig config_;
  Choices choices_;
  StretchShape shape_;
  FppSchedule schedule_;
  Random random_;
  Transitions transitions_;
  int width_;  // S
  int rows_;   // R, trajectories of an update
  StateCells cells_;
  std::unique_ptr<Tape> tape_, online_tape_;
  Buffer state_;    // [B, S]: s_t, the running state
  Buffer compact_;  // [R, S]
  Buffer last_;     // [R, S]: the last state of the window before, for the shifted start
  bool has_last_ = false;
  std::vector<Trajectory> trajectories_;  // one, or M that are differentiated at common values
  std::unique_ptr<Probe> probe_;
  Window part_, online_;
  std::vector<std::uint8_t> begins_;  // [B]: rows whose sequence begins at the newest step
  std::int64_t step_ = 0;   // online steps done
  std::int64_t draws_ = 0;  // trajectories drawn: the counter of their random numbers
};

}  // namespace

std::unique_ptr<Learner> make_fpp(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape) {
  check("fpp", config.fpp);
  if (config.fpp.start != "stored") refuse("fpp", "start = {} belongs to sliding_tbptt", config.fpp.start);
  return std::make_unique<Fpp>("fpp", config.fpp, trainee, shape);
}

/// T-BPTT from the state that was stored when it was the newest: the newest trajectory, no penalty, states stay.
std::unique_ptr<Learner> make_sliding_tbptt(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape) {
  FppConfig sliding;
  sliding.steps = config.fpp.steps;
  sliding.buffer = config.fpp.steps;
  sliding.start = config.fpp.start;
  sliding.sample = "newest";
  sliding.penalise = "none";
  sliding.state_rate = 0;
  check("sliding_tbptt", sliding);
  return std::make_unique<Fpp>("sliding_tbptt", sliding, trainee, shape);
}

}  // namespace throughtime
