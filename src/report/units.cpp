#include "report/units.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "data/tables/fields.h"
#include "tasks/series/forecast_band.h"

namespace throughtime {
namespace {

constexpr const char* of_file = "units of the file";
constexpr const char* of_file_squared = "units of the file, squared";

/// "mse" of "validation_mse" and "naive_rolling_mse".
std::string_view without_split(std::string_view metric) {
  constexpr std::array<std::string_view, 7> prefixes = {"naive_", "rolling_", "validation_", "train_",
                                                        "test_",  "best_",    "cumulative_"};
  for (const std::string_view prefix : prefixes)
    if (metric.starts_with(prefix)) return without_split(metric.substr(prefix.size()));
  return metric;
}

/// Targets that are numbers of a file: standardised or not.
bool has_file_units(const RunRecord& run) {
  const std::string task = run.option("task.name");
  return task == "series" || (task == "sequences" && run.result.text("metric") == "mse");
}

bool is_scaled(const RunRecord& run) {
  // A stream's errors are in the units of its columns whatever the model reads.
  return run.counter != "row" && run.option("task." + run.option("task.name") + ".standardise") == "true";
}

bool is_error(std::string_view score) {
  return score == "mse" || score == "mae" || score == "rmse" || score == "pinball";
}

/// The mean loss of the head: that of a regression is the squared error.
std::string loss_unit(const RunRecord& run) {
  const std::string head = run.option("model.head"), metric = run.result.text("metric");
  if (head == "gaussian") return "nats";
  if (!metric.empty() && !is_error(metric)) return "nats";
  if (!has_file_units(run)) return "";
  // The loss of a stream is of what its model gives out.
  const bool scaled = run.option("task." + run.option("task.name") + ".standardise") == "true";
  return scaled ? "scaled" : head == "quantile" ? of_file : of_file_squared;
}

/// What a band should hold, of levels as a configuration has them: [0.1, 0.5, 0.9].
std::string coverage_unit(const RunRecord& run) {
  const std::string text = run.option("model.levels");
  std::vector<double> levels;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of("[], ", begin), text.size());
    if (const auto level = number_of(std::string_view(text).substr(begin, end - begin))) levels.push_back(*level);
    begin = end + 1;
  }
  return "share of targets" + (levels.empty() ? "" : ", " + wanted_coverage(levels));
}

}  // namespace

std::string unit_of(const std::string& metric, const RunRecord& run) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 26> fixed = {
      {{"accuracy", "share of answers"},
       {"balanced_accuracy", "share of answers"},
       {"mark_error", "share of events"},
       {"published_mark_error", "share of events"},
       {"esr", "share of the signal's power"},
       {"pre_emphasis_esr", "share of the signal's power"},
       {"cross_entropy", "nats"},
       {"nll", "nats"},
       {"published_nll", "nats"},
       {"bpc", "bits per character"},
       {"original_mse", of_file_squared},
       {"original_mae", of_file},
       {"original_rmse", of_file},
       {"truncation", "steps"},
       {"kappa", "steps that the estimate asks for"},
       {"beta", "what is left of a gradient one lag later"},
       {"relative_bias", "estimate, of the gradient"},
       {"rows", "read so far"},
       {"estimation_rows", "read so far for estimates"},
       {"distance_to_average", "norm of W - W-bar"},
       {"regulariser_share", "of the norm of the loss's gradient"},
       {"worse_rows", "forecasts a tenth or more above naive"},
       {"spring_rms", "distance between blocks"},
       {"buffer_loss", "mean over the buffer"},
       {"time_rmse", of_file},
       {"published_time_rmse", of_file}}};
  const std::string_view score = without_split(metric);
  const auto found = std::find_if(fixed.begin(), fixed.end(), [&](const auto& pair) { return pair.first == score; });
  if (found != fixed.end()) return std::string(found->second);
  if (score == "loss") return loss_unit(run);
  if (score == metric_name(Metric::coverage)) return coverage_unit(run);
  if (!is_error(score) || !has_file_units(run)) return "";
  if (is_scaled(run)) return "scaled";
  return score == "mse" ? of_file_squared : of_file;
}

std::string unit_sentence(const RunRecord& run) {
  if (!has_file_units(run)) return "";
  return is_scaled(run) ? "Scaled: targets are divided by their deviation in the training part."
                        : "Errors are in the units of the file.";
}

}  // namespace throughtime
