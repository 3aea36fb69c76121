#include "tasks/generated/streams.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "tasks/task_support.h"
#include "throughtime/learner.h"

namespace throughtime::testing {
namespace {

/// Shows its own position, 1000 higher in each row.
class Ruler final : public StepStream {
 public:
  explicit Ruler(int window) { shape_.window = window; }
  const StreamShape& shape() const override { return shape_; }
  std::vector<Metric> metrics() const override { return {Metric::mse}; }
  double baseline() const override { return 0; }
  std::string baseline_text() const override { return "nothing"; }
  void write(Split, int row, int, std::int64_t first, const StepSpan& out) override {
    for (std::size_t step = 0; step < out.steps(); ++step) {
      out.values[step] = static_cast<float>(1000 * row + first + static_cast<std::int64_t>(step));
      out.targets[step] = out.values[step] + 0.5f;
    }
    written += static_cast<std::int64_t>(out.steps());
  }
  std::int64_t written = 0;

 private:
  StreamShape shape_ = {.window = 0, .input = {.reals = 1}, .head = {.name = "regression", .outputs = 1}};
};

TEST(Stream, KeepsItsHistoryReadableAndNothingMore) {
  for (const int window : {1, 3, 8}) {
    for (const int history : {0, 1, 5, 20}) {
      const auto task = make_stream_task("ruler", history, 1, std::make_unique<Ruler>(window));
      for (std::uint64_t batch = 0; batch < 60; ++batch) {
        const Window& shown = task->make_batch(Split::train, batch, 2);
        validate(shown);
        const auto position = static_cast<std::int64_t>(batch) * window;
        EXPECT_EQ(shown.start[1], position);
        EXPECT_EQ(shown.mask_step, position);
        // A learner that looks back moves the starts.
        const std::int64_t back = std::min<std::int64_t>(history, position);
        Window wide = shown;
        wide.steps += static_cast<int>(back);
        for (std::int64_t& start : wide.start) start -= back;
        wide.weight.assign(static_cast<std::size_t>(2 * wide.steps), 1.0f);
        wide.flags.clear();
        validate(wide);
        for (int step = 0; step < wide.steps; ++step) {
          EXPECT_EQ(value_at(wide, step, 1), static_cast<float>(1000 + position - back + step));
          EXPECT_EQ(target_at(wide, step, 0), static_cast<float>(position - back + step) + 0.5f);
        }
        EXPECT_LE(shown.sources[0].steps, static_cast<std::size_t>(2 * history + window));
      }
    }
  }
}

TEST(Stream, RefusesToReadWhatItHasDropped) {
  const auto task = make_stream_task("ruler", 2, 1, std::make_unique<Ruler>(4));
  task->make_batch(Split::train, 50, 1);
  Window window = task->make_batch(Split::train, 51, 1);
  window.start[0] -= 100;
  EXPECT_REFUSED(validate(window), "has dropped what was before");
}

TEST(Stream, GoingOnWritesEachStepOnce) {
  auto ruler = std::make_unique<Ruler>(5);
  const Ruler& seen = *ruler;
  const auto task = make_stream_task("ruler", 7, 1, std::move(ruler));
  for (std::uint64_t batch = 0; batch < 100; ++batch) task->make_batch(Split::train, batch, 1);
  EXPECT_EQ(seen.written, 500);
  task->make_batch(Split::train, 40, 1);  // a jump writes the history again
  EXPECT_EQ(seen.written, 512);
}

TEST(Stream, RefusesWhatItCannotMake) {
  EXPECT_REFUSED(make_stream_task("ruler", -1, 1, std::make_unique<Ruler>(4)), "task.ruler.history");
  EXPECT_REFUSED(make_stream_task("ruler", 1000, 1, std::make_unique<Ruler>(0)), "at least 1 step");
}

/// Parameters after truncated back-propagation with windows of 12 steps, moved by 3, on batches of 7 steps.
std::vector<double> learned(int history) {
  const auto task = make_task(RecallConfig{.length = 7, .variable = true, .history = history}, 1);
  ModelConfig config;
  config.input = task->input();
  config.head = task->head();
  config.layers = {{.cell = "gru", .hidden = 5, .options = {}}};
  const Model model(config);
  const auto engine = make_engine(model, {.name = "reference", .threads = 1, .communicator = nullptr});
  OptimizerConfig optimizer;
  optimizer.name = "sgd";
  Trainee trainee = make_trainee(*engine, initialise(model, {}, 1), optimizer, {.value = 0, .norm = 1});
  const TbpttConfig tbptt{.steps = 12, .losses = 3, .stride = 3};
  const auto learner = make_learner(tbptt, trainee, {.steps = task->steps(), .batch = 2});
  for (std::uint64_t batch = 0; batch < 30; ++batch)
    learner->learn(task->make_batch(Split::train, batch, 2), [](std::int64_t) { return 0.1; });
  return engine->read(trainee.parameters);
}

TEST(Stream, LookingBackSeesTheSameStepsWhateverIsDropped) {
  const std::vector<double> all_kept = learned(1000);
  EXPECT_EQ(learned(12), all_kept);
  EXPECT_EQ(learned(30), all_kept);
  EXPECT_REFUSED(learned(3), "has dropped what was before");
}

}  // namespace
}  // namespace throughtime::testing
