#include "engine/targets.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/engine_run.h"
#include "support/errors.h"

namespace throughtime::testing {
namespace {

constexpr int classes = 5;

/// A window in which every target is right, with a loss at some entries; rows lie end to end in one source.
struct Asked {
  Asked(int steps, int batch, TargetLayout layout, int target_width) : width(target_width) {
    const std::size_t entries = elements(steps, batch), count = layout == TargetLayout::per_row ? batch : entries;
    window.steps = steps;
    window.batch = batch;
    for (int row = 0; row < batch; ++row) window.start.push_back(static_cast<std::int64_t>(row) * steps);
    for (std::size_t i = 0; i < entries; ++i) window.weight.push_back(i % 3 == 1 ? 0.5f : 0.0f);
    inputs.assign(entries, 0.25f);
    labels.assign(count, classes - 1);
    values.assign(count * elements(width), 0.2f);
    source.steps = entries;
    source.reals = 1;
    source.values = inputs;
    window.targets.layout = layout;
    if (layout == TargetLayout::source) {
      if (width == 0) source.labels = labels;
      source.target_values = values;
      source.target_width = width;
    } else {
      window.targets.width = width;
      if (width == 0) window.targets.labels = labels;
      window.targets.values = values;
    }
    window.sources = {&source, 1};
  }

  /// Where the target of a row lies.
  std::size_t entry(int step, int row) const {
    if (window.targets.layout == TargetLayout::source) return elements(row, window.steps) + elements(step);
    return window.targets.layout == TargetLayout::per_row ? elements(row) : elements(step, window.batch) + row;
  }
  /// Breaks one target, or mends it.
  void set(int step, int row, bool broken) {
    if (width == 0)
      labels[entry(step, row)] = broken ? classes : 0;
    else
      values[entry(step, row) * elements(width) + elements(width) - 1] = broken ? NAN : 0.2f;
  }

  Window window;
  Source source;
  int width;
  std::vector<float> inputs, values;
  std::vector<std::int32_t> labels;
};

Model softmax() {
  ModelConfig config = stack_of("lstm", {2}, 1);
  config.head = {.name = "softmax", .outputs = classes};
  return Model(config);
}

/// The first entry with a loss whose target is broken, as the definition says; empty: none.
std::string place_of_first(const Asked& asked, int broken_step, int broken_row, int first, int last) {
  const Window& window = asked.window;
  for (int step = first; step < last; ++step)
    for (int row = 0; row < window.batch; ++row)
      if (window.weight_at(step, row) != 0 && asked.entry(step, row) == asked.entry(broken_step, broken_row))
        return fmt::format("at step {}, row {} ", step, row);
  return "";
}

TEST(CheckTargets, FindsABrokenOneWhereverItHasALossAndNowhereElse) {
  const Model model = softmax();
  for (const TargetLayout layout : {TargetLayout::source, TargetLayout::per_step, TargetLayout::per_row})
    for (const int width : {0, classes})
      for (const auto& [steps, batch] : {std::pair(1, 1), std::pair(1, 2), std::pair(7, 19), std::pair(4, 33)}) {
        Asked asked(steps, batch, layout, width);
        EXPECT_NO_THROW(check_targets(model, asked.window, 0, steps));
        for (int step = 0; step < steps; ++step)
          for (int row = 0; row < batch; ++row) {
            asked.set(step, row, true);
            const std::string place = place_of_first(asked, step, row, 0, steps);
            const std::string said = refusal_of([&] { check_targets(model, asked.window, 0, steps); });
            EXPECT_EQ(said.empty(), place.empty()) << said;
            EXPECT_NE(said.find(place), std::string::npos) << said;
            asked.set(step, row, false);
          }
      }
}

TEST(CheckTargets, LooksAtTheStepsThatItIsToldAlone) {
  const Model model = softmax();
  for (const TargetLayout layout : {TargetLayout::source, TargetLayout::per_step}) {
    Asked asked(6, 4, layout, classes);
    std::fill(asked.window.weight.begin(), asked.window.weight.end(), 1.0f);
    asked.set(3, 2, true);
    EXPECT_NO_THROW(check_targets(model, asked.window, 0, 3));
    EXPECT_NO_THROW(check_targets(model, asked.window, 4, 6));
    EXPECT_REFUSED(check_targets(model, asked.window, 3, 4), "target 4 at step 3, row 2 ");
  }
}

TEST(CheckTargets, RefusesALossWhereTheSourceHasNothing) {
  const Model model = softmax();
  Asked asked(4, 2, TargetLayout::source, 0);
  std::fill(asked.window.weight.begin(), asked.window.weight.end(), 1.0f);
  asked.window.start[0] = -2;  // padding
  EXPECT_REFUSED(check_targets(model, asked.window, 0, 4), "no target at step 0, row 0");
}

/// The head works with every target that is there, whoever reads what comes of it.
TEST(CheckTargets, IsAskedBeforeEveryUnrollThatMeetsTargets) {
  const Model model = softmax();
  for (const int batch : {1, 2})
    for (const char* name : {"reference", "cpu"})
      for (const Keep keep : {Keep::nothing, Keep::state, Keep::gradient}) {
        Asked asked(2, batch, TargetLayout::per_step, 0);
        std::fill(asked.window.weight.begin(), asked.window.weight.end(), 1.0f);
        const auto engine = make_engine(model, {.name = name, .threads = 1});
        const auto tape = engine->make_tape({.steps = 2, .batch = batch, .keep = keep});
        const Buffer parameters = engine->allocate(model.parameters().size());
        const UnrollCall call{.window = asked.window, .parameters = parameters, .tape = *tape};
        EXPECT_NO_THROW(engine->unroll(call));
        asked.set(1, batch - 1, true);
        EXPECT_REFUSED(engine->unroll(call), "at step 1, row");
      }
}

}  // namespace
}  // namespace throughtime::testing
