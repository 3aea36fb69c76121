#include "data/tables/labelled_sequences.h"

#include <gtest/gtest.h>

#include "data/arrays/npy.h"
#include "data/files.h"
#include "support/npz.h"

namespace throughtime::testing {
namespace {

using Names = std::vector<std::string>;
using Values = std::vector<float>;
using Begins = std::vector<std::size_t>;

LabelledSequences rows_of(const std::string& text, const SequenceFileOptions& options = {}) {
  return read_sequence_rows(*stream_of(text), options);
}

LabelledSequences archive_of(const std::string& bytes, const SequenceFileOptions& options = {}) {
  return read_sequence_archive([&] { return stream_of(bytes); }, options);
}

// ---------------------------------------------------------------- CSV

TEST(SequenceRows, AreGatheredByTheirIds) {
  const auto read = rows_of("id,label,x,y\na,up,1,2\nb,down,3,4\na,up,5,6\n");
  EXPECT_EQ(read.ids, (Names{"a", "b"}));
  EXPECT_EQ(read.columns, (Names{"x", "y"}));
  EXPECT_EQ(read.begins, (Begins{0, 2, 3}));
  EXPECT_EQ(read.values, (Values{1, 2, 5, 6, 3, 4}));
  EXPECT_EQ(read.target_names, Names{"label"});
  EXPECT_EQ(read.targets, (Names{"up", "down"}));
  EXPECT_TRUE(read.left_out.empty());
}

TEST(SequenceRows, OfOneStepAreSequences) {
  const auto read = rows_of("x,id,label\n7,a,up\n");
  EXPECT_EQ(read.begins, (Begins{0, 1}));
  EXPECT_EQ(read.values, Values{7});
}

TEST(SequenceRows, HaveTheColumnsThatAreAskedFor) {
  const std::string file = "who;when;x;y;speed;mood\na;monday;1;2;0.5;good\n";
  const auto chosen =
      rows_of(file, {.delimiter = ';', .id = "who", .inputs = {"y", "x"}, .targets = {"speed", "mood"}});
  EXPECT_EQ(chosen.columns, (Names{"y", "x"}));
  EXPECT_EQ(chosen.values, (Values{2, 1}));
  EXPECT_EQ(chosen.target_names, (Names{"speed", "mood"}));
  EXPECT_EQ(chosen.targets, (Names{"0.5", "good"}));
  const auto all = rows_of(file, {.delimiter = ';', .id = "who", .targets = {"mood"}});
  EXPECT_EQ(all.columns, (Names{"x", "y", "speed"}));
  EXPECT_EQ(all.left_out, Names{"when ('monday' in line 2 is no number)"});
}

TEST(SequenceRows, NeedNoTargetsWhereNoneAreAskedFor) {
  SequenceFileOptions options;
  options.labelled = false;
  EXPECT_EQ(rows_of("id,x\na,1\n", options).columns, Names{"x"});
  const auto with = rows_of("id,label,x\na,3,1\n", options);
  EXPECT_EQ(with.columns, Names{"x"});  // a label is no input, also not where it is a number
  EXPECT_TRUE(with.targets.empty());
}

TEST(SequenceRows, RefuseWhatIsNoTableOfSequences) {
  EXPECT_REFUSED(rows_of(""), "[sequences] file:1: the file is empty");
  EXPECT_REFUSED(rows_of("id,label,x\n"), "there is a header, but no row follows it");
  EXPECT_REFUSED(rows_of("id,label,x\na,up,1\nb,up\n"), "file:3: the row has 2 fields instead of 3");
  EXPECT_REFUSED(rows_of("id,id,label,x\na,b,up,1\n"), "two columns have the name 'id'");
  EXPECT_REFUSED(rows_of("id,label\na,up\n"), "file:2: no column beside the id and the targets holds numbers");
  EXPECT_REFUSED(rows_of("id,label,x\n,up,1\n"), "file:2: column 'id': the value is missing; every row needs one");
  EXPECT_REFUSED(rows_of("id,label,x\na,,1\n"), "file:2: column 'label': the value is missing");
  EXPECT_REFUSED(rows_of("id,label,x\na,up,1\na,down,1\n"),
                 "file:3: column 'label': sequence 'a' has 'down' here and 'up' before; all its rows need the same");
}

TEST(SequenceRows, SayWhichColumnIsMissingAndWhichIsMeant) {
  EXPECT_REFUSED(rows_of("id,x\na,1\n"), "unknown column of task.sequences.targets 'label'; known: id, x");
  EXPECT_REFUSED(rows_of("id,lable,x\na,up,1\n"), "did you mean 'lable'?");
  EXPECT_REFUSED(rows_of("ID,label,x\na,up,1\n"),
                 "file:1: there is no column 'id', but 'ID': capital letters count; say task.sequences.id = \"ID\"");
  EXPECT_REFUSED(rows_of("id,Label,x\na,up,1\n"), "say task.sequences.targets = \"Label\"");
  EXPECT_REFUSED(rows_of("id,label,x\na,up,1\n", {.inputs = {"X"}}), "say task.sequences.inputs = \"x\"");
}

TEST(SequenceRows, SayWhichDelimiterIsMeant) {
  EXPECT_REFUSED(rows_of("id;label;x\na;up;1\n"),
                 "file:1: the header 'id;label;x' has one column; say task.sequences.delimiter = \";\"");
  EXPECT_REFUSED(rows_of("id\tlabel\tx\na\tup\t1\n"), "say task.sequences.delimiter = \"tab\"");
  EXPECT_REFUSED(rows_of("id,label,x\na,up,1\n", {.delimiter = ';'}), "say task.sequences.delimiter = \",\"");
}

TEST(SequenceRows, RefuseWhatIsNoNumber) {
  const auto with = [](const std::string& value) {
    return rows_of("id;label;x\na;up;1\na;up;" + value + "\n", {.delimiter = ';'});
  };
  EXPECT_REFUSED(with("1,5"), "file:3: column 'x': '1,5' has a decimal comma; numbers have a point, such as 1.5");
  EXPECT_REFUSED(with("1,234,567"), "'1,234,567' has thousands separators");
  EXPECT_REFUSED(with("1,234"),
                 "file:3: column 'x': '1,234' has a comma; numbers have a decimal point and no thousands");
  EXPECT_REFUSED(with("nan"), "file:3: column 'x': 'nan' is no finite number; fill the gap or leave the step out");
  EXPECT_REFUSED(with("inf"), "'inf' is no finite number");
  EXPECT_REFUSED(with("1e39"), "'1e39' is no finite number");
  EXPECT_REFUSED(with(""), "column 'x': the value is missing; fill the gap or leave the step out");
  EXPECT_REFUSED(with("word"), "'word' is no finite number");
  EXPECT_REFUSED(rows_of("id,label,x\na,up,1,5\n"), "the row has 4 fields instead of 3; numbers have a decimal point");
  EXPECT_REFUSED(rows_of("id;label;x\na;up;1,5\n", {.delimiter = ';'}), "'1,5' has a decimal comma");
}

// ---------------------------------------------------------------- NPZ

const std::string cube = npy_floats("(2, 3, 2)", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});

TEST(SequenceArchive, HasStepsTargetsAndLengths) {
  const auto whole = archive_of(npz_file({{"x", cube}, {"y", npy_integers("(2,)", {1, 0})}}));
  EXPECT_EQ(whole.ids, (Names{"0", "1"}));
  EXPECT_EQ(whole.columns, (Names{"0", "1"}));
  EXPECT_EQ(whole.begins, (Begins{0, 3, 6}));
  EXPECT_EQ(whole.values.size(), 12u);
  EXPECT_EQ(whole.targets, (Names{"1", "0"}));
  const auto cut = archive_of(npz_file({{"lengths", npy_integers("(2,)", {1, 2})},
                                        {"x", cube},
                                        {"y", npy_texts({U"up", U"gr\u00f6\u00dfer\U0001f600"})}}));
  EXPECT_EQ(cut.begins, (Begins{0, 1, 3}));
  EXPECT_EQ(cut.values, (Values{1, 2, 7, 8, 9, 10}));
  EXPECT_EQ(cut.targets, (Names{"up", "gr\u00f6\u00dfer\U0001f600"}));
}

TEST(SequenceArchive, ReadsOneColumnAndSeveralTargets) {
  const auto read = archive_of(
      npz_file({{"x", npy_floats("(2, 2)", {1, 2, 3, 4})}, {"y", npy_floats("(2, 2)", {0.5f, -1, 2, 0.25f})}}));
  EXPECT_EQ(read.columns, Names{"0"});
  EXPECT_EQ(read.target_names, (Names{"0", "1"}));
  EXPECT_EQ(read.targets, (Names{"0.5", "-1", "2", "0.25"}));
  const auto chosen =
      archive_of(npz_file({{"x", cube}, {"y", npy_integers("(2,)", {1, 0})}}), {.inputs = {"1"}, .targets = {"state"}});
  EXPECT_EQ(chosen.values, (Values{2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(chosen.target_names, Names{"state"});
}

TEST(SequenceArchive, RefusesArraysThatDoNotFitTogether) {
  const std::string labels = npy_integers("(2,)", {1, 0});
  const auto with = [&](const std::string& x, const std::string& y, const std::vector<std::int64_t>& lengths = {}) {
    std::vector<std::pair<std::string, std::string>> arrays = {{"x", x}, {"y", y}};
    if (!lengths.empty())
      arrays.emplace_back("lengths", npy_integers("(" + std::to_string(lengths.size()) + ",)", lengths));
    return archive_of(npz_file(arrays));
  };
  EXPECT_REFUSED(archive_of(npz_file({{"y", labels}})), "unknown array 'x'");
  EXPECT_REFUSED(archive_of(npz_file({{"x", cube}})), "unknown array 'y'");
  EXPECT_REFUSED(with(npy_floats("(2,)", {1, 2}), labels),
                 "x must be an array [sequences, steps] or [sequences, steps, columns], it has 1 dimension");
  EXPECT_REFUSED(with(cube, npy_integers("(3,)", {1, 0, 1})), "y must be an array [2] or [2, targets]");
  EXPECT_REFUSED(with(cube, labels, {1}), "lengths must be an array of 2 numbers");
  EXPECT_REFUSED(with(cube, labels, {0, 3}),
                 "lengths[0] must be a whole number between 1 and 3, the steps of x, got 0");
  EXPECT_REFUSED(with(cube, labels, {3, 4}), "lengths[1] must be a whole number between 1 and 3");
  EXPECT_REFUSED(archive_of(npz_file({{"x", cube}, {"y", labels}, {"lengths", npy_floats("(2,)", {1.5f, 2})}})),
                 "lengths[0] must be a whole number");
  EXPECT_REFUSED(archive_of(npz_file({{"x", cube}, {"y", labels}}), {.inputs = {"2"}}),
                 "unknown column of task.sequences.inputs '2'; known: 0, 1");
  EXPECT_REFUSED(archive_of(npz_file({{"x", cube}, {"y", labels}}), {.targets = {"a", "b"}}),
                 "y has 1 target for each sequence, task.sequences.targets names 2");
  EXPECT_REFUSED(with(npy_floats("(1, 2)", {1, INFINITY}), npy_integers("(1,)", {1})),
                 "number 1 (from 0) is not finite");
}

TEST(SequenceArchive, WhatFollowsASequenceIsNotRead) {
  const std::string x = npy_floats("(2, 2, 2)", {1, 2, NAN, NAN, 5, 6, 7, NAN}), y = npy_integers("(2,)", {1, 0});
  const auto of = [&](const std::vector<std::int64_t>& lengths) {
    return archive_of(npz_file({{"x", x}, {"y", y}, {"lengths", npy_integers("(2,)", lengths)}}));
  };
  EXPECT_EQ(of({1, 1}).values, (Values{1, 2, 5, 6}));
  EXPECT_REFUSED(of({1, 2}), "x[1, 1] is nan, within the 2 steps of the sequence; fill the gap");
}

TEST(SequenceArchive, EveryBeginningIsRefused) {
  const std::string good = npz_file({{"x", cube}, {"y", npy_texts({U"a", U"b"})}});
  // The list of members at the end is not needed, only its first bytes.
  const std::string needed = good.substr(0, good.find("PK\x01\x02") + 4);
  EXPECT_NO_THROW(archive_of(needed));
  for (std::size_t size = 0; size < needed.size(); ++size)
    EXPECT_THROW(archive_of(needed.substr(0, size)), InvalidInput) << size;
}

TEST(NpyTexts, AreReadInEveryFormOfNumPy) {
  const auto texts = [](const std::string& file) { return read_npy_texts(*stream_of(file)).texts; };
  EXPECT_EQ(texts(npy_file("|S3", "(2,)", std::string("ab\0abc", 6))), (Names{"ab", "abc"}));
  EXPECT_EQ(texts(npy_file(">U1", "(1,)", std::string("\0\0\0a", 4))), Names{"a"});
  EXPECT_EQ(texts(npy_floats("(3,)", {0.1f, 3, -2e30f})), (Names{"0.1", "3", "-2e+30"}));
  EXPECT_REFUSED(texts(npy_file("<U1", "(1,)", little_bytes(0xd800, 4))), "55296 is no letter of Unicode");
  EXPECT_REFUSED(texts(npy_file("<U1", "(1,)", little_bytes(0x110000, 4))), "is no letter of Unicode");
  EXPECT_REFUSED(texts(npy_file("<U0", "(1,)", "")), "type '<U0' is not supported");
  EXPECT_REFUSED(texts(npy_file("<U99999999999", "(1,)", "")), "texts of more than 65536 letters");
  EXPECT_REFUSED(read_npy(*stream_of(npy_texts({U"a"}))), "type '<U1' is not supported");
}

// ---------------------------------------------------------------- folders

TEST(SequenceFolder, HasAFileForEachRowOfItsTable) {
  const ScratchDirectory folder;
  folder.write("labels.csv", "file,label\nb.csv,up\na,down\n");
  folder.write("a.csv", "x,y\n1,2\n");
  folder.write("b.csv", "y,x\n4,3\n6,5\n");
  folder.write("c.csv", "x,y\n1,2\n");
  folder.write("notes.md", "nothing");
  const auto read = read_sequences(folder.path().string(), {});
  EXPECT_EQ(read.ids, (Names{"b.csv", "a"}));
  EXPECT_EQ(read.columns, (Names{"y", "x"}));
  EXPECT_EQ(read.begins, (Begins{0, 2, 3}));
  EXPECT_EQ(read.values, (Values{4, 3, 6, 5, 2, 1}));
  EXPECT_EQ(read.targets, (Names{"up", "down"}));
  EXPECT_EQ(read.left_out, Names{"1 file that the table does not name"});
}

TEST(SequenceFolder, ReadsArraysAndAnotherTable) {
  const ScratchDirectory folder;
  const std::string table = folder.write("tables/moods.csv", "name,mood\none.npy,2\n");
  folder.write("data/one.npy", npy_floats("(2, 2)", {1, 2, 3, 4}));
  const auto read =
      read_sequences((folder / "data").string(), {.id = "name", .inputs = {"1"}, .targets = {"mood"}, .table = table});
  EXPECT_EQ(read.values, (Values{2, 4}));
  EXPECT_EQ(read.target_names, Names{"mood"});
}

TEST(SequenceFolder, WithoutTargetsIsAllItsFiles) {
  const ScratchDirectory folder;
  folder.write("b.csv", "x\n1\n");
  folder.write("a.csv", "x\n2\n");
  SequenceFileOptions options;
  options.labelled = false;
  EXPECT_EQ(read_sequences(folder.path().string(), options).ids, (Names{"a.csv", "b.csv"}));
}

TEST(SequenceFolder, SaysWhatIsMissing) {
  const ScratchDirectory folder;
  const auto read = [&] { return read_sequences(folder.path().string(), {}); };
  EXPECT_REFUSED(read(), "is a folder and needs a table of targets: there is no");
  folder.write("labels.csv", "file,label\na.csv,up\na.csv,up\n");
  EXPECT_REFUSED(read(), "labels.csv:3: column 'file': 'a.csv' is in line 2 too");
  folder.write("labels.csv", "name,label\na.csv,up\n");
  EXPECT_REFUSED(read(), "unknown column of task.sequences.id 'file'; known: name, label");
  folder.write("labels.csv", "file,label\n");
  EXPECT_REFUSED(read(), "there is a header, but no row follows it");
  folder.write("labels.csv", "file,label\na.csv,up\nb.csv,down\n");
  folder.write("a.csv", "x,y\n1,2\n");
  EXPECT_REFUSED(read(), "unknown file of the table 'b.csv'");
  folder.write("b.csv", "x,y,z\n1,2,3\n");
  EXPECT_REFUSED(read(), "has 2 columns and");
  folder.write("b.csv", "x\n1\n");
  EXPECT_REFUSED(read(), "b.csv: unknown column 'y'");
  folder.write("b.csv", "x,z\n1,2\n");
  EXPECT_REFUSED(read(), "'y'");
  folder.write("b.csv", "x,y\n");
  EXPECT_REFUSED(read(), "there is a header, but no row follows it");  // a sequence of length 0
  folder.write("b.csv", "x,y\n1,nan\n");
  EXPECT_REFUSED(read(), "b.csv:2: column 'y': the value is missing");
  SequenceFileOptions unlabelled;
  unlabelled.labelled = false;
  const ScratchDirectory empty;
  EXPECT_REFUSED(read_sequences(empty.path().string(), unlabelled), "the folder has no file that ends in");
}

TEST(SequenceFiles, AreFoundByTheirEndings) {
  const ScratchDirectory scratch;
  EXPECT_EQ(read_sequences(scratch.write("a.tsv", "id\tlabel\tx\na\tup\t1\n"), {}).values, Values{1});
  EXPECT_EQ(read_sequences(scratch.write("a.npz", npz_file({{"x", cube}, {"y", npy_texts({U"a", U"b"})}})), {}).size(),
            2u);
  EXPECT_REFUSED(read_sequences("", {}), "task.sequences.files must name a file");
  EXPECT_REFUSED(read_sequences((scratch / "none.csv").string(), {}), "there is no such file or folder");
  EXPECT_REFUSED(read_sequences(scratch.write("a.doc", "x"), {}), "the ending must tell the format: .npz, .csv");
}

}  // namespace
}  // namespace throughtime::testing
