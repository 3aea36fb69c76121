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

/// Declared once here; each task reads the fields it knows.
struct TaskConfig {
  std::string name = "add";
  int length = 200;                // T of the papers
  std::string markers = "halves";  // add: halves, anywhere
};

/// A source of training and evaluation batches.
class Task {
 public:
  virtual ~Task() = default;
  /// What a model for this task reads, and what it predicts.
  virtual InputConfig input() const = 0;
  virtual HeadConfig head() const = 0;
  /// Steps of the longest batch.
  virtual int steps() const = 0;
  /// The metric of the best prediction that looks at no input.
  virtual double baseline() const = 0;
  /// The metric that belongs to a mean loss per weighted step and row.
  virtual double metric(double mean_loss) const = 0;
  /// Batch number `iteration` of a split with `batch` rows: a pure function of the seed and the arguments. The window
  /// lives in the task until the next call, which allocates only for more rows than any call before.
  virtual const Window& make_batch(Split split, std::uint64_t iteration, int batch) = 0;
};

/// A task as the registry knows it.
struct TaskType {
  std::string name;
  std::string description;
  std::string metric;  // its name: mse, accuracy, ...
  std::unique_ptr<Task> (*make)(const TaskConfig& config, std::uint64_t seed) = nullptr;
};

/// The task of that name; refuses unknown names with the nearest known one.
const TaskType& find_task(const std::string& name);
std::vector<const TaskType*> all_tasks();
/// Makes the task that `config.name` names; all its random numbers come from `seed`.
std::unique_ptr<Task> make_task(const TaskConfig& config, std::uint64_t seed);

/// The iteration counter of a generated batch: splits use disjoint ranges of 2^46 batches.
std::uint64_t split_iteration(Split split, std::uint64_t iteration);

}  // namespace throughtime
