#include "narrator.h"
#include "terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

namespace throughtime {
namespace {

constexpr int lines_of_trial = 5;  // a comparison has many of them

}  // namespace

void Narrator::on_start(const RunPlan& plan, std::int64_t iteration) {
  plan_ = plan;
  tell("{}: {}, {} steps, batch {}; {} baseline {} {:.4f} ({})\n", plan.name, plan.task, plan.steps, plan.batch,
       plan.baseline_split, plan.metric, plan.baseline, plan.baseline_text);
  const std::string ranks = plan.ranks > 1 ? fmt::format("{} ranks, each ", plan.ranks) : "";
  tell("  {}, {} parameters; engine {}, {}{} thread{}\n", plan.cell, plan.parameters, plan.engine, ranks, plan.threads,
       plan.threads == 1 ? "" : "s");
  tell("  {}, tape {}; evaluation {}\n", plan.learner, bytes_text(plan.activation_bytes),
       bytes_text(plan.evaluation_bytes));
  for (const std::string& note : plan.notes) tell("  {}\n", note);
  tell("  {}{}\n", directory_, iteration == 0 ? "" : fmt::format(", goes on at iteration {}", iteration));
}

void Narrator::on_progress(const Progress& progress) {
  bar_.show({plan_.name, progress.iteration, plan_.iterations, progress.train_loss, progress.seconds});
}

/// So few lines are read; metrics.jsonl has every validation.
void Narrator::on_validation(const Evaluation& evaluation) {
  const std::int64_t part = lines_ * evaluation.iteration / std::max<std::int64_t>(plan_.iterations, 1);
  if (std::exchange(told_part_, part) == part) return;
  bar_.clear();
  const BestBy best_by(plan_.best_by);
  const bool other = !best_by.is_loss() && best_by.name() != plan_.metric;
  tell("  iteration {}: validation {} {:.5f}{}\n", evaluation.iteration, plan_.metric, evaluation.metric,
       other ? fmt::format(", {} {:.5f}", best_by.name(), best_by.score(evaluation)) : "");
}

void Narrator::on_averaging(std::int64_t iteration) {
  tell("  iteration {}: validation has stopped improving; from here on the average of the weights is evaluated\n",
       iteration);
}

void Narrator::on_end(const RunResult& result) {
  bar_.clear();
  const std::string when = result.end == RunEnd::stopped_early
                               ? fmt::format("stopped early at iteration {} after", result.iteration)
                               : "done in";
  std::string test = result.test ? fmt::format(": test {} {:.5f}", plan_.metric, chosen_test(result)->metric) : "";
  if (result.best_test)
    test += fmt::format(" (best validation{}, iteration {}); last weights {:.5f}",
                        BestBy(plan_.best_by).is_loss() ? "" : " " + plan_.best_by, result.best_validation->iteration,
                        result.test->metric);
  tell("  {} {}{}\n", when, result.seconds < 10 ? seconds_text(result.seconds) + " s" : duration_text(result.seconds),
       test);
  warn_of_end(result);
}

void warn_of_end(const RunResult& result) {
  for (const std::string& warning : {divergence(result), unchosen(result)})
    if (!warning.empty()) tell("throughtime: warning: {}\n", warning);
}

void throw_if_interrupted(const RunResult& result, const std::string& directory) {
  if (result.end != RunEnd::interrupted) return;
  throw Interrupted(fmt::format("stopped at iteration {} of {}; go on with: throughtime train --resume {}",
                                result.iteration, result.plan.iterations, directory),
                    InterruptWatch::signal() != 0 ? InterruptWatch::signal() : SIGTERM);  // another rank's signal
}

Outcome run_narrated_trial(const RunConfig& config, bool test, bool quiet, const std::string& command) {
  const std::unique_ptr<Observer> observer =
      quiet ? std::make_unique<StopWatch>()
            : std::unique_ptr<Observer>(new Narrator(run_directory(config), lines_of_trial));
  Outcome outcome = run_trial(config, *observer, test);
  if (outcome.interrupted)
    throw Interrupted(
        fmt::format("stopped in {}; the same `throughtime {}` command goes on from there", outcome.run, command),
        InterruptWatch::signal());
  if (!outcome.failure.empty() && !quiet) tell("  failed: {}\n", outcome.failure);
  return outcome;
}

}  // namespace throughtime
