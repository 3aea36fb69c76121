#include "train/run/recorder.h"

#include <fmt/format.h>

#include "core/files.h"
#include "train/files/result_file.h"
#include "train/run/environment.h"

namespace throughtime {
namespace {

void add_scores(MetricFields& fields, const std::string& split, const Evaluation& evaluation) {
  for (const auto& [name, value] : named_scores(split, evaluation)) fields.push_back({name, value});
}

bool saves_after(const IterationEnd& end, const RunConfig& config) {
  const std::int64_t every = config.run.checkpoint_every;
  return end.last || end.improved || (every > 0 && end.iteration % every == 0);
}

/// Everything that a line of metrics may hold.
std::vector<std::string> columns_of(Trainer& trainer) {
  std::vector<std::string> names = {"epoch",           "train_loss",          "train_accuracy",
                                    "cumulative_loss", "cumulative_accuracy", "rate"};
  for (const Diagnostic& diagnostic : trainer.diagnostics()) names.push_back(diagnostic.name);
  for (const char* split : {"validation", "test", "best_test"}) {
    names.push_back(fmt::format("{}_loss", split));
    for (const Metric metric : trainer.evaluator().metrics())
      names.push_back(fmt::format("{}_{}", split, metric_name(metric)));
  }
  names.insert(names.end(), {"seconds", "steps_per_second"});
  return names;
}

}  // namespace

Recorder::Recorder(const RunDirectory& directory, Trainer& trainer, const RecordLengths& lengths, RunLog& log)
    : directory_(directory),
      trainer_(trainer),
      log_(log),
      files_(directory, trainer.config(), "iteration", columns_of(trainer), lengths) {}

void Recorder::on_start(const RunPlan& plan, std::int64_t iteration) {
  log_.line(fmt::format("throughtime {} ({}): {} at iteration {} of {}", version(), commit(),
                        iteration == 0 ? "starts" : "goes on", iteration, plan.iterations));
  for (const std::string& note : plan.notes) log_.line(note);
}

void Recorder::on_progress(const Progress& progress) {
  MetricFields fields = {{"epoch", progress.epoch}, {"train_loss", progress.train_loss}};
  if (progress.train_accuracy) fields.push_back({"train_accuracy", *progress.train_accuracy});
  fields.push_back({"cumulative_loss", progress.cumulative_loss});
  if (progress.cumulative_accuracy) fields.push_back({"cumulative_accuracy", *progress.cumulative_accuracy});
  fields.push_back({"rate", progress.rate});
  for (const Diagnostic& diagnostic : progress.diagnostics) fields.push_back({diagnostic.name, diagnostic.value});
  fields.push_back({"seconds", progress.seconds});
  fields.push_back({"steps_per_second", progress.steps_per_second});
  files_.write_metrics(progress.iteration, fields);
}

void Recorder::on_validation(const Evaluation& evaluation) {
  MetricFields fields;
  add_scores(fields, "validation", evaluation);
  files_.write_metrics(evaluation.iteration, fields);
  log_.line(fmt::format("iteration {}: validation loss {}", evaluation.iteration, evaluation.loss));
}

void Recorder::on_averaging(std::int64_t iteration) {
  log_.line(
      fmt::format("iteration {}: validation has stopped improving, the average of the weights begins", iteration));
}

void Recorder::on_iteration(const IterationEnd& end) {
  if (saves_after(end, trainer_.config())) save_checkpoint(end.improved, trainer_.ranks());
}

void Recorder::on_end(const RunResult& result) {
  if (result.test) {
    MetricFields fields;
    add_scores(fields, "test", *result.test);
    if (result.best_test) add_scores(fields, "best_test", *result.best_test);
    files_.write_metrics(result.iteration, fields);
  }
  directory_.require_in_place();
  replace_file(directory_.result(), result_json(result, directory_.path().string()) + "\n");
  log_.line(fmt::format("{} at iteration {} after {:.1f} s of training; peak memory {} bytes", name_of(result.end),
                        result.iteration, result.seconds, peak_memory_bytes()));
  for (const std::string& warning : {divergence(result), unchosen(result)})
    if (!warning.empty()) log_.line(warning);
}

void Recorder::save_checkpoint(bool best, Communicator* ranks) {
  files_.save_checkpoint(
      trainer_.iteration(), [this](Archive& archive) { trainer_.archive(archive); }, best, {}, ranks);
}

Follower::Follower(Trainer& trainer, Observer& other) : trainer_(trainer), other_(other) {
  trainer.diagnostics();  // the recorder asks for them: a learner may have to collect them from all ranks
}

void Follower::on_iteration(const IterationEnd& end) {
  if (!saves_after(end, trainer_.config())) return;
  TensorFile file;
  SavingArchive archive(file);
  trainer_.archive(archive);
  on_first_rank(trainer_.ranks(), [] {});
}

}  // namespace throughtime
