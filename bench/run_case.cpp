#include "bench/run_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>

#include "bench/floor.h"
#include "bench/onednn.h"
#include "bench/workload.h"
#include "throughtime/error.h"

namespace throughtime::bench {
namespace {

/// What a case is compared with that has no floor of products: the same pull-back without norms, truncated
/// back-propagation over the same steps.
class Simpler final : public Floor {
 public:
  Simpler(const Case& chosen, const EngineConfig& engine, const char* description)
      : workload_(chosen, engine, false), description_(description) {}
  void run() override { workload_.run(); }
  void finish() override { workload_.finish(); }
  std::string description() const override { return description_; }

 private:
  Workload workload_;
  const char* description_;
};

/// Products are timed where the host computes them.
std::unique_ptr<Floor> floor_of(const Case& chosen, const EngineConfig& engine) {
  if (chosen.kind == Kind::phi) return std::make_unique<Simpler>(chosen, engine, "the pull-back without norms\n");
  if (chosen.kind == Kind::tprop)
    return std::make_unique<Simpler>(chosen, engine, "tbptt with K = B over as many rows as there are blocks\n");
  if (chosen.layers > 1) return nullptr;  // its list of products is that of one layer
  return find_engine(engine.name).on_host ? make_floor(chosen, engine.threads) : nullptr;
}

/// Ours and what stands beside it at one thread count.
class Subjects {
 public:
  Subjects(const Case& chosen, const EngineConfig& engine, const CaseMeasures& measures) : ours_(chosen, engine) {
    if (measures.floor) floor_ = floor_of(chosen, engine);
    if (measures.onednn && find_engine(engine.name).on_host && onednn_has(chosen))
      onednn_ = make_onednn(chosen, ours_.numbers(), engine.threads);
  }
  Subjects(const Subjects&) = delete;
  Subjects& operator=(const Subjects&) = delete;

  void append_to(std::vector<std::function<void()>>& runs) {
    first_ = runs.size();
    runs.push_back([this] { ours_.run(); });
    if (floor_) runs.push_back([this] { floor_->run(); });
    if (onednn_) runs.push_back([this] { onednn_->run(); });
  }
  void finish() {
    ours_.finish();
    if (floor_) floor_->finish();
  }
  /// The lists of these subjects among all of them.
  void take(const std::vector<std::vector<double>>& all) {
    ours_ms = all[first_];
    if (floor_) floor_ms = all[first_ + 1];
    if (onednn_) onednn_ms = all[first_ + (floor_ ? 2 : 1)];
  }
  Workload& ours() { return ours_; }
  const Floor* floor() const { return floor_.get(); }

  std::vector<double> ours_ms, floor_ms, onednn_ms;  // empty: not measured

 private:
  Workload ours_;
  std::unique_ptr<Floor> floor_;
  std::unique_ptr<Onednn> onednn_;
  std::size_t first_ = 0;
};

/// Share of the engine's work that goes into updates, timed where they happen, in runs beside the measured ones.
double update_share(Workload& workload, double run_milliseconds) {
  const double runs = std::clamp(500 / run_milliseconds, 3.0, 1e4);
  workload.engine().watch_clock(true);
  for (int run = 0; run < static_cast<int>(runs); ++run) workload.run();
  workload.engine().watch_clock(false);
  return workload.engine().update_share();
}

/// Milliseconds of a run by the thread's own clock, over several runs.
double cpu_milliseconds(Workload& workload, int runs) {
  const double begin = microseconds_of(CLOCK_THREAD_CPUTIME_ID);
  for (int run = 0; run < runs; ++run) workload.run();
  return (microseconds_of(CLOCK_THREAD_CPUTIME_ID) - begin) / 1000 / runs;
}

/// Runs of a workload that take about ten milliseconds.
int runs_of_a_sample(double run_milliseconds) { return static_cast<int>(std::clamp(10 / run_milliseconds, 1.0, 1e4)); }

/// Updates of a workload of one thread, per second of that thread's own clock: the median of some runs.
double cpu_rate(Workload& workload, double run_milliseconds) {
  constexpr int samples = 9;
  const int runs = runs_of_a_sample(run_milliseconds);
  std::vector<double> rates;
  for (int sample = 0; sample < samples; ++sample)
    rates.push_back(1000 * workload.updates() / cpu_milliseconds(workload, runs));
  return median(std::move(rates));
}

/// Medians of what was measured at both thread counts.
void add_times(const Subjects& many, const Subjects* one, CaseResult& result) {
  result.ours_ms = median(many.ours_ms);
  if (!many.floor_ms.empty()) {
    result.floor_ms = median(many.floor_ms);
    result.floor_ratio = median_of_ratios(many.ours_ms, many.floor_ms);
  }
  if (!many.onednn_ms.empty()) {
    result.onednn_ms = median(many.onednn_ms);
    result.onednn_ratio = median_of_ratios(many.onednn_ms, many.ours_ms);
  }
  if (one == nullptr) return;
  result.ours_1_thread_ms = median(one->ours_ms);
  if (result.time == TimeOf::wall) {  // the sum over threads says nothing of what they gain
    result.scaling = minimum(one->ours_ms) / minimum(many.ours_ms);
    if (!one->floor_ms.empty()) result.floor_scaling = minimum(one->floor_ms) / minimum(many.floor_ms);
  }
  if (one->onednn_ms.empty()) return;
  result.onednn_1_thread_ms = median(one->onednn_ms);
  result.onednn_1_thread_ratio = median_of_ratios(one->onednn_ms, one->ours_ms);
}

/// Both ways of a single row or of a few in turns, where they have two: as the work of one thread, whose own clock
/// stands still while others run.
void compare_ways(const Case& chosen, const EngineConfig& engine, const Effort& effort, CaseResult& result) {
  const EngineType& type = find_engine(engine.name);
  if (type.exact || !type.on_host || chosen.recipe() || !may_have_short_way(chosen.batch, chosen.hidden)) return;
  if (chosen.batch > 1 && engine.threads > 1) return;
  EngineConfig other = engine;
  other.single_rows = SingleRows::general;
  Workload ours(chosen, engine), general(chosen, other);
  ours.run(), general.run();
  const int runs = runs_of_a_sample(result.ours_ms), pairs = std::max(5, 2 * effort.repeats + 1);
  std::vector<double> short_times, general_times;
  for (int pair = 0; pair < pairs; ++pair) {
    short_times.push_back(cpu_milliseconds(ours, runs));
    general_times.push_back(cpu_milliseconds(general, runs));
  }
  result.general_ms = median(general_times);
  result.general_ratio = median_of_ratios(general_times, short_times);
}

}  // namespace

CaseResult run_case(const std::string& name, const EngineConfig& engine, const CaseMeasures& measures) {
  const Case chosen = parse_case(name);
  const bool on_host = find_engine(engine.name).on_host;
  Subjects many(chosen, engine, measures);
  std::unique_ptr<Subjects> one;
  if (measures.one_thread && on_host && engine.threads > 1)
    one = std::make_unique<Subjects>(chosen, EngineConfig{.name = engine.name}, measures);
  if (measures.describe_floor && many.floor()) fmt::print(stderr, "{}", many.floor()->description());

  std::vector<std::function<void()>> runs;
  many.append_to(runs);
  if (one) one->append_to(runs);
  std::unique_ptr<Workload> undropped;
  if (chosen.recipe()) {
    undropped = std::make_unique<Workload>(chosen, engine, false);
    runs.push_back([&] { undropped->run(); });
  }
  Effort paced = measures.effort;
  if (!on_host) paced.sample_seconds = paced.device_sample_seconds;
  const std::vector<std::vector<double>> times = measure_in_turn(runs, paced, [&] {
    many.finish();
    if (one) one->finish();
    if (undropped) undropped->finish();
  });
  if (!std::isfinite(many.ours().loss_sum())) fail("bench", "the loss of {} is no finite number", name);
  many.take(times);
  if (one) one->take(times);

  CaseResult result;
  result.name = name;
  result.engine = engine.name;
  result.threads = engine.threads;
  result.time = measures.effort.time;
  add_times(many, one.get(), result);
  if (undropped) result.weight_drop_share = 1 - median_of_ratios(times.back(), times.front());
  result.activation_bytes = many.ours().activation_bytes();
  if (chosen.kind == Kind::fptt) result.update_share = update_share(many.ours(), result.ours_ms);
  if (many.ours().updates() > 0) {
    const double run_ms = result.ours_1_thread_ms.value_or(result.ours_ms);
    if (result.time == TimeOf::wall) result.updates_per_second = 1000 * many.ours().updates() / run_ms;
    if (on_host) result.updates_per_cpu_second = cpu_rate(one ? one->ours() : many.ours(), run_ms);
  }
  if (measures.ways) compare_ways(chosen, engine, measures.effort, result);
  return result;
}

}  // namespace throughtime::bench
