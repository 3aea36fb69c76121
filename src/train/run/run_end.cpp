// What is said of a run when it has ended: whether its result is one.
#include <fmt/format.h>

#include <cmath>

#include "train/run/trainer.h"

namespace throughtime {
namespace {

/// Of a log density no multiple says anything: there it is how many nats lie between.
bool is_density(const RunPlan& plan) {
  return plan.metric == metric_name(Metric::nll) || plan.metric == metric_name(Metric::published_nll);
}

}  // namespace

std::string divergence(const RunResult& result) {
  constexpr double far = 100;       // a net that has hardly begun may have ten times the error of the baseline
  constexpr double far_guess = 10;  // but it begins with about the loss of a guess
  const RunPlan& plan = result.plan;
  const auto text = [&](const std::string& what, double value, double naive, const std::string& of) {
    return fmt::format(
        "{} has diverged, or learned nothing: its {} is {:.4g}, {:.2g} times {} ({:.4g}); try a lower optimizer.rate "
        "or clipping "
        "(optimizer.clip)",
        plan.name, what, value, value / naive, of, naive);
  };
  if (result.test && plan.is_error && plan.baseline > 0 && result.test->metric > far * plan.baseline)
    return text("test " + plan.metric, result.test->metric, plan.baseline, "the naive baseline");
  if (result.test && is_density(plan) && result.test->metric - plan.baseline > far)
    return fmt::format(
        "{} has diverged, or learned nothing: its test {} is {:.4g}, that of the naive baseline {:.4g}; "
        "try a lower optimizer.rate or clipping (optimizer.clip)",
        plan.name, plan.metric, result.test->metric, plan.baseline);
  const double loss = result.test ? result.test->loss : result.train_loss;
  if (loss > far_guess * plan.uniform_loss)  // NaN where there are no classes
    return text(result.test ? "test loss" : "training loss", loss, plan.uniform_loss, "that of a guess");
  if (!result.test && plan.metric == metric_name(Metric::mse) && plan.baseline > 0 && loss > far * plan.baseline)
    return text("training loss", loss, plan.baseline, "the naive baseline");
  return "";
}

std::string unchosen(const RunResult& result) {
  if (!result.best_validation) return "";
  const BestBy by(result.plan.best_by);
  const double score = by.score(*result.best_validation);
  if (std::isfinite(score)) return "";
  return fmt::format(
      "no validation of {} had a finite {} (the first is {}), so that the best weights are those of iteration {}; "
      "choose by another metric (train.best_by)",
      result.plan.name, by.name(), score, result.best_validation->iteration);
}

bool exploded(const RunResult& result) {
  constexpr double beyond = 1e6, beyond_guess = 1e3;
  const RunPlan& plan = result.plan;
  const std::optional<Evaluation>& test = chosen_test(result);
  const double loss = test ? test->loss : result.train_loss;
  if (loss > beyond_guess * plan.uniform_loss) return true;  // false where there are no classes
  if (test && is_density(plan)) return test->metric - plan.baseline > beyond;
  if (!plan.is_error || !(plan.baseline > 0)) return false;
  if (test) return test->metric > beyond * plan.baseline;
  return plan.metric == metric_name(Metric::mse) && loss > beyond * plan.baseline;
}

}  // namespace throughtime
