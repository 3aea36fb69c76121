#include "study/trials.h"

#include <fmt/format.h>

#include <cmath>

#include "core/files.h"
#include "report/findings.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "train/files/result_file.h"
#include "train/run/session.h"

namespace throughtime {
namespace {

Outcome read_outcome(const RunDirectory& directory) {
  const ResultFile result = read_result_file(directory.result());
  const auto count = [&](const char* key) {
    const double number = result.number(key);
    if (!std::isfinite(number))
      refuse("trials", "{} is no result of a run: it has no {}", directory.result().string(), key);
    return static_cast<std::int64_t>(number);
  };
  Outcome outcome;
  outcome.run = directory.path().string();
  outcome.metric = result.text("metric");
  outcome.iterations = count("iterations");
  outcome.updates = static_cast<double>(count("updates"));
  outcome.seconds = result.number("seconds");
  outcome.activation_bytes = elements(count("activation_bytes"));
  outcome.train_loss = result.number("train_loss");
  const double best = result.number("best.iteration");
  outcome.best_iteration = std::isfinite(best) ? static_cast<std::int64_t>(best) : outcome.iterations;
  outcome.validation_loss = result.number("best.validation_loss");
  const std::string best_by = result.text("best.by");
  outcome.validation_score = result.number("best.validation_" + (best_by.empty() ? BestBy::loss : best_by));
  outcome.validation_metric = result.number("best.validation_" + outcome.metric);
  outcome.test_loss = result.chosen_test("loss");
  outcome.test_metric = result.chosen_test(outcome.metric);
  outcome.last_test_metric = result.number("metrics.test_" + outcome.metric);
  outcome.baseline = naive_of(result, "test_" + outcome.metric);
  outcome.skill = skill_of(outcome.test_metric, outcome.baseline, is_error(outcome.metric));
  return outcome;
}

}  // namespace

void require_same_run(const RunConfig& config) {
  const RunDirectory directory(run_directory(config));
  if (!directory.is_run()) return;
  RunConfig same = parse_config(read_file(directory.config()), directory.config().string());
  same.run.threads = config.run.threads;  // their number decides nothing
  if (resolved_config(same) != resolved_config(config))
    refuse("trials", "{} holds a run of another configuration; remove it, or choose another run.directory",
           directory.path().string());
}

Outcome run_trial(const RunConfig& config, Observer& observer, bool test) {
  const RunDirectory directory(run_directory(config));
  Outcome failed{.run = directory.path().string()};
  try {
    require_same_run(config);
    if (directory.is_finished()) return read_outcome(directory);
    const std::string threads = fmt::format("run.threads={}", config.run.threads);
    const RunResult result = directory.is_run() ? resume_run(directory.path(), {threads}, observer, false, test)
                                                : train_run(config, observer, false, test);
    if (result.end != RunEnd::interrupted) return read_outcome(directory);
    failed.interrupted = true;
    failed.failure = "interrupted";
  } catch (const DeviceFailure&) {
    throw;  // no answer of this run, and the others on that device cannot go on either
  } catch (const RunFailure& failure) {
    failed.failure = failure.what();
  }
  return failed;
}

void check_new_run(const RunConfig& config) {
  if (!RunDirectory(run_directory(config)).is_run()) check_run(config);
}

}  // namespace throughtime
