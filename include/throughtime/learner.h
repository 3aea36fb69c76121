#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "throughtime/archive.h"
#include "throughtime/engine.h"
#include "throughtime/learner_config.h"
#include "throughtime/weight_average.h"

namespace throughtime {

/// What every learner shares: the engine, the trained vector, its gradient and its optimizer.
struct Trainee {
  Engine& engine;
  Buffer parameters;
  Buffer gradient;
  std::unique_ptr<OptimizerState> optimizer;
  Clip clip;
  WeightAverage average;
};

/// Makes the buffers and writes the first parameters.
Trainee make_trainee(Engine& engine, const std::vector<double>& parameters, const OptimizerConfig& optimizer,
                     Clip clip);
/// What a training is judged by and leaves behind: the average of the weights where one has begun, else the weights.
Buffer evaluated_parameters(const Trainee& trainee, const OptimizerConfig& optimizer);

/// Random places of the training data (Task::make_positions): draw number `draw` of `rows` rows, the loss at the last
/// of `steps` steps. The same arguments give the same window; one of 0 steps: a stream has not brought enough yet.
using PositionFunction = std::function<const Window&(std::uint64_t draw, int rows, int steps)>;

/// What a trainer hands to a learner: the longest stretch and the batch, known before the first step.
struct StretchShape {
  int steps = 0;                    // T
  int batch = 0;                    // B
  int usual_steps = 0;              // that lengths are drawn around; 0: they are not drawn
  int losses = 0;                   // the most steps of a stretch that carry a loss; 0: all of them may
  bool lengths_vary = false;        // a stretch may have fewer steps than that
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
  // Of the penalties on outputs, which are no part of the loss; NaN where there are none.
  double activation_penalty = std::numeric_limits<double>::quiet_NaN();
  double slowness_penalty = std::numeric_limits<double>::quiet_NaN();
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
  /// Learns from one stretch of StretchShape::steps steps, or fewer where lengths vary: cuts it into windows, updates
  /// the parameters.
  virtual void learn(const Window& stretch, const RateFunction& rate) = 0;
  /// Bytes of the tapes that grow with the window; known before the first step.
  virtual std::size_t activation_bytes() const = 0;

  /// Shows everything that decides how learning goes on, the trained vector and its optimizer apart. A learner adds its
  /// own lines to these.
  virtual void archive(Archive& archive);
  /// The part of it that is about the weights, whatever stretches they were trained on: training on other data, or on a
  /// stream, can go on with it. FPTT's running average is such a thing, the state at the end of a window is not.
  virtual void archive_memory(Archive& archive);

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
  /// Updates that others made before: numbers of updates, which the rate depends on, go on from here.
  void count_from(std::int64_t updates) { updates_ = updates; }

 protected:
  /// Refuses a shape without steps or rows.
  Learner(Trainee& trainee, const StretchShape& shape);
  /// Where an unroll of that window adds its penalties, which count from now on.
  Buffer count_penalties(const Window& window);
  /// One update with the gradient divided by `divisor` (the number of losses that it sums).
  /// `norm` [1]: receives the norm of the gradient, before clipping.
  void update(double divisor, const RateFunction& rate, const DynamicRegulariser* regulariser = nullptr,
              Buffer norm = {});

  Trainee& trainee_;
  StretchShape shape_;
  Buffer loss_sum_;
  Buffer correct_sum_;         // none: nobody asked
  Buffer penalties_;           // [2]: UnrollCall::penalties; none: the model has none
  double penalty_weight_ = 0;  // sum of the weights behind them
  double loss_weight_ = 0;     // sum of the weights behind loss_sum_
  std::int64_t updates_ = 0;
};

/// How a learner takes an endless stream: stretches of that many steps, each of which may look back that far.
struct StreamNeeds {
  int steps = 1;
  int look_back = 1000;
};

/// What the ranks of an update share, and the options that say how much of it there is.
struct SharedWork {
  int count = 0;
  std::string what = {}, options = {};
};

/// How a method looks at the decay of gradients.
struct EstimateSettings {
  EstimateConfig estimate = {};
  int truncation = 0;  // K of a fixed truncation whose losses all see about K lags; 0: there is none
};

/// Changes states on the way through an evaluation, once what they led to has been scored.
class StateRefiner {
 public:
  virtual ~StateRefiner() = default;
  /// Steps of the parts that an evaluation is cut into.
  virtual int steps() const = 0;
  /// `start` [B, S]: the state before the part; `end` [B, S] becomes the state after it.
  virtual void refine(const Window& part, Buffer parameters, Buffer start, Buffer end) = 0;
  virtual std::size_t bytes() const = 0;
};

/// A method as the registry knows it: what `throughtime/learners/NAME.h` declares, on the settings of all methods.
struct LearnerType {
  std::string name;
  std::string description;
  void (*describe)(LearnerConfig&, OptionList&) = nullptr;
  void (*check)(const LearnerConfig&, const Model&, const StretchShape&) = nullptr;
  std::unique_ptr<Learner> (*make)(const LearnerConfig&, Trainee&, const StretchShape&) = nullptr;
  StreamNeeds (*stream_needs)(const LearnerConfig&) = nullptr;
  SharedWork (*shared_work)(const LearnerConfig&, const StretchShape&) = nullptr;
  std::unique_ptr<StateRefiner> (*make_refiner)(const LearnerConfig&, Engine&, int steps, int rows) = nullptr;
  EstimateSettings (*estimate_settings)(const LearnerConfig&) = nullptr;
  std::vector<std::string> (*notes)(const LearnerConfig&, const StretchShape&, const OptimizerConfig&) = nullptr;
  bool estimates = false;  // those settings are its own, not those of adaptive_tbptt
};

/// The method of that name; refuses unknown names with the nearest known one.
const LearnerType& find_learner(const std::string& name);
std::vector<const LearnerType*> all_learners();

// The calls of a method's header, for the method that `config.name` names. Of a single method:
// make_learner(FpttConfig{.windows = 10}, trainee, shape).

/// Refuses settings that cannot work on stretches of that shape; makes nothing.
void check_learner(const LearnerConfig& config, const Model& model, const StretchShape& shape);
/// Makes a learner and its tapes for stretches of that shape.
std::unique_ptr<Learner> make_learner(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape);
/// What whoever trains should know about settings that work, each a line for the start of a run; advice where runs of
/// ours show that a setting is poor.
std::vector<std::string> learner_notes(const LearnerConfig& config, const StretchShape& shape,
                                       const OptimizerConfig& optimizer);
/// Refuses learners that need the whole sequence, and settings that have no meaning without an end.
StreamNeeds stream_needs(const LearnerConfig& config);

}  // namespace throughtime
