#include <nlohmann/json.hpp>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::lines_in;
using testing::Outcome;

using Bench = testing::CommandTest;

TEST_F(Bench, RefusesWhatItCannotMeasure) {
  expect_refusal(run("bench --against onnx"), "unknown --against 'onnx'; known: torch, onednn");
  expect_refusal(run("bench --against torch,onnx"), "unknown --against 'onnx'");
  expect_refusal(run("bench --time processor"), "unknown --time 'processor'");
  expect_refusal(run("bench --map lsmt"), "lsmt");
  expect_refusal(run("bench --map lstm --cases bptt-lstm-b1-h2-t3"), "leave --cases out");
  for (const std::string flag : {"--map lstm", "--against onednn", "--time cpu"})
    expect_refusal(run("bench --costs " + flag), "leave " + flag.substr(0, flag.find(' ')) + " out");
  expect_refusal(run("bench --against onednn --interpreter python3"), "--interpreter is for --against torch");
}

TEST_F(Bench, ShowsATableByNumbersOfThreads) {
  const Outcome outcome = run("bench --quick --thread-counts 1,3 --cases bptt-gru-b2-h2-t3,windows-lstm-b1-h2-t4-k2");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* text : {"by threads", "bptt-gru-b2-h2-t3", "windows-lstm-b1-h2-t4-k2", "ours ms"})
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text << " is not in\n" << outcome.out;
  const Outcome lines = run("bench --quick --thread-counts 1,3 --json --cases bptt-gru-b2-h2-t3");
  ASSERT_EQ(lines_in(lines.out), 2u) << lines.out;
  EXPECT_EQ(nlohmann::json::parse(lines.out.substr(0, lines.out.find('\n')))["threads"], 1);
  EXPECT_EQ(nlohmann::json::parse(lines.out.substr(lines.out.find('\n') + 1))["threads"], 3);

  expect_refusal(run("bench --thread-counts 0"), "--thread-counts must be");
  expect_refusal(run("bench --thread-counts 1,2 --threads 2"), "leave --threads out");
  expect_refusal(run("bench --thread-counts 1,2 --map lstm"), "leave --map out");
  expect_refusal(run("bench --thread-counts 1,2 --time cpu"), "leave --time out");
  expect_refusal(run("bench --thread-counts 1,2 --cases batch-add"), "takes cases of training");
  expect_refusal(run("bench --thread-counts 1,2 --costs"), "leave --thread-counts out");
}

TEST_F(Bench, MeasuresOnednnInTurnWithOurs) {
  const Outcome outcome = run(
      "bench --quick --threads 1 --time cpu --against onednn --json --cases bptt-gru-b1-h2-t3,fptt-lstm-b1-h2-t3-k1");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  ASSERT_EQ(lines_in(outcome.out), 2u) << outcome.out;
  const auto line = nlohmann::json::parse(outcome.out.substr(0, outcome.out.find('\n')));
  EXPECT_EQ(line["time"], "cpu");
  EXPECT_GT(line["ours_ms"], 0);
  const bool without = outcome.err.find("this build has no oneDNN") != std::string::npos;
  EXPECT_EQ(line["onednn_ms"].is_null(), without) << outcome.err;
  EXPECT_EQ(line["onednn_ratio"].is_null(), without);
  const auto other = nlohmann::json::parse(outcome.out.substr(outcome.out.find('\n') + 1));
  EXPECT_TRUE(other["onednn_ms"].is_null()) << "it has no fptt";
}

TEST_F(Bench, MeasuresStreamsOfEveryFormat) {
  const Outcome outcome =
      run("bench --quick --json --engine reference --cases stream-csv-rnn-b1-h2-k2,stream-jsonl-rnn-b2-h2-k2,"
          "stream-raw-rnn-b2-h2-k2");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  ASSERT_EQ(lines_in(outcome.out), 3u) << outcome.out;
  const auto line = nlohmann::json::parse(outcome.out.substr(0, outcome.out.find('\n')));
  EXPECT_GT(line["rows_per_second"], 0);
  EXPECT_GT(line["rows_per_cpu_second"], 0);
  EXPECT_EQ(outcome.err.find("skipped"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace throughtime
