#include "reproduce/runs/dynamic_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "core/files.h"
#include "throughtime/error.h"
#include "train/evaluate/dynamic_comparison.h"
#include "train/files/result_file.h"
#include "train/run/session.h"

namespace throughtime {
namespace {

/// Thrown through an evaluation that is to end.
struct Stopped {};

DynamicRequest request_of(const DynamicSettings& settings) {
  return {.tune = true,
          .rates = settings.rates,
          .decays = settings.decays,
          .config = {.segment = settings.segment, .columns = settings.columns}};
}

/// The text of dynamic.json.
std::string evaluated(const EvaluationRequest& request, const DynamicRequest& dynamic,
                      const std::function<bool()>& wants_stop) {
  const auto look = [&] {
    if (wants_stop()) throw Stopped();
  };
  const DynamicListener listener{.collected = [&](const GradientStatistics&) { look(); },
                                 .tried = [&](const DynamicTrial&) { look(); }};
  try {
    return comparison_json(request, compare_dynamically(request, dynamic, listener));
  } catch (const DeviceFailure&) {
    throw;
  } catch (const RunFailure& failure) {
    return nlohmann::json{{"failure", failure.what()}}.dump();
  }
}

bool evaluate(const RunConfig& config, const DynamicSettings& settings, const std::function<bool()>& wants_stop) {
  const RunDirectory directory(run_directory(config));
  const std::string run = directory.path().string();
  if (directory.checkpoints().empty())
    refuse("reproduce",
           "{} ended without a dynamic evaluation, and its weights are gone; remove it, and the same command trains it "
           "again",
           run);
  const EvaluationRequest request{.run = run,
                                  .best = takes_best(run, Checkpoint::chosen),
                                  .overrides = {fmt::format("run.threads={}", config.run.threads)}};
  try {
    replace_file(directory.dynamic(), evaluated(request, request_of(settings), wants_stop) + "\n");
    return true;
  } catch (const Stopped&) {
    return false;
  }
}

}  // namespace

std::vector<std::string> dynamic_arms(const ResultSpec& spec, Scale scale) {
  std::set<std::string> wanted;
  const auto add = [&](const Measure& measure, const std::vector<std::string>& arms) {
    if (measure.how == MeasureHow::dynamic) wanted.insert(arms.begin(), arms.end());
  };
  for (const Claim& claim : spec.claims) {
    if (scale == Scale::quick && !spec.needs_full_text(claim).empty()) continue;
    if (claim.missing.empty()) add(claim.measure, claim.shown_arms());
    for (const Rule& rule : claim.rules) add(rule.measure, rule.named_arms());
  }
  return {wanted.begin(), wanted.end()};
}

FurtherWork dynamic_work(const Undertaking& task) {
  const std::vector<std::string> arms = dynamic_arms(task.spec, task.scale);
  std::set<std::string> runs;
  for (const Part& part : task.parts)
    if (std::find(arms.begin(), arms.end(), part.arm) != arms.end()) runs.insert(run_directory(part.config));
  return {.done =
              [runs](const RunConfig& config) {
                const std::string run = run_directory(config);
                return !runs.contains(run) || std::filesystem::exists(RunDirectory(run).dynamic());
              },
          .work = [settings = task.spec.dynamic](
                      const RunConfig& config,
                      const std::function<bool()>& wants_stop) { return evaluate(config, settings, wants_stop); }};
}

double dynamic_number(const std::filesystem::path& run, const std::string& metric) {
  const std::filesystem::path path = RunDirectory(run).dynamic();
  if (!std::filesystem::exists(path)) return std::numeric_limits<double>::quiet_NaN();
  return read_result_file(path).number(metric);
}

}  // namespace throughtime
