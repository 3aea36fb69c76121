#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "throughtime/archive.h"
#include "throughtime/engine.h"

namespace throughtime {

/// Declared once here; each learner reads the fields it knows.
struct LearnerConfig {
  std::string name = "bptt";
  std::string memory = "full";    // bptt: full, recompute
  std::string preset = "custom";  // tbptt: custom, paper, ref, plain, original
  int truncation = 0;             // tbptt presets: K
  int steps = 0;                  // tbptt: cells in a window
  int losses = 0;                 // tbptt: its last steps that carry a loss
  int stride = 0;                 // tbptt: steps between windows

  int windows = 0;                       // fptt: K, windows of a sequence; or window_length
  int window_length = 0;                 // fptt: steps of a window, instead of K
  std::string remainder = "extra";       // fptt: steps that K does not divide: extra (one more window), absorb (the last)
  std::string form = "lambda";           // fptt: lambda, gradient (Algorithm 2 to the letter), ogd (no regulariser)
  double alpha = 0.1;                    // fptt: strength of the regulariser
  double alpha_growth = 1;               // fptt: alpha is multiplied by it after each epoch
  double alpha_most = 0;                 // fptt: and never exceeds this; 0: no bound
  double averaging = 0.5;                // fptt: b, the weight of W in W-bar
  double penalty = 1;                    // fptt: m, multiple of alpha in the gradient (lambda form)
  double kappa = 1;                      // fptt: weight of the last gradient (gradient form): 1, or 0.5 as printed
  int inner_iterations = 1;              // fptt: steps of W on each window
  std::string inner_state = "restart";   // fptt: they start at the window's first state: restart, or go on: continue
  bool take_average = false;             // fptt: W <- W-bar at the end of an epoch
  bool reset_multiplier = false;         // fptt: lambda <- 0 at the end of an epoch
  std::string carry = "windows";         // fptt: state for a stretch that continues: windows, rerun
  std::string masks = "window";          // fptt: locked dropout masks are drawn per window, or per sequence
  std::string intermediate = "window_end";  // fptt, on tasks with a terminal target: window_end, every_step, none
};

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

/// What a trainer hands to a learner: the longest stretch and the batch, known before the first step.
struct StretchShape {
  int steps = 0;  // T
  int batch = 0;  // B
  int losses = 0;  // the most steps of a stretch that carry a loss; 0: all of them may
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
