#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "throughtime/choice.h"
#include "throughtime/model.h"
#include "throughtime/task_config.h"
#include "throughtime/window.h"

namespace throughtime {

/// Which part of the data a batch is drawn from; no example belongs to two of them.
enum class Split { train, validation, test };
constexpr auto names_of(Split) { return choice_names("train", "validation", "test"); }

/// What a task is judged by. All are exact means over every weighted step and row.
enum class Metric {
  mse,                   // of a recording: with targets divided by their deviations in the training part
  accuracy,              // share of steps whose most probable class is the label
  cross_entropy,         // nats
  perplexity,            // exp(cross-entropy)
  bits_per_character,    // cross-entropy / ln 2
  published_perplexity,  // of the losses of whole chunks of 100 steps, divided by the number of all steps
  nll,                   // -log density of an event's mark and time, nats
  time_rmse,             // root of the mean squared error of the expected time of the next event
  mark_error,            // share of events whose most probable mark is wrong
  published_nll,         // nll of the losses of whole chunks of 100 steps, divided by the number of all steps
  published_time_rmse,   // the mean cut off at the longest interval, not normalised; first 20 steps skipped
  published_mark_error,  // first 20 steps skipped
  balanced_accuracy,     // the accuracy of each class that is there, in their mean
  mae,                   // this and the next two with targets divided by their deviations, as mse
  rmse,
  esr,               // error-to-signal ratio: sum of squared errors / sum of squared targets, in the recording's units
  pre_emphasis_esr,  // the same behind y[t] - c y[t - 1], a high-pass filter: c is the task's coefficient
  original_mse,      // these three in the recording's units
  original_mae,
  original_rmse,
  pinball,   // the mean over the levels of max(level (y - q), (level - 1) (y - q)), as mse divided by deviations
  coverage,  // share of targets between the lowest and the highest level
};
constexpr auto names_of(Metric) {
  return choice_names("mse", "accuracy", "cross_entropy", "perplexity", "bpc", "published_perplexity", "nll",
                      "time_rmse", "mark_error", "published_nll", "published_time_rmse", "published_mark_error",
                      "balanced_accuracy", "mae", "rmse", "esr", "pre_emphasis_esr", "original_mse", "original_mae",
                      "original_rmse", "pinball", "coverage");
}

std::string metric_name(Metric metric);
/// The metric that belongs to a mean loss; those that need predictions are refused. A published
/// perplexity takes the mean that is its own.
double metric_of_loss(Metric metric, double mean_loss);
bool higher_is_better(Metric metric);
/// Whether 0 would be perfect, so that it says something how many times the naive value it is. A log density has no
/// such point.
bool is_error(Metric metric);

/// What the targets of a forecast are in the numbers of the recording (tasks/series/forecast_view.h).
class ForecastView;

/// A forecast that needs no net, and what it scores on a split: a value for each of the task's metrics.
struct Rival {
  std::string name;  // "naive", "seasonal", "mean", "ridge"
  std::string text;  // what it predicts
  std::vector<double> scores;
  std::vector<double> first_scores;  // the first metric of each target alone
};

/// A source of training and evaluation batches. A batch depends on (seed, split, iteration, batch) alone, so a run
/// that goes on after a stop needs no other position than its iteration.
class Task {
 public:
  virtual ~Task() = default;
  /// What a model for this task reads, and what it predicts.
  virtual InputConfig input() const = 0;
  virtual HeadConfig head() const = 0;
  /// Steps of the longest batch.
  virtual int steps() const = 0;
  /// Steps of a training batch, or those that they are drawn around.
  virtual int usual_steps() const { return steps(); }
  /// Whether batches of whole sequences are as long as their longest one.
  virtual bool lengths_vary() const { return false; }
  /// The most steps of a batch that carry a loss.
  virtual int loss_steps() const { return steps(); }
  /// Whether a batch shows whole sequences with one target each, asked for at their last step.
  virtual bool terminal() const { return false; }
  /// Training examples, whose numbers are in Window::example; 0: sequences are generated or cut from a stream.
  virtual std::int64_t examples() const { return 0; }
  /// What the task is judged by; the first one is what tables show.
  virtual std::vector<Metric> metrics() const = 0;
  /// The first metric of the best prediction that looks at no input (a series: of the last value seen), on the split
  /// that a run is judged by.
  virtual double baseline() const = 0;
  /// The same for each metric, in their order, on a split that is not empty; a task may know fewer.
  virtual std::vector<double> baselines(Split) const { return {baseline()}; }
  /// The baseline and others like it, which may take a while to fit; none: the task knows the one alone.
  virtual std::vector<Rival> rivals(Split) const { return {}; }
  /// Of a task whose targets are numbers of a recording; null: they are not.
  virtual const ForecastView* forecast() const { return nullptr; }
  /// What the baseline predicts, in words for a line of output: "the last value", "the most frequent class".
  virtual std::string baseline_text() const = 0;
  /// The names of the classes that the model chooses between, in the order of its outputs; none: they have no names.
  virtual std::vector<std::string> classes() const { return {}; }
  /// What the user's data calls an example (its number is in Window::example); empty: it has no name.
  virtual std::string example_name(Split, std::int64_t) const { return ""; }
  /// What whoever trains should know about the data and has not asked for, each a line for the start of a run.
  virtual std::vector<std::string> notes() const { return {}; }
  /// Batch number `iteration` of a split with `batch` rows: a pure function of the seed and the arguments. The window
  /// lives in the task until the next call, which allocates only for more rows than any call before. Batches 0 ..
  /// batches() - 1 are the first pass over a finite split, the next ones the second pass, and so on.
  virtual const Window& make_batch(Split split, std::uint64_t iteration, int batch) = 0;

  /// Random places of the training data where `columns` rows are trained side by side: a window of `steps` steps and
  /// `rows` rows, each of them one (column, position) with a loss at its last step alone. A pure function of the seed
  /// and the arguments, which leaves the batches as they are. Rows of short sequences begin with padding. The window
  /// lives in the task until the next call.
  virtual const Window& make_positions(std::uint64_t draw, int columns, int rows, int steps);
  /// Steps of one of those columns: the longest place that can be asked for. 0: the data never ends.
  virtual std::int64_t row_steps(int) const { return 0; }

  /// Batches of one pass over a split: each example is in exactly one of them, rows that are left over in the last one
  /// have weight 0. 0: the split is generated and never ends.
  virtual std::int64_t batches(Split, int) const { return 0; }
  /// Whether passes over the training data have different numbers of batches; batches() is that of the first.
  virtual bool epochs_vary() const { return false; }
  /// Batches of the first `epochs` passes over the training data.
  virtual std::int64_t train_batches(std::int64_t epochs, int batch) const {
    return epochs * batches(Split::train, batch);
  }
  /// Whether there is anything in a split; make_batch refuses an empty one.
  virtual bool has(Split) const { return true; }
  /// Why nothing is in it, where the task can tell.
  virtual std::string why_empty(Split) const { return ""; }
  /// The split that a run is judged by: test, or what comes before it where there is none.
  Split judged_split() const {
    return has(Split::test) ? Split::test : has(Split::validation) ? Split::validation : Split::train;
  }
  /// Rows of an evaluation batch where training has `batch` rows.
  virtual int evaluation_batch(int batch) const { return batch; }
  /// Writes into a directory what belongs to a model beside its weights: a vocabulary, a permutation, means and
  /// deviations. `load` reads it back and uses it instead of what the data would give.
  virtual void save(const std::string&) const {}
  virtual void load(const std::string&) {}
  /// The first metric that belongs to a mean loss per weighted step and row.
  double metric(double mean_loss) const { return metric_of_loss(metrics().front(), mean_loss); }
};

/// What the numbers that a model reads and predicts are called (tasks/model_names.h).
struct ModelNames;
/// Separate sequences as a file holds them (data/tables/labelled_sequences.h).
struct LabelledSequences;

/// A task as the registry knows it: who asks for more than batches asks here, whatever the task. The functions work on
/// its own part of the configuration.
struct TaskType {
  std::string name;
  std::string description;
  std::string metric;  // the name of its first metric
  /// Its options, without a table.
  void (*describe)(TaskConfig& config, OptionList& list) = nullptr;
  std::unique_ptr<Task> (*make)(const TaskConfig& config, std::uint64_t seed) = nullptr;
  /// Changes a configuration so that training reads the validation data too. Null: HeldOut::kept.
  HeldOut (*give_back)(TaskConfig& config) = nullptr;
  /// Every field that is a path.
  std::vector<std::string*> (*paths)(TaskConfig& config) = nullptr;
  /// Where its data sets lie; null where it reads none.
  std::string* (*data)(TaskConfig& config) = nullptr;
  /// The length of the windows that its data is cut into; null where it is none of a setting, or nothing is cut.
  int* (*window)(TaskConfig& config) = nullptr;
  /// Of a model of this task, from what Task::save wrote into `directory`. Null: nothing has a name.
  ModelNames (*names)(const std::string& directory, const Model& model) = nullptr;
  /// The sequences of a file, with these inputs, for a model that answers once for each; targets may be missing. Null:
  /// a model of this task answers at every step.
  LabelledSequences (*read_sequences)(const TaskConfig& config, const std::vector<std::string>& inputs,
                                      const std::string& path) = nullptr;
};

/// The task of that name; refuses unknown names with the nearest known one.
const TaskType& find_task(const std::string& name);
std::vector<const TaskType*> all_tasks();

/// The iteration counter of a generated batch: splits use disjoint ranges of 2^46 batches.
std::uint64_t split_iteration(Split split, std::uint64_t iteration);
std::string split_name(Split split);

}  // namespace throughtime
