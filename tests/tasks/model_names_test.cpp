#include "tasks/model_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/errors.h"
#include "tasks/task_support.h"

namespace throughtime::testing {
namespace {

using Names = std::vector<std::string>;

Model model_of(const Task& task) {
  ModelConfig config;
  config.input = task.input();
  config.head = task.head();
  config.layers = {{.cell = "gru", .hidden = 3, .options = {}}};
  return Model(config);
}

/// The names of a model of that task, after the task was saved.
ModelNames saved_names(const TaskConfig& config, const ScratchDirectory& run) {
  const auto task = make_task(config, 1);
  task->save(run.path());
  return model_names(config.name, run.path(), model_of(*task));
}

TEST(ModelNames, OfASeriesAreItsColumns) {
  ScratchDirectory data, run;
  std::string rows = "wind,power\n";
  for (int t = 0; t < 40; ++t) rows += std::to_string(t) + "," + std::to_string(5 * t) + "\n";
  const ModelNames names =
      saved_names({.name = "series", .series = {.path = data.write("rows.csv", rows), .targets = {"power"}}}, run);
  EXPECT_EQ(names.inputs, (Names{"wind", "power"}));
  EXPECT_EQ(names.outputs, Names{"power"});
  ASSERT_TRUE(names.scales.has_value());
  EXPECT_EQ(names.scales->targets[0].mean, 5 * names.scales->inputs[0].mean);
  EXPECT_FALSE(names.vocabulary.has_value());
  // Of another model: one input more.
  const TaskConfig wider{.name = "series",
                         .series = {.path = data.write("wide.csv", "a,b,power\n1,2,3\n4,5,6\n7,8,9\n"),
                                    .targets = {"power"},
                                    .splits = {1, 0, 0}}};
  EXPECT_REFUSED(model_names("series", run.path(), model_of(*make_task(wider, 1))),
                 "has scales of 2 inputs and 1 targets, and the model has 3 and 1: its files do not belong together");
}

TEST(ModelNames, OfSequencesAreTheirClasses) {
  ScratchDirectory data, run;
  const auto config = [&](const std::string& labels) {
    std::string rows = "id,label,x\n";
    for (int i = 0; i < 12; ++i) rows += fmt::format("s{},{},{}\n", i, labels[i % labels.size()], i);
    return TaskConfig{.name = "sequences", .sequences = {.files = {data.write("rows.csv", rows)}, .splits = {1, 0, 0}}};
  };
  EXPECT_EQ(saved_names(config("ab"), run).outputs, (Names{"a", "b"}));
  EXPECT_REFUSED(model_names("sequences", run.path(), model_of(*make_task(config("abc"), 1))),
                 "classes.json names 2 classes, and the model has 3: its files do not belong together");
}

TEST(ModelNames, OfATextAreItsTokens) {
  ScratchDirectory data, run;
  const std::string path = data.write("text.txt", "to be or not to be\n");
  const TaskConfig config{.name = "text", .text = {.corpus = TextCorpus::files, .files = {path}, .splits = {1, 0, 0}}};
  const ModelNames names = saved_names(config, run);
  EXPECT_EQ(names.outputs, (Names{"to", "be", "or", "not", "<eos>"}));
  EXPECT_TRUE(names.inputs.empty());
  ASSERT_TRUE(names.vocabulary.has_value());
  EXPECT_EQ(names.vocabulary->find("not"), 3);
  // Without its file tokens are numbers.
  std::filesystem::remove((run / "vocabulary.txt").string());
  const ModelNames numbers = model_names("text", run.path(), model_of(*make_task(config, 1)));
  EXPECT_FALSE(numbers.vocabulary.has_value());
  EXPECT_EQ(numbers.outputs, (Names{"output_0", "output_1", "output_2", "output_3", "output_4"}));
}

TEST(ModelNames, OfPointsAreItsMarksAndTheRate) {
  ScratchDirectory data, run;
  const std::string path = data.write("events.csv", "time,mark\n0,buy\n1,sell\n2,buy\n4,buy\n5,sell\n9,buy\n");
  const ModelNames names =
      saved_names({.name = "point_process", .point_process = {.files = {path}, .splits = {1, 0, 0}}}, run);
  EXPECT_EQ(names.outputs, (Names{"buy", "sell", "log_intensity", "growth"}));
  ASSERT_TRUE(names.vocabulary.has_value());
  EXPECT_FALSE(names.scales.has_value());
}

TEST(ModelNames, OfOtherTasksAreNumbers) {
  ScratchDirectory run;
  const ModelNames names = saved_names({.name = "cycle_world"}, run);
  EXPECT_EQ(names.outputs, (Names{"output_0", "output_1"}));
  EXPECT_TRUE(names.inputs.empty());
  EXPECT_FALSE(names.scales.has_value());
  EXPECT_FALSE(names.vocabulary.has_value());
  EXPECT_REFUSED(model_names("series", run.path(), model_of(*make_task(AddConfig{}, 1))), "standardisation.json");
}

}  // namespace
}  // namespace throughtime::testing
