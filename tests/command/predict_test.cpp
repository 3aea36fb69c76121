#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::lines_in;
using testing::Outcome;
using testing::text_of;
using testing::write_text;

std::string bytes_of(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string little(std::uint32_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 255);
  return bytes;
}

/// Float audio of one channel.
std::string wav_of(const std::vector<float>& samples) {
  const std::string data = bytes_of(samples);
  const auto size = static_cast<std::uint32_t>(data.size());
  return "RIFF" + little(36 + size, 4) + "WAVEfmt " + little(16, 4) + little(3, 2) + little(1, 2) + little(8000, 4) +
         little(32000, 4) + little(4, 2) + little(32, 2) + "data" + little(size, 4) + data;
}

std::string npy_of(const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(values.size()) + ",), }";
  header.resize(117, ' ');
  return std::string("\x93NUMPY\x01\x00", 8) + little(118, 2) + header + "\n" + bytes_of(values);
}

std::string series_config(const std::string& path, const std::string& more = "") {
  return "[task]\nname = \"series\"\nseries.path = \"" + path + "\"\nseries.length = 10\n" + more +
         "[model]\nhidden = 3\n[train]\niterations = 4\nbatch = 2\n[run]\nthreads = 1\n";
}

/// predict reads what training read.
class Predict : public testing::CommandTest {
 protected:
  void train(const std::string& config, const std::string& name) const {
    const Outcome outcome = run("train --quiet " + config_file(config, name));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  void train_text(const std::string& unit) const {
    std::string text;
    for (int i = 0; i < 200; ++i) text += "a bad 7\n";
    write_text(path("corpus.txt"), text);
    train(
        "[task]\nname = \"text\"\ntext.corpus = \"files\"\ntext.files = [\"corpus.txt\"]\ntext.length = 5\ntext.unit = "
        "\"" +
            unit + "\"\n[model]\nhidden = 3\n[train]\niterations = 4\nbatch = 2\n[run]\nthreads = 1\n",
        unit);
  }
  /// The answer to lines on stdin.
  Outcome answer(const std::string& run_name, const std::string& lines, const std::string& options = "") const {
    write_text(path("lines"), lines);
    return run("predict runs/" + run_name + " " + options, "lines");
  }
};

std::string dated_table() {
  std::string text = "date,level,flow,note\n";
  for (int i = 0; i < 120; ++i)
    text += "2020-01-01 " + std::to_string(i) + "h," + std::to_string(i % 7) + "," + std::to_string(i * i % 11) +
            ",\"dry, cold\"\n";
  return text;
}

TEST_F(Predict, ReadsTheTableItWasTrainedOnWithItsTextColumns) {
  write_text(path("dated.csv"), dated_table());
  train(series_config("dated.csv"), "dated");
  const Outcome all = run("predict runs/dated dated.csv");
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(lines_in(all.out), 121u);
  EXPECT_EQ(all.out.substr(0, all.out.find('\n')), "level,flow");
  // Columns are found by name, wherever they stand; packed is the same.
  EXPECT_EQ(answer("dated", "flow,level\n0,0\n1,1\n4,2\n").out, all.out.substr(0, [&] {
    std::size_t end = 0;
    for (int i = 0; i < 4; ++i) end = all.out.find('\n', end) + 1;
    return end;
  }()));
  ASSERT_EQ(shell("gzip -k dated.csv").code, 0);
  EXPECT_EQ(run("predict runs/dated dated.csv.gz").out, all.out);
  EXPECT_NE(answer("dated", "flow,levle\n0,0\n")
                .err.find("there is no column 'level', which the model reads; did you "
                          "mean 'levle'?"),
            std::string::npos);
  EXPECT_NE(answer("dated", "1,2,3\n")
                .err.find("line 1: 3 fields, and no first line that names them; the model reads "
                          "level, flow"),
            std::string::npos);
  EXPECT_NE(answer("dated", "date,level,flow\nx,1\n").err.find("line 2: the line has 2 fields, field 3 is needed"),
            std::string::npos);
  EXPECT_NE(answer("dated", "level,flow\n\"1,2\n").err.find("line 2: a quote is opened and never closed"),
            std::string::npos);
  EXPECT_NE(answer("dated", "level,flow\n\"1,234,567\",2\n").err.find("thousands separators"), std::string::npos);
}

TEST_F(Predict, ColumnsMayBeGivenByTheirNumbers) {
  write_text(path("dated.csv"), dated_table());
  train(series_config("dated.csv", "series.inputs = [\"1\", \"2\"]\nseries.targets = [\"1\"]\n"), "numbered");
  train(series_config("dated.csv", "series.inputs = [\"level\", \"flow\"]\nseries.targets = [\"level\"]\n"), "named");
  const Outcome numbered = run("predict runs/numbered dated.csv"), named = run("predict runs/named dated.csv");
  EXPECT_EQ(numbered.code, 0) << numbered.err;
  EXPECT_EQ(numbered.out.substr(numbered.out.find('\n')), named.out.substr(named.out.find('\n')));
  expect_refusal(run("train --quiet numbered.toml --force --set 'task.series.inputs=[\"4\"]'"), "unknown column '4'");
  expect_refusal(run("train --quiet numbered.toml --force --set 'task.series.inputs=[\"0\"]'"), "is no number");
}

TEST_F(Predict, ArraysAudioAndRawFloatsGiveWhatTheirNumbersGive) {
  std::vector<float> values;
  std::string lines;
  for (int i = 0; i < 80; ++i) {
    values.push_back(0.5f * std::sin(0.4f * static_cast<float>(i)));
    std::ostringstream text;
    text.precision(9);
    text << values.back();
    lines += text.str() + "\n";
  }
  write_text(path("in.wav"), wav_of(values));
  write_text(path("in.npy"), npy_of(values));
  write_text(path("in.f32"), bytes_of(values));
  train(series_config("in.wav"), "audio");
  const Outcome audio = run("predict runs/audio in.wav");
  EXPECT_EQ(audio.code, 0) << audio.err;
  EXPECT_EQ(lines_in(audio.out), 81u);
  for (const char* other : {"in.npy", "in.f32"})
    EXPECT_EQ(run(std::string("predict runs/audio ") + other).out, audio.out);
  EXPECT_EQ(answer("audio", lines).out, audio.out);
  const Outcome json = run("predict runs/audio in.wav --format jsonl");
  EXPECT_EQ(lines_in(json.out), 80u);
  EXPECT_EQ(nlohmann::json::parse(json.out.substr(0, json.out.find('\n'))).at("prediction").size(), 1u);
  // One frame, and none.
  write_text(path("one.wav"), wav_of({0.25f}));
  EXPECT_EQ(lines_in(run("predict runs/audio one.wav").out), 2u);
  write_text(path("none.wav"), wav_of({}));
  expect_refusal(run("predict runs/audio none.wav"), "there are no samples");
  // What is no table of the model's width, and what is not there.
  write_text(path("wide.csv"), "a,b\n1,2\n");
  EXPECT_NE(run("predict runs/audio wide.csv").err.find("there is no column '0'"), std::string::npos)
      << "nobody asked for a column by its number";
  write_text(path("named.csv"), "signal\n0.25\n");
  EXPECT_EQ(run("predict runs/audio named.csv").out, run("predict runs/audio one.wav").out) << "as many as it reads";
  expect_refusal(run("predict runs/audio missing.npy"), "cannot read missing.npy: there is no such file");
  std::filesystem::create_directory(path("folder.wav"));
  expect_refusal(run("predict runs/audio folder.wav"), "cannot read folder.wav: it is a directory");
  expect_refusal(run("predict runs/audio --input-format wav"), "stdin brings lines");
  expect_refusal(run("predict runs/audio in.wav --input-format mp3"), "unknown input format 'mp3'");
  expect_refusal(run("train --quiet --force audio.toml --set task.series.path=folder.wav"), "it is a directory");
}

TEST_F(Predict, CharactersMayBeSpacesEscapesAndNumbers) {
  train_text("character");
  const std::string vocabulary = text_of(path("runs/character/task/vocabulary.txt"));
  EXPECT_EQ(vocabulary, "a\n \nb\nd\n7\n\\n\n");
  const Outcome answers = answer("character", " \n\n\\n\n\n5\n\n7\n\n4\n\n\"\n");
  std::istringstream lines(answers.out);
  std::array<std::string, 11> line;
  for (std::string& each : line) std::getline(lines, each);
  EXPECT_NE(line[1], line[3]) << "a space is not the end of a line";
  EXPECT_EQ(line[3], line[5]) << "5 is the number of the end of a line";
  EXPECT_EQ(line[7], line[9]) << "7 is a character, 4 its number";
  EXPECT_NE(answers.err.find("line 11: '\"' is neither in the vocabulary of 6 tokens nor the number of one"),
            std::string::npos)
      << answers.err;
  // In JSON a text is a token and a number is a number.
  const Outcome json = answer("character", "\"7\"\n\n4\n\n\"\\n\"\n", "--format jsonl");
  EXPECT_EQ(json.code, 0) << json.err;
  EXPECT_EQ(json.out.substr(0, json.out.find('\n')), json.out.substr(json.out.find("\n\n") + 2, json.out.find('\n')));
  EXPECT_NE(answer("character", "7\n", "--format jsonl").err.find("a token must be a number from 0 to 5, got '7'"),
            std::string::npos);
  // Binary junk is a refusal without control characters.
  write_text(path("in.wav"), wav_of({1.0f, 2.0f}));
  expect_refusal(run("predict runs/character in.wav"), "in.wav holds numbers, and the model reads tokens");
  const Outcome junk = run("predict runs/character in.wav --input-format csv");
  EXPECT_EQ(junk.code, 2);
  for (const char letter : junk.err) EXPECT_TRUE(letter == '\n' || letter >= ' ') << junk.err;
}

TEST_F(Predict, ATextIsReadAsInTraining) {
  train_text("character");
  write_text(path("short.txt"), "a 7\nb");
  const Outcome text = run("predict runs/character short.txt --top 1");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(text.out, answer("character", "a\n \n7\n\\n\nb\n\\n\n", "--top 1").out);
  write_text(path("odd.txt"), "a q");
  EXPECT_NE(run("predict runs/character odd.txt").err.find("'q' is not in the vocabulary of 6 tokens"),
            std::string::npos);
  train_text("word");
  write_text(path("words.txt"), "bad  a\n7\n");
  const Outcome words = run("predict runs/word words.txt --top 1");
  EXPECT_EQ(words.code, 0) << words.err;
  EXPECT_EQ(words.out, answer("word", "bad\na\n<eos>\n7\n<eos>\n", "--top 1").out);
}

/// The 64-bit numbers of an array file.
std::vector<double> numbers_in(const std::string& npy) {
  const std::size_t begin = 10 + static_cast<unsigned char>(npy[8]) + 256 * static_cast<unsigned char>(npy[9]);
  EXPECT_EQ(begin % 64, 0u);
  std::vector<double> values((npy.size() - begin) / sizeof(double));
  std::memcpy(values.data(), npy.data() + begin, values.size() * sizeof(double));
  return values;
}

/// The numbers of CSV lines after the header, row by row.
std::vector<double> numbers_of_lines(const std::string& csv) {
  std::istringstream text(csv.substr(csv.find('\n') + 1));
  std::vector<double> values;
  for (std::string line; std::getline(text, line);) {
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) values.push_back(std::stod(field));
  }
  return values;
}

TEST_F(Predict, WritesLinesAndArraysIntoFiles) {
  write_text(path("dated.csv"), dated_table());
  train(series_config("dated.csv"), "dated");
  const Outcome shown = run("predict runs/dated dated.csv");
  EXPECT_EQ(run("predict runs/dated dated.csv -o out.csv").out, "");
  EXPECT_EQ(text_of(path("out.csv")), shown.out);
  EXPECT_EQ(run("predict runs/dated dated.csv -o out.jsonl").code, 0);
  EXPECT_EQ(text_of(path("out.jsonl")), run("predict runs/dated dated.csv --format jsonl").out);
  EXPECT_EQ(run("predict runs/dated dated.csv -o out.npy").code, 0);
  const std::string npy = text_of(path("out.npy"));
  EXPECT_NE(npy.find("'shape': (120, 2)"), std::string::npos);
  EXPECT_EQ(numbers_in(npy), numbers_of_lines(shown.out));
  EXPECT_EQ(run("predict runs/dated dated.csv -o other --format npy").code, 0);
  EXPECT_EQ(text_of(path("other")), npy);
  // What was written is read again.
  write_text(path("one.csv"), "level,flow\n1,2\n");
  EXPECT_EQ(run("predict runs/dated one.csv -o one.npy").code, 0);
  EXPECT_EQ(run("predict runs/dated one.npy").code, 0);

  expect_refusal(run("predict runs/dated dated.csv --format npy"), "npy goes into a file: -o FILE.npy");
  expect_refusal(run("predict runs/dated dated.csv -o out.wav"), "audio comes from audio");
  expect_refusal(run("predict runs/dated dated.csv --output jsonl"),
                 "--output names a file; the format is --format jsonl");
  const Outcome nowhere = run("predict runs/dated dated.csv -o no/where.csv");
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_NE(nowhere.err.find("cannot write no/where.csv"), std::string::npos) << nowhere.err;
  expect_refusal(run("predict runs/dated dated.csv -o out.xlsx"),
                 "out.xlsx: answers are written as .csv, .jsonl, .npy or .wav; --format says it of another name");
  EXPECT_EQ(run("predict runs/dated dated.csv -o out.data --format csv").code, 0);
  EXPECT_EQ(text_of(path("out.data")), shown.out);
  EXPECT_EQ(run("predict runs/dated dated.csv -o out.ndjson").code, 0);
  EXPECT_EQ(text_of(path("out.ndjson")), text_of(path("out.jsonl")));
  expect_refusal(run("predict runs/dated dated.csv --format parquet"), "unknown format 'parquet'");
  expect_refusal(run("predict runs/dated dated.csv --set task.series.path=x"),
                 "--data and --set say where the data of "
                 "--split lies");
  // A refusal leaves no file behind, and one that is there as it was.
  write_text(path("bad.csv"), "level,flow\n1,2\n1,x\n");
  for (const char* name : {"new.csv", "new.npy", "out.csv"})
    expect_refusal(run(std::string("predict runs/dated bad.csv -o ") + name), "line 3: 'x' is not a finite number");
  EXPECT_FALSE(std::filesystem::exists(path("new.csv")) || std::filesystem::exists(path("new.npy")));
  EXPECT_EQ(text_of(path("out.csv")), shown.out);
}

TEST_F(Predict, AudioComesOutAsAudioWhateverItsLength) {
  std::vector<float> values;
  for (int i = 0; i < 40000; ++i) values.push_back(0.5f * std::sin(0.01f * static_cast<float>(i * (i % 97))));
  write_text(path("long.wav"), wav_of(values));  // more than two of the blocks that are read at a time
  train(series_config("long.wav"), "audio");
  EXPECT_EQ(run("predict runs/audio long.wav -o out.wav").code, 0);
  const std::string out = text_of(path("out.wav"));
  ASSERT_EQ(out.size(), 44 + 4 * values.size());
  EXPECT_EQ(out.substr(0, 44), text_of(path("long.wav")).substr(0, 44))
      << "rate, format and length are those of the input";
  // In parts, step by step through a pipe, and at once: the same bits.
  std::string lines;
  for (const float value : values) {
    std::ostringstream text;
    text.precision(9);
    text << value << "\n";
    lines += text.str();
  }
  std::vector<float> expected;
  for (const double value : numbers_of_lines(answer("audio", lines).out)) expected.push_back(static_cast<float>(value));
  EXPECT_TRUE(out.substr(44) == bytes_of(expected));
  // A program that cannot go back does not know the length.
  std::string streamed = wav_of(values);
  streamed.replace(40, 4, "\xff\xff\xff\xff");
  write_text(path("streamed.wav"), streamed);
  EXPECT_EQ(run("predict runs/audio streamed.wav -o streamed_out.wav").code, 0);
  const std::string unknown = text_of(path("streamed_out.wav"));
  EXPECT_EQ(unknown.substr(40, 4), "\xff\xff\xff\xff");
  EXPECT_TRUE(unknown.substr(44) == out.substr(44));
  EXPECT_EQ(lines_in(run("predict runs/audio streamed_out.wav").out), values.size() + 1);
  // Another rate is said, for the model counts samples.
  std::string faster = wav_of(values);
  faster.replace(24, 4, std::string("\x44\xac\0\0", 4));
  write_text(path("faster.wav"), faster);
  const Outcome other = run("predict runs/audio faster.wav -o faster_out.wav");
  EXPECT_NE(other.err.find("the recording has 44100 samples a second, that of the training had"), std::string::npos)
      << other.err;
  EXPECT_TRUE(text_of(path("faster_out.wav")).substr(44) == out.substr(44));
  EXPECT_EQ(run("predict runs/audio long.wav -o out.wav").err.find("samples a second"), std::string::npos);
  // A file that ends too soon is refused and leaves nothing.
  write_text(path("cut.wav"), wav_of(values).substr(0, 100000));
  expect_refusal(run("predict runs/audio cut.wav -o cut_out.wav"), "the file ends within its numbers");
  EXPECT_FALSE(std::filesystem::exists(path("cut_out.wav")));
}

/// 39 MiB more of it would be 39 MiB more of memory, or twice that with the answers, if the file or the answers were
/// held. What differs from run to run is below 1 MiB.
TEST_F(Predict, AudioTakesTheSameMemoryWhateverItsLength) {
  std::vector<float> second;
  for (int i = 0; i < 1 << 18; ++i) second.push_back(0.5f * std::sin(0.01f * static_cast<float>(i * (i % 97))));
  write_text(path("short.wav"), wav_of(second));
  std::vector<float> all;
  for (int i = 0; i < 40; ++i) all.insert(all.end(), second.begin(), second.end());
  write_text(path("long.wav"), wav_of(all));
  train(series_config("short.wav"), "audio");
  if (shell("command -v python3").code != 0) GTEST_SKIP() << "no python3 in PATH, which measures memory";
  // Not measured from here: a child begins with the peak of the one that it comes from.
  write_text(path("peak.py"),
             "import resource, subprocess, sys\nsubprocess.run(sys.argv[1:], check=True)\n"
             "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n");
  const auto peak = [&](const std::string& name) {  // in KiB
    const Outcome outcome =
        shell(fmt::format("python3 peak.py " THROUGHTIME_COMMAND " predict runs/audio {0}.wav -o {0}_out.wav", name));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return std::atol(outcome.out.c_str());
  };
  const long small = peak("short"), large = peak("long");
  EXPECT_EQ(std::filesystem::file_size(path("long_out.wav")), std::filesystem::file_size(path("long.wav")));
  EXPECT_GT(small, 1000);
  EXPECT_LT(large - small, 4096) << small << " and " << large << " KiB";
}

TEST_F(Predict, ATruthIsAsTheFileHasIt) {
  std::string text = "level\n";
  for (int i = 0; i < 120; ++i) text += fmt::format("{}.{:02}\n", 230 + i % 7, i);
  write_text(path("levels.csv"), text);
  train(series_config("levels.csv"), "levels");
  const Outcome test = run("predict runs/levels --split test");
  EXPECT_NE(test.out.find("\n0,236.97,"), std::string::npos) << test.out.substr(0, 200);
}

TEST_F(Predict, AFileThatIsRefusedAtItsHeaderLeavesNothing) {
  write_text(path("dated.csv"), dated_table());
  train(series_config("dated.csv"), "dated");
  write_text(path("other.csv"), "level,flux\n1,2\n");
  expect_refusal(run("predict runs/dated other.csv"), "there is no column 'flow'");
  write_text(path("header.csv"), "level,flow\n");
  const Outcome alone = run("predict runs/dated header.csv");
  EXPECT_EQ(alone.out, "level,flow\n") << "no steps, no answers: " << alone.err;
}

TEST_F(Predict, LinesThatAreNoJsonAreNamed) {
  write_text(path("dated.csv"), dated_table());
  train(series_config("dated.csv"), "dated");
  const auto refusal = [&](const std::string& line) { return answer("dated", line, "--format jsonl").err; };
  EXPECT_NE(refusal("1,2\n").find("line 1: '1,2' is no JSON; --input-format csv reads numbers between commas"),
            std::string::npos)
      << refusal("1,2\n");
  EXPECT_NE(refusal("[1, 2]\n{\"x\": 1}\n").find("line 2: '{\"x\": 1}' has no \"input\""), std::string::npos);
}

TEST_F(Predict, ASplitHasRowTruthAndForecast) {
  write_text(path("dated.csv"), dated_table());
  train(series_config("dated.csv"), "dated");
  const Outcome test = run("predict runs/dated --split test");
  EXPECT_EQ(test.code, 0) << test.err;
  EXPECT_EQ(test.out.substr(0, test.out.find('\n')), "row,truth_level,truth_flow,forecast_level,forecast_flow");
  // 120 rows, the last 24 of them for the test, the first of which has no forecast of a row before it.
  const std::vector<double> numbers = numbers_of_lines(test.out);
  ASSERT_EQ(numbers.size(), 5u * 23);
  std::string part = "level,flow\n";
  for (int i = 96; i < 119; ++i) part += std::to_string(i % 7) + "," + std::to_string(i * i % 11) + "\n";
  const std::vector<double> alone = numbers_of_lines(answer("dated", part).out);
  double squares = 0;
  for (std::size_t row = 0; row < 23; ++row) {
    const int file_row = 97 + static_cast<int>(row);
    EXPECT_EQ(numbers[5 * row], static_cast<double>(row));
    EXPECT_NEAR(numbers[5 * row + 1], file_row % 7, 1e-5);
    EXPECT_NEAR(numbers[5 * row + 2], file_row * file_row % 11, 1e-5);
    for (std::size_t i : {0, 1}) EXPECT_NEAR(numbers[5 * row + 3 + i], alone[2 * row + i], 1e-5);
    squares += std::pow(numbers[5 * row + 1] - numbers[5 * row + 3], 2);
  }
  EXPECT_GT(squares, 0);
  EXPECT_EQ(run("predict runs/dated --split test -o test.npy").code, 0);
  EXPECT_EQ(numbers_in(text_of(path("test.npy"))), numbers);
  const Outcome json = run("predict runs/dated --split validation --format jsonl");
  EXPECT_TRUE(json.out.starts_with("{\"row\":0,\"truth_level\":")) << json.out;
  expect_refusal(run("predict runs/dated dated.csv --split test"), "--split reads the data of the run");
  expect_refusal(run("predict runs/dated --split tset"), "did you mean 'test'?");
  std::filesystem::rename(path("dated.csv"), path("moved.csv"));
  EXPECT_EQ(run("predict runs/dated --split test --set task.series.path=moved.csv").out, test.out);
}

TEST_F(Predict, ASplitOfChangesAndBandsIsInLevels) {
  write_text(path("dated.csv"), dated_table());
  const std::string changes = "series.targets = [\"flow\"]\nseries.horizon = [1, 3]\nseries.difference = true\n";
  train(series_config("dated.csv", changes), "changes");
  const Outcome levels = run("predict runs/changes --split test");
  EXPECT_EQ(levels.out.substr(0, levels.out.find('\n')),
            "row,truth_flow +1,truth_flow +3,forecast_flow +1,forecast_flow +3");
  const std::vector<double> numbers = numbers_of_lines(levels.out);
  ASSERT_GE(numbers.size(), 5u);
  const int first = 96 + static_cast<int>(numbers[0]);  // the row of the file that the first answer begins with
  EXPECT_NEAR(numbers[1], (first + 1) * (first + 1) % 11, 1e-9);
  EXPECT_NEAR(numbers[2], (first + 3) * (first + 3) % 11, 1e-9);
  ASSERT_EQ(
      run("train --quiet " + config_file(series_config("dated.csv", changes), "band") + " --set model.head=gaussian")
          .code,
      0);
  const Outcome band = run("predict runs/band --split test --format jsonl");
  const nlohmann::json line = nlohmann::json::parse(band.out.substr(0, band.out.find('\n')));
  EXPECT_LT(line.at("forecast_flow +3 10 %"), line.at("forecast_flow +3 90 %"));
  EXPECT_EQ(line.at("truth_flow +1"), numbers[1]);
}

TEST_F(Predict, ASplitOfClassesHasTheirNames) {
  train_text("word");
  const Outcome test = run("predict runs/word --split test");
  EXPECT_EQ(test.code, 0) << test.err;
  EXPECT_EQ(test.out.substr(0, test.out.find('\n')), "row,truth,forecast,probability");
  EXPECT_NE(test.out.find(",<eos>,"), std::string::npos) << test.out;
  expect_refusal(run("predict runs/word --split test -o test.npy"), "is no number");
  ASSERT_EQ(run("train --quiet " + config_file(testing::tiny)).code, 0);
  const Outcome generated = run("predict runs/tiny --split test");
  EXPECT_EQ(generated.code, 0) << generated.err;
  EXPECT_TRUE(generated.out.starts_with("row,truth,forecast\n0,")) << "sequences are counted";
  EXPECT_NE(generated.out.find("\n1,"), std::string::npos);
}

/// Sequences of events with a rhythm of 1, 2, 1, 2, ..., perhaps with marks that alternate.
std::string event_table(bool marks, int sequences) {
  std::string text = marks ? "sequence,time,mark\n" : "sequence,time\n";
  for (int sequence = 0; sequence < sequences; ++sequence) {
    int time = 10;
    for (int event = 0; event < 60; ++event) {
      text += std::to_string(sequence) + "," + std::to_string(time) +
              (marks ? event % 2 == 0 ? ",tick" : ",tock" : "") + "\n";
      time += 1 + event % 2;
    }
  }
  return text;
}

std::string event_config(const std::string& more = "") {
  return "[task]\nname = \"point_process\"\npoint_process.files = [\"events.csv\"]\npoint_process.length = 20\n" +
         more +
         "[model]\nhidden = 8\n[optimizer]\nrate = 0.02\n[train]\niterations = 300\nbatch = 2\n[run]\nthreads = 1\n";
}

TEST_F(Predict, EventsAreAnsweredWithTheNextTimeAndMark) {
  write_text(path("events.csv"), event_table(true, 4));
  train(event_config("point_process.reset_sequences = true\n"), "events");
  write_text(path("new.csv"), "time,mark\n5,tick\n6,tock\n8,tick\n9,tock\n");
  const Outcome next = run("predict runs/events new.csv");
  EXPECT_EQ(next.code, 0) << next.err;
  std::istringstream lines(next.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "time,next_time,next_mark,probability");
  const char* const expected[] = {"tock", "tick", "tock", "tick"};
  double previous = 0;
  for (const char* mark : expected) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_NE(line.find(std::string(",") + mark + ","), std::string::npos) << next.out;
    const double time = std::stod(line), when = std::stod(line.substr(line.find(',') + 1));
    EXPECT_GT(when, time);
    EXPECT_GT(time, previous);
    previous = time;
  }
  // A sequence begins anew: its first answer is the first answer.
  write_text(path("two.csv"), "sequence,time,mark\n1,5,tick\n1,6,tock\n2,5,tick\n");
  const std::string two = run("predict runs/events two.csv").out;
  const std::size_t first = two.find('\n') + 1, gap = two.find("\n\n");
  ASSERT_NE(gap, std::string::npos) << two;
  EXPECT_EQ(two.substr(gap + 2), two.substr(first, two.find('\n', first) + 1 - first));
  // The answer in the units of the file, whatever the model's are.
  ASSERT_EQ(run("train --quiet --force events.toml --set task.point_process.scale=0.1 --set run.name=scaled").code, 0);
  const Outcome scaled = run("predict runs/scaled new.csv --format jsonl");
  const nlohmann::json object = nlohmann::json::parse(scaled.out.substr(0, scaled.out.find('\n')));
  EXPECT_EQ(object.at("time"), 5.0);
  EXPECT_NEAR(object.at("next_time").get<double>(), 6, 2);
  const Outcome split = run("predict runs/events --split test");
  EXPECT_EQ(split.out.substr(0, split.out.find('\n')), "row,truth_mark,truth_interval,mark,probability,interval");

  write_text(path("bare.csv"), "time\n1\n2\n");
  expect_refusal(run("predict runs/events bare.csv"), "there is no column mark, and the events of the training data");
  write_text(path("odd.csv"), "time,mark\n1,bong\n");
  expect_refusal(run("predict runs/events odd.csv"), "unknown mark 'bong'");
}

TEST_F(Predict, EventsNeedNoMarks) {
  write_text(path("events.csv"), event_table(false, 4));
  const Outcome trained = run("train " + config_file(event_config(), "bare"));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find("the files have no column `mark`: all events are alike"), std::string::npos)
      << trained.err;
  const Outcome next = run("predict runs/bare events.csv");
  EXPECT_EQ(next.code, 0) << next.err;
  EXPECT_EQ(lines_in(next.out), 241u);
  EXPECT_NE(next.out.find(",event,1\n"), std::string::npos) << next.out.substr(0, 200);
}

}  // namespace
}  // namespace throughtime
