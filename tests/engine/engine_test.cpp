#include "throughtime/engine.h"

#include <gtest/gtest.h>

#include "engine/checks.h"
#include "engine/ranks/rank_engine.h"
#include "support/engine_run.h"
#include "support/errors.h"
#include "support/thread_ranks.h"
#include "throughtime/forwarding_engine.h"

namespace throughtime::testing {
namespace {

TEST(MakeEngine, KnowsItsNames) {
  const Model model(stack_of("lstm", {2}));
  for (const std::string& name : engines_here()) {
    const auto engine = make_engine(model, {.name = name, .threads = 1, .communicator = nullptr});
    EXPECT_EQ(engine->name(), name);
    EXPECT_EQ(&engine->model(), &model);
  }
}

TEST(Engines, AreRowsThatDescribeThemselves) {
  std::vector<std::string> names;
  for (const EngineType* engine : all_engines()) {
    names.push_back(engine->name);
    EXPECT_EQ(&find_engine(engine->name), engine);
    EXPECT_FALSE(engine->description.empty());
  }
  EXPECT_EQ(names, engine_names());
  EXPECT_EQ(names, (std::vector<std::string>{"reference", "cpu", "cuda"}));
}

TEST(Engines, OneIsExactAndTheOthersAreComparedWithIt) {
  int exact = 0;
  for (const EngineType* engine : all_engines()) exact += engine->exact ? 1 : 0;
  EXPECT_EQ(exact, 1);
}

TEST(Engines, ThatCannotComputeHereAreNotOffered) {
  const EngineType away = {.name = "abacus", .missing = [] { return std::string("no abacus here"); }};
  const EngineType here = {.name = "abacus", .missing = [] { return std::string(); }};
  EXPECT_FALSE(away.usable());
  EXPECT_TRUE(here.usable());
  EXPECT_REFUSED(require_usable(away), "[abacus] no abacus here");
  EXPECT_NO_THROW(require_usable(here));
  for (const EngineType* engine : usable_engines()) EXPECT_TRUE(engine->usable()) << engine->name;
  EXPECT_GE(usable_engines().size(), 2u);
}

/// An engine on a device with little memory that counts how often somebody waits for it.
class Device final : public ForwardingEngine {
 public:
  Device(const Model& model, int& waits) : ForwardingEngine(make_engine(model, {})), waits_(waits) {}
  std::uint64_t memory_bytes() const override { return 3 << 20; }
  void finish() override { ++waits_; }

 private:
  int& waits_;
};

TEST(EngineMemory, IsWhatTapesAndBuffersAreComparedWith) {
  const Model model(stack_of("lstm", {64}));
  int waits = 0;
  const Device device(model, waits);
  EXPECT_REFUSED(require_tape_memory(device, {.steps = 1000, .batch = 64}), "of memory, 3.0 MiB are left");
  EXPECT_REFUSED(require_buffer_memory(device, 1 << 20),
                 "[engine] a buffer of 1048576 numbers needs 4.0 MiB of memory");
  EXPECT_NO_THROW(require_tape_memory(device, {.steps = 1, .batch = 1}));
  EXPECT_NO_THROW(require_buffer_memory(device, 3 << 18));
}

TEST(EngineFinish, IsHandedOnByEnginesAroundOthers) {
  const Model model(stack_of("lstm", {2}));
  int waits = 0;
  ForwardingEngine around(std::make_unique<Device>(model, waits));
  around.finish();
  EXPECT_EQ(waits, 1);
  EXPECT_EQ(around.memory_bytes(), std::uint64_t{3} << 20);
  ThreadRanks::run(1, [&](std::shared_ptr<Communicator> ranks) {
    const auto rank = make_rank_engine(std::make_unique<Device>(model, waits), std::move(ranks));
    rank->finish();
    EXPECT_EQ(waits, 2);
    EXPECT_EQ(rank->memory_bytes(), std::uint64_t{3} << 20);
  });
}

TEST(MakeEngine, RefusesUnknownNamesAndNoThreads) {
  const Model model(stack_of("lstm", {2}));
  EXPECT_REFUSED(make_engine(model, {.name = "refernce", .threads = 1, .communicator = nullptr}),
                 "[engine] unknown engine 'refernce'; did you mean 'reference'?");
  EXPECT_REFUSED(make_engine(model, {.name = "reference", .threads = 0, .communicator = nullptr}),
                 "threads must be at least 1, got 0");
}

}  // namespace
}  // namespace throughtime::testing
