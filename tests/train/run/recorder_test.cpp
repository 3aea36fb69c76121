#include "train/run/recorder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/scratch.h"
#include "train/run/session.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;
using testing::text_of;

RunConfig tiny(const std::filesystem::path& directory) {
  RunConfig config;
  config.task.add.length = 4;
  config.model.hidden = {4};
  config.train.iterations = 30;
  config.train.batch = 4;
  config.train.evaluate_every = 15;
  config.run.threads = 1;
  config.run.name = "tiny";
  config.run.directory = directory.string();
  return config;
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::istringstream text(text_of(path));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char letter : line)
    if (letter == ',')
      fields.emplace_back();
    else
      fields.back() += letter;
  return fields;
}

TEST(Recorder, WritesOneObjectPerLine) {
  const ScratchDirectory directory;
  Observer silent;
  const RunResult result = train_run(tiny(directory / "run"), silent);
  const std::vector<std::string> lines = lines_of(directory / "run/metrics.jsonl");
  ASSERT_EQ(lines.size(), 3u + 2u + 1u);  // reports, validations, the test
  const nlohmann::json first = nlohmann::json::parse(lines.front());
  for (const char* key : {"iteration", "epoch", "train_loss", "rate", "seconds", "steps_per_second"})
    EXPECT_TRUE(first.contains(key)) << key;
  const nlohmann::json last = nlohmann::json::parse(lines.back());
  EXPECT_EQ(last.at("iteration"), 30);
  EXPECT_EQ(last.at("test_loss"), result.test->loss);
  EXPECT_EQ(last.at("test_mse"), result.test->metric);
}

TEST(Recorder, TableSaysTheSameAsTheLines) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(tiny(directory / "run"), silent);
  const std::vector<std::string> lines = lines_of(directory / "run/metrics.jsonl");
  const std::vector<std::string> rows = lines_of(directory / "run/metrics.csv");
  ASSERT_EQ(rows.size(), lines.size() + 1);
  const std::vector<std::string> columns = fields_of(rows.front());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const nlohmann::json object = nlohmann::json::parse(lines[i]);
    const std::vector<std::string> fields = fields_of(rows[i + 1]);
    ASSERT_EQ(fields.size(), columns.size());
    std::size_t filled = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (fields[k].empty()) continue;
      ++filled;
      EXPECT_EQ(std::stod(fields[k]), object.at(columns[k]).get<double>());
    }
    EXPECT_EQ(filled, object.size());
  }
}

TEST(Recorder, LeavesWhatBelongsToARun) {
  const ScratchDirectory directory;
  Observer silent;
  const RunResult result = train_run(tiny(directory / "run"), silent);
  EXPECT_EQ(text_of(directory / "run/config.toml"), resolved_config(tiny(directory / "run")));
  const nlohmann::json environment = nlohmann::json::parse(text_of(directory / "run/environment.json"));
  for (const char* key : {"version", "commit", "processor", "instructions", "threads", "libraries"})
    EXPECT_TRUE(environment.contains(key)) << key;
  EXPECT_NE(environment.at("command").get<std::string>().find("test_train"), std::string::npos) << "this program";
  EXPECT_EQ(environment.at("started").get<std::string>().size(), std::string("2026-05-01 10:00:00").size());
  const nlohmann::json line = nlohmann::json::parse(text_of(directory / "run/result.json"));
  for (const char* key : {"task", "learner", "cell", "parameters", "iterations", "seconds", "activation_bytes",
                          "baseline_text", "metrics", "best", "run", "seed"})
    EXPECT_TRUE(line.contains(key)) << key;
  EXPECT_EQ(line.at("metrics").at("test_mse"), result.test->metric);
  EXPECT_EQ(line.at("best").at("validation_loss"), result.best_validation->loss);
  EXPECT_NE(text_of(directory / "run/log.txt").find("finished at iteration 30"), std::string::npos);
}

TEST(EventFile, ChecksumsAreCastagnoli) {
  const std::string text = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(text))), 0xE3069283u);
  EXPECT_EQ(crc32c({}), 0u);
}

/// The events of a file, after their checksums were compared.
std::vector<std::string> events_of(const std::filesystem::path& path) {
  const std::string text = text_of(path);
  const auto masked = [](const std::string& bytes) {
    const std::uint32_t crc = crc32c(std::as_bytes(std::span(bytes)));
    return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
  };
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, text.data() + at, 4);
    return value;
  };
  std::vector<std::string> events;
  for (std::size_t at = 0; at < text.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, text.data() + at, 8);
    EXPECT_EQ(word(at + 8), masked(text.substr(at, 8)));
    events.push_back(text.substr(at + 12, length));
    EXPECT_EQ(word(at + 12 + length), masked(events.back()));
    at += 16 + length;
  }
  return events;
}

TEST(EventFile, FramesHoldScalars) {
  const ScratchDirectory directory;
  EventFile(directory / "events", 0).scalars(300, 1.5, {{"loss", 0.25}});
  const std::vector<std::string> events = events_of(directory / "events");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].substr(9),
            "\x1a\x0d"
            "brain.Event:2");
  // wall_time = 1.5, step = 300, summary { value { tag = "loss", simple_value = 0.25 } }
  const std::string expected = std::string("\x09\0\0\0\0\0\0\xf8\x3f", 9) + "\x10\xac\x02" + "\x2a\x0d\x0a\x0b" +
                               "\x0a\x04loss" + std::string("\x15\0\0\x80\x3e", 5);
  EXPECT_EQ(events[1], expected);
}

TEST(EventFile, ARunsFileIsWhole) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(tiny(directory / "run"), silent);
  EXPECT_EQ(events_of(directory / "run/events.out.tfevents.throughtime").size(), 1u + 6u);
}

}  // namespace
}  // namespace throughtime
