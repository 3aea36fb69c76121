#include "reproduce/runs/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "reproduce/results/stored.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
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

/// The runs that choose the settings of all arms at full scale; an arm with nothing to choose has none.
std::size_t count_sweep_runs(const ResultSpec& spec) {
  if (spec.sweep.empty()) return 0;
  const ConfigFile file(spec.file.string());
  std::size_t runs = 0;
  for (const std::string& arm : spec.arms)
    if (const std::size_t points = sweep_points(spec.sweep, file.config(arm, {})).size(); points > 1)
      runs += points * elements(spec.sweep.seeds);
  return runs;
}

/// Of validations; 0: there are none.
double iterations_between(const TrainOptions& train, const RunExtent& extent) {
  return train.evaluate_every > 0 ? static_cast<double>(train.evaluate_every)
                                  : static_cast<double>(train.evaluate_epochs) * extent.iterations_per_epoch;
}

/// Whether the seconds of stored runs are those of a core: a device takes others.
bool is_of_a_core(const StoredResult& stored) {
  const std::vector<const EngineType*> engines = all_engines();
  return std::none_of(engines.begin(), engines.end(),
                      [&](const EngineType* type) { return type->name == stored.engine && !type->on_host; });
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

CostEstimator::Rates CostEstimator::rates_of(const RunConfig& config, bool evaluates) {
  const auto [found, is_new] = rates_.try_emplace(key_of(config, true) + (evaluates ? "" : "\n# not evaluated"));
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
  if (unknown && evaluates) {
    trainer.evaluate(config.train.validates() ? Split::validation : Split::test);
    trainer.engine().finish();
    evaluation->second = clock.seconds() - trained;
  }
  return found->second = {.start = ready - start,
                          .iteration = (trained - ready) / static_cast<double>(trainer.iteration()) / work,
                          .evaluation = evaluation->second / work};
}

CostEstimator::Rates CostEstimator::full_rates(const RunConfig& config, const Rates& guess) {
  constexpr double longest = 30;  // seconds of an iteration that is worth its timing
  Rates rates = guess;
  if (guess.iteration * amount_of(config).work > longest) return rates;
  try {
    const Rates timed = rates_of(config, false);
    rates.start = timed.start;
    rates.iteration = timed.iteration;
  } catch (const InvalidInput&) {
    // its data are not here
  }
  return rates;
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
    const RunConfig config = config_of(spec, arm, Scale::full);
    const Amount amount = amount_of(config);
    const auto nearest = std::min_element(by_work.begin(), by_work.end(), [&](const auto& a, const auto& b) {
      return std::abs(a.first - std::log(amount.work)) < std::abs(b.first - std::log(amount.work));
    });
    const auto own = by_arm.find(arm);
    const Rates rates = full_rates(config, own == by_arm.end() ? nearest->second : own->second);
    cost.full += rates.seconds(amount) * spec.seeds;
    cost.epoch +=
        amount.work * rates.iteration * extent_of(config).iterations_per_epoch / static_cast<double>(spec.arms.size());
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
      costs[name] = {.quick = entry.at("quick").get<double>(),
                     .full = entry.at("full").get<double>(),
                     .epoch = entry.value("epoch", 0.0)};
  } catch (const Json::exception& error) {
    refuse("reproduce", "{} holds no costs: {}", path.string(), error.what());
  }
  return costs;
}

void write_costs(const std::filesystem::path& results, const Costs& costs) {
  Json json = Json::object();
  for (const auto& [name, cost] : costs) {
    json[name] = {{"quick", std::round(cost.quick)}, {"full", std::round(cost.full)}};
    if (cost.epoch >= 0.5) json[name]["epoch"] = std::round(cost.epoch);
  }
  make_directories(results);
  replace_file(results / "costs.json", json.dump(1) + "\n");
}

ExpectedCost expected_cost(const ResultSpec& spec, Scale scale, const Costs& costs,
                           const std::filesystem::path& results) {
  const std::size_t sweep = scale == Scale::full ? count_sweep_runs(spec) : 0;
  const double runs = static_cast<double>(spec.arms_at(scale).size()) * spec.seeds_at(scale);
  const double with_sweep =
      runs > 0 ? (runs + static_cast<double>(sweep)) / runs : 1;  // they are as long as the others
  for (const StoredResult& stored : find_stored(results, spec.name))
    if (stored.scale == scale && is_complete(spec, stored) && is_of_a_core(stored))
      return {.seconds = stored.seconds * with_sweep, .sweep_runs = sweep, .measured = sweep == 0};
  const auto found = costs.find(spec.name);
  if (found == costs.end()) return {.seconds = std::numeric_limits<double>::quiet_NaN(), .sweep_runs = sweep};
  return {.seconds = (scale == Scale::quick ? found->second.quick : found->second.full) * with_sweep,
          .sweep_runs = sweep};
}

std::string time_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 2 * 86400) return fmt::format("{:.0f} h", seconds / 3600);
  return fmt::format("{:.0f} days", seconds / 86400);
}

std::string cost_text(const ResultSpec& spec, Scale scale, const Costs& costs, const std::filesystem::path& results) {
  if (spec.arms.empty()) return "–";
  const ExpectedCost cost = expected_cost(spec, scale, costs, results);
  std::string text = fmt::format("{} x {} runs", spec.arms_at(scale).size(), spec.seeds_at(scale));
  if (cost.sweep_runs > 0) text += fmt::format(" and {} of the sweep", cost.sweep_runs);
  if (std::isnan(cost.seconds)) return text;
  text += fmt::format(", {}{}", cost.measured ? "" : "~", time_text(cost.seconds));
  const auto found = costs.find(spec.name);
  if (scale == Scale::full && found != costs.end() && found->second.epoch > 0)
    text += fmt::format(", ~{} an epoch", time_text(found->second.epoch));
  return text;
}

}  // namespace throughtime
