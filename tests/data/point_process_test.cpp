#include "data/tables/point_process.h"

#include <gtest/gtest.h>

#include "data/files.h"

namespace throughtime {
namespace {

using testing::stream_of;
using Numbers = std::vector<double>;
using Ids = std::vector<std::int32_t>;
using Places = std::vector<std::size_t>;

EventSequences lines(const std::string& times, const std::string& marks, Vocabulary known = {}) {
  return read_event_lines(*stream_of(times), *stream_of(marks), known);
}
EventSequences table(const std::string& text, Vocabulary known = {}) {
  return read_event_table(*stream_of(text), known);
}

Vocabulary frozen(const std::vector<std::string>& marks) {
  Vocabulary known;
  for (const std::string& mark : marks) known.add(mark);
  known.freeze();
  return known;
}

TEST(EventLines, PairTimesWithMarksLineByLine) {
  const EventSequences events = lines("0.5 1 1\r\n3\n", " 2 1  2 \n1", frozen({"1", "2"}));
  EXPECT_EQ(events.times, (Numbers{0.5, 1, 1, 3}));
  EXPECT_EQ(events.marks, (Ids{1, 0, 1, 0}));
  EXPECT_EQ(events.begins, (Places{0, 3, 4}));
  EXPECT_EQ(events.sequences(), 2u);
}

TEST(EventLines, RefuseWhatIsWrongWithItsLine) {
  EXPECT_REFUSED(lines("1 2\n5 4\n", "a b\na b\n"),
                 "file:2: event 2: the times of a sequence must not fall, 4 comes after 5");
  EXPECT_REFUSED(lines("1 2\n-0.5 4\n", "a b\na b\n"), "file:2: event 1: a time must be at least 0, got -0.5");
  EXPECT_REFUSED(lines("1 x\n", "a b\n"), "file:1: event 2: 'x' is no finite time");
  EXPECT_REFUSED(lines("1 nan\n", "a b\n"), "'nan' is no finite time");
  EXPECT_REFUSED(lines("1 1e999\n", "a b\n"), "'1e999' is no finite time");
  EXPECT_REFUSED(lines("1 2\n1 2 3\n", "1 2\n1 3\n", frozen({"1", "2"})),
                 "file:2: event 2: unknown mark '3'; known: '1', '2'");
  EXPECT_REFUSED(lines("1 2\n1 2 3 4\n", "a b\na b\n"), "file:2: the line has 2 marks, but file:2 has 4 times");
  EXPECT_REFUSED(lines("1\n", "a b c\n"), "the line has 3 marks, but file:1 has 1 times");
  EXPECT_REFUSED(lines("1 2\n", "a b\na b\n"), "file:2: there is no such line in file, which has 1 line");
  EXPECT_REFUSED(lines("1\n2\n3\n", "a\n"), "file:2: there is no such line");
  EXPECT_REFUSED(lines("1 2\n\n3\n", "a b\n\nc\n"), "file:2: the line is empty");
  EXPECT_REFUSED(lines("", ""), "file:1: the file is empty");
  EXPECT_REFUSED(lines("1\n", "\xff\n"), "is no UTF-8");
  EXPECT_REFUSED(lines("1\n", std::string(300, 'a')), "a word of more than 256 bytes");
}

TEST(EventTable, ReadsColumnsByName) {
  const EventSequences events = table("day,mark,time,sequence\nmo,buy,0,a\nmo,sell,0.25,a\ntu,\"buy\",+7, b\n");
  EXPECT_EQ(events.times, (Numbers{0, 0.25, 7}));
  EXPECT_EQ(events.marks, (Ids{0, 1, 0}));
  EXPECT_EQ(events.begins, (Places{0, 2, 3}));
  EXPECT_EQ(table("time,mark\n1,x\n2,y\n").begins, (Places{0, 2}));
}

TEST(EventTable, RefusesWhatIsWrongWithItsLine) {
  EXPECT_REFUSED(table("time,mark\n1,x\n0.5,x\n"),
                 "file:3: event 2: the times of a sequence must not fall, 0.5 comes after 1");
  EXPECT_REFUSED(table("time,mark\n-1,x\n"), "file:2: event 1: a time must be at least 0, got -1");
  EXPECT_REFUSED(table("time,mark\n1,\n"), "file:2: event 1: the mark is missing");
  EXPECT_REFUSED(table("time,mark\n,x\n"), "file:2: event 1: '' is no finite time");
  EXPECT_REFUSED(table("time,mark\n1,x\n2,z\n", frozen({"x", "y"})),
                 "file:3: event 2: unknown mark 'z'; known: 'x', 'y'");
  EXPECT_REFUSED(table("time,mark\n1,x,3\n"), "file:2: the row has 3 fields instead of 2");
  EXPECT_REFUSED(
      table("tme,mark\n1,x\n"),
      "file:1: the first line must name the column time (and may name mark and sequence), got 'tme', 'mark'");
  EXPECT_REFUSED(table("1,2\n3,4\n"), "got '1', '2'");
  EXPECT_REFUSED(table("Time,mark\n1,x\n"),
                 "file:1: there is no column time, but 'Time': capital letters count, write time");
  EXPECT_REFUSED(table("time,Mark\n1,x\n"),
                 "file:1: there is no column mark, but 'Mark': capital letters count, write mark");
  EXPECT_REFUSED(table("SEQUENCE,time\na,1\n"),
                 "there is no column sequence, but 'SEQUENCE': capital letters count, write");
  EXPECT_EQ(table("Mark,mark,time\nx,y,1\n").times, (Numbers{1}));
  EXPECT_REFUSED(table("time;mark\n1;x\n"), "got 'time;mark'; say task.point_process.delimiter = \";\"");
  EXPECT_REFUSED(table("time,mark\n\"1,5\",x\n"), "'1,5' is no finite time; numbers have a decimal point");
  EXPECT_REFUSED(table("time,mark\nnan,x\n"), "'nan' is no finite time");
  EXPECT_REFUSED(table("time,mark,time\n1,x,2\n"), "two columns have the name 'time'");
  EXPECT_REFUSED(table("time,mark\n"), "no event follows it");
  EXPECT_REFUSED(table(""), "the file is empty");
  EXPECT_REFUSED(table("time,mark,sequence\n1,x,a\n1,x,b\n2,x,a\n"), "file:4: sequence 'a' goes on after another one");
}

TEST(EventTable, WithoutMarksAllEventsAreAlike) {
  Vocabulary known;
  const EventSequences events = read_event_table(*stream_of("sequence,time\na,1\na,2\nb,0\n"), known);
  EXPECT_EQ(events.times, (Numbers{1, 2, 0}));
  EXPECT_EQ(events.marks, (Ids{0, 0, 0}));
  EXPECT_EQ(events.begins, (Places{0, 2, 3}));
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known.token(0), unmarked);
  EXPECT_EQ(table("time\n1\n", frozen({"event"})).marks, (Ids{0}));
  EXPECT_REFUSED(table("time\n1\n", frozen({"x", "y"})),
                 "file:1: there is no column mark, and the events of the training data have marks");
}

TEST(EventTable, ReadsPackedFiles) {
  Vocabulary known;
  const auto events = read_event_table(*ByteStream::open(testing::corpus("point_process/table.gz")), known);
  EXPECT_EQ(events.times.size(), 4u);
  EXPECT_EQ(events.sequences(), 2u);
}

}  // namespace
}  // namespace throughtime
