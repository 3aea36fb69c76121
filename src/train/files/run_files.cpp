#include "train/files/run_files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "data/printable.h"
#include "throughtime/error.h"
#include "train/run/environment.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::uint64_t size_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
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
  file_.write(fmt::format("{:%Y-%m-%d %H:%M:%S} {}\n", fmt::localtime(std::time(nullptr)), printable(text)));
}

void RunLog::error(const std::exception& error) {
  try {
    line(error.what());
  } catch (const RunFailure&) {
  }
}

void begin_run(RunDirectory& directory, bool force, const RunConfig& config, const ModelInterface& interface,
               const RunPlan& plan, const std::function<void(const std::string& folder)>& save_task,
               const std::function<void()>& before_config) {
  directory.require_free(force);
  directory.lock();
  directory.clear();
  make_directory(directory.task());
  save_task(directory.task().string());
  interface.save(directory.task().string());
  replace_file(directory.environment(), environment_json(plan));
  if (before_config) before_config();
  replace_file(directory.config(), resolved_config(config));
}

RecordLengths load_state(const TensorFile& file, const std::function<void(Archive&)>& owner) {
  LoadingArchive archive(file);
  owner(archive);
  RecordLengths lengths;
  lengths.archive(archive);
  return lengths;
}

RunFiles::RunFiles(const RunDirectory& directory, const RunConfig& config, std::string position,
                   std::vector<std::string> columns, const RecordLengths& lengths)
    : directory_(directory),
      config_(config),
      position_(std::move(position)),
      columns_(std::move(columns)),
      metrics_(directory.metrics(), lengths.metrics),
      table_(directory.metrics_table(), lengths.table),
      events_(directory.events(), lengths.events) {
  columns_.insert(columns_.begin(), position_);
  if (lengths.table == 0) table_.write(fmt::format("{}\n", fmt::join(columns_, ",")));
  sync_directory(directory.path());  // a checkpoint that counts their bytes must find their names
}

void RunFiles::write_metrics(std::int64_t at, const MetricFields& fields) {
  directory_.require_in_place();
  Json object = {{position_, at}};
  std::vector<std::pair<std::string, double>> scalars;
  for (const MetricField& field : fields) {
    object[field.name] = field.count ? Json(static_cast<std::int64_t>(field.value)) : Json(field.value);
    scalars.emplace_back(field.name, field.value);
  }
  metrics_.write(object.dump() + "\n");
  std::vector<std::string> cells;
  for (const std::string& column : columns_)
    cells.push_back(object.contains(column) && !object[column].is_null() ? object[column].dump() : "");
  table_.write(fmt::format("{}\n", fmt::join(cells, ",")));
  events_.scalars(at, now(), scalars);
}

void RunFiles::save_checkpoint(std::int64_t at, const std::function<void(Archive&)>& owner, bool best,
                               const std::map<std::string, std::string>& more, Communicator* ranks) {
  metrics_.sync();
  table_.sync();
  events_.sync();
  TensorFile file;
  file.metadata = {
      {config_key, resolved_config(config_)}, {version_key, version()}, {iteration_key, fmt::format("{}", at)}};
  file.metadata.insert(more.begin(), more.end());
  SavingArchive archive(file);
  owner(archive);
  RecordLengths lengths{.metrics = metrics_.size(), .table = table_.size(), .events = events_.size()};
  lengths.archive(archive);
  on_first_rank(ranks, [&] {
    directory_.require_in_place();
    CheckpointStore checkpoints = directory_.checkpoints();
    checkpoints.save(file);
    if (best) checkpoints.mark_best();
  });
}

}  // namespace throughtime
