#include "train/run/recorder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "throughtime/error.h"
#include "train/run/environment.h"
#include "train/run/result_file.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::uint64_t size_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

bool saves_after(const IterationEnd& end, const RunConfig& config) {
  const std::int64_t every = config.run.checkpoint_every;
  return end.last || end.improved || (every > 0 && end.iteration % every == 0);
}

}  // namespace

void RecordLengths::archive(Archive& archive) {
  const Archive::Scope scope(archive, "record");
  archive.integer("metrics_bytes", metrics);
  archive.integer("table_bytes", table);
  archive.integer("events_bytes", events);
}

RunLog::RunLog(const std::filesystem::path& path) : file_(path, size_of(path)) {}

void RunLog::line(const std::string& text) {
  file_.write(fmt::format("{:%Y-%m-%d %H:%M:%S} {}\n", fmt::localtime(std::time(nullptr)), text));
}

Recorder::Recorder(const RunDirectory& directory, Trainer& trainer, const RecordLengths& lengths, RunLog& log)
    : directory_(directory),
      trainer_(trainer),
      log_(log),
      columns_(columns()),
      metrics_(directory.metrics(), lengths.metrics),
      table_(directory.metrics_table(), lengths.table),
      events_(directory.events(), lengths.events) {
  if (lengths.table == 0) table_.write(fmt::format("{}\n", fmt::join(columns_, ",")));
}

std::vector<std::string> Recorder::columns() const {
  std::vector<std::string> names = {"iteration",           "epoch", "train_loss", "train_accuracy", "cumulative_loss",
                                    "cumulative_accuracy", "rate"};
  for (const Diagnostic& diagnostic : trainer_.diagnostics()) names.push_back(diagnostic.name);
  for (const char* split : {"validation", "test", "best_test"}) {
    names.push_back(fmt::format("{}_loss", split));
    for (const Metric metric : trainer_.task().metrics())
      names.push_back(fmt::format("{}_{}", split, metric_name(metric)));
  }
  names.insert(names.end(), {"seconds", "steps_per_second"});
  return names;
}

/// One JSON object, one row of the table and one event; each in a single write, so that a reader sees whole lines.
void Recorder::write(std::int64_t iteration, const Fields& fields) {
  Json object = {{"iteration", iteration}};
  for (const auto& [name, value] : fields) object[name] = value;
  metrics_.write(object.dump() + "\n");

  std::vector<std::string> cells;
  for (const std::string& column : columns_)
    cells.push_back(object.contains(column) && !object[column].is_null() ? object[column].dump() : "");
  table_.write(fmt::format("{}\n", fmt::join(cells, ",")));
  events_.scalars(iteration, now(), fields);
}

void Recorder::on_start(const RunPlan& plan, std::int64_t iteration) {
  log_.line(fmt::format("throughtime {} ({}): {} at iteration {} of {}", version(), commit(),
                        iteration == 0 ? "starts" : "goes on", iteration, plan.iterations));
}

void Recorder::on_progress(const Progress& progress) {
  Fields fields = {{"epoch", progress.epoch}, {"train_loss", progress.train_loss}};
  if (progress.train_accuracy) fields.emplace_back("train_accuracy", *progress.train_accuracy);
  fields.emplace_back("cumulative_loss", progress.cumulative_loss);
  if (progress.cumulative_accuracy) fields.emplace_back("cumulative_accuracy", *progress.cumulative_accuracy);
  fields.emplace_back("rate", progress.rate);
  for (const Diagnostic& diagnostic : progress.diagnostics) fields.emplace_back(diagnostic.name, diagnostic.value);
  fields.emplace_back("seconds", progress.seconds);
  fields.emplace_back("steps_per_second", progress.steps_per_second);
  write(progress.iteration, fields);
}

void Recorder::on_validation(const Evaluation& evaluation) {
  write(evaluation.iteration, named_scores("validation", evaluation));
  log_.line(fmt::format("iteration {}: validation loss {}", evaluation.iteration, evaluation.loss));
}

void Recorder::on_iteration(const IterationEnd& end) {
  if (saves_after(end, trainer_.config())) save_checkpoint(end.improved);
}

void Recorder::on_end(const RunResult& result) {
  if (result.test) {
    Fields fields = named_scores("test", *result.test);
    if (result.best_test)
      for (const auto& field : named_scores("best_test", *result.best_test)) fields.push_back(field);
    write(result.iteration, fields);
  }
  replace_file(directory_.result(), result_json(result, directory_.path().string()) + "\n");
  log_.line(fmt::format("{} at iteration {} after {:.1f} s of training; peak memory {} bytes", name_of(result.end),
                        result.iteration, result.seconds, peak_memory_bytes()));
}

void Recorder::save_checkpoint(bool best) {
  metrics_.sync();
  table_.sync();
  events_.sync();
  TensorFile file;
  file.metadata = {{config_key, resolved_config(trainer_.config())},
                   {version_key, version()},
                   {iteration_key, fmt::format("{}", trainer_.iteration())}};
  SavingArchive archive(file);
  trainer_.archive(archive);
  RecordLengths lengths{.metrics = metrics_.size(), .table = table_.size(), .events = events_.size()};
  lengths.archive(archive);
  on_first_rank(trainer_.ranks(), [&] {
    CheckpointStore checkpoints = directory_.checkpoints();
    checkpoints.save(file);
    if (best) checkpoints.mark_best();
  });
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
