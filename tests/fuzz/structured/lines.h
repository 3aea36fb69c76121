#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "data/tables/csv_records.h"
#include "support/scratch.h"
#include "train/predict/predictor.h"
#include "train/run/session.h"

namespace throughtime::fuzz {

inline constexpr int rounds = 400;

/// A text changed in one to four places: pieces that mean something to a reader of lines come in, others go.
inline std::string changed(std::string text, std::mt19937& random) {
  static const std::vector<std::string> pieces = {"[",    "]",       "{",     "}",  "\"",  "\"input\":", ",", ";",
                                                  "\n",   "nan",     "1e999", "-",  "a",   "b",          ":", "null",
                                                  "\xff", "\x1b[2J", " ",     "\r", "0x1", "1e-400"};
  for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes) {
    const std::size_t at = random() % (text.size() + 1), length = random() % 4;
    text.replace(at, std::min(length, text.size() - at), random() % 4 == 0 ? "" : pieces[random() % pieces.size()]);
  }
  return text;
}

/// A text of all that a table has to put in quotes.
inline std::string any_text(std::mt19937& random) {
  static const std::vector<std::string> pieces = {"\"", ",", "\n", "\r\n", "a", "\u00e4", " ", "", "1", "\\", "\t"};
  std::string text;
  for (std::size_t i = random() % 6; i > 0; --i) text += pieces[random() % pieces.size()];
  return text;
}

/// A number of any size that a 32-bit float holds.
inline double any_float(std::mt19937& random) {
  const double sign = random() % 2 == 0 ? 1 : -1;
  return static_cast<float>(
      sign * std::ldexp(1 + static_cast<double>(random()) / 5e9, static_cast<int>(random() % 250) - 125));
}

/// What our own reader of tables finds in a text.
inline std::vector<std::vector<std::string>> read_back(const std::string& table) {
  const auto stream = ByteStream::over(std::as_bytes(std::span(table)));
  CsvRecords records(*stream, ',');
  std::vector<std::vector<std::string>> rows;
  for (std::vector<std::string_view> fields; records.next(fields);) rows.emplace_back(fields.begin(), fields.end());
  return rows;
}

/// A model of one iteration, as `predict` has it.
class SmallModel {
 public:
  /// `config` reads its data from `room`.
  SmallModel(const testing::ScratchDirectory& room, RunConfig config) {
    config.model.hidden = {2};
    config.train.iterations = 1;
    config.train.batch = 1;
    config.run.threads = 1;
    config.run.directory = (room / "run").string();
    Observer silent;
    train_run(config, silent);
    config_ = config;
    trained_ = std::make_unique<TrainedModel>(room / "run", false);
    predictor_ = std::make_unique<Predictor>(*trained_);
  }
  const RunConfig& config() const { return config_; }
  Predictor& predictor() { return *predictor_; }

 private:
  RunConfig config_;
  std::unique_ptr<TrainedModel> trained_;
  std::unique_ptr<Predictor> predictor_;
};

}  // namespace throughtime::fuzz
