#include "reproduce/cost.h"

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "throughtime/error.h"
#include "train/files.h"
#include "train/trainer.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

/// Of this process; other programs on the machine do not count.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Ends a run after some time.
class Probe final : public Observer {
 public:
  explicit Probe(double seconds) : until_(processor_seconds() + seconds) {}
  bool wants_stop() override { return processor_seconds() >= until_; }

 private:
  double until_;
};

double work_of(const RunPlan& plan) {
  return static_cast<double>(plan.parameters) * plan.steps * plan.batch * static_cast<double>(plan.iterations);
}

RunConfig config_of(const ResultSpec& spec, const std::string& arm, std::vector<std::string> overrides, Scale scale) {
  if (scale == Scale::quick) overrides.insert(overrides.begin(), spec.quick.begin(), spec.quick.end());
  overrides.push_back("run.threads=1");
  return load_config(spec.file.string(), overrides, arm);
}

/// Seconds of one whole run: what it takes to start, its iterations, its validations and its test.
double seconds_of_run(const RunConfig& config, double seconds) {
  const double start = processor_seconds();
  RunConfig alone = config;
  alone.train.evaluate_every = 0;
  Trainer trainer(alone);
  const double ready = processor_seconds();
  const double iterations = static_cast<double>(trainer.plan().iterations);
  Probe probe(seconds);
  trainer.run(probe, false);
  const double trained = processor_seconds();
  const double evaluations = 1 + (config.train.evaluate_every > 0 ? iterations / config.train.evaluate_every : 0);
  trainer.evaluate(config.train.evaluate_every > 0 ? Split::validation : Split::test);
  return ready - start + (trained - ready) * iterations / static_cast<double>(trainer.iteration()) +
         evaluations * (processor_seconds() - trained);
}

}  // namespace

Cost estimate_cost(const ResultSpec& spec, const std::vector<std::string>& overrides, double seconds) {
  Cost cost;
  std::map<std::string, double> rate;  // seconds for each unit of work
  double mean = 0;
  for (const std::string& arm : spec.arms_at(Scale::quick)) {
    const RunConfig config = config_of(spec, arm, overrides, Scale::quick);
    const double run = seconds_of_run(config, seconds);
    cost.quick += run * spec.quick_seeds;
    rate[arm] = run / work_of(Trainer(config).plan());
    mean += rate[arm] / static_cast<double>(spec.arms_at(Scale::quick).size());
  }
  for (const std::string& arm : spec.arms) {
    const double work = work_of(Trainer(config_of(spec, arm, overrides, Scale::full)).plan());
    cost.full += work * (rate.contains(arm) ? rate[arm] : mean) * spec.seeds;
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
  for (const auto& [name, cost] : costs) json[name] = {{"quick", std::round(cost.quick)}, {"full", std::round(cost.full)}};
  make_directories(results);
  replace_file(results / "costs.json", json.dump(1) + "\n");
}

}  // namespace throughtime
