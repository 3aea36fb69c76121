#include "train/stream/run.h"

#include <fmt/ranges.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/files.h"
#include "throughtime/error.h"
#include "train/run/environment.h"
#include "train/run/trained_model.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* speaker = "stream";
constexpr int wait_milliseconds = 100;     // at most, before clocks and signals are looked at again
constexpr const char* rows_name = "rows";  // of the stream, not those that a learner counts
constexpr const char* rows_of_files_key = "throughtime.rows_of_replaced_files";

/// Of a stream without a directory of its own: the first one that nobody works in and where nothing was learned, which
/// a run without a checkpoint has not. It is locked, so that two streams that begin together do not both take it.
std::unique_ptr<RunDirectory> free_directory(const RunConfig& config, bool force) {
  const std::string first = run_directory(config);
  if (force || !config.run.directory.empty()) return std::make_unique<RunDirectory>(first);
  for (int i = 1;; ++i) {
    auto directory = std::make_unique<RunDirectory>(i == 1 ? first : fmt::format("{}-{}", first, i));
    if (directory->checkpoints().empty() && directory->try_lock() && directory->checkpoints().empty()) return directory;
  }
}

/// What an error says, without the speaker in front.
std::string without_speaker(std::string_view text) {
  const std::size_t end = text.find("] ");
  return std::string(text.starts_with('[') && end != std::string_view::npos ? text.substr(end + 2) : text);
}

/// By a clock that is some milliseconds late and can be asked at every row: it costs a fraction of the exact one.
double seconds_now() {
#ifdef CLOCK_MONOTONIC_COARSE
  constexpr clockid_t clock = CLOCK_MONOTONIC_COARSE;
#else
  constexpr clockid_t clock = CLOCK_MONOTONIC;
#endif
  struct timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The first ones, then fewer and fewer: an endless stream of bad rows must not fill a disk.
bool worth_a_line(std::int64_t count) {
  while (count > 20 && count % 10 == 0) count /= 10;
  return count <= 20;
}

}  // namespace

StreamRun::StreamRun(RunConfig config, bool force, const std::filesystem::path& from)
    : config_(std::move(config)), parser_(row_layout(config_)) {
  std::optional<Origin> origin;
  if (!from.empty()) origin.emplace(from, speaker);
  const FirstScales scales = origin ? first_scales(*origin, from, config_) : FirstScales();
  forecaster_ = std::make_unique<StreamForecaster>(config_, origin ? origin->first() : FirstParameters(), scales);
  directory_ = free_directory(config_, force);
  const Engine& engine = forecaster_->engine();
  const bool free = config_.run.directory.empty() && directory_->is_run();  // it has learned nothing yet
  begin_run(
      *directory_, force || free, config_, ModelInterface(engine.model().config()),
      {.engine = std::string(engine.name()), .threads = engine.threads()}, [&](const std::string&) { write_columns(); },
      [&] {
        if (origin) begin_from(*origin, scales);
      });
  if (!files_) open_files({});
  log_->line(fmt::format("throughtime {} ({}): starts a stream", version(), commit()));
}

void StreamRun::begin_from(const Origin& origin, const FirstScales& scales) {
  const auto begin = [](const std::vector<FirstScale>& first) {
    return first.empty() ? "begin anew" : "are those of that run";
  };
  open_files({});
  log_->line(origin.text());
  if (config_.task.series.standardise)
    log_->line(
        fmt::format("the scales of inputs {}, those of targets {}", begin(scales.inputs), begin(scales.targets)));
  clock_ = Clock::now();
  save_checkpoint();
}

StreamRun::StreamRun(const std::filesystem::path& path, const std::vector<std::string>& overrides, bool previous,
                     bool learns)
    : learns_(learns), directory_(std::make_unique<RunDirectory>(path)), parser_(RowLayout{.inputs = {"y"}}) {
  config_ = directory_->load_config(overrides, "stream");
  if (!directory_->is_stream()) refuse(speaker, "{} is no run of throughtime stream", path.string());
  parser_ = RowParser(row_layout(config_));
  if (learns) directory_->lock();
  CheckpointStore checkpoints = directory_->checkpoints();
  if (previous) checkpoints.go_back();
  forecaster_ = std::make_unique<StreamForecaster>(config_);
  RecordLengths lengths;
  if (!checkpoints.empty()) {
    const TensorFile file = checkpoints.load();
    lengths = load_state(file, [this](Archive& archive) { this->archive(archive); });
    if (const auto rows = file.metadata.find(rows_of_files_key); rows != file.metadata.end())
      rows_of_files_ = std::clamp<std::int64_t>(std::atoll(rows->second.c_str()), 0, forecaster_->counts().rows);
    if (config_.stream.format == RowFormat::csv)
      parser_.set_columns(Json::parse(read_file(directory_->columns())).get<std::vector<std::string>>());
  }
  if (!learns) return;
  open_files(lengths);
  log_->line(fmt::format("throughtime {} ({}): goes on after row {}", version(), commit(), forecaster_->counts().rows));
}

void StreamRun::open_files(const RecordLengths& lengths) {
  log_ = std::make_unique<RunLog>(directory_->log());
  std::vector<std::string> columns = {"rolling_mse", "mse",     "naive_rolling_mse", "naive_mse", "loss",
                                      "updates",     "skipped", "streams",           "worse_rows"};
  for (const Diagnostic& diagnostic : forecaster_->online().diagnostics())
    if (diagnostic.name != rows_name) columns.push_back(diagnostic.name);
  columns.emplace_back("seconds");
  files_ = std::make_unique<RunFiles>(*directory_, config_, rows_name, std::move(columns), lengths);
  std::filesystem::remove(directory_->result());
}

StreamEnd StreamRun::run(RowFeed& feed, bool from_front, StreamObserver& observer) {
  to_pass_ = from_front ? forecaster_->counts().rows - rows_of_files_ : 0;
  rows_before_ = learns_ ? 0 : forecaster_->counts().rows;
  first_record_ = true;
  clock_ = Clock::now();
  saved_at_ = seconds_now();
  try {
    const StreamEnd end = take_all(feed, observer);
    if (learns_) finish(end);
    return end;
  } catch (const InvalidInput& error) {  // the input is broken, the weights are not
    observer.on_idle();
    if (learns_) log_->line(error.what());
    if (learns_ && forecaster_->counts().rows > 0) save_checkpoint();
    throw;
  } catch (const std::exception& error) {  // the last checkpoint is the last good one
    observer.on_idle();
    if (learns_) log_->error(error);
    throw;
  }
}

StreamEnd StreamRun::take_all(RowFeed& feed, StreamObserver& observer) {
  RecordCutter cutter(parser_.block());
  std::string_view record;
  bool overlong = false;
  while (true) {
    while (cutter.next(record, overlong)) {
      take_record(record, overlong, observer);
      if (observer.wants_stop()) return StreamEnd::stopped;
      if (learns_) look_at_clock(observer);
    }
    RowFeed::State state = feed.read(cutter.bytes(), 0);
    if (state == RowFeed::State::nothing_yet) {
      observer.on_idle();
      state = feed.read(cutter.bytes(), wait_milliseconds);
    }
    if (observer.wants_stop()) return StreamEnd::stopped;
    if (state == RowFeed::State::end) break;
    if (state == RowFeed::State::begins_again) begin_again(cutter, observer);
    if (learns_) look_at_clock(observer);
  }
  if (!cutter.rest().empty())
    skip(parser_.block() > 0
             ? fmt::format("the input ends after {} of its {} bytes", cutter.rest().size(), parser_.block())
             : "the input ends within the line: it has no newline",
         observer);
  observer.on_idle();
  return StreamEnd::input;
}

/// Another file has taken the place of the one that was read, perhaps with a header of its own.
void StreamRun::begin_again(RecordCutter& cutter, StreamObserver& observer) {
  if (!cutter.rest().empty()) skip("the file was replaced within the row", observer);
  cutter = RecordCutter(parser_.block());
  first_record_ = true;
  to_pass_ = 0;
  rows_of_files_ = forecaster_->counts().rows;
  if (learns_) log_->line(fmt::format("the input was replaced or cut short after row {}", row_number()));
  observer.on_begins_again(row_number());
}

void StreamRun::take_record(std::string_view record, bool overlong, StreamObserver& observer) {
  if (record.empty() && parser_.block() == 0) return;
  if (std::exchange(first_record_, false)) {
    const bool header = parser_.take_header(record);
    if (learns_) write_columns();
    if (header) return;
  }
  if (to_pass_ > 0) {
    --to_pass_;
    return;
  }
  if (overlong) return skip(fmt::format("the line is longer than {} bytes", RecordCutter::longest_line), observer);
  try {
    parser_.parse(record, row_);
    const std::vector<double>& prediction = learns_ ? forecaster_->take(row_) : forecaster_->predict(row_);
    observer.on_row(row_, row_number(), prediction);
  } catch (const InvalidInput& error) {
    return skip(without_speaker(error.what()), observer);
  }
  tell_news(observer);
  if (learns_ && forecaster_->counts().rows % config_.stream.metrics_every == 0) write_metrics();
}

void StreamRun::tell_news(StreamObserver& observer) {
  const NaiveWatch::News news = forecaster_->news();
  if (!learns_ || news == NaiveWatch::News::none) return;
  const NaiveWatch& watch = forecaster_->watch();
  const std::string line =
      news == NaiveWatch::News::better
          ? fmt::format("after row {} forecasts are no longer worse than the last value", row_number())
          : fmt::format(
                "after row {} the last {} forecasts have a mean squared error of {:.4g}, the last value {:.4g}{}",
                row_number(), watch.worse(), watch.error(), watch.naive(),
                config_.stream.difference || config_.task.series.horizon.front() == 0
                    ? "; try a lower optimizer.rate"
                    : "; try stream.difference=true, or a lower optimizer.rate");
  log_->line(line);
  observer.on_news(line);
}

void StreamRun::skip(const std::string& why, StreamObserver& observer) {
  forecaster_->count_skipped();
  const StreamCounts& counts = forecaster_->counts();
  const std::string line = fmt::format("row {}: {}", row_number(), why);
  if (first_error_.empty()) first_error_ = line;
  if (config_.stream.on_error == OnError::stop)
    refuse(speaker, "{}; what was learned before it is in {}", line, directory().string());
  if (learns_ && worth_a_line(counts.skipped)) log_->line(line);
  observer.on_skipped(row_number(), why, worth_a_line(counts.skipped));
  if (learns_ && counts.rows % config_.stream.metrics_every == 0) write_metrics();
}

void StreamRun::look_at_clock(StreamObserver& observer) {
  const bool due =
      config_.stream.checkpoint_seconds > 0 && seconds_now() - saved_at_ > config_.stream.checkpoint_seconds;
  if (observer.takes_checkpoint_request() || due) save_checkpoint();
}

void StreamRun::keep_time() {
  forecaster_->engine().finish();
  const Clock::time_point now = Clock::now();
  seconds_ += std::chrono::duration<double>(now - clock_).count();
  clock_ = now;
}

void StreamRun::write_columns() const { replace_file(directory_->columns(), Json(parser_.columns()).dump() + "\n"); }

MetricFields StreamRun::metrics() {
  const StreamCounts& counts = forecaster_->counts();
  MetricFields fields = {{"rolling_mse", forecaster_->error().rolling()},
                         {"mse", forecaster_->error().cumulative()},
                         {"naive_rolling_mse", forecaster_->naive().rolling()},
                         {"naive_mse", forecaster_->naive().cumulative()},
                         {"loss", forecaster_->online().take_mean_loss()},
                         {"updates", static_cast<double>(forecaster_->online().updates()), true},
                         {"skipped", static_cast<double>(counts.skipped), true},
                         {"streams", static_cast<double>(counts.streams), true},
                         {"worse_rows", static_cast<double>(forecaster_->watch().worse()), true}};
  for (const Diagnostic& diagnostic : forecaster_->online().diagnostics())
    if (diagnostic.name != rows_name) fields.push_back({diagnostic.name, diagnostic.value});
  fields.push_back({"seconds", seconds_});
  return fields;
}

void StreamRun::write_metrics() {
  keep_time();
  files_->write_metrics(forecaster_->counts().rows, metrics());
}

void StreamRun::archive(Archive& archive) {
  forecaster_->archive(archive);
  archive.number("stream.seconds", seconds_, at_least(0));
}

void StreamRun::save_checkpoint() {
  keep_time();
  files_->save_checkpoint(forecaster_->counts().rows, [this](Archive& archive) { this->archive(archive); }, false,
                          {{rows_of_files_key, fmt::format("{}", rows_of_files_)}});
  saved_at_ = seconds_now();
}

void StreamRun::finish(StreamEnd end) {
  const StreamCounts& counts = forecaster_->counts();
  log_->line(fmt::format("{} after row {}", end == StreamEnd::input ? "the input ended" : "stopped", counts.rows));
  save_checkpoint();
  if (end == StreamEnd::input) replace_file(directory_->result(), summary_json() + "\n");
  if (end == StreamEnd::input && counts.rows > 0 && counts.skipped == counts.rows)
    refuse(speaker, "none of the {} rows could be read; {}", counts.rows, first_error_);
}

std::string StreamRun::summary_json() const {
  const StreamCounts& counts = forecaster_->counts();
  const Json line = {{"name", config_.run.name},
                     {"task", "stream"},
                     {"learner", config_.learner.name},
                     {"cell", fmt::format("{}", fmt::join(config_.model.cell, " + "))},
                     {"rows", counts.rows},
                     {"skipped", counts.skipped},
                     {"streams", counts.streams},
                     {"slots_taken", counts.taken},
                     {"predicted", forecaster_->error().count()},
                     {"mse", forecaster_->error().cumulative()},
                     {"rolling_mse", forecaster_->error().rolling()},
                     {"naive_mse", forecaster_->naive().cumulative()},
                     {"naive_rolling_mse", forecaster_->naive().rolling()},
                     {"worse_rows", forecaster_->watch().worse()},
                     {"diverged", forecaster_->watch().diverged()},
                     {"iterations", counts.rows},  // from here on what reports look for in every run
                     {"metric", "mse"},
                     {"metrics", {{"test_mse", forecaster_->error().cumulative()}}},
                     {"baseline", forecaster_->naive().cumulative()},
                     {"updates", forecaster_->online().updates()},
                     {"seconds", seconds_},
                     {"peak_memory_bytes", peak_memory_bytes()},
                     {"run", directory().string()}};
  return line.dump();
}

}  // namespace throughtime
