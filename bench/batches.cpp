#include "bench/batches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bench/report.h"
#include "bench/workload.h"
#include "throughtime/error.h"

namespace throughtime::bench {
namespace {

constexpr int rows = 128;
constexpr std::uint64_t seed = 1;
constexpr const char* prefix = "batch-";

}  // namespace

const std::vector<BatchCase>& all_batch_cases() {
  static const std::vector<BatchCase> cases = {
      {"batch-add", {.name = "add", .add = {.length = 200}}},
      {"batch-add-stream", {.name = "add", .add = {.length = 200, .layout = {.stream = true}}}},
      {"batch-copy", {.name = "copy", .copy = {.length = 200}}},
      {"batch-recall", {.name = "recall", .recall = {.length = 100}}},
      {"batch-cycle_world", {.name = "cycle_world", .cycle_world = {.length = 100}}},
      {"batch-stochastic_world", {.name = "stochastic_world", .stochastic_world = {.length = 100}}},
      {"batch-recall-files", {.name = "recall", .recall = {.length = 100, .generator = RecallGenerator::files}}},
      {"batch-mnist-rows", {.name = "mnist", .mnist = {.order = PixelOrder::rows}}},
      {"batch-mnist-permuted", {.name = "mnist", .mnist = {.order = PixelOrder::permuted}}},
      {"batch-cifar10", {.name = "cifar10"}},
      {"batch-ptb", {.name = "text", .text = {.length = 100, .corpus = TextCorpus::ptb}}},
      {"batch-ptb-characters",
       {.name = "text", .text = {.length = 100, .corpus = TextCorpus::ptb, .unit = TextUnit::character}}},
      {"batch-wikitext-2", {.name = "text", .text = {.length = 100, .corpus = TextCorpus::wikitext_2}}},
      {"batch-point_process", {.name = "point_process", .point_process = {.length = 100}}},
      {"batch-text8",
       {.name = "text", .text = {.length = 100, .corpus = TextCorpus::text8, .unit = TextUnit::character}}},
  };
  return cases;
}

bool is_batch_case(const std::string& name) { return name.starts_with(prefix); }

const BatchCase& find_batch_case(const std::string& name) {
  std::vector<std::string> known;
  for (const BatchCase& each : all_batch_cases()) {
    if (each.name == name) return each;
    known.push_back(each.name);
  }
  refuse("bench", "unknown case {}; known: {}", name, fmt::join(known, ", "));
}

BatchResult run_batch_case(const BatchCase& chosen, const EngineConfig& engine, const Effort& effort) {
  const std::unique_ptr<Task> task = make_task(chosen.task, seed);
  Workload iteration(parse_case(fmt::format("bptt-lstm-b{}-h128-t{}", rows, task->steps())), engine);
  std::uint64_t next = 0;
  const auto times = measure_in_turn({[&] { task->make_batch(Split::train, next++, rows); }, [&] { iteration.run(); }},
                                     effort, [&] { iteration.finish(); });
  return {.name = chosen.name,
          .threads = engine.threads,
          .steps = task->steps(),
          .make_ms = median(times[0]),
          .iteration_ms = median(times[1]),
          .share = median_of_ratios(times[0], times[1])};
}

std::string json_line(const BatchResult& result) {
  const nlohmann::ordered_json line = {{"case", result.name},
                                       {"threads", result.threads},
                                       {"steps", result.steps},
                                       {"ours_ms", rounded(result.make_ms)},
                                       {"iteration_ms", rounded(result.iteration_ms)},
                                       {"share", rounded(result.share)}};
  return line.dump();
}

}  // namespace throughtime::bench
