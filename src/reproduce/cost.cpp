#include "reproduce/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "reproduce/stored.h"
#include "throughtime/error.h"
#include "train/run/trainer.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

/// Where the host computes, that of this process: other programs on the machine do not count. An engine elsewhere works
/// while the process waits.
class EngineClock {
 public:
  explicit EngineClock(const std::string& engine) : on_host_(!may_use_device(engine)) {}
  double seconds() const {
    if (on_host_) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

 private:
  bool on_host_;
};

/// Ends a run after some time.
class Probe final : public Observer {
 public:
  Probe(const EngineClock& clock, Engine& engine, double seconds)
      : clock_(clock), engine_(engine), until_(clock.seconds() + seconds) {}
  bool wants_stop() override {
    engine_.finish();
    return clock_.seconds() >= until_;
  }

 private:
  const EngineClock& clock_;
  Engine& engine_;
  double until_;
};

/// The configuration without its name and, where they do not matter, without how it learns and how long.
std::string key_of(RunConfig config, bool learning) {
  config.run = {};
  if (!learning) {
    config.learner = {};
    config.optimizer = {};
  }
  return resolved_config(config);
}

/// Of validations; 0: there are none.
double iterations_between(const TrainOptions& train, const RunExtent& extent) {
  return train.evaluate_every > 0 ? static_cast<double>(train.evaluate_every)
                                  : static_cast<double>(train.evaluate_epochs) * extent.iterations_per_epoch;
}

}  // namespace

RunConfig CostEstimator::config_of(const ResultSpec& spec, const std::string& arm, Scale scale) const {
  std::vector<std::string> overrides = overrides_;
  if (scale == Scale::quick) overrides.insert(overrides.begin(), spec.quick.begin(), spec.quick.end());
  overrides.push_back("run.threads=1");
  return ConfigFile(spec.file.string()).config(arm, overrides);
}

CostEstimator::Amount CostEstimator::amount_of(const RunConfig& config) {
  const auto [found, is_new] = amounts_.try_emplace(key_of(config, false));
  if (!is_new) return found->second;
  const RunExtent extent = extent_of(config);
  Amount& amount = found->second;
  amount.work = extent.products * extent.steps * extent.batch;
  amount.iterations = static_cast<double>(extent.iterations);
  amount.evaluations = 1;
  if (const double between = iterations_between(config.train, extent); between > 0)
    amount.evaluations += amount.iterations / between;
  return amount;
}

CostEstimator::Rates CostEstimator::rates_of(const RunConfig& config) {
  const auto [found, is_new] = rates_.try_emplace(key_of(config, true));
  if (!is_new) return found->second;
  const EngineClock clock(config.run.engine);
  const double work = amount_of(config).work, start = clock.seconds();
  RunConfig alone = config;
  alone.train.evaluate_every = alone.train.evaluate_epochs = 0;
  alone.optimizer.rule.average = Averaging::off;  // it may wait for validations
  Trainer trainer(alone);
  trainer.engine().finish();
  const double ready = clock.seconds();
  Probe probe(clock, trainer.engine(), seconds_);
  trainer.run(probe, false);
  const double trained = clock.seconds();
  const auto [evaluation, unknown] = evaluations_.try_emplace(key_of(config, false));
  if (unknown) {
    trainer.evaluate(config.train.validates() ? Split::validation : Split::test);
    trainer.engine().finish();
    evaluation->second = clock.seconds() - trained;
  }
  return found->second = {.start = ready - start,
                          .iteration = (trained - ready) / static_cast<double>(trainer.iteration()) / work,
                          .evaluation = evaluation->second / work};
}

Cost CostEstimator::estimate(const ResultSpec& spec) {
  Cost cost;
  std::map<std::string, Rates> by_arm;
  std::map<double, Rates> by_work;  // its logarithm
  for (const std::string& arm : spec.arms_at(Scale::quick)) {
    const RunConfig config = config_of(spec, arm, Scale::quick);
    const Rates rates = rates_of(config);
    cost.quick += rates.seconds(amount_of(config)) * spec.quick_seeds;
    by_work[std::log(amount_of(config).work)] = by_arm[arm] = rates;
  }
  for (const std::string& arm : spec.arms) {
    const Amount amount = amount_of(config_of(spec, arm, Scale::full));
    const auto nearest = std::min_element(by_work.begin(), by_work.end(), [&](const auto& a, const auto& b) {
      return std::abs(a.first - std::log(amount.work)) < std::abs(b.first - std::log(amount.work));
    });
    const auto own = by_arm.find(arm);
    cost.full += (own == by_arm.end() ? nearest->second : own->second).seconds(amount) * spec.seeds;
  }
  return cost;
}

Costs read_costs(const std::filesystem::path& results) {
  const std::filesystem::path path = results / "costs.json";
  Costs costs;
  if (!std::filesystem::exists(path)) return costs;
  try {
    const Json json = Json::parse(read_file(path));
    for (const auto& [name, entry] : json.items())
      costs[name] = {.quick = entry.at("quick").get<double>(), .full = entry.at("full").get<double>()};
  } catch (const Json::exception& error) {
    refuse("reproduce", "{} holds no costs: {}", path.string(), error.what());
  }
  return costs;
}

void write_costs(const std::filesystem::path& results, const Costs& costs) {
  Json json = Json::object();
  for (const auto& [name, cost] : costs)
    json[name] = {{"quick", std::round(cost.quick)}, {"full", std::round(cost.full)}};
  make_directories(results);
  replace_file(results / "costs.json", json.dump(1) + "\n");
}

ExpectedCost expected_cost(const ResultSpec& spec, Scale scale, const Costs& costs,
                           const std::filesystem::path& results) {
  for (const StoredResult& stored : find_stored(results, spec.name))
    if (stored.scale == scale && is_complete(spec, stored)) return {.seconds = stored.seconds, .measured = true};
  const auto found = costs.find(spec.name);
  if (found == costs.end()) return {.seconds = std::numeric_limits<double>::quiet_NaN()};
  return {.seconds = scale == Scale::quick ? found->second.quick : found->second.full};
}

std::string time_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 2 * 86400) return fmt::format("{:.0f} h", seconds / 3600);
  return fmt::format("{:.0f} days", seconds / 86400);
}

std::string cost_text(const ResultSpec& spec, Scale scale, const Costs& costs, const std::filesystem::path& results) {
  if (spec.arms.empty()) return "–";
  const std::string runs = fmt::format("{} x {} runs", spec.arms_at(scale).size(), spec.seeds_at(scale));
  const ExpectedCost cost = expected_cost(spec, scale, costs, results);
  if (std::isnan(cost.seconds)) return runs;
  return fmt::format("{}, {}{}", runs, cost.measured ? "" : "~", time_text(cost.seconds));
}

}  // namespace throughtime
