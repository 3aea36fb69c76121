// What language models add to a model, on a GPU: dropout of tokens, penalties on outputs, a mixture of softmaxes. The
// suites in tests/engine that take every engine look at single options; here they meet in one model, one update after
// the other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "engine/parts_of_a_tape.h"
#include "support/engine_run.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "support/random_choice.h"
#include "support/usable_engine.h"

namespace throughtime::testing {
namespace {

EngineConfig on(const std::string& engine) { return {.name = engine, .threads = 1, .communicator = nullptr}; }

class RegularisedCuda : public ::testing::Test {
 protected:
  void SetUp() override { skip_without("cuda"); }
};
using CudaSmallRegularised = RegularisedCuda;

/// Embedded tokens and a mixture over them, everything dropped and penalised that can be.
struct Sizes {
  std::string cell = "lstm";
  int hidden = 5, embedding = 3, vocabulary = 7, experts = 3, latent = 0, steps = 4, batch = 3;
  bool tied = false, per_sequence = false, soft = false, encoder = false;
  double epsilon = 0;
  std::string head = "mixture_of_softmaxes";
  std::uint64_t seed = 1;

  ProblemSpec spec() const {
    ProblemSpec spec{.model = stack_of(cell, {3, hidden}, 0), .steps = steps, .batch = batch, .soft = soft};
    spec.seed = seed;
    ModelConfig& model = spec.model;
    model.input = {.vocabulary = vocabulary, .tokens = TokenInput::embedding, .embedding = embedding};
    if (encoder) model.input.encoder = 4;
    model.head = {.name = head, .outputs = vocabulary, .tied = tied};
    model.head.experts = experts;
    model.head.latent = latent;
    model.head.epsilon = epsilon;
    model.dropout = {.input = 0.2, .between = 0.25, .output = 0.3, .per_sequence = per_sequence};
    model.dropout.recurrent = 0.4;
    model.dropout.embedding = 0.3;
    model.dropout.latent = find_head(head).layers ? 0.35 : 0;
    model.penalties = {.activation = 2, .slowness = 1.5};
    spec.zero_weights = 0.2;
    spec.resets = 0.15;
    return spec;
  }
  std::string text() const {
    return fmt::format("{} {} units {} wide {} tokens {} experts {} latent {} steps {} rows{}{}{}{} {} seed {}", cell,
                       hidden, embedding, vocabulary, experts, latent, steps, batch, tied ? " tied" : "",
                       per_sequence ? " locked" : "", soft ? " soft" : "", encoder ? " encoder" : "", head, seed);
  }
};

/// Rows that sleep now and then, without a loss there.
void hold_some(Problem& problem, std::uint64_t seed) {
  Choice choice(seed);
  Window& window = problem.window;
  for (std::size_t entry = 0; entry < window.weight.size(); ++entry)
    if (choice.between(0, 5) == 0) window.flags[entry] = StepFlag::hold, window.weight[entry] = 0;
}

struct Lesson {
  std::vector<double> parameters, sums;  // sums: loss and penalties
};

/// Weights after some windows with other masks each, every one unrolled, pulled back and followed by an update. Nothing
/// but sums is asked for: the way back finds what the way there left.
Lesson trained(Problem& problem, const std::string& name, int updates = 6) {
  EngineRun run(problem, on(name));
  Engine& engine = run.engine();
  const Buffer gradient = engine.allocate(problem.parameters.size()), loss = engine.allocate(1);
  const Buffer penalties = engine.allocate(2), correct = engine.allocate(1);
  const auto state = engine.make_optimizer({.name = "momentum"}, run.parameters());
  const std::uint64_t key = problem.window.mask_key;
  for (int update = 0; update < updates; ++update) {
    engine.unroll({.window = problem.window,
                   .parameters = run.parameters(),
                   .tape = run.tape(),
                   .loss_sum = loss,
                   .correct_sum = correct,
                   .penalties = penalties});
    engine.pull_back(
        {.tape = run.tape(), .window = problem.window, .parameters = run.parameters(), .gradient = gradient});
    engine.apply_update(
        {.target = run.parameters(), .gradient = gradient, .optimizer = *state, .rate = 0.01, .clip = {.norm = 1}});
    ++problem.window.mask_key;
  }
  problem.window.mask_key = key;
  const std::vector<double> apart = engine.read(penalties);
  return {engine.read(run.parameters()), {engine.read(loss)[0], apart[0], apart[1]}};
}

void expect_lesson_of_reference(const Sizes& sizes, bool holds, int updates = 6) {
  SCOPED_TRACE(sizes.text());
  Problem problem = random_problem(sizes.spec());
  if (holds) hold_some(problem, sizes.seed + 7);
  const Lesson wanted = trained(problem, "reference", updates), got = trained(problem, "cuda", updates);
  EXPECT_LT(relative_error(got.parameters, wanted.parameters), 1e-5);
  EXPECT_LT(relative_error(got.sums, wanted.sums), 1e-5);
}

/// Gradients of a window, of a part of it, and of states alone, with cotangents of states coming in.
void expect_gradients_of_reference(const Sizes& sizes, bool holds) {
  SCOPED_TRACE(sizes.text());
  Problem problem = random_problem(sizes.spec());
  if (holds) hold_some(problem, sizes.seed + 7);
  EngineRun reference(problem, on("reference")), cuda(problem, on("cuda"));
  const std::size_t numbers = reference.state_numbers();
  const auto initial = random_numbers(numbers, sizes.seed + 2, 0.5);
  PullBackSpec spec;
  spec.end_cotangent = random_numbers(numbers, sizes.seed + 3);
  spec.step_cotangents = random_numbers(numbers * static_cast<std::size_t>(sizes.steps), sizes.seed + 4);
  const Unrolled a = reference.unroll(initial), b = cuda.unroll(initial);
  EXPECT_NEAR(b.loss_sum, a.loss_sum, 1e-5 * (1 + std::abs(a.loss_sum)));
  EXPECT_LT(relative_error(b.penalties, a.penalties), 1e-5);
  EXPECT_LT(relative_error(b.predictions, a.predictions), 1e-5);
  const auto expect_same = [&](const char* what) {
    const PulledBack c = reference.pull_back(spec), d = cuda.pull_back(spec);
    if (spec.gradient) {
      EXPECT_LT(relative_error(d.gradient, c.gradient), 1e-5) << what;
    }
    EXPECT_LT(relative_error(d.initial_cotangent, c.initial_cotangent), 1e-5) << what;
    EXPECT_LT(relative_error(d.tap_vectors, c.tap_vectors), 1e-5) << what;
  };
  expect_same("whole");
  spec.first = sizes.steps / 3;
  spec.last = std::max(spec.first + 1, sizes.steps - 1);
  expect_same("part");
  spec.gradient = false;
  expect_same("states");
  spec = {};
  expect_same("nothing comes in");
}

/// What compute-sanitizer looks at (scripts/test-gpu): rows that a warp has, and those that take a block.
TEST_F(CudaSmallRegularised, EveryKernel) {
  for (const bool soft : {false, true})
    for (const int vocabulary : {7, 1100})
      expect_lesson_of_reference({.vocabulary = vocabulary, .experts = 2, .steps = 3, .batch = 2, .soft = soft}, false,
                                 2);
}

TEST_F(RegularisedCuda, TrainsAsTheReferenceAtTheSmallestSizes) {
  for (const bool holds : {false, true})
    for (const bool soft : {false, true}) {
      expect_lesson_of_reference({.soft = soft}, holds);
      expect_lesson_of_reference({.hidden = 1, .embedding = 1, .experts = 1, .steps = 1, .batch = 1, .soft = soft},
                                 holds);
      expect_lesson_of_reference({.vocabulary = 2, .experts = 1, .latent = 1, .batch = 1, .soft = soft}, holds);
      expect_lesson_of_reference({.cell = "gru_reset_before", .tied = true, .per_sequence = true, .soft = soft}, holds);
      expect_lesson_of_reference({.cell = "antisymmetric_gated", .steps = 7, .soft = soft, .epsilon = 1e-3}, holds);
      expect_lesson_of_reference({.experts = 2, .latent = 5, .soft = soft, .encoder = true}, holds);
    }
}

TEST_F(RegularisedCuda, TrainsAsTheReferenceWithoutAMixture) {
  for (const char* cell : {"lstm", "gru", "rnn_tanh", "mingru"})
    for (const bool holds : {false, true}) {
      Sizes sizes{.cell = cell, .head = "softmax"};
      expect_lesson_of_reference(sizes, holds);
      sizes.tied = true;
      sizes.hidden = sizes.embedding;
      expect_lesson_of_reference(sizes, holds);
    }
}

TEST_F(RegularisedCuda, GradientsAreThoseOfTheReferenceOnRandomProblems) {
  Choice choice(11);
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    Sizes sizes{.cell = choice.one_of<const char*>({"lstm", "gru", "gru_reset_before", "rnn_tanh", "antisymmetric"})};
    sizes.hidden = choice.one_of<int>({1, 2, 17, 33, 64});
    sizes.embedding = choice.between(1, 20);
    sizes.vocabulary = choice.one_of<int>({2, 7, 33, 300, 1500});
    sizes.experts = choice.one_of<int>({1, 2, 5, 15, 33});
    sizes.latent = choice.one_of<int>({0, 1, 9, 40});
    sizes.steps = choice.one_of<int>({1, 2, 3, 9, 20});
    sizes.batch = choice.one_of<int>({1, 2, 12, 33});
    sizes.tied = sizes.latent == 0 && choice.yes();
    sizes.per_sequence = choice.yes();
    sizes.soft = choice.yes();
    sizes.encoder = choice.yes();
    sizes.epsilon = choice.yes() ? 1e-8 : 0;
    sizes.seed = seed;
    expect_gradients_of_reference(sizes, choice.yes());
  }
}

TEST_F(RegularisedCuda, GradientsAreThoseOfTheReferenceInSeveralChunks) {
  // 320,000 outputs of all experts in a row: a chunk has 209 of the 210 rows.
  Sizes sizes{.hidden = 2, .embedding = 2, .vocabulary = 40000, .experts = 8, .steps = 7, .batch = 30};
  ProblemSpec spec = sizes.spec();
  spec.zero_weights = spec.resets = 0;
  Problem problem = random_problem(spec);
  const Lesson wanted = trained(problem, "reference", 1), got = trained(problem, "cuda", 1);
  EXPECT_LT(relative_error(got.parameters, wanted.parameters), 1e-5);
  EXPECT_LT(relative_error(got.sums, wanted.sums), 1e-5);
}

/// Windows of more than 1,024 steps go through the layers in pieces, with and without a tape that keeps them.
TEST_F(RegularisedCuda, PenaltiesPassFromPieceToPiece) {
  Sizes sizes{.hidden = 2, .embedding = 2, .experts = 2, .steps = 1030, .batch = 2};
  ProblemSpec spec = sizes.spec();
  spec.model.penalties.slowness = 1000;  // so that the few differences between pieces count
  spec.parameter_range = 0.3;
  const Problem problem = random_problem(spec);
  EngineRun reference(problem, on("reference")), cuda(problem, on("cuda")), forward(problem, on("cuda"), Keep::nothing);
  const Unrolled wanted = reference.unroll();
  for (EngineRun* run : {&cuda, &forward}) {
    const Unrolled got = run->unroll();
    EXPECT_LT(relative_error(got.penalties, wanted.penalties), 1e-5);
    EXPECT_NEAR(got.loss_sum, wanted.loss_sum, 1e-5 * wanted.loss_sum);
  }
  EXPECT_LT(relative_error(cuda.pull_back().gradient, reference.pull_back().gradient), 1e-5);
}

/// A loss at the last step alone joins the cotangent that comes in there, where no mask stands between.
TEST_F(RegularisedCuda, LossAtTheEndJoinsWhatComesIn) {
  for (const PenaltyConfig penalties : {PenaltyConfig{}, PenaltyConfig{2, 0}, PenaltyConfig{2, 1.5}})
    for (const char* head : {"softmax", "mixture_of_softmaxes"}) {
      ProblemSpec spec = Sizes{.experts = 2, .head = head}.spec();
      spec.model.dropout = {};
      spec.model.penalties = penalties;
      spec.zero_weights = spec.resets = 0;
      Problem problem = random_problem(spec);
      std::fill(problem.window.weight.begin(), problem.window.weight.end() - problem.window.batch, 0.0f);
      EngineRun reference(problem, on("reference")), cuda(problem, on("cuda"));
      reference.unroll();
      cuda.unroll();
      for (const bool comes_in : {false, true}) {
        PullBackSpec pull;
        if (comes_in) pull.end_cotangent = random_numbers(reference.state_numbers(), 3);
        const PulledBack wanted = reference.pull_back(pull), got = cuda.pull_back(pull);
        EXPECT_LT(relative_error(got.gradient, wanted.gradient), 1e-5) << head;
        EXPECT_LT(relative_error(got.tap_vectors, wanted.tap_vectors), 1e-5) << head;
      }
    }
}

TEST_F(RegularisedCuda, GivesTheSameBitsTwiceAndKernelByKernel) {
  for (const bool soft : {false, true}) {
    const Sizes sizes{.hidden = 40, .embedding = 20, .vocabulary = 1200, .experts = 15, .batch = 9, .soft = soft};
    Problem problem = random_problem(sizes.spec());
    const Lesson first = trained(problem, "cuda", 8), second = trained(problem, "cuda", 8);
    EXPECT_EQ(first.parameters, second.parameters);
    EXPECT_EQ(first.sums, second.sums);
    setenv("THROUGHTIME_CUDA_GRAPHS", "0", 1);
    const Lesson single = trained(problem, "cuda", 8);
    unsetenv("THROUGHTIME_CUDA_GRAPHS");
    EXPECT_EQ(first.parameters, single.parameters);
    EXPECT_EQ(first.sums, single.sums);
  }
}

TEST_F(RegularisedCuda, TakesLogitsThatWouldOverflow) {
  for (const bool soft : {false, true}) {
    const Sizes sizes{.vocabulary = 5, .experts = 2, .soft = soft};
    Problem problem = random_problem(sizes.spec());
    const ParameterBlock& bias = problem.model->parameters().find("head.bias");
    for (std::size_t i = 0; i < bias.size(); ++i) problem.parameters[bias.offset + i] = i % 2 ? 80 : -80;
    const Lesson wanted = trained(problem, "reference"), got = trained(problem, "cuda");
    EXPECT_LT(relative_error(got.parameters, wanted.parameters), 1e-5);
    EXPECT_LT(relative_error(got.sums, wanted.sums), 1e-5);
  }
}

TEST_F(RegularisedCuda, MixtureTakesWhatItsTapeAnnouncesAndNoMoreForALongerWindow) {
  ModelConfig config = with_head(stack_of("gru", {8}), "mixture_of_softmaxes", 40000);
  config.head.experts = 12;
  const Model mixture(config);
  config.head.name = "softmax";
  const Model softmax(config);
  const auto engine = make_engine(mixture, on("cuda")), plain = make_engine(softmax, on("cuda"));
  engine->make_tape({.steps = 200, .batch = 8});  // the arena of calls with so many targets is no part of a tape
  std::size_t rest = 0;
  for (const int steps : {25, 200}) {
    const TapeShape shape{.steps = steps, .batch = 8};
    const std::uint64_t before = engine->held_bytes();
    const auto tape = engine->make_tape(shape);
    EXPECT_EQ(engine->held_bytes() - before, tape->bytes()) << steps;
    EXPECT_EQ(tape->activation_bytes(), plain->make_tape(shape)->activation_bytes()) << steps;
    const std::size_t logits = std::size_t{12} * 40000 * 8 * static_cast<std::size_t>(steps) * sizeof(float);
    if (rest > 0) {
      EXPECT_LT(tape->bytes() - tape->activation_bytes() - rest, logits / 100) << "no room for more rows at a time";
    }
    rest = tape->bytes() - tape->activation_bytes();
  }
}

}  // namespace
}  // namespace throughtime::testing
