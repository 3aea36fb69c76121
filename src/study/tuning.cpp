#include "study/tuning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "throughtime/error.h"
#include "train/options/options.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

/// A trial's directory is named after its setting, so that a larger grid finds the trials of a smaller one.
std::string directory_name(const std::vector<std::string>& point) {
  std::string name = fmt::format("{}", fmt::join(point, "_"));
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

std::vector<GridAxis> parse_grid(const std::vector<std::string>& grid) {
  std::vector<GridAxis> axes;
  for (const std::string& text : grid) {
    axes.push_back(parse_axis(text));
    if (axes.back().key.starts_with("run.") || axes.back().key == "train.best_by")
      refuse("tune", "{} does not change what is learned; it cannot be tuned", axes.back().key);
  }
  return axes;
}

Trial make_trial(const ConfigFile& file, const TuningRequest& request, const std::vector<std::string>& point) {
  std::vector<std::string> overrides = request.overrides;
  overrides.insert(overrides.end(), point.begin(), point.end());
  Trial trial{fmt::format("{}", fmt::join(point, " ")), directory_name(point),
              file.config(file.one_arm(request.arm), overrides)};
  if (!trial.config.train.validates())
    refuse("tune", "trials are compared on validation data: set train.evaluate_every (--set train.evaluate_every=100)");
  const std::string part = "-tune/" + trial.name;
  trial.config.run.directory = run_directory(trial.config) + part;
  trial.config.run.name += part;
  return trial;
}

}  // namespace

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

std::vector<Trial> make_trials(const TuningRequest& request) {
  const ConfigFile file(request.config);
  std::vector<Trial> trials;
  std::vector<RunConfig> configs;
  for (const std::vector<std::string>& point : grid_points(parse_grid(request.grid))) {
    trials.push_back(make_trial(file, request, point));
    configs.push_back(trials.back().config);
  }
  std::vector<std::string> given = request.overrides;
  given.insert(given.end(), request.grid.begin(), request.grid.end());
  require_used(given, configs, "train");
  for (const Trial& trial : trials) check_new_run(trial.config);
  return trials;
}

const Trial& best_trial(const std::vector<Trial>& trials) {
  const BestBy by(trials.front().config.train.best_by);
  const Trial* best = nullptr;
  for (const Trial& trial : trials)
    if (std::isfinite(trial.outcome.validation_score) &&
        (best == nullptr || by.better(trial.outcome.validation_score, best->outcome.validation_score)))
      best = &trial;
  if (best == nullptr) {
    const std::string& failure = trials.front().outcome.failure;
    fail("tune", "none of the {} trials has a finite validation {}{}", trials.size(), by.name(),
         failure.empty() ? "; choose by another metric (train.best_by)" : ": " + failure);
  }
  return *best;
}

FinalRun final_run(const Trial& best, const TuningRequest& request) {
  FinalRun last{.config = best.config};
  const ConfigFile file(request.config);
  const RunConfig base = file.config(file.one_arm(request.arm), request.overrides);
  const std::string part = "-tune/best/" + best.name;
  last.config.run.directory = run_directory(base) + part;
  last.config.run.name = base.run.name + part;
  if (last.config.optimizer.rule.average == Averaging::non_monotone) {
    last.data = "the same budget again: optimizer.average = \"non_monotone\" waits for validations";
    return last;
  }
  switch (give_back_validation(last.config.task)) {
    case HeldOut::nothing:
      last.data = "the same budget again: validation data is generated, nothing was held out";
      return last;
    case HeldOut::kept:
      last.data = fmt::format("the same budget again: {} cannot join its validation data to its training data",
                              last.config.task.name);
      return last;
    case HeldOut::given_back:
      break;
  }
  // Nothing is left to stop by: as many iterations as were best.
  TrainOptions& train = last.config.train;
  train.iterations = best.outcome.best_iteration;
  train.epochs = 0;
  train.evaluate_every = train.evaluate_epochs = 0;
  train.patience = 0;
  train.best_by = BestBy::loss;
  last.data = fmt::format("training and validation data, {} iterations, which were best", train.iterations);
  return last;
}

bool is_other_score(const Trial& trial) {
  const std::string& by = trial.config.train.best_by;
  return by != BestBy::loss && by != trial.outcome.metric;
}

std::string tuning_json(const std::vector<Trial>& trials, const Trial& best, const FinalRun& last) {
  Json object = {{"best", best.setting},
                 {"best_by", best.config.train.best_by},
                 {"metric", best.outcome.metric},
                 {"validation_loss", best.outcome.validation_loss},
                 {"validation_score", best.outcome.validation_score},
                 {"test_loss", last.outcome.test_loss},
                 {"test_" + best.outcome.metric, last.outcome.test_metric},
                 {"run", last.outcome.run},
                 {"trained_on", last.data},
                 {"trials", Json::array()}};
  for (const Trial& trial : trials)
    object["trials"].push_back({{"setting", trial.setting},
                                {"validation_loss", trial.outcome.validation_loss},
                                {"validation_score", trial.outcome.validation_score},
                                {"run", trial.outcome.run},
                                {"failure", trial.outcome.failure}});
  return object.dump();
}

}  // namespace throughtime
