#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "throughtime/choice.h"
#include "train/evaluate/best_by.h"
#include "train/evaluate/evaluation.h"
#include "train/options/config.h"

namespace throughtime {

/// How much a configuration asks for.
struct RunExtent {
  std::size_t parameters = 0;
  double products = 0;  // Model::products_of_step
  int steps = 0;
  int batch = 0;
  std::int64_t iterations = 0;
  double iterations_per_epoch = 0;
};
/// From the task and the model alone: nothing is made that grows with steps and batch.
RunExtent extent_of(const RunConfig& config);

/// Refuses a configuration that a Trainer on so many ranks would refuse, without its tapes and buffers.
void check_run(const RunConfig& config, int ranks = 1);

/// What a run will do and need, known before its first step.
struct RunPlan {
  std::string name;
  std::string task;
  std::string metric;  // the task's first
  std::string learner;
  std::string cell;  // of every layer, joined by " + " where they differ
  std::string engine;
  int threads = 0;  // of each rank
  int ranks = 1;    // processes that share the rows of a batch
  int steps = 0;    // of a training sequence
  int batch = 0;
  std::int64_t iterations = 0;
  double iterations_per_epoch = 0;
  std::uint64_t seed = 0;
  std::size_t parameters = 0;
  std::size_t activation_bytes = 0;                                // of the learner's tapes: what grows with the window
  std::size_t evaluation_bytes = 0;                                // of the tape that keeps nothing
  double baseline = 0;                                             // the task's metric without looking at the input
  std::string baseline_split;                                      // what that is of: test, where there is one
  std::vector<std::pair<std::string, double>> baselines;           // "validation_mse", "test_mse", ...: each split's
  std::string baseline_text;                                       // what it predicts
  double uniform_loss = std::numeric_limits<double>::quiet_NaN();  // all classes as likely; NaN where there are none
  bool is_error = true;                                            // the metric: 0 would be perfect
  std::string best_by = BestBy::loss;                              // what validation chooses by
  std::vector<std::string> notes;                                  // of task and engine, for whoever reads along
};

/// Means of the training since the last report, and since the run began. A stream's are prequential: predicted before
/// they were learned from.
struct Progress {
  std::int64_t iteration = 0;  // done
  double epoch = 0;
  double train_loss = 0;
  double cumulative_loss = 0;
  std::optional<double> train_accuracy = {};  // where the task is judged by it
  std::optional<double> cumulative_accuracy = {};
  double rate = 0;     // of the last update
  double seconds = 0;  // of training
  double steps_per_second = 0;
  std::vector<Diagnostic> diagnostics = {};  // of the learner
};

/// What happened in an iteration, for those who save.
struct IterationEnd {
  std::int64_t iteration = 0;  // done
  bool improved = false;       // the validation after it is the best so far
  bool last = false;           // of the run, or of this part of it
};

enum class RunEnd { finished, stopped_early, interrupted };
constexpr auto names_of(RunEnd) { return choice_names("finished", "stopped early", "interrupted"); }

struct RunResult {
  RunPlan plan = {};
  RunEnd end = RunEnd::finished;
  std::int64_t iteration = 0;  // done
  double seconds = 0;          // making batches and learning from them; evaluations are not counted
  double steps_per_second = 0;
  std::int64_t updates = 0;
  double train_loss = 0;                           // of the last report
  TrainingMeans cumulative = {};                   // of the whole run, predicted before they were learned from
  std::optional<Evaluation> test = {};             // after the last iteration, where there is a test split
  std::optional<Evaluation> best_validation = {};  // by plan.best_by, where there are validations
  std::optional<Evaluation> best_test = {};        // of the parameters behind best_validation
};

/// The test that counts: of the weights that validation chose, where it chose some, else of the last ones.
inline const std::optional<Evaluation>& chosen_test(const RunResult& result) {
  return result.best_test ? result.best_test : result.test;
}

/// How much of the baseline's error is left: "x naive", less than 1 is better. NaN where the metric is no error, or the
/// baseline has none.
inline double skill_of(double metric, double baseline, bool is_error) {
  const bool ratio = is_error && baseline > 0 && metric >= 0;
  return ratio ? metric / baseline : std::numeric_limits<double>::quiet_NaN();
}

/// Whether the end of a run is no result: an error of a hundred times the naive baseline, or a loss of ten times that
/// of a guess. Empty: it is one; else what is wrong, for people.
std::string divergence(const RunResult& result);
/// Where no validation had a finite train.best_by, so that the best weights are just the first: that, for people.
/// Else empty.
std::string unchosen(const RunResult& result);
/// Whether even the test that counts (without one, the training loss) is so far off that the run has failed: a million
/// times the naive baseline, or a thousand times the loss of a guess.
bool exploded(const RunResult& result);

/// Hears what a run does; the default hears nothing.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_start(const RunPlan&, std::int64_t /*iteration*/) {}
  virtual void on_progress(const Progress&) {}
  virtual void on_validation(const Evaluation&) {}
  /// The average of the weights begins, after that many iterations.
  virtual void on_averaging(std::int64_t /*iteration*/) {}
  virtual void on_iteration(const IterationEnd&) {}
  virtual void on_end(const RunResult&) {}
  /// Asked once after every iteration; true ends this part of the run.
  virtual bool wants_stop() { return false; }
};

/// Changes the parameters that a run begins with.
using FirstParameters = std::function<void(const ParameterLayout&, std::vector<double>&)>;

/// One run: builds everything that the configuration names, before the first step.
class Trainer {
 public:
  /// `task_directory`: where the task saved what belongs to a model (Task::save); empty: nothing was saved.
  /// `ranks`: the processes that train this run together; each has a trainer and makes the same calls.
  /// `first`: makes the first parameters from those that the seed gives, before anything else is derived from them.
  explicit Trainer(const RunConfig& config, const std::string& task_directory = "",
                   std::shared_ptr<Communicator> ranks = nullptr, const FirstParameters& first = {});

  Trainer(const Trainer&) = delete;  // its learner and its rate point into it
  Trainer& operator=(const Trainer&) = delete;

  const RunPlan& plan() const { return plan_; }
  const RunConfig& config() const { return config_; }
  std::int64_t iteration() const { return iteration_; }
  const std::optional<Evaluation>& best_validation() const { return best_validation_; }
  /// Numbers that the learner tells beside its loss.
  std::vector<Diagnostic> diagnostics() const;
  Task& task() { return *task_; }
  Evaluator& evaluator() { return evaluator_; }
  Engine& engine() { return *engine_; }
  Buffer parameters() const { return trainee_.parameters; }
  /// What the run is judged by: the parameters, or their average where one has begun.
  Buffer evaluated_parameters() const;
  /// Those of the best validation; none where there was none.
  Buffer best_parameters() const { return best_validation_ ? best_parameters_ : Buffer{}; }
  /// Null: one process.
  Communicator* ranks() const { return ranks_.get(); }

  /// Trains to the last iteration, then tests unless told not to. Fails when the loss is no longer a finite number.
  RunResult run(Observer& observer, bool test = true);
  /// Mean loss and metrics of the parameters on a split: of a generated one, `train.evaluate_batches` batches from
  /// number `first`.
  Evaluation evaluate(Split split, std::uint64_t first = 0);
  /// Shows everything that decides how the run goes on.
  void archive(Archive& archive);
  /// Of that, what training on other data can go on with: the optimizer, the schedule and, with `of_learner`, what the
  /// method knows about the weights.
  void archive_memory(Archive& archive, bool of_learner);
  /// Of that, how far the run is: counts, means, the schedule and the best validation; nothing that was derived from
  /// the parameters.
  void archive_progress(Archive& archive);
  /// The next validation is the best so far, whatever it says.
  void forget_best();

 private:
  RunPlan make_plan() const;
  std::vector<std::string> notes() const;
  bool finished() const;
  bool out_of_patience() const { return config_.train.patience > 0 && without_better_ >= config_.train.patience; }
  double epoch() const;
  /// Finds the epoch of the next batch.
  void find_epoch();
  bool validation_is_due() const;
  double steps_per_second() const { return seconds_ > 0 ? static_cast<double>(steps_) / seconds_ : 0; }
  void learn_from_batch();
  /// Adds what was learned since the clock was started to the seconds, once the engine is done with it.
  void stop_clock();
  Progress report();
  void take_means();
  TrainingMeans cumulative() const;
  bool validate(Observer& observer);
  Evaluation evaluate(Buffer parameters, Split split, std::uint64_t first);
  RunResult result(RunEnd end);
  void archive_counts(Archive& archive);
  void archive_best(Archive& archive);

  RunConfig config_;
  std::shared_ptr<Communicator> ranks_;
  std::unique_ptr<Task> task_;
  Model model_;
  std::unique_ptr<Engine> engine_;
  Trainee trainee_;
  std::unique_ptr<Learner> learner_;
  Evaluator evaluator_;
  BestBy best_by_;
  Schedule schedule_;
  RateFunction rate_;
  RunPlan plan_;
  std::int64_t iteration_ = 0;                                       // done
  std::int64_t epoch_number_ = 0, epoch_begin_ = 0, epoch_end_ = 0;  // of the next batch, in iterations
  double length_factor_ = 1;                                         // of the rate, in this batch
  std::int64_t steps_ = 0;                                           // learned from, over all rows
  double seconds_ = 0;                                               // of learning, until the clock was stopped
  std::optional<std::chrono::steady_clock::time_point> started_;     // the clock; none: it stands still
  double train_loss_ = std::numeric_limits<double>::quiet_NaN();     // of the last report that had one
  double train_accuracy_ = std::numeric_limits<double>::quiet_NaN();
  double activation_penalty_ = std::numeric_limits<double>::quiet_NaN();  // likewise
  double slowness_penalty_ = std::numeric_limits<double>::quiet_NaN();
  TrainingMeans cumulative_ = {};  // sums of weight * loss and of weights of right predictions, until they are shown
  double last_rate_ = 0;
  std::optional<Evaluation> best_validation_;
  Buffer best_parameters_;           // none where there are no validations
  std::int64_t without_better_ = 0;  // validations since the best one
};

}  // namespace throughtime
