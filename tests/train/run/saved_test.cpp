#include "throughtime/saved.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/errors.h"
#include "support/metrics.h"
#include "support/scratch.h"
#include "throughtime/learners/tbptt.h"
#include "throughtime/random.h"
#include "train/checkpoint/safetensors.h"
#include "train/run/session.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;
using testing::text_of;
using testing::write_text;

Model small_model(int hidden = 3) {
  return Model({.input = {.reals = 1},
                .layers = {{.cell = "gru", .hidden = hidden}},
                .head = {.name = "regression", .outputs = 1}});
}

/// Training with all that it needs, on a wave.
struct Training {
  explicit Training(const std::string& optimizer = "adam", int truncation = 5, const std::string& engine_name = "cpu",
                    Averaging average = Averaging::off)
      : engine(make_engine(model, {.name = engine_name})),
        trainee(make_trainee(*engine, initialise(model, {}, 1), {.name = optimizer, .average = average}, {})),
        learner(make_learner(TbpttConfig{.preset = TbpttPreset::plain, .truncation = truncation}, trainee, {10, 2})) {
    for (int t = 0; t <= 200; ++t) wave.push_back(static_cast<float>(std::sin(0.4 * t)));
    next.assign(wave.begin() + 1, wave.end());
    source = {.steps = 200, .reals = 1, .target_width = 1, .values = std::span(wave).first(200), .target_values = next};
  }
  void learn(int from, int to) {
    for (int stretch = from; stretch < to; ++stretch) {
      Window window = {.steps = 10, .batch = 2, .sources = {&source, 1}, .continues = stretch > 0};
      window.start = {stretch * 10, stretch * 10 + 90};
      window.weight.assign(20, 1.0f);
      learner->learn(window, [](std::int64_t) { return 0.01; });
    }
  }
  std::vector<double> weights() const { return engine->Engine::read(trainee.parameters); }

  Model model = small_model();
  std::vector<float> wave, next;
  Source source;
  std::unique_ptr<Engine> engine;
  Trainee trainee;
  std::unique_ptr<Learner> learner;
};

TEST(SavedWeights, AreReadBackBitForBit) {
  const ScratchDirectory scratch;
  const std::string path = (scratch / "weights.safetensors").string();
  const Model model = small_model();
  std::vector<double> floats = initialise(model, {}, 7);
  for (double& value : floats) value = static_cast<float>(value);
  save_weights(path, model, floats);
  EXPECT_EQ(load_weights(path, model), floats);
  EXPECT_EQ(read_tensors(path).find("rnn.weight_hh_l0")->type, "F32");
  std::vector<double> doubles = floats;
  doubles.back() = 1.0 / 3;
  save_weights(path, model, doubles);
  EXPECT_EQ(load_weights(path, model), doubles);
}

TEST(SavedWeights, AFileThatIsNoneGivesOneLineWithItsName) {
  const ScratchDirectory scratch;
  const std::string path = (scratch / "weights.safetensors").string();
  const Model model = small_model();
  const std::vector<double> weights = initialise(model, {}, 7);
  save_weights(path, model, weights);
  const auto refusal = [&](const Model& other) { return testing::refusal_of([&] { load_weights(path, other); }); };
  EXPECT_EQ(refusal(small_model(4)),
            "[load] " + path + ": the weights 'rnn.weight_ih_l0' must have the shape [12, 1], they have [9, 1]");
  EXPECT_NE(refusal(Model({.input = {.reals = 1},
                           .layers = {{.cell = "gru", .hidden = 3}, {.cell = "gru", .hidden = 3}},
                           .head = {.name = "regression", .outputs = 1}}))
                .find(path + ": there are no weights 'rnn.weight_ih_l1', which the model has with the shape [9, 3]"),
            std::string::npos);
  EXPECT_REFUSED(save_weights(path, model, std::vector<double>(5)), "weights, got 5");
  const std::string whole = text_of(path);
  for (std::size_t length : {std::size_t{0}, std::size_t{7}, whole.size() / 2, whole.size() - 1}) {
    write_text(path, whole.substr(0, length));
    EXPECT_NE(refusal(model).find(path), std::string::npos) << length;
    EXPECT_EQ(refusal(model).find('\n'), std::string::npos);
  }
  std::vector<double> wild = weights;
  wild.front() = std::numeric_limits<double>::infinity();
  save_weights(path, model, wild);
  EXPECT_NE(refusal(model).find("hold numbers that are not finite"), std::string::npos);
  EXPECT_REFUSED(load_weights((scratch / "none").string(), model), "there is no such file");
}

TEST(SavedTraining, GoesOnWithTheSameBits) {
  const ScratchDirectory scratch;
  const std::string path = (scratch / "training.safetensors").string();
  for (const char* engine : {"cpu", "reference"}) {
    Training whole("adam", 5, engine), first("adam", 5, engine), second("adam", 5, engine);
    whole.learn(0, 8);
    first.learn(0, 4);
    save_training(path, first.trainee, *first.learner);
    load_training(path, second.trainee, *second.learner);
    EXPECT_EQ(second.learner->updates(), first.learner->updates());
    second.learn(4, 8);
    EXPECT_EQ(second.weights(), whole.weights());
    EXPECT_EQ(load_weights(path, first.model), first.weights()) << "its weights can be read alone";
  }
}

TEST(SavedTraining, KeepsTheAverageOfTheWeights) {
  const ScratchDirectory scratch;
  const std::string path = (scratch / "training.safetensors").string();
  Training whole("sgd", 5, "cpu", Averaging::always), first("sgd", 5, "cpu", Averaging::always),
      second("sgd", 5, "cpu", Averaging::always);
  const auto judged = [](Training& training) {
    return training.engine->Engine::read(
        evaluated_parameters(training.trainee, {.name = "sgd", .average = Averaging::always}));
  };
  whole.learn(0, 8);
  first.learn(0, 4);
  save_training(path, first.trainee, *first.learner);
  load_training(path, second.trainee, *second.learner);
  EXPECT_EQ(judged(second), judged(first));
  EXPECT_NE(judged(second), second.weights());
  second.learn(4, 8);
  EXPECT_EQ(judged(second), judged(whole));
}

TEST(SavedTraining, RefusesAnotherOne) {
  const ScratchDirectory scratch;
  const std::string path = (scratch / "training.safetensors").string();
  Training training;
  training.learn(0, 2);
  save_training(path, training.trainee, *training.learner);
  Training plain("sgd");
  save_training((scratch / "sgd").string(), plain.trainee, *plain.learner);
  EXPECT_REFUSED(load_training((scratch / "sgd").string(), training.trainee, *training.learner),
                 (scratch / "sgd").string() + ": there is no 'throughtime.optimizer.");
  OnlineLearner stream(*training.engine, training.weights(), {});
  EXPECT_REFUSED(load_training(path, stream), "holds the training of tbptt, this one is of stream");
  save_weights(path, training.model, training.weights());
  EXPECT_REFUSED(load_training(path, training.trainee, *training.learner), "read by load_weights");
}

TEST(SavedTraining, OfAStreamGoesOnWithTheSameBits) {
  const ScratchDirectory scratch;
  const std::string path = (scratch / "stream.safetensors").string();
  const Model model = small_model();
  const auto engine = make_engine(model, {});
  const std::vector<double> weights = initialise(model, {}, 3);
  OnlineLearner whole(*engine, weights, {}), first(*engine, weights, {}), second(*engine, weights, {});
  const auto learn = [](OnlineLearner& learner, int from, int to) {
    double last = 0;
    for (int t = from; t < to; ++t) {
      const float now = std::sin(0.3f * static_cast<float>(t)), next = std::sin(0.3f * static_cast<float>(t + 1));
      last = learner.observe({&now, 1}, {&next, 1})[0];
    }
    return last;
  };
  learn(whole, 0, 33);
  learn(first, 0, 33);
  save_training(path, first);
  load_training(path, second);
  EXPECT_EQ(learn(second, 33, 60), learn(whole, 33, 60));
}

TEST(SavedRuns, AreTrainedFromAnArm) {
  const ScratchDirectory scratch;
  const std::string config =
      scratch.write("add.toml",
                    "[task]\nname = \"add\"\nadd.length = 4\n[model]\nhidden = 4\n[train]\niterations = 2\nbatch = 4\n"
                    "[run]\nthreads = 1\ndirectory = \"run\"\n[[arm]]\nname = \"wide\"\nmodel.hidden = 6\n");
  EXPECT_REFUSED(train_file(config), "--arm");
  EXPECT_REFUSED(train_file(config, {}, "wid"), "did you mean 'wide'?");
  EXPECT_EQ(load_run(train_file(config, {}, "wide")).model.layers().front().hidden, 6);
}

TEST(SavedRuns, AreTrainedAndReadByPrograms) {
  const ScratchDirectory scratch;
  const std::string config =
      scratch.write("add.toml",
                    "[task]\nname = \"add\"\nadd.length = 4\n[model]\nhidden = 4\n[train]\niterations = 10\nbatch = 4\n"
                    "evaluate_every = 5\nevaluate_batches = 1\n[run]\nthreads = 1\ndirectory = \"run\"\n");
  const std::string directory = train_file(config, {"train.seed=3"});
  EXPECT_TRUE(std::filesystem::equivalent(directory, scratch / "run"));
  for (const Checkpoint checkpoint : {Checkpoint::last, Checkpoint::best}) {
    const SavedRun run = load_run(directory, checkpoint);
    EXPECT_EQ(run.model.layers().front().hidden, 4);
    EXPECT_EQ(run.parameters, load_weights((scratch / "run/checkpoints" /
                                            (checkpoint == Checkpoint::best ? "best.safetensors" : "last.safetensors"))
                                               .string(),
                                           run.model));
    EXPECT_NE(run.configuration.find("seed = 3"), std::string::npos);
  }
  EXPECT_EQ(load_run(directory).parameters, load_run(directory, Checkpoint::best).parameters);
  EXPECT_REFUSED(train_file(config, {}), "run");
  EXPECT_REFUSED(load_run((scratch / "nowhere").string()), "nowhere");
  write_text(scratch / "run/checkpoints/last.safetensors", "damaged");
  std::filesystem::remove(scratch / "run/checkpoints/last.previous.safetensors");
  EXPECT_REFUSED(load_run(directory, Checkpoint::last), "last.safetensors");
  EXPECT_REFUSED(load_run(directory), "best.safetensors");
}

}  // namespace
}  // namespace throughtime
