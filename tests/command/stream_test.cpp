#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::lines_in;
using testing::Outcome;
using testing::text_of;
using testing::write_text;

const char* const small =
    "[task]\nname = \"series\"\ninputs = [\"y\"]\n[model]\nhidden = 4\n[learner]\nname = \"tbptt\"\n"
    "preset = \"original\"\ntruncation = 3\n[optimizer]\nrate = 0.01\n[stream]\nmetrics_every = 10\n[run]\nthreads = 1\n";

std::string value(int t) { return std::to_string(std::sin(0.4 * t) + 0.01 * (t % 7)); }

/// A header and rows [first, last) of a wave.
std::string series(int first, int last, const std::string& header = "y\n") {
  std::string text = header;
  for (int t = first; t < last; ++t) text += value(t) + "\n";
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string metrics_without_times(const std::filesystem::path& run) {
  std::string text;
  for (const std::string& line : lines_of(text_of(run / "metrics.jsonl"))) {
    auto object = nlohmann::ordered_json::parse(line);
    object.erase("seconds");
    text += object.dump() + "\n";
  }
  return text;
}

class Stream : public testing::CommandTest {
 protected:
  void SetUp() override { config_file(small, "small"); }

  /// `throughtime stream ARGUMENTS` on a text as stdin, through a pipe.
  Outcome stream(const std::string& arguments, const std::string& text) const {
    write_text(path("input"), text);
    return shell("cat input | " + std::string(THROUGHTIME_COMMAND) + " stream " + arguments);
  }
};

TEST_F(Stream, AnswersEveryRowWithOneLine) {
  const Outcome outcome = stream("small.toml", series(0, 300));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<std::string> answers = lines_of(outcome.out);
  ASSERT_EQ(answers.size(), 300u);
  for (const std::string& answer : answers) EXPECT_TRUE(std::isfinite(std::stod(answer))) << answer;
  // It learns: late forecasts of the next value are closer than early ones.
  double early = 0, late = 0;
  for (int t = 0; t < 50; ++t) {
    early += std::abs(std::stod(answers[static_cast<std::size_t>(t)]) - std::stod(value(t + 1)));
    late += std::abs(std::stod(answers[static_cast<std::size_t>(t + 249)]) - std::stod(value(t + 250)));
  }
  EXPECT_LT(late, 0.7 * early);
  const auto result = nlohmann::json::parse(text_of(path("runs/small/result.json")));
  EXPECT_EQ(result["rows"], 300);
  EXPECT_EQ(result["predicted"], 299);  // the last forecast has no answer yet
  EXPECT_EQ(lines_in(text_of(path("runs/small/metrics.jsonl"))), 30u);
}

TEST_F(Stream, TheExampleConfigurationForecastsAColumnNamedY) {
  const std::string example = std::string(THROUGHTIME_TEST_DIRECTORY) + "/../experiments/streams/forecast.toml";
  const Outcome outcome = stream(example, series(0, 40));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines_in(outcome.out), 40u);
  // The first forecast knows one value: it is the last one.
  EXPECT_NEAR(std::stod(lines_of(outcome.out)[0]), std::stod(value(0)), 1e-6);
}

/// Mean squared error, rolling and cumulative, recomputed from what was printed.
TEST_F(Stream, MetricsArePrequential) {
  const Outcome outcome = stream("small.toml --set stream.rolling=20", series(0, 200));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<std::string> answers = lines_of(outcome.out);
  double all = 0, last = 0, naive = 0;
  for (int t = 1; t < 200; ++t) {
    const double wanted = std::stod(value(t));
    const double error = std::pow(std::stod(answers[static_cast<std::size_t>(t - 1)]) - wanted, 2);
    all += error / 199;
    naive += std::pow(std::stod(value(t - 1)) - wanted, 2) / 199;
    if (t >= 180) last += error / 20;
  }
  const auto line = nlohmann::json::parse(lines_of(text_of(path("runs/small/metrics.jsonl"))).back());
  EXPECT_EQ(line["rows"], 200);
  EXPECT_NEAR(line["mse"], all, 1e-6);
  EXPECT_NEAR(line["rolling_mse"], last, 1e-6);
  EXPECT_NEAR(line["naive_mse"], naive, 1e-6);
}

TEST_F(Stream, GoesOnBitForBitFromAPipe) {
  for (const std::string learner : {"", " --set learner.name=fptt --set learner.preset=custom --set learner.truncation=0 "
                                        "--set learner.window_length=7"}) {
    std::filesystem::remove_all(path("runs"));
    const Outcome whole = stream("small.toml --set run.name=whole" + learner, series(0, 145));
    const Outcome first = stream("small.toml --set run.name=parts" + learner, series(0, 61));
    const Outcome second = stream("--resume runs/parts", series(61, 100, ""));
    const Outcome third = stream("--resume runs/parts", series(100, 145));  // with its header again
    for (const Outcome& part : {whole, first, second, third}) ASSERT_EQ(part.code, 0) << part.err;
    EXPECT_EQ(first.out + second.out + third.out, whole.out);
    EXPECT_EQ(metrics_without_times(path("runs/parts")), metrics_without_times(path("runs/whole")));
  }
}

TEST_F(Stream, AFileIsTakenUpWhereItWasLeft) {
  write_text(path("grows.csv"), series(0, 50));
  const Outcome whole = stream("small.toml --set run.name=whole", series(0, 80));
  const Outcome first = run("stream small.toml --input grows.csv");
  write_text(path("grows.csv"), series(0, 80));
  const Outcome second = run("stream --resume runs/small --input grows.csv");
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(lines_in(second.out), 30u);
  EXPECT_EQ(first.out + second.out, whole.out);
}

TEST_F(Stream, WhatStdinBringsIsAlwaysNew) {
  const Outcome whole = stream("small.toml --set run.name=whole", series(0, 80));
  const Outcome first = stream("small.toml", series(0, 50));
  write_text(path("more.csv"), series(50, 80));
  const Outcome second = run("stream --resume runs/small", "more.csv");  // a file, but not one that was named
  EXPECT_EQ(first.out + second.out, whole.out) << second.err;
}

TEST_F(Stream, ASecondRunTakesAnotherDirectory) {
  EXPECT_EQ(stream("small.toml", series(0, 20)).code, 0);
  const Outcome again = stream("small.toml", series(0, 20));
  EXPECT_EQ(again.code, 0);
  EXPECT_NE(again.err.find("runs/small-2"), std::string::npos) << again.err;
  EXPECT_TRUE(std::filesystem::exists(path("runs/small-2/result.json")));
}

// ---------------------------------------------------------------- formats

TEST_F(Stream, CsvJsonAndRawAreTheSameStream) {
  std::string csv = "t,y,other\n", json, raw;
  for (int t = 0; t < 40; ++t) {
    const float numbers[] = {static_cast<float>(t), static_cast<float>(std::sin(t)), 5.0f};
    csv += fmt::format("{},{},{}\n", numbers[0], numbers[1], numbers[2]);
    json += fmt::format("{{\"other\": {}, \"y\": {}}}\n", numbers[2], numbers[1]);
    raw.append(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  }
  const Outcome from_csv = stream("small.toml", csv);
  const Outcome from_json = stream("small.toml --format jsonl --output csv", json);
  const Outcome from_raw = stream("small.toml --format raw --set task.channels=3 --set 'task.inputs=[\"1\"]'", raw);
  EXPECT_EQ(from_csv.code, 0) << from_csv.err;
  EXPECT_EQ(from_json.out, from_csv.out) << from_json.err;
  EXPECT_EQ(from_raw.out, from_csv.out) << from_raw.err;

  const Outcome as_json = stream("small.toml --output jsonl", csv);
  const auto line = nlohmann::json::parse(lines_of(as_json.out)[4]);
  EXPECT_EQ(line["row"], 5);
  EXPECT_NEAR(line["prediction"]["y"].get<double>(), std::stod(lines_of(from_csv.out)[4]), 1e-12);
}

TEST_F(Stream, TargetsMayBeOtherColumnsOfTheSameRowAndMayBeMissing) {
  std::string text = "x,y\n";
  for (int t = 0; t < 60; ++t) text += fmt::format("{},{}\n", std::sin(t), t % 3 == 0 ? "" : fmt::format("{}", 2 * std::sin(t)));
  const Outcome outcome =
      stream("small.toml --set 'task.inputs=[\"x\"]' --set 'task.targets=[\"y\"]' --set task.horizon=0", text);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines_in(outcome.out), 60u);
  const auto result = nlohmann::json::parse(text_of(path("runs/small/result.json")));
  EXPECT_EQ(result["predicted"], 40);
  EXPECT_EQ(result["skipped"], 0);
}

// ---------------------------------------------------------------- many streams

TEST_F(Stream, StreamsKeepTheirOwnStatesInAnyOrder) {
  // Two streams, the second one slower; nothing is learned, so that only states matter.
  const std::string frozen = "small.toml --set optimizer.rate=0 --set task.standardise=false";
  std::string mixed = "who,y\n", alone = "who,y\n";
  for (int t = 0; t < 30; ++t) {
    mixed += "a," + value(t) + "\n";
    alone += "a," + value(t) + "\n";
    if (t % 3 == 0) mixed += "b," + value(7 * t) + "\n";
  }
  const Outcome both = stream(frozen + " --set stream.id=who --set stream.slots=2 --output jsonl", mixed);
  const Outcome one = stream(frozen + " --set stream.id=who --output jsonl", alone);
  ASSERT_EQ(both.code, 0) << both.err;
  std::vector<double> of_a, wanted;
  for (const std::string& line : lines_of(both.out))
    if (const auto object = nlohmann::json::parse(line); object["stream"] == "a")
      of_a.push_back(object["prediction"]["y"]);
  for (const std::string& line : lines_of(one.out)) wanted.push_back(nlohmann::json::parse(line)["prediction"]["y"]);
  EXPECT_EQ(of_a, wanted);
}

TEST_F(Stream, AStreamThatEndsLeavesItsSlotToAnother) {
  std::string text = "who,y\n";
  for (int t = 0; t < 12; ++t) text += "a," + value(t) + "\nb," + value(t + 3) + "\n";
  text += "a,\n";  // over
  for (int t = 0; t < 12; ++t) text += "c," + value(t) + "\nb," + value(t + 15) + "\n";
  text += "d,1\n";  // takes the slot of c, which has been silent longer than b
  const Outcome outcome = stream("small.toml --set stream.id=who --set stream.slots=2", text);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines_in(outcome.out), 50u);
  const auto result = nlohmann::json::parse(text_of(path("runs/small/result.json")));
  EXPECT_EQ(result["streams"], 4);
  EXPECT_EQ(result["slots_taken"], 1);
  EXPECT_EQ(result["skipped"], 0);
}

TEST_F(Stream, ManyStreamsGoOnBitForBit) {
  const auto rows = [](int first, int last) {
    std::string text = "who,y\n";
    for (int t = first; t < last; ++t) text += fmt::format("{},{}\n", t % 5 == 0 ? "slow" : t % 2 ? "x" : "y", value(t));
    return text;
  };
  const std::string many = "small.toml --set stream.id=who --set stream.slots=3 --set run.name=";
  const Outcome whole = stream(many + "whole", rows(0, 90));
  const Outcome first = stream(many + "parts", rows(0, 37)), second = stream("--resume runs/parts", rows(37, 90));
  EXPECT_EQ(first.out + second.out, whole.out) << second.err;
}

TEST_F(Stream, PredictAnswersWithoutLearningAndRefusesUnknownStreams) {
  std::string text = "who,y\n";
  for (int t = 0; t < 20; ++t) text += "a," + value(t) + "\n";
  ASSERT_EQ(stream("small.toml --set stream.id=who", text).code, 0);
  const std::string before = text_of(path("runs/small/checkpoints/last.safetensors"));
  write_text(path("more.csv"), "who,y\na,0.5\nstranger,0.5\na,0.6\n");
  const Outcome outcome = run("predict runs/small more.csv");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  ASSERT_EQ(lines_in(outcome.out), 3u);
  EXPECT_EQ(lines_of(outcome.out)[1], "nan");
  EXPECT_NE(outcome.err.find("row 2 was skipped: the stream 'stranger' was never seen"), std::string::npos) << outcome.err;
  EXPECT_EQ(text_of(path("runs/small/checkpoints/last.safetensors")), before);
}

/// What the other commands make of a stream's run: reports and pictures, or a sentence that says why not.
TEST_F(Stream, OtherCommandsKnowItsRuns) {
  ASSERT_EQ(stream("small.toml", series(0, 60)).code, 0);
  const Outcome inspected = run("inspect runs/small");
  EXPECT_EQ(inspected.code, 0) << inspected.err;
  EXPECT_NE(inspected.out.find("online.state_0"), std::string::npos) << inspected.out;
  const Outcome plotted = run("plot runs/small");
  EXPECT_EQ(plotted.code, 0) << plotted.err;
  EXPECT_NE(plotted.out.find("rolling mse"), std::string::npos) << plotted.out;
  EXPECT_EQ(plotted.err.find("no records"), std::string::npos) << plotted.err;
  const Outcome reported = run("report runs/small -o report.html");
  EXPECT_EQ(reported.code, 0) << reported.err;
  EXPECT_NE(text_of(path("report.html")).find("rolling mse"), std::string::npos);
  const Outcome evaluated = run("evaluate runs/small");
  EXPECT_EQ(evaluated.code, 2);
  EXPECT_NE(evaluated.err.find("is the run of a stream, which has no splits"), std::string::npos) << evaluated.err;
  EXPECT_NE(run("train --resume runs/small").err.find("goes on with throughtime stream --resume"), std::string::npos);
  EXPECT_NE(run("compare runs/small --learners tbptt").err.find("throughtime report"), std::string::npos);
  const Outcome exported = run("export runs/small -o weights.safetensors");
  EXPECT_EQ(exported.code, 0) << exported.err;
}

TEST_F(Stream, EveryStreamingLearnerGoesOnBitForBit) {
  std::string first = "who,y\n", second;
  for (int t = 0; t < 120; ++t) {
    const std::string rows = "a," + value(t) + "\n" + (t % 3 != 0 ? "b," + value(2 * t) + "\n" : "");
    (t < 71 ? first : second) += rows;
  }
  const std::string adaptive = " --set learner.lags=8 --set learner.burn_in=2 --set learner.estimate_every=10 "
                               "--set learner.longest=9 --set learner.positions=4 --set learner.name=adaptive_tbptt";
  const std::string fpp = " --set learner.preset=custom --set learner.truncation=0 --set learner.fpp_steps=4 "
                          "--set learner.fpp_buffer=30 --set learner.name=";
  const std::string base = "small.toml --set stream.id=who --set stream.slots=2 ";
  for (const std::string& learner : {adaptive, fpp + "fpp", fpp + "sliding_tbptt"}) {
    const Outcome whole = stream(base + "--force --set run.directory=whole" + learner, first + second);
    ASSERT_EQ(whole.code, 0) << whole.err;
    const Outcome part = stream(base + "--force --set run.directory=part" + learner, first);
    const Outcome rest = stream("--resume part", second);
    ASSERT_EQ(rest.code, 0) << rest.err;
    EXPECT_EQ(part.out + rest.out, whole.out) << learner;
    EXPECT_EQ(metrics_without_times(path("part")), metrics_without_times(path("whole"))) << learner;
  }
}

// ---------------------------------------------------------------- broken input

TEST_F(Stream, BrokenRowsAreReportedWithTheirNumberAndSkipped) {
  const std::string rows = "t,y\n1,0.5\n2,0.6,9\n3,nan\n4,abc\n5,\n6,0.4\n7,1e99\n8,0.3\n9,0.2";  // and half a line
  const Outcome outcome = stream("small.toml", rows);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<std::string> answers = lines_of(outcome.out);
  ASSERT_EQ(answers.size(), 9u);
  for (const std::size_t bad : {1u, 2u, 3u, 4u, 6u, 8u}) EXPECT_EQ(answers[bad], "nan");
  for (const std::size_t good : {0u, 5u, 7u}) EXPECT_NE(answers[good], "nan");
  for (const char* report : {"row 2 was skipped: 2 columns are needed, got 3", "row 3 was skipped: column y must be a finite",
                             "row 4 was skipped: column y must be a number, got 'abc'", "row 5 was skipped: column y is empty",
                             "row 7 was skipped", "row 9 was skipped: the input ends within the line"})
    EXPECT_NE(outcome.err.find(report), std::string::npos) << report << "\n" << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(text_of(path("runs/small/result.json")))["skipped"], 6);
}

TEST_F(Stream, ABrokenRowEndsTheRunWhereAskedAndKeepsWhatWasLearned) {
  const Outcome outcome = stream("small.toml --on-error stop", series(0, 20) + "broken\n" + series(20, 30, ""));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(lines_in(outcome.out), 20u);
  EXPECT_NE(outcome.err.find("row 21: column y must be a number"), std::string::npos) << outcome.err;
  // The run goes on after it as if the row had not been there.
  const Outcome rest = stream("--resume runs/small", series(20, 30, ""));
  const Outcome whole = stream("small.toml --set run.name=whole", series(0, 30));
  EXPECT_EQ(outcome.out + rest.out, whole.out) << rest.err;
}

TEST_F(Stream, AStreamWithoutTheColumnsIsRefused) {
  Outcome outcome = stream("small.toml", "a,b\n1,2\n");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("unknown column 'y'"), std::string::npos) << outcome.err;
  outcome = stream("small.toml --format jsonl", "{\"z\": 1}\n{\"z\": 2}\n");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("none of the 2 rows could be read; row 1: \"y\" is missing"), std::string::npos) << outcome.err;
}

TEST_F(Stream, ABinaryStreamCutMidRowIsReported) {
  std::string raw(4 * 2 * 10 + 3, '\0');
  const Outcome outcome = stream("small.toml --format raw --set task.channels=2 --set 'task.inputs=[\"0\"]'", raw);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(lines_in(outcome.out), 11u);
  EXPECT_NE(outcome.err.find("row 11 was skipped: the input ends after 3 of its 8 bytes"), std::string::npos) << outcome.err;
}

TEST_F(Stream, ReportsOfManyBrokenRowsGetFewer) {
  std::string text = series(0, 5);
  for (int i = 0; i < 5000; ++i) text += "x\n";
  const Outcome outcome = stream("small.toml", text);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_LT(lines_in(outcome.err), 100u);
}

TEST_F(Stream, BadConfigurationsAreRefusedBeforeAnythingIsRead) {
  for (const auto& [setting, part] : std::vector<std::pair<std::string, std::string>>{
           {"learner.name=bptt --set learner.preset=custom --set learner.truncation=0", "a stream has none"},
           {"task.name=add", "task.name must be \"series\""},
           {"'task.inputs=[]'", "task.inputs must name the columns"},
           {"task.horizon=0 --set stream.difference=true", "stream.difference needs a task.horizon"},
           {"stream.format=xml", "unknown stream.format 'xml'"}}) {
    const Outcome outcome = stream("small.toml --set " + setting, series(0, 3));
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }
}

// ---------------------------------------------------------------- live

/// The program beside the test, with pipes to and from it.
class LiveStream : public Stream {
 protected:
  void start(std::vector<std::string> arguments) {
    int in[2], out[2];
    ASSERT_EQ(pipe2(in, O_CLOEXEC), 0);
    ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
    child_ = fork();
    if (child_ == 0) {
      if (chdir(path("").c_str()) != 0) _exit(99);
      dup2(in[0], 0);
      dup2(out[1], 1);
      dup2(open("err", O_WRONLY | O_CREAT | O_APPEND, 0666), 2);
      arguments.insert(arguments.begin(), {THROUGHTIME_COMMAND, "stream"});
      std::vector<char*> pointers;
      for (std::string& argument : arguments) pointers.push_back(argument.data());
      pointers.push_back(nullptr);
      execv(THROUGHTIME_COMMAND, pointers.data());
      _exit(98);
    }
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  void TearDown() override {
    hang_up();
    if (from_ >= 0) close(from_);
    if (child_ > 0) kill(child_, SIGKILL), waitpid(child_, nullptr, 0);
  }
  void send(const std::string& text) { ASSERT_EQ(write(to_, text.data(), text.size()), static_cast<ssize_t>(text.size())); }
  std::string receive_line() {
    std::string line;
    for (char letter; read(from_, &letter, 1) == 1 && letter != '\n';) line += letter;
    return line;
  }
  void hang_up() {
    if (to_ >= 0) close(to_);
    to_ = -1;
  }
  void stop_listening() { close(from_), from_ = -1; }
  /// The exit code.
  int ended() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  pid_t child_ = -1;
  int to_ = -1, from_ = -1;
};

TEST_F(LiveStream, APartnerGetsItsAnswerAtOnceAndRowsMayComeInPieces) {
  start({"small.toml"});
  send("y\n");
  for (int t = 0; t < 5; ++t) {
    const std::string row = value(t) + "\n";
    send(row.substr(0, 3));
    send(row.substr(3));
    EXPECT_NE(receive_line(), "");
  }
  std::string burst;
  for (int t = 5; t < 3000; ++t) burst += value(t) + "\n";
  std::thread writer([&] { send(burst); });
  for (int t = 5; t < 3000; ++t) ASSERT_NE(receive_line(), "");
  writer.join();
  hang_up();
  EXPECT_EQ(ended(), 0);
}

TEST_F(LiveStream, ASignalSavesAndTheRestEqualsNoInterruption) {
  const Outcome whole = stream("small.toml --set run.name=whole", series(0, 50));
  for (const auto& [signal, code] : {std::pair(SIGTERM, 143), std::pair(SIGINT, 130)}) {
    std::filesystem::remove_all(path("runs/small"));
    start({"small.toml"});
    send(series(0, 33));
    std::string answers;
    for (int t = 0; t < 33; ++t) answers += receive_line() + "\n";
    kill(child_, signal);  // while it waits for a row
    EXPECT_EQ(ended(), code);
    EXPECT_NE(text_of(path("err")).find("go on with throughtime stream --resume runs/small"), std::string::npos);
    hang_up();
    close(from_);
    EXPECT_EQ(answers + stream("--resume runs/small", series(33, 50, "")).out, whole.out);
  }
  from_ = -1;
}

TEST_F(LiveStream, ASignalAsksForACheckpointAndTheStreamGoesOn) {
  start({"small.toml"});
  send(series(0, 5));
  for (int t = 0; t < 5; ++t) receive_line();
  EXPECT_FALSE(std::filesystem::exists(path("runs/small/checkpoints/last.safetensors")));
  kill(child_, SIGUSR1);
  for (int i = 0; i < 1000 && !std::filesystem::exists(path("runs/small/checkpoints/last.safetensors")); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(std::filesystem::exists(path("runs/small/checkpoints/last.safetensors")));
  send(value(5) + "\n");
  EXPECT_NE(receive_line(), "");
}

TEST_F(LiveStream, ATimerSavesWithoutBeingAsked) {
  start({"small.toml", "--set", "stream.checkpoint_seconds=0.05"});
  send(series(0, 5));
  for (int i = 0; i < 1000 && !std::filesystem::exists(path("runs/small/checkpoints/last.safetensors")); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(std::filesystem::exists(path("runs/small/checkpoints/last.safetensors")));
}

TEST_F(LiveStream, AReaderThatGoesAwayEndsTheRunWithWhatWasLearned) {
  start({"small.toml"});
  send(series(0, 5));
  for (int t = 0; t < 5; ++t) receive_line();
  stop_listening();
  send(series(5, 6, ""));
  EXPECT_EQ(ended(), 1);
  EXPECT_NE(text_of(path("err")).find("nobody reads the output any more; 6 rows"), std::string::npos);
  EXPECT_EQ(stream("--resume runs/small", series(6, 10, "")).code, 0);
}

TEST_F(LiveStream, FollowsAFileThatGrows) {
  write_text(path("grows.csv"), series(0, 3));
  start({"small.toml", "--input", "grows.csv", "--follow"});
  for (int t = 0; t < 3; ++t) receive_line();
  for (int t = 3; t < 6; ++t) {
    std::ofstream(path("grows.csv"), std::ios::app) << value(t) << "\n";
    EXPECT_NE(receive_line(), "");
  }
  kill(child_, SIGTERM);
  EXPECT_EQ(ended(), 143);
}

TEST_F(LiveStream, FollowsAFileThatIsRotatedAndGoesOnInTheNewOne) {
  write_text(path("log.csv"), series(0, 3));
  start({"small.toml", "--input", "log.csv", "--follow"});
  for (int t = 0; t < 3; ++t) receive_line();
  std::filesystem::rename(path("log.csv"), path("log.csv.1"));
  write_text(path("log.csv"), series(3, 5));
  for (int t = 3; t < 5; ++t) EXPECT_TRUE(std::isfinite(std::stod(receive_line())));  // its header is no row
  write_text(path("log.csv"), series(5, 6));
  EXPECT_TRUE(std::isfinite(std::stod(receive_line())));
  kill(child_, SIGTERM);
  EXPECT_EQ(ended(), 143);
  const std::string said = text_of(path("err"));
  EXPECT_NE(said.find("replaced or cut short after row 3"), std::string::npos) << said;
  EXPECT_NE(said.find("replaced or cut short after row 5"), std::string::npos) << said;
  // One row more in the last file: the five before it are not looked for there.
  write_text(path("log.csv"), series(5, 7));
  const Outcome resumed = shell(std::string(THROUGHTIME_COMMAND) + " stream --resume runs/small --input log.csv");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(lines_in(resumed.out), 1u) << resumed.out;
}

TEST_F(LiveStream, ReadsANamedPipeFromSeveralWriters) {
  ASSERT_EQ(mkfifo(path("rows").c_str(), 0600), 0);
  start({"small.toml", "--input", "rows", "--follow"});
  for (int writer = 0; writer < 3; ++writer) {
    std::ofstream(path("rows")) << (writer == 0 ? "y\n" : "") << value(writer) << "\n" << std::flush;
    EXPECT_NE(receive_line(), "");
  }
  kill(child_, SIGTERM);
  EXPECT_EQ(ended(), 143);
}

TEST_F(LiveStream, AnEndlessStreamNeedsNoMoreMemory) {
  const bool full = std::getenv("THROUGHTIME_FULL") != nullptr;
  const int rows = full ? 10'000'000 : 300'000;
  config_file(std::string(small) + "engine = \"cpu\"\n", "endless");
  start({"endless.toml", "--format", "raw", "--set", "task.inputs=[\"0\"]", "--set", "model.cell=rnn_tanh", "--quiet",
         "--set", "stream.metrics_every=100000"});
  const auto resident = [&] {
    std::istringstream words(text_of("/proc/" + std::to_string(child_) + "/statm"));
    long size = 0, pages = 0;
    words >> size >> pages;
    return pages * 4;
  };
  std::vector<float> block(1000);
  char answers[1 << 16];
  std::atomic<bool> over = false;
  std::thread reader([&] { while (read(from_, answers, sizeof(answers)) > 0 && !over) {} });
  long early = 0;
  for (int t = 0; t < rows; t += 1000) {
    for (int i = 0; i < 1000; ++i) block[static_cast<std::size_t>(i)] = static_cast<float>(std::sin(0.01 * (t + i)));
    ASSERT_EQ(write(to_, block.data(), 4000), 4000);
    if (t == 50'000) early = resident();
  }
  const long late = resident();
  hang_up();
  EXPECT_EQ(ended(), 0);
  over = true;
  reader.join();
  EXPECT_GT(early, 0);
  EXPECT_LE(late, early + 256) << "KiB";
}

}  // namespace
}  // namespace throughtime
