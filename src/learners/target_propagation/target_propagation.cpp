#include <unistd.h>

#include <cmath>
#include <optional>

#include "learners/support.h"
#include "learners/target_propagation/duals.h"
#include "learners/target_propagation/states.h"
#include "learners/target_propagation/sweep.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr const char* speaker = "target_propagation";
constexpr int batch_shard = 256;  // blocks at a time, where the whole data is one stretch

void check_numbers(const TargetPropagationConfig& config, const StretchShape& shape) {
  if (config.block < 1 || config.block > shape.steps)
    refuse(speaker, "tprop_block (B) must be between 1 and the steps of a stretch ({}), got {}", shape.steps,
           config.block);
  if (shape.steps % config.block != 0)
    refuse(speaker, "tprop_block (B) must divide the steps of a stretch ({}, task.length), got {}", shape.steps,
           config.block);
  if (!(config.lambda >= 0)) refuse(speaker, "tprop_lambda must be 0 or positive, got {}", config.lambda);
  if (config.solver != "pm" && config.lambda == 0)
    refuse(speaker, "tprop_lambda must be positive where there are duals (tprop_solver = {}), got 0; pm has none",
           config.solver);
  if (!(config.lambda_factor > 0))
    refuse(speaker, "tprop_lambda_factor must be positive, got {}", config.lambda_factor);
  if (!(config.state_rate >= 0)) refuse(speaker, "tprop_state_rate must be 0 or positive, got {}", config.state_rate);
  if (!(config.dual_rate >= 0)) refuse(speaker, "tprop_dual_rate must be 0 or positive, got {}", config.dual_rate);
  require_range(speaker, "tprop_state_steps", config.state_steps, config.solver == "alm" ? 1 : 0, 1'000'000);
  require_range(speaker, "tprop_theta_steps", config.theta_steps, 1, 1'000'000);
  require_range(speaker, "tprop_rounds", config.rounds, 1, 1'000'000);
  require_range(speaker, "tprop_shard", config.shard, 0, 1'000'000'000);
}

void check(const TargetPropagationConfig& config, const StretchShape& shape) {
  require_known(speaker, "tprop_solver", config.solver, {"admm", "alm", "pm"});
  require_known(speaker, "tprop_h_solver", config.h_solver, {"gradient", "backward_sweep"});
  require_known(speaker, "tprop_dual", config.dual, {"scaled", "literal"});
  require_known(speaker, "tprop_init", config.init, {"chain", "zero_start", "zeros", "persist"});
  require_known(speaker, "tprop_loss_scale", config.loss_scale, {"sum", "mean"});
  check_numbers(config, shape);
  if (config.h_solver == "backward_sweep" && (config.init != "chain" || config.solver == "alm"))
    refuse(speaker, "backward_sweep needs tprop_init = chain and a solver other than alm, got {} and {}", config.init,
           config.solver);
  if (config.init != "persist") return;
  if (shape.stretches != 1 || shape.examples != 0)
    refuse(speaker,
           "tprop_init = persist keeps a state for every block of the data, so that one stretch must be all of it, in "
           "every "
           "epoch the same: a task of one recording with task.length of at least {} steps, got {}",
           shape.row_steps, shape.steps);
}

/// Tables of the size of H: H and dL/dH, moments, duals, targets of a sweep.
int tables_of(const TargetPropagationConfig& config) {
  return 2 + find_optimizer(config.state_optimizer).moments + (config.solver == "pm" ? 0 : 1) +
         (config.h_solver == "backward_sweep" ? 1 : 0);
}

std::size_t table_bytes(const TargetPropagationConfig& config, const Engine& engine, const TargetBlocks& blocks) {
  return static_cast<std::size_t>(tables_of(config)) * static_cast<std::size_t>(blocks.table_rows()) *
         static_cast<std::size_t>(engine.model().state_size()) * engine.number_bytes();
}

/// Before anything is allocated.
TargetBlocks blocks_that_fit(const TargetPropagationConfig& config, const Engine& engine, const StretchShape& shape) {
  check(config, shape);
  const int shard = config.shard > 0 ? config.shard : config.init == "persist" ? batch_shard : 0;
  TargetBlocks blocks(shape, config.block, shard, config.init == "zero_start" || config.init == "zeros");
  const auto machine =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
  const std::size_t limit = config.memory > 0 ? static_cast<std::size_t>(config.memory) << 20 : machine;
  const std::size_t needed = table_bytes(config, engine, blocks);
  if (needed > limit)
    refuse(speaker,
           "{} tables of {} states of {} numbers need {} MiB, and there are {} ({}); take a larger tprop_block",
           tables_of(config), blocks.table_rows(), engine.model().state_size(), (needed + (1u << 20) - 1) >> 20,
           limit >> 20, config.memory > 0 ? "tprop_memory" : "the machine's memory");
  return blocks;
}

/// Target propagation in blocks (BTPROP; with B = 1 TPROP): the state h_j before every block is a variable of its own,
/// held to the end of the block before it by a spring and, in ADMM and ALM, a dual. A round on a stretch:
///   ADMM   1. n_H descent steps on H   2. n_theta descent steps on theta   3. u <- u + alpha_u dL/du
///   PM     the same without 3, u = 0
///   ALM    n_H joint steps on H and theta, both gradients at the same point, then 3
/// In minibatch mode H is made anew from theta for every stretch, and u = 0 there; in batch mode (init = persist) the
/// stretch is the whole data and both tables live as long as the run.
class TargetPropagation final : public Learner {
 public:
  TargetPropagation(const TargetPropagationConfig& config, Trainee& trainee, const StretchShape& shape)
      : Learner(trainee),
        config_(config),
        shape_(shape),
        blocks_(blocks_that_fit(config, trainee.engine, shape)),
        objective_(trainee.engine, blocks_, shape.terminal ? 1 : 0, needs_state_tape()),
        states_(trainee.engine, config, blocks_),
        lambda_(config.lambda) {
    Engine& engine = trainee.engine;
    state_ =
        engine.allocate(static_cast<std::size_t>(shape.batch) * static_cast<std::size_t>(engine.model().state_size()));
    if (config.solver != "pm") duals_.emplace(engine, config, blocks_);
    if (config.h_solver == "backward_sweep") sweep_.emplace(engine, blocks_);
  }

  std::string_view name() const override { return speaker; }
  std::size_t activation_bytes() const override {
    return objective_.activation_bytes() + states_.activation_bytes() + (sweep_ ? sweep_->activation_bytes() : 0) +
           table_bytes(config_, trainee_.engine, blocks_);
  }

  void learn(const Window& stretch, const RateFunction& rate) override {
    check_stretch(name(), shape_, stretch);
    blocks_.begin(stretch);
    if (!stretch.continues && !config_.carry_epochs) trainee_.engine.fill(state_, 0);
    const double weights = sum_of_weights(name(), stretch.weight);
    if (weights == 0) return states_.pass(trainee_.parameters, state_);
    set_scales(weights);
    states_.begin(trainee_.parameters, state_, objective_);
    if (duals_ && !persists()) duals_->clear();
    counted_ = false;
    for (int round = 0; round < config_.rounds; ++round) iterate(round + 1 == config_.rounds, rate);
    loss_weight_ += weights;
  }

  void end_epoch() override {
    ++epoch_;
    lambda_ *= config_.lambda_factor;
  }

  std::vector<Diagnostic> diagnostics() const override {
    const double numbers = static_cast<double>(objective_.springs()) * trainee_.engine.model().state_size();
    const double square = trainee_.engine.read(objective_.spring_square())[0];
    return {{"lambda", weight_}, {"spring_rms", numbers > 0 ? std::sqrt(square / numbers) : 0.0}};
  }

  void archive(Archive& archive) override {
    Learner::archive(archive);
    archive.buffer("state", trainee_.engine, state_);
    archive.integer("epoch", epoch_);
    archive.number("lambda", lambda_);
    states_.archive(archive);
    if (duals_ && persists()) duals_->archive(archive);
  }

 private:
  bool persists() const { return config_.init == "persist"; }
  bool joint() const { return config_.solver == "alm"; }
  bool needs_state_tape() const {
    return config_.solver != "alm" && config_.state_steps > 0 && config_.h_solver == "gradient";
  }
  bool has_duals() const { return duals_ && epoch_ >= config_.first_dual_epoch; }

  /// sum: L as it stands. mean: L / W with lambda W / N in place of lambda, W the sum of the loss weights and N the
  /// number of blocks: the mean loss of a step, and lambda times the mean of a block's spring.
  void set_scales(double weights) {
    const bool mean = config_.loss_scale == "mean";
    scale_ = mean ? 1 / weights : 1;
    weight_ = mean ? lambda_ * weights / (static_cast<double>(blocks_.range().count()) * blocks_.rows()) : lambda_;
  }

  /// One round of the paper's algorithm. A dual step whose result nobody would read is left out.
  void iterate(bool last, const RateFunction& rate) {
    if (joint()) {
      for (int step = 0; step < config_.state_steps; ++step) joint_step(rate);
    } else {
      move_states();
      if (config_.dual_before_theta) dual_step();
      for (int step = 0; step < config_.theta_steps; ++step) theta_step(rate);
    }
    const bool dual_is_done = config_.dual_before_theta && !joint();
    if (!dual_is_done && (!last || persists())) dual_step();
  }

  void move_states() {
    if (sweep_) return sweep_->run(point(), config_.state_rate * scale_);
    for (int step = 0; step < config_.state_steps; ++step) {
      differentiate({.states = states_.gradient()});
      states_.descend(scale_);
    }
  }

  void theta_step(const RateFunction& rate) {
    differentiate({.theta = trainee_.gradient, .last_state = state_});
    update(1 / scale_, rate);
  }

  void joint_step(const RateFunction& rate) {
    differentiate({.theta = trainee_.gradient, .states = states_.gradient(), .last_state = state_});
    states_.descend(scale_);
    update(1 / scale_, rate);
  }

  void dual_step() {
    if (has_duals()) duals_->ascend(point(), scale_, objective_, states_.gradient());
  }

  TargetPoint point() const {
    return {.parameters = trainee_.parameters,
            .inputs = states_.table(),
            .targets = sweep_ ? sweep_->targets() : states_.table(),
            .duals = has_duals() ? duals_->table() : Buffer(),
            .lambda = weight_};
  }

  /// The first evaluation of a stretch counts as its training loss: a new H has not been fitted to its targets yet.
  void differentiate(TargetGradients wanted) {
    if (!counted_) wanted.loss_sum = loss_sum_, wanted.correct_sum = correct_sum_;
    counted_ = true;
    objective_.differentiate(point(), wanted);
  }

  TargetPropagationConfig config_;
  StretchShape shape_;
  TargetBlocks blocks_;
  TargetObjective objective_;
  TargetStates states_;
  std::optional<TargetDuals> duals_;
  std::optional<TargetSweep> sweep_;
  Buffer state_;       // [R, S]: carried to the stretch that continues this one
  double lambda_;      // of this epoch
  double weight_ = 0;  // lambda of the objective
  double scale_ = 1;   // of all gradients
  std::int64_t epoch_ = 1;
  bool counted_ = false;  // the stretch has been evaluated
};

}  // namespace

StreamNeeds target_propagation_stream(const LearnerConfig&) {
  refuse(speaker,
         "a stream is learned from as it comes, and target propagation optimises over many blocks at once; take "
         "tbptt, or fpp, whose states are variables too");
}

std::unique_ptr<Learner> make_target_propagation(const LearnerConfig& config, Trainee& trainee,
                                                 const StretchShape& shape) {
  return std::make_unique<TargetPropagation>(config.target, trainee, shape);
}

}  // namespace throughtime
