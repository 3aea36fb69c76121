// The lines that a model is asked with, changed at random, and all that is written as an answer, read back.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "data/arrays/npy.h"
#include "data/arrays/wav.h"
#include "data/tables/csv_records.h"
#include "support/scratch.h"
#include "throughtime/error.h"
#include "train/predict/answer_writer.h"
#include "train/predict/forecast_cells.h"
#include "train/run/session.h"

namespace throughtime::fuzz {
namespace {

constexpr int rounds = 400;

/// A run on a recording with the columns a and b.
RunConfig series_run(const testing::ScratchDirectory& room) {
  std::string table = "a,b\n";
  for (int t = 0; t < 60; ++t) table += fmt::format("{},{}\n", t % 7, t % 5);
  RunConfig config;
  config.task.name = "series";
  config.task.series.path = room.write("table.csv", table);
  config.task.series.length = 10;
  config.model.hidden = {2};
  config.train.iterations = 1;
  config.train.batch = 1;
  config.run.threads = 1;
  config.run.directory = (room / "run").string();
  return config;
}

std::string changed(std::string text, std::mt19937& random) {
  static const std::vector<std::string> pieces = {"[",    "]",       "{",     "}",  "\"",  "\"input\":", ",", ";",
                                                  "\n",   "nan",     "1e999", "-",  "a",   "b",          ":", "null",
                                                  "\xff", "\x1b[2J", " ",     "\r", "0x1", "1e-400"};
  for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes) {
    const std::size_t at = random() % (text.size() + 1), length = random() % 4;
    text.replace(at, std::min(length, text.size() - at), random() % 4 == 0 ? "" : pieces[random() % pieces.size()]);
  }
  return text;
}

TEST(FuzzLines, AreAnsweredOrRefusedInOneLine) {
  const testing::ScratchDirectory room;
  Observer silent;
  train_run(series_run(room), silent);
  TrainedModel trained(room / "run", false);
  Predictor predictor(trained);
  std::mt19937 random(1);
  int answered = 0, refused = 0;
  for (int round = 0; round < rounds; ++round) {
    const bool json = random() % 2 == 0;
    const std::string text =
        changed(json ? "[1, 2]\n{\"input\": [3, 4]}\n[5.5, -6e1]\n" : "b,x,a\n1,word,2\n3,,4.5\n", random);
    const LineFormat format = json ? LineFormat::jsonl : LineFormat::csv;
    StepReader reader(predictor, {.format = format});
    const AnswerWriter writer(predictor, format, 0);
    std::istringstream lines(text);
    try {
      for (std::string line; std::getline(lines, line);) {
        Step step;
        if (line.empty() || !reader.read(line, step)) continue;
        const std::vector<double> answer = predictor.step(step.token, step.reals);
        ASSERT_EQ(answer.size(), 2u);
        EXPECT_EQ(writer.line(answer).find('\n'), writer.line(answer).size() - 1);
        ++answered;
      }
    } catch (const InvalidInput& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(answered, rounds / 4);
  EXPECT_GT(refused, rounds / 4);
}

/// A number of any size that a 32-bit float holds.
double any_float(std::mt19937& random) {
  const double sign = random() % 2 == 0 ? 1 : -1;
  return static_cast<float>(
      sign * std::ldexp(1 + static_cast<double>(random()) / 5e9, static_cast<int>(random() % 250) - 125));
}

TEST(FuzzWriters, ArraysAndAudioAreReadBack) {
  const testing::ScratchDirectory room;
  std::mt19937 random(2);
  for (int round = 0; round < rounds; ++round) {
    const std::size_t width = 1 + random() % 4, rows = 1 + random() % 40;
    std::vector<double> values(width * rows);
    for (double& value : values) value = any_float(random);
    const std::vector<float> wanted(values.begin(), values.end());
    for (const AnswerFormat format : {AnswerFormat::npy, AnswerFormat::wav}) {
      const std::filesystem::path path = room / std::string(name_of(format));
      {
        OutputFile file(path);
        const auto length = random() % 2 == 0 ? std::optional<std::uint64_t>(rows) : std::nullopt;
        NumberFile numbers(format, file, width, 8000, length);
        for (std::size_t row = 0; row < rows; ++row) numbers.add(std::span(values).subspan(row * width, width));
        numbers.finish();
      }
      if (format == AnswerFormat::npy) {
        const NumberArray array = read_npy(path.string());
        EXPECT_EQ(array.values, wanted);
        EXPECT_EQ(array.shape.front(), rows);
      } else {
        const Audio audio = read_wav(path.string());
        EXPECT_EQ(audio.samples, wanted);
        EXPECT_EQ(audio.channels, static_cast<int>(width));
      }
    }
  }
}

TEST(FuzzWriters, LinesAreReadBack) {
  std::mt19937 random(3);
  const auto any_text = [&] {
    static const std::vector<std::string> pieces = {"\"", ",", "\n", "\r\n", "a", "\u00e4", " ", "", "1", "\\", "\t"};
    std::string text;
    for (std::size_t i = random() % 6; i > 0; --i) text += pieces[random() % pieces.size()];
    return text;
  };
  for (int round = 0; round < rounds; ++round) {
    const std::vector<std::string> names = {"n" + any_text(), "m" + any_text(), "text"};
    const std::vector<Cell> cells = {any_float(random), any_float(random), any_text()};
    const CellLines csv(names, AnswerFormat::csv), json(names, AnswerFormat::jsonl);
    const std::string table = csv.header() + csv.line(cells);
    const auto stream = ByteStream::over(std::as_bytes(std::span(table)));
    CsvRecords records(*stream, ',');
    std::vector<std::string_view> fields;
    ASSERT_TRUE(records.next(fields)) << table;
    EXPECT_EQ(std::vector<std::string>(fields.begin(), fields.end()), names);
    ASSERT_TRUE(records.next(fields)) << table;
    ASSERT_EQ(fields.size(), 3u) << table;
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(std::stod(std::string(fields[i])), std::get<double>(cells[i]));
    EXPECT_EQ(fields[2], std::get<std::string>(cells[2]));
    const std::string line = json.line(cells);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const nlohmann::json object = nlohmann::json::parse(line);
    EXPECT_EQ(object.at("text"), std::get<std::string>(cells[2]));
    EXPECT_EQ(object.at(names[1]).get<double>(), std::get<double>(cells[1]));
  }
}

}  // namespace
}  // namespace throughtime::fuzz
