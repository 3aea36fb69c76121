#include <limits>
#include <utility>

#include "core/denormals.h"
#include "engine/targets.h"
#include "learners/fpp/options.h"
#include "learners/fpp/schedule.h"
#include "learners/fpp/state_cells.h"
#include "learners/fpp/trajectory_draws.h"
#include "learners/fpp/transitions.h"
#include "learners/support.h"
#include "throughtime/error.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

/// Fixed Point Propagation. The states s_t of the last N transitions are variables beside W; an update draws the end i
/// of a trajectory, makes the T-step prediction shat_i from the stored s_{i-T}, and descends
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
        cells_(trainee.engine, config, shape.batch, rows_),
        draws_(config, transitions_, cells_, rows_, shape.seed) {
    Engine& engine = trainee.engine;
    tape_ = engine.make_tape({.steps = config.steps, .batch = rows_, .keep = Keep::gradient, .losses = 1});
    online_tape_ = engine.make_tape({.steps = 1, .batch = shape.batch, .keep = Keep::nothing});
    state_ = engine.allocate(static_cast<std::size_t>(shape.batch) * width_);
    compact_ = engine.allocate(static_cast<std::size_t>(rows_) * width_);
    trajectories_.resize(config.order == "parallel" ? static_cast<std::size_t>(schedule_.most_updates()) : 1);
    for (Trajectory& trajectory : trajectories_) make(trajectory);
    if (config.start == "shifted") last_ = engine.allocate(static_cast<std::size_t>(rows_) * width_);
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
    draws_.archive(archive);
    archive.integer("has_last", has_last_);
    transitions_.archive(archive);
    cells_.archive(archive);
    archive.buffer("state", trainee_.engine, state_);
    if (last_) archive.buffer("last", trainee_.engine, last_);
  }

 private:
  /// One sampled trajectory per row and what came of it.
  struct Trajectory : TrajectoryDraws::Rows {
    Buffer gradient;         // [P]
    Buffer start, end;       // [R, S]: s_{i-T}, s_i
    Buffer prediction;       // [R, S]: shat_i, then lambda (shat_i - s_i)
    Buffer start_cotangent;  // [R, S]: d/ds_{i-T}
    bool penalised = false;  // there is a penalty
  };
  struct Probe {
    Window window;
    Buffer sum;
  };

  void make(Trajectory& trajectory) {
    Engine& engine = trainee_.engine;
    const std::size_t states = static_cast<std::size_t>(rows_) * width_;
    draws_.reserve(trajectory);
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
    for (int row = 0; row < shape_.batch && transitions_.any_held(); ++row)
      transitions_.mark_held(online_, row, row, t);
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

  // ------------------------------------------------------------ 3: M updates

  void train(const RateFunction& rate) {
    const double coin = choices_.flips ? random_.uniform(static_cast<std::uint64_t>(step_), 0, of_coins) : 0;
    const FppPlan plan = schedule_.plan(step_, coin);
    const double lambda = choices_.on_weights || choices_.on_states ? schedule_.lambda(step_) : 0;
    if (choices_.sequential) {
      for (int m = 0; m < plan.updates; ++m) {
        Trajectory& trajectory = trajectories_.front();
        if (!draws_.draw(plan.steps, trajectory)) return;
        differentiate(lambda, trajectory);
        if (choices_.writes_each || m + 1 == plan.updates) move_states(trajectory);
        update(static_cast<double>(trajectory.active.size()), rate);
      }
      return;
    }
    for (int m = 0; m < plan.updates; ++m) {
      Trajectory& trajectory = trajectories_[static_cast<std::size_t>(m)];
      if (!draws_.draw(plan.steps, trajectory)) return;  // the first draw fails, or none
      differentiate(lambda, trajectory);
    }
    for (int m = 0; m < plan.updates; ++m) {
      Trajectory& trajectory = trajectories_[static_cast<std::size_t>(m)];
      if (choices_.writes_each || m + 1 == plan.updates) move_states(trajectory);
      if (trajectories_.size() > 1) trainee_.engine.copy(trajectory.gradient, trainee_.gradient);
      update(static_cast<double>(trajectory.active.size()), rate);
    }
  }

  /// Gradients of L_i at the current W and states; nothing is changed yet.
  void differentiate(double lambda, Trajectory& trajectory) {
    Engine& engine = trainee_.engine;
    cells_.gather(trajectory.start_cells, trajectory.start);
    const bool shifted = last_ && has_last_;
    engine.unroll({.window = draws_.window(),
                   .parameters = trainee_.parameters,
                   .tape = *tape_,
                   .initial_state = shifted ? last_ : trajectory.start,
                   .final_state = trajectory.prediction,
                   .loss_sum = config_.fixed ? loss_sum_ : Buffer(),
                   .correct_sum = config_.fixed ? correct_sum_ : Buffer()});
    if (config_.fixed) loss_weight_ += sum_of_weights(name(), draws_.window().weight);
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
                      .window = draws_.window(),
                      .parameters = trainee_.parameters,
                      .gradient = trajectory.gradient,
                      .end_cotangent = choices_.on_weights ? penalty : Buffer(),
                      .initial_cotangent = moves && one_pass ? trajectory.start_cotangent : Buffer()});
    if (moves && !one_pass)
      engine.pull_back({.tape = *tape_,
                        .window = draws_.window(),
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
    window = draws_.window();
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
      engine.unroll({.window = window,
                     .parameters = trainee_.parameters,
                     .tape = *tape_,
                     .training = false,
                     .initial_state = compact_,
                     .loss_sum = probe_->sum});
      clear_flags();
      filled = 0;
    };
    for (std::int64_t end = transitions_.oldest() + T - 1; end <= transitions_.newest(); ++end)
      for (int stream = 0; stream < shape_.batch; ++stream) {
        const float weight = transitions_.weight(end, stream);
        if (weight == 0 || transitions_.run(end, stream) < T) continue;
        window.source[filled] = stream;
        window.start[filled] = end - T + 1;
        if (transitions_.any_held()) transitions_.mark_held(window, static_cast<int>(filled), stream, end - T + 1);
        cells[filled] = draws_.first_state(end, stream, T);
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
  FppChoices choices_;
  StretchShape shape_;
  FppSchedule schedule_;
  Random random_;
  Transitions transitions_;
  int width_;  // S
  int rows_;   // R, trajectories of an update
  StateCells cells_;
  TrajectoryDraws draws_;
  std::unique_ptr<Tape> tape_, online_tape_;
  Buffer state_;    // [B, S]: s_t, the running state
  Buffer compact_;  // [R, S]
  Buffer last_;     // [R, S]: the last state of the window before, for the shifted start
  bool has_last_ = false;
  std::vector<Trajectory> trajectories_;  // one, or M that are differentiated at common values
  std::unique_ptr<Probe> probe_;
  Window online_;                     // the newest step of all streams
  std::vector<std::uint8_t> begins_;  // [B]: rows whose sequence begins at the newest step
  std::int64_t step_ = 0;             // online steps done
};

}  // namespace

std::unique_ptr<Learner> make_fpp(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape) {
  check_fpp("fpp", config.fpp);
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
  check_fpp("sliding_tbptt", sliding);
  return std::make_unique<Fpp>("sliding_tbptt", sliding, trainee, shape);
}

}  // namespace throughtime
