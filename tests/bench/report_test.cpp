#include "bench/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "throughtime/error.h"

namespace throughtime::bench {
namespace {

using nlohmann::json;

CaseResult full_result() {
  CaseResult result;
  result.name = "bptt-lstm-b1-h2-t3";
  result.engine = "cpu";
  result.threads = 2;
  result.ours_ms = 4;
  result.peer = PeerTime{100, 2};
  result.tuned_peer = PeerTime{20, 1};
  result.peer_blas = "OpenBLAS";
  result.floor_ms = 3;
  result.floor_ratio = 1.25;
  result.time = TimeOf::cpu;
  result.onednn_ms = 8;
  result.onednn_ratio = 2;
  result.onednn_1_thread_ms = 16;
  result.onednn_1_thread_ratio = 2.5;
  result.activation_bytes = 1234;
  result.ours_1_thread_ms = 7.5;
  result.scaling = 1.875;
  result.floor_scaling = 1.9;
  result.update_share = 0.03;
  result.weight_drop_share = 0.04;
  result.updates_per_second = 250;
  result.updates_per_cpu_second = 300;
  result.general_ms = 5;
  result.general_ratio = 1.3;
  return result;
}

TEST(BenchJson, HasEveryFieldOfACase) {
  const json line = json::parse(json_line(full_result()));
  const json expected = {{"case", "bptt-lstm-b1-h2-t3"},
                         {"engine", "cpu"},
                         {"threads", 2},
                         {"ours_ms", 4.0},
                         {"peer_ms", 100.0},
                         {"ratio", 25.0},
                         {"tuned_peer_ms", 20.0},
                         {"tuned_ratio", 5.0},
                         {"floor_ms", 3.0},
                         {"floor_ratio", 1.25},
                         {"time", "cpu"},
                         {"onednn_ms", 8.0},
                         {"onednn_ratio", 2.0},
                         {"onednn_1_thread_ms", 16.0},
                         {"onednn_1_thread_ratio", 2.5},
                         {"activation_bytes", 1234},
                         {"scaling", 1.875},
                         {"ours_1_thread_ms", 7.5},
                         {"floor_scaling", 1.9},
                         {"peer_threads", 2},
                         {"tuned_peer_threads", 1},
                         {"peer_blas", "OpenBLAS"},
                         {"update_share", 0.03},
                         {"weight_drop_share", 0.04},
                         {"updates_per_second", 250.0},
                         {"updates_per_cpu_second", 300.0},
                         {"general_ms", 5.0},
                         {"general_ratio", 1.3}};
  EXPECT_EQ(line, expected);
}

TEST(BenchJson, IsOneLine) { EXPECT_EQ(json_line(full_result()).find('\n'), std::string::npos); }

TEST(BenchJson, WhatWasNotMeasuredIsNull) {
  CaseResult result;
  result.name = "x";
  result.ours_ms = 1;
  const json line = json::parse(json_line(result));
  for (const char* field : {"peer_ms",
                            "ratio",
                            "tuned_peer_ms",
                            "tuned_ratio",
                            "floor_ms",
                            "floor_ratio",
                            "ours_1_thread_ms",
                            "scaling",
                            "floor_scaling",
                            "update_share",
                            "weight_drop_share",
                            "updates_per_second",
                            "updates_per_cpu_second",
                            "peer_blas",
                            "onednn_ms",
                            "onednn_ratio",
                            "onednn_1_thread_ms",
                            "onednn_1_thread_ratio",
                            "general_ms",
                            "general_ratio"}) {
    ASSERT_TRUE(line.contains(field)) << field;
    EXPECT_TRUE(line[field].is_null()) << field;
  }
}

TEST(PeerLine, IsReadWhereItIsAboutTheCase) {
  const std::string line = R"({"case": "a", "threads": 2, "tuned": true, "milliseconds": 1.5, "repeats": 3})";
  const auto time = parse_peer_line(line, "a");
  ASSERT_TRUE(time);
  EXPECT_EQ(time->milliseconds, 1.5);
  EXPECT_EQ(time->threads, 2);
  EXPECT_FALSE(parse_peer_line(line, "b"));
}

TEST(PeerLine, BrokenLinesHaveNoTime) {
  for (const char* line : {"", "{", "[]", "3", R"({"case": "a"})", R"({"case": "a", "milliseconds": 1})",
                           R"({"case": "a", "milliseconds": "x", "threads": 1})"})
    EXPECT_FALSE(parse_peer_line(line, "a")) << line;
}

TEST(PeerThreads, DoubleUpToTheMost) {
  EXPECT_EQ(thread_counts(1), (std::vector<int>{1}));
  EXPECT_EQ(thread_counts(2), (std::vector<int>{1, 2}));
  EXPECT_EQ(thread_counts(12), (std::vector<int>{1, 2, 4, 8, 12}));
}

TEST(PeerDescription, IsReadWhole) {
  EXPECT_EQ(parse_peer_description(R"({"torch": "1.13.1", "blas": "OpenBLAS", "reference_blas": false})"),
            (PeerDescription{"1.13.1", "OpenBLAS", false}));
  for (const char* line :
       {"", "[]", "{}", R"({"torch": "1", "blas": "MKL"})", R"({"torch": 1, "blas": 2, "reference_blas": 3})"})
    EXPECT_FALSE(parse_peer_description(line)) << line;
}

TEST(PeerDescription, TheReferenceBlasIsRefused) {
  EXPECT_NO_THROW(require_fair({"1.13.1", "OpenBLAS", false}));
  EXPECT_THROW(require_fair({"1.13.1", "reference", true}), InvalidInput);
}

TEST(Peer, WithoutItsPythonIsMissing) {
  const PeerConfig config = {.python = "no-such-python-here", .directory = "."};
  const PeerResult result = best_peer_time(config, "bptt-lstm-b1-h2-t3", {1}, false);
  EXPECT_EQ(result.state, PeerState::missing);
  EXPECT_FALSE(result.time);
  EXPECT_FALSE(describe_peer(config));
}

}  // namespace
}  // namespace throughtime::bench
