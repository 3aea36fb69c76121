#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "throughtime/choice.h"

namespace throughtime {

class Archive;

/// A mean of the weights beside any rule (WeightAverage): none; from the first update on; or from when a validation is
/// worse than one that lies more than `average_patience` back (NT-ASGD).
enum class Averaging { off, always, non_monotone };
constexpr auto names_of(Averaging) { return choice_names("off", "always", "non_monotone"); }

/// Those `average_patience` validations are counted before the newest one joins the list, as the authors of AWD-LSTM
/// do, or after, as those of FPTT do: they forgive one validation less.
enum class AverageTest { before, after };
constexpr auto names_of(AverageTest) { return choice_names("before", "after"); }

/// Declared once here; each optimizer reads the fields that its OptimizerType names.
struct OptimizerConfig {
  std::string name = "adam";
  double momentum = 0.9;          // mu
  double beta1 = 0.9;             // smoothing of the gradient
  double beta2 = 0.999;           // smoothing of its square
  double decay = -1;              // smoothing; -1: the optimizer's own default
  double epsilon = -1;            // -1: the optimizer's own default
  double weight_decay = 0;        // adds weight_decay * W to the gradient, after clipping
  std::int64_t average_from = 1;  // the average begins after this update: it is the mean of all later weights
  Averaging average = Averaging::off;
  int average_patience = 5;  // non_monotone: validations
  AverageTest average_test = AverageTest::before;
};

/// Bounds on the gradient, applied in this order: value, then global norm. 0: off.
struct Clip {
  double value = 0;
  double norm = 0;
};

/// The numbers of one update that depend on the step count and the rate; computed on the host.
struct UpdateCoefficients {
  double rate = 0;
  double a = 0, b = 0, c = 0, d = 0, e = 0;  // meaning given by the optimizer's file
  double weight_decay = 0;
};

/// An optimizer as the engines see it: how many moment vectors, their first values, and the coefficients of a step.
struct OptimizerType {
  std::string name;
  std::string description;
  std::vector<std::string> reads;  // which fields of OptimizerConfig, beside weight_decay, which all of them read
  int moments = 0;
  double first_moment = 0;  // the first value of each of them
  int average = -1;         // the moment that holds an average of the weights; -1: there is none
  bool scale_free = false;  // a gradient that is twice as large makes the same step, but for epsilon
  bool internal = false;    // of the library's own use: no configuration may name it
  /// Coefficients of update number `step` (1, 2, ...).
  UpdateCoefficients (*coefficients)(const OptimizerConfig&, std::int64_t step, double rate) = nullptr;
  /// W, moments <- one step, over n elements. `factor` (clipping and the learner's scale) multiplies the gradient
  /// after it was clamped to +- clip_value (0: not clamped). moments: [moments] pointers.
  void (*reference)(const UpdateCoefficients&, std::size_t n, double factor, double clip_value, const double* gradient,
                    double* weights, double* const* moments) = nullptr;
  using Fast = void (*)(const UpdateCoefficients&, std::size_t n, float factor, float clip_value, const float* gradient,
                        float* weights, float* const* moments);
  Fast (*fast)() = nullptr;
};

const OptimizerType& find_optimizer(const std::string& name);
/// Those that a configuration may name.
std::vector<const OptimizerType*> all_optimizers();
/// The moment that evaluations, predictions and exports take for the weights after `step` updates; -1: the rule has
/// none. An optimizer that averages trains with the weights and is judged by their average once it has begun.
int evaluated_moment(const OptimizerConfig& config, std::int64_t step);
/// Refuses an unknown name and settings that no optimizer can work with.
void validate(const OptimizerConfig& config);

/// A learning rate over time.
enum class ScheduleRule { constant, factor_at, plateau, inverse_sqrt };
constexpr auto names_of(ScheduleRule) { return choice_names("constant", "factor_at", "plateau", "inverse_sqrt"); }

struct ScheduleConfig {
  ScheduleRule rule = ScheduleRule::constant;
  double factor = 0.5;              // factor_at, plateau: the rate is multiplied by it
  std::vector<double> epochs = {};  // factor_at
  int patience = 0;                 // plateau: evaluations without improvement that are forgiven
};

/// Host-side state of a schedule; `rate` never looks at a value of the current step.
class Schedule {
 public:
  Schedule(ScheduleConfig config, double base_rate);
  /// Rate for update number `update` (1, 2, ...) in epoch `epoch` (0, 0.5, ...).
  double rate(std::int64_t update, double epoch) const;
  /// Tells the plateau rule a validation loss; other schedules ignore it.
  void observe_validation(double loss);

  void archive(Archive& archive);

 private:
  ScheduleConfig config_;
  double base_rate_;
  // Of the plateau rule.
  double multiplier_ = 1;
  double best_ = 0;
  bool seen_ = false;
  int bad_ = 0;  // evaluations without improvement
};

}  // namespace throughtime
