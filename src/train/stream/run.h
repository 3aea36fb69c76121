#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/tables/row_feed.h"
#include "train/files/run_files.h"
#include "train/stream/forecaster.h"

namespace throughtime {

/// What the owner of a stream sees and decides while it runs.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  /// One answer per row of the input, in order; that of a row that ends a stream is NaN.
  virtual void on_row(const StreamRow& row, std::int64_t number, const std::vector<double>& prediction) = 0;
  /// A row could not be read and was skipped; of many only some are `worth_a_line`.
  virtual void on_skipped(std::int64_t number, const std::string& why, bool worth_a_line) = 0;
  /// Forecasts have been worse than the last value for long, or no longer are.
  virtual void on_news(const std::string& line) { (void)line; }
  /// The input was replaced and is read from its front.
  virtual void on_begins_again(std::int64_t rows) { (void)rows; }
  /// No row is waiting: whoever reads the answers should have them now.
  virtual void on_idle() {}
  virtual bool wants_stop() { return false; }
  /// True once for each request.
  virtual bool takes_checkpoint_request() { return false; }
};

enum class StreamEnd { input, stopped };

/// A run that learns from a live stream: its files, its checkpoints, and where it stands.
class StreamRun {
 public:
  /// A new run. Without a directory of its own (run.directory) it takes the first free one of runs/NAME, NAME-2, ...
  /// `from`: a run whose best weights it begins with, and whose scales where they are of the same columns.
  StreamRun(RunConfig config, bool force, const std::filesystem::path& from = {});
  /// Goes on with a run, bit for bit. Not `learns`: answers only, and changes nothing in the directory.
  StreamRun(const std::filesystem::path& directory, const std::vector<std::string>& overrides, bool previous,
            bool learns = true);

  /// Takes rows until the input ends or the observer wants to stop. Of an input that is given from its front again
  /// (`from_front`) the rows that were taken before are passed over. What was learned is saved, however it ends.
  StreamEnd run(RowFeed& feed, bool from_front, StreamObserver& observer);

  const std::filesystem::path& directory() const { return directory_->path(); }
  const RunConfig& config() const { return config_; }
  StreamForecaster& forecaster() { return *forecaster_; }
  double seconds() const { return seconds_; }
  /// One line of JSON about the whole run.
  std::string summary_json() const;

 private:
  using Clock = std::chrono::steady_clock;
  /// What begins with the weights of another run can go on from there, whatever happens before its first row.
  void begin_from(const Origin& origin, const FirstScales& scales);
  void open_files(const RecordLengths& lengths);
  void write_columns() const;
  /// Of the rows since the last call.
  MetricFields metrics();
  void archive(Archive& archive);
  StreamEnd take_all(RowFeed& feed, StreamObserver& observer);
  void begin_again(RecordCutter& cutter, StreamObserver& observer);
  void take_record(std::string_view record, bool overlong, StreamObserver& observer);
  void tell_news(StreamObserver& observer);
  void skip(const std::string& why, StreamObserver& observer);
  std::int64_t row_number() const { return forecaster_->counts().rows - rows_before_; }
  void look_at_clock(StreamObserver& observer);
  void keep_time();
  void save_checkpoint();
  void write_metrics();
  void finish(StreamEnd end);

  RunConfig config_;
  bool learns_ = true;
  std::unique_ptr<RunDirectory> directory_;
  std::unique_ptr<StreamForecaster> forecaster_;
  RowParser parser_;
  std::unique_ptr<RunLog> log_;
  std::unique_ptr<RunFiles> files_;
  double seconds_ = 0;  // of all parts of the run
  Clock::time_point clock_;
  double saved_at_ = 0;             // seconds since some moment
  std::int64_t to_pass_ = 0;        // rows of the input that were taken before
  std::int64_t rows_of_files_ = 0;  // taken from files that another one replaced
  std::int64_t rows_before_ = 0;    // learned from before an input that is only answered: its rows count from 1
  bool first_record_ = true;
  std::string first_error_;
  StreamRow row_;
};

}  // namespace throughtime
