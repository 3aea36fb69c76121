#include "bench/at_once_case.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/errors.h"

namespace throughtime::bench {
namespace {

TEST(AtOnceCase, NameSpellsOutHowManyOfWhat) {
  const AtOnceCase parsed = parse_at_once_case("8x-windows-lstm-b32-h16-t20-k2");
  EXPECT_EQ(parsed.count, 8);
  EXPECT_EQ(parsed.each.kind, Kind::windows);
  EXPECT_EQ(parsed.each.batch, 32);
  EXPECT_TRUE(is_at_once_case("4x-bptt-gru-b1-h1-t1"));
  for (const char* name : {"bptt-gru-b1-h1-t1", "x-bptt-gru-b1-h1-t1", "4-bptt-gru-b1-h1-t1", "4x", "4", ""})
    EXPECT_FALSE(is_at_once_case(name)) << name;
}

TEST(AtOnceCase, WhatIsNoCountOrNoCaseIsRefused) {
  for (const char* name : {"0x-bptt-gru-b1-h1-t1", "65x-bptt-gru-b1-h1-t1", "99999999999x-bptt-gru-b1-h1-t1"})
    EXPECT_REFUSED(parse_at_once_case(name), "expected a count from 1 to 64 and a case");
  EXPECT_REFUSED(parse_at_once_case("4x-nothing"), "unknown case nothing");
}

TEST(AtOnceCase, IsMeasuredAndReported) {
  for (const char* name : {"1x-bptt-rnn-b1-h1-t1", "3x-fptt-lstm-b2-h3-t5-k2"}) {
    const AtOnceResult result =
        run_at_once_case(name, {.name = "cpu", .threads = 1}, {.repeats = 2, .least = 2, .sample_seconds = 1e-4});
    EXPECT_GT(result.together_ms, 0);
    EXPECT_GT(result.in_turn_ms, 0);
    EXPECT_GT(result.throughput, 0);
    const nlohmann::json line = nlohmann::json::parse(json_line(result));
    EXPECT_EQ(line["case"], name);
    EXPECT_EQ(line["count"], result.count);
    EXPECT_GT(line["throughput"], 0);
  }
}

}  // namespace
}  // namespace throughtime::bench
