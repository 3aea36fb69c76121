#include "bench/at_once_case.h"

#include <charconv>
#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "bench/report.h"
#include "bench/workload.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime::bench {
namespace {

constexpr int most = 64;
constexpr int runs_of_each = 8;  // between two looks at the clock: beside them a thread's start is nothing

/// Where the `x` of a name's count is; npos: it has none.
std::size_t end_of_count(const std::string& name) {
  const std::size_t end = name.find_first_not_of("0123456789");
  return end > 0 && end != std::string::npos && name.compare(end, 2, "x-") == 0 ? end : std::string::npos;
}

/// Workloads that do not know of each other.
class Group {
 public:
  Group(const AtOnceCase& chosen, const EngineConfig& engine) {
    for (int i = 0; i < chosen.count; ++i) all_.push_back(std::make_unique<Workload>(chosen.each, engine));
  }

  void run_in_turn() {
    for (const std::unique_ptr<Workload>& one : all_) run(*one);
  }

  void run_together() {
    std::vector<std::exception_ptr> errors(all_.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < all_.size(); ++i)
        threads.emplace_back([this, i, &errors] {
          try {
            run(*all_[i]);
          } catch (...) {
            errors[i] = std::current_exception();
          }
        });
    }
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
  }

 private:
  static void run(Workload& workload) {
    for (int i = 0; i < runs_of_each; ++i) workload.run();
    workload.finish();
  }

  std::vector<std::unique_ptr<Workload>> all_;
};

}  // namespace

bool is_at_once_case(const std::string& name) { return end_of_count(name) != std::string::npos; }

AtOnceCase parse_at_once_case(const std::string& name) {
  const std::size_t end = end_of_count(name);
  int count = 0;
  if (end == std::string::npos || std::from_chars(name.data(), name.data() + end, count).ec != std::errc() ||
      count < 1 || count > most)
    refuse("bench", "case {}: expected a count from 1 to {} and a case, such as 4x-fptt-lstm-b128-h128-t784-k20", name,
           most);
  return {.name = name, .count = count, .each = parse_case(name.substr(end + 2))};
}

AtOnceResult run_at_once_case(const std::string& name, const EngineConfig& engine, const Effort& effort) {
  const AtOnceCase chosen = parse_at_once_case(name);
  Group group(chosen, engine);
  std::vector<std::vector<double>> times =
      measure_in_turn({[&] { group.run_together(); }, [&] { group.run_in_turn(); }}, effort);
  return {.name = name,
          .count = chosen.count,
          .together_ms = median(times[0]) / runs_of_each,
          .in_turn_ms = median(times[1]) / runs_of_each,
          .throughput = median_of_ratios(times[1], times[0])};
}

std::string json_line(const AtOnceResult& result) {
  const nlohmann::ordered_json line = {{"case", result.name},
                                       {"count", result.count},
                                       {"together_ms", rounded(result.together_ms)},
                                       {"in_turn_ms", rounded(result.in_turn_ms)},
                                       {"throughput", rounded(result.throughput)}};
  return line.dump();
}

}  // namespace throughtime::bench
