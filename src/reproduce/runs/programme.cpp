#include "reproduce/runs/programme.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace throughtime {
namespace {

/// Seconds as people count long work.
std::string core_hours_text(const ExpectedCost& cost) {
  if (std::isnan(cost.seconds)) return "";
  const double hours = cost.seconds / 3600;
  return fmt::format(", {}{:.{}f} core-hours", cost.measured ? "" : "~", hours, hours < 10 ? 1 : 0);
}

/// Why a result is not run; empty: it is.
std::string why_left_out(const ResultSpec& spec, Scale scale, const Costs& costs,
                         const std::filesystem::path& results) {
  if (spec.arms.empty()) return "cannot be run: " + spec.claims.front().missing;
  if (spec.decided(scale) > 0) return "";
  const auto claim =
      std::find_if(spec.claims.begin(), spec.claims.end(), [](const Claim& one) { return one.missing.empty(); });
  if (claim == spec.claims.end()) return "cannot be run: " + spec.claims.front().missing;
  return fmt::format("needs full scale{}: {}", core_hours_text(expected_cost(spec, Scale::full, costs, results)),
                     spec.needs_full_text(*claim));
}

}  // namespace

Programme programme_of(const std::vector<ResultSpec>& specs, Scale scale, const Costs& costs,
                       const std::filesystem::path& results) {
  Programme programme;
  std::vector<std::pair<double, const ResultSpec*>> run;
  for (const ResultSpec& spec : specs) {
    const std::string why = why_left_out(spec, scale, costs, results);
    if (why.empty())
      run.emplace_back(expected_cost(spec, scale, costs, results).seconds, &spec);
    else
      programme.left_out.push_back({spec.name, why});
  }
  constexpr double unknown = std::numeric_limits<double>::infinity();
  const auto known = [](double seconds) { return std::isnan(seconds) ? unknown : seconds; };
  std::stable_sort(run.begin(), run.end(),
                   [&](const auto& a, const auto& b) { return known(a.first) < known(b.first); });
  for (const auto& [seconds, spec] : run) {
    programme.results.push_back(*spec);
    programme.seconds.push_back(seconds);
    for (std::size_t i = 0; i < spec->claims.size() && scale == Scale::quick; ++i)
      if (const std::string why = spec->needs_full_text(spec->claims[i]);
          spec->claims[i].missing.empty() && !why.empty())
        programme.undecided.push_back({fmt::format("{}, claim {}", spec->name, i + 1), why});
  }
  return programme;
}

std::string left_text(const Programme& programme, std::size_t next, int cores) {
  double seconds = 0;
  std::size_t unknown = 0;
  for (std::size_t i = next; i < programme.seconds.size(); ++i) {
    unknown += std::isnan(programme.seconds[i]) ? 1 : 0;
    seconds += std::isnan(programme.seconds[i]) ? 0 : programme.seconds[i];
  }
  const std::string known =
      fmt::format("about {} left on {} core{}", time_text(seconds / cores), cores, cores == 1 ? "" : "s");
  if (unknown == 0) return known;
  return fmt::format("{}, and what {} result{} without an estimate take{}", known, unknown, unknown == 1 ? "" : "s",
                     unknown == 1 ? "s" : "");
}

}  // namespace throughtime
