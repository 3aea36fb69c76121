#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <vector>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::lines_in;
using testing::Outcome;
using testing::write_text;

class Sample : public testing::CommandTest {
 protected:
  void train(const std::string& unit, const std::string& text) const {
    write_text(path("corpus.txt"), text);
    const Outcome outcome = run(
        "train --quiet " +
        config_file("[task]\nname = \"text\"\ntext.corpus = \"files\"\ntext.files = [\"corpus.txt\"]\ntext.length = "
                    "10\ntext.unit = \"" +
                        unit +
                        "\"\n[model]\nhidden = 16\n[optimizer]\nrate = 0.02\n[train]\niterations = 300\nbatch = 4\n"
                        "evaluate_every = 100\n[run]\nthreads = 1\n",
                    unit));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
};

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST_F(Sample, CharactersGoOnWhereThePromptStops) {
  train("character", repeated("abc d\n", 200));
  const Outcome greedy = run("sample runs/character --prompt ab --temperature 0 --length 9");
  EXPECT_EQ(greedy.code, 0) << greedy.err;
  EXPECT_EQ(greedy.out, "abc d\nabc d\n") << "what it has learned by heart; a last newline is not doubled";
  EXPECT_EQ(run("sample runs/character --temperature 0 --length 3").out, "abc\n") << "a line begins";
  EXPECT_EQ(run("sample runs/character --prompt 'd\nab' --temperature 0 --length 1 --best").out, "d\nabc\n");
  EXPECT_EQ(run("sample runs/character --prompt ab --top 1 --length 9").out, greedy.out);
}

TEST_F(Sample, TheSameSeedWritesTheSameText) {
  train("character", repeated("abc d\n", 200));
  const std::string wild = "sample runs/character --temperature 1000 --length 60 --seed ";
  const Outcome first = run(wild + "7");
  EXPECT_EQ(first.out, run(wild + "7").out);
  EXPECT_NE(first.out, run(wild + "8").out);
  EXPECT_NE(first.out, run("sample runs/character --temperature 0 --length 60").out);
}

TEST_F(Sample, WordsHaveSpacesBetweenThem) {
  train("word", repeated("one two three\n", 100));
  EXPECT_EQ(run("sample runs/word --prompt 'one  two' --temperature 0 --length 4").out, "one two three\none two\n");
  EXPECT_EQ(run("sample runs/word --prompt 'one' --temperature 0 --length 1").out, "one two\n");
}

TEST_F(Sample, LettersThatTheTreebankSpellsAreWrittenAsText) {
  std::filesystem::create_directories(path("data/ptb"));
  for (const char* part : {"train", "valid", "test"})
    write_text(path(std::string("data/ptb/ptb.char.") + part + ".txt"), repeated(" a b _ c d \n", 100));
  const Outcome trained =
      run("train --quiet --data data " +
          config_file(
              "[task]\nname = \"text\"\ntext.corpus = \"ptb\"\ntext.length = 10\ntext.unit = \"character\"\n[model]\n"
              "hidden = 16\n[optimizer]\nrate = 0.02\n[train]\niterations = 300\nbatch = 4\n[run]\nthreads = 1\n",
              "treebank"));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(run("sample runs/treebank --prompt 'ab ' --temperature 0 --length 5").out, "ab cd\nab\n");
}

/// Into a pipe that keeps what each write brought apart, and holds some dozen of them: a reader sees token after token,
/// and the program cannot have ended before it is read.
TEST_F(Sample, WritesEachTokenAsItIsMade) {
  train("character", repeated("abc d\n", 200));
  int ends[2];
  if (pipe2(ends, O_DIRECT) != 0) GTEST_SKIP() << "pipes do not keep writes apart here";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    const std::string command = "cd " + path("").string() +
                                " && exec " THROUGHTIME_COMMAND
                                " sample runs/character --prompt ab --temperature 0 --length 5000 2>err";
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(98);
  }
  close(ends[1]);
  std::vector<std::string> writes;
  char block[4096];
  for (ssize_t count = 1; writes.size() < 6 && count > 0;)
    if ((count = read(ends[0], block, sizeof block)) > 0) writes.emplace_back(block, static_cast<std::size_t>(count));
  EXPECT_EQ(writes, (std::vector<std::string>{"ab", "c", " ", "d", "\n", "a"})) << testing::text_of(path("err"));
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "it had ended before it was read";
  close(ends[0]);  // nobody wants the rest
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
}

TEST_F(Sample, RefusesWhatItCannotDo) {
  train("character", repeated("abc d\n", 200));
  expect_refusal(run("sample runs/character --prompt xyz"), "the prompt, byte 0: 'x' is not in the vocabulary");
  expect_refusal(run("sample runs/character --temperature -1"), "--temperature");
  expect_refusal(run("sample runs/character --length 0"), "--length");
  expect_refusal(run("sample runs/none"), "no such directory");
  ASSERT_EQ(run("train --quiet " + config_file(testing::tiny)).code, 0);
  expect_refusal(run("sample runs/tiny"), "runs/tiny is a run of task.name = \"add\"");
}

}  // namespace
}  // namespace throughtime
