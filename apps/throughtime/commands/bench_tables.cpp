#include "commands/bench_tables.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "bench/costs.h"
#include "terminal.h"

namespace throughtime {
namespace {

std::string percent_text(std::optional<double> share) { return share ? fmt::format("{:.1f} %", 100 * *share) : "-"; }

std::string peer_text(const std::optional<bench::PeerTime>& peer) {
  return time_text(peer ? std::optional(peer->milliseconds) : std::nullopt);
}

/// A column of the table of cases; one of a rival that was not measured is left out.
struct ResultColumn {
  Table::Column column;
  bool shown;
  std::function<std::string(const bench::CaseResult&)> text;
};

std::vector<ResultColumn> result_columns(const std::vector<bench::CaseResult>& results, const EngineConfig& engine) {
  using Result = bench::CaseResult;
  const bool onednn = std::ranges::any_of(results, [](const Result& result) { return result.onednn_ms.has_value(); });
  const bool ways = std::ranges::any_of(results, [](const Result& result) { return result.general_ms.has_value(); });
  const bool cpu = !results.empty() && results[0].time == bench::TimeOf::cpu;
  const std::string ours = fmt::format("ours {}ms ({}, {} threads)", cpu ? "cpu " : "", engine.name, engine.threads);
  return {{{"case", false}, true, [](const Result& result) { return result.name; }},
          {{ours}, true, [](const Result& result) { return time_text(result.ours_ms); }},
          {{"torch ms"}, true, [](const Result& result) { return peer_text(result.peer); }},
          {{"ratio"}, true, [](const Result& result) { return ratio_text(result.ratio()); }},
          {{"tuned ms"}, true, [](const Result& result) { return peer_text(result.tuned_peer); }},
          {{"ratio"}, true, [](const Result& result) { return ratio_text(result.tuned_ratio()); }},
          {{"oneDNN ms"}, onednn, [](const Result& result) { return time_text(result.onednn_ms); }},
          {{"ratio"}, onednn, [](const Result& result) { return ratio_text(result.onednn_ratio); }},
          {{"floor ms"}, true, [](const Result& result) { return time_text(result.floor_ms); }},
          {{"x floor"}, true, [](const Result& result) { return ratio_text(result.floor_ratio); }},
          {{"1 thread ms"}, true, [](const Result& result) { return time_text(result.ours_1_thread_ms); }},
          {{"oneDNN's"}, onednn, [](const Result& result) { return time_text(result.onednn_1_thread_ms); }},
          {{"ratio"}, onednn, [](const Result& result) { return ratio_text(result.onednn_1_thread_ratio); }},
          {{"scaling"}, true, [](const Result& result) { return ratio_text(result.scaling); }},
          {{"floor's"}, true, [](const Result& result) { return ratio_text(result.floor_scaling); }},
          {{"update"}, true, [](const Result& result) { return percent_text(result.update_share); }},
          {{"updates/s"}, true, [](const Result& result) { return rate_text(result.updates_per_second); }},
          {{"per cpu s"}, true, [](const Result& result) { return rate_text(result.updates_per_cpu_second); }},
          {{"general ms"}, ways, [](const Result& result) { return time_text(result.general_ms); }},
          {{"ratio"}, ways, [](const Result& result) { return ratio_text(result.general_ratio); }},
          {{"activations"}, true, [](const Result& result) { return bytes_text(result.activation_bytes); }}};
}

/// A grid of cells and units by rows: milliseconds of ours and of one rival, and how many times faster ours is.
std::string grid_text(const std::vector<bench::CaseResult>& results, const std::vector<std::string>& cells,
                      const std::string& rival,
                      const std::function<std::optional<double>(const bench::CaseResult&)>& its_ms) {
  std::vector<Table::Column> titles = {{"ours / " + rival + ", ms", false}};
  for (const int rows : bench::map_rows) titles.push_back({fmt::format("{} row{}", rows, rows == 1 ? "" : "s")});
  Table table(std::move(titles));
  auto result = results.begin();
  for (const std::string& cell : cells)
    for (const int units : bench::map_units) {
      std::vector<std::string> texts = {fmt::format("{} {}", cell, units)};
      for (std::size_t i = 0; i < bench::map_rows.size(); ++i, ++result) {
        const std::optional<double> its = its_ms(*result);
        const std::optional<double> ratio = its ? std::optional(*its / result->ours_ms) : std::nullopt;
        texts.push_back(fmt::format("{} / {} ({})", time_text(result->ours_ms), time_text(its), ratio_text(ratio)));
      }
      table.add_row(std::move(texts));
    }
  return table.text(style_of(STDOUT_FILENO));
}

}  // namespace

std::string time_text(std::optional<double> milliseconds) {
  return milliseconds ? fmt::format("{:.{}f}", *milliseconds, *milliseconds < 10 ? 3 : 1) : "-";
}

std::string ratio_text(std::optional<double> ratio) { return ratio ? fmt::format("{:.2f}", *ratio) : "-"; }

std::string rate_text(std::optional<double> per_second) {
  return per_second ? fmt::format("{:.0f}", *per_second) : "-";
}

std::string table_text(const std::vector<bench::CaseResult>& results, const EngineConfig& engine) {
  std::vector<ResultColumn> columns = result_columns(results, engine);
  std::erase_if(columns, [](const ResultColumn& column) { return !column.shown; });
  std::vector<Table::Column> titles;
  for (const ResultColumn& column : columns) titles.push_back(column.column);
  Table table(std::move(titles));
  for (const bench::CaseResult& result : results) {
    std::vector<std::string> cells;
    for (const ResultColumn& column : columns) cells.push_back(column.text(result));
    table.add_row(std::move(cells));
  }
  return table.text(style_of(STDOUT_FILENO));
}

std::string map_text(const std::vector<bench::CaseResult>& results, const std::vector<std::string>& cells,
                     const std::vector<bench::Rival>& rivals) {
  using Result = bench::CaseResult;
  const auto is_among = [&](bench::Rival rival) { return std::ranges::count(rivals, rival) > 0; };
  const auto tuned_torch = [](const Result& result) {
    return result.tuned_peer ? std::optional(result.tuned_peer->milliseconds) : std::nullopt;
  };
  std::string text;
  if (is_among(bench::Rival::onednn) || rivals.empty())
    text += grid_text(results, cells, "oneDNN", [](const Result& result) { return result.onednn_ms; });
  if (is_among(bench::Rival::torch)) text += grid_text(results, cells, "PyTorch tuned", tuned_torch);
  return text;
}

std::string thread_table_text(const std::vector<bench::CaseResult>& results, const std::vector<int>& counts) {
  using Result = bench::CaseResult;
  struct Line {
    const char* name;
    std::function<std::optional<double>(const Result&)> number;
    bool time;
  };
  const std::vector<Line> lines = {
      {"ours ms", [](const Result& result) { return std::optional(result.ours_ms); }, true},
      {"floor ms", [](const Result& result) { return result.floor_ms; }, true},
      {"ours / floor", [](const Result& result) { return result.floor_ratio; }, false},
      {"oneDNN ms", [](const Result& result) { return result.onednn_ms; }, true},
      {"oneDNN / ours", [](const Result& result) { return result.onednn_ratio; }, false},
      {"PyTorch / ours", [](const Result& result) { return result.ratio(); }, false},
      {"tuned / ours", [](const Result& result) { return result.tuned_ratio(); }, false}};
  std::vector<Table::Column> titles = {{"case", false}, {"by threads", false}};
  for (const int count : counts) titles.push_back({fmt::format("{}", count)});
  Table table(std::move(titles));
  for (std::size_t first = 0; first < results.size(); first += counts.size())
    for (const Line& line : lines) {
      if (!line.number(results[first])) continue;
      std::vector<std::string> texts = {results[first].name, line.name};
      for (std::size_t i = first; i < first + counts.size(); ++i)
        texts.push_back(line.time ? time_text(line.number(results[i])) : ratio_text(line.number(results[i])));
      table.add_row(std::move(texts));
    }
  return table.text(style_of(STDOUT_FILENO));
}

std::string costs_text() {
  Table table({{"method", false}, {"T"}, {"steps pulled back"}, {"gradients"}, {"updates"}, {"tape"}, {"of bptt's"}});
  for (const int steps : {200, 1000, 10000}) {
    const std::vector<bench::Costs> rows = bench::costs_of(steps);
    const auto of_bptt = static_cast<double>(rows.front().activation_bytes);
    for (const bench::Costs& row : rows)
      table.add_row({row.method, fmt::format("{}", row.steps), fmt::format("{}", row.gradient_steps),
                     fmt::format("{}", row.gradients), fmt::format("{}", row.updates), bytes_text(row.activation_bytes),
                     fmt::format("{:.4f}", static_cast<double>(row.activation_bytes) / of_bptt)});
  }
  return table.text(style_of(STDOUT_FILENO));
}

std::string table_text(const std::vector<bench::OnlineResult>& results) {
  Table table({{"case", false},
               {"clock", false},
               {"observations/s"},
               {"p50 us"},
               {"p99 us"},
               {"p99.9 us"},
               {"longest us"},
               {"general/s"},
               {"ratio"}});
  const auto add = [&](const std::string& name, const char* clock, double rate, const bench::Latency& latency,
                       std::optional<double> general = {}, std::optional<double> ratio = {}) {
    table.add_row({name, clock, fmt::format("{:.0f}", rate), fmt::format("{:.1f}", latency.p50),
                   fmt::format("{:.1f}", latency.p99), fmt::format("{:.1f}", latency.p999),
                   fmt::format("{:.0f}", latency.longest), rate_text(general), ratio_text(ratio)});
  };
  for (const bench::OnlineResult& result : results) {
    add(result.name, "wall", result.observations_per_second, result.latency);
    const bool both = result.general_ratio > 0;
    add(result.name, "cpu", result.observations_per_cpu_second, result.cpu_latency,
        both ? std::optional(result.general_per_cpu_second) : std::nullopt,
        both ? std::optional(result.general_ratio) : std::nullopt);
  }
  return table.text(style_of(STDOUT_FILENO));
}

std::string table_text(const std::vector<bench::BatchResult>& results) {
  Table table(
      {{"batch of 128 rows", false}, {"steps"}, {"made in ms"}, {"learned from in ms"}, {"share"}, {"", false}});
  for (const bench::BatchResult& result : results)
    table.add_row({result.name, fmt::format("{}", result.steps), time_text(result.make_ms),
                   time_text(result.iteration_ms), fmt::format("{:.2f} %", 100 * result.share),
                   result.share > bench::BatchResult::most ? "too slow" : ""});
  return table.text(style_of(STDOUT_FILENO));
}

std::string table_text(const std::vector<bench::RanksResult>& results) {
  Table table({{"case", false}, {"ranks"}, {"threads of each"}, {"together ms"}, {"alone ms"}, {"times faster"}});
  for (const bench::RanksResult& result : results)
    table.add_row({result.name, fmt::format("{}", result.ranks), fmt::format("{}", result.threads),
                   time_text(result.together_ms), time_text(result.alone_ms), fmt::format("{:.2f}", result.speedup)});
  return table.text(style_of(STDOUT_FILENO));
}

std::string table_text(const bench::PythonResult& result) {
  static const std::map<std::string, std::string> names = {{"cpp", "OnlineLearner, in C++"},
                                                           {"learn_many", "learn_many, all rows in one call"},
                                                           {"observe", "observe with arrays"},
                                                           {"pair", "predict_one and learn_one with dicts"},
                                                           {"torch", "the same loop in PyTorch"}};
  Table calls({{"call", false}, {"rows/s"}, {"rows/cpu s"}, {"of C++"}, {"times PyTorch"}});
  for (const bench::PythonCall& call : result.calls)
    calls.add_row({names.at(call.name), rate_text(call.rates.wall), rate_text(call.rates.cpu),
                   percent_text(call.of_cpp), ratio_text(result.times_torch(call))});
  static const std::map<std::string, std::string> parts = {{"whole", ""}, {"later", ", epochs after the first"}};
  Table training({{"training", false}, {"steps/s"}, {"steps/cpu s"}, {"of train"}});
  for (const bench::PythonTraining& part : result.trainings) {
    const std::string& text = parts.at(part.name);
    training.add_row({"fit" + text, rate_text(part.fit.wall), rate_text(part.fit.cpu), percent_text(part.of_train)});
    training.add_row(
        {"throughtime train" + text, rate_text(part.train.wall), rate_text(part.train.cpu), percent_text(1.0)});
  }
  Table import({{"beyond NumPy's", false}, {"ms"}, {"cpu ms"}});
  import.add_row({"import throughtime", time_text(result.import_ms), time_text(result.import_cpu_ms)});
  const Style style = style_of(STDOUT_FILENO);
  return calls.text(style) + "\n" + training.text(style) + "\n" + import.text(style);
}

}  // namespace throughtime
