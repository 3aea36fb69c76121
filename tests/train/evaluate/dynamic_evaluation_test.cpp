#include "train/evaluate/dynamic_evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "allocations/counted_new.h"
#include "support/errors.h"
#include "support/scratch.h"
#include "support/usable_engine.h"
#include "throughtime/arrays.h"
#include "throughtime/forwarding_engine.h"
#include "throughtime/random.h"

namespace throughtime::testing {
namespace {

/// Words of a few letters, which are not equally likely.
std::string words(int count, std::uint64_t seed) {
  const Random random(seed, Purpose::shuffle);
  std::string text;
  for (int i = 0; i < count; ++i) {
    const auto letter = [&](int place) {
      return static_cast<char>(
          'a' + random.below(4, static_cast<std::uint64_t>(i), 0, static_cast<std::uint64_t>(place)) *
                    random.below(2, static_cast<std::uint64_t>(i), 1, static_cast<std::uint64_t>(place)));
    };
    text += std::string() + letter(0) + letter(1) + ' ';
  }
  return text;
}

/// A small text, and a model of it with drawn weights.
class Reader {
 public:
  explicit Reader(const std::string& engine, int length = 100, const std::string& test = words(40, 3),
                  const std::function<std::unique_ptr<Engine>(std::unique_ptr<Engine>)>& around = {},
                  bool mixture = false) {
    TextConfig text{.length = length, .corpus = TextCorpus::files, .unit = TextUnit::character};
    text.files = {files_.write("train", words(250, 1)), files_.write("valid", words(30, 2)),
                  files_.write("test", test)};
    text.evaluation_columns = 1;
    task = make_task(text, 1);
    ModelConfig config;
    config.input = task->input();
    config.input.tokens = TokenInput::embedding;
    config.input.embedding = 3;
    config.head = task->head();
    config.dropout = {.input = 0.2, .output = 0.3, .recurrent = 0.4};  // must be off
    config.layers = {{.cell = "lstm", .hidden = 6, .options = {}}};
    if (mixture) {
      config.head.name = "mixture_of_softmaxes";
      config.head.experts = 3;
      config.dropout.embedding = config.dropout.latent = 0.2;
      config.penalties = {.activation = 2, .slowness = 1};
    }
    model = std::make_unique<Model>(config);
    this->engine = make_engine(*model, {.name = engine, .threads = 2, .communicator = nullptr});
    if (around) this->engine = around(std::move(this->engine));
    trained = this->engine->allocate(model->parameters().size());
    this->engine->write(trained, initialise(*model, {.rule = InitialiseRule::uniform, .range = 0.8}, 7));
  }

  std::unique_ptr<Task> task;
  std::unique_ptr<Model> model;
  std::unique_ptr<Engine> engine;
  Buffer trained;

 private:
  ScratchDirectory files_;
};

constexpr int segment = 5;

/// Windows of one segment after the other, with their gradients, by the plain way: read to the host each time.
class Segments {
 public:
  Segments(Reader& reader, int rows)
      : reader_(reader),
        rows_(rows),
        tape_(reader.engine->make_tape({.steps = segment, .batch = rows, .keep = Keep::gradient})),
        weights_(reader.engine->allocate(reader.trained.size)),
        gradient_(reader.engine->allocate(reader.trained.size)),
        state_(reader.engine->allocate(elements(rows, reader.model->state_size()))),
        sum_(reader.engine->allocate(1)) {}

  /// visit(mean loss, gradient of the mean loss) of each segment, which may change `weights`.
  template <class Visit>
  void walk(Split split, std::vector<double>& weights, const Visit& visit) {
    Engine& engine = *reader_.engine;
    engine.fill(state_, 0);
    for (std::int64_t i = 0; i < reader_.task->batches(split, rows_); ++i) {
      const Window& window = reader_.task->make_batch(split, static_cast<std::uint64_t>(i), rows_);
      engine.write(weights_, weights);
      engine.fill(sum_, 0);
      engine.unroll({.window = window,
                     .parameters = weights_,
                     .tape = *tape_,
                     .training = false,
                     .initial_state = state_,
                     .final_state = state_,
                     .loss_sum = sum_});
      engine.pull_back({.tape = *tape_, .window = window, .parameters = weights_, .gradient = gradient_});
      const double entries = window.steps * window.batch;
      std::vector<double> gradient = engine.Engine::read(gradient_);
      for (double& value : gradient) value /= entries;
      visit(engine.Engine::read(sum_).front(), entries, gradient);
    }
  }

 private:
  Reader& reader_;
  int rows_;
  std::unique_ptr<Tape> tape_;
  Buffer weights_, gradient_, state_, sum_;
};

/// Sums of squared gradients of the training data, [P], and the count of segments behind them.
std::pair<std::vector<double>, int> sums_of_squares(int rows) {
  Reader reader("reference", segment);
  std::vector<double> weights = reader.engine->Engine::read(reader.trained), sums(weights.size());
  int count = 0;
  Segments(reader, rows).walk(Split::train, weights, [&](double, double, const std::vector<double>& gradient) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += gradient[i] * gradient[i];
    ++count;
  });
  return {sums, count};
}

/// Dynamic evaluation with the older scaling, from its definition: sums, not means, over segments and tensors.
double with_sums(double rate, double decay, double epsilon, int rows) {
  const auto [squares, count] = sums_of_squares(rows);
  Reader reader("reference", segment);
  const std::vector<double> first = reader.engine->Engine::read(reader.trained);
  std::vector<double> sizes, weights = first;
  for (const double square : squares) sizes.push_back(std::sqrt(square));
  double mean = 0;
  for (const ParameterBlock& block : reader.model->parameters().blocks()) {
    double sum = 0;
    for (std::size_t i = 0; i < block.size(); ++i) sum += sizes[block.offset + i];
    mean += sum / static_cast<double>(block.size());
  }
  double losses = 0, all = 0;
  Segments(reader, 1).walk(Split::test, weights, [&](double loss, double entries, const std::vector<double>& gradient) {
    losses += loss;
    all += entries;
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] += decay * std::min(sizes[i] / mean, 1 / decay) * (first[i] - weights[i]) -
                    rate * gradient[i] / (sizes[i] + epsilon);
  });
  return losses / all;
}

TEST(DynamicEvaluation, WithoutRateAndDecayIsTheStaticOne) {
  for (const std::string engine : {"reference", "cpu"}) {
    Reader reader(engine);
    DynamicEvaluation dynamic(*reader.engine, *reader.task, reader.trained, {.columns = 10});
    const double loss = dynamic.evaluate_static(Split::test).loss;
    EXPECT_EQ(dynamic.evaluate(Split::test, 0, 0).loss, loss) << engine;
    EXPECT_NE(dynamic.evaluate(Split::test, 0.05, 0).loss, loss) << engine;
    EXPECT_EQ(dynamic.evaluate(Split::test, 0, 0).loss, loss) << engine;  // the weights went back
    EXPECT_EQ(dynamic.evaluate_static(Split::test).loss, loss) << engine;
    // The usual evaluation of one column, in windows of a segment, and of 100 steps.
    Reader same(engine, segment), whole(engine);
    EXPECT_EQ(
        Evaluator(*same.engine, *same.task, 1).evaluate(same.trained, Split::test, 0).loss,
        DynamicEvaluation(*same.engine, *same.task, same.trained, {.columns = 10}).evaluate(Split::test, 0, 0).loss)
        << engine;
    EXPECT_NEAR(Evaluator(*whole.engine, *whole.task, 1).evaluate(whole.trained, Split::test, 0).loss, loss, 1e-6);
  }
}

TEST(DynamicEvaluation, StatisticsAreTheBruteForceSums) {
  for (const std::string engine : {"reference", "cpu"})
    for (const int columns : {1, 10}) {
      Reader reader(engine);
      DynamicEvaluation dynamic(*reader.engine, *reader.task, reader.trained, {.columns = columns});
      const GradientStatistics& found = dynamic.collect();
      const auto [sums, count] = sums_of_squares(columns);
      ASSERT_EQ(found.segments, count);
      EXPECT_EQ(found.columns, columns);
      const double tolerance = engine == "cpu" ? 1e-5 : 1e-13;
      for (std::size_t i = 0; i < sums.size(); ++i)
        ASSERT_NEAR(found.sizes[i], std::sqrt(sums[i] / count), tolerance) << engine << i;
    }
}

TEST(DynamicEvaluation, SumsAndTheirMapToMeansAgreeWithTheDefinition) {
  const double rate = 0.05, decay = 0.3, epsilon = 1e-3;
  const double expected = with_sums(rate, decay, epsilon, 10);
  Reader reader("reference");
  const DynamicConfig sums{
      .scaling = GradientScaling::sum, .rate = rate, .decay = decay, .epsilon = epsilon, .columns = 10};
  DynamicEvaluation old(*reader.engine, *reader.task, reader.trained, sums);
  EXPECT_NEAR(old.evaluate(Split::test).loss, expected, 1e-12);
  const DynamicConfig means = in_means(sums, old.collect());
  EXPECT_NEAR(means.decay, decay / 7, 1e-15);  // an embedding, four of the cell, two of the head
  DynamicEvaluation mapped(*reader.engine, *reader.task, reader.trained, means);
  EXPECT_NEAR(mapped.evaluate(Split::test).loss, expected, 1e-12);
  EXPECT_GT(std::abs(mapped.evaluate_static(Split::test).loss - expected), 1e-3);
}

TEST(DynamicEvaluation, TheWayBackIsNeverLongerThanTheWholeWay) {
  const OptimizerType& rule = find_optimizer("anchored");
  const UpdateCoefficients k = rule.coefficients({.name = "anchored", .epsilon = 0.5}, 1, 2.0);
  // Sizes 0.1 and 3: a fifth of the way back, and all of it.
  double sizes[] = {0.1, 3.0}, anchor[] = {1.0, 1.0}, weights[] = {2.0, 2.0};
  const double gradient[] = {0.6, 0.7};
  double* moments[] = {sizes, anchor};
  rule.reference(k, 2, 1, 0, gradient, weights, moments);
  EXPECT_DOUBLE_EQ(weights[0], 2 - 0.2 - 0.6 / 0.6);
  EXPECT_DOUBLE_EQ(weights[1], 1 - 0.7 / 3.5);
  EXPECT_EQ(sizes[0] + sizes[1] + anchor[0], 4.1);
  for (const OptimizerType* type : all_optimizers()) EXPECT_NE(type->name, "anchored");
}

TEST(DynamicEvaluation, TheFastEngineFollowsTheReference) {
  double losses[2];
  for (const bool fast : {false, true}) {
    Reader reader(fast ? "cpu" : "reference");
    DynamicEvaluation dynamic(*reader.engine, *reader.task, reader.trained, {.columns = 10});
    losses[fast ? 1 : 0] = dynamic.evaluate(Split::test, 0.01, 0.1).loss;
    EXPECT_LT(losses[fast ? 1 : 0], dynamic.evaluate_static(Split::test).loss);  // it learns
  }
  EXPECT_NEAR(losses[0], losses[1], 1e-5);
}

class DynamicEvaluationOnCuda : public ::testing::Test {
 protected:
  void SetUp() override { skip_without("cuda"); }
};

TEST_F(DynamicEvaluationOnCuda, FollowsTheReference) {
  for (const bool mixture : {false, true}) {
    std::vector<double> losses[2];
    for (const bool device : {false, true}) {
      Reader reader(device ? "cuda" : "reference", 100, words(40, 3), {}, mixture);
      DynamicEvaluation dynamic(*reader.engine, *reader.task, reader.trained, {.columns = 10});
      for (const auto& [rate, decay] : {std::pair(0.0, 0.0), std::pair(0.01, 0.0), std::pair(0.01, 0.1)})
        losses[device ? 1 : 0].push_back(dynamic.evaluate(Split::test, rate, decay).loss);
      losses[device ? 1 : 0].push_back(dynamic.evaluate_static(Split::test).loss);
    }
    for (std::size_t i = 0; i < losses[0].size(); ++i) EXPECT_NEAR(losses[1][i], losses[0][i], 1e-5) << mixture << i;
    EXPECT_NE(losses[1][0], losses[1][1]) << "it learns";
    EXPECT_NEAR(losses[1][0], losses[1].back(), 1e-6) << "without a rate it does not";
  }
}

/// Writes down the sum of losses after every unroll.
class ListeningEngine final : public ForwardingEngine {
 public:
  ListeningEngine(std::unique_ptr<Engine> inner, std::vector<double>& heard)
      : ForwardingEngine(std::move(inner)), heard_(heard) {}
  void unroll(const UnrollCall& call) override {
    ForwardingEngine::unroll(call);
    if (call.loss_sum) heard_.push_back(Engine::read(call.loss_sum).front());
  }

 private:
  std::vector<double>& heard_;
};

TEST(DynamicEvaluation, ALaterTokenChangesNoEarlierLoss) {
  const std::string text = words(60, 3);
  const auto losses = [](const std::string& test) {
    std::vector<double> heard;
    Reader reader("cpu", 100, test, [&](std::unique_ptr<Engine> inner) {
      return std::make_unique<ListeningEngine>(std::move(inner), heard);
    });
    DynamicEvaluation dynamic(*reader.engine, *reader.task, reader.trained, {.columns = 10});
    dynamic.evaluate(Split::test, 0.05, 0.1);
    return heard;
  };
  const std::vector<double> before = losses(text);
  for (const std::size_t changed : {7u, 51u, 123u}) {
    std::string other = text;
    other[changed] = other[changed] == 'a' ? 'c' : 'a';
    const std::vector<double> after = losses(other);
    ASSERT_EQ(before.size(), after.size());
    std::size_t same = 0;
    while (same < before.size() && before[same] == after[same]) ++same;
    // A token is the target of the step before it.
    EXPECT_EQ(same, (changed - 1) / segment) << changed;
  }
}

TEST(DynamicEvaluation, AllocatesNothingForASegment) {
  for (const std::string engine : {"reference", "cpu"}) {
    std::vector<std::int64_t> made;
    for (const int length : {60, 600}) {
      Reader reader(engine, 100, words(length, 3));
      DynamicEvaluation dynamic(*reader.engine, *reader.task, reader.trained, {.columns = 10});
      dynamic.evaluate(Split::test, 0.01, 0.1);
      const std::int64_t before = allocations();
      dynamic.evaluate(Split::test, 0.02, 0.1);
      made.push_back(allocations() - before);
    }
    EXPECT_EQ(made.front(), made.back()) << engine;  // the scores and their names
  }
}

TEST(DynamicEvaluation, TakesFewerColumnsOfAShortText) {
  Reader reader("cpu");
  DynamicEvaluation dynamic(*reader.engine, *reader.task, reader.trained, {.columns = 600});
  const int columns = dynamic.collect().columns;
  EXPECT_LT(columns, 600);
  EXPECT_GE(reader.task->row_steps(columns), segment);
}

TEST(DynamicEvaluation, ChoosesTheLowestValidationLoss) {
  Reader reader("cpu");
  DynamicEvaluation dynamic(*reader.engine, *reader.task, reader.trained, {.columns = 10});
  const std::vector<DynamicTrial> trials = tune(dynamic, {0.0, 0.01, 1e30}, {0.0, 0.1});
  ASSERT_EQ(trials.size(), 6u);
  const DynamicTrial& best = best_of(trials);
  EXPECT_EQ(best.rate, 0.01);
  for (const DynamicTrial& trial : trials) {
    if (trial.failed) continue;
    EXPECT_GE(trial.validation.loss, best.validation.loss);
  }
  EXPECT_EQ(dynamic.evaluate(Split::validation, best.rate, best.decay).loss, best.validation.loss);
}

TEST(DynamicEvaluation, RefusesWhatHasNothingToLearnFrom) {
  Reader reader("cpu");
  const auto on = [&](Task& task, DynamicConfig config = {}) {
    return refusal_of([&] { DynamicEvaluation(*reader.engine, task, reader.trained, config); });
  };
  EXPECT_NE(on(*make_task(CopyConfig{}, 1)).find("generated"), std::string::npos);
  const std::vector<float> values(8, 1.0f);
  const auto arrays = std::make_shared<ArrayData>();
  arrays->reals = 1;
  arrays->one_target = true;
  Source sequence{.steps = 4, .reals = 1, .target_width = 1, .values = std::span(values).first(4)};
  sequence.target_values = std::span(values).first(1);
  arrays->parts[0].sequences = {sequence, sequence};
  EXPECT_NE(on(*make_task(ArraysConfig{.memory = arrays}, 1)).find("separate sequences"), std::string::npos);
  EXPECT_NE(on(*reader.task, {.rate = -2}).find("--rate"), std::string::npos);
  EXPECT_NE(on(*reader.task, {.decay = std::nan("")}).find("--decay"), std::string::npos);
  EXPECT_NE(on(*reader.task, {.epsilon = 0}).find("--epsilon"), std::string::npos);
  EXPECT_NE(on(*reader.task, {.segment = 0}).find("--segment"), std::string::npos);
  EXPECT_NE(on(*reader.task, {.columns = 0}).find("--columns"), std::string::npos);
}

}  // namespace
}  // namespace throughtime::testing
