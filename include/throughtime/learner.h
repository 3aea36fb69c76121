#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "throughtime/archive.h"
#include "throughtime/engine.h"
#include "throughtime/learner_config.h"

namespace throughtime {

/// What every learner shares: the engine, the trained vector, its gradient and its optimizer.
struct Trainee {
  Engine& engine;
  Buffer parameters;
  Buffer gradient;
  std::unique_ptr<OptimizerState> optimizer;
  Clip clip;
};

/// Makes the buffers and writes the first parameters.
Trainee make_trainee(Engine& engine, const std::vector<double>& parameters, const OptimizerConfig& optimizer,
                     Clip clip);

/// Random places of the training data (Task::make_positions): draw number `draw` of `rows` rows, the loss at the last
/// of `steps` steps. The same arguments give the same window; one of 0 steps: a stream has not brought enough yet.
using PositionFunction = std::function<const Window&(std::uint64_t draw, int rows, int steps)>;

/// What a trainer hands to a learner: the longest stretch and the batch, known before the first step.
struct StretchShape {
  int steps = 0;                    // T
  int batch = 0;                    // B
  int losses = 0;                   // the most steps of a stretch that carry a loss; 0: all of them may
  bool terminal = false;            // every stretch is a whole sequence with one target per row, at its last step
  std::int64_t examples = 0;        // rows show examples 0 ... examples - 1 (Window::example); 0: they have no numbers
  bool accuracy = false;            // count right predictions: the targets are labels
  std::uint64_t seed = 1;           // of what the learner draws
  std::int64_t row_steps = 0;       // steps of a row of the training data (Task::row_steps); 0: it never ends
  std::int64_t stretches = 0;       // of one pass over the training data (Task::batches); 0: it never ends
  PositionFunction positions = {};  // none: a learner that estimates cannot be made
};

/// Means per weighted step and row, predicted before they were learned from; NaN where there was none.
struct TrainingMeans {
  double loss = 0;
  double accuracy = 0;
  double weight = 0;  // sum of the weights behind them
};

/// The rate of the next update; called once per update with its number (1, 2, ...).
using RateFunction = std::function<double(std::int64_t update)>;

struct Diagnostic {
  std::string name;
  double value = 0;
};

/// A training method: a policy over unroll and pull_back.
class Learner {
 public:
  virtual ~Learner() = default;
  virtual std::string_view name() const = 0;
  /// Learns from one stretch of at most StretchShape::steps steps: cuts it into windows, updates the parameters.
  virtual void learn(const Window& stretch, const RateFunction& rate) = 0;
  /// Bytes of the tapes that grow with the window; known before the first step.
  virtual std::size_t activation_bytes() const = 0;

  /// Shows everything that decides how learning goes on, the trained vector and its optimizer apart. A learner adds its
  /// own lines to these.
  virtual void archive(Archive& archive);

  /// Means of the training since the last call (reads back; call it between steps).
  TrainingMeans take_means();
  double take_mean_loss() { return take_means().loss; }
  /// Counts right predictions from now on.
  void count_correct();
  /// An epoch is over: what a method does between epochs.
  virtual void end_epoch() {}
  /// Named numbers that tell how learning goes, of the last update (reads back; call it between steps).
  virtual std::vector<Diagnostic> diagnostics() const { return {}; }
  /// Whether there was a loss since then.
  bool has_loss() const { return loss_weight_ > 0; }
  std::int64_t updates() const { return updates_; }

 protected:
  explicit Learner(Trainee& trainee);
  /// One update with the gradient divided by `divisor` (the number of losses that it sums).
  /// `norm` [1]: receives the norm of the gradient, before clipping.
  void update(double divisor, const RateFunction& rate, const DynamicRegulariser* regulariser = nullptr,
              Buffer norm = {});

  Trainee& trainee_;
  Buffer loss_sum_;
  Buffer correct_sum_;      // none: nobody asked
  double loss_weight_ = 0;  // sum of the weights behind loss_sum_
  std::int64_t updates_ = 0;
};

/// Makes a learner by name and its tapes for stretches of that shape.
std::unique_ptr<Learner> make_learner(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape);

/// How a learner takes an endless stream: stretches of that many steps, each of which may look back that far.
struct StreamNeeds {
  int steps = 1;
  int look_back = 1000;
};
/// Refuses learners that need the whole sequence, and settings that have no meaning without an end.
StreamNeeds stream_needs(const LearnerConfig& config);

struct LearnerInfo {
  std::string name;
  std::string description;
};
std::vector<LearnerInfo> all_learners();

}  // namespace throughtime
