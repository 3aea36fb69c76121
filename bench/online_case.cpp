#include "bench/online_case.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "bench/measure.h"
#include "throughtime/error.h"
#include "throughtime/random.h"

namespace throughtime::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int batch_size = 20'000;  // observations

int size_in(const std::string& name, const std::string& digits) {
  const long long value = digits.size() < 8 ? std::stoll(digits) : 0;
  if (value < 1 || value > 1'000'000) refuse("bench", "case {}: sizes must be between 1 and 1000000", name);
  return static_cast<int>(value);
}

double microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

}  // namespace

bool is_online_case(const std::string& name) { return name.starts_with("online-"); }

OnlineCase parse_online_case(const std::string& name) {
  static const std::regex form("online-([a-z_]+)-([a-z_]+)-b([0-9]+)-h([0-9]+)-k([0-9]+)");
  std::smatch part;
  if (!std::regex_match(name, part, form))
    refuse("bench", "unknown case {}; expected online-LEARNER-CELL-bB-hH-kK such as online-tbptt-lstm-b1-h32-k10", name);
  return {.name = name,
          .learner = part[1],
          .cell = part[2] == "rnn" ? "rnn_tanh" : part[2].str(),
          .slots = size_in(name, part[3]),
          .hidden = size_in(name, part[4]),
          .window = size_in(name, part[5])};
}

OnlineConfig online_config(const OnlineCase& chosen) {
  OnlineConfig config;
  config.learner = {.name = chosen.learner};
  if (chosen.learner == "tbptt") {
    config.learner.preset = "original";
    config.learner.truncation = chosen.window;
  } else {
    config.learner.window_length = chosen.window;
  }
  config.clip.norm = 1;
  config.slots = chosen.slots;
  return config;
}

double percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) refuse("bench", "a percentile of no values was asked for");
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

OnlineResult run_online_case(const std::string& name, double seconds) {
  const OnlineCase chosen = parse_online_case(name);
  ModelConfig model_config;
  model_config.input.reals = 1;
  model_config.layers.push_back({.cell = chosen.cell, .hidden = chosen.hidden, .options = {}});
  model_config.head = {.name = "regression", .outputs = 1};
  const Model model(model_config);
  const auto engine = make_engine(model, {.name = "cpu", .threads = 1, .communicator = nullptr});
  OnlineLearner learner(*engine, initialise(model, {}, 1), online_config(chosen));
  const Random random(1, Purpose::task);
  std::vector<float> wave(static_cast<std::size_t>(batch_size) + 1);
  for (std::size_t t = 0; t < wave.size(); ++t)
    wave[t] = static_cast<float>(std::sin(0.1 * static_cast<double>(t)) + 0.1 * random.normal(0, 0, t));

  std::vector<double> times, rates;
  times.reserve(1 << 22);
  const auto observe_batch = [&] {
    const Clock::time_point begin = Clock::now();
    for (int t = 0; t < batch_size; ++t) {
      const Clock::time_point before = Clock::now();
      const std::size_t at = static_cast<std::size_t>(t);
      const double prediction = learner.observe(t % chosen.slots, {.reals = {&wave[at], 1}}, {.values = {&wave[at + 1], 1}})[0];
      if (!std::isfinite(prediction)) fail("bench", "the prediction of {} is no finite number", name);
      if (times.size() < times.capacity()) times.push_back(microseconds(Clock::now() - before));
    }
    rates.push_back(1e6 * batch_size / microseconds(Clock::now() - begin));
  };
  observe_batch();  // warm-up
  times.clear();
  rates.clear();
  const Clock::time_point begin = Clock::now();
  const std::int64_t updates = learner.updates();
  do observe_batch();
  while (microseconds(Clock::now() - begin) < 1e6 * seconds);
  const double spent = microseconds(Clock::now() - begin) / 1e6;
  std::sort(times.begin(), times.end());
  return {.name = name,
          .observations_per_second = median(rates),
          .updates_per_second = static_cast<double>(learner.updates() - updates) / spent,
          .p50_us = percentile(times, 0.5),
          .p99_us = percentile(times, 0.99),
          .p999_us = percentile(times, 0.999),
          .longest_us = times.back()};
}

std::string json_line(const OnlineResult& result) {
  const nlohmann::ordered_json line = {{"case", result.name},
                                       {"threads", 1},
                                       {"observations_per_second", std::round(result.observations_per_second)},
                                       {"updates_per_second", std::round(result.updates_per_second)},
                                       {"latency_p50_us", result.p50_us},
                                       {"latency_p99_us", result.p99_us},
                                       {"latency_p99.9_us", result.p999_us},
                                       {"latency_longest_us", result.longest_us}};
  return line.dump();
}

}  // namespace throughtime::bench
