#include "engine/dropout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "support/engine_run.h"

namespace throughtime::testing {
namespace {

template <class Real>
std::vector<Real> mask_of(const DropoutSite& site, std::uint64_t key, std::uint64_t step, int row, std::size_t width) {
  std::vector<Real> mask(width, Real(-1));
  write_mask(site, key, step, row, std::span<Real>(mask));
  return mask;
}

const DropoutConfig shares = {.input = 0.3, .between = 0.3, .output = 0.3, .per_sequence = false};

RC_GTEST_PROP(Dropout, IsTheSameForFloatAndDouble, ()) {
  const double share = *rc::gen::map(rc::gen::inRange(0, 1000), [](int x) { return x / 1000.0; });
  const auto width = *rc::gen::inRange<std::size_t>(1, 400);
  const auto key = *rc::gen::arbitrary<std::uint64_t>();
  const int row = *rc::gen::inRange(0, 1000);
  const DropoutSite site{Purpose::dropout_between, 2, share};
  const auto narrow = mask_of<float>(site, key, 7, row, width);
  const auto wide = mask_of<double>(site, key, 7, row, width);
  for (std::size_t i = 0; i < width; ++i) {
    RC_ASSERT(static_cast<double>(narrow[i]) == wide[i]);
    RC_ASSERT(narrow[i] == 0.0f || narrow[i] == static_cast<float>(1.0 / (1.0 - share)));
  }
}

/// The words themselves, one counter after the other, at widths around what registers of counters fill.
TEST(Dropout, IsWhatWordsOfTheGeneratorSay) {
  for (const double share : {0.0, 0.25, 0.5, 1 - 1e-10})
    for (std::size_t width = 1; width < 140; ++width) {
      const Random random(0xfedcba9876543210u, Purpose::dropout_between);
      const auto mask = mask_of<float>({Purpose::dropout_between, 3, share}, 0xfedcba9876543210u, 1ull << 33, 9, width);
      for (std::size_t i = 0; i < width; ++i) {
        const double word = random.words(1ull << 33, 9, 3ull << 32 | i / 4)[i % 4];
        ASSERT_EQ(mask[i], word < share * 4294967296.0 ? 0.0f : static_cast<float>(1 / (1 - share)))
            << width << ' ' << i;
      }
    }
}

TEST(Dropout, DropsItsShare) {
  const std::size_t width = 40000;
  for (const double share : {0.1, 0.5, 0.9}) {
    double kept = 0, sum = 0;
    for (const double x : mask_of<double>({Purpose::dropout_output, 0, share}, 5, 0, 0, width)) kept += x > 0, sum += x;
    EXPECT_NEAR(kept / width, 1 - share, 0.01);
    EXPECT_NEAR(sum / width, 1, 0.06) << "the mean stays";
  }
}

TEST(Dropout, DiffersBetweenKeysStepsRowsSitesAndLayers) {
  const auto base = mask_of<float>(between_dropout(shares, 1), 5, 3, 2, 200);
  EXPECT_EQ(base, mask_of<float>(between_dropout(shares, 1), 5, 3, 2, 200));
  EXPECT_NE(base, mask_of<float>(between_dropout(shares, 1), 6, 3, 2, 200));
  EXPECT_NE(base, mask_of<float>(between_dropout(shares, 1), 5, 4, 2, 200));
  EXPECT_NE(base, mask_of<float>(between_dropout(shares, 1), 5, 3, 1, 200));
  EXPECT_NE(base, mask_of<float>(between_dropout(shares, 2), 5, 3, 2, 200));
  EXPECT_NE(base, mask_of<float>(input_dropout(shares), 5, 3, 2, 200));
  EXPECT_NE(base, mask_of<float>(output_dropout(shares), 5, 3, 2, 200));
  const DropoutConfig heads{.output = 0.5, .logits = 0.5};
  EXPECT_NE(mask_of<float>(output_dropout(heads), 5, 3, 2, 200), mask_of<float>(logits_dropout(heads), 5, 3, 2, 200));
}

TEST(Dropout, OfLogitsStaysOnInEvaluationsOnlyWhenAsked) {
  for (const std::string& engine : engines_here())
    for (const bool always : {false, true}) {
      ProblemSpec spec{.model = with_head(stack_of("lstm", {4}), "softmax", 40), .steps = 3};
      spec.model.dropout.logits = 0.5;
      spec.model.dropout.logits_always = always;
      const Problem problem = random_problem(spec);
      EngineRun run(problem, {.name = engine, .threads = 1, .communicator = nullptr});
      const auto training = run.unroll().predictions;
      run.set_training(false);
      EXPECT_EQ(run.unroll().predictions == training, always) << engine;
      // A dropped logit is zero: its classes are equally probable.
      std::map<double, int> shared;
      for (auto p = training.begin(); p != training.begin() + 40; ++p) ++shared[*p];
      const int most = std::ranges::max_element(shared, {}, [](const auto& entry) { return entry.second; })->second;
      EXPECT_GT(most, 8) << engine;
    }
}

TEST(Dropout, OfAShorterRowIsItsBeginning) {
  const auto row = mask_of<double>(input_dropout(shares), 1, 1, 1, 23);
  const auto part = mask_of<double>(input_dropout(shares), 1, 1, 1, 10);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), row.begin()));
}

TEST(Dropout, CountsStepsFromTheKeyUnlessOneMaskServesTheSequence) {
  Window window;
  window.mask_step = 40;
  DropoutConfig config;
  EXPECT_EQ(mask_step_at(config, window, 2), 42u);
  config.per_sequence = true;
  EXPECT_EQ(mask_step_at(config, window, 2), 0u);
}

}  // namespace
}  // namespace throughtime::testing
