#include "study/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "report/statistics.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "train/options/options.h"

namespace throughtime {
namespace {

RunConfig with_seed(RunConfig config, const std::string& name, int index) {
  config.train.seed += static_cast<std::uint64_t>(index);
  const std::string part = fmt::format("-compare/{}-seed-{}", name, config.train.seed);
  config.run.directory = run_directory(config) + part;
  config.run.name += part;
  return config;
}

Contender make_contender(const std::string& name, const RunConfig& config, int seeds) {
  Contender contender{name, {}};
  for (int index = 0; index < seeds; ++index) contender.configs.push_back(with_seed(config, name, index));
  return contender;
}

Contender learner_contender(const ConfigFile& file, const ComparisonRequest& request, const std::string& learner) {
  std::vector<std::string> overrides = request.overrides;
  overrides.push_back("learner.name=" + learner);
  return make_contender(learner, file.config(file.one_arm(request.arm), overrides), request.seeds);
}

/// The runs of all arms lie side by side, as those of learners do: FILE-compare, not FILE/ARM-compare.
Contender arm_contender(const ConfigFile& file, const ComparisonRequest& request, const std::string& arm) {
  RunConfig config = file.config(file.one_arm(arm), request.overrides);
  const std::size_t tail = arm.size() + 1;
  config.run.directory = run_directory(config);
  config.run.directory.resize(config.run.directory.size() - tail);
  config.run.name.resize(config.run.name.size() - tail);
  return make_contender(arm, config, request.seeds);
}

/// A name has one directory.
void require_different(const std::vector<std::string>& names, std::string_view option) {
  for (auto name = names.begin(); name != names.end(); ++name)
    if (std::find(names.begin(), name, *name) != name) refuse("compare", "{} names {} twice", option, *name);
}

std::vector<Contender> arm_contenders(const ConfigFile& file, const ComparisonRequest& request) {
  if (file.arms().empty())
    refuse("compare", "{} has no [[arm]] to compare; name learners: --learners bptt,tbptt", request.config);
  if (!request.arm.empty())
    refuse("compare", "--arm {} says what --learners share; without them it is --arms {}", request.arm, request.arm);
  require_different(request.arms, "--arms");
  const std::vector<std::string>& arms = request.arms.empty() ? file.arms() : request.arms;
  std::vector<Contender> contenders;
  for (const std::string& arm : arms) contenders.push_back(arm_contender(file, request, arm));
  return contenders;
}

std::vector<Contender> learner_contenders(const ConfigFile& file, const ComparisonRequest& request) {
  if (!request.arms.empty())
    refuse("compare", "it compares learners or arms, not both; --arm NAME says which arm the learners share");
  require_different(request.learners, "--learners");
  std::vector<Contender> contenders;
  for (const std::string& learner : request.learners) contenders.push_back(learner_contender(file, request, learner));
  return contenders;
}

std::string task_metric(const RunConfig& config) {
  return metric_name(make_task(config.task, config.train.seed)->metrics().front());
}

/// One table has one metric.
void require_one_metric(const std::vector<Contender>& contenders) {
  const std::string metric = task_metric(contenders.front().configs.front());
  for (const Contender& other : contenders)
    if (const std::string its = task_metric(other.configs.front()); its != metric)
      refuse("compare",
             "arm {} is judged by {}, arm {} by {}: arms of different tasks cannot be compared; name those of one with "
             "--arms",
             contenders.front().name, metric, other.name, its);
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
           "it takes a configuration and trains its learners or arms, {} is a directory: for runs that exist there is "
           "throughtime report",
           request.config);
  const ConfigFile file(request.config);
  std::vector<Contender> contenders =
      request.learners.empty() ? arm_contenders(file, request) : learner_contenders(file, request);
  std::vector<RunConfig> configs;
  for (const Contender& contender : contenders) configs.push_back(contender.configs.front());
  require_used(request.overrides, configs, "train");
  for (const RunConfig& config : configs) check_run(config);
  if (request.learners.empty()) require_one_metric(contenders);
  return contenders;
}

std::string metric_of(const std::vector<Contender>& contenders) {
  std::string metric = "metric";
  for (const Contender& contender : contenders)
    if (const Outcome sample = contender.sample(); !sample.metric.empty()) metric = sample.metric;
  return metric;
}

std::string contender_json(const Contender& contender, const std::string& key) {
  nlohmann::ordered_json object = {{key, contender.name}, {"runs", nlohmann::ordered_json::array()}};
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
  object["baseline_mean"] = summary_of(contender.values(&Outcome::baseline)).mean;
  object["x_naive_mean"] = summary_of(contender.values(&Outcome::skill)).mean;
  object["updates_mean"] = summary_of(contender.values(&Outcome::updates)).mean;
  object["seconds_mean"] = summary_of(contender.values(&Outcome::seconds)).mean;
  return object.dump();
}

}  // namespace throughtime
