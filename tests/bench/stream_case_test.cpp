#include "bench/stream_case.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/errors.h"

namespace throughtime::bench {
namespace {

TEST(StreamCase, NameSpellsOutTheSizes) {
  const StreamCase parsed = parse_stream_case("stream-jsonl-rnn-b3-h32-k10");
  EXPECT_EQ(parsed.format, RowFormat::jsonl);
  EXPECT_EQ(parsed.cell, "rnn_tanh");
  EXPECT_EQ(parsed.streams, 3);
  EXPECT_EQ(parsed.hidden, 32);
  EXPECT_EQ(parsed.window, 10);
}

TEST(StreamCase, RefusesOtherNames) {
  for (const char* name :
       {"stream-", "stream-csv", "stream-csv-lstm-b1-h32", "stream-csv-lstm-b0-h32-k10",
        "stream-csv-lstm-b1-h32-k99999999999", "stream-xml-lstm-b1-h32-k10", "stream-csv-lsmt-b1-h32-k10"})
    EXPECT_THROW(parse_stream_case(name), InvalidInput) << name;
}

TEST(StreamCase, MakesRowsOfEveryFormat) {
  const auto rows = [](const char* name, int count) { return stream_rows(parse_stream_case(name), count); };
  const std::string csv = rows("stream-csv-lstm-b1-h2-k2", 3), two = rows("stream-csv-lstm-b2-h2-k2", 2);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  EXPECT_TRUE(csv.starts_with("y\n"));
  EXPECT_TRUE(two.ends_with(",1\n")) << two;
  EXPECT_TRUE(rows("stream-jsonl-lstm-b2-h2-k2", 1).ends_with("\"id\": \"0\"}\n"));
  EXPECT_EQ(rows("stream-raw-lstm-b1-h2-k2", 3).size(), 12u);
  EXPECT_EQ(rows("stream-raw-lstm-b2-h2-k2", 3).size(), 24u);
}

}  // namespace
}  // namespace throughtime::bench
