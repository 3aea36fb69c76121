#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "train/config.h"

namespace throughtime {

/// What a run will do and need, known before its first step.
struct RunPlan {
  std::string name;
  std::string task;
  std::string metric;
  std::string learner;
  std::string cell;  // of every layer, joined by " + " where they differ
  std::string engine;
  int threads = 0;
  int steps = 0;  // of a training sequence
  int batch = 0;
  std::int64_t iterations = 0;
  std::uint64_t seed = 0;
  std::size_t parameters = 0;
  std::size_t activation_bytes = 0;  // of the learner's tapes: what grows with the window
  std::size_t evaluation_bytes = 0;  // of the tape that keeps nothing
  double baseline = 0;               // the task's metric without looking at the input
};

/// The mean training loss since the last report.
struct Progress {
  std::int64_t iteration = 0;  // done
  double train_loss = 0;
  double seconds = 0;  // of training
};

struct Evaluation {
  std::int64_t iteration = 0;  // done
  double loss = 0;
  double metric = 0;
};

struct RunResult {
  RunPlan plan = {};
  double seconds = 0;  // making batches and learning from them; evaluations are not counted
  std::int64_t updates = 0;
  double train_loss = 0;                           // of the last report
  Evaluation test = {};                            // after the last iteration
  std::optional<Evaluation> best_validation = {};  // lowest loss, where train.evaluate_every is not 0
};

/// Hears what a run does; the default hears nothing.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_start(const RunPlan&) {}
  virtual void on_progress(const Progress&) {}
  virtual void on_validation(const Evaluation&) {}
  virtual void on_end(const RunResult&) {}
};

/// One run: builds everything that the configuration names, before the first step.
class Trainer {
 public:
  explicit Trainer(const RunConfig& config);

  const RunPlan& plan() const { return plan_; }
  /// Trains to the last iteration, then tests. Fails when the loss is no longer a finite number.
  RunResult run(Observer& observer);
  /// Mean loss and metric over `train.evaluate_batches` batches of a split, the first of them number `first`.
  Evaluation evaluate(Split split, std::uint64_t first);

 private:
  RunPlan make_plan() const;
  void learn_from_batch();
  Progress report();
  void validate(Observer& observer);

  RunConfig config_;
  std::unique_ptr<Task> task_;
  Model model_;
  std::unique_ptr<Engine> engine_;
  Trainee trainee_;
  std::unique_ptr<Learner> learner_;
  std::unique_ptr<Tape> evaluation_tape_;
  Buffer evaluation_loss_;  // [1]
  Schedule schedule_;
  RateFunction rate_;
  RunPlan plan_;
  std::int64_t iteration_ = 0;  // done
  double seconds_ = 0;
  std::optional<Evaluation> best_validation_;
};

}  // namespace throughtime
