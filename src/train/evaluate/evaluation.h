#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tasks/events/point_scores.h"
#include "tasks/series/forecast_band.h"
#include "tasks/series/forecast_scores.h"
#include "throughtime/learner.h"
#include "throughtime/task.h"

namespace throughtime {

struct Score {
  std::string name;  // of metric_name
  double value = 0;
};

/// How often a class was taken for another one.
struct Confusion {
  std::vector<std::string> classes;  // their names
  std::vector<double> counts;        // [classes, classes]: of the true class (row), those predicted as each (column)
};
/// What evaluations measure: the metrics of the task, then those of a head with a band.
std::vector<Metric> measured_metrics(const Task& task, const Model& model);
/// The share of right ones of each class that is there, in their mean.
double balanced_accuracy(const std::vector<double>& counts);

struct Evaluation {
  std::int64_t iteration = 0;      // done before it; the caller's
  double loss = 0;                 // mean per weighted step and row
  double metric = 0;               // the task's first: scores.front().value
  std::vector<Score> scores = {};  // all of the task's metrics, in its order
  double weight = 0;               // sum of the weights behind the means
  Confusion confusion = {};        // where the task is judged by balanced accuracy
};

/// Learns while a split is evaluated: is shown each part once it has been scored.
class PartLearner {
 public:
  virtual ~PartLearner() = default;
  /// Steps of the parts that the evaluation is cut into.
  virtual int steps() const = 0;
  /// `tape` holds the unroll of the part with `parameters`, which may change. They are the evaluation's own.
  virtual void learn(const Window& part, Tape& tape, Buffer parameters) = 0;
};

/// Mean loss and metrics of a model on a split. Owns the tape and the buffers of an evaluation, whose size does not
/// grow with the length of a sequence: long windows are cut, and the state is carried from part to part.
class Evaluator {
 public:
  /// For a task whose training batches have `batch` rows. Where `learner` has a StateRefiner, states
  /// change on the way.
  Evaluator(Engine& engine, Task& task, int batch, const LearnerConfig& learner = {});
  /// One row from the first step of a split to its last, with a `learner` that must outlive it.
  Evaluator(Engine& engine, Task& task, PartLearner& learner);

  /// One whole pass over a finite split; of a generated one, batches `first` ... `first` + `batches` - 1. The state is
  /// zero at the first batch and is carried through the batches that continue. Dropout is off. The sums of
  /// batches are added in double.
  Evaluation evaluate(Buffer parameters, Split split, std::int64_t batches, std::uint64_t first = 0);

  /// measured_metrics
  const std::vector<Metric>& metrics() const { return metrics_; }
  /// Of the last evaluation, where the targets are levels of a recording.
  const std::optional<ForecastScores>& forecast_scores() const { return forecast_scores_; }
  /// Is told of every forecast in an evaluation: the split's step, the predictions [outputs].
  using ForecastListener = std::function<void(std::int64_t, const double*)>;
  void listen(ForecastListener listener) { listener_ = std::move(listener); }

  /// Bytes of the tape, known before the first evaluation.
  std::size_t bytes() const { return tape_->bytes() + (refiner_ ? refiner_->bytes() : 0); }

 private:
  Evaluator(Engine& engine, Task& task, int rows, std::unique_ptr<StateRefiner> refiner, PartLearner* learner);
  void add_window(const Window& window, Buffer parameters, bool continues);
  void add_part(const Window& part);
  void add_forecast(const Window& part, int step, int row, const double* predictions);
  void add_sums(const Window& window);
  double longest_interval(Split split, std::uint64_t count);
  double score(Metric metric) const;

  Engine& engine_;
  Task& task_;
  int batch_;  // rows of an evaluation batch
  bool accuracy_ = false;
  bool confusions_ = false;        // how often classes are taken for each other is asked for
  bool points_ = false;            // metrics of a point process are asked for
  bool published_points_ = false;  // and the published ones
  std::unique_ptr<Tape> tape_;
  Buffer state_;  // [B, S]
  Buffer start_;  // [B, S]: before a part, where states are refined
  std::unique_ptr<StateRefiner> refiner_;
  PartLearner* learner_ = nullptr;  // null: nothing is learned on the way
  // Where the metrics follow from sums, the engine takes them, and two numbers are read for each batch,
  Buffer batch_loss_, batch_correct_;  // [1]
  Buffer batch_sums_;                  // [2]: both
  // else all losses are read.
  Buffer losses_;       // [part, B]
  Buffer predictions_;  // [part, B, outputs], where a metric needs them
  std::vector<double> loss_values_, prediction_values_;
  Window part_;
  double loss_sum_ = 0, weight_sum_ = 0, correct_sum_ = 0;
  std::vector<double> confusion_counts_;  // [classes, classes]
  std::optional<PointScores> point_scores_;
  std::optional<ForecastScores> forecast_scores_;
  std::vector<Metric> metrics_;
  ForecastBand band_;
  std::vector<double> said_;  // point and quantiles of one target, in levels
  ForecastListener listener_;
  const ForecastView* forecast_ = nullptr;       // where the targets are levels of a recording
  Split split_ = Split::train;                   // that is evaluated
  std::int64_t step_ = 0;                        // of the column, where the part begins
  double chunk_sum_ = 0, whole_chunks_sum_ = 0;  // of the losses of the current chunk; of the whole ones before it
  int chunk_step_ = 0;
};

}  // namespace throughtime
