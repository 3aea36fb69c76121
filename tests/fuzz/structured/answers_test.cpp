// Names of any kind in answers about sequences and events and in the files of a report, read back.

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "fuzz/structured/lines.h"
#include "report/downloads.h"
#include "train/predict/forecast_cells.h"
#include "train/predict/sequence_answers.h"

namespace throughtime::fuzz {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// As a field of a table, always in quotes.
std::string in_quotes(const std::string& text) {
  std::string field = "\"";
  for (const char letter : text) field += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return field + '"';
}

const std::vector<std::string> wild_names = {"up, \"up\"", "two\nlines", "\u00e4;\\", "down"};

/// Sequences of two steps, one class after the other.
RunConfig sequences_run(const testing::ScratchDirectory& room) {
  std::string table = "id,x,label\n";
  for (int i = 0; i < 48; ++i)
    for (int step = 0; step < 2; ++step)
      table += fmt::format("{},{},{}\n", i, i % 4 + step, in_quotes(wild_names[elements(i % 4)]));
  RunConfig config;
  config.task.name = "sequences";
  config.task.sequences.files = {room.write("sequences.csv", table)};
  return config;
}

std::vector<double> any_shares(std::size_t count, std::mt19937& random) {
  std::vector<double> shares(count);
  for (double& share : shares) share = std::abs(any_float(random));
  return shares;
}

/// The names with their shares, the largest first; of equal ones the first.
std::vector<std::pair<std::string, double>> ranked(const std::vector<std::string>& names,
                                                   const std::vector<double>& shares) {
  std::vector<std::pair<std::string, double>> all;
  for (std::size_t i = 0; i < names.size(); ++i) all.emplace_back(names[i], shares[i]);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& one, const auto& other) { return one.second > other.second; });
  return all;
}

TEST(FuzzAnswers, AboutSequencesAreReadBack) {
  const testing::ScratchDirectory room;
  SmallModel model(room, sequences_run(room));
  const std::vector<std::string>& names = model.predictor().output_names();
  std::vector<std::string> sorted = wild_names;
  std::sort(sorted.begin(), sorted.end());
  ASSERT_EQ(names, sorted);
  std::mt19937 random(6);
  for (int round = 0; round < rounds; ++round) {
    const std::string id = any_text(random) + "i" + any_text(random);
    const std::vector<double> shares = any_shares(names.size(), random);
    const auto best = ranked(names, shares);
    const SequenceAnswers csv(model.predictor(), LineFormat::csv, 0), top(model.predictor(), LineFormat::csv, 2),
        json(model.predictor(), LineFormat::jsonl, 0);
    Rows rows = read_back(csv.header() + csv.line(id, shares));
    ASSERT_EQ(rows.size(), 2u);
    std::vector<std::string> head = {"id", "class"};
    head.insert(head.end(), names.begin(), names.end());
    EXPECT_EQ(rows[0], head);
    ASSERT_EQ(rows[1].size(), head.size());
    EXPECT_EQ(rows[1][0], id);
    EXPECT_EQ(rows[1][1], best[0].first);
    for (std::size_t i = 0; i < shares.size(); ++i) EXPECT_EQ(std::stod(rows[1][2 + i]), shares[i]);
    rows = read_back(top.header() + top.line(id, shares));
    ASSERT_EQ(rows.at(1).size(), 5u);
    EXPECT_EQ(rows[0], (std::vector<std::string>{"id", "class_1", "probability_1", "class_2", "probability_2"}));
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(rows[1][1 + 2 * i], best[i].first);
      EXPECT_EQ(std::stod(rows[1][2 + 2 * i]), best[i].second);
    }
    const std::string line = json.line(id, shares);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const nlohmann::json object = nlohmann::json::parse(line);
    EXPECT_EQ(object.at("id"), id);
    EXPECT_EQ(object.at("class"), best[0].first);
    for (const auto& [name, share] : best) EXPECT_EQ(object.at("probabilities").at(name).get<double>(), share);
  }
}

RunConfig events_run(const testing::ScratchDirectory& room) {
  std::string table = "time,mark\n";
  for (int i = 0; i < 80; ++i)
    table += fmt::format("{},{}\n", i + 0.5 * (i % 3), in_quotes(wild_names[elements(i % 4)]));
  RunConfig config;
  config.task.name = "point_process";
  config.task.point_process.files = {room.write("events.csv", table)};
  config.task.point_process.length = 10;
  config.task.point_process.scale = 0.1;
  return config;
}

/// The line that `predict` writes for an event: its time, the expected time of the next one, the mark and its share.
TEST(FuzzAnswers, AboutEventsAreReadBack) {
  const testing::ScratchDirectory room;
  SmallModel model(room, events_run(room));
  const std::vector<std::string>& names = model.predictor().output_names();
  const ForecastCells cells(model.config(), model.predictor().model(), model.predictor().names());
  const std::vector<std::string> head = {"time", "next_time", "next_mark", "probability"};
  const CellLines csv(head, AnswerFormat::csv), json(head, AnswerFormat::jsonl);
  std::mt19937 random(7);
  for (int round = 0; round < rounds; ++round) {
    const auto mark = static_cast<std::int32_t>(random() % wild_names.size());
    const double first = round == 0 ? 1 : 0, since = static_cast<double>(random() % 1000) / 50;
    const std::vector<double> numbers = model.predictor().step(mark, {first, since});
    const std::vector<Cell> next = cells.forecast(numbers);  // mark, share, interval
    const auto best = std::max_element(numbers.begin(), numbers.begin() + static_cast<Index>(wild_names.size()));
    const double time = any_float(random), interval = std::get<double>(next.at(2));
    EXPECT_EQ(std::get<std::string>(next[0]), names[elements(best - numbers.begin())]);
    EXPECT_GT(interval, 0);
    const std::vector<Cell> line = {time, time + interval, next[0], next[1]};
    const Rows rows = read_back(csv.header() + csv.line(line));
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0], head);
    ASSERT_EQ(rows[1].size(), 4u);
    EXPECT_EQ(std::stod(rows[1][0]), time);
    EXPECT_EQ(std::stod(rows[1][1]), time + interval);
    EXPECT_EQ(rows[1][2], std::get<std::string>(next[0]));
    EXPECT_EQ(std::stod(rows[1][3]), *best);
    const nlohmann::json object = nlohmann::json::parse(json.line(line));
    EXPECT_EQ(object.at("next_mark"), std::get<std::string>(next[0]));
    EXPECT_EQ(object.at("next_time").get<double>(), time + interval);
  }
}

/// A name as runs and curves have it: the words of a person, in one line.
std::string any_name(std::mt19937& random) {
  std::string name = "n";
  for (const char letter : any_text(random))
    if (letter != '\n' && letter != '\r' && letter != '\t') name += letter;
  return name;
}

TEST(FuzzDownloads, TheResultsOfRunsAreReadBack) {
  std::mt19937 random(8);
  for (int round = 0; round < rounds; ++round) {
    std::vector<RunGroup> groups(1 + random() % 3);
    Rows wanted = {{"group", "directory", "seed", "finished", "end", "metrics.test_mse"}};
    for (RunGroup& group : groups) {
      group.name = any_name(random);
      group.runs.resize(1 + random() % 3);
      for (RunRecord& run : group.runs) {
        run.directory = any_name(random) + "/" + any_name(random);
        run.seed = random();
        run.finished = random() % 2 == 0;
        const std::string end = any_name(random), error = fmt::format("{}", any_float(random));
        run.result.entries = {{"seed", "1"}, {"end", end}, {"metrics.test_mse", error}};
        wanted.push_back(
            {group.name, run.directory.string(), std::to_string(run.seed), run.finished ? "yes" : "no", end, error});
      }
    }
    EXPECT_EQ(read_back(csv_of(groups)), wanted);
  }
}

TEST(FuzzDownloads, TheCurvesOfAChartAreReadBack) {
  std::mt19937 random(9);
  const auto rounded = [](const std::string& field) {
    return field.empty() ? std::numeric_limits<double>::quiet_NaN() : std::stod(field);
  };
  for (int round = 0; round < rounds; ++round) {
    Chart chart;
    chart.curves.resize(1 + random() % 3);
    std::size_t lines = 1;
    for (Curve& curve : chart.curves) {
      curve.label = any_name(random);
      for (std::size_t points = random() % 5; points > 0; --points) {
        curve.x.push_back(any_float(random));
        curve.y.push_back(random() % 5 == 0 ? std::numeric_limits<double>::infinity() : any_float(random));
      }
      lines += curve.x.size();
    }
    chart.references = {{any_name(random), any_float(random)}};
    const Rows rows = read_back(csv_of(chart));
    ASSERT_EQ(rows.size(), lines + 1);
    EXPECT_EQ(rows[0], (std::vector<std::string>{"curve", "x", "y", "low", "high"}));
    std::size_t row = 1;
    for (const Curve& curve : chart.curves)
      for (std::size_t i = 0; i < curve.x.size(); ++i, ++row) {
        ASSERT_EQ(rows[row].size(), 5u);
        EXPECT_EQ(rows[row][0], curve.label);
        EXPECT_NEAR(rounded(rows[row][1]), curve.x[i], 1e-8 * std::abs(curve.x[i]));
        if (std::isfinite(curve.y[i])) {
          EXPECT_NEAR(rounded(rows[row][2]), curve.y[i], 1e-8 * std::abs(curve.y[i]));
        } else {
          EXPECT_EQ(rows[row][2], "") << "a gap";
        }
      }
    EXPECT_EQ(rows.back()[0], chart.references[0].label);
  }
}

}  // namespace
}  // namespace throughtime::fuzz
