#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "throughtime/model.h"
#include "throughtime/window.h"

namespace throughtime {

/// Which part of the data a batch is drawn from; no example belongs to two of them.
enum class Split { train, validation, test };

/// What a task is judged by. All are exact means over every weighted step and row.
enum class Metric {
  mse,
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
};

/// "mse", "accuracy", "cross_entropy", "perplexity", "bpc", "nll", ...
std::string metric_name(Metric metric);
/// The metric that belongs to a mean loss; those that need predictions are refused. A published
/// perplexity takes the mean that is its own.
double metric_of_loss(Metric metric, double mean_loss);
bool higher_is_better(Metric metric);

/// Declared once here; each task reads the fields it knows.
struct TaskConfig {
  std::string name = "add";
  int length = 200;                     // T of the papers; steps of a window where the data is a stream
  std::string markers = "halves";       // add: halves, anywhere
  int symbols = 8;                      // copy: data symbols, 8 or 7
  std::string generator = "paper";      // recall: paper, reference, files
  bool variable = false;                // recall: blocks of shortest ... block symbols
  int block = 10;                       // recall: symbols of a block
  int shortest = 5;                     // recall: of a variable block
  int period = 6;                       // cycle_world: p
  std::vector<int> lags = {5, 12};      // stochastic_world: the two lags
  std::int64_t steps = 0;               // generated streams: steps of a row before it starts over; 0: endless
  bool stream = false;                  // tasks of separate sequences: end to end, as one stream per row
  int window = 0;                       // streams of sequences: steps of a window; 0: length of a sequence
  bool reset = true;                    // streams of sequences: the state is zero where a sequence starts
  int history = 1000;                   // generated streams: steps before a window that stay readable
  std::string order = "pixels";         // mnist: pixels, permuted, rows
  std::uint64_t permutation = 1;        // mnist: seed of the permutation
  std::string loss = "last";            // mnist, cifar10: a loss at the last step, or at every step
  double validation = 0.1;              // mnist, cifar10: share of the training examples held out
  std::string data = {};                // data directory; empty: $THROUGHTIME_DATA, else data/
  std::string corpus = "ptb";           // text: ptb, wikitext-2, text8, files
  std::string unit = "word";            // text: word, character
  std::vector<std::string> files = {};  // text: train, validation and test file, or one file that is cut by `splits`;
                                        // point_process: the same, or train and test; none: book orders
  int minimum_count = 0;                // text: rarer tokens are read as <unk>; 0: all tokens count
  bool published_metric = false;        // text, point_process: the published_ metrics beside the exact ones
  int evaluation_columns = 0;           // rows of an evaluation of text, series, points; 0: 10, 1, 64 or 1
  std::string path = {};                // series: the file of the inputs, and of the targets unless they have their own
  std::string target_path = {};         // series: the file of the targets
  std::vector<std::string> inputs = {};   // series: columns by name or number; none: all
  std::vector<std::string> targets = {};  // series: columns by name or number; none: all inputs, or all of target_path
  int horizon = 1;                        // series: the target is the target columns this many steps later
  std::vector<double> splits = {};        // series, text: shares of train, validation, test; none: the task's own
  bool standardise = true;                // series: inputs and targets to mean 0 and deviation 1 of the training part
  std::string header = "auto";   // series: whether the first line of a CSV file names its columns: auto, yes, no
  std::string delimiter = ",";   // series: between the fields of a CSV file
  int channels = 1;              // series: numbers per step of a raw float32 file
  int fold = 1;                  // point_process: 1 to 5 of the book orders
  double scale = 1;              // point_process: factor of all intervals
  bool reset_sequences = false;  // point_process: the state is zero where a sequence starts
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
  /// The most steps of a batch that carry a loss.
  virtual int loss_steps() const { return steps(); }
  /// Whether a batch shows whole sequences with one target each, asked for at their last step.
  virtual bool terminal() const { return false; }
  /// Training examples, whose numbers are in Window::example; 0: sequences are generated or cut from a stream.
  virtual std::int64_t examples() const { return 0; }
  /// What the task is judged by; the first one is what tables show.
  virtual std::vector<Metric> metrics() const = 0;
  /// The first metric of the best prediction that looks at no input (a series: of the last value seen), on the test
  /// split.
  virtual double baseline() const = 0;
  /// The same for each metric, in their order, on a split; a task may know fewer.
  virtual std::vector<double> baselines(Split) const { return {baseline()}; }
  /// What the baseline predicts, in words for a line of output: "the last value", "the most frequent class".
  virtual std::string baseline_text() const = 0;
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
  /// Whether there is anything in a split; make_batch refuses an empty one.
  virtual bool has(Split) const { return true; }
  /// Rows of an evaluation batch where training has `batch` rows.
  virtual int evaluation_batch(int batch) const { return batch; }
  /// Writes into a directory what belongs to a model beside its weights: a vocabulary, a permutation, means and
  /// deviations. `load` reads it back and uses it instead of what the data would give.
  virtual void save(const std::string&) const {}
  virtual void load(const std::string&) {}
  /// The first metric that belongs to a mean loss per weighted step and row.
  double metric(double mean_loss) const { return metric_of_loss(metrics().front(), mean_loss); }
};

/// What becomes of the validation data when the last model is to learn from all there is.
enum class HeldOut {
  nothing,     // it is generated apart from the training data: there is nothing to give back
  given_back,  // training reads it now
  kept,        // the task cannot learn from it
};

/// A task as the registry knows it.
struct TaskType {
  std::string name;
  std::string description;
  std::string metric;  // the name of its first metric
  std::unique_ptr<Task> (*make)(const TaskConfig& config, std::uint64_t seed) = nullptr;
  /// Changes a configuration so that training reads the validation data too. Null: HeldOut::kept.
  HeldOut (*give_back)(TaskConfig& config) = nullptr;
};

/// The task of that name; refuses unknown names with the nearest known one.
const TaskType& find_task(const std::string& name);
std::vector<const TaskType*> all_tasks();
/// Makes the task that `config.name` names; all its random numbers come from `seed`.
std::unique_ptr<Task> make_task(const TaskConfig& config, std::uint64_t seed);
/// TaskType::give_back of the task that `config.name` names.
HeldOut give_back_validation(TaskConfig& config);

/// The iteration counter of a generated batch: splits use disjoint ranges of 2^46 batches.
std::uint64_t split_iteration(Split split, std::uint64_t iteration);
/// "train", "validation", "test".
std::string split_name(Split split);

}  // namespace throughtime
