#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "support/errors.h"
#include "train/options/config.h"
#include "train/options/options.h"

namespace throughtime {
namespace {

RunConfig parse(const std::string& text) { return parse_config(text, "run.toml"); }

RunConfig with(const std::string& assignment) {
  RunConfig config;
  set_option(config, assignment, "--set");
  return config;
}

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A file that lives as long as the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(
            std::filesystem::temp_directory_path() /
            ("throughtime-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".toml")) {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(Config, EmptyTextGivesTheDefaults) {
  const RunConfig config = parse("");
  EXPECT_EQ(config.task.name, "add");
  EXPECT_EQ(config.model.cell, std::vector<std::string>{"lstm"});
  EXPECT_EQ(config.optimizer.rule.name, "adam");
  EXPECT_EQ(config.run.engine, "cpu");
  EXPECT_EQ(resolved_config(config), resolved_config(RunConfig{}));
}

TEST(Config, ReadsEveryTable) {
  const RunConfig config = parse(R"(
[task]
name = "recall"
[task.recall]
length = 70
generator = "reference"
[task.copy]
length = 7
[model]
cell = ["lstm", "gru"]
hidden = [32, 16]
layers = 2
dropout_between = 0.25
tied = true
[learner]
name = "tbptt"
tbptt.steps = 12
[learner.fptt]
windows = 3
form = "gradient"
[learner.adaptive_tbptt]
variants = ["tau_twice", "unit_bias"]
[optimizer]
rate = 1
clip = 0.5
schedule_epochs = [2, 3.5]
[train]
seed = 9
iterations = 4_000_000_000
[run]
engine = "reference"
)");
  EXPECT_EQ(config.task.recall.length, 70);
  EXPECT_EQ(config.task.recall.generator, RecallGenerator::reference);
  EXPECT_EQ(config.task.copy.length, 7);
  EXPECT_EQ(config.model.cell, (std::vector<std::string>{"lstm", "gru"}));
  EXPECT_EQ(config.model.hidden, (std::vector<int>{32, 16}));
  EXPECT_EQ(config.model.dropout.between, 0.25);
  EXPECT_TRUE(config.model.tied);
  EXPECT_EQ(config.learner.tbptt.steps, 12);
  EXPECT_EQ(config.learner.fptt.windows, 3);
  EXPECT_EQ(config.learner.fptt.form, FpttForm::gradient);
  EXPECT_EQ(config.learner.adaptive_tbptt.estimate.variants,
            (std::vector<DecayVariant>{DecayVariant::tau_twice, DecayVariant::unit_bias}));
  EXPECT_EQ(config.optimizer.rate, 1.0);
  EXPECT_EQ(config.optimizer.clip.norm, 0.5);
  EXPECT_EQ(config.optimizer.schedule.epochs, (std::vector<double>{2, 3.5}));
  EXPECT_EQ(config.train.seed, 9u);
  EXPECT_EQ(config.train.iterations, 4'000'000'000);
  EXPECT_EQ(config.run.engine, "reference");
}

TEST(Config, OverridesNeedNoQuotes) {
  EXPECT_EQ(with("learner.name=tbptt").learner.name, "tbptt");
  EXPECT_EQ(with("learner.name=\"tbptt\"").learner.name, "tbptt");
  EXPECT_EQ(with("run.name=7").run.name, "7");
  EXPECT_EQ(with("run.name=a=b").run.name, "a=b");
  EXPECT_EQ(with("run.name=two words").run.name, "two words");
  EXPECT_EQ(with("optimizer.rate=1e-4").optimizer.rate, 1e-4);
  EXPECT_EQ(with("model.hidden=[8, 4]").model.hidden, (std::vector<int>{8, 4}));
  EXPECT_EQ(with("model.tied=true").model.tied, true);
}

TEST(Config, UnknownKeysAreRefusedWithLineAndNearestName) {
  EXPECT_REFUSED(parse("[train]\nbatch = 3\nbacth = 4\n"),
                 "[config] run.toml:3: unknown option 'train.bacth'; did you mean 'train.batch'?");
  EXPECT_REFUSED(parse("\n[trian]\nbatch = 3\n"), "run.toml:2: unknown table 'trian'; did you mean 'train'?");
  EXPECT_REFUSED(parse("[model.cell]\nname = 1\n"), "run.toml:1: unknown table 'model.cell'");
  EXPECT_REFUSED(parse("[learner.fppt]\nwindows = 1\n"), "unknown table 'learner.fppt'; did you mean 'learner.fptt'?");
  EXPECT_REFUSED(parse("[model]\nhidden = 32769\n"), "model.hidden must be between 1 and 32768, got 32769");
  EXPECT_EQ(parse("[model]\nhidden = 32768\n").model.hidden.front(), LayerConfig::largest_hidden);
  EXPECT_REFUSED(parse("[learner]\nfptt = 3\n"), "run.toml:2: learner.fptt must be a table, got 3");
  EXPECT_REFUSED(with("learner.windows=3"),
                 "unknown option 'learner.windows'; did you mean 'learner.bptt.windows' or 'learner.fptt.windows'?");
  EXPECT_REFUSED(parse("[learner.fptt]\nwindwos = 3\n"),
                 "unknown option 'learner.fptt.windwos'; did you mean 'learner.fptt.windows'?");
  EXPECT_REFUSED(parse("[task.add]\nhorizon = 1\n"),
                 "unknown option 'task.add.horizon'; task.add has length, markers, stream, window, reset, history; ");
  EXPECT_REFUSED(parse("seed = 3\n"), "run.toml:1: unknown table 'seed'");
  EXPECT_REFUSED(parse("train = 3\n"), "run.toml:1: train must be a table, got 3");
  EXPECT_REFUSED(with("optimizer=1"),
                 "unknown option 'optimizer'; it is a table and has optimizer.name, optimizer.rate, ");
  EXPECT_REFUSED(with("optimiser=1"), "unknown option 'optimiser'; did you mean '[optimizer]'?");
  EXPECT_REFUSED(with("x=1"), "unknown option 'x'; tables are task, model, learner, optimizer, train, run, stream; ");
  EXPECT_REFUSED(with("optimiser.rate=1"), "--set: unknown option 'optimiser.rate'; did you mean 'optimizer.rate'?");
  EXPECT_REFUSED(with("train.batch"), "expected key=value");
}

TEST(Config, UnknownNamesAreRefusedWithTheNearest) {
  EXPECT_REFUSED(parse("[model]\n\ncell = \"lstn\"\n"), "run.toml:3: unknown model.cell 'lstn'; did you mean 'lstm'?");
  EXPECT_REFUSED(with("learner.name=tbtt"), "did you mean 'tbptt'?");
  EXPECT_REFUSED(with("optimizer.schedule=platoe"), "did you mean 'plateau'?");
  EXPECT_REFUSED(with("learner.fptt.form=lamda"), "unknown learner.fptt.form 'lamda'; did you mean 'lambda'?");
  EXPECT_REFUSED(with("learner.adaptive_tbptt.variants=[\"tau_twise\"]"), "did you mean 'tau_twice'?");
  EXPECT_REFUSED(with("model.cell=[\"lstm\", \"gro\"]"), "did you mean 'gru'?");
}

TEST(Config, ValuesOfTheWrongTypeAreRefused) {
  EXPECT_REFUSED(parse("[train]\nbatch = \"many\"\n"),
                 "run.toml:2: train.batch must be an integer, got the text \"many\"");
  EXPECT_REFUSED(with("train.batch=1.5"), "must be an integer, got 1.5");
  EXPECT_REFUSED(with("optimizer.rate=true"), "must be a number, got true");
  EXPECT_REFUSED(with("optimizer.rate=fast"), "must be a number, got the text \"fast\"");
  EXPECT_REFUSED(with("model.tied=1"), "must be true or false, got 1");
  EXPECT_REFUSED(with("train.batch=[1]"), "must be an integer, got a list");
  EXPECT_REFUSED(parse("[run]\nname = 3\n"), "run.name must be a text, got 3");
  EXPECT_REFUSED(parse("[train]\nseed = 2020-01-01\n"), "got a date or time");
}

TEST(Config, ValuesOutOfRangeAreRefused) {
  EXPECT_REFUSED(with("train.batch=0"), "train.batch must be between 1 and 65536, got 0");
  EXPECT_REFUSED(with("model.dropout_input=1.0"), "at least 0 and below 1");
  EXPECT_REFUSED(with("optimizer.rate=-1"), "optimizer.rate must be at least 0, got -1");
  EXPECT_REFUSED(with("optimizer.rate=nan"), "optimizer.rate must be at least 0, got nan");
  EXPECT_REFUSED(with("model.forget_bias=inf"), "model.forget_bias must be finite, got inf");
  EXPECT_REFUSED(with("learner.tbptt.losses=3000000000"), "learner.tbptt.losses must be at most 2147483647");
  EXPECT_REFUSED(with("learner.tbptt.steps=3000000000"), "learner.tbptt.steps must be between 0 and 500000000");
  EXPECT_REFUSED(with("train.seed=-1"), "train.seed must be at least 0, got -1");
  EXPECT_REFUSED(with("model.hidden=[8, 0]"), "model.hidden must be between 1 and 32768, got 0");
}

TEST(Config, BrokenTomlIsRefusedWithItsLine) {
  EXPECT_REFUSED(parse("[train]\nbatch = \n"), "run.toml:2: ");
  EXPECT_REFUSED(parse("[train]\nbatch = 1\nbatch = 2\n"), "run.toml:3: ");
}

TEST(Config, LoadsAFileThenAppliesOverridesInOrder) {
  const TemporaryFile file("[train]\nbatch = 16\n");
  const RunConfig config = load_config(file.path(), {"train.batch=32", "train.seed=5", "train.batch=64"});
  EXPECT_EQ(config.train.batch, 64);
  EXPECT_EQ(config.train.seed, 5u);
  EXPECT_EQ(config.run.name, std::filesystem::path(file.path()).stem().string());
  EXPECT_EQ(load_config(file.path(), {"run.name=mine"}).run.name, "mine");
}

TEST(Config, FilesThatCannotBeReadAreRefused) {
  EXPECT_REFUSED(load_config("no/such/file.toml", {}), "cannot read no/such/file.toml");
  EXPECT_REFUSED(load_config(std::filesystem::temp_directory_path().string(), {}), "cannot read");
}

TEST(Config, ListsMustFitTheLayers) {
  const TemporaryFile file("[model]\nlayers = 3\nhidden = [8, 4]\n");
  EXPECT_REFUSED(load_config(file.path(), {}),
                 "model.hidden must have one entry, or one for each of the 3 layers (model.layers), got 2");
  EXPECT_REFUSED(load_config(file.path(), {"model.hidden=8", "model.cell=[]"}), "model.cell must have one entry");
  EXPECT_REFUSED(parse("[model]\nlayers = 3\ncell = ['lstm', 'gru']\n"), "run.toml: model.cell must have one entry");
  EXPECT_REFUSED(parse("[model]\nhidden = [3, 4]\n"), "run.toml: model.hidden must have one entry");
}

TEST(Config, ValidationsAreCountedInIterationsOrInEpochs) {
  const TemporaryFile file("[train]\nevaluate_epochs = 2\n");
  EXPECT_EQ(load_config(file.path(), {}).train.evaluate_epochs, 2);
  EXPECT_REFUSED(load_config(file.path(), {"train.evaluate_every=10"}),
                 "train.evaluate_every = 10 and train.evaluate_epochs = 2 both say when to validate");
  EXPECT_EQ(load_config(file.path(), {"train.evaluate_every=10", "train.evaluate_epochs=0"}).train.evaluate_every, 10);
  EXPECT_NO_THROW(load_config(file.path(), {"train.best_by=accuracy"}));
}

TEST(Config, ResolvedTextReadsBackAsTheSameConfiguration) {
  RunConfig config = parse("[model]\nhidden = [3, 4]\nlayers = 2\n[optimizer]\nrate = 0.1\nschedule_epochs = [1.5]\n");
  config.run.name = "a \"quoted\" \\ name\twith a tab";
  config.optimizer.rule.epsilon = 1.0 / 3;
  config.train.seed = 123456789012345;
  const std::string text = resolved_config(config);
  const RunConfig back = parse_config(text, "resolved");
  EXPECT_EQ(resolved_config(back), text);
  EXPECT_EQ(back.run.name, config.run.name);
  EXPECT_EQ(back.optimizer.rule.epsilon, config.optimizer.rule.epsilon);
  EXPECT_EQ(back.model.hidden, config.model.hidden);
}

TEST(Config, ArmsOverrideTheirFile) {
  const TemporaryFile file(
      "[train]\nbatch = 3\n[optimizer]\nrate = 0.5\n[[arm]]\nname = \"a\"\ntrain.batch = 4\n"
      "[[arm]]\nname = \"b\"\n[arm.optimizer]\nrate = 0.1\n");
  const std::string stem = std::filesystem::path(file.path()).stem().string();
  const std::vector<RunConfig> arms = load_files({file.path()}, {"train.seed=7"});
  ASSERT_EQ(arms.size(), 2u);
  EXPECT_EQ(arms[0].run.name, stem + "/a");
  EXPECT_EQ(run_directory(arms[0]), "runs/" + stem + "/a");
  EXPECT_EQ(arms[0].train.batch, 4);
  EXPECT_EQ(arms[0].optimizer.rate, 0.5);
  EXPECT_EQ(arms[1].train.batch, 3);
  EXPECT_EQ(arms[1].optimizer.rate, 0.1);
  EXPECT_EQ(arms[1].train.seed, 7u);
  EXPECT_EQ(load_config(file.path(), {}, "b").optimizer.rate, 0.1);
  EXPECT_EQ(load_files({file.path()}, {"run.directory=here"}, "a").front().run.directory, "here/a");
  EXPECT_REFUSED(load_config(file.path(), {}), "has 2 arms; pick one with --arm");
  EXPECT_REFUSED(load_files({file.path()}, {}, "c"), "unknown arm 'c'");
}

TEST(Config, ArmsAreChecked) {
  const auto refused = [](const std::string& text) {
    const TemporaryFile file(text);
    return testing::refusal_of([&] { load_files({file.path()}, {}); });
  };
  EXPECT_NE(refused("[arm]\nname = \"a\"\n").find("written as [[arm]]"), std::string::npos);
  EXPECT_NE(refused("[[arm]]\ntrain.batch = 1\n").find("an arm needs a name"), std::string::npos);
  EXPECT_NE(refused("[[arm]]\nname = \"a\"\n[[arm]]\nname = \"a\"\n").find("two arms named 'a'"), std::string::npos);
  EXPECT_NE(refused("[[arm]]\nname = \"a\"\ntrain.bacth = 1\n").find("did you mean 'train.batch'?"), std::string::npos);
}

TEST(Config, PathsOfAFileAreRelativeToIt) {
  const TemporaryFile file(
      "[task]\nname = \"series\"\ndata = \"/absolute\"\n[task.series]\npath = \"some/x.csv\"\n"
      "[run]\ndirectory = \"out\"\n");
  const std::filesystem::path home = std::filesystem::path(file.path()).parent_path();
  const RunConfig config = load_config(file.path(), {});
  EXPECT_EQ(config.task.series.path, (home / "some/x.csv").string());
  EXPECT_EQ(config.task.data, "/absolute");
  EXPECT_EQ(run_directory(config), (home / "out").string());
  const RunConfig other = load_config(file.path(), {"task.series.path=y.csv", "run.directory=here"});
  EXPECT_EQ(other.task.series.path, (std::filesystem::current_path() / "y.csv").string());
  EXPECT_EQ(run_directory(other), "here");
}

TEST(Config, EveryOptionIsDeclaredOnceWithAGoodDefault) {
  std::set<std::string> keys;
  RunConfig defaults;
  const OptionList list = options_of(defaults);
  for (const Option& option : list.options()) {
    EXPECT_TRUE(keys.insert(option.key).second) << option.key;
    EXPECT_FALSE(option.help.empty()) << option.key;
    for (const OptionUsers& users : option.users) EXPECT_FALSE(users.names.empty()) << option.key;
    RunConfig same;
    EXPECT_NO_THROW(set_option(same, option.key + "=" + value_text(option), "default")) << option.key;
  }
  for (const char* key :
       {"task.name", "task.add.length", "model.cell", "model.hidden", "model.layers", "learner.name", "optimizer.name",
        "optimizer.rate", "optimizer.clip", "train.iterations", "train.batch", "train.seed", "train.evaluate_every",
        "train.epochs", "run.directory", "run.engine", "run.threads", "run.checkpoint_every"})
    EXPECT_TRUE(keys.contains(key)) << key;
}

TEST(Config, ChoicesTakeEveryNameTheyList) {
  RunConfig config;
  const OptionList list = options_of(config);
  int choices = 0;
  for (const Option& option : list.options()) {
    const ChoiceField* choice = std::get_if<ChoiceField>(&option.field);
    if (choice == nullptr) continue;
    ++choices;
    for (const std::string& name : option.names) {
      set_option(config, option.key + "=" + name, "--set");
      EXPECT_EQ(choice->get(), std::vector<std::string>{name}) << option.key;
    }
  }
  EXPECT_GT(choices, 30);
}

TEST(Config, WritesTheTablesOfItsOwnTaskAndLearnerAlone) {
  RunConfig config;
  config.learner.name = "fptt";
  config.learner.fptt.windows = 5;
  const std::string text = resolved_config(config);
  EXPECT_NE(text.find("[learner.fptt]\nwindows = 5\n"), std::string::npos) << text;
  EXPECT_NE(text.find("[task.add]\n"), std::string::npos);
  EXPECT_EQ(text.find("[learner.tbptt]"), std::string::npos);
  EXPECT_EQ(text.find("[task.mnist]"), std::string::npos);
}

/// On the command line; a file may hold the settings of several methods and tasks.
TEST(Config, OptionsThatNobodyReadsAreRefused) {
  const TemporaryFile file("[learner]\nname = \"fptt\"\nfptt.windows = 4\ntbptt.steps = 3\n[task.copy]\nlength = 9\n");
  const auto load = [&](const std::string& assignment, const char* command = "train") {
    load_config(file.path(), {assignment}, "", command);
  };
  EXPECT_NO_THROW(load("learner.fptt.windows=5"));
  EXPECT_REFUSED(load("learner.tbptt.steps=5"),
                 "[config] --set: learner.tbptt.steps is an option of the learner tbptt; here the learner is fptt");
  EXPECT_REFUSED(load("task.copy.length=5"), "task.copy.length is an option of the task copy; here the task is add");
  EXPECT_REFUSED(load("task.data=x"), "here the task is add");
  EXPECT_REFUSED(load("stream.difference=true"),
                 "stream.difference is an option of the command stream; here the command is train");
  EXPECT_REFUSED(load("train.batch=2", "stream"), "train.batch is an option of the command train");
  EXPECT_REFUSED(load("optimizer.momentum=0.5"), "optimizer.momentum is an option of the optimizer momentum");
  EXPECT_REFUSED(load("model.diffusion=0.5"), "here the cell is lstm");
  EXPECT_REFUSED(load("optimizer.schedule_patience=1"), "is an option of the schedule plateau");
  EXPECT_REFUSED(load("model.experts=5"),
                 "model.experts is an option of the head mixture_of_softmaxes; here the head is the task's own");
  EXPECT_REFUSED(load("model.initialise_range=1"), "is an option of the initialise uniform");
  EXPECT_NO_THROW(load_config(file.path(), {"learner.name=tbptt", "learner.tbptt.steps=5"}));
}

TEST(Config, AnOptionThatOneArmReadsIsTaken) {
  const TemporaryFile file("[[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\nlearner.name = \"fptt\"\n");
  EXPECT_EQ(load_files({file.path()}, {"learner.fptt.windows=5"}).back().learner.fptt.windows, 5);
  EXPECT_REFUSED(load_files({file.path()}, {"learner.fptt.windows=5"}, "a"), "here the learner is bptt");
}

TEST(Config, DocumentationPageIsInStep) {
  EXPECT_EQ(file_text(THROUGHTIME_TEST_DIRECTORY "/../docs/options.md"), options_markdown())
      << "run: throughtime help options --markdown > docs/options.md";
}

TEST(Config, BuildsTheModelThatTheOptionsDescribe) {
  const std::unique_ptr<Task> task = make_task(TaskConfig{}, 1);
  ModelOptions options;
  options.layers = 3;
  options.cell = {"gru"};
  options.hidden = {8, 4, 2};
  options.head_hidden = 5;
  options.dropout.output = 0.5;
  const ModelConfig model = make_model_config(options, *task);
  ASSERT_EQ(model.layers.size(), 3u);
  EXPECT_EQ(model.layers[2].cell, "gru");
  EXPECT_EQ(model.layers[2].hidden, 2);
  EXPECT_EQ(model.input.reals, 2);
  EXPECT_EQ(model.head.name, "regression");
  EXPECT_EQ(model.head.hidden, 5);
  EXPECT_EQ(model.dropout.output, 0.5);
  options.head = "quantile";
  EXPECT_REFUSED(make_model_config(options, *task), "model.head = \"quantile\" is for forecasts");
  options.levels = {0.05, 0.25, 0.75, 0.95};
  EXPECT_EQ(make_model_config(options, {.reals = 1}, {.name = "regression", .outputs = 3}).head.outputs, 12);
  options.head = "gaussian";
  EXPECT_EQ(make_model_config(options, {.reals = 1}, {.name = "regression", .outputs = 3}).head.outputs, 6);
}

TEST(Config, AMixtureTakesThePlaceOfASoftmaxAlone) {
  ModelOptions options;
  options.head = "mixture_of_softmaxes";
  options.experts = 4;
  options.latent = 7;
  options.mixture_epsilon = 1e-8;
  const HeadConfig head = make_model_config(options, {.vocabulary = 9}, {.name = "softmax", .outputs = 9}).head;
  EXPECT_EQ(head.name, "mixture_of_softmaxes");
  EXPECT_EQ(head.outputs, 9);
  EXPECT_EQ(head.experts, 4);
  EXPECT_EQ(head.latent, 7);
  EXPECT_EQ(head.epsilon, 1e-8);
  const std::string needs = "[model] model.head = \"mixture_of_softmaxes\" needs labels";
  for (const char* other : {"regression", "bernoulli", "point_process"})
    EXPECT_REFUSED(make_model_config(options, {.reals = 1}, {.name = other, .outputs = 5}), needs);
  EXPECT_REFUSED(make_model_config(options, *make_task(TaskConfig{}, 1)), needs);
}

}  // namespace
}  // namespace throughtime
