#pragma once

#include <string>
#include <vector>

#include "report/chart.h"
#include "report/runs.h"
#include "report/statistics.h"
#include "throughtime/choice.h"

namespace throughtime {

/// Runs that differ in nothing but their seed (and in where they ran and were written).
struct RunGroup {
  std::string name;  // what the names of its runs share
  std::vector<RunRecord> runs;

  std::size_t finished() const;
  /// A number of the result of every run that has it.
  std::vector<double> results(const std::string& key) const;
  /// The test score ("mse") that counts, of every run that has one, with the seeds: of the weights that validation
  /// chose, where it chose some (ResultFile::chosen_test).
  std::vector<std::pair<std::uint64_t, double>> seeded_tests(const std::string& score) const;
  std::vector<double> tests(const std::string& score) const;
};

/// Groups in the order in which their first runs are given, each with a name of its own.
std::vector<RunGroup> group_runs(std::vector<RunRecord> runs);

/// A series with each value replaced by the mean of the last `window` ones; gaps are left out of the mean.
Series smoothed(const Series& series, int window);

/// What curves are drawn over. epoch_with_estimates: epochs in which the rows count too that were read to estimate the
/// truncation (adaptive TBPTT); of other runs their epochs. seconds: of training, without evaluations.
enum class XAxis { iteration, epoch, epoch_with_estimates, seconds };
constexpr auto names_of(XAxis) { return choice_names("iteration", "epoch", "epoch_with_estimates", "seconds"); }

/// A metric over iterations: the mean over the seeds with a band of one deviation, both of the logarithms where `log`,
/// at the iterations that all of them have; a curve for each run where they have fewer than two in common. None where
/// no run has the metric.
std::vector<Curve> curves_of(const RunGroup& group, const std::string& metric, int smooth, bool log);
/// The same over something else: each iteration is where it was in the mean over the seeds. None where no run tells.
std::vector<Curve> curves_over(XAxis x, const RunGroup& group, const std::string& metric, int smooth, bool log);

/// Metrics of all groups that are worth a picture: what users look for first, then what learners tell; no clocks.
std::vector<std::string> drawn_metrics(const std::vector<RunGroup>& groups);
/// The picture of one metric of all groups: with the naive baseline where it is of that metric, with a logarithmic
/// axis where `log`, and with what was smoothed in its label. Without curves where no run can tell `x`.
Chart chart_of(const std::vector<RunGroup>& groups, const std::string& metric, int smooth, bool log,
               XAxis x = XAxis::iteration);
/// Whether a metric spans so many sizes that only a logarithmic axis shows it.
bool wants_log(const std::vector<RunGroup>& groups, const std::string& metric);

/// "validation_mse" as people say it: "validation mse".
std::string spoken(const std::string& metric);

/// Options that are not the same in all groups, in the order of the configurations.
std::vector<std::string> differing_options(const std::vector<RunGroup>& groups);

}  // namespace throughtime
