#include "data/tables/csv.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "data/files.h"
#include "data/tables/csv_records.h"
#include "data/tables/fields.h"

namespace throughtime {
namespace {

using testing::stream_of;
using Names = std::vector<std::string>;
using Values = std::vector<float>;

CsvTable read(const std::string& text, const CsvOptions& options = {}) { return read_csv(*stream_of(text), options); }

TEST(Csv, ReadsNumbersUnderAHeader) {
  const CsvTable table = read("a,b\n1,2\n3.5,-4e2\n");
  EXPECT_EQ(table.columns, (Names{"a", "b"}));
  EXPECT_EQ(table.rows, 2u);
  EXPECT_EQ(table.values, (Values{1, 2, 3.5f, -400}));
}

TEST(Csv, ReadsNumbersWithoutAHeader) {
  const CsvTable table = read("1,+2\n 3 ,4");
  EXPECT_EQ(table.columns, (Names{"0", "1"}));
  EXPECT_EQ(table.values, (Values{1, 2, 3, 4}));
}

TEST(Csv, MissingValuesAreNoNumbersWhereTheyAreAllowed) {
  const auto shown = [](const CsvTable& table) {
    std::string text;
    for (const float value : table.values) text += std::isnan(value) ? "- " : fmt::format("{} ", value);
    return text;
  };
  CsvOptions options{.missing = true};
  // Columns that begin without a value are numbers from their first one on.
  EXPECT_EQ(shown(read("a,b,c\n1,,\n2,,5\n,nan,6\n4,7,NA\n", options)), "1 - - 2 - 5 - - 6 4 7 - ");
  EXPECT_EQ(shown(read("a\nNA\nnull\n3\n", options)), "- - 3 ");
  EXPECT_EQ(shown(read("d,b\nx,\ny,1\n", options)), "- 1 ");
  options.columns = {"b", "a"};
  EXPECT_EQ(shown(read("a,b,c\n1,,x\n,2,y\n", options)), "- 1 2 - ");
  EXPECT_REFUSED(read("a,b\n1,two\n", options), "'two' is no number");
}

TEST(CsvRecords, AnEmptyLineIsARecordWhereThatIsAsked) {
  const auto shown = [](const std::string& text) {
    const auto stream = stream_of(text);
    CsvRecords records(*stream, ',', EmptyLine::record);
    std::string all;
    for (std::vector<std::string_view> fields; records.next(fields);)
      all += fmt::format("{}:{} ", records.line(), fmt::join(fields, "|"));
    return all;
  };
  EXPECT_EQ(shown("a,b\n\n\r\n1,2\n\n"), "1:a|b 2: 3: 4:1|2 5: ");
  EXPECT_EQ(shown("\n\"x\n\ny\",1"), "1: 2:x\n\ny|1 ");
  EXPECT_EQ(shown(""), "");
}

TEST(Csv, FieldsAreQuotedWhereTheyNeedIt) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field(""), "");
  for (const std::string text : {"a,b", "say \"so\"", "two\nlines", "\r", "\""}) {
    const std::string line = csv_field(text) + "," + csv_field(text);
    const auto stream = stream_of(line);
    CsvRecords records(*stream, ',');
    std::vector<std::string_view> fields;
    ASSERT_TRUE(records.next(fields));
    EXPECT_EQ(fields, (std::vector<std::string_view>{text, text}));
  }
}

TEST(Csv, TellsAHeaderFromData) {
  EXPECT_EQ(read("2016-07-01,5\n2016-07-02,6\n").rows, 2u);  // a date beside a number is data
  EXPECT_EQ(read("date,5\n2016-07-02,6\n").rows, 2u);        // a text above a text too
  EXPECT_EQ(read("x,5\n1,6\n").columns, (Names{"x", "5"}));  // a text above a number is a name
  EXPECT_EQ(read("date,x\n2016-07-01,1\n").columns, (Names{"x"}));
  EXPECT_EQ(read("1,2\n3,4\n", {.header = HeaderLine::yes}).columns, (Names{"1", "2"}));
  EXPECT_EQ(read("1,2\n3,4\n", {.header = HeaderLine::yes}).rows, 1u);
  EXPECT_REFUSED(read("a,b\n1,2\n", {.header = HeaderLine::no, .columns = {"0"}}),
                 "file:1: column '0': 'a' is no number");
}

TEST(Csv, LeavesOutColumnsOfText) {
  const CsvTable table = read("date,note,v\n2016-07-01,,1\n2016-07-02,fine,2\n");
  EXPECT_EQ(table.columns, (Names{"v"}));
  EXPECT_EQ(table.values, (Values{1, 2}));
}

TEST(Csv, SaysWhatItLeftOutAndWhy) {
  EXPECT_EQ(read("date,note,v\n2016-07-01,,1\n2016-07-02,,2\n").left_out,
            (Names{"'date' ('2016-07-01' in line 2 is no number)", "'note' (it has no value)"}));
  EXPECT_EQ(read("v,w\n1,-\n2,3\n").left_out, (Names{"'w' ('-' in line 2 is no number)"}));
  EXPECT_TRUE(read("date,v\nmonday,1\n", {.columns = {"v"}}).left_out.empty());  // the user chose
}

TEST(Csv, RefusesTextInAColumnThatIsNeeded) {
  const std::string text = "date,v\nmonday,1\ntuesday,2\n";
  EXPECT_REFUSED(read(text, {.needed = {"date"}}), "file:2: column 'date': 'monday' is no number");
  EXPECT_REFUSED(read(text, {.needed = {"0"}}), "file:2: column 'date': 'monday' is no number");
  EXPECT_EQ(read(text, {.needed = {"v"}}).columns, (Names{"v"}));
  EXPECT_EQ(read(text, {.needed = {"1"}}).places, (std::vector<std::size_t>{1}));
  // A column of that name is meant before one of that number.
  EXPECT_EQ(read("date,0\nmonday,1\n", {.header = HeaderLine::yes, .needed = {"0"}}).columns, (Names{"0"}));
}

TEST(Csv, RefusesThousandsSeparators) {
  for (const char* number :
       {"-1,234.5", "12'345", "1.234.567", "1.234,5", "1 234", "1_000_000", "1\u202f234", "1,234,567.25"})
    EXPECT_REFUSED(read(fmt::format("a;b\n1;{}\n", number), {.delimiter = ';'}),
                   fmt::format("file:2: column 'b': '{}' has thousands separators", number));
  EXPECT_REFUSED(read("a\n1\n\"2,345,000\"\n"), "file:3: column 'a': '2,345,000' has thousands separators");
  // Three digits after the only comma may be either.
  EXPECT_REFUSED(read("a;b\n1;-12,345\n", {.delimiter = ';'}),
                 "file:2: column 'b': '-12,345' has a comma; numbers have a decimal point and no thousands separators: "
                 "write -12.345 or -12345");
  // Numbers, and texts that are none.
  EXPECT_EQ(read("a\n1.234\n1234\n").values, (Values{1.234f, 1234}));
  for (const char* text : {"12,34,567", "1,234;5", "a,234", "2016-07-01", "10:30", "1,234 kg", ","})
    EXPECT_EQ(read(fmt::format("a|b\n1|{}\n", text), {.delimiter = '|'}).columns, (Names{"a"})) << text;
}

TEST(Csv, RefusesDecimalCommas) {
  for (const char* number : {"1,5", "-0,25", "1,23", "1,2345", "12345,6"})
    EXPECT_REFUSED(
        read(fmt::format("a;b\n1;{}\n", number), {.delimiter = ';', .needed = {"b"}}),
        fmt::format("file:2: column 'b': '{}' has a decimal comma; numbers have a point, such as 1.5", number));
  EXPECT_REFUSED(read("a;b\n1;2\n1;2,5\n", {.delimiter = ';'}), "file:3: column 'b': '2,5' has a decimal comma");
  EXPECT_REFUSED(read("a;b\n1;2,5\n", {.delimiter = ';', .columns = {"b"}}), "file:2: column 'b': '2,5' has a decimal");
}

TEST(Csv, LeavesOutDecimalCommasThatNobodyAskedFor) {
  const CsvTable table = read("y;place\n1;52,1\n2;52,2\n", {.delimiter = ';', .needed = {"y"}});
  EXPECT_EQ(table.columns, (Names{"y"}));
  EXPECT_EQ(table.values, (Values{1, 2}));
  EXPECT_EQ(table.left_out, (Names{"'place' ('52,1' in line 2 has a decimal comma)"}));
  // No column remains.
  EXPECT_REFUSED(read("a;b\nx;1,5\ny;2,5\n", {.delimiter = ';'}), "file:2: column 'b': '1,5' has a decimal comma");
}

TEST(Csv, SaysWhichDelimiterIsMeant) {
  EXPECT_REFUSED(read("date;a\nmonday;2\n"),
                 "no column holds numbers; is ',' the right delimiter? Say delimiter = \";\"");
  EXPECT_REFUSED(read("date;a\nmonday;2,5\n"), "file:2: the row has 2 fields instead of 1; say delimiter = \";\"");
  EXPECT_REFUSED(read("date\ta\nmonday\t2,5\n"), "say delimiter = \"tab\"");
  EXPECT_REFUSED(read("date\ta\nmonday\t2,5\n", {.delimiter_option = "task.series.delimiter"}),
                 "say task.series.delimiter = \"tab\"");
  EXPECT_REFUSED(read("date,a\nmonday,tuesday\n", {.delimiter = ';'}), "Say delimiter = \",\"");
  EXPECT_REFUSED(read("date,a\nmonday,1\n", {.header = HeaderLine::no}),
                 "no column begins with a number; where the first line names the columns, say task.series.header");
}

TEST(Csv, FindsItsWayAmongVeryManyColumns) {
  std::string head, row;
  Names names;
  for (int i = 0; i < 100000; ++i) {
    names.push_back(fmt::format("c{}", i));
    head += (i > 0 ? "," : "") + names.back();
    row += i > 0 ? ",1" : "1";
  }
  EXPECT_EQ(read(head + "\n" + row + "\n", {.columns = names}).values.size(), names.size());
}

TEST(Csv, PicksColumnsByNameInTheOrderAskedFor) {
  EXPECT_EQ(read("a,b,c\n1,2,3\n4,5,6\n", {.columns = {"c", "a"}}).values, (Values{3, 1, 6, 4}));
  EXPECT_EQ(read("1,2,3\n4,5,6\n", {.columns = {"1"}}).values, (Values{2, 5}));
  EXPECT_EQ(read("a,b,c\n1,2,3\n4,5,6\n", {.columns = {"2", "a"}}).values, (Values{3, 1, 6, 4})) << "or by number";
  EXPECT_EQ(read("a,0\n1,2\n", {.columns = {"0"}}).values, (Values{2})) << "a name comes before a number";
  EXPECT_REFUSED(read("a,b\n1,2\n", {.columns = {"2"}}), "[csv] file: unknown column '2'; known: a, b");
  EXPECT_REFUSED(read("HUFL,OT\n1,2\n", {.columns = {"TO"}}), "[csv] file: unknown column 'TO'; did you mean 'OT'?");
  EXPECT_REFUSED(read("a,a\n1,2\n", {.columns = {"a"}}), "two columns have the name 'a'");
  EXPECT_REFUSED(read("date,a\nmonday,2\n", {.columns = {"date"}}), "file:2: column 'date': 'monday' is no number");
}

TEST(Csv, UnderstandsQuotesLineEndsAndDelimiters) {
  const CsvTable quoted = read("\"a, \"\"b\"\"\",\"c\nd\"\r\n\"1\",2\r\n3,4\r\n\r\n\n");
  EXPECT_EQ(quoted.columns, (Names{"a, \"b\"", "c\nd"}));
  EXPECT_EQ(quoted.values, (Values{1, 2, 3, 4}));
  EXPECT_EQ(read("a;b\n1;2\n", {.delimiter = ';'}).values, (Values{1, 2}));
  EXPECT_EQ(read("1\t2\n3\t4", {.delimiter = '\t'}).values, (Values{1, 2, 3, 4}));
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "a\n1\n")
                .columns,
            (Names{"a"}));
  EXPECT_EQ(read("\xc3\xa4\xff"
                 "1\xff"
                 "2",
                 {.delimiter = '\xff'})
                .columns,
            (Names{"1", "2"}));
}

TEST(Csv, RefusesMissingValuesWithLineAndColumn) {
  EXPECT_REFUSED(read("a,b\n1,2\n3,\n"), "[csv] file:3: column 'b': the value is missing");
  EXPECT_REFUSED(read("a,b\n1,2\n3,\n"), "task.series.missing");
  EXPECT_REFUSED(read("a,b\n1,\n3,NaN\n4,5\n"), "file:2: column 'b': the value is missing");
  EXPECT_REFUSED(read("a,b\n1,2\n3,n/a\n"), "file:3: column 'b': the value is missing");
  EXPECT_REFUSED(read("a\n1\n\n2\n"), "file:3: the line is empty: take it out, or write nan where a value is missing");
}

TEST(Csv, RefusesWhatIsNoNumber) {
  EXPECT_REFUSED(read("a,b\n1,2\n3,four\n"), "file:3: column 'b': 'four' is no number");
  EXPECT_REFUSED(read("a\n1\n1.2.3\n"), "file:3: column 'a': '1.2.3' is no number");
  EXPECT_REFUSED(read("a\n1\ninf\n"), "'inf' is no number");
  EXPECT_REFUSED(read("a\n1\n1e39\n"), "'1e39' is no number that a 32-bit float can hold");
  EXPECT_REFUSED(read("a\n1\n\x1b[31m\n"), "'\\x1b[31m'");
}

TEST(Csv, CountsLinesWithinQuotes) { EXPECT_REFUSED(read("a,b\n\"x\ny\",1\n\"x\",z\n"), "file:4: column 'b': 'z'"); }

TEST(Csv, RefusesBrokenFiles) {
  EXPECT_REFUSED(read(""), "file:1: the file is empty");
  EXPECT_REFUSED(read("a,b\n"), "no row follows");
  EXPECT_REFUSED(read("a,b\n1\n"), "file:2: the row has 1 field instead of 2");
  EXPECT_REFUSED(read("a,b\n1,2,3\n"), "file:2: the row has 3 fields instead of 2");
  EXPECT_REFUSED(read("a\n1\n\"2\n3\n"), "file:3: a quote is opened and never closed");
  EXPECT_REFUSED(read("a\n\"1\"2\n"), "file:2: a delimiter must follow a closing quote");
  EXPECT_REFUSED(read("a;b\n1;2\n"), "no column holds numbers; is ',' the right delimiter? Say delimiter = \";\"");
  EXPECT_REFUSED(read("a\n1\n", {.delimiter = '"'}), "neither a quote");
  EXPECT_REFUSED(read("a\n\"" + std::string(17 << 20, 'x')), "more than 16 MiB");
}

RC_GTEST_PROP(Csv, ReadsBackWhatWasWritten, ()) {
  const int rows = *rc::gen::inRange(1, 20), columns = *rc::gen::inRange(1, 6);
  const bool quoted = *rc::gen::arbitrary<bool>(), dos = *rc::gen::arbitrary<bool>();
  Values values;
  std::string text;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      values.push_back(static_cast<float>(*rc::gen::inRange(-1000000, 1000000)) / 64);
      text += fmt::format(fmt::runtime(quoted ? "\"{}\"" : "{}"), values.back());
      text += column + 1 < columns ? "," : dos ? "\r\n" : "\n";
    }
  const CsvTable table = read(text);
  RC_ASSERT(table.rows == static_cast<std::size_t>(rows));
  RC_ASSERT(table.values == values);
}

}  // namespace
}  // namespace throughtime
