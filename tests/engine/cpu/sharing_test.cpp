// Threads that share a slice: the same bits as one thread alone, whatever is shared.
#include "engine/cpu/sharing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/bytes_in_use.h"
#include "support/engine_run.h"

namespace throughtime::testing {
namespace {

using cpu::Sharing;
using cpu::SharingTrial;

/// With a sanitizer a case takes some thirty times as long, and it looks at memory, not at bits: fewer cases do.
template <class Cases>
Cases cases(const Cases& all, const Cases& with_sanitizer) {
  return bytes_in_use() == 0 ? with_sanitizer : all;
}

/// Sharing as it pays, again at the end of a test.
struct Trial {
  explicit Trial(std::optional<Sharing> steps) { cpu::try_sharing({.cores = 16, .always = true, .steps = steps}); }
  ~Trial() { cpu::try_sharing({}); }
};

/// All numbers of an unroll and of pull-backs of the whole and of a part, one after the other.
std::vector<double> all_numbers(const Problem& problem, int threads, bool taps) {
  EngineRun run(problem, {.name = "cpu", .threads = threads, .communicator = nullptr});
  const Unrolled unrolled = run.unroll(random_numbers(run.state_numbers(), 3, 0.5));
  std::vector<double> all = {unrolled.loss_sum, unrolled.penalties[0], unrolled.penalties[1]};
  const auto append = [&](const std::vector<double>& part) { all.insert(all.end(), part.begin(), part.end()); };
  append(unrolled.losses), append(unrolled.final_state), append(unrolled.predictions), append(unrolled.states);
  PullBackSpec spec;
  spec.taps = taps;
  spec.end_cotangent = random_numbers(run.state_numbers(), 5);
  for (int part = 0; part < 2; ++part) {
    const PulledBack back = run.pull_back(spec);
    append(back.gradient), append(back.initial_cotangent), append(back.tap_norms), append(back.tap_vectors);
    spec.first = problem.window.steps / 3;
    spec.step_cotangents = random_numbers(run.state_numbers() * static_cast<std::size_t>(problem.window.steps), 6);
    spec.add_to = random_numbers(problem.parameters.size(), 7);
  }
  return all;
}

const char* name_of(std::optional<Sharing> steps) {
  if (!steps) return "as it pays";
  return *steps == Sharing::rows ? "rows" : "units";
}

/// One thread alone against more of them, all ways of sharing, with and without what looks at whole rows.
void expect_same_bits(const Problem& problem, const std::vector<int>& threads) {
  for (const bool taps : {false, true}) {
    const std::vector<double> alone = all_numbers(problem, 1, taps);
    for (const std::optional<Sharing> steps : {std::optional(Sharing::rows), std::optional(Sharing::units), {}})
      for (const int count : threads) {
        const Trial trial(steps);
        ASSERT_EQ(all_numbers(problem, count, taps), alone)
            << fmt::format("{} threads share {}, {} taps", count, name_of(steps), taps ? "with" : "without");
      }
  }
}

ProblemSpec spec_of(const std::string& cell, int hidden, int batch, int layers) {
  ProblemSpec spec;
  spec.model = stack_of(cell, std::vector<int>(static_cast<std::size_t>(layers), hidden), 3);
  spec.batch = batch;
  spec.steps = batch > 64 ? 6 : 20;  // several chunks of 128 rows
  spec.zero_weights = 0.3;
  spec.parameter_range = 0.08;
  return spec;
}

TEST(Sharing, HasTheSameBitsForAllThreadCounts) {
  using Numbers = std::vector<int>;
  for (const std::string& cell : cases(cell_names(), {"lstm", "gru_reset_before"}))
    for (const int hidden : cases<Numbers>({1, 32, 130}, {130}))
      for (const int batch : cases<Numbers>({1, 7, 8, 33, 128}, {1, 8, 33})) {
        SCOPED_TRACE(fmt::format("{} of {} units, {} rows", cell, hidden, batch));
        expect_same_bits(random_problem(spec_of(cell, hidden, batch, 1)), cases<Numbers>({2, 3, 16}, {3}));
      }
}

TEST(Sharing, HasThemForFourAndEightThreadsToo) {
  for (const int batch : cases<std::vector<int>>({1, 8, 33, 128}, {33}))
    expect_same_bits(random_problem(spec_of("lstm", 130, batch, 2)), {4, 8});
}

TEST(Sharing, HasThemForEveryHead) {
  for (const std::string& head : head_names())
    for (const int batch : cases<std::vector<int>>({1, 8, 33}, {8})) {
      SCOPED_TRACE(fmt::format("{}, {} rows", head, batch));
      ProblemSpec spec = spec_of("gru", 70, batch, 2);
      const HeadType& type = find_head(head);
      spec.model = with_head(spec.model, head, 3 * type.outputs_per_target(spec.model.head.levels.size()) + type.beside,
                             type.layers ? 0 : 5);
      if (type.layers) spec.model.head.experts = 3;
      expect_same_bits(random_problem(spec), cases<std::vector<int>>({2, 16}, {2}));
    }
}

/// Resets, held rows, masks everywhere, penalties, an embedding, an encoder, many outputs, sequences of several
/// lengths.
TEST(Sharing, HasThemWithEverythingInTheWay) {
  for (const char* cell : {"lstm", "gru_reset_before", "antisymmetric"})
    for (const int batch : cases<std::vector<int>>({1, 8, 33}, {8})) {
      SCOPED_TRACE(fmt::format("{}, {} rows", cell, batch));
      ProblemSpec spec = spec_of(cell, 130, batch, 2);
      spec.model.input.vocabulary = 9;
      spec.model.input.tokens = TokenInput::embedding;
      spec.model.input.embedding = 20;
      spec.model.input.encoder = 18;
      spec.model = with_head(spec.model, "softmax", 150, 6);
      spec.model.dropout = {.input = 0.3, .between = 0.2, .output = 0.4, .logits = 0.2, .recurrent = 0.1};
      spec.model.penalties = {.activation = 0.1, .slowness = 0.1};
      spec.resets = 0.05;
      spec.ragged = true;
      Problem problem = random_problem(spec);
      expect_same_bits(problem, cases<std::vector<int>>({2, 16}, {2}));
      for (std::size_t i = 0; i < problem.window.flags.size(); i += 7)
        if (problem.window.weight[i] == 0.0f && problem.window.flags[i] == StepFlag::go_on)
          problem.window.flags[i] = StepFlag::hold;
      expect_same_bits(problem, {3});
    }
}

TEST(ChooseSharing, CutsRowsWhereThereAreManyAndUnitsWhereTheyAreWide) {
  const double narrow = 4 * 32 * 34, wide = 4 * 512 * 514;
  EXPECT_EQ(cpu::choose_sharing(1, 32, wide, 4, 8), Sharing::nothing);
  EXPECT_EQ(cpu::choose_sharing(4, 32, wide, 4, 8), Sharing::rows);
  EXPECT_EQ(cpu::choose_sharing(2, 1, wide, 128, 8), Sharing::units);
  EXPECT_EQ(cpu::choose_sharing(8, 8, wide, 16, 8), Sharing::units);
  EXPECT_EQ(cpu::choose_sharing(2, 1, narrow, 128, 0), Sharing::nothing);
  EXPECT_EQ(cpu::choose_sharing(2, 2, narrow, 2, 0), Sharing::nothing);
}

}  // namespace
}  // namespace throughtime::testing
