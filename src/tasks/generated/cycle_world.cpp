#include "tasks/generated/streams.h"
#include "throughtime/error.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

/// A phase goes round 0 ... p - 1; what is seen is whether it is 0, what is asked for is what will be seen next. Row b
/// is at phase b before its first step.
class CycleWorld final : public StepStream {
 public:
  explicit CycleWorld(const CycleWorldConfig& config) : pass_steps_(config.steps), period_(config.period) {
    require_range("cycle_world", "task.cycle_world.period", config.period, 2, 1'000'000'000);
    shape_ = {
        .window = config.length, .input = {.vocabulary = 2}, .head = {.name = "softmax", .outputs = 2}, .labels = true};
  }

  const StreamShape& shape() const override { return shape_; }
  std::vector<Metric> metrics() const override { return {Metric::accuracy, Metric::cross_entropy}; }
  double baseline() const override { return static_cast<double>(period_ - 1) / static_cast<double>(period_); }
  std::string baseline_text() const override { return "always 0"; }
  std::int64_t pass_steps(Split split, int) const override { return generated_pass(pass_steps_, split); }
  bool starts_over() const override { return true; }

  void write(Split, int row, int, std::int64_t first, const StepSpan& out) override {
    std::int64_t phase = (first + 1 + row) % period_;
    for (std::size_t step = 0; step < out.steps(); ++step) {
      out.tokens[step] = phase == 0 ? 1 : 0;
      phase = phase + 1 == period_ ? 0 : phase + 1;
      out.labels[step] = phase == 0 ? 1 : 0;
    }
  }

 private:
  std::int64_t pass_steps_;
  std::int64_t period_;  // p
  StreamShape shape_;
};

}  // namespace

void describe(CycleWorldConfig& config, OptionList& list) {
  list.add("length", config.length, "steps of a window", between(1, 1e7));
  list.add("period", config.period, "steps after which the world repeats", between(2, 1e9));
  describe_generated_stream(config.steps, config.history, list);
}

std::unique_ptr<Task> make_task(const CycleWorldConfig& config, std::uint64_t seed) {
  return make_stream_task("cycle_world", config.history, seed, std::make_unique<CycleWorld>(config));
}

}  // namespace throughtime
