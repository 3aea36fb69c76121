// The lines that a model is asked with, changed at random, and all that is written as an answer, read back.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "data/arrays/npy.h"
#include "data/arrays/wav.h"
#include "fuzz/structured/lines.h"
#include "throughtime/error.h"
#include "train/predict/answer_writer.h"
#include "train/predict/forecast_cells.h"

namespace throughtime::fuzz {
namespace {

/// A run on a recording with the columns a and b.
RunConfig series_run(const testing::ScratchDirectory& room) {
  std::string table = "a,b\n";
  for (int t = 0; t < 60; ++t) table += fmt::format("{},{}\n", t % 7, t % 5);
  RunConfig config;
  config.task.name = "series";
  config.task.series.path = room.write("table.csv", table);
  config.task.series.length = 10;
  return config;
}

TEST(FuzzLines, AreAnsweredOrRefusedInOneLine) {
  const testing::ScratchDirectory room;
  SmallModel model(room, series_run(room));
  Predictor& predictor = model.predictor();
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

/// How a table for `predict` may be written.
struct TableForm {
  char delimiter = ',';
  HeaderLine header = HeaderLine::automatic;
  bool header_line = true;  // whether the first line names the columns
};

/// The columns of a table in their order, with a column of texts beside those that the model reads, or two.
std::vector<std::string> any_columns(const std::vector<std::string>& inputs, std::mt19937& random) {
  std::vector<std::string> columns = inputs;
  for (std::size_t i = random() % 3; i > 0; --i) columns.push_back(fmt::format("note {}", i));
  std::shuffle(columns.begin(), columns.end(), random);
  return columns;
}

/// A number as anybody may write it: in quotes, with spaces around it.
std::string written_number(double value, std::mt19937& random) {
  const std::string digits = fmt::format("{}", value);
  if (random() % 4 == 0) return '"' + digits + '"';
  return std::string(random() % 2, ' ') + digits + std::string(random() % 3, ' ');
}

std::string written_text(char delimiter, std::mt19937& random) {
  return random() % 2 == 0 ? "word" : fmt::format("\"a \"\"b\"\"{} c\"", delimiter);
}

/// A table of three rows is read as it was written, whatever its delimiter, its header and the order of its columns;
/// and damaged it is read or refused in one line.
void expect_tables_are_read(Predictor& predictor, bool numbered, std::mt19937& random) {
  const std::vector<std::string>& inputs = predictor.input_names();
  int answered = 0, refused = 0;
  for (int round = 0; round < rounds; ++round) {
    const bool named = random() % 2 == 0;
    const TableForm form{.delimiter = ",;\t|"[random() % 4],
                         .header = random() % 2 == 0 ? HeaderLine::automatic
                                   : named           ? HeaderLine::yes
                                                     : HeaderLine::no,
                         .header_line = named};
    // Without names columns are found by their numbers, as they stand in the file of the training: 0 and 1.
    std::vector<std::string> columns = named && !numbered ? any_columns(inputs, random) : inputs;
    if (numbered) columns = {"left", "right", "note 1"};
    const LineOptions options{
        .format = LineFormat::csv, .delimiter = form.delimiter, .header = form.header, .numbered = numbered};
    std::string text;
    for (std::size_t i = 0; named && i < columns.size(); ++i)
      text += (i > 0 ? std::string(1, form.delimiter) : "") + columns[i];
    if (named) text += "\n";
    std::vector<std::vector<double>> wanted;
    for (int row = 0; row < 3; ++row) {
      std::vector<double> values(inputs.size());
      for (double& value : values) value = any_float(random);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto place = std::find(inputs.begin(), inputs.end(), numbered ? std::to_string(i) : columns[i]);
        text += (i > 0 ? std::string(1, form.delimiter) : "") +
                (place == inputs.end() ? written_text(form.delimiter, random)
                                       : written_number(values[elements(place - inputs.begin())], random));
      }
      text += "\n";
      wanted.push_back(values);
    }
    const auto read_all = [&](const std::string& table) {
      StepReader reader(predictor, options);
      std::vector<std::vector<double>> steps;
      std::istringstream lines(table);
      for (std::string line; std::getline(lines, line);) {
        Step step;
        if (!line.empty() && reader.read(line, step)) steps.push_back(step.reals);
      }
      return steps;
    };
    EXPECT_EQ(read_all(text), wanted) << text;
    try {
      for (const std::vector<double>& step : read_all(changed(text, random))) {
        EXPECT_EQ(step.size(), inputs.size());
        for (const double value : step) EXPECT_TRUE(std::isfinite(value));
      }
      ++answered;
    } catch (const InvalidInput& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(answered, rounds / 20);
  EXPECT_GT(refused, rounds / 20);
}

TEST(FuzzTables, AreReadByTheirNamesWhateverTheirForm) {
  const testing::ScratchDirectory room;
  SmallModel model(room, series_run(room));
  std::mt19937 random(4);
  expect_tables_are_read(model.predictor(), false, random);
}

TEST(FuzzTables, AreReadByTheNumbersOfTheirColumns) {
  const testing::ScratchDirectory room;
  RunConfig config = series_run(room);
  config.task.series.inputs = {"1", "0"};
  SmallModel model(room, config);
  std::mt19937 random(5);
  expect_tables_are_read(model.predictor(), true, random);
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
  for (int round = 0; round < rounds; ++round) {
    const std::vector<std::string> names = {"n" + any_text(random), "m" + any_text(random), "text"};
    const std::vector<Cell> cells = {any_float(random), any_float(random), any_text(random)};
    const CellLines csv(names, AnswerFormat::csv), json(names, AnswerFormat::jsonl);
    const std::string table = csv.header() + csv.line(cells);
    const std::vector<std::vector<std::string>> rows = read_back(table);
    ASSERT_EQ(rows.size(), 2u) << table;
    EXPECT_EQ(rows[0], names);
    ASSERT_EQ(rows[1].size(), 3u) << table;
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(std::stod(rows[1][i]), std::get<double>(cells[i]));
    EXPECT_EQ(rows[1][2], std::get<std::string>(cells[2]));
    const std::string line = json.line(cells);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const nlohmann::json object = nlohmann::json::parse(line);
    EXPECT_EQ(object.at("text"), std::get<std::string>(cells[2]));
    EXPECT_EQ(object.at(names[1]).get<double>(), std::get<double>(cells[1]));
  }
}

}  // namespace
}  // namespace throughtime::fuzz
