#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/charts/chart.h"
#include "report/groups.h"
#include "throughtime/choice.h"

namespace throughtime {

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
/// Of metrics in their order those whose curve an earlier one has already, as it is (loss beside mse) or on another
/// scale (rmse beside mse, perplexity beside loss); with that earlier one.
std::vector<std::pair<std::string, std::string>> retold_metrics(const std::vector<RunGroup>& groups,
                                                                const std::vector<std::string>& metrics);
/// The picture of one metric of all groups: with its unit, the naive baseline where it is of that metric (dashed), a
/// mark at the weights that validation chose, a logarithmic axis where `log`, and what was smoothed in its label.
/// Without curves where no run can tell `x`.
Chart chart_of(const std::vector<RunGroup>& groups, const std::string& metric, int smooth, bool log,
               XAxis x = XAxis::iteration);
/// Heads of groups (model.head) whose losses are different numbers; one for a metric that is no loss.
std::vector<std::string> loss_heads(const std::vector<RunGroup>& groups, const std::string& metric);
/// The same as chart_of; of a loss a picture for each head. Those without curves are left out.
std::vector<Chart> charts_of(const std::vector<RunGroup>& groups, const std::string& metric, int smooth, bool log,
                             XAxis x);
/// Whether a metric spans so many sizes that only a logarithmic axis shows it.
bool wants_log(const std::vector<RunGroup>& groups, const std::string& metric);

}  // namespace throughtime
