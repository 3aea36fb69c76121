#include "train/options/option_tables.h"

namespace throughtime {
namespace {

Names stream_format_names() { return {"csv", "jsonl", "raw"}; }
Names on_error_names() { return {"skip", "stop"}; }

}  // namespace

void add_stream_options(std::vector<Option>& table) {
  table.insert(
      table.end(),
      {
          {"stream.format",
           FIELD(std::string, stream.format),
           "throughtime stream: CSV, JSON lines or raw little-endian float32 (task.channels numbers a row)",
           {},
           stream_format_names},
          {"stream.id", FIELD(std::string, stream.id),
           "column that says which stream a row belongs to; empty: there is one stream"},
          {"stream.slots", FIELD(int, stream.slots),
           "streams at once; a new one takes the slot of the one that has been silent longest", between(1, 65536)},
          {"stream.difference", FIELD(bool, stream.difference),
           "the model predicts how much a target changes over the horizon, not what it becomes"},
          {"stream.scale_rows", FIELD(std::int64_t, stream.scale_rows),
           "task.standardise: rows after which means and deviations stay as they are; 0: they go on", at_least(0)},
          {"stream.on_error",
           FIELD(std::string, stream.on_error),
           "a row that cannot be read is reported and skipped, or ends the run",
           {},
           on_error_names},
          {"stream.rolling", FIELD(int, stream.rolling), "rows of the rolling error", between(1, 1e6)},
          {"stream.metrics_every", FIELD(std::int64_t, stream.metrics_every), "rows between lines of metrics.jsonl",
           at_least(1)},
          {"stream.checkpoint_seconds", FIELD(double, stream.checkpoint_seconds),
           "seconds between checkpoints; 0: only at the end and at signals", at_least(0)},
      });
}

}  // namespace throughtime
