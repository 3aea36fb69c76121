#include "train/evaluate/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.h"
#include "tasks/generated/streams.h"
#include "tasks/sequences/sequence_set.h"
#include "throughtime/forwarding_engine.h"

namespace throughtime {
namespace {

/// A model of a task with drawn parameters.
struct Drawn {
  Drawn(Task& task, const std::string& name, int hidden = 6) {
    ModelConfig config;
    config.input = task.input();
    config.head = task.head();
    config.dropout.output = 0.3;  // must be off
    config.layers = {{.cell = "lstm", .hidden = hidden, .options = {}}};
    model = std::make_unique<Model>(config);
    engine = make_engine(*model, {.name = name, .threads = 2, .communicator = nullptr});
    parameters = engine->allocate(model->parameters().size());
    InitialiseConfig draw;
    draw.rule = InitialiseRule::uniform;
    draw.range = 1.0;
    engine->write(parameters, initialise(*model, draw, 7));
  }
  std::unique_ptr<Model> model;
  std::unique_ptr<Engine> engine;
  Buffer parameters;
};

/// The same numbers by the plain way: every window unrolled whole.
struct Plain {
  double loss = 0, weight = 0, correct = 0;

  Plain(Drawn& drawn, Task& task, Split split, int batch, std::int64_t count, std::uint64_t first = 0) {
    Engine& engine = *drawn.engine;
    const auto rows = static_cast<std::size_t>(batch);
    const auto outputs = static_cast<std::size_t>(drawn.model->outputs());
    const auto steps = static_cast<std::size_t>(task.steps());
    const auto tape = engine.make_tape({.steps = task.steps(), .batch = batch, .keep = Keep::nothing});
    const Buffer state = engine.allocate(rows * static_cast<std::size_t>(drawn.model->state_size()));
    const Buffer losses = engine.allocate(steps * rows), predictions = engine.allocate(steps * rows * outputs);
    for (std::int64_t i = 0; i < count; ++i) {
      const Window& window = task.make_batch(split, first + static_cast<std::uint64_t>(i), batch);
      engine.unroll({.window = window,
                     .parameters = drawn.parameters,
                     .tape = *tape,
                     .training = false,
                     .initial_state = i > 0 && window.continues ? state : Buffer(),
                     .final_state = state,
                     .losses = losses,
                     .predictions = predictions});
      const std::vector<double> loss_of = engine.read(losses), predicted = engine.read(predictions);
      for (std::size_t entry = 0; entry < window.weight.size(); ++entry) {
        if (window.weight[entry] == 0) continue;
        weight += window.weight[entry];
        loss += window.weight[entry] * loss_of[entry];
        // The loss of a label is -log of its probability: it is right where no other class has more.
        double best = 0;
        for (std::size_t k = 0; k < outputs; ++k) best = std::max(best, predicted[entry * outputs + k]);
        correct += std::exp(-loss_of[entry]) > best - 1e-6;
      }
    }
  }
};

double score(const Evaluation& evaluation, const std::string& name) {
  for (const Score& score : evaluation.scores)
    if (score.name == name) return score.value;
  ADD_FAILURE() << "no score " << name;
  return 0;
}

TEST(Evaluator, IsTheMeanOverBatchesOfAGeneratedTask) {
  for (const std::string engine : {"reference", "cpu"}) {
    const auto task = make_task(CopyConfig{.length = 300}, 1);  // windows are cut into parts
    Drawn drawn(*task, engine);
    Evaluator evaluator(*drawn.engine, *task, 5);
    const Evaluation result = evaluator.evaluate(drawn.parameters, Split::test, 3, 4);
    const Plain plain(drawn, *task, Split::test, 5, 3, 4);
    EXPECT_NEAR(result.loss, plain.loss / plain.weight, 1e-6);
    EXPECT_DOUBLE_EQ(result.weight, 3 * 5 * 320);
    EXPECT_NEAR(score(result, "accuracy"), plain.correct / plain.weight, 1e-9);
    EXPECT_EQ(score(result, "cross_entropy"), result.loss);
    EXPECT_EQ(result.metric, result.loss);
    EXPECT_NE(result.loss, evaluator.evaluate(drawn.parameters, Split::test, 3, 0).loss);
    EXPECT_EQ(result.loss, evaluator.evaluate(drawn.parameters, Split::test, 3, 4).loss);
  }
}

TEST(Evaluator, CarriesTheStateOfAStreamAndStartsFromZero) {
  const auto task = make_task(RecallConfig{.length = 7, .generator = RecallGenerator::reference}, 1);
  Drawn drawn(*task, "reference");
  Evaluator evaluator(*drawn.engine, *task, 3);
  for (const std::uint64_t first : {0u, 12u}) {
    const Evaluation result = evaluator.evaluate(drawn.parameters, Split::validation, 6, first);
    const Plain plain(drawn, *task, Split::validation, 3, 6, first);
    EXPECT_NEAR(result.loss, plain.loss / plain.weight, 1e-12);
    EXPECT_NEAR(result.metric, std::exp(result.loss), 1e-12);
    EXPECT_EQ(result.scores.front().name, "perplexity");
  }
  // One long window is the same stream.
  const auto whole = make_task(RecallConfig{.length = 42, .generator = RecallGenerator::reference}, 1);
  Evaluator long_windows(*drawn.engine, *whole, 3);
  EXPECT_NEAR(long_windows.evaluate(drawn.parameters, Split::validation, 1).loss,
              evaluator.evaluate(drawn.parameters, Split::validation, 6).loss, 1e-12);
}

TEST(Evaluator, SumsRegressionLosses) {
  const auto task = make_task(AddConfig{.length = 140}, 1);
  Drawn drawn(*task, "cpu");
  Evaluator evaluator(*drawn.engine, *task, 4);
  const Evaluation result = evaluator.evaluate(drawn.parameters, Split::test, 10);
  const Plain plain(drawn, *task, Split::test, 4, 10);
  EXPECT_NEAR(result.loss, plain.loss / plain.weight, 1e-6);
  EXPECT_DOUBLE_EQ(result.weight, 40);
  EXPECT_EQ(result.scores.front().name, "mse");
}

/// Counts what is read back.
class ReadCounter final : public ForwardingEngine {
 public:
  using Engine::read;
  using ForwardingEngine::ForwardingEngine;
  void read(Buffer buffer, std::span<double> values) const override {
    ++reads;
    numbers += values.size();
    ForwardingEngine::read(buffer, values);
  }
  mutable std::size_t reads = 0, numbers = 0;
};

TEST(Evaluator, ReadsTwoNumbersForEachBatch) {
  for (const std::string engine : {"reference", "cpu"})
    for (const int batch : {1, 5}) {
      const auto task = make_task(CopyConfig{.length = 300}, 1);  // three parts
      Drawn drawn(*task, engine);
      ReadCounter counter(std::move(drawn.engine));
      Evaluator evaluator(counter, *task, batch);
      const Evaluation result = evaluator.evaluate(drawn.parameters, Split::test, 4);
      EXPECT_EQ(counter.reads, 4u);
      EXPECT_EQ(counter.numbers, 8u);
      EXPECT_DOUBLE_EQ(result.weight, 4 * batch * 320);
    }
}

/// Five short sequences whose label is their number.
class FiveSequences final : public SequenceSet {
 public:
  const SequenceShape& shape() const override { return shape_; }
  std::vector<Metric> metrics() const override { return {Metric::accuracy}; }
  double baseline() const override { return 0; }
  std::string baseline_text() const override { return "nothing"; }
  bool endless() const override { return false; }
  std::int64_t size(Split) const override { return 5; }
  void write(Split, std::uint64_t number, int, const SequenceSpan& out) const override {
    for (std::int32_t& token : out.tokens) token = static_cast<std::int32_t>(number);
    out.labels[0] = static_cast<std::int32_t>(number);
  }

 private:
  SequenceShape shape_ = {.length = 3,
                          .input = {.vocabulary = 5},
                          .head = {.name = "softmax", .outputs = 5},
                          .labels = true,
                          .one_target = true,
                          .first_loss = 2};
};

TEST(Evaluator, CountsEveryExampleOfAFiniteSplitOnceWhateverTheBatch) {
  double loss = 0, accuracy = 0;
  for (const int batch : {1, 2, 3, 5, 8}) {
    const auto task = make_sequence_task("five", {}, 1, std::make_unique<FiveSequences>());
    Drawn drawn(*task, "reference");
    Evaluator evaluator(*drawn.engine, *task, batch);
    const Evaluation result = evaluator.evaluate(drawn.parameters, Split::test, 1);  // `batches` plays no part
    EXPECT_DOUBLE_EQ(result.weight, 5);
    if (batch == 1) loss = result.loss, accuracy = result.metric;
    EXPECT_NEAR(result.loss, loss, 1e-12);
    EXPECT_DOUBLE_EQ(result.metric, accuracy);
  }
}

TEST(Evaluator, SumsInDouble) {
  // A thousand times the same loss in float would drift; here the mean is the loss.
  const auto task = make_task(CycleWorldConfig{.length = 100, .period = 2}, 1);
  Drawn drawn(*task, "cpu");
  drawn.engine->fill(drawn.parameters, 0);  // probabilities of one half
  Evaluator evaluator(*drawn.engine, *task, 10);
  const Evaluation result = evaluator.evaluate(drawn.parameters, Split::test, 200);
  EXPECT_NEAR(result.scores.at(1).value, static_cast<float>(std::log(2.0)), 1e-7);
  EXPECT_DOUBLE_EQ(result.metric, 0.5);
}

TEST(Evaluator, NeedsNoMoreMemoryForLongerSequences) {
  const auto bytes = [](int length) {
    const auto task = make_task(AddConfig{.length = length}, 1);
    Drawn drawn(*task, "cpu");
    return Evaluator(*drawn.engine, *task, 4).bytes();
  };
  EXPECT_EQ(bytes(200), bytes(20000));
}

}  // namespace
}  // namespace throughtime
