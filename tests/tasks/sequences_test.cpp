#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "support/errors.h"
#include "support/npz.h"
#include "tasks/model_names.h"
#include "tasks/sequences/sequence_files.h"
#include "tasks/task_support.h"

namespace throughtime::testing {
namespace {

using Names = std::vector<std::string>;

/// A CSV file of sequences of 1, 2, ... steps whose values are 100 * sequence + step; classes take turns.
std::string rows(int sequences, const Names& classes, int longest = 5) {
  std::string text = "id,label,x\n";
  for (int i = 0; i < sequences; ++i)
    for (int step = 0; step <= i % longest; ++step)
      text += "s" + std::to_string(i) + "," + classes[static_cast<std::size_t>(i) % classes.size()] + "," +
              std::to_string(100 * i + step) + "\n";
  return text;
}

SequencesConfig plain(const std::string& file) {
  SequencesConfig config;
  config.files = {file};
  config.standardise = false;
  return config;
}

/// Every sequence of a split, by its first value: (values, label).
using Shown = std::map<float, std::pair<std::vector<float>, int>>;
Shown shown(Task& task, Split split, int batch) {
  Shown all;
  for (std::int64_t i = 0; i < task.batches(split, batch); ++i) {
    const Window& window = task.make_batch(split, static_cast<std::uint64_t>(i), batch);
    validate(window);
    int longest = 0;
    for (int row = 0; row < batch; ++row) {
      if (window.weight_at(window.steps - 1, row) == 0) continue;
      std::vector<float> values;
      for (int step = 0; step < window.steps; ++step) {
        const Place place = place_at(window, step, row);
        EXPECT_EQ(window.resets_at(step, row), !place.padding && values.empty());
        EXPECT_EQ(window.weight_at(step, row), step + 1 == window.steps ? 1 : 0);
        if (!place.padding) values.push_back(place.reals()[0]);
      }
      longest = std::max(longest, static_cast<int>(values.size()));
      EXPECT_TRUE(all.emplace(values.front(), std::pair(values, label_at(window, 0, row))).second);
    }
    EXPECT_EQ(window.steps, longest) << "a batch is as long as its longest sequence";
  }
  return all;
}

TEST(OwnSequences, AreShownWholeOncePerPassWhateverTheBatch) {
  const ScratchDirectory scratch;
  const auto config = plain(scratch.write("a.csv", rows(40, {"up", "down"})));
  for (const int batch : {1, 3, 8, 64}) {
    const auto task = make_task(config, 1);
    EXPECT_TRUE(task->lengths_vary());
    EXPECT_TRUE(task->terminal());
    EXPECT_EQ(task->steps(), 5);
    EXPECT_EQ(task->classes(), (Names{"down", "up"}));
    std::set<float> seen;
    for (const Split split : {Split::train, Split::validation, Split::test})
      for (const auto& [first, sequence] : shown(*task, split, batch)) {
        const int number = static_cast<int>(first) / 100;
        EXPECT_TRUE(seen.insert(first).second);
        EXPECT_EQ(sequence.first.size(), static_cast<std::size_t>(number % 5 + 1));
        for (std::size_t step = 0; step < sequence.first.size(); ++step)
          EXPECT_EQ(sequence.first[step], static_cast<float>(100 * number) + static_cast<float>(step));
        EXPECT_EQ(sequence.second, number % 2 == 0 ? 1 : 0);
      }
    EXPECT_EQ(seen.size(), 40u);
  }
}

TEST(OwnSequences, OfOneLengthAreBatchesOfThatLength) {
  const ScratchDirectory scratch;
  const std::string x = npy_floats("(4, 2)", {1, 2, 3, 4, 5, 6, 7, 8});
  const auto task =
      make_task(plain(scratch.write("a.npz", npz_file({{"x", x}, {"y", npy_texts({U"a", U"a", U"b", U"b"})}}))), 1);
  EXPECT_FALSE(task->lengths_vary());
  EXPECT_EQ(task->make_batch(Split::train, 0, 7).steps, 2);
}

TEST(OwnSequences, SplitsAreStratifiedAndDependOnTheirSeedAlone) {
  const ScratchDirectory scratch;
  auto config = plain(scratch.write("a.csv", rows(60, {"a", "b", "c"})));
  const auto first = make_task(config, 1), other_run = make_task(config, 2);
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    std::array<int, 3> counts = {};
    const Shown here = shown(*first, split, 10);
    for (const auto& [value, sequence] : here) ++counts[static_cast<std::size_t>(sequence.second)];
    const int wanted = split == Split::train ? 14 : split == Split::validation ? 2 : 4;
    EXPECT_EQ(counts, (std::array{wanted, wanted, wanted}));
    EXPECT_EQ(here, shown(*other_run, split, 10));
  }
  config.split_seed = 2;
  EXPECT_NE(shown(*make_task(config, 1), Split::test, 10), shown(*first, Split::test, 10));
}

TEST(OwnSequences, OfSeveralFilesAreTheirSplits) {
  const ScratchDirectory scratch;
  const std::string train = scratch.write("train.csv", "id,label,x\na,up,1\nb,down,2\nc,up,3\n");
  const std::string validation = scratch.write("validation.csv", "id,label,x\na,up,4\n");
  const std::string test = scratch.write("test.csv", "id,label,x\na,down,5\n");
  auto config = plain(train);
  config.files = {train, validation, test};
  EXPECT_EQ(give_back(config), HeldOut::kept);
  const auto task = make_task(config, 1);
  EXPECT_EQ(shown(*task, Split::train, 3).size(), 3u);
  EXPECT_EQ(shown(*task, Split::validation, 1).begin()->first, 4);
  EXPECT_EQ(shown(*task, Split::test, 1).begin()->first, 5);
  config.files = {train, test};
  config.splits = {0.4, 0.4, 0.2};
  const auto two = make_task(config, 1);
  EXPECT_EQ(shown(*two, Split::test, 1).begin()->first, 5);
  EXPECT_EQ(shown(*two, Split::train, 3).size() + shown(*two, Split::validation, 3).size(), 3u);
  EXPECT_EQ(give_back(config), HeldOut::given_back);
  EXPECT_FALSE(make_task(config, 1)->has(Split::validation));
}

TEST(OwnSequences, RefuseOptionsThatTheirFilesGiveNoMeaning) {
  const ScratchDirectory scratch;
  const std::string table = scratch.write("a.csv", "id,label,x\na,up,1\nb,down,2\nc,up,3\n");
  const auto with = [](SequencesConfig config, auto change) {
    change(config);
    return make_task(config, 1);
  };
  EXPECT_REFUSED(with(plain(table), [](SequencesConfig& config) { config.target_path = "labels.csv"; }),
                 "task.sequences.target_path is the table of a folder;");
  EXPECT_REFUSED(with(plain(table),
                      [](SequencesConfig& config) {
                        config.inputs = {"x", "x"};
                      }),
                 "task.sequences.inputs names 'x' twice");
  const SequencesConfig arrays = plain((scratch / "a.npz").string());
  EXPECT_REFUSED(with(arrays, [](SequencesConfig& config) { config.id = "who"; }), "task.sequences.id is a column of");
  EXPECT_REFUSED(with(arrays, [](SequencesConfig& config) { config.delimiter = ";"; }),
                 "task.sequences.delimiter is of a table;");
  // Columns have numbers, too.
  const auto numbered = with(plain(table), [](SequencesConfig& config) { config.inputs = {"2"}; });
  EXPECT_EQ(numbered->notes()[1], "inputs: x");
}

TEST(OwnSequences, ClassesAreInOrder) {
  const ScratchDirectory scratch;
  EXPECT_EQ(make_task(plain(scratch.write("a.csv", rows(30, {"10", "9", "-1"}))), 1)->classes(),
            (Names{"-1", "9", "10"}));
  EXPECT_EQ(make_task(plain(scratch.write("a.csv", rows(30, {"b", "10", "9"}))), 1)->classes(),
            (Names{"10", "9", "b"}));
}

TEST(OwnSequences, WithNumbersAsTargetsAreRegression) {
  const ScratchDirectory scratch;
  auto config = plain(scratch.write("a.csv", rows(30, {"0.5", "2", "-1"})));
  const auto task = make_task(config, 1);
  EXPECT_EQ(task->head().name, "regression");
  EXPECT_EQ(task->metrics(), std::vector{Metric::mse});
  EXPECT_TRUE(task->classes().empty());
  EXPECT_EQ(task->baseline_text(), "the mean of the training targets");
  // Whole numbers are classes unless told.
  config.files = {scratch.write("b.csv", rows(30, {"1", "2", "3"}))};
  EXPECT_EQ(make_task(config, 1)->head().name, "softmax");
  config.kind = SequenceTarget::numbers;
  EXPECT_EQ(make_task(config, 1)->head().name, "regression");
  config.files = {scratch.write("a.csv", rows(30, {"0.5", "2", "-1"}))};
  config.kind = SequenceTarget::classes;
  EXPECT_EQ(make_task(config, 1)->classes(), (Names{"-1", "0.5", "2"}));
}

TEST(OwnSequences, TargetsOfARowAreItsOwn) {
  const ScratchDirectory scratch;
  auto config = plain(scratch.write("a.csv", "id,u,v,x\na,1.5,2,7\nb,-3,4,8\n"));
  config.targets = {"v", "u"};
  config.splits = {1, 0, 0};
  const auto task = make_task(config, 1);
  const Window& window = task->make_batch(Split::train, 0, 2);
  for (int row = 0; row < 2; ++row) {
    const bool first = value_at(window, 0, row) == 7;
    EXPECT_EQ(target_at(window, 0, row, 0), first ? 2 : 4);
    EXPECT_EQ(target_at(window, 0, row, 1), first ? 1.5f : -3);
  }
}

TEST(OwnSequences, AreStandardisedWithTheTrainingPart) {
  const ScratchDirectory scratch;
  const std::string train = scratch.write("train.csv", "id,label,x\na,0.5,1\na,0.5,2\nb,2.5,3\nb,2.5,6\n");
  const std::string test = scratch.write("test.csv", "id,label,x\nc,4.5,10\n");
  SequencesConfig config;
  config.files = {train, test};
  config.splits = {0.8, 0, 0.2};
  const auto task = make_task(config, 1);
  const double deviation = std::sqrt((4 + 1 + 0 + 9) / 4.0);  // mean 3
  EXPECT_FLOAT_EQ(value_at(task->make_batch(Split::test, 0, 1), 0, 0), static_cast<float>(7 / deviation));
  EXPECT_FLOAT_EQ(target_at(task->make_batch(Split::test, 0, 1), 0, 0), 3.0f);  // mean 1.5, deviation 1
  EXPECT_NEAR(task->baseline(), 9, 1e-6);
  EXPECT_NEAR(task->baselines(Split::train).front(), 1, 1e-6);
}

TEST(OwnSequences, KnowTheBaselineOfEverySplitAndMetric) {
  const ScratchDirectory scratch;
  SequencesConfig config;
  config.files = {scratch.write("train.csv", "id,label,x\na,up,1\nb,up,1\nc,up,1\nd,down,1\n"),
                  scratch.write("validation.csv", "id,label,x\na,down,1\n"),
                  scratch.write("test.csv", "id,label,x\na,up,1\nb,down,1\nc,down,1\nd,down,1\n")};
  const auto task = make_task(config, 1);
  const auto test = task->baselines(Split::test);
  ASSERT_EQ(test.size(), 3u);
  EXPECT_DOUBLE_EQ(test[0], 0.25);
  EXPECT_DOUBLE_EQ(test[1], 0.5);
  EXPECT_NEAR(test[2], -(std::log(0.75) + 3 * std::log(0.25)) / 4, 1e-12);
  EXPECT_DOUBLE_EQ(task->baseline(), 0.25);
  EXPECT_DOUBLE_EQ(task->baselines(Split::validation)[0], 0);
  EXPECT_DOUBLE_EQ(task->baselines(Split::validation)[1], 0);
  EXPECT_DOUBLE_EQ(task->baselines(Split::train)[0], 0.75);
}

TEST(OwnSequences, CanBeAskedAtEveryStep) {
  const ScratchDirectory scratch;
  auto config = plain(scratch.write("a.csv", rows(20, {"a", "b"}, 3)));
  config.loss = LossSteps::every;
  const auto task = make_task(config, 1);
  EXPECT_FALSE(task->terminal());
  EXPECT_EQ(task->loss_steps(), 3);
  const Window& window = task->make_batch(Split::train, 0, 6);
  validate(window);
  for (int row = 0; row < 6; ++row)
    for (int step = 0; step < window.steps; ++step)
      EXPECT_EQ(window.weight_at(step, row), place_at(window, step, row).padding ? 0 : 1);
}

TEST(OwnSequences, HandOutRandomPlaces) {
  const ScratchDirectory scratch;
  for (const LossSteps loss : {LossSteps::last, LossSteps::every}) {
    auto config = plain(scratch.write("a.csv", rows(30, {"a", "b"})));
    config.loss = loss;
    const auto task = make_task(config, 1);
    for (std::uint64_t draw = 0; draw < 20; ++draw) {
      const Window& window = task->make_positions(draw, 4, 6, 4);
      validate(window);
      for (int row = 0; row < 6; ++row) {
        const float last = value_at(window, 3, row);
        const int number = static_cast<int>(last) / 100, step = static_cast<int>(last) % 100;
        EXPECT_LE(step, number % 5);
        if (loss == LossSteps::last) {
          EXPECT_EQ(step, number % 5);
        }
        EXPECT_EQ(label_at(window, 3, row), number % 2);
      }
    }
  }
}

TEST(OwnSequences, SaySomethingAboutThemselves) {
  const ScratchDirectory scratch;
  const auto notes = make_task(plain(scratch.write("a.csv", rows(40, {"up", "down"}))), 1)->notes();
  EXPECT_EQ(notes, (Names{"40 sequences of 1 to 5 steps: 28 to train on, 4 to validate, 8 to test", "inputs: x",
                          "2 classes: down, up"}));
}

TEST(OwnSequences, AreRefusedWithWhatWouldBeRight) {
  const ScratchDirectory scratch;
  const std::string good = scratch.write("a.csv", rows(20, {"a", "b"}));
  const auto with = [&](auto change) {
    SequencesConfig config = plain(good);
    change(config);
    return make_task(config, 1);
  };
  EXPECT_REFUSED(with([](auto& c) { c.files = {}; }), "task.sequences.files must name one file or folder");
  EXPECT_REFUSED(with([&](auto& c) { c.files = {good, good, good, good}; }), "got 4");
  EXPECT_REFUSED(with([&](auto& c) { c.files = {good, good}, c.target_path = "t.csv"; }), "is the table of one folder");
  EXPECT_REFUSED(with([&](auto& c) {
                   c.files = {good, good, good}, c.splits = {0.5, 0.2, 0.3};
                 }),
                 "with three files nothing is cut");
  EXPECT_REFUSED(with([](auto& c) { c.splits = {0.5, 0.6, 0.1}; }), "task.sequences.splits must add up to 1");
  EXPECT_REFUSED(
      with([](auto& c) { c.kind = SequenceTarget::numbers; }),
      "the target 'a' of sequence 's0' is no finite number; for classes say task.sequences.kind = \"class\"");
  EXPECT_REFUSED(with([&](auto& c) { c.files = {scratch.write("b.csv", rows(9, {"a"}))}; }),
                 "all training sequences have the class 'a'; a model needs two classes or more");
  EXPECT_REFUSED(with([&](auto& c) {
                   c.files = {scratch.write("b.csv", rows(3, {"1", "2", "3"}))};
                 }),
                 "each of the 3 training sequences has a class of its own; if the targets are numbers to predict, say "
                 "task.sequences.kind = \"number\"");
  EXPECT_REFUSED(with([&](auto& c) {
                   c.files = {scratch.write("b.csv", rows(9, {"16777217", "1"}))};
                 }),
                 "the class '16777217' is too large a number");
  EXPECT_REFUSED(with([&](auto& c) {
                   c.files = {scratch.write("b.csv", rows(9, {"\xff", "a"}))};
                 }),
                 "is no UTF-8 text");
  EXPECT_REFUSED(with([&](auto& c) {
                   c.files = {scratch.write("b.csv", "id,u,v,x\na,p,q,1\nb,q,p,1\n")};
                   c.targets = {"u", "v"};
                 }),
                 "a sequence has one class, got the targets u, v");
  EXPECT_REFUSED(with([&](auto& c) {
                   c.files = {good, scratch.write("b.csv", "id,label,y\na,a,1\n")};
                 }),
                 "all files need the same");
}

TEST(OwnSequences, ALabelThatOnlyTheTestHasIsRefused) {
  const ScratchDirectory scratch;
  SequencesConfig config;
  config.files = {scratch.write("train.csv", "id,label,x\na,up,1\nb,down,2\nc,up,2\n"),
                  scratch.write("test.csv", "id,label,x\nz,sideways,1\n")};
  EXPECT_REFUSED(make_task(config, 1),
                 "[sequences] sequence 'z' of the test split has the class 'sideways', which no training sequence has; "
                 "training has down, up");
}

TEST(OwnSequences, KeepScalesAndClassesOfTheirRun) {
  const ScratchDirectory scratch;
  SequencesConfig config;
  config.files = {scratch.write("a.csv", rows(40, {"up", "down"}))};
  const auto task = make_task(config, 1);
  task->save(scratch.path().string());

  // Other data, evaluated with the scales and the numbers of classes of the run.
  SequencesConfig other = config;
  other.files = {scratch.write("b.csv", "id,label,x\na,up,0\nb,up,0\nc,left,0\nd,left,0\ne,down,0\n")};
  other.splits = {1, 0, 0};
  const auto evaluated = make_task(other, 1);
  EXPECT_REFUSED(evaluated->load(scratch.path().string()), "has the class 'left', which no training sequence has");
  other.files = {scratch.write("b.csv", "id,label,x\na,up,0\nb,up,0\nc,down,0\n")};
  const auto loaded = make_task(other, 1);
  loaded->load(scratch.path().string());
  EXPECT_EQ(loaded->classes(), (Names{"down", "up"}));
  const Window& window = loaded->make_batch(Split::train, 0, 1);
  EXPECT_LT(value_at(window, 0, 0), -0.5f) << "0 is far below the mean of the run";
  other.files = {scratch.write("b.csv", "id,label,y\na,up,0\nb,up,0\nc,down,0\n")};
  EXPECT_REFUSED(make_task(other, 1)->load(scratch.path().string()), "the run was trained on the columns x");

  const Model model({.input = task->input(), .layers = {{.hidden = 2}}, .head = task->head()});
  const ModelNames names = model_names("sequences", scratch.path().string(), model);
  EXPECT_EQ(names.inputs, Names{"x"});
  EXPECT_EQ(names.outputs, (Names{"down", "up"}));
  scratch.write("classes.json", "{");
  EXPECT_REFUSED(model_names("sequences", scratch.path().string(), model), "must be a list of the names of classes");
}

TEST(OwnSequences, AreReadForPredictionsWithoutTargets) {
  const ScratchDirectory scratch;
  const auto read = read_unlabelled({}, {"x"}, scratch.write("a.csv", "id,y,x\na,1,2\n"));
  EXPECT_EQ(read.values, std::vector<float>{2});
  EXPECT_EQ(read.ids, Names{"a"});
}

}  // namespace
}  // namespace throughtime::testing
