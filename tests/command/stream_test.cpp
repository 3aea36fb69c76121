// `throughtime stream` on whole inputs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command/stream_support.h"

namespace throughtime {
namespace {

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

TEST_F(Stream, SaysWhenItHasBeenWorseThanTheLastValueForLong) {
  // Nothing is learned; the last value is close, for the wave is slow.
  std::string rows = "y\n";
  for (int t = 0; t < 400; ++t) rows += std::to_string(std::sin(0.05 * t)) + "\n";
  const std::string wild = "small.toml --set optimizer.rate=0 --set stream.rolling=20 --set stream.warn_rows=200";
  const Outcome outcome = stream(wild, rows);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("[stream] after row 201 the last 200 forecasts have a mean squared error of"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("the run has diverged"), std::string::npos) << outcome.err;
  EXPECT_NE(text_of(path("runs/small/log.txt")).find("the last 200 forecasts"), std::string::npos);
  const auto result = nlohmann::json::parse(text_of(path("runs/small/result.json")));
  EXPECT_EQ(result["worse_rows"], 380);
  EXPECT_EQ(result["diverged"], true);
  EXPECT_EQ(nlohmann::json::parse(lines_of(text_of(path("runs/small/metrics.jsonl"))).back())["worse_rows"], 380);
  const Outcome good = stream("small.toml --set stream.difference=true --set stream.warn_rows=100", rows);
  EXPECT_EQ(good.err.find("forecasts have"), std::string::npos) << good.err;
}

TEST_F(Stream, ManySlotsAreSavedAndGoOn) {
  const std::string many = "small.toml --set stream.id=who --set stream.slots=10000";
  const auto rows = [](int first, int last) {
    std::string text = "who,y\n";
    for (int t = first; t < last; ++t) text += fmt::format("{},{}\n", t % 7, value(t));
    return text;
  };
  const Outcome whole = stream(many + " --set run.name=whole", rows(0, 60));
  const Outcome first = stream(many, rows(0, 30));
  const Outcome second = stream("--resume runs/small", rows(30, 60));
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(first.out + second.out, whole.out);
}

TEST_F(Stream, GoesOnBitForBitFromAPipe) {
  for (const std::string learner : {"", " --set learner.name=fptt --set learner.fptt.window_length=7"}) {
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

TEST_F(Stream, ASecondOneBesideTheFirstGetsANameOfItsOwn) {
  write_text(path("input"), series(0, 30));
  const std::string stream = std::string(THROUGHTIME_COMMAND) + " stream small.toml";
  // The first one waits for rows: it has learned nothing, and it is at work.
  const Outcome second = shell("mkfifo in; exec 9<>in; " + stream + " --quiet <in >/dev/null & first=$!; " +
                               "while [ ! -e runs/small/config.toml ]; do sleep 0.01; done; " + stream +
                               " <input; code=$?; kill $first; wait $first; exit $code");
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_NE(second.err.find("runs/small-2"), std::string::npos) << second.err;
  EXPECT_TRUE(std::filesystem::exists(path("runs/small-2/result.json")));
}

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
  const Outcome from_raw =
      stream("small.toml --format raw --set task.series.channels=3 --set 'task.series.inputs=[\"1\"]'", raw);
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
  for (int t = 0; t < 60; ++t)
    text += fmt::format("{},{}\n", std::sin(t), t % 3 == 0 ? "" : fmt::format("{}", 2 * std::sin(t)));
  const Outcome outcome = stream(
      "small.toml --set 'task.series.inputs=[\"x\"]' --set 'task.series.targets=[\"y\"]' --set task.series.horizon=0",
      text);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines_in(outcome.out), 60u);
  const auto result = nlohmann::json::parse(text_of(path("runs/small/result.json")));
  EXPECT_EQ(result["predicted"], 40);
  EXPECT_EQ(result["skipped"], 0);
}

// ---------------------------------------------------------------- many streams

TEST_F(Stream, StreamsKeepTheirOwnStatesInAnyOrder) {
  // Two streams, the second one slower; nothing is learned, so that only states matter.
  const std::string frozen = "small.toml --set optimizer.rate=0 --set task.series.standardise=false";
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
    for (int t = first; t < last; ++t)
      text += fmt::format("{},{}\n", t % 5 == 0 ? "slow" : t % 2 ? "x" : "y", value(t));
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
  EXPECT_NE(outcome.err.find("row 2 was skipped: the stream 'stranger' was never seen"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(text_of(path("runs/small/checkpoints/last.safetensors")), before);
}

/// What the other commands make of a stream's run: reports and pictures, or a sentence that says why not.
TEST_F(Stream, OtherCommandsKnowItsRuns) {
  ASSERT_EQ(stream("small.toml", series(0, 60)).code, 0);
  const Outcome inspected = run("inspect runs/small");
  EXPECT_EQ(inspected.code, 0) << inspected.err;
  EXPECT_NE(inspected.out.find("online.states"), std::string::npos) << inspected.out;
  const Outcome plotted = run("plot runs/small");
  EXPECT_EQ(plotted.code, 0) << plotted.err;
  EXPECT_NE(plotted.out.find("rolling mse"), std::string::npos) << plotted.out;
  EXPECT_EQ(plotted.err.find("no records"), std::string::npos) << plotted.err;
  const Outcome timed = run("plot runs/small --x seconds");
  EXPECT_EQ(timed.code, 0) << timed.err;
  EXPECT_NE(timed.out.find("seconds of training"), std::string::npos) << timed.out;
  expect_refusal(run("plot runs/small --x epoch"), "no run has written its epoch");
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
  const std::string adaptive =
      " --set learner.adaptive_tbptt.lags=8 --set learner.adaptive_tbptt.burn_in=2"
      " --set learner.adaptive_tbptt.estimate_every=10 --set learner.adaptive_tbptt.longest=9"
      " --set learner.adaptive_tbptt.positions=4 --set learner.adaptive_tbptt.preset=original"
      " --set learner.adaptive_tbptt.truncation=3 --set learner.name=adaptive_tbptt";
  const std::string fpp = " --set learner.name=fpp --set learner.fpp.steps=4 --set learner.fpp.buffer=30";
  const std::string sliding = " --set learner.name=sliding_tbptt --set learner.sliding_tbptt.steps=4";
  const std::string base = "small.toml --set stream.id=who --set stream.slots=2 ";
  for (const std::string& learner : {adaptive, fpp, sliding}) {
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

}  // namespace
}  // namespace throughtime
