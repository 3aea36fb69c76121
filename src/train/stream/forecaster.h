#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/tables/row_parser.h"
#include "throughtime/online.h"
#include "train/options/config.h"
#include "train/stream/first_scales.h"
#include "train/stream/naive_watch.h"
#include "train/stream/prequential.h"
#include "train/stream/running_scales.h"

namespace throughtime {

/// Counts of what a stream has brought.
struct StreamCounts {
  std::int64_t rows = 0;     // read, the skipped ones included
  std::int64_t skipped = 0;  // could not be read
  std::int64_t streams = 0;  // that began
  std::int64_t taken = 0;    // slots that were taken from a stream that had not ended
};

/// Rows of numbers in, predictions in the units of the target columns out, learning as configured. One slot per stream;
/// a target `horizon` rows later is learned from when it is there.
class StreamForecaster {
 public:
  /// `first`: makes the first parameters from those that the seed gives; `scales`: where the scales of columns begin,
  /// each list as long as its columns, or empty.
  explicit StreamForecaster(const RunConfig& config, const FirstParameters& first = {}, const FirstScales& scales = {});

  /// The prediction for a row, made before anything is learned from it [targets]. Fails when it is no finite number.
  /// Refuses a row that no model could take, and is then as before it.
  const std::vector<double>& take(const StreamRow& row);
  /// The same without learning; refuses a stream that has no slot.
  const std::vector<double>& predict(const StreamRow& row);
  /// A row that could not be read counts too.
  void count_skipped();

  const StreamCounts& counts() const { return counts_; }
  const PrequentialMean& error() const { return error_; }  // squared, mean over the targets
  const PrequentialMean& naive() const { return naive_; }  // of the last value known when the prediction was made
  const NaiveWatch& watch() const { return watch_; }       // compares the two
  /// What the watch had to say after the last row.
  NaiveWatch::News news() const { return news_; }
  OnlineLearner& online() { return *online_; }
  Engine& engine() { return *engine_; }
  /// Rows that the stream of an id has brought; 0 where it has no slot.
  std::int64_t rows_of(const std::string& id) const;
  void archive(Archive& archive);

 private:
  /// What a prediction leaves behind until its target comes.
  struct Pending {
    std::vector<float> input;        // scaled
    std::vector<double> prediction;  // in the target's units
    std::vector<double> last;        // the last value known then
    bool has_last = false;
  };
  struct Stream {
    std::string id;
    bool open = false;
    std::int64_t rows = 0;
    std::int64_t last_row = 0;  // of the whole input
    std::vector<double> last;   // the last targets known
    bool has_last = false;
    std::vector<Pending> pending;  // [max(1, horizon)]: that of row r at r % size
  };

  static constexpr int nowhere = -1;

  void require_sound(const StreamRow& row) const;
  /// Where the stream of an id is, or `nowhere`.
  int find_slot(const std::string& id) const;
  Stream& slot_of(const StreamRow& row);
  void begin(int slot, const std::string& id);
  void end(int slot);
  /// A row's targets are known before its answer, and are what the model predicts: their scale is that of all rows
  /// seen, not of those alone that have been learned from.
  bool targets_are_seen(const StreamRow& row) const {
    return horizon_ > 0 && row.has_targets && !config_.stream.difference;
  }
  void remember(Stream& stream, const StreamRow& row);
  void answer(Stream& stream, int slot, const StreamRow& row, Pending& pending);
  void judge(const Pending& pending, const StreamRow& row);
  void learn(int slot, const Pending& pending, const StreamRow& row);
  template <class Action>
  static void for_numbers(Stream& stream, const Action& action);
  void archive_streams(Archive& archive);

  RunConfig config_;
  std::size_t horizon_;
  std::size_t inputs_, targets_;  // columns
  Model model_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<OnlineLearner> online_;
  RunningScales input_scales_, target_scales_;
  PrequentialMean error_, naive_;
  NaiveWatch watch_;
  NaiveWatch::News news_ = NaiveWatch::News::none;
  StreamCounts counts_;
  std::vector<Stream> streams_;  // [slots]
  std::unordered_map<std::string, int> slots_;
  mutable int found_ = 0;  // the slot that was found last
  Pending now_;            // of the row that is being taken
  std::vector<double> prediction_;
  std::vector<float> wanted_;  // room for a scaled target
};

/// The columns, format and horizon that the configuration names; refuses what cannot be streamed.
RowLayout row_layout(const RunConfig& config);

}  // namespace throughtime
