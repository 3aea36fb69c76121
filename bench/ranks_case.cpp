#include "bench/ranks_case.h"

#include <nlohmann/json.hpp>

#include "bench/report.h"
#include "bench/workload.h"

namespace throughtime::bench {
namespace {

const std::string go = "go", enough = "enough";  // what rank 0 says before each run, and at last

}  // namespace

RanksResult run_ranks_case(const std::string& name, const EngineConfig& engine, const Effort& effort) {
  const Case chosen = parse_case(name);
  Communicator* const ranks = engine.communicator.get();
  Workload together(chosen, engine);
  std::string word;
  if (ranks->rank() != 0) {
    for (ranks->broadcast(word); word == go; ranks->broadcast(word)) together.run();
    return {};
  }
  Workload alone(chosen, {.name = engine.name, .threads = engine.threads, .communicator = nullptr});
  const auto run_together = [&] {
    word = go;
    ranks->broadcast(word);
    together.run();
  };
  const std::vector<std::vector<double>> times = measure_in_turn({run_together, [&] { alone.run(); }}, effort, [&] {
    together.finish();
    alone.finish();
  });
  word = enough;
  ranks->broadcast(word);
  return {.name = name,
          .ranks = ranks->ranks(),
          .threads = engine.threads,
          .together_ms = median(times[0]),
          .alone_ms = median(times[1]),
          .speedup = median_of_ratios(times[1], times[0])};
}

std::string json_line(const RanksResult& result) {
  const nlohmann::ordered_json line = {{"case", result.name},
                                       {"ranks", result.ranks},
                                       {"threads", result.threads},
                                       {"together_ms", rounded(result.together_ms)},
                                       {"alone_ms", rounded(result.alone_ms)},
                                       {"speedup", rounded(result.speedup)}};
  return line.dump();
}

}  // namespace throughtime::bench
