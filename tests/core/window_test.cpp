#include "throughtime/window.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "support/errors.h"

namespace throughtime {
namespace {

/// A window with the stores that it points to. Sources of 20 and 30 steps, three reals, labels and two target values.
struct Example {
  std::vector<float> reals[2], target_reals[2], values;
  std::vector<std::int32_t> tokens[2], source_labels[2], labels;
  std::vector<Source> sources;
  Window window;

  Example(const Example&) = delete;
  explicit Example(int steps = 6, int batch = 3, TargetLayout layout = TargetLayout::source) {
    for (int k = 0; k < 2; ++k) {
      const std::size_t count = k == 0 ? 20 : 30;
      reals[k].assign(count * 3, 0.5f);
      target_reals[k].assign(count * 2, 0.25f);
      tokens[k].assign(count, 1);
      source_labels[k].assign(count, 2);
      sources.push_back({count, 3, 2, reals[k], tokens[k], source_labels[k], target_reals[k]});
    }
    const std::size_t rows = static_cast<std::size_t>(batch), entries = static_cast<std::size_t>(steps) * rows;
    window.steps = steps;
    window.batch = batch;
    window.sources = sources;
    for (int row = 0; row < batch; ++row) {
      window.source.push_back(row % 2);
      window.start.push_back(row);
    }
    window.targets.layout = layout;
    const std::size_t targets = layout == TargetLayout::per_row ? rows : entries;
    if (layout == TargetLayout::per_row || layout == TargetLayout::per_step) {
      for (std::size_t i = 0; i < targets; ++i) labels.push_back(static_cast<std::int32_t>(i));
      for (std::size_t i = 0; i < targets * 2; ++i) values.push_back(static_cast<float>(i));
      window.targets.width = 2;
      window.targets.labels = labels;
      window.targets.values = values;
    }
    for (std::size_t i = 0; i < entries; ++i) {
      window.weight.push_back(static_cast<float>(i + 1));
      window.flags.push_back(i % 5 == 0 ? StepFlag::reset : StepFlag::go_on);
    }
    window.mask_key = 99;
    window.mask_step = 1000;
  }
};

/// Target value `k` of a row and step, as an engine would look it up.
float target_value(const Window& window, int step, int row, int k) {
  const int entry = window.targets.layout == TargetLayout::per_step ? step * window.batch + row : row;
  return window.targets.values[static_cast<std::size_t>(entry * window.targets.width + k)];
}

void expect_part(const Window& whole, int first, int length, const Window& part) {
  RC_ASSERT(part.steps == length);
  RC_ASSERT(part.batch == whole.batch);
  RC_ASSERT(part.source == whole.source);
  RC_ASSERT(part.sources.data() == whole.sources.data());
  RC_ASSERT(part.mask_key == whole.mask_key);
  RC_ASSERT(part.mask_step == whole.mask_step + first);
  const bool own_targets =
      whole.targets.layout == TargetLayout::per_step || whole.targets.layout == TargetLayout::per_row;
  for (int step = 0; step < length; ++step) {
    for (int row = 0; row < whole.batch; ++row) {
      const auto at = static_cast<std::size_t>(row);
      RC_ASSERT(part.start[at] + step == whole.start[at] + first + step);
      RC_ASSERT(part.weight_at(step, row) == whole.weight_at(first + step, row));
      RC_ASSERT(part.resets_at(step, row) == whole.resets_at(first + step, row));
      if (own_targets) RC_ASSERT(target_value(part, step, row, 1) == target_value(whole, first + step, row, 1));
    }
  }
}

RC_GTEST_PROP(WindowSlice, MovesStartsTargetsAndMaskSteps, ()) {
  const auto layout =
      *rc::gen::element(TargetLayout::none, TargetLayout::source, TargetLayout::per_step, TargetLayout::per_row);
  Example example(*rc::gen::inRange(1, 9), *rc::gen::inRange(1, 5), layout);
  if (*rc::gen::arbitrary<bool>()) example.window.flags.clear();
  const int first = *rc::gen::inRange(0, example.window.steps);
  const int length = *rc::gen::inRange(1, example.window.steps - first + 1);
  Window part;
  slice(example.window, first, length, part);
  expect_part(example.window, first, length, part);
  validate(part);

  const int again = *rc::gen::inRange(0, length);  // a part of a part is a part
  Window inner;
  slice(part, again, length - again, inner);
  expect_part(example.window, first + again, length - again, inner);
}

TEST(WindowSlice, KeepsItsStorageOnceItHasHadThatSize) {
  Example example(8, 4, TargetLayout::per_step);
  Window part;
  slice(example.window, 0, 5, part);
  const auto* weight = part.weight.data();
  const auto* flags = part.flags.data();
  const auto* start = part.start.data();
  const auto* source = part.source.data();
  for (const auto& [first, length] : {std::pair(3, 5), std::pair(7, 1), std::pair(0, 5)}) {
    slice(example.window, first, length, part);
    EXPECT_EQ(part.weight.data(), weight);
    EXPECT_EQ(part.flags.data(), flags);
    EXPECT_EQ(part.start.data(), start);
    EXPECT_EQ(part.source.data(), source);
    EXPECT_EQ(part.targets.labels.data(), example.labels.data() + first * 4);
  }
}

TEST(WindowSlice, KeepsTheNumbersOfTheExamples) {
  Example example(8, 4, TargetLayout::per_step);
  example.window.example = {5, -1, 0, 7};
  Window part;
  slice(example.window, 2, 3, part);
  EXPECT_EQ(part.example, example.window.example);
  example.window.example.pop_back();
  EXPECT_REFUSED(validate(example.window), "example must hold 4 numbers [B] or none, got 3");
}

TEST(WindowSlice, LaterPartsContinueAndTheFirstOneAsksTheWhole) {
  Example example;
  Window part;
  slice(example.window, 0, 2, part);
  EXPECT_FALSE(part.continues);
  slice(example.window, 2, 2, part);
  EXPECT_TRUE(part.continues);
  example.window.continues = true;
  slice(example.window, 0, 2, part);
  EXPECT_TRUE(part.continues);
}

TEST(WindowSlice, RefusesPartsOutsideTheWindowAndItself) {
  Example example;
  Window part;
  EXPECT_REFUSED(slice(example.window, -1, 2, part),
                 "[window] a part must lie inside the window's 6 steps, got 2 steps from -1");
  EXPECT_REFUSED(slice(example.window, 0, 0, part), "got 0 steps from 0");
  EXPECT_REFUSED(slice(example.window, 4, 3, part), "got 3 steps from 4");
  EXPECT_REFUSED(slice(example.window, 1, 2147483647, part), "got 2147483647 steps from 1");
  EXPECT_REFUSED(slice(example.window, 0, 2, example.window), "cannot be cut into itself");
  example.window.weight.pop_back();
  EXPECT_REFUSED(slice(example.window, 0, 2, part), "weight must hold 18 numbers [L, B], got 17");
}

TEST(WindowValidate, AcceptsWholeWindows) {
  for (const auto layout : {TargetLayout::none, TargetLayout::source, TargetLayout::per_step, TargetLayout::per_row}) {
    Example example(6, 3, layout);
    validate(example.window);
    example.window.flags.clear();
    example.window.source.clear();
    validate(example.window);
    example.window.targets.labels = {};
    validate(example.window);
  }
}

template <class Change>
std::string refusal_of_changed(TargetLayout layout, Change&& change) {
  Example example(6, 3, layout);
  change(example);
  return testing::refusal_of([&] { validate(example.window); });
}

TEST(WindowValidate, RefusesShapesThatDoNotFit) {
  const auto expect = [](TargetLayout layout, auto change, const char* part) {
    const std::string text = refusal_of_changed(layout, change);
    EXPECT_EQ(text.rfind("[window] ", 0), 0u) << part;
    EXPECT_NE(text.find(part), std::string::npos) << "said: '" << text << "'";
  };
  const auto source = TargetLayout::source, per_step = TargetLayout::per_step, per_row = TargetLayout::per_row;
  expect(
      source, [](auto& e) { e.window.steps = 0; }, "steps must be at least 1, got 0");
  expect(
      source, [](auto& e) { e.window.batch = -1; }, "batch must be at least 1, got -1");
  expect(
      source, [](auto& e) { e.window.sources = {}; }, "at least one source is needed");
  expect(
      source, [](auto& e) { e.window.source.pop_back(); }, "source must hold 3 numbers [B] or none, got 2");
  expect(
      source, [](auto& e) { e.window.start.push_back(0); }, "start must hold 3 numbers [B], got 4");
  expect(
      source, [](auto& e) { e.window.weight.clear(); }, "weight must hold 18 numbers [L, B], got 0");
  expect(
      source, [](auto& e) { e.window.flags.pop_back(); }, "flags must hold 18 numbers [L, B] or none, got 17");
  expect(
      source, [](auto& e) { e.window.source[1] = 2; }, "row 1 reads source 2, there are 2");
  expect(
      source, [](auto& e) { e.window.source[1] = -1; }, "row 1 reads source -1");
  expect(
      source, [](auto& e) { e.window.weight[4] = std::nanf(""); }, "the loss weight at step 1, row 1 must be finite");
  expect(
      per_step, [](auto& e) { e.window.targets.labels = e.window.targets.labels.first(3); },
      "target labels must hold 18 numbers [L, B], got 3");
  expect(
      per_step, [](auto& e) { e.window.targets.width = 3; },
      "target values must hold 54 numbers [L, B, width], got 36");
  expect(
      per_step, [](auto& e) { e.window.targets.width = 0; }, "target values need a width of at least 1");
  expect(
      per_row, [](auto& e) { e.window.targets.labels = e.window.targets.labels.first(2); },
      "target labels must hold 3 numbers [B], got 2");
  expect(
      per_row, [](auto& e) { e.window.targets.labels = {}, e.window.targets.values = {}; },
      "targets per row need labels or values, got neither");
  expect(
      per_step, [](auto& e) { e.window.targets.labels = {}, e.window.targets.values = {}; }, "targets per step need");
}

TEST(WindowValidate, FindsWeightsAndFlagsWhereverTheyAre) {
  Example example(7, 11, TargetLayout::per_step);
  Window& window = example.window;
  window.flags.assign(77, StepFlag::go_on);
  EXPECT_NO_THROW(validate(window));
  for (const std::size_t at : {0u, 1u, 15u, 31u, 40u, 76u}) {
    const std::string place = fmt::format("step {}, row {} ", at / 11, at % 11);
    const float before = window.weight[at];
    window.weight[at] = NAN;
    EXPECT_REFUSED(validate(window), "the loss weight at " + place + "must be finite, got nan");
    window.weight[at] = 1;
    window.flags[at] = static_cast<StepFlag>(3);
    EXPECT_REFUSED(validate(window), "the flag at " + place + "must be 0 (go on), 1 (reset) or 2 (hold), got 3");
    window.flags[at] = StepFlag::hold;
    EXPECT_REFUSED(validate(window), fmt::format("row {} is held at step {} and can have no loss", at % 11, at / 11));
    window.weight[at] = 0;
    EXPECT_NO_THROW(validate(window));
    window.flags[at] = StepFlag::go_on;
    window.weight[at] = before;
  }
}

TEST(WindowValidate, RefusesBrokenSources) {
  const auto expect = [](auto change, const char* part) {
    const std::string text = refusal_of_changed(TargetLayout::source, change);
    EXPECT_NE(text.find(part), std::string::npos) << "said: '" << text << "'";
  };
  expect([](auto& e) { e.sources[1].values = e.sources[1].values.first(89); },
         "[window] source 1 has 30 steps and needs 90 values, got 89");
  expect([](auto& e) { e.sources[1].tokens = e.sources[1].tokens.first(29); },
         "source 1 has 30 steps and needs 30 tokens, got 29");
  expect([](auto& e) { e.sources[0].labels = e.sources[0].labels.first(1); },
         "source 0 has 20 steps and needs 20 labels, got 1");
  expect([](auto& e) { e.sources[0].target_values = e.sources[0].target_values.first(1); },
         "needs 40 target values, got 1");
  expect([](auto& e) { e.sources[0].reals = -1; }, "source 0 has a negative width");
  expect([](auto& e) { e.sources[1].labels = {}, e.sources[1].target_values = {}, e.sources[1].target_width = 0; },
         "row 1 has a loss, but source 1 has neither labels nor target values");
}

TEST(WindowValidate, RefusesRowsThatRunPastTheirSource) {
  Example example;
  example.window.start[0] = 14;
  validate(example.window);
  example.window.start[0] = 15;
  EXPECT_REFUSED(validate(example.window),
                 "[window] row 0 starts at 15 and reads 6 steps of source 0, which has 20; it may start at 14 at most");
  example.window.start[0] = INT64_MAX;
  EXPECT_REFUSED(validate(example.window), "row 0 starts at 9223372036854775807");
  for (float& weight : example.window.weight) weight = 0;
  EXPECT_REFUSED(validate(example.window), "row 0 starts at 9223372036854775807");
}

/// A ragged row: `padded` steps before the source, no loss before `loss_from`, a reset at `reset_at` (-1: none).
void make_ragged(Window& window, int row, int padded, int loss_from, int reset_at) {
  window.start[static_cast<std::size_t>(row)] = -padded;
  for (int step = 0; step < window.steps; ++step) {
    const auto at = static_cast<std::size_t>(step * window.batch + row);
    window.weight[at] = step >= loss_from ? 1.0f : 0.0f;
    window.flags[at] = step == reset_at ? StepFlag::reset : StepFlag::go_on;
  }
}

TEST(WindowValidate, PaddingEndsWithAResetBeforeTheFirstLoss) {
  Example example;
  make_ragged(example.window, 1, 2, 2, 2);
  validate(example.window);
  make_ragged(example.window, 1, 2, 3, 3);  // the row's sequence begins later in its source
  validate(example.window);
  make_ragged(example.window, 1, 2, 1, 2);
  EXPECT_REFUSED(validate(example.window), "[window] row 1 starts 2 steps before its source and has a loss at step 1");
  make_ragged(example.window, 1, 2, 2, 3);
  EXPECT_REFUSED(validate(example.window), "has a loss at step 2; it must be reset between the two");
  make_ragged(example.window, 1, 2, 2, 1);  // a reset inside the padding does not end it
  EXPECT_REFUSED(validate(example.window), "has a loss at step 2");
  make_ragged(example.window, 1, 2, 5, -1);
  EXPECT_REFUSED(validate(example.window), "has a loss at step 5");
  example.window.flags[1] = StepFlag::hold;  // a row that sleeps through a part of its padding sees the rest
  EXPECT_REFUSED(validate(example.window), "has a loss at step 5");
  example.window.flags[static_cast<std::size_t>(example.window.batch) + 1] = StepFlag::hold;
  validate(example.window);
  example.window.start[1] = INT64_MIN;
  EXPECT_REFUSED(validate(example.window), "row 1 starts 6 steps before its source");
}

RC_GTEST_PROP(WindowValidate, EveryPartOfARaggedWindowIsValid, ()) {
  Example example(*rc::gen::inRange(2, 9), 3);
  const int steps = example.window.steps;
  for (int row = 0; row < 3; ++row) {
    const int padded = *rc::gen::inRange(0, steps);
    const int reset_at = *rc::gen::inRange(padded, steps);
    make_ragged(example.window, row, padded, *rc::gen::inRange(reset_at, steps + 1), reset_at);
  }
  validate(example.window);
  const int first = *rc::gen::inRange(0, steps);
  Window part;
  slice(example.window, first, *rc::gen::inRange(1, steps - first + 1), part);
  validate(part);
}

}  // namespace
}  // namespace throughtime
