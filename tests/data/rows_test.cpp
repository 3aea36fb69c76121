#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>
#include <utility>

#include "data/tables/row_feed.h"
#include "data/tables/row_parser.h"
#include "support/errors.h"
#include "support/scratch.h"

namespace throughtime {
namespace {

/// All records of a text that arrives in pieces of random length.
std::vector<std::string> cut(const std::string& text, std::size_t block, unsigned seed) {
  std::mt19937 random(seed);
  RecordCutter cutter(block);
  std::vector<std::string> records;
  std::string_view record;
  bool overlong = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t piece = 1 + random() % 7;
    cutter.bytes() += text.substr(at, piece);
    at += piece;
    while (cutter.next(record, overlong)) records.emplace_back(record);
  }
  records.push_back("rest:" + std::string(cutter.rest()));
  return records;
}

TEST(RecordCutter, DoesNotCareHowTheBytesArrive) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(cut("first\r\n\nthird,3\nhalf", 0, seed),
              (std::vector<std::string>{"first", "", "third,3", "rest:half"}));
    EXPECT_EQ(cut("abcdefgh", 3, seed), (std::vector<std::string>{"abc", "def", "rest:gh"}));
  }
}

TEST(RecordCutter, AnEndlessLineTakesNoEndlessMemory) {
  RecordCutter cutter(0);
  std::string_view record;
  bool overlong = false;
  for (int i = 0; i < 64; ++i) {
    cutter.bytes() += std::string(1 << 17, 'x');
    ASSERT_FALSE(cutter.next(record, overlong));
    ASSERT_LT(cutter.rest().size(), RecordCutter::longest_line + (1 << 18));
  }
  cutter.bytes() += "\n1.5\n";
  ASSERT_TRUE(cutter.next(record, overlong));
  EXPECT_TRUE(overlong);
  ASSERT_TRUE(cutter.next(record, overlong));
  EXPECT_FALSE(overlong);
  EXPECT_EQ(record, "1.5");
}

/// What a feed says next that is not `nothing_yet`, and the bytes that came with it.
std::pair<RowFeed::State, std::string> next_of(RowFeed& feed) {
  std::string bytes;
  RowFeed::State state = RowFeed::State::nothing_yet;
  for (int look = 0; look < 3 && state == RowFeed::State::nothing_yet; ++look) state = feed.read(bytes, 1);
  return {state, bytes};
}

TEST(RowFeed, FollowsTheNameOfAFileThatIsReplacedOrCutShort) {
  using Next = std::pair<RowFeed::State, std::string>;
  const Next nothing{RowFeed::State::nothing_yet, ""}, again{RowFeed::State::begins_again, ""};
  const testing::ScratchDirectory scratch;
  const std::string path = scratch.write("rows", "1\n2\n");
  RowFeed feed(path, true);
  EXPECT_EQ(next_of(feed), (Next{RowFeed::State::bytes, "1\n2\n"}));
  EXPECT_EQ(next_of(feed), nothing);
  std::filesystem::rename(path, path + ".1");
  EXPECT_EQ(next_of(feed), nothing);  // the name is free: it will be made again
  scratch.write("rows", "3\n4\n5\n");
  EXPECT_EQ(next_of(feed), again);
  EXPECT_EQ(next_of(feed), (Next{RowFeed::State::bytes, "3\n4\n5\n"}));
  scratch.write("rows", "6\n");
  EXPECT_EQ(next_of(feed), again);
  EXPECT_EQ(next_of(feed), (Next{RowFeed::State::bytes, "6\n"}));
  EXPECT_EQ(next_of(feed), nothing);
}

RowLayout layout(RowFormat format) {
  return {.format = format, .channels = 3, .id = "who", .inputs = {"b", "a"}, .targets = {"a"}};
}

TEST(RowParser, FindsColumnsByNameInAnyOrder) {
  RowParser parser(layout(RowFormat::csv));
  ASSERT_TRUE(
      parser.take_header("\xef\xbb\xbf"
                         "a, who,\"b\",date"));
  StreamRow row;
  parser.parse("1.5,\"x,y\", 2 ,2020-01-01", row);
  EXPECT_EQ(row.id, "x,y");
  EXPECT_EQ(row.inputs, (std::vector<float>{2, 1.5}));
  EXPECT_EQ(row.targets, (std::vector<float>{1.5}));
  parser.parse(",x,,", row);
  EXPECT_TRUE(row.ends);
  EXPECT_REFUSED(parser.parse("1,x,2", row), "4 columns are needed, got 3");
  EXPECT_REFUSED(parser.parse("1,,2,", row), "which names the stream, is empty");
  EXPECT_REFUSED(parser.parse("1,x,inf,", row), "column b must be a finite number");
  EXPECT_REFUSED(parser.parse("1,\"x,2,", row), "a quote is opened and never closed");
}

TEST(RowParser, KnowsAHeaderFromARow) {
  RowParser numbers({.inputs = {"1"}});
  EXPECT_FALSE(numbers.take_header("0.5,0.25"));
  StreamRow row;
  numbers.parse("0.5,0.25", row);
  EXPECT_EQ(row.inputs, (std::vector<float>{0.25}));

  RowParser again({.inputs = {"y"}});
  again.set_columns({"t", "y"});
  EXPECT_TRUE(again.take_header("t,y"));
  EXPECT_FALSE(again.take_header("1,2"));
  RowParser other({.inputs = {"y"}});
  EXPECT_REFUSED(other.take_header("t,z"), "unknown column 'y'");
  EXPECT_TRUE(other.columns().empty()) << "a header that is refused changes nothing";
  EXPECT_TRUE(other.take_header("y,t"));
}

TEST(RowParser, SaysWhatWouldBeRightAboutAForeignTable) {
  RowParser semicolons({.inputs = {"y"}});
  EXPECT_REFUSED(semicolons.take_header("t;y"), "the header 't;y' has one column; say task.series.delimiter = \";\"");
  RowParser capitals({.inputs = {"y"}});
  EXPECT_REFUSED(capitals.take_header("T,Y"), "unknown column 'y'; did you mean 'Y'?");
  RowParser commas({.delimiter = ';', .inputs = {"y"}});
  ASSERT_TRUE(commas.take_header("t;y"));
  StreamRow row;
  EXPECT_REFUSED(commas.parse("1;2,5", row), "column y must be a number, got '2,5'; numbers have a decimal point");
  EXPECT_REFUSED(commas.parse("1;nan", row), "column y must be a");
}

/// The fields of a line by its definition, letter by letter; none where a quote stays open.
std::optional<std::vector<std::string>> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char letter : line) {
    if (letter == '"') quoted = !quoted;
    if (letter == ',' && !quoted)
      fields.emplace_back();
    else
      fields.back() += letter;
  }
  if (quoted) return std::nullopt;
  for (std::string& field : fields) {
    field.erase(0, std::min(field.find_first_not_of(" \t"), field.size()));
    field.erase(field.find_last_not_of(" \t") + 1);
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"') field = field.substr(1, field.size() - 2);
  }
  return fields;
}

TEST(RowParser, CutsAnyLineAsItsDefinitionSays) {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    const std::string letters = round % 2 == 0 ? ",,1 \t;x" : ",,1 \t\"";
    std::string line;
    for (unsigned i = random() % 9; i > 0; --i) line += letters[random() % letters.size()];
    line += ",1";  // the input
    const auto expected = fields_of(line);
    const std::size_t count = expected ? expected->size() : 2;
    for (std::size_t id = 0; id + 1 < count; ++id) {
      std::vector<std::string> columns;
      for (std::size_t i = 0; i < count; ++i) columns.push_back(std::to_string(i));
      RowParser parser({.id = std::to_string(id), .inputs = {columns.back()}});
      parser.set_columns(columns);
      StreamRow row;
      if (!expected) {
        EXPECT_REFUSED(parser.parse(line, row), "a quote is opened and never closed");
      } else if ((*expected)[id].empty()) {
        EXPECT_REFUSED(parser.parse(line, row), "is empty");
      } else {
        parser.parse(line, row);
        EXPECT_EQ(row.id, (*expected)[id]) << line;
        EXPECT_EQ(row.inputs, std::vector<float>{1}) << line;
        EXPECT_EQ(row.targets, row.inputs);
      }
    }
  }
}

TEST(RowParser, ATargetThatIsAnInputTooHasItsValueWhereverItStands) {
  RowParser parser({.inputs = {"a", "c"}, .targets = {"c", "b", "a"}});
  parser.take_header("a,b,c");
  StreamRow row;
  parser.parse("1,2,3", row);
  EXPECT_EQ(row.inputs, (std::vector<float>{1, 3}));
  EXPECT_EQ(row.targets, (std::vector<float>{3, 2, 1}));
  parser.parse("1,,3", row);
  EXPECT_FALSE(row.has_targets);
  EXPECT_REFUSED(parser.parse(",2,3", row), "column a is empty");
  parser.set_columns({"c", "a", "b"});
  parser.parse("1,2,3", row);
  EXPECT_EQ(row.targets, (std::vector<float>{1, 3, 2}));
}

TEST(RowParser, ReadsObjects) {
  RowParser parser(layout(RowFormat::jsonl));
  StreamRow row;
  parser.parse(R"({"who": 7, "a": 1, "b": 2.5, "more": []})", row);
  EXPECT_EQ(row.id, "7");
  EXPECT_EQ(row.inputs, (std::vector<float>{2.5, 1}));
  EXPECT_TRUE(row.has_targets);
  parser.parse(R"({"who": "x", "end": true})", row);
  EXPECT_TRUE(row.ends);
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {R"({"who": "x", "a": 1, "b": )", "must be a JSON object"},
           {"[1, 2]", "must be a JSON object"},
           {R"({"a": 1, "b": 2})", "which names the stream, is missing"},
           {R"({"who": "x", "a": 1})", "\"b\" is missing"},
           {R"({"who": "x", "a": "1", "b": 2})", "\"a\" must be a number"},
           {R"({"who": "x", "a": 1e300, "b": 2})", "must be a finite number"}})
    EXPECT_REFUSED(parser.parse(text, row), part);
}

TEST(RowParser, AMissingTargetIsNoError) {
  RowParser csv({.inputs = {"x"}, .targets = {"y"}}),
      json({.format = RowFormat::jsonl, .inputs = {"x"}, .targets = {"y"}});
  StreamRow row;
  csv.take_header("x,y");
  csv.parse("1,", row);
  EXPECT_FALSE(row.has_targets);
  for (const char* text : {R"({"x": 1})", R"({"x": 1, "y": null})"}) {
    json.parse(text, row);
    EXPECT_FALSE(row.has_targets);
  }
}

TEST(RowFeed, SaysWhatCannotBeRead) {
  const testing::ScratchDirectory directory;
  EXPECT_REFUSED(RowFeed((directory / "nothing").string(), false), "cannot read");
  EXPECT_REFUSED(RowFeed(directory.path().string(), false), "it is a directory");
}

}  // namespace
}  // namespace throughtime
