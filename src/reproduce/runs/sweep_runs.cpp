#include "reproduce/runs/sweep_runs.h"

#include <fmt/format.h>

#include <limits>

namespace throughtime {
namespace {

/// The runs of one point of an arm, with the seeds that choose.
void add_point(const ResultSpec& spec, const ReproduceRequest& request, const ConfigFile& file, const std::string& arm,
               const SweepPoint& point, std::size_t number, std::vector<Part>& parts) {
  std::vector<std::string> overrides = request.circumstances();
  overrides.insert(overrides.end(), point.begin(), point.end());
  const RunConfig config = file.config(arm, overrides);
  for (int seed = 0; seed < spec.sweep.seeds; ++seed) {
    Part& part = parts.emplace_back(Part{arm, config});
    part.config.train.seed = static_cast<std::uint64_t>(spec.sweep.first_seed + seed);
    place(part, fmt::format("sweep/{}/point-{}", arm, number + 1), request.directory_of(spec), request.known_runs());
  }
}

}  // namespace

SweepRuns undertake_sweep(const ResultSpec& spec, const ReproduceRequest& request) {
  SweepRuns runs;
  if (spec.sweep.empty() || request.scale == Scale::quick) return runs;
  const ConfigFile file(spec.file.string());
  for (const std::string& arm : chosen_arms(spec, request)) {
    const std::vector<SweepPoint> points = sweep_points(spec.sweep, file.config(arm, request.circumstances()));
    runs.points[arm] = points;
    for (std::size_t point = 0; point < points.size() && points.size() > 1; ++point)
      add_point(spec, request, file, arm, points[point], point, runs.parts);
  }
  runs.jobs = share_cores(runs.parts, request.jobs);
  return runs;
}

SweepChoices choose(const ResultSpec& spec, const SweepRuns& runs, const std::vector<JobEnd>& ends,
                    const KnownRuns& known) {
  const auto value_of = [&](std::size_t part) {
    if (!ends[part].failure.empty()) return std::numeric_limits<double>::quiet_NaN();
    known.remember(runs.parts[part].config);
    return measure_run(spec.sweep.measure, read_run(runs.parts[part].config.run.directory));
  };
  SweepChoices choices;
  std::size_t next = 0;
  for (const auto& [arm, points] : runs.points) choices[arm] = points.front();
  while (next < runs.parts.size()) {
    const std::string& arm = runs.parts[next].arm;
    const std::vector<SweepPoint>& points = runs.points.at(arm);
    std::vector<std::vector<double>> values(points.size());
    for (std::vector<double>& of_point : values)
      for (int seed = 0; seed < spec.sweep.seeds; ++seed, ++next) of_point.push_back(value_of(next));
    choices[arm] = points[best_point(spec.sweep, values)];
  }
  return choices;
}

}  // namespace throughtime
