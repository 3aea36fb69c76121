#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "throughtime/choice.h"
#include "train/evaluate/evaluation.h"
#include "train/options/config.h"

namespace throughtime {

/// What the sizes of training gradients are taken from: means over segments, or sums as those who first used dynamic
/// evaluation with a mixture of softmaxes did.
enum class GradientScaling { mean, sum };
constexpr auto names_of(GradientScaling) { return choice_names("mean", "sum"); }

/// Settings of dynamic evaluation, in the units of their scaling (docs/language-models.md); -1: the scaling's own.
struct DynamicConfig {
  GradientScaling scaling = GradientScaling::mean;
  double rate = -1;     // eta: how far a segment moves the weights
  double decay = -1;    // lambda: how fast they go back
  double epsilon = -1;  // added to the size of a gradient
  int segment = 5;      // n, the steps that are scored and then learned from
  int columns = 100;    // rows of the training data that the statistics read side by side
};
/// Without -1; refuses what cannot work.
DynamicConfig settled(DynamicConfig config);
/// A value of `what`, --rate or --decay.
void require_pace(const char* what, double value);

/// How large the gradients of the training data are.
struct GradientStatistics {
  std::vector<double> sizes = {};  // S [P]: the root of the mean over segments of the squared gradient
  double mean = 0;                 // of S: over the tensors, of their means
  std::int64_t segments = 0;
  std::int64_t tensors = 0;
  int columns = 0;  // fewer than asked for where the training data is short
};

/// The same settings for the sizes of `mean`: lambda / tensors, eta and epsilon / sqrt(segments).
DynamicConfig in_means(const DynamicConfig& config, const GradientStatistics& statistics);

/// A trained model that goes on learning while it is tested. Each segment is scored, then learned from; the state and
/// the weights go on to the next one. Every evaluation begins with the trained weights, which it leaves as they are.
class DynamicEvaluation final : private PartLearner {
 public:
  /// Refuses a task that has nothing to learn from on the way. `trained` is the parameters [P].
  DynamicEvaluation(Engine& engine, Task& task, Buffer trained, const DynamicConfig& config);

  /// Reads the training data once. Fails where no gradient is left, or is no number.
  const GradientStatistics& collect();

  /// One row, from the first step of the split to its last. Fails where the weights run away.
  Evaluation evaluate(Split split, double rate, double decay);
  Evaluation evaluate(Split split) { return evaluate(split, config_.rate, config_.decay); }
  /// The same steps without learning.
  Evaluation evaluate_static(Split split);

  const DynamicConfig& config() const { return config_; }

 private:
  int steps() const override { return config_.segment; }
  void learn(const Window& part, Tape& tape, Buffer parameters) override;
  void use(GradientStatistics statistics);
  void add_squares(const Window& part, Tape& tape, OptimizerState& squares);

  Engine& engine_;
  Task& task_;
  DynamicConfig config_;
  Buffer trained_, weights_, gradient_;  // [P]
  std::unique_ptr<OptimizerState> step_;
  Evaluator evaluator_;
  GradientStatistics statistics_;
  bool learns_ = false;
  double rate_ = 0, way_back_ = 0;  // eta, and lambda / mean(S), of the evaluation under way
};

/// One pair of settings and what validation says of it.
struct DynamicTrial {
  double rate = 0, decay = 0;
  Evaluation validation = {};
  bool failed = false;  // the weights ran away
};
/// Evaluates every pair on the validation data; the first of the lowest losses is the best.
std::vector<DynamicTrial> tune(DynamicEvaluation& evaluation, const std::vector<double>& rates,
                               const std::vector<double>& decays,
                               const std::function<void(const DynamicTrial&)>& tell = {});
const DynamicTrial& best_of(const std::vector<DynamicTrial>& trials);

/// The model of a run, with the data of its task in windows that segments divide. Nothing of the run is changed.
class DynamicRun {
 public:
  DynamicRun(const std::filesystem::path& run, bool best, const std::vector<std::string>& overrides,
             const DynamicConfig& config);

  Task& task() { return *task_; }
  const RunConfig& config() const { return config_; }
  DynamicEvaluation& evaluation() { return *evaluation_; }

 private:
  RunConfig config_;
  std::unique_ptr<Task> task_;
  Model model_;
  std::unique_ptr<Engine> engine_;
  Buffer parameters_;
  std::unique_ptr<DynamicEvaluation> evaluation_;
};

}  // namespace throughtime
