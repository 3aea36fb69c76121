// FPP and its baseline at their smallest sizes (T = 1, a buffer of one transition, T = N), against Algorithm 1 written
// out with a list of all states that ever were.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "learners/fpp/support.h"
#include "support/numeric.h"
#include "throughtime/learners/fpp.h"

namespace throughtime::testing {
namespace {

using States = std::map<std::int64_t, std::vector<double>>;

/// One stream; the ends of its trajectories are those that the learner drew.
class Algorithm1 {
 public:
  Algorithm1(const Problem& problem, const FppConfig& config, bool shifted, double rate)
      : problem_(problem), config_(config), shifted_(shifted), rate_(rate), parameters_(problem.parameters) {}

  void run(const std::vector<const RecordingEngine::UnrollRecord*>& drawn) {
    for (int t = 0; t < problem_.window.steps; ++t) {
      observe(t);
      for (int m = 0; m < config_.updates && any_end(t); ++m) {
        ASSERT_LT(used_, drawn.size()) << "at step " << t;
        const auto* record = drawn[used_++];
        const std::int64_t end = record->window.start[0] + record->window.steps - 1;
        ASSERT_TRUE(may_end(end, t)) << end << " at step " << t;
        update(end);
      }
    }
    EXPECT_EQ(used_, drawn.size());
  }
  const std::vector<double>& parameters() const { return parameters_; }
  double loss_sum() const { return loss_sum_; }

 private:
  void observe(std::int64_t t) {
    const bool begins = t == 0 || problem_.window.resets_at(static_cast<int>(t), 0);
    if (begins) {
      before_[t] = std::vector<double>(problem_.model->state_size(), 0.0);
      begin_ = t;
    }
    begins_.push_back(begin_);
    Window one;
    slice(problem_.window, static_cast<int>(t), 1, one);
    one.flags.clear();
    EngineRun run(problem_);
    run.set_parameters(parameters_);
    run.set_window(one);
    const Unrolled step = run.unroll(begins ? before_[t] : after_[t - 1]);
    after_[t] = step.final_state;
    loss_sum_ += step.loss_sum;
  }

  /// Stored with all of its T transitions, inside one sequence, with a target.
  bool may_end(std::int64_t end, std::int64_t t) const {
    const std::int64_t first = end - config_.steps + 1, oldest = std::max<std::int64_t>(0, t - config_.buffer + 1);
    if (config_.sample == FppSample::newest && end != t) return false;
    return end <= t && first >= oldest && begins_[end] <= first && problem_.window.weight[end] != 0;
  }
  bool any_end(std::int64_t t) const {
    for (std::int64_t end = 0; end <= t; ++end)
      if (may_end(end, t)) return true;
    return false;
  }

  void update(std::int64_t end) {
    const std::int64_t first = end - config_.steps + 1;
    std::vector<double>& start = begins_[end] == first ? before_[first] : after_[first - 1];
    Window window;
    slice(problem_.window, static_cast<int>(first), config_.steps, window);
    window.flags.clear();
    std::fill(window.weight.begin(), window.weight.end() - 1, 0.0f);
    EngineRun run(problem_);
    run.set_parameters(parameters_);
    run.set_window(window);
    const bool goes_on = shifted_ && last_end_ >= begins_[end];
    last_ = run.unroll(goes_on ? last_ : start).final_state;
    last_end_ = end;

    std::vector<double> pull = last_, penalty(last_.size());
    const double lambda = config_.penalise == FppPenalise::none ? 0 : config_.lambda;
    for (std::size_t k = 0; k < pull.size(); ++k) penalty[k] = lambda * (last_[k] - after_[end][k]);
    const PulledBack back = run.pull_back({.end_cotangent = penalty});
    for (std::size_t k = 0; k < start.size(); ++k) start[k] -= config_.state_rate * back.initial_cotangent[k];
    for (std::size_t k = 0; k < pull.size(); ++k) after_[end][k] += config_.state_rate * penalty[k];
    for (std::size_t k = 0; k < parameters_.size(); ++k) parameters_[k] -= rate_ * back.gradient[k];
  }

  const Problem& problem_;
  FppConfig config_;
  bool shifted_;
  double rate_;
  std::vector<double> parameters_;
  States after_, before_;  // all states; those before the first step of a sequence
  std::vector<std::int64_t> begins_;
  std::int64_t begin_ = 0;
  std::vector<double> last_;
  std::int64_t last_end_ = -1;
  std::size_t used_ = 0;
  double loss_sum_ = 0;
};

Problem small_stream(double resets, double zero_weights, std::uint64_t seed) {
  ProblemSpec spec;
  spec.model = with_head(stack_of("rnn_tanh", {2}, 1), "softmax", 2);
  spec.steps = 25;
  spec.batch = 1;
  spec.resets = resets;
  spec.zero_weights = zero_weights;
  spec.seed = seed;
  return random_problem(spec);
}

/// `as_fpp`: the same method as FPP's settings.
void expect_algorithm_1(const Problem& problem, const LearnerConfig& learner, const FppConfig& as_fpp, bool shifted) {
  constexpr double rate = 0.3;
  Lesson lesson(problem, learner, problem.window.steps, rate);
  lesson.learn(problem.window);
  Algorithm1 brute(problem, as_fpp, shifted, rate);
  brute.run(trajectories(lesson));
  EXPECT_LT(relative_error(lesson.parameters(), brute.parameters()), 1e-12);
  double weights = 0;
  for (const float weight : problem.window.weight) weights += weight;
  EXPECT_NEAR(lesson.learner->take_mean_loss(), brute.loss_sum() / weights, 1e-12);
}

TEST(FppSmallest, IsAlgorithm1ForEveryBufferFromOneTransitionOn) {
  for (int T = 1; T <= 3; ++T)
    for (int buffer = T; buffer <= T + 2; ++buffer)
      for (int updates = 1; updates <= 2; ++updates)
        for (const bool interrupted : {false, true}) {
          SCOPED_TRACE(fmt::format("T {} buffer {} updates {} interrupted {}", T, buffer, updates, interrupted));
          const Problem problem = small_stream(interrupted ? 0.15 : 0, interrupted ? 0.2 : 0, 10 * T + buffer);
          LearnerConfig config = fpp(T, buffer, 0.2);
          config.fpp.updates = updates;
          expect_algorithm_1(problem, config, config.fpp, false);
        }
}

TEST(SlidingSmallest, IsTruncatedBackPropagationFromStoredStates) {
  for (int T = 1; T <= 3; ++T)
    for (const SlidingStart start : {SlidingStart::stored, SlidingStart::shifted})
      for (const bool interrupted : {false, true}) {
        SCOPED_TRACE(fmt::format("T {} {} interrupted {}", T, name_of(start), interrupted));
        const Problem problem = small_stream(interrupted ? 0.15 : 0, interrupted ? 0.2 : 0, T);
        LearnerConfig config;
        config.name = "sliding_tbptt";
        config.sliding_tbptt = {.steps = T, .start = start};
        const FppConfig twin{
            .steps = T, .buffer = T, .penalise = FppPenalise::none, .state_rate = 0, .sample = FppSample::newest};
        expect_algorithm_1(problem, config, twin, start == SlidingStart::shifted);
      }
}

/// Parameters and mean loss after a stream of 40 steps, as bits of the fast engine.
std::vector<double> learned(const Problem& problem, const auto& config, double rate) {
  const auto engine = make_engine(*problem.model, {.name = "cpu", .threads = 1, .communicator = nullptr});
  Trainee trainee = make_trainee(*engine, problem.parameters, Lesson::sgd(), {});
  const auto learner =
      make_learner(config, trainee, {.steps = problem.window.steps, .batch = problem.window.batch, .seed = 1});
  learner->learn(problem.window, [&](std::int64_t) { return rate; });
  std::vector<double> numbers = engine->read(trainee.parameters);
  numbers.push_back(learner->take_mean_loss());
  return numbers;
}

TEST(SlidingSmallest, OfOneStepEqualsItsTwinWithABufferOfTwoBitForBit) {
  const Problem problem = stream_problem(40, 3, "gru");
  const FppConfig twin{
      .steps = 1, .buffer = 2, .penalise = FppPenalise::none, .state_rate = 0, .sample = FppSample::newest};
  const std::vector<double> sliding = learned(problem, SlidingTbpttConfig{.steps = 1}, 0.2);
  EXPECT_EQ(sliding, learned(problem, twin, 0.2));
  EXPECT_EQ(sliding, learned(problem, SlidingTbpttConfig{.steps = 1, .start = SlidingStart::shifted}, 0.2));
}

TEST(SlidingSmallest, WithoutStepsOfTheWeightsItsLossDoesNotDependOnT) {
  const Problem problem = stream_problem(40, 2, "lstm");
  const double loss = learned(problem, SlidingTbpttConfig{.steps = 7}, 0).back();
  for (int T = 1; T <= 6; ++T) EXPECT_EQ(learned(problem, SlidingTbpttConfig{.steps = T}, 0).back(), loss) << T;
  for (int buffer = 1; buffer <= 3; ++buffer)
    EXPECT_EQ(learned(problem, FppConfig{.steps = 1, .buffer = buffer, .state_rate = 0}, 0).back(), loss) << buffer;
}

}  // namespace
}  // namespace throughtime::testing
