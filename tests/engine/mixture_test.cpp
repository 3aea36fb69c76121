#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>

#include "engine/dropout.h"
#include "engine/parts_of_a_tape.h"
#include "engine/targets.h"
#include "support/engine_run.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "support/thread_ranks.h"
#include "support/usable_engine.h"

// The mixture of softmaxes (model.head = "mixture_of_softmaxes") in every engine.
namespace throughtime::testing {
namespace {

EngineConfig engine_of(const std::string& name, int threads = 1) {
  return {.name = name, .threads = threads, .communicator = nullptr};
}

struct Mixture {
  int experts = 3;
  int latent = 0;
  bool tied = false;
};

/// Embedded tokens of seven kinds, and a mixture over them.
ModelConfig mixture_of(const std::string& cell, const std::vector<int>& widths, int embedding, const Mixture& mixture) {
  ModelConfig config = stack_of(cell, widths, 0);
  config.input = {.vocabulary = 7, .tokens = TokenInput::embedding, .embedding = embedding};
  config.head = {.name = "mixture_of_softmaxes", .outputs = 7, .tied = mixture.tied};
  config.head.experts = mixture.experts;
  config.head.latent = mixture.latent;
  return config;
}

/// Everything that can be dropped or penalised.
ModelConfig all_on(ModelConfig config, bool per_sequence = true) {
  config.dropout = {.input = 0.2, .between = 0.25, .output = 0.3, .per_sequence = per_sequence};
  config.dropout.recurrent = 0.4;
  config.dropout.embedding = 0.3;
  config.dropout.latent = 0.35;
  config.penalties = {.activation = 2, .slowness = 1.5};
  return config;
}

/// An engine.
class MixtureHead : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { skip_without(GetParam()); }
  static bool exact() { return GetParam() == "reference"; }
  static double tolerance() { return exact() ? 1e-12 : 1e-5; }
};

TEST_P(MixtureHead, GradientIsThatOfCentralDifferencesWithEveryMaskAndPenalty) {
  for (const char* cell : {"lstm", "gru", "rnn_tanh", "antisymmetric_gated"})
    for (const bool tied : {false, true})
      for (const bool soft : {false, true}) {
        SCOPED_TRACE(std::string(cell) + (tied ? " tied" : "") + (soft ? " soft" : ""));
        ProblemSpec spec{.model = all_on(mixture_of(cell, {4, 3}, 2, {.latent = tied ? 0 : 5, .tied = tied}), tied),
                         .steps = 5,
                         .batch = 2,
                         .soft = soft,
                         .seed = 5};
        spec.zero_weights = 0.2;
        spec.resets = 0.15;
        const Problem problem = random_problem(spec);
        EngineRun run(problem, engine_of(GetParam()));
        const auto initial = random_numbers(run.state_numbers(), 8);
        PullBackSpec pull;
        pull.end_cotangent = random_numbers(run.state_numbers(), 9);
        const Unrolled unrolled = run.unroll(initial);
        EXPECT_GT(unrolled.penalties[0], 0);
        const PulledBack ours = run.pull_back(pull);
        if (!exact()) {
          EngineRun oracle(problem, engine_of("reference"));
          oracle.unroll(initial);
          const PulledBack wanted = oracle.pull_back(pull);
          EXPECT_LT(relative_error(ours.gradient, wanted.gradient), 1e-5);
          EXPECT_LT(relative_error(ours.initial_cotangent, wanted.initial_cotangent), 1e-5);
          continue;
        }
        const auto differences = central_differences(
            [&](std::span<const double> at) {
              run.set_parameters({at.begin(), at.end()});
              return objective(run.unroll(initial), pull);
            },
            problem.parameters, 1e-4);
        EXPECT_LT(relative_error(ours.gradient, differences), 1e-7);
        run.set_parameters(problem.parameters);
        const auto by_state = central_differences(
            [&](std::span<const double> at) {
              return objective(run.unroll({at.begin(), at.end()}), pull);
            },
            initial, 1e-4);
        EXPECT_LT(relative_error(ours.initial_cotangent, by_state), 1e-7);
      }
}

/// Probabilities of the classes at (step, row), from the outputs of the last layer and the formulas of the paper.
std::vector<double> probabilities(const Problem& problem, const std::vector<double>& states, int step, int row,
                                  bool training) {
  const Model& model = *problem.model;
  const auto& [experts, width] = std::pair(model.head_layers().branches, model.head_layers().width);
  const int top = model.top_hidden(), classes = model.outputs();
  const auto block = [&](const char* name) { return problem.parameters.data() + model.parameters().find(name).offset; };
  const auto masked = [&](std::vector<double> values, const DropoutSite& site) {
    if (!training || !site.active()) return values;
    std::vector<double> mask(values.size());
    write_mask(site, problem.window.mask_key, mask_step_at(model.config().dropout, problem.window, step), row,
               std::span(mask));
    for (std::size_t i = 0; i < mask.size(); ++i) values[i] *= mask[i];
    return values;
  };
  const double* from = states.data() +
                       (elements(step + 1, problem.window.batch) + elements(row)) * elements(model.state_size()) +
                       model.layers().back().state_offset;
  const std::vector<double> g = masked({from, from + top}, output_dropout(model.config().dropout));
  const auto product = [](const double* row_of, const std::vector<double>& x) {
    return std::inner_product(x.begin(), x.end(), row_of, 0.0);
  };
  std::vector<double> prior, latent;
  for (int e = 0; e < experts; ++e) prior.push_back(std::exp(product(block("head.prior.weight") + e * top, g)));
  for (int i = 0; i < experts * width; ++i)
    latent.push_back(std::tanh(product(block("head.latent.weight") + i * top, g) + block("head.latent.bias")[i]));
  latent = masked(latent, latent_dropout(model.config().dropout));
  const double all = std::accumulate(prior.begin(), prior.end(), 0.0);
  const double* decoder = block(model.config().head.tied ? "embedding.weight" : "head.weight");
  std::vector<double> p(elements(classes));
  for (int e = 0; e < experts; ++e) {
    const std::vector<double> h(latent.begin() + e * width, latent.begin() + (e + 1) * width);
    std::vector<double> z;
    for (int c = 0; c < classes; ++c) z.push_back(std::exp(product(decoder + c * width, h) + block("head.bias")[c]));
    const double sum = std::accumulate(z.begin(), z.end(), 0.0);
    for (int c = 0; c < classes; ++c) p[elements(c)] += prior[elements(e)] / all * z[elements(c)] / sum;
  }
  return p;
}

TEST_P(MixtureHead, MixesSoftmaxesOfTanhLayers) {
  // With one expert this is a tanh layer and one softmax.
  for (const auto& [experts, latent, hidden, steps, batch] : std::vector<std::tuple<int, int, int, int, int>>{
           {1, 1, 1, 1, 1}, {1, 4, 3, 3, 2}, {3, 1, 2, 2, 1}, {5, 6, 18, 7, 3}, {130, 2, 3, 2, 2}, {15, 17, 5, 3, 40}})
    for (const bool training : {false, true}) {
      SCOPED_TRACE(std::to_string(experts) + " experts, training " + std::to_string(training));
      const Mixture mixture{.experts = experts, .latent = latent};
      const ModelConfig config = all_on(mixture_of("lstm", {3, hidden}, 2, mixture), batch == 2);
      const Problem problem = random_problem({.model = config, .steps = steps, .batch = batch});
      EngineRun run(problem, engine_of(GetParam()));
      run.set_training(training);
      const Unrolled unrolled = run.unroll(random_numbers(run.state_numbers(), 3));
      double loss = 0;
      for (int step = 0; step < steps; ++step)
        for (int row = 0; row < batch; ++row) {
          const auto wanted = probabilities(problem, unrolled.states, step, row, training);
          const std::size_t entry = elements(step, batch) + elements(row);
          const std::vector<double> p(unrolled.predictions.begin() + static_cast<std::ptrdiff_t>(entry * 7),
                                      unrolled.predictions.begin() + static_cast<std::ptrdiff_t>(entry * 7 + 7));
          EXPECT_LT(relative_error(p, wanted), tolerance());
          EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, exact() ? 1e-13 : 1e-6);
          const auto target = row_target(*problem.model, problem.window, step, row);
          const double one = -std::log(wanted[elements(target.label)]);
          EXPECT_NEAR(unrolled.losses[entry], one, tolerance() * (1 + one));
          loss += problem.window.weight_at(step, row) * one;
        }
      EXPECT_NEAR(unrolled.loss_sum, loss, tolerance() * (1 + loss));
    }
}

TEST_P(MixtureHead, CountsTheLikeliestOutput) {
  const Problem problem = random_problem({.model = mixture_of("gru", {4}, 3, {}), .steps = 9, .batch = 5});
  EngineRun run(problem, engine_of(GetParam()));
  const Unrolled unrolled = run.unroll();
  double right = 0;
  for (int step = 0; step < 9; ++step)
    for (int row = 0; row < 5; ++row) {
      const auto p = unrolled.predictions.begin() + (step * 5 + row) * 7;
      const auto label = row_target(*problem.model, problem.window, step, row).label;
      if (std::max_element(p, p + 7) - p == label) right += problem.window.weight_at(step, row);
    }
  ASSERT_GT(right, 0);
  for (const Keep keep : {Keep::nothing, Keep::gradient}) {
    const auto tape = run.engine().make_tape({.steps = 9, .batch = 5, .keep = keep});
    const Buffer sum = run.engine().allocate(1);
    run.engine().unroll({.window = problem.window, .parameters = run.parameters(), .tape = *tape, .correct_sum = sum});
    EXPECT_NEAR(run.engine().read(sum)[0], right, 1e-5);
  }
}

TEST_P(MixtureHead, PartsOfATapeAddUp) {
  const ModelConfig config = all_on(mixture_of("gru", {5, 4}, 3, {.experts = 4}));
  const Problem problem = random_problem({.model = config, .steps = 6, .batch = 3});
  expect_parts_add_up(problem, engine_of(GetParam()), {1, 3, 5}, tolerance());
}

TEST_P(MixtureHead, HasTheSameBitsForAnyNumberOfThreads) {
  for (const int batch : {12, 70}) {
    const ModelConfig config = all_on(mixture_of("lstm", {20, 17}, 5, {.experts = 15, .tied = true}));
    const Problem problem = random_problem({.model = config, .steps = 6, .batch = batch});
    EngineRun one(problem, engine_of(GetParam()));
    const Unrolled a = one.unroll();
    const PulledBack b = one.pull_back();
    EXPECT_EQ(one.pull_back().gradient, b.gradient);
    for (const int threads : {2, 3, 5}) {
      EngineRun many(problem, engine_of(GetParam(), threads));
      const Unrolled c = many.unroll();
      EXPECT_EQ(c.predictions, a.predictions);
      EXPECT_EQ(c.loss_sum, a.loss_sum);
      EXPECT_EQ(many.pull_back().gradient, b.gradient);
    }
  }
}

TEST_P(MixtureHead, IsTheSameOnSeveralRanks) {
  ProblemSpec spec{.model = all_on(mixture_of("lstm", {5, 4}, 3, {})), .steps = 4, .batch = 5};
  spec.zero_weights = 0.2;
  const Problem problem = random_problem(spec);
  EngineRun alone(problem, engine_of(GetParam()));
  const Unrolled a = alone.unroll();
  const PulledBack b = alone.pull_back();
  for (const int ranks : {2, 5})
    ThreadRanks::run(ranks, [&](std::shared_ptr<Communicator> communicator) {
      EngineConfig config = engine_of(GetParam());
      config.communicator = communicator;
      EngineRun shared(problem, config);
      EXPECT_NEAR(shared.unroll().loss_sum, a.loss_sum, tolerance() * (1 + a.loss_sum));
      EXPECT_LT(relative_error(shared.pull_back().gradient, b.gradient), tolerance());
    });
}

TEST_P(MixtureHead, KeepsNothingOfTheSizeOfExpertsTimesOutputs) {
  if (GetParam() == "cuda") GTEST_SKIP() << "its chunks are larger: cuda/regularised_cuda_test.cpp";
  const int experts = 40, outputs = 500, batch = 6;
  ModelConfig config = with_head(stack_of("lstm", {8}), "softmax", outputs);
  const Model plain(config);
  config.head.name = "mixture_of_softmaxes";
  config.head.experts = experts;
  const Model mixture(config);
  const auto engine = make_engine(mixture, engine_of(GetParam()));
  const auto of_plain = make_engine(plain, engine_of(GetParam()));
  std::size_t rest = 0;
  for (const int steps : {22, 60, 600}) {
    const TapeShape shape{.steps = steps, .batch = batch};
    const auto tape = engine->make_tape(shape);
    EXPECT_EQ(tape->activation_bytes(), of_plain->make_tape(shape)->activation_bytes()) << steps;
    if (rest > 0) {
      EXPECT_EQ(tape->bytes() - tape->activation_bytes(), rest) << "workspaces do not grow with the window";
    }
    rest = tape->bytes() - tape->activation_bytes();
  }
  const std::size_t latent = 8, rows = 128;  // that a product takes at once
  const std::size_t numbers = 4 * mixture.parameters().size() + rows * (outputs + 2 * experts * (latent + 32) + 4096);
  EXPECT_LT(rest, numbers * engine->number_bytes());
}

INSTANTIATE_TEST_SUITE_P(Engines, MixtureHead, ::testing::Values("reference", "cpu", "cuda"),
                         [](const auto& info) { return info.param; });

TEST(MixtureModel, HasTheParametersOfThePaper) {
  const auto words = [](const std::vector<int>& widths) {
    ModelConfig config = stack_of("lstm", widths, 0);
    config.input = {.vocabulary = 10000, .tokens = TokenInput::embedding, .embedding = 280};
    config.head = {.name = "mixture_of_softmaxes", .outputs = 10000, .tied = true};
    return Model(config).parameters().size();
  };
  EXPECT_EQ(words({960, 960, 620}), 21500620u);  // 21.50 million
  EXPECT_EQ(words({960, 960, 960}), 26390840u);  // 26.39 million
  ModelConfig characters = stack_of("lstm", {1000, 1000, 200}, 0);
  characters.input = {.vocabulary = 50, .tokens = TokenInput::embedding, .embedding = 200};
  characters.head = {.name = "softmax", .outputs = 50, .tied = true};
  EXPECT_EQ(Model(characters).parameters().size(), 13787650u);  // 13.79 million
}

TEST(MixtureModel, MultipliesItsOutputLayerOnceForEachExpert) {
  const Model model(mixture_of("lstm", {4}, 3, {.experts = 5, .latent = 6}));
  EXPECT_EQ(model.products_of_step(), static_cast<double>(model.parameters().size()) + 4 * 7 * 6);
  EXPECT_EQ(Model(stack_of("gru", {3})).products_of_step(), Model(stack_of("gru", {3})).parameters().size());
}

TEST(MixtureModel, NamesItsLayers) {
  const Model model(mixture_of("lstm", {4}, 3, {.experts = 2, .latent = 5}));
  const auto shape = [&](const char* name) { return model.parameters().find(name).shape; };
  EXPECT_EQ(shape("head.prior.weight"), (std::vector<int>{2, 4}));
  EXPECT_EQ(shape("head.latent.weight"), (std::vector<int>{10, 4}));
  EXPECT_EQ(shape("head.latent.bias"), (std::vector<int>{10}));
  EXPECT_EQ(shape("head.weight"), (std::vector<int>{7, 5}));
  EXPECT_EQ(shape("head.bias"), (std::vector<int>{7}));
  EXPECT_EQ(Model(mixture_of("lstm", {4}, 3, {})).head_layers().width, 3) << "the embedding's, unless it is set";
  EXPECT_EQ(Model(with_head(stack_of("lstm", {4}), "mixture_of_softmaxes", 3)).head_layers().width, 4);
}

TEST(MixtureModel, BeginsAsLinearLayersDo) {
  const Model model(mixture_of("lstm", {16}, 3, {.experts = 2}));
  const std::vector<double> parameters = initialise(model, {}, 1);
  for (const char* name : {"head.prior.weight", "head.latent.weight", "head.latent.bias"}) {
    const ParameterBlock& block = model.parameters().find(name);
    double largest = 0;
    for (std::size_t i = 0; i < block.size(); ++i) largest = std::max(largest, std::abs(parameters[block.offset + i]));
    EXPECT_LE(largest, 0.25) << name << ": 1 / sqrt(16)";
    EXPECT_GT(largest, 0) << name;
  }
}

TEST(MixtureModel, RefusesWhatCannotBe) {
  const auto with = [](const Mixture& mixture, auto change) {
    ModelConfig config = mixture_of("lstm", {4}, 3, mixture);
    change(config);
    return config;
  };
  const auto nothing = [](ModelConfig&) {};
  EXPECT_REFUSED(Model(with({.experts = 0}, nothing)), "[model] experts must be between 1 and 1024, got 0");
  EXPECT_REFUSED(Model(with({.latent = 5, .tied = true}, nothing)),
                 "[model] a tied head needs latent of the embedding's width (3), got 5");
  EXPECT_REFUSED(Model(with({}, [](auto& c) { c.head.hidden = 2; })),
                 "head_hidden must be 0 for the mixture_of_softmaxes head, which has layers of its own, got 2");
  EXPECT_REFUSED(Model(with({}, [](auto& c) { c.dropout.logits = 0.1; })),
                 "dropout_logits must be 0 for the mixture_of_softmaxes head; dropout_latent drops");
  EXPECT_REFUSED(Model(with({}, [](auto& c) { c.dropout.latent = 1; })),
                 "dropout.latent must be at least 0 and below 1, got 1");
  EXPECT_REFUSED(Model(with({}, [](auto& c) { c.head.name = "softmax", c.dropout.latent = 0.1; })),
                 "dropout_latent drops what layers of a head put out, and the softmax head has none");
}

}  // namespace
}  // namespace throughtime::testing
