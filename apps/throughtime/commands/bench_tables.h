#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/batches.h"
#include "bench/case.h"
#include "bench/online_case.h"
#include "bench/python_case.h"
#include "bench/ranks_case.h"
#include "bench/report.h"

// What `throughtime bench` prints, for the width of the terminal.
namespace throughtime {

/// A dash where there is no number.
std::string time_text(std::optional<double> milliseconds);
std::string ratio_text(std::optional<double> ratio);
std::string rate_text(std::optional<double> per_second);

std::string table_text(const std::vector<bench::CaseResult>& results, const EngineConfig& engine);
/// The map of those cells: a grid for each rival, or for oneDNN's place where there is none.
std::string map_text(const std::vector<bench::CaseResult>& results, const std::vector<std::string>& cells,
                     const std::vector<bench::Rival>& rivals);
/// For each case the times at each number of threads, of ours and of what stands beside it, one below the other.
std::string thread_table_text(const std::vector<bench::CaseResult>& results, const std::vector<int>& counts);
/// What each method asks for to learn from one sequence, and the bytes of its tape against BPTT's.
std::string costs_text();
/// Speed and latency of learning one observation at a time.
std::string table_text(const std::vector<bench::OnlineResult>& results);
std::string table_text(const std::vector<bench::BatchResult>& results);
std::string table_text(const std::vector<bench::RanksResult>& results);
std::string table_text(const bench::PythonResult& result);

}  // namespace throughtime
