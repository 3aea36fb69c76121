#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "data/text/vocabulary.h"
#include "support/errors.h"
#include "tasks/task_support.h"

namespace throughtime::testing {
namespace {

/// Every (input, target) pair of a pass, column by column.
std::vector<std::vector<std::pair<int, int>>> columns(Task& task, Split split, int batch, std::int64_t pass = 0) {
  std::vector<std::vector<std::pair<int, int>>> all(static_cast<std::size_t>(batch));
  const std::int64_t windows = task.batches(split, batch);
  for (std::int64_t i = 0; i < windows; ++i) {
    const Window& window = task.make_batch(split, static_cast<std::uint64_t>(pass * windows + i), batch);
    validate(window);
    EXPECT_EQ(window.continues, i > 0);
    EXPECT_LE(window.steps, task.steps());
    for (int row = 0; row < batch; ++row)
      for (int step = 0; step < window.steps; ++step) {
        EXPECT_EQ(window.weight_at(step, row), 1.0f);
        all[static_cast<std::size_t>(row)].push_back({token_at(window, step, row), label_at(window, step, row)});
      }
  }
  return all;
}

class SmallText : public ::testing::Test {
 protected:
  SmallText() {
    train_ = directory_.write("train.txt", "a b c a\nb b\n\nc\n");  // a b c a eos b b eos eos c eos
    valid_ = directory_.write("valid.txt", "a d\n");
    test_ = directory_.write("test.txt", "c c c a\n");
  }
  TextConfig config(int length = 3) const {
    return {.length = length, .corpus = TextCorpus::files, .files = {train_, valid_, test_}, .evaluation_columns = 1};
  }
  ScratchDirectory directory_;
  std::string train_, valid_, test_;
};

TEST_F(SmallText, IsReadInColumnsWhoseTargetIsTheNextToken) {
  const auto task = make_task(config(), 1);
  EXPECT_EQ(task->input().vocabulary, 5);  // a b c <eos> d
  EXPECT_EQ(task->head().outputs, 5);
  // 11 tokens: two columns of five, the last one is dropped. A column's last token is a target only.
  const auto both = columns(*task, Split::train, 2);
  const std::vector<std::pair<int, int>> first = {{0, 1}, {1, 2}, {2, 0}, {0, 3}};
  const std::vector<std::pair<int, int>> second = {{1, 1}, {1, 3}, {3, 3}, {3, 2}};
  EXPECT_EQ(both[0], first);
  EXPECT_EQ(both[1], second);
  EXPECT_EQ(task->batches(Split::train, 2), 2);
  EXPECT_EQ(task->make_batch(Split::train, 1, 2).steps, 1);
  EXPECT_EQ(columns(*task, Split::train, 2, 3), both);
  EXPECT_EQ(task->make_batch(Split::train, 1, 2).mask_step, 3);
  EXPECT_EQ(columns(*task, Split::train, 1)[0].size(), 10u);
}

TEST_F(SmallText, BaselineCountsTheTrainingTokens) {
  const auto task = make_task(config(), 1);
  // Labels of the training part: b3 c2 a1 eos4 of 10, one more of each of the five: b4 c3 a2 eos5 d1 of 15.
  // The test part asks for c c a eos.
  const double loss = -(2 * std::log(3 / 15.0) + std::log(2 / 15.0) + std::log(5 / 15.0)) / 4;
  EXPECT_NEAR(task->baseline(), std::exp(loss), 1e-12);
  EXPECT_EQ(task->baselines(Split::test).front(), task->baseline());
  const double seen = -(3 * std::log(4 / 15.0) + 2 * std::log(3 / 15.0) + std::log(2 / 15.0) + 4 * std::log(5 / 15.0));
  EXPECT_NEAR(task->baselines(Split::train).front(), std::exp(seen / 10), 1e-12);
}

TEST_F(SmallText, ReadsCharactersAndEndsOfLines) {
  TextConfig characters = config();
  characters.unit = TextUnit::character;
  const auto task = make_task(characters, 1);
  EXPECT_EQ(task->input().vocabulary, 6);  // a, space, b, c, newline, d
  EXPECT_EQ(task->metrics().front(), Metric::bits_per_character);
  EXPECT_EQ(columns(*task, Split::train, 1)[0].size(), 14u);  // 7 + 1, 3 + 1, 1, 1 + 1 characters
}

TEST_F(SmallText, KeepsTheVocabularyOfARun) {
  const auto task = make_task(config(), 1);
  ScratchDirectory run;
  task->save(run.path());
  EXPECT_EQ(Vocabulary::load((run / "vocabulary.txt").string()).size(), 5u);
  // The same words in another order: loading gives them the ids of the run.
  directory_.write("train.txt", "c b a\n");
  const auto changed = make_task(config(), 1);
  EXPECT_EQ(columns(*changed, Split::train, 1)[0].front().first, 0);
  changed->load(run.path());
  EXPECT_EQ(columns(*changed, Split::train, 1)[0].front().first, 2);
  EXPECT_EQ(changed->input().vocabulary, 5);
  ScratchDirectory empty;
  EXPECT_REFUSED(changed->load(empty.path()), "vocabulary.txt");
}

TEST_F(SmallText, ReadsRareWordsAsUnknown) {
  TextConfig rare = config();
  rare.minimum_count = 3;
  const auto task = make_task(rare, 1);
  EXPECT_EQ(task->input().vocabulary, 5);  // a b c <eos> <unk>; d was rare
}

TEST_F(SmallText, OneFileIsCutByShares) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += fmt::format("w{} ", i);
  TextConfig one = config();
  one.files = {directory_.write("all.txt", text)};
  one.splits = {0.5, 0.3, 0.2};
  const auto task = make_task(one, 1);
  const auto size = [&](Split split) { return columns(*task, split, 1)[0].size(); };
  EXPECT_EQ(size(Split::train), 49u);
  EXPECT_EQ(size(Split::validation), 29u);
  EXPECT_EQ(size(Split::test), 19u);
  EXPECT_EQ(columns(*task, Split::validation, 1)[0].front().first, 50);
  EXPECT_EQ(columns(*task, Split::test, 1)[0].back().second, 99);
  one.splits = {1, 0, 0};
  const auto all = make_task(one, 1);
  EXPECT_FALSE(all->has(Split::validation));
  EXPECT_FALSE(all->has(Split::test));
  EXPECT_REFUSED(all->make_batch(Split::test, 0, 1), "too few");
}

TEST_F(SmallText, RefusesWhatItCannotRead) {
  TextConfig wrong = config();
  wrong.files = {train_, valid_};
  EXPECT_REFUSED(make_task(wrong, 1), "one file, or three");
  wrong.files = {(directory_ / "absent.txt").string()};
  EXPECT_REFUSED(make_task(wrong, 1), "absent.txt");
  EXPECT_REFUSED(choice_of<TextUnit>("words", "text", "unit"), "did you mean 'word'");
  EXPECT_REFUSED(choice_of<TextCorpus>("ptp", "text", "corpus"), "did you mean 'ptb'");
  wrong = config();
  wrong.corpus = TextCorpus::ptb;
  EXPECT_REFUSED(make_task(wrong, 1), "corpus = \"ptb\" does not read it; say corpus = \"files\"");
  wrong = config();
  wrong.splits = {0.8, 0.1, 0.1};
  EXPECT_REFUSED(make_task(wrong, 1), "3 files are the parts");
  wrong.splits = {0.5, 0.5};
  EXPECT_REFUSED(make_task(wrong, 1), "three shares");
  wrong.splits = {0.5, 0.5, 0.5};
  EXPECT_REFUSED(make_task(wrong, 1), "add up to 1");
  EXPECT_REFUSED(make_task(config(), 1)->make_batch(Split::train, 0, 6), "too few to read 6 rows side by side");
  ScratchDirectory empty;
  EXPECT_REFUSED(make_task(TextConfig{.data = empty.path()}, 1), "ptb/ptb.train.txt");
}

/// Tokens of a split, its first one included.
std::int64_t tokens(Task& task, Split split) {
  std::int64_t steps = 0;
  for (std::int64_t i = 0; i < task.batches(split, 1); ++i)
    steps += task.make_batch(split, static_cast<std::uint64_t>(i), 1).steps;
  return steps + 1;
}

void expect_counts(Task& task, std::int64_t train, std::int64_t validation, std::int64_t test, int types) {
  EXPECT_EQ(tokens(task, Split::train), train);
  EXPECT_EQ(tokens(task, Split::validation), validation);
  EXPECT_EQ(tokens(task, Split::test), test);
  EXPECT_EQ(task.input().vocabulary, types);
}

TEST(PennTreebank, HasThePublishedCounts) {
  REQUIRE_REAL_DATA(data, "ptb/ptb.train.txt");
  const auto words = make_task(TextConfig{.length = 300, .data = data}, 1);
  expect_counts(*words, 929'589, 73'760, 82'430, 10'000);
  EXPECT_EQ(words->batches(Split::train, 128), 25);  // 7,262 rows
  EXPECT_EQ(words->evaluation_batch(128), 10);
  EXPECT_NEAR(words->baseline(), 690, 60);  // perplexity of word frequencies
  const auto characters = make_task(TextConfig{.length = 150, .unit = TextUnit::character, .data = data}, 1);
  expect_counts(*characters, 5'017'483, 393'043, 442'424, 50);
}

TEST(PennTreebank, ColumnsAreAsLongAsTheSpecificationSays) {
  REQUIRE_REAL_DATA(data, "ptb/ptb.train.txt");
  const auto task = make_task(TextConfig{.length = 100, .data = data}, 1);
  const auto length = [&](Split split, int batch) {
    const std::int64_t windows = task->batches(split, batch);
    return (windows - 1) * 100 + task->make_batch(split, static_cast<std::uint64_t>(windows - 1), batch).steps;
  };
  EXPECT_EQ(length(Split::train, 32), 29'049 - 1);
  EXPECT_EQ(length(Split::validation, 10), 7'375);
  EXPECT_EQ(length(Split::test, 10), 8'242);
  EXPECT_EQ(length(Split::train, 20), 46'479 - 1);
}

TEST(WikiText2, HasThePublishedCounts) {
  REQUIRE_REAL_DATA(data, "wikitext-2/wiki.train.tokens");
  const auto task = make_task(TextConfig{.length = 1000, .corpus = TextCorpus::wikitext_2, .data = data}, 1);
  expect_counts(*task, 2'088'628, 217'646, 245'569, 33'278);
}

TEST(Text8, IsCutInto90And5And5Percent) {
  REQUIRE_REAL_DATA(data, "text8-prefix/text8.first12500000");
  const auto task =
      make_task(TextConfig{.length = 10000, .corpus = TextCorpus::text8, .unit = TextUnit::character, .data = data}, 1);
  expect_counts(*task, 11'250'000, 625'000, 625'000, 27);
  EXPECT_NEAR(task->baseline(), 4.1, 0.1);
}

}  // namespace
}  // namespace throughtime::testing
