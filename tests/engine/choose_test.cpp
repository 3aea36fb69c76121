#include <gtest/gtest.h>

#include "support/random_problem.h"
#include "throughtime/engine.h"

namespace throughtime::testing {
namespace {

TEST(ChooseEngine, KeepsANameAndSaysNothing) {
  const Model model(stack_of("lstm", {4}));
  for (const std::string& name : engine_names()) {
    EXPECT_EQ(choose_engine(name, model, 1).name, name);
    EXPECT_EQ(choose_engine(name, model, 1).why, "");
  }
}

TEST(ChooseEngine, TakesADeviceWhereAStepMultipliesEnough) {
  // 4 gates of H units, each from 2 inputs and H states: 4 * 32 * 34 = 4352 numbers of one row.
  const Model small(stack_of("lstm", {32}));
  const EngineChoice one = choose_engine("auto", small, 1), many = choose_engine("auto", small, 128);
  EXPECT_EQ(one.name, "cpu");
  const bool device = find_engine("cuda").usable();
  EXPECT_EQ(many.name, device ? "cuda" : "cpu");
  EXPECT_EQ(may_use_device("auto"), device);
  EXPECT_FALSE(may_use_device("cpu"));
  EXPECT_EQ(one.why, device ? "auto: a step multiplies 4352 numbers, a GPU pays from 32768 on"
                            : "auto: no GPU that can be used");
}

TEST(ChooseEngine, MakesWhatItChooses) {
  const Model model(stack_of("gru", {3}));
  EXPECT_EQ(make_engine(model, {.name = "auto", .threads = 1, .communicator = nullptr, .rows = 1})->name(), "cpu");
  EXPECT_EQ(engine_choices().back(), "auto");
}

}  // namespace
}  // namespace throughtime::testing
