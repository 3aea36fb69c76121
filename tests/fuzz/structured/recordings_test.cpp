// Recordings as `predict` reads them, written in any form and damaged, against the definition of their steps.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "fuzz/structured/lines.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "train/predict/series_steps.h"

namespace throughtime::fuzz {
namespace {

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();
const std::vector<std::string> names = {"a", "b", "known"};  // two columns of the step itself, one of later steps

using Recording = std::vector<std::vector<double>>;  // [rows, columns]

/// A few rows; many of the values are missing where some may be.
Recording any_rows(bool some_missing, std::mt19937& random) {
  Recording rows(random() % 9, std::vector<double>(names.size()));
  for (std::vector<double>& row : rows)
    for (double& value : row) value = some_missing && random() % 3 == 0 ? missing_value : any_float(random);
  return rows;
}

std::string written(const Recording& rows, std::mt19937& random) {
  std::string text = "known,\"a\",a text,b\n";
  const auto field = [](double value) { return std::isnan(value) ? std::string() : fmt::format("{}", value); };
  for (const std::vector<double>& row : rows)
    text += fmt::format("{},{},{},{}\n", field(row[2]), field(row[0]),
                        random() % 2 == 0 ? "word" : "\"two\nlines, and \"\"quotes\"\"\"", field(row[1]));
  return text;
}

/// What is missing is the last value before it, at the start the first one after it.
Recording held(Recording rows) {
  for (std::size_t column = 0; column < names.size(); ++column)
    for (std::size_t t = 0; t < rows.size(); ++t) {
      if (!std::isnan(rows[t][column])) continue;
      std::size_t from = t;
      while (from < rows.size() && std::isnan(rows[from][column])) ++from;
      rows[t][column] = t > 0 ? rows[t - 1][column] : from < rows.size() ? rows[from][column] : missing_value;
    }
  return rows;
}

/// a and b of each step, and `known` of later ones, for the steps that have all of these.
Recording steps_of(const Recording& rows, const std::vector<int>& ahead) {
  Recording steps;
  for (std::size_t t = 0; t + elements(ahead.back()) < rows.size(); ++t) {
    steps.push_back({rows[t][0], rows[t][1]});
    for (const int later : ahead) steps.back().push_back(rows[t + elements(later)][2]);
  }
  return steps;
}

bool has_nan(const Recording& rows) {
  return std::ranges::any_of(
      rows, [](const auto& row) { return std::ranges::any_of(row, [](double value) { return std::isnan(value); }); });
}

Recording read(const std::string& path, const SeriesLayout& layout) {
  SeriesSteps steps(csv_rows(layout.wanted, path, {.format = LineFormat::csv}), layout);
  Recording all;
  for (Step step;;) {
    const StepKind kind = steps.next(step);
    if (kind == StepKind::end) return all;
    if (kind == StepKind::step) all.push_back(step.reals);
  }
}

/// In one line, whatever the file holds.
void expect_one_line(const InvalidInput& error) {
  EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
}

TEST(FuzzRecordings, AreReadAsTrainingReadsThemOrRefusedInOneLine) {
  const testing::ScratchDirectory room;
  std::mt19937 random(6);
  int answered = 0, refused = 0;
  for (int round = 0; round < rounds; ++round) {
    const MissingValues missing = random() % 2 == 0 ? MissingValues::hold : MissingValues::refuse;
    SeriesLayout layout;
    layout.wanted.own = {"a", "b"};
    layout.wanted.own_count = 2;
    layout.wanted.known = {"known"};
    layout.ahead = std::vector<std::vector<int>>{{0}, {1}, {1, 3}, {2, 8}}[random() % 4];
    layout.missing = missing;

    const Recording rows = any_rows(missing == MissingValues::hold || random() % 4 == 0, random);
    const Recording wanted = steps_of(missing == MissingValues::hold ? held(rows) : rows, layout.ahead);
    const std::string text = written(rows, random);
    if (has_nan(wanted)) {
      EXPECT_THROW(read(room.write("whole.csv", text), layout), InvalidInput) << text;
    } else {
      EXPECT_EQ(read(room.write("whole.csv", text), layout), wanted) << text;
    }
    try {
      EXPECT_FALSE(has_nan(read(room.write("damaged.csv", changed(text, random)), layout)));
      ++answered;
    } catch (const InvalidInput& error) {
      expect_one_line(error);
      ++refused;
    }
  }
  EXPECT_GT(answered, rounds / 20);
  EXPECT_GT(refused, rounds / 20);
}

}  // namespace
}  // namespace throughtime::fuzz
