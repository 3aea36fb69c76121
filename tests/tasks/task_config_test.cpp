#include "throughtime/task_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "support/errors.h"
#include "throughtime/options.h"
#include "throughtime/task.h"

namespace throughtime::testing {
namespace {

using Names = std::vector<std::string>;

const Option& option(const OptionList& list, const std::string& key) {
  const auto found = std::ranges::find(list.options(), key, &Option::key);
  if (found == list.options().end()) throw std::out_of_range(key);
  return *found;
}

TEST(TaskOptions, EveryTaskHasATableOfWhatItReads) {
  TaskConfig config;
  OptionList list;
  describe(config, list);
  std::map<std::string, std::set<std::string>> tables;
  for (const Option& each : list.options()) {
    if (each.key == "name" || each.key == "data") continue;
    EXPECT_TRUE(tables[each.table()].insert(each.name()).second) << each.key << " is there twice";
    ASSERT_FALSE(each.users.empty()) << each.key;
    EXPECT_EQ(each.users.front().kind, UserKind::task) << each.key;
    EXPECT_EQ(each.users.front().names, Names{each.table()}) << each.key;
    EXPECT_FALSE(each.help.empty()) << each.key;
    EXPECT_EQ(each.help.find("task."), std::string::npos) << each.key << ": a table says whose its options are";
  }
  const std::map<std::string, std::set<std::string>> wanted = {
      {"add", {"length", "markers", "stream", "window", "reset", "history"}},
      {"copy", {"length", "symbols", "stream", "window", "reset", "history"}},
      {"recall", {"length", "generator", "block", "variable", "shortest", "steps", "history", "evaluation_columns"}},
      {"cycle_world", {"length", "period", "steps", "history"}},
      {"stochastic_world", {"length", "lags", "steps", "history"}},
      {"mnist", {"order", "permutation", "loss", "validation", "stream", "window", "reset", "history"}},
      {"cifar10", {"loss", "validation", "stream", "window", "reset", "history"}},
      {"text",
       {"length", "corpus", "unit", "files", "splits", "minimum_count", "published_metric", "evaluation_columns",
        "length_varies", "length_cap"}},
      {"series",
       {"length", "path", "inputs", "target_path", "targets", "known", "horizon", "difference", "missing", "season",
        "pre_emphasis", "splits", "standardise", "header", "delimiter", "channels", "evaluation_columns"}},
      {"point_process",
       {"length", "files", "splits", "delimiter", "fold", "scale", "reset_sequences", "published_metric",
        "evaluation_columns"}},
      {"sequences",
       {"files", "target_path", "id", "inputs", "targets", "kind", "loss", "splits", "split_seed", "standardise",
        "delimiter"}},
      {"arrays", {"path", "length", "classes", "vocabulary"}}};
  EXPECT_EQ(tables, wanted);
  EXPECT_EQ(option(list, "name").names.size(), all_tasks().size());
}

TEST(TaskOptions, PointIntoTheStructOfTheirTask) {
  TaskConfig config;
  OptionList list;
  const OptionList::Scope scope(list, "task");
  describe(config, list);
  *std::get<int*>(option(list, "task.copy.length").field) = 30;
  *std::get<bool*>(option(list, "task.mnist.stream").field) = true;
  const ChoiceField& corpus = std::get<ChoiceField>(option(list, "task.text.corpus").field);
  EXPECT_EQ(corpus.get(), Names{"ptb"});
  corpus.set({"wikitext-2"});
  EXPECT_EQ(config.copy.length, 30);
  EXPECT_EQ(config.add.length, 200);
  EXPECT_TRUE(config.mnist.layout.stream);
  EXPECT_FALSE(config.cifar10.layout.stream);
  EXPECT_EQ(config.text.corpus, TextCorpus::wikitext_2);
  EXPECT_EQ(option(list, "task.series.header").names, (Names{"auto", "yes", "no"}));
  EXPECT_EQ(option(list, "task.mnist.validation").range.text(), "at least 0 and below 1");
}

TEST(TaskRow, KnowsThePathsOfItsTask) {
  TaskConfig config;
  config.series.path = "rows.csv";
  config.text.files = {"train.txt", "test.txt"};
  const auto values = [&](const std::string& task) {
    std::vector<std::string> paths;
    for (const std::string* path : find_task(task).paths(config)) paths.push_back(*path);
    return paths;
  };
  EXPECT_EQ(values("add"), Names{});
  EXPECT_EQ(values("mnist"), Names{""});
  EXPECT_EQ(values("series"), (Names{"rows.csv", ""}));
  EXPECT_EQ(values("text"), (Names{"", "train.txt", "test.txt"}));
  *find_task("text").paths(config)[2] = "/elsewhere/test.txt";
  EXPECT_EQ(config.text.files[1], "/elsewhere/test.txt");
}

TEST(TaskRow, KnowsWhereItsDataSetsLie) {
  TaskConfig config;
  std::set<std::string> with_data;
  for (const TaskType* type : all_tasks()) {
    std::string* data = type->data(config);
    if (data == nullptr) continue;
    *data = type->name;
    with_data.insert(type->name);
  }
  EXPECT_EQ(with_data, (std::set<std::string>{"recall", "mnist", "cifar10", "text", "point_process"}));
  EXPECT_EQ(config.recall.data, "recall");
  EXPECT_EQ(config.point_process.data, "point_process");
}

TEST(MakeTask, TakesTheStructOfATask) {
  const auto direct = make_task(AddConfig{.length = 12}, 3);
  const auto named = make_task({.name = "add", .add = {.length = 12}, .copy = {.length = 5}}, 3);
  EXPECT_EQ(direct->steps(), 12);
  EXPECT_EQ(named->steps(), 12);
  const Window& one = direct->make_batch(Split::train, 2, 3);
  const Window& other = named->make_batch(Split::train, 2, 3);
  EXPECT_TRUE(std::ranges::equal(one.sources[0].values, other.sources[0].values));
}

}  // namespace
}  // namespace throughtime::testing
