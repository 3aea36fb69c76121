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
Trainee make_trainee(Engine& engine, const std::vector<double>& parameters, const OptimizerConfig& optimizer, Clip clip);

/// Random places of the training data (Task::make_positions): draw number `draw` of `rows` rows, the loss at the last of
/// `steps` steps. The same arguments give the same window.
using PositionFunction = std::function<const Window&(std::uint64_t draw, int rows, int steps)>;

/// What a trainer hands to a learner: the longest stretch and the batch, known before the first step.
struct StretchShape {
  int steps = 0;  // T
  int batch = 0;  // B
  int losses = 0;  // the most steps of a stretch that carry a loss; 0: all of them may
  PositionFunction positions = {};  // none: a learner that estimates cannot be made
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

  /// Mean training loss per weighted step and row since the last call, NaN if there was none (reads back; call it
  /// between steps).
  double take_mean_loss();
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
  void update(double divisor, const RateFunction& rate, const DynamicRegulariser* regulariser = nullptr);

  Trainee& trainee_;
  Buffer loss_sum_;
  double loss_weight_ = 0;  // sum of the weights behind loss_sum_
  std::int64_t updates_ = 0;
};

/// Makes a learner by name and its tapes for stretches of that shape.
std::unique_ptr<Learner> make_learner(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape);

struct LearnerInfo {
  std::string name;
  std::string description;
};
std::vector<LearnerInfo> all_learners();

}  // namespace throughtime
