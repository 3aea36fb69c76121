#include "train/run/trials.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "throughtime/error.h"
#include "train/run/files.h"
#include "train/run/session.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

double number_at(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

Outcome read_outcome(const RunDirectory& directory) {
  try {
    const Json result = Json::parse(read_file(directory.result()));
    Outcome outcome;
    outcome.run = directory.path().string();
    outcome.metric = result.at("metric").get<std::string>();
    outcome.iterations = result.at("iterations").get<std::int64_t>();
    outcome.seconds = number_at(result, "seconds");
    outcome.activation_bytes = result.at("activation_bytes").get<std::size_t>();
    outcome.train_loss = number_at(result, "train_loss");
    const Json& best = result.at("best");
    outcome.best_iteration = best.value("iteration", outcome.iterations);
    outcome.validation_loss = number_at(best, "validation_loss");
    outcome.validation_metric = number_at(best, "validation_" + outcome.metric);
    outcome.test_loss = number_at(result.at("metrics"), "test_loss");
    outcome.test_metric = number_at(result.at("metrics"), "test_" + outcome.metric);
    return outcome;
  } catch (const Json::exception& error) {
    refuse("trials", "{} is no result of a run: {}", directory.result().string(), error.what());
  }
}

/// The number of threads decides nothing.
void require_same(const RunDirectory& directory, const RunConfig& config) {
  RunConfig same = parse_config(read_file(directory.config()), directory.config().string());
  same.run.threads = config.run.threads;
  if (resolved_config(same) != resolved_config(config))
    refuse("trials", "{} holds a run of another configuration; remove it, or choose another run.directory",
           directory.path().string());
}

}  // namespace

Outcome run_trial(const RunConfig& config, Observer& observer, bool test) {
  const RunDirectory directory(run_directory(config));
  Outcome failed{.run = directory.path().string()};
  try {
    if (directory.is_run()) require_same(directory, config);
    if (directory.is_finished()) return read_outcome(directory);
    const std::string threads = fmt::format("run.threads={}", config.run.threads);
    const RunResult result = directory.is_run() ? resume_run(directory.path(), {threads}, observer, false, test)
                                                : train_run(config, observer, false, test);
    if (result.end != RunEnd::interrupted) return read_outcome(directory);
    failed.interrupted = true;
    failed.failure = "interrupted";
  } catch (const RunFailure& failure) {
    failed.failure = failure.what();
  }
  return failed;
}

GridAxis parse_axis(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    refuse("tune", "a grid is written key=a,b,c, such as optimizer.rate=0.01,0.001; got \"{}\"", text);
  GridAxis axis{text.substr(0, equals), {""}};
  int depth = 0;
  for (const char letter : text.substr(equals + 1)) {
    if (letter == '[') ++depth;
    if (letter == ']') --depth;
    if (letter == ',' && depth == 0)
      axis.values.emplace_back();
    else
      axis.values.back() += letter;
  }
  for (const std::string& value : axis.values)
    if (value.empty()) refuse("tune", "the grid of {} has an empty value", axis.key);
  return axis;
}

std::vector<std::vector<std::string>> grid_points(const std::vector<GridAxis>& axes) {
  std::vector<std::vector<std::string>> points = {{}};
  for (const GridAxis& axis : axes) {
    std::vector<std::vector<std::string>> longer;
    for (const std::vector<std::string>& point : points)
      for (const std::string& value : axis.values) {
        longer.push_back(point);
        longer.back().push_back(axis.key + "=" + value);
      }
    points = std::move(longer);
  }
  return points;
}

Spread spread_of(const std::vector<double>& values) {
  Spread spread{.mean = values.empty() ? std::numeric_limits<double>::quiet_NaN() : 0};
  double count = 0;
  for (const double value : values) spread.mean += (value - spread.mean) / ++count;  // exact where all are equal
  if (values.size() < 2) return spread;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

}  // namespace throughtime
