#include "bench/run_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>

#include "bench/floor.h"
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

/// Ours and the floor at one thread count.
struct Subjects {
  Workload ours;
  std::unique_ptr<Floor> floor;

  Subjects(const Case& chosen, const EngineConfig& engine) : ours(chosen, engine), floor(floor_of(chosen, engine)) {}

  void append_to(std::vector<std::function<void()>>& runs) {
    runs.push_back([this] { ours.run(); });
    if (floor) runs.push_back([this] { floor->run(); });
  }
  void finish() {
    ours.finish();
    if (floor) floor->finish();
  }
};

/// Share of the engine's work that goes into updates, timed where they happen, in runs beside the measured ones.
double update_share(Workload& workload, double run_milliseconds) {
  const double runs = std::clamp(500 / run_milliseconds, 3.0, 1e4);
  workload.engine().watch_clock(true);
  for (int run = 0; run < static_cast<int>(runs); ++run) workload.run();
  workload.engine().watch_clock(false);
  return workload.engine().update_share();
}

/// Updates of a workload of one thread, per second of that thread's own clock: the median of some runs.
double cpu_rate(Workload& workload, double run_milliseconds) {
  const int samples = 9, runs = static_cast<int>(std::clamp(10 / run_milliseconds, 1.0, 1e4));
  std::vector<double> rates;
  for (int sample = 0; sample < samples; ++sample) {
    const double begin = microseconds_of(CLOCK_THREAD_CPUTIME_ID);
    for (int run = 0; run < runs; ++run) workload.run();
    rates.push_back(1e6 * runs * workload.updates() / (microseconds_of(CLOCK_THREAD_CPUTIME_ID) - begin));
  }
  return median(std::move(rates));
}

}  // namespace

CaseResult run_case(const std::string& name, const EngineConfig& engine, const Effort& effort, bool describe_floor) {
  const Case chosen = parse_case(name);
  const bool on_host = find_engine(engine.name).on_host;
  Subjects many(chosen, engine);
  std::unique_ptr<Subjects> one;
  if (on_host && engine.threads > 1) one = std::make_unique<Subjects>(chosen, EngineConfig{.name = engine.name});
  const bool with_floor = many.floor != nullptr;
  if (describe_floor && with_floor) fmt::print(stderr, "{}", many.floor->description());

  std::vector<std::function<void()>> runs;
  many.append_to(runs);
  if (one) one->append_to(runs);
  std::unique_ptr<Workload> undropped;
  if (chosen.recipe()) {
    undropped = std::make_unique<Workload>(chosen, engine, false);
    runs.push_back([&] { undropped->run(); });
  }
  Effort paced = effort;
  if (!on_host) paced.sample_seconds = effort.device_sample_seconds;
  const std::vector<std::vector<double>> times = measure_in_turn(runs, paced, [&] {
    many.finish();
    if (one) one->finish();
    if (undropped) undropped->finish();
  });
  if (!std::isfinite(many.ours.loss_sum())) fail("bench", "the loss of {} is no finite number", name);

  CaseResult result;
  result.name = name;
  result.engine = engine.name;
  result.threads = engine.threads;
  result.ours_ms = median(times[0]);
  result.activation_bytes = many.ours.activation_bytes();
  if (chosen.kind == Kind::fptt) result.update_share = update_share(many.ours, result.ours_ms);
  const std::size_t of_one = with_floor ? 2 : 1;  // where the one-thread subjects begin
  if (with_floor) {
    result.floor_ms = median(times[1]);
    result.floor_ratio = median_of_ratios(times[0], times[1]);
  }
  if (undropped) result.weight_drop_share = 1 - median_of_ratios(times.back(), times[0]);
  if (one) {
    result.ours_1_thread_ms = median(times[of_one]);
    result.scaling = minimum(times[of_one]) / minimum(times[0]);
    if (with_floor) result.floor_scaling = minimum(times[of_one + 1]) / minimum(times[1]);
  }
  if (many.ours.updates() > 0) {
    const double run_ms = result.ours_1_thread_ms.value_or(result.ours_ms);
    result.updates_per_second = 1000 * many.ours.updates() / run_ms;
    if (on_host) result.updates_per_cpu_second = cpu_rate(one ? one->ours : many.ours, run_ms);
  }
  return result;
}

}  // namespace throughtime::bench
