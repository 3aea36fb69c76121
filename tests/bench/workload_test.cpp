#include "bench/workload.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bench/costs.h"
#include "bench/floor.h"
#include "bench/run_case.h"

namespace throughtime::bench {
namespace {

const Effort shortest = {.repeats = 2, .least = 2, .sample_seconds = 1e-4};

EngineConfig on_threads(int threads) { return {.threads = threads}; }

/// Loss that one more run adds.
double loss_of_a_run(Workload& workload) {
  const double before = workload.loss_sum();
  workload.run();
  return workload.loss_sum() - before;
}

TEST(BenchWorkload, GradientCasesLeaveTheParametersAlone) {
  for (const char* name : {"bptt-gru-b5-h6-t9", "lm-lstm-b3-h8-t7-v20"}) {
    Workload workload(parse_case(name), on_threads(2));
    const double first = loss_of_a_run(workload);
    EXPECT_GT(first, 0) << name;
    EXPECT_NEAR(loss_of_a_run(workload), first, 1e-5 * first) << name;
    EXPECT_GT(workload.activation_bytes(), 0u) << name;
  }
}

TEST(BenchWorkload, LanguageModelLossIsAMeanOverSteps) {
  Workload workload(parse_case("lm-lstm-b3-h8-t7-v20"), on_threads(1));
  EXPECT_NEAR(loss_of_a_run(workload), std::log(20.0), 0.5);
}

TEST(BenchWorkload, AStreamIsLearnedFromAtEveryStep) {
  Workload workload(parse_case("fpp-rnn-b2-h4-t3"), on_threads(1));
  EXPECT_EQ(workload.updates(), 1000);
  EXPECT_NEAR(loss_of_a_run(workload) / 2000, std::log(2.0), 0.2);
}

TEST(BenchWorkload, TargetPropagationAndWhatItIsComparedWithReadTheSameNumberOfWords) {
  for (const bool whole : {true, false}) {
    Workload workload(parse_case("tprop-gru-b3-h8-t7-v20"), on_threads(1), whole);
    EXPECT_NEAR(loss_of_a_run(workload) / 21, std::log(20.0), 0.5);
    EXPECT_EQ(workload.engine().updates(), whole ? 2 : 1);  // of H and theta, or of theta alone
    EXPECT_EQ(workload.updates(), 1);
  }
}

TEST(BenchWorkload, RecipesLearnWithBothMethods) {
  for (const char* name :
       {"awd-char-b3-h10-t9", "awd-char-b3-h10-t9-k3", "mos-b2-h9-e3-v11-t8", "mos-b2-h9-e3-v11-t8-k2"})
    for (const bool weight_drop : {true, false}) {
      Workload workload(parse_case(name), on_threads(2), weight_drop);
      const double first = loss_of_a_run(workload);
      EXPECT_TRUE(std::isfinite(first)) << name;
      EXPECT_GT(first, 0) << name;
      EXPECT_NE(loss_of_a_run(workload), first) << name << ": other masks, other weights";
      EXPECT_EQ(workload.updates(), 0);
    }
  const CaseResult result =
      run_case("mos-b2-h9-e3-v11-t8-k2", on_threads(2), {.effort = {.repeats = 2, .least = 2, .seconds = 1}});
  EXPECT_TRUE(result.weight_drop_share.has_value());
  EXPECT_FALSE(run_case("lm-lstm-b2-h4-t3-v5", on_threads(1), {.effort = {.repeats = 2, .least = 2, .seconds = 1}})
                   .weight_drop_share);
}

TEST(BenchWorkload, WindowsLearn) {
  Workload workload(parse_case("windows-lstm-b4-h8-t10-k3"), on_threads(1));
  const double first = loss_of_a_run(workload);
  for (int run = 0; run < 100; ++run) workload.run();
  EXPECT_LT(loss_of_a_run(workload), 0.9 * first);
}

TEST(BenchWorkload, FpttLearnsAndTellsTheShareOfItsUpdates) {
  Workload workload(parse_case("fptt-lstm-b4-h8-t10-k3"), on_threads(1));
  const double first = loss_of_a_run(workload);
  for (int run = 0; run < 100; ++run) workload.run();
  EXPECT_LT(loss_of_a_run(workload), 0.9 * first);
  EXPECT_EQ(workload.updates(), 4);  // three windows of three steps, and one of one
  EXPECT_EQ(workload.engine().updates(), 4 * 102);
  const CaseResult result = run_case("fptt-lstm-b2-h4-t6-k2", on_threads(1), {.effort = shortest});
  EXPECT_GT(result.update_share.value(), 0);
  EXPECT_LT(result.update_share.value(), 1);
}

/// Says in which order it is asked for updates and to finish.
class Diary final : public ForwardingEngine {
 public:
  Diary(const Model& model, std::string& lines) : ForwardingEngine(make_engine(model, {})), lines_(lines) {}
  void apply_update(const UpdateCall&) override { lines_ += 'u'; }
  void finish() override { lines_ += '|'; }

 private:
  std::string& lines_;
};

TEST(BenchMeter, WaitsAroundACallWhileItWatchesTheClock) {
  ModelConfig config;
  config.input.reals = 1;
  config.layers.push_back({.cell = "gru", .hidden = 2, .options = {}});
  config.head = {.name = "regression", .outputs = 1};
  const Model model(config);
  std::string lines;
  MeteredEngine engine(std::make_unique<Diary>(model, lines));
  const Buffer weights = engine.allocate(1), gradient = engine.allocate(1);
  const auto optimizer = engine.make_optimizer({.name = "sgd"}, weights);
  const UpdateCall call = {.target = weights, .gradient = gradient, .optimizer = *optimizer};
  engine.apply_update(call);
  engine.watch_clock(true);
  engine.apply_update(call);
  EXPECT_EQ(lines, "u|u|");
}

TEST(BenchCosts, AreThoseOfTheTable) {
  const std::vector<Costs> rows = costs_of(40);
  ASSERT_EQ(rows.size(), 3u);
  for (const Costs& row : rows) EXPECT_EQ(row.gradient_steps, 40) << row.method;
  EXPECT_EQ(rows[0].updates, 1);
  EXPECT_EQ(rows[1].updates, 40);
  EXPECT_EQ(rows[2].updates, 10);
  EXPECT_LT(rows[1].activation_bytes, rows[2].activation_bytes);
  EXPECT_LT(rows[2].activation_bytes, rows[0].activation_bytes);
}

TEST(BenchRun, ReportsOursAndTheFloorWhereThereIsOne) {
  const CaseResult result = run_case("bptt-rnn-b3-h5-t4", on_threads(2), {.effort = shortest});
  EXPECT_GT(result.ours_ms, 0);
  EXPECT_GT(result.scaling.value(), 0);
  const bool with_floor = make_floor(parse_case("bptt-rnn-b3-h5-t4"), 2) != nullptr;
  EXPECT_EQ(result.floor_ms.has_value(), with_floor);
  EXPECT_EQ(result.floor_ratio.has_value(), with_floor);
  EXPECT_EQ(result.floor_scaling.has_value(), with_floor);
}

}  // namespace
}  // namespace throughtime::bench
