#include <gtest/gtest.h>

#include <algorithm>

#include "learners/recording_engine.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

using testing::Lesson;
using testing::relative_error;

struct Lengths {
  int steps, losses, stride;
};

TbpttConfig custom(const Lengths& lengths) {
  return {.steps = lengths.steps, .losses = lengths.losses, .stride = lengths.stride};
}

TbpttConfig preset(TbpttPreset name, int truncation) { return {.preset = name, .truncation = truncation}; }

/// A window by the definition, in steps since the start of the data.
struct Truncated {
  int first_cell, first_loss, end;
};

std::vector<Truncated> windows_of(const std::vector<int>& stretches, const Lengths& lengths) {
  std::vector<Truncated> windows;
  int origin = 0;
  for (const int length : stretches) {
    for (int moved = 0; moved < length; moved += lengths.stride) {
      const int left = length - moved;
      const int end = origin + (left < lengths.stride ? length : moved + lengths.stride);
      const int losses = left < lengths.stride ? std::min(left, lengths.losses) : lengths.losses;
      windows.push_back({std::max(0, end - lengths.steps), std::max(origin, end - losses), end});
    }
    origin += length;
  }
  return windows;
}

/// The definition, loss by loss: each one alone is pulled back from its step to the window's first cell, whose state is
/// the one of an uninterrupted forward pass.
class BruteForce {
 public:
  explicit BruteForce(const testing::Problem& problem)
      : problem_(problem), run_(problem), states_(run_.unroll().states) {}

  std::vector<double> state_before(int step) const {
    const auto from = states_.begin() + step * static_cast<long>(run_.state_numbers());
    return {from, from + static_cast<long>(run_.state_numbers())};
  }

  /// The mean gradient of a window; empty where it has no loss.
  std::vector<double> gradient(const Truncated& window) {
    std::vector<double> sum(problem_.parameters.size(), 0.0);
    double weights = 0;
    for (int step = window.first_loss; step < window.end; ++step) {
      Window alone;
      slice(problem_.window, window.first_cell, step + 1 - window.first_cell, alone);
      std::fill(alone.weight.begin(), alone.weight.end() - alone.batch, 0.0f);
      for (int row = 0; row < alone.batch; ++row) weights += problem_.window.weight_at(step, row);
      run_.set_window(alone);
      run_.unroll(state_before(window.first_cell));
      const std::vector<double> one = run_.pull_back().gradient;
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i];
    }
    if (weights == 0) return {};
    for (double& value : sum) value /= weights;
    return sum;
  }

 private:
  const testing::Problem& problem_;
  mutable testing::EngineRun run_;
  std::vector<double> states_;
};

testing::ProblemSpec problem_spec(const std::string& cell, int steps, std::uint64_t seed) {
  testing::ProblemSpec spec;
  spec.model = testing::stack_of(cell, {2, 2});
  spec.steps = steps;
  spec.batch = 2;
  spec.resets = 0.1;
  spec.seed = seed;
  return spec;
}

int total(const std::vector<int>& stretches) {
  int sum = 0;
  for (const int length : stretches) sum += length;
  return sum;
}

/// Every update of a run with rate 0 against the definition, every window's first state against the forward pass.
void expect_definition(const testing::ProblemSpec& spec, const TbpttConfig& config, const Lengths& lengths,
                       const std::vector<int>& stretches) {
  const testing::Problem problem = random_problem(spec);
  SCOPED_TRACE(fmt::format("steps {} losses {} stride {}, {} stretches, first {}", lengths.steps, lengths.losses,
                           lengths.stride, stretches.size(), stretches[0]));
  BruteForce brute(problem);
  std::vector<std::vector<double>> wanted;
  std::vector<Truncated> learned;
  for (const Truncated& window : windows_of(stretches, lengths)) {
    std::vector<double> gradient = brute.gradient(window);
    if (gradient.empty()) continue;
    wanted.push_back(std::move(gradient));
    learned.push_back(window);
  }
  Lesson lesson(problem, config, *std::max_element(stretches.begin(), stretches.end()));
  lesson.learn_in_stretches(problem.window, stretches);
  ASSERT_EQ(lesson.engine.updates.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_LT(relative_error(lesson.engine.updates[i].gradient, wanted[i]), 1e-12) << "window " << i;

  std::size_t next = 0;
  for (const auto& unrolled : lesson.engine.unrolls) {
    const int first = static_cast<int>(unrolled.window.start[0] - problem.window.start[0]);
    EXPECT_LT(relative_error(unrolled.initial_state, brute.state_before(first)), 1e-13) << "cell " << first;
    if (unrolled.keep != Keep::gradient) continue;
    ASSERT_LT(next, learned.size());
    EXPECT_EQ(first, learned[next].first_cell);
    EXPECT_EQ(unrolled.window.steps, learned[next].end - learned[next].first_cell);
    ++next;
  }
  EXPECT_EQ(next, learned.size());
}

TEST(Tbptt, IsItsDefinitionForEveryOrderOfTheThreeLengths) {
  std::uint64_t seed = 1;
  for (const int steps : {1, 2, 3, 5, 8})
    for (const int losses : {1, 2, 5})
      for (const int stride : {1, 2, 3, 6})
        if (losses <= steps)
          expect_definition(problem_spec("rnn_tanh", 11, ++seed), custom({steps, losses, stride}),
                            {steps, losses, stride}, {11});
}

TEST(Tbptt, IsItsDefinitionAcrossStretchesOfAnyLength) {
  std::uint64_t seed = 100;
  for (const Lengths& lengths : {Lengths{5, 2, 2}, {7, 3, 3}, {3, 3, 3}, {4, 1, 1}, {2, 1, 5}, {6, 4, 3}, {1, 1, 4}})
    for (const std::vector<int>& stretches : std::vector<std::vector<int>>{
             {6, 6}, {5, 7}, {1, 1, 1, 1, 1, 1}, {2, 1, 4, 1, 3}, {3, 8}, {9, 2, 1}, {4, 4, 4}})
      expect_definition(problem_spec("gru", total(stretches), ++seed), custom(lengths), lengths, stretches);
}

TEST(Tbptt, HasThePresetsOfThePaper) {
  const int k = 3;
  for (const auto& [name, lengths] :
       std::vector<std::pair<TbpttPreset, Lengths>>{{TbpttPreset::paper, {2 * k + 1, k, k}},
                                                    {TbpttPreset::ref, {2 * k - 1, k, k}},
                                                    {TbpttPreset::plain, {k, k, k}},
                                                    {TbpttPreset::original, {k, 1, 1}},
                                                    {TbpttPreset::double_tf, {2 * k - 1, 2 * k - 1, 2 * k - 1}}})
    for (const std::vector<int>& stretches : std::vector<std::vector<int>>{{14}, {9, 5}, {4, 2, 8}})
      expect_definition(problem_spec("lstm", 14, 7), preset(name, k), lengths, stretches);
}

/// The preset buffer: the gradient of K cells holds their own losses and, through the state alone, the next K - 1.
TEST(Tbptt, ABufferLetsTheNextLossesFlowIn) {
  const int k = 3, steps = 11;
  testing::ProblemSpec spec = problem_spec("lstm", steps, 9);
  spec.zero_weights = 0;
  const testing::Problem problem = random_problem(spec);
  Lesson lesson(problem, preset(TbpttPreset::buffer, k), steps);
  lesson.learn_in_stretches(problem.window, {steps});
  ASSERT_EQ(lesson.engine.updates.size(), 4u);
  BruteForce brute(problem);
  testing::EngineRun run(problem);
  for (int window = 0; window < 4; ++window) {
    const int first_loss = window * k, end = std::min(first_loss + k, steps), last = std::min(end + k - 1, steps);
    const int first = end - k;  // a short last window has K cells too
    std::vector<double> wanted(problem.parameters.size(), 0.0);
    double weights = 0;
    for (int step = first_loss; step < last; ++step) {
      Window alone;
      slice(problem.window, first, step + 1 - first, alone);
      std::fill(alone.weight.begin(), alone.weight.end() - alone.batch, 0.0f);
      for (int row = 0; row < alone.batch && step < end; ++row) weights += problem.window.weight_at(step, row);
      run.set_window(alone);
      run.unroll(brute.state_before(first));
      std::vector<double> flowing = run.pull_back().gradient;  // into all cells of the slice
      if (step >= end) {                                       // without what the cells from `end` on received
        Window later;
        slice(problem.window, end, step + 1 - end, later);
        std::fill(later.weight.begin(), later.weight.end() - later.batch, 0.0f);
        run.set_window(later);
        run.unroll(brute.state_before(end));
        const std::vector<double> beyond = run.pull_back().gradient;
        for (std::size_t i = 0; i < flowing.size(); ++i) flowing[i] -= beyond[i];
      }
      for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] += flowing[i];
    }
    for (double& value : wanted) value /= weights;
    EXPECT_LT(relative_error(lesson.engine.updates[static_cast<std::size_t>(window)].gradient, wanted), 1e-10)
        << window;
  }
}

TEST(Tbptt, WindowsWithoutALossOnlyMoveTheStates) {
  for (const Lengths& lengths : {Lengths{3, 2, 2}, {2, 2, 2}, {4, 1, 1}, {1, 1, 3}}) {
    testing::ProblemSpec spec = problem_spec("lstm", 16, 5);
    spec.zero_weights = 0.8;
    expect_definition(spec, custom(lengths), lengths, {16});
    expect_definition(spec, custom(lengths), lengths, {5, 1, 10});
    spec.zero_weights = 0.95;
    expect_definition(spec, custom(lengths), lengths, {3, 4, 2, 7});
  }
}

TEST(Tbptt, TakesTargetsOfEveryLayout) {
  // Targets given with each stretch exist only for its own steps: windows that begin before it must not read others.
  for (const TargetLayout layout : {TargetLayout::source, TargetLayout::per_step, TargetLayout::per_row})
    for (const char* head : {"softmax", "regression"}) {
      testing::ProblemSpec spec = problem_spec("rnn_tanh", 12, 31);
      spec.model = testing::with_head(spec.model, head, 3);
      spec.targets = layout;
      expect_definition(spec, custom({5, 2, 2}), {5, 2, 2}, {5, 4, 3});
    }
}

TEST(Tbptt, NoLossOfAWindowLiesBeforeItsChunk) {
  const testing::Problem problem = random_problem(problem_spec("lstm", 12, 41));
  TbpttConfig config = custom({5, 5, 1});
  config.chunk = 3;
  Lesson lesson(problem, config, 12);
  lesson.learn(problem.window);
  BruteForce brute(problem);
  ASSERT_EQ(lesson.engine.updates.size(), 12u);
  for (int step = 0; step < 12; ++step)
    EXPECT_LT(
        relative_error(lesson.engine.updates[step].gradient, brute.gradient({step / 3 * 3, step / 3 * 3, step + 1})),
        1e-12)
        << step;
}

TEST(Tbptt, LearnsASequenceWithOneLossAtItsEnd) {
  testing::Problem problem = random_problem(problem_spec("lstm", 40, 3));
  std::fill(problem.window.weight.begin(), problem.window.weight.end() - problem.window.batch, 0.0f);
  Lesson lesson(problem, preset(TbpttPreset::original, 6), 40);
  lesson.learn(problem.window);
  BruteForce brute(problem);
  ASSERT_EQ(lesson.engine.updates.size(), 1u);
  EXPECT_LT(relative_error(lesson.engine.updates[0].gradient, brute.gradient({34, 39, 40})), 1e-12);
  int cells = 0;  // states must not be recomputed window by window
  for (const auto& unrolled : lesson.engine.unrolls) cells += unrolled.window.steps;
  EXPECT_EQ(cells, 40);
}

TEST(Tbptt, StretchesOfWholeStridesNeedNoExtraPass) {
  const testing::Problem problem = random_problem(problem_spec("gru", 24, 4));
  for (const TbpttPreset name : {TbpttPreset::paper, TbpttPreset::ref, TbpttPreset::plain, TbpttPreset::original}) {
    Lesson lesson(problem, preset(name, 4), 12);
    lesson.learn_in_stretches(problem.window, {4, 8, 12});
    for (const auto& unrolled : lesson.engine.unrolls) EXPECT_EQ(unrolled.keep, Keep::gradient) << name_of(name);
  }
}

TEST(Tbptt, AWindowAsLongAsTheStretchIsFullBptt) {
  const testing::Problem problem = random_problem(problem_spec("gru", 9, 8));
  Lesson full(problem, BpttConfig{}, 9, 0.1), plain(problem, preset(TbpttPreset::plain, 9), 9, 0.1);
  Lesson longer(problem, custom({50, 9, 9}), 9, 0.1);
  for (Lesson* lesson : {&full, &plain, &longer}) lesson->learn(problem.window);
  EXPECT_LT(relative_error(plain.parameters(), full.parameters()), 1e-14);
  EXPECT_LT(relative_error(longer.parameters(), full.parameters()), 1e-14);
}

TEST(Tbptt, MeanLossCountsEveryLossOnce) {
  const testing::Problem problem = random_problem(problem_spec("lstm", 13, 21));
  for (const TbpttPreset name : {TbpttPreset::paper, TbpttPreset::ref, TbpttPreset::plain, TbpttPreset::original}) {
    Lesson full(problem, BpttConfig{}, 13), truncated(problem, preset(name, 4), 13);
    full.learn(problem.window);
    truncated.learn_in_stretches(problem.window, {8, 5});
    EXPECT_NEAR(truncated.learner->take_mean_loss(), full.learner->take_mean_loss(), 1e-13) << name_of(name);
  }
}

TEST(Tbptt, EachWindowSeesTheParametersOfTheUpdateBeforeIt) {
  const testing::Problem problem = random_problem(problem_spec("rnn_tanh", 8, 17));
  Lesson lesson(problem, custom({4, 4, 4}), 8, 0.5);
  lesson.learn(problem.window);
  ASSERT_EQ(lesson.engine.updates.size(), 2u);
  std::vector<double> moved = problem.parameters;
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] -= 0.5 * lesson.engine.updates[0].gradient[i];
  testing::EngineRun run(problem);
  run.set_parameters(moved);
  Window second;
  slice(problem.window, 4, 4, second);
  run.set_window(second);
  run.unroll(lesson.engine.unrolls[1].initial_state);
  std::vector<double> wanted = run.pull_back().gradient;
  double weights = 0;
  for (const float weight : second.weight) weights += weight;
  for (double& value : wanted) value /= weights;
  EXPECT_LT(relative_error(lesson.engine.updates[1].gradient, wanted), 1e-12);
}

TEST(Tbptt, AStretchThatDoesNotContinueStartsAtTheStartOfItsData) {
  const testing::Problem problem = random_problem(problem_spec("lstm", 7, 2));
  Lesson lesson(problem, preset(TbpttPreset::paper, 2), 7);
  lesson.learn(problem.window);
  lesson.learn(problem.window);
  const auto& updates = lesson.engine.updates;
  ASSERT_EQ(updates.size(), 8u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(updates[i].gradient, updates[i + 4].gradient);
}

TEST(Tbptt, TapeHoldsOneWindowWhateverTheStretch) {
  const testing::Problem problem = random_problem(problem_spec("lstm", 5, 2));
  const auto bytes = [&](int truncation, int stretch) {
    return Lesson(problem, preset(TbpttPreset::plain, truncation), stretch).learner->activation_bytes();
  };
  EXPECT_EQ(bytes(10, 100), bytes(10, 100000));
  EXPECT_GT(bytes(100, 1000), 8 * bytes(10, 1000));
}

TEST(Tbptt, RefusesARowThatDoesNotGoOnWhereItEnded) {
  const testing::Problem problem = random_problem(problem_spec("lstm", 8, 2));
  Lesson lesson(problem, preset(TbpttPreset::plain, 2), 8);
  Window first, second;
  slice(problem.window, 0, 4, first);
  slice(problem.window, 4, 3, second);
  lesson.learn(first);
  second.start[1] += 1;
  EXPECT_REFUSED(lesson.learn(second), "[tbptt] a stretch that continues must go on where the last one ended: row 1");
  slice(problem.window, 4, 3, second);
  second.source[0] = 1 - second.source[0];
  EXPECT_REFUSED(lesson.learn(second), "sources");
}

TEST(TbpttConfig, SaysHowItTakesAStream) {
  const StreamNeeds paper = stream_needs(preset(TbpttPreset::paper, 4));
  EXPECT_EQ(paper.steps, 4);
  EXPECT_EQ(paper.look_back, 9);
  TbpttConfig logging = preset(TbpttPreset::paper, 4);
  logging.estimate.logged = 1;  // burn-in, lags, and ends to choose from
  EXPECT_EQ(stream_needs(logging).look_back, 20 + 100 + 1000);
  EXPECT_REFUSED(stream_needs(preset(TbpttPreset::buffer, 4)), "[tbptt] the preset 'buffer' looks ahead");
}

TEST(TbpttConfig, HasOneTruncationWhereAllItsLossesSeeIt) {
  EXPECT_EQ(estimate_settings(preset(TbpttPreset::paper, 4)).truncation, 4);
  EXPECT_EQ(estimate_settings(preset(TbpttPreset::ref, 4)).truncation, 4);
  EXPECT_EQ(estimate_settings(preset(TbpttPreset::plain, 4)).truncation, 0);
  EXPECT_EQ(estimate_settings(custom({4, 2, 2})).truncation, 0);
}

TEST(TbpttConfig, ListsItsOptions) {
  TbpttConfig config;
  OptionList list;
  describe(config, list);
  std::vector<std::string> keys;
  for (const Option& option : list.options()) keys.push_back(option.key);
  EXPECT_EQ(keys,
            (std::vector<std::string>{
                "preset",     "truncation",   "steps",          "losses",        "stride",           "chunk",
                "ref_stream", "rate_scaling", "clip_by_losses", "delta",         "shortest",         "longest",
                "lags",       "tail",         "positions",      "burn_in",       "estimate_every",   "logged_estimates",
                "decay",      "quantile",     "norm",           "gradient_size", "estimate_dropout", "variants"}));
}

TEST(TbpttConfig, RefusesLengthsThatCannotBe) {
  const testing::Problem problem = random_problem(problem_spec("lstm", 5, 2));
  const auto refusal = [&](const TbpttConfig& config) {
    return testing::refusal_of([&] { Lesson(problem, config, 5); });
  };
  EXPECT_EQ(refusal(custom({4, 2, 2})), "");
  EXPECT_EQ(refusal(custom({0, 1, 1})), "[tbptt] steps must be at least 1, got 0");
  EXPECT_EQ(refusal(custom({4, 5, 1})), "[tbptt] losses must be between 1 and steps (4), got 5");
  EXPECT_EQ(refusal(custom({4, 0, 1})), "[tbptt] losses must be between 1 and steps (4), got 0");
  EXPECT_EQ(refusal(custom({4, 2, 0})), "[tbptt] stride must be at least 1, got 0");
  EXPECT_REFUSED(choice_of<TbpttPreset>("papr", "tbptt", "preset"), "paper");
  EXPECT_NE(refusal(preset(TbpttPreset::paper, 0)).find("truncation must be between 1"), std::string::npos);
  TbpttConfig both = preset(TbpttPreset::plain, 3);
  both.steps = 4;
  EXPECT_NE(refusal(both).find("leave them out"), std::string::npos);
  TbpttConfig no_preset = custom({4, 2, 2});
  no_preset.truncation = 3;
  EXPECT_NE(refusal(no_preset).find("truncation belongs to a preset"), std::string::npos);
}

}  // namespace
}  // namespace throughtime
