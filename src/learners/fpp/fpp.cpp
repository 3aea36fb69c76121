#include "learners/fpp/fpp.h"

#include <utility>

#include "core/denormals.h"
#include "engine/targets.h"
#include "learners/support.h"

namespace throughtime {
namespace {

constexpr std::uint64_t of_coins = 2;  // element of the coins of Random-FPP; draws have 0 and 1

// Whose gradient holds the penalty.
bool holds_for_weights(FppPenalise who) { return who == FppPenalise::both || who == FppPenalise::weights; }
bool holds_for_states(FppPenalise who) { return who == FppPenalise::both || who == FppPenalise::states; }

}  // namespace

Fpp::Fpp(std::string name, const FppConfig& config, SlidingStart start, Trainee& trainee, const StretchShape& shape)
    : Learner(trainee, shape),
      name_(std::move(name)),
      config_(config),
      schedule_(config),
      random_(shape.seed, Purpose::sampling),
      transitions_(trainee.engine.model(), config.buffer, shape.batch),
      width_(trainee.engine.model().state_size()),
      rows_(config.batch == FppBatch::blocks ? config.blocks : shape.batch),
      cells_(trainee.engine, config, shape.batch, rows_),
      draws_(config, transitions_, cells_, rows_, shape.seed),
      online_(trainee.engine, config.feed, transitions_, cells_) {
  Engine& engine = trainee.engine;
  tape_ = engine.make_tape({.steps = config.steps, .batch = rows_, .keep = Keep::gradient, .losses = 1});
  compact_ = engine.allocate(elements(rows_, width_));
  trajectories_.resize(config.order == FppOrder::parallel ? elements(schedule_.most_updates()) : 1);
  for (Trajectory& trajectory : trajectories_) make(trajectory);
  if (start == SlidingStart::shifted) {
    last_ = engine.allocate(elements(rows_, width_));
    last_ends_.assign(elements(rows_), -1);
    going_on_.reserve(elements(rows_));
  }
  if (config.fixed) probe_ = std::make_unique<BufferProbe>(engine, config.steps, rows_, transitions_, cells_, draws_);
}

void Fpp::make(Trajectory& trajectory) {
  Engine& engine = trainee_.engine;
  draws_.reserve(trajectory);
  trajectory.gradient = trajectories_.size() > 1 ? engine.allocate(trainee_.gradient.size) : trainee_.gradient;
  for (Buffer* states : {&trajectory.start, &trajectory.end, &trajectory.prediction, &trajectory.start_cotangent})
    *states = engine.allocate(elements(rows_, width_));
}

/// Algorithm 1. Every step of the stretch is an online step. Steps are looked at here, before they enter the buffer,
/// and not again in the windows that are drawn from it.
void Fpp::learn(const Window& stretch, const RateFunction& rate) {
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

/// 1 and 2: s_t = f_W(s_{t-1}, o_t); the transition and its state enter the buffer. The loss of this prediction counts,
/// for nothing was learned from the step yet; that of a buffer that is only being filled does not.
void Fpp::observe(const Window& stretch, int step) {
  transitions_.append(stretch, step);
  const bool counts = !config_.fixed;
  online_.run(trainee_.parameters, counts ? loss_sum_ : Buffer(), counts ? correct_sum_ : Buffer());
  if (counts) loss_weight_ += sum_of_weights(name(), online_.weights());
}

/// 3: M updates, each of which sees what the one before it left; or M gradients at common values, then M updates.
void Fpp::train(const RateFunction& rate) {
  const bool flips = config_.variant == FppVariant::random;
  const double coin = flips ? random_.uniform(static_cast<std::uint64_t>(step_), 0, of_coins) : 0;
  const FppPlan plan = schedule_.plan(step_, coin);
  const double lambda = config_.penalise == FppPenalise::none ? 0 : schedule_.lambda(step_);
  const bool sequential = config_.order == FppOrder::sequential;
  for (int m = 0; m < plan.updates; ++m) {
    Trajectory& trajectory = trajectories_[sequential ? 0 : m];
    if (!draws_.draw(plan.steps, trajectory)) return;  // the first draw fails, or none
    differentiate(lambda, trajectory);
    if (sequential) apply(trajectory, m + 1 == plan.updates, rate);
  }
  for (int m = 0; m < plan.updates && !sequential; ++m) apply(trajectories_[m], m + 1 == plan.updates, rate);
}

/// Gradients of L_i at the current W and states; nothing is changed yet. Where the penalty belongs to one of them
/// alone, that of the states has a backward pass of its own.
void Fpp::differentiate(double lambda, Trajectory& trajectory) {
  Engine& engine = trainee_.engine;
  predict(trajectory);
  trajectory.penalised = lambda > 0;
  if (trajectory.penalised) make_penalty(lambda, trajectory);
  const bool on_weights = holds_for_weights(config_.penalise), on_states = holds_for_states(config_.penalise);
  const bool one_pass = on_weights == on_states || !trajectory.penalised;
  const Buffer penalty = trajectory.penalised ? trajectory.prediction : Buffer();
  const bool moves = config_.state_rate > 0;
  engine.pull_back({.tape = *tape_,
                    .window = draws_.window(),
                    .parameters = trainee_.parameters,
                    .gradient = trajectory.gradient,
                    .end_cotangent = on_weights ? penalty : Buffer(),
                    .initial_cotangent = moves && one_pass ? trajectory.start_cotangent : Buffer(),
                    .checked = true});
  if (moves && !one_pass)
    engine.pull_back({.tape = *tape_,
                      .window = draws_.window(),
                      .parameters = trainee_.parameters,
                      .end_cotangent = on_states ? penalty : Buffer(),
                      .initial_cotangent = trajectory.start_cotangent,
                      .checked = true});
}

/// prediction <- shat_i, T steps from s_{i-T}.
void Fpp::predict(Trajectory& trajectory) {
  Engine& engine = trainee_.engine;
  cells_.gather(trajectory.start_cells, trajectory.start);
  if (last_) shift_starts(trajectory);
  engine.unroll({.window = draws_.window(),
                 .parameters = trainee_.parameters,
                 .tape = *tape_,
                 .initial_state = trajectory.start,
                 .final_state = trajectory.prediction,
                 .loss_sum = config_.fixed ? loss_sum_ : Buffer(),
                 .correct_sum = config_.fixed ? correct_sum_ : Buffer(),
                 .penalties = count_penalties(draws_.window()),
                 .checked = true});
  if (config_.fixed) loss_weight_ += sum_of_weights(name(), draws_.window().weight);
  if (last_) keep_last_states(trajectory);
}

/// The released T-BPTT's first state: the last one of the window before, T - 1 steps too late. A row whose sequence has
/// had no window yet starts from its stored state.
void Fpp::shift_starts(Trajectory& trajectory) {
  going_on_.clear();
  for (const std::int64_t row : trajectory.active) {
    const std::int64_t end = draws_.end(row), last = last_ends_[row];
    if (last >= 0 && end - last < transitions_.run(end, draws_.stream(row))) going_on_.push_back(row);
  }
  if (going_on_.empty()) return;
  trainee_.engine.gather_rows(last_, width_, going_on_, compact_);
  trainee_.engine.scatter_rows(compact_, width_, going_on_, trajectory.start);
}

void Fpp::keep_last_states(const Trajectory& trajectory) {
  for (const std::int64_t row : trajectory.active) last_ends_[row] = draws_.end(row);
  trainee_.engine.gather_rows(trajectory.prediction, width_, trajectory.active, compact_);
  trainee_.engine.scatter_rows(compact_, width_, trajectory.active, last_);
}

/// prediction <- lambda (shat_i - s_i) in the scale of the penalty; zero in rows that take no part.
void Fpp::make_penalty(double lambda, Trajectory& trajectory) {
  Engine& engine = trainee_.engine;
  cells_.gather(trajectory.end_cells, trajectory.end);
  engine.axpy(-1, trajectory.end, trajectory.prediction);
  engine.scale(trajectory.prediction, config_.penalty == FppPenalty::mean ? 2 * lambda / width_ : lambda);
  if (trajectory.active.size() == elements(rows_)) return;
  engine.gather_rows(trajectory.prediction, width_, trajectory.active, compact_);
  engine.fill(trajectory.prediction, 0);
  engine.scatter_rows(compact_, width_, trajectory.active, trajectory.prediction);
}

/// One update; `last` of those of its step.
void Fpp::apply(Trajectory& trajectory, bool last, const RateFunction& rate) {
  if (last || config_.write_back == FppWriteBack::each) move_states(trajectory);
  if (trajectories_.size() > 1) trainee_.engine.copy(trajectory.gradient, trainee_.gradient);
  update(static_cast<double>(trajectory.active.size()), rate);
}

/// s_{i-T} -= eta_s d/ds_{i-T};  s_i -= eta_s lambda (s_i - shat_i).
void Fpp::move_states(Trajectory& trajectory) {
  if (config_.state_rate == 0) return;
  const bool mean = config_.state_gradient == FppStateGradient::batch_mean;
  const double share = mean ? 1.0 / static_cast<double>(trajectory.active.size()) : 1.0;
  cells_.descend(trajectory.start_cells, trajectory.start, trajectory.start_cotangent, share);
  if (trajectory.penalised && holds_for_states(config_.penalise))
    cells_.descend(trajectory.end_cells, trajectory.end, trajectory.prediction, -share);
}

std::vector<Diagnostic> Fpp::diagnostics() const {
  if (!probe_) return {};
  return {{"buffer_loss", probe_->mean_loss(trainee_.parameters, *tape_)}};
}

void Fpp::archive(Archive& archive) {
  Learner::archive(archive);
  archive.integer("step", step_);
  draws_.archive(archive);
  transitions_.archive(archive);
  cells_.archive(archive);
  archive.buffer("state", trainee_.engine, online_.state());
  if (!last_) return;
  archive.buffer("last", trainee_.engine, last_);
  archive.integer_list("last_ends", last_ends_, elements(rows_),
                       between(-1, static_cast<double>(transitions_.newest())));
}

std::unique_ptr<Learner> make_learner(const FppConfig& config, Trainee& trainee, const StretchShape& shape) {
  check_learner(config, trainee.engine.model(), shape);
  return std::make_unique<Fpp>("fpp", config, SlidingStart::stored, trainee, shape);
}

}  // namespace throughtime
