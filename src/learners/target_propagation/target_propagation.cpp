#include <cmath>
#include <optional>

#include "learners/support.h"
#include "learners/target_propagation/duals.h"
#include "learners/target_propagation/options.h"
#include "learners/target_propagation/states.h"
#include "learners/target_propagation/sweep.h"

namespace throughtime {
namespace {

/// Blocks of each row at a time; 0: all.
int shard_of(const TargetPropagationConfig& config) {
  constexpr int batch_shard = 256;  // where the whole data is one stretch
  return config.shard > 0 ? config.shard : config.init == StateInit::persist ? batch_shard : 0;
}

/// States that start at zero have a target for the last block too: zero.
bool last_spring_of(const TargetPropagationConfig& config) {
  return config.init == StateInit::zero_start || config.init == StateInit::zeros;
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
      : Learner(trainee, shape),
        config_(config),
        blocks_(shape, config.block, shard_of(config), last_spring_of(config)),
        objective_(trainee.engine, blocks_, shape.terminal ? 1 : 0, needs_state_tape()),
        states_(trainee.engine, config, blocks_),
        lambda_(config.lambda) {
    Engine& engine = trainee.engine;
    state_ = engine.allocate(elements(shape.batch, engine.model().state_size()));
    if (config.solver != PropagationSolver::pm) duals_.emplace(engine, config, blocks_);
    if (config.h_solver == StateSolver::backward_sweep) sweep_.emplace(engine, blocks_);
  }

  std::string_view name() const override { return "target_propagation"; }
  std::size_t activation_bytes() const override {
    return objective_.activation_bytes() + states_.activation_bytes() + (sweep_ ? sweep_->activation_bytes() : 0) +
           table_bytes(config_, trainee_.engine.model(), shape_, trainee_.engine.number_bytes());
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
    penalty_weight_ += weights;
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
    archive.number("lambda", lambda_, at_least(0));
    states_.archive(archive);
    if (duals_ && persists()) duals_->archive(archive);
  }

 private:
  bool persists() const { return config_.init == StateInit::persist; }
  bool joint() const { return config_.solver == PropagationSolver::alm; }
  bool needs_state_tape() const {
    return !joint() && config_.state_steps > 0 && config_.h_solver == StateSolver::gradient;
  }
  bool has_duals() const { return duals_ && epoch_ >= config_.first_dual_epoch; }

  /// sum: L as it stands. mean: L / W with lambda W / N in place of lambda, W the sum of the loss weights and N the
  /// number of blocks: the mean loss of a step, and lambda times the mean of a block's spring.
  void set_scales(double weights) {
    const bool mean = config_.loss_scale == LossScale::mean;
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

  ObjectivePoint point() const {
    return {.parameters = trainee_.parameters,
            .inputs = states_.table(),
            .held_to = sweep_ ? sweep_->targets() : states_.table(),
            .duals = has_duals() ? duals_->table() : Buffer(),
            .lambda = weight_};
  }

  /// The first evaluation of a stretch counts as its training loss: a new H has not been fitted to its targets yet.
  void differentiate(ObjectiveGradients wanted) {
    if (!counted_) wanted.loss_sum = loss_sum_, wanted.correct_sum = correct_sum_, wanted.penalties = penalties_;
    counted_ = true;
    objective_.differentiate(point(), wanted);
  }

  TargetPropagationConfig config_;
  Blocks blocks_;
  BlockObjective objective_;
  FreeStates states_;
  std::optional<Duals> duals_;
  std::optional<BackwardSweep> sweep_;
  Buffer state_;       // [R, S]: carried to the stretch that continues this one
  double lambda_;      // of this epoch
  double weight_ = 0;  // lambda of the objective
  double scale_ = 1;   // of all gradients
  std::int64_t epoch_ = 1;
  bool counted_ = false;  // the stretch has been evaluated
};

}  // namespace

std::unique_ptr<Learner> make_learner(const TargetPropagationConfig& config, Trainee& trainee,
                                      const StretchShape& shape) {
  check_settings(config, shape);
  require_room(config, trainee.engine.model(), shape, trainee.engine.number_bytes(), trainee.engine.memory_bytes(),
               "what the engine has left");
  return std::make_unique<TargetPropagation>(config, trainee, shape);
}

}  // namespace throughtime
