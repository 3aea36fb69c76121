#include "bench/online_case.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>

#include "bench/case.h"
#include "bench/measure.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/random.h"

namespace throughtime::bench {
namespace {

constexpr std::size_t batch_size = 20'000;  // observations

}  // namespace

int size_in(const std::string& name, const std::string& digits) {
  const long long value = digits.size() < 8 ? std::stoll(digits) : 0;
  if (value < 1 || value > 1'000'000) refuse("bench", "case {}: sizes must be between 1 and 1000000", name);
  return static_cast<int>(value);
}

bool is_online_case(const std::string& name) { return name.starts_with("online-"); }

OnlineCase parse_online_case(const std::string& name) {
  static const std::regex form("online-([a-z_]+)-([a-z_]+)-b([0-9]+)-h([0-9]+)-k([0-9]+)");
  std::smatch part;
  if (!std::regex_match(name, part, form))
    refuse("bench", "unknown case {}; expected online-LEARNER-CELL-bB-hH-kK such as online-tbptt-lstm-b1-h32-k10",
           name);
  return {.name = name,
          .learner = part[1],
          .cell = part[2] == "rnn" ? "rnn_tanh" : part[2].str(),
          .slots = size_in(name, part[3]),
          .hidden = size_in(name, part[4]),
          .window = size_in(name, part[5])};
}

OnlineConfig online_config(const OnlineCase& chosen) {
  OnlineConfig config;
  config.learner = {.name = chosen.learner,
                    .tbptt = {.preset = TbpttPreset::original, .truncation = chosen.window},
                    .fptt = {.window_length = chosen.window},
                    .fpp = {.steps = chosen.window},
                    .sliding_tbptt = {.steps = chosen.window}};
  config.clip.norm = 1;
  config.slots = chosen.slots;
  return config;
}

double percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) refuse("bench", "a percentile of no values was asked for");
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

namespace {

/// A model with its learner and a noisy wave to observe.
class OnlineWorkload {
 public:
  OnlineWorkload(const OnlineCase& chosen, const std::string& engine, SingleRows rows = SingleRows::in_one_piece)
      : case_(chosen),
        model_(model_of(chosen)),
        engine_(make_engine(model_, config_of(engine, rows))),
        learner_(*engine_, initialise(model_, {}, 1), online_config(chosen)) {
    const Random random(1, Purpose::task);
    for (std::uint64_t t = 0; t <= batch_size; ++t)
      wave_.push_back(static_cast<float>(std::sin(0.1 * static_cast<double>(t)) + 0.1 * random.normal(0, 0, t)));
  }

  std::int64_t updates() const { return learner_.updates(); }

  /// Observes a batch by a clock; adds each observation's time and returns observations per second.
  template <class Now>
  double observe(const Now& now, std::vector<double>& times) {
    const double begin = now();
    double before = begin;
    for (std::size_t t = 0; t < batch_size; ++t) {
      const int slot = static_cast<int>(t % elements(case_.slots));
      const double prediction = learner_.observe(slot, {.reals = {&wave_[t], 1}}, {.values = {&wave_[t + 1], 1}})[0];
      if (!std::isfinite(prediction)) fail("bench", "the prediction of {} is no finite number", case_.name);
      engine_->finish();
      const double after = now();
      if (times.size() < times.capacity()) times.push_back(after - before);
      before = after;
    }
    return 1e6 * batch_size / (before - begin);
  }

 private:
  static EngineConfig config_of(const std::string& engine, SingleRows rows) {
    EngineConfig config{.name = engine, .threads = 1, .communicator = nullptr};
    config.single_rows = rows;
    return config;
  }

  static ModelConfig model_of(const OnlineCase& chosen) {
    ModelConfig config;
    config.input.reals = 1;
    config.layers.push_back({.cell = chosen.cell, .hidden = chosen.hidden, .options = {}});
    config.head = {.name = "regression", .outputs = 1};
    return config;
  }

  OnlineCase case_;
  Model model_;
  std::unique_ptr<Engine> engine_;
  OnlineLearner learner_;
  std::vector<float> wave_;
};

Latency latency_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {percentile(times, 0.5), percentile(times, 0.99), percentile(times, 0.999), times.back()};
}

double wall_now() { return microseconds_of(CLOCK_MONOTONIC); }
double thread_now() { return microseconds_of(CLOCK_THREAD_CPUTIME_ID); }

/// Both ways of a single row or of a few in turns, by the thread's clock: other programs may run beside them.
void compare_ways(const OnlineCase& chosen, const std::string& engine, double seconds, OnlineResult& result) {
  const EngineType& type = find_engine(engine);
  if (type.exact || !type.on_host || !may_have_short_way(chosen.slots, chosen.hidden)) return;
  OnlineWorkload short_way(chosen, engine), general(chosen, engine, SingleRows::general);
  std::vector<double> unused, rates, general_rates;
  const double begin = wall_now();
  do {
    rates.push_back(short_way.observe(thread_now, unused));
    general_rates.push_back(general.observe(thread_now, unused));
  } while (wall_now() - begin < 1e6 * seconds);
  result.general_per_cpu_second = median(general_rates);
  result.general_ratio = median_of_ratios(rates, general_rates);
}

}  // namespace

OnlineResult run_online_case(const std::string& name, const std::string& engine, double seconds) {
  const OnlineCase chosen = parse_online_case(name);
  OnlineWorkload workload(chosen, engine);
  std::vector<double> times, cpu_times, rates, cpu_rates;
  workload.observe(wall_now, times);  // warm-up
  for (std::vector<double>* list : {&times, &cpu_times}) {
    list->clear();
    list->reserve(1 << 21);
  }
  const double begin = wall_now();
  const std::int64_t updates = workload.updates();
  do {
    rates.push_back(workload.observe(wall_now, times));
    cpu_rates.push_back(workload.observe(thread_now, cpu_times));
  } while (wall_now() - begin < 1e6 * seconds);
  OnlineResult result = {
      .name = name,
      .observations_per_second = median(rates),
      .observations_per_cpu_second = median(cpu_rates),
      .updates_per_second = 1e6 * static_cast<double>(workload.updates() - updates) / (wall_now() - begin),
      .latency = latency_of(std::move(times)),
      .cpu_latency = latency_of(std::move(cpu_times))};
  compare_ways(chosen, engine, seconds / 2, result);
  return result;
}

std::string json_line(const OnlineResult& result) {
  nlohmann::ordered_json line = {{"case", result.name},
                                 {"threads", 1},
                                 {"observations_per_second", std::round(result.observations_per_second)},
                                 {"observations_per_cpu_second", std::round(result.observations_per_cpu_second)},
                                 {"updates_per_second", std::round(result.updates_per_second)}};
  const auto put = [&](const std::string& clock, const Latency& latency) {
    const auto nanoseconds = [](double value) { return std::round(1e3 * value) / 1e3; };
    line[clock + "_p50_us"] = nanoseconds(latency.p50);
    line[clock + "_p99_us"] = nanoseconds(latency.p99);
    line[clock + "_p99.9_us"] = nanoseconds(latency.p999);
    line[clock + "_longest_us"] = nanoseconds(latency.longest);
  };
  line["general_per_cpu_second"] = std::round(result.general_per_cpu_second);
  line["general_ratio"] = std::round(1e3 * result.general_ratio) / 1e3;
  put("latency", result.latency);
  put("cpu_latency", result.cpu_latency);
  return line.dump();
}

}  // namespace throughtime::bench
