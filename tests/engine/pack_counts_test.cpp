// When the engine of the processor puts weights into the order of its products again.
#include <gtest/gtest.h>

#include "engine/cpu/cpu_engine.h"
#include "support/engine_run.h"

namespace throughtime::testing {
namespace {

/// Two layers of LSTMs, and the counts since they were last asked for.
class Packs {
 public:
  explicit Packs(double dropped) : problem_(random_problem({.model = model(dropped), .steps = 6})) {}

  /// One unroll, forward and back, with masks of this key.
  void pass(std::uint64_t key, bool training = true) {
    window_ = problem_.window;
    window_.mask_key = key;
    run_.set_window(window_);
    run_.set_training(training);
    run_.unroll();
    if (training) run_.pull_back();
  }
  void part(std::uint64_t key) {
    Window whole = problem_.window;
    whole.mask_key = key;
    slice(whole, 2, 3, window_);
    run_.set_window(window_);
    run_.set_training(true);
    run_.unroll();
  }
  void change_parameters() { run_.engine().scale(run_.parameters(), 0.5); }

  /// Of all layers, of the recurrent weights alone.
  std::pair<std::int64_t, std::int64_t> made() {
    const PackCounts now = pack_counts(run_.engine());
    const std::pair made{now.layers - before_.layers, now.recurrent - before_.recurrent};
    before_ = now;
    return made;
  }

 private:
  static ModelConfig model(double dropped) {
    ModelConfig config = stack_of("lstm", {20, 9});
    config.dropout.recurrent = dropped;
    return config;
  }
  Problem problem_;
  EngineRun run_{problem_, {.name = "cpu", .threads = 1, .communicator = nullptr}};
  Window window_;
  PackCounts before_;
};

using Made = std::pair<std::int64_t, std::int64_t>;

TEST(PackCounts, WeightsArePackedAgainOnlyWhenTheKeyOfTheirMasksOrTheParametersChange) {
  Packs packs(0.5);
  packs.pass(1);
  EXPECT_EQ(packs.made(), Made(1, 0));
  packs.pass(1);
  packs.part(1);
  EXPECT_EQ(packs.made(), Made(0, 0)) << "the same masks, on a window and on a part of it";
  packs.pass(2);
  packs.pass(2);
  EXPECT_EQ(packs.made(), Made(0, 1)) << "other masks: the recurrent weights alone";
  packs.pass(2, false);
  packs.pass(3, false);
  EXPECT_EQ(packs.made(), Made(0, 1)) << "evaluations have no masks, whatever the key";
  packs.pass(3);
  EXPECT_EQ(packs.made(), Made(0, 1));
  packs.change_parameters();
  packs.pass(3);
  EXPECT_EQ(packs.made(), Made(1, 0));
}

TEST(PackCounts, AKeyDoesNotMatterWhereNothingIsDropped) {
  Packs packs(0);
  for (const std::uint64_t key : {1, 2, 3}) packs.pass(key);
  packs.pass(3, false);
  EXPECT_EQ(packs.made(), Made(1, 0));
  packs.change_parameters();
  packs.pass(4);
  EXPECT_EQ(packs.made(), Made(1, 0));
}

}  // namespace
}  // namespace throughtime::testing
