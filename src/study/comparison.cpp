#include "study/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "report/statistics.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "train/options/options.h"

namespace throughtime {
namespace {

RunConfig with_seed(RunConfig config, int index) {
  config.train.seed += static_cast<std::uint64_t>(index);
  const std::string part = fmt::format("-compare/{}-seed-{}", config.learner.name, config.train.seed);
  config.run.directory = run_directory(config) + part;
  config.run.name += part;
  return config;
}

Contender make_contender(const ConfigFile& file, const ComparisonRequest& request, const std::string& learner) {
  std::vector<std::string> overrides = request.overrides;
  overrides.push_back("learner.name=" + learner);
  const RunConfig config = file.config(file.one_arm(request.arm), overrides);
  Contender contender{learner, {}};
  for (int index = 0; index < request.seeds; ++index) contender.configs.push_back(with_seed(config, index));
  return contender;
}

}  // namespace

std::vector<double> Contender::values(double Outcome::*field) const {
  std::vector<double> found;
  for (const Outcome& outcome : outcomes)
    if (outcome.failure.empty() && std::isfinite(outcome.*field)) found.push_back(outcome.*field);
  return found;
}

std::size_t Contender::failures() const {
  return elements(
      std::count_if(outcomes.begin(), outcomes.end(), [](const Outcome& one) { return !one.failure.empty(); }));
}

Outcome Contender::sample() const {
  const auto found =
      std::find_if(outcomes.rbegin(), outcomes.rend(), [](const Outcome& one) { return one.failure.empty(); });
  return found == outcomes.rend() ? Outcome() : *found;
}

std::vector<Contender> make_contenders(const ComparisonRequest& request) {
  if (std::filesystem::is_directory(request.config))
    refuse("compare",
           "it takes a configuration and trains its learners, {} is a directory: for runs that exist there is "
           "throughtime report",
           request.config);
  const ConfigFile file(request.config);
  std::vector<Contender> contenders;
  std::vector<RunConfig> configs;
  for (const std::string& learner : request.learners) {
    contenders.push_back(make_contender(file, request, learner));
    configs.push_back(contenders.back().configs.front());
  }
  require_used(request.overrides, configs, "train");
  for (const RunConfig& config : configs) check_run(config);
  return contenders;
}

std::string metric_of(const std::vector<Contender>& contenders) {
  std::string metric = "metric";
  for (const Contender& contender : contenders)
    if (const Outcome sample = contender.sample(); !sample.metric.empty()) metric = sample.metric;
  return metric;
}

std::string contender_json(const Contender& contender) {
  nlohmann::ordered_json object = {{"learner", contender.learner}, {"runs", nlohmann::ordered_json::array()}};
  for (const Outcome& outcome : contender.outcomes) {
    object["runs"].push_back(outcome.run);
    if (!outcome.metric.empty()) object["metric"] = outcome.metric;
    if (!outcome.failure.empty()) object["failures"].push_back(outcome.failure);
  }
  const Summary test = summary_of(contender.values(&Outcome::test_metric));
  object["test_mean"] = test.mean;
  object["test_deviation"] = test.count > 1 ? test.deviation : 0;
  const Summary last = summary_of(contender.values(&Outcome::last_test_metric));
  object["last_test_mean"] = last.mean;
  object["last_test_deviation"] = last.count > 1 ? last.deviation : 0;
  object["seconds_mean"] = summary_of(contender.values(&Outcome::seconds)).mean;
  return object.dump();
}

}  // namespace throughtime
