#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "interrupt.h"
#include "train/stream/run.h"

namespace throughtime {

/// Prints one line per row: the predictions of the targets in their order (csv), or an object (jsonl). Lines are handed
/// on when no row waits, so a partner at the other end of a pipe has its answer at once.
class StreamAnswers final : public StreamObserver {
 public:
  /// `format` empty: jsonl for rows of JSON, else csv.
  StreamAnswers(const std::string& format, const RunConfig& config);

  void on_row(const StreamRow& row, std::int64_t number, const std::vector<double>& prediction) override;
  void on_skipped(std::int64_t number, const std::string& why, bool worth_a_line) override;
  void on_news(const std::string& line) override;
  void on_begins_again(std::int64_t rows) override;
  void on_idle() override;
  bool wants_stop() override { return closed_ || InterruptWatch::signal() != 0; }
  bool takes_checkpoint_request() override { return CheckpointWatch::take_request(); }
  /// Nobody reads the output any more.
  bool closed() const { return closed_; }

 private:
  bool json_ = false;
  bool tagged_ = false;  // rows say which stream they belong to
  bool terminal_;        // somebody reads the answers there
  std::vector<std::string> targets_;
  fmt::memory_buffer text_;
  bool closed_ = false;
  InterruptWatch watch_;
};

/// Answers rows (`input` empty: stdin) with the model of a stream's run and learns nothing; the run stays as it is. A
/// stream that was never seen is reported and skipped, or ends it, as configured.
void predict_stream(const std::string& run, const std::string& input, const std::string& format,
                    const std::string& output);

}  // namespace throughtime
