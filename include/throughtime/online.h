#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "throughtime/learner.h"

namespace throughtime {

/// How an OnlineLearner learns.
struct OnlineConfig {
  LearnerConfig learner = {.name = "tbptt", .tbptt = {.preset = TbpttPreset::original, .truncation = 10}};
  OptimizerConfig optimizer = {};
  double rate = 1e-3;
  Clip clip = {};
  ScheduleConfig schedule = {};
  std::int64_t steps_per_epoch = 1000;  // what a schedule of epochs, and a learner that acts between them, count as one
  int slots = 1;                        // B: streams at once
  std::uint64_t seed = 1;               // of what the learner draws
  double anchor = 0;                    // share of the way back to the first weights, after each update
};

/// What one step shows to the model: a token, reals [D], or both.
struct StepInput {
  std::span<const float> reals = {};
  std::int32_t token = -1;
};

/// What it should have answered: values [outputs], or a label. Neither: nobody knows.
struct StepTarget {
  std::span<const float> values = {};
  std::int32_t label = -1;
  bool known() const { return !values.empty() || label >= 0; }
};

/// Learns from endless streams, one step at a time, in constant memory: `observe` predicts, then learns. Nothing is
/// allocated after the first few steps, and each takes a bounded time; one with an estimate (adaptive_tbptt) takes
/// longer and needs room for as long as it takes.
///
/// B slots hold one stream each, with its own state. Steps of different streams may come in any order: a round takes at
/// most one step of each, and ends when every open stream has had its step or one of them comes with a second. Those
/// without a step in a round are held: they keep their state. Learners see rounds, as many at once as they ask for
/// (stream_needs), so their windows are counted in rounds. Predictions have a state of their own, which moves with the
/// weights as they are at each step.
class OnlineLearner {
 public:
  /// `engine` must outlive it; `parameters` are the first weights (initialise).
  OnlineLearner(Engine& engine, const std::vector<double>& parameters, const OnlineConfig& config);
  ~OnlineLearner();
  OnlineLearner(const OnlineLearner&) = delete;
  OnlineLearner& operator=(const OnlineLearner&) = delete;

  /// The prediction [outputs] for x before anything is learned from (x, y); valid until the slot's next one.
  std::span<const double> observe(std::span<const float> x, std::span<const float> y) {
    return observe(0, {.reals = x}, {.values = y});
  }
  std::span<const double> observe(int slot, const StepInput& x, const StepTarget& y);
  /// One step of every slot: x [B, D], y [B, outputs]; returns [B, outputs].
  std::span<const double> observe_all(std::span<const float> x, std::span<const float> y);

  /// The prediction for x that changes nothing. An `observe` or `predict` of the same x that follows takes over its
  /// work. With `further` the step follows the one that was looked at last, instead of the slot's state.
  std::span<const double> look(int slot, const StepInput& x, bool further = false);
  /// The two halves of `observe`, for targets that are known later: the prediction, which moves the slot's state,
  std::span<const double> predict(int slot, const StepInput& x);
  /// and learning from a step. Steps of a slot are learned from in the order in which they were predicted.
  void learn(int slot, const StepInput& x, const StepTarget& y);
  /// Refuses what the three would refuse; changes nothing.
  void check(int slot, const StepInput& x, const StepTarget& y) const;
  /// Ends the open round, if there is one.
  void end_round();

  /// The slot's stream ends: its state is forgotten, the next step there begins another, and rounds do not wait for it.
  void reset(int slot);

  int slots() const;
  std::int64_t rounds() const;  // learned from or waiting for the rest of a stretch
  std::int64_t updates() const;
  /// Mean loss per step with a target since the last call, NaN where there was none.
  double take_mean_loss();
  std::vector<Diagnostic> diagnostics() const;
  Buffer parameters() const;
  /// Bytes of the learner's tapes.
  std::size_t activation_bytes() const;
  /// Shows everything that decides how learning goes on.
  void archive(Archive& archive);
  /// The part of it that training on other data can go on with: the optimizer, the schedule and, with `of_learner`,
  /// what the method knows about the weights.
  void archive_memory(Archive& archive, bool of_learner);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace throughtime
