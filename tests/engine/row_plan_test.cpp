// Windows of one row on a tape that keeps its plan, against the same calls on a new tape for every window.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "allocations/counted_new.h"
#include "engine/row_problems.h"
#include "support/fresh_tapes.h"
#include "throughtime/index.h"

namespace throughtime::testing {
namespace {

/// Random calls for the windows of a problem: of other lengths and places, with other weights, states and gradients
/// than those before, some with resets, held steps or norms, which go the general way.
class RandomCalls {
 public:
  RandomCalls(const Problem& problem, Engine& engine, std::uint64_t seed)
      : problem_(problem),
        engine_(engine),
        choice_(seed),
        tape_(engine.make_tape({.steps = problem.window.steps, .batch = 1})) {
    const std::size_t weights = problem.parameters.size(), states = elements(problem.model->state_size());
    const std::size_t steps = elements(problem.window.steps);
    for (std::uint64_t k = 0; k < 2; ++k) {
      parameters_[k] = engine.allocate(weights);
      engine.write(parameters_[k], k == 0 ? problem.parameters : random_numbers(weights, seed + 1, 0.08));
      gradients_[k] = engine.allocate(weights);
      states_[k] = engine.allocate(states);
      engine.write(states_[k], random_numbers(states, seed + 2 + k, 0.5));
      cotangents_[k] = engine.allocate(states);
      engine.write(cotangents_[k], random_numbers(states, seed + 4 + k));
      optimizers_[k] = engine.make_optimizer({.name = "sgd"}, parameters_[k]);
    }
    predictions_ = engine.allocate(steps * elements(problem.model->outputs()));
    losses_ = engine.allocate(steps);
    loss_sum_ = engine.allocate(1);
    norms_ = engine.allocate(steps + 1);
  }

  /// One window there, and perhaps back once or twice and an update.
  void step() {
    if (choice_.between(1, 3) == 1) {  // else a window of the same shape, with the same weights
      length_ = choice_.between(1, problem_.window.steps);
      weights_ = elements(choice_.between(0, 1));
    }
    slice(problem_.window, choice_.between(0, problem_.window.steps - length_), length_, part_);
    part_.flags.clear();
    if (choice_.between(1, 5) == 1) set_flags();
    const Buffer parameters = parameters_[weights_];
    UnrollCall call{.window = part_, .parameters = parameters, .tape = *tape_, .final_state = any(states_)};
    if (choice_.yes()) call.initial_state = any(states_);
    if (choice_.yes()) call.predictions = predictions_;
    if (choice_.yes()) call.losses = losses_;
    if (choice_.yes()) call.loss_sum = loss_sum_;
    engine_.unroll(call);
    for (int back = choice_.between(0, 2); back > 0; --back) pull_back(parameters);
    if (choice_.yes())
      engine_.apply_update({.target = parameters,
                            .gradient = gradients_[weights_],
                            .optimizer = *optimizers_[weights_],
                            .rate = 1e-4,
                            .clip = {.norm = 1}});
  }

  std::vector<double> numbers() const {
    std::vector<double> all;
    for (const auto* pair : {&parameters_, &gradients_, &states_, &cotangents_})
      for (const Buffer buffer : *pair) append(buffer, all);
    for (const Buffer buffer : {predictions_, losses_, loss_sum_, norms_}) append(buffer, all);
    return all;
  }

 private:
  using Pair = std::array<Buffer, 2>;

  Buffer any(const Pair& pair) { return pair[elements(choice_.between(0, 1))]; }
  void append(Buffer buffer, std::vector<double>& all) const {
    const std::vector<double> values = engine_.read(buffer);
    all.insert(all.end(), values.begin(), values.end());
  }
  void set_flags() {
    part_.flags.assign(elements(part_.steps), StepFlag::go_on);
    const std::size_t at = elements(choice_.between(0, part_.steps - 1));
    part_.flags[at] = choice_.one_of<StepFlag>({StepFlag::go_on, StepFlag::reset, StepFlag::hold});
    if (part_.flags[at] == StepFlag::hold) part_.weight[at] = 0;
  }
  void pull_back(Buffer parameters) {
    PullBackCall call{.tape = *tape_, .window = part_, .parameters = parameters, .losses = choice_.yes()};
    if (choice_.yes()) call.gradient = any(gradients_);
    if (call.gradient) call.add = choice_.yes();
    if (choice_.yes()) call.end_cotangent = any(cotangents_);
    if (choice_.yes()) call.initial_cotangent = any(cotangents_);
    if (choice_.between(1, 5) == 1) call.tap_norms = norms_;
    engine_.pull_back(call);
  }

  const Problem& problem_;
  Engine& engine_;
  Choice choice_;
  std::unique_ptr<Tape> tape_;
  std::array<std::unique_ptr<OptimizerState>, 2> optimizers_;
  Pair parameters_, gradients_, states_, cotangents_;
  Buffer predictions_, losses_, loss_sum_, norms_;
  Window part_;
  int length_ = 1;
  std::size_t weights_ = 0;
};

void expect_same_as_fresh(const Problem& problem, std::uint64_t seed) {
  const auto kept = make_engine(*problem.model, row_engine());
  FreshTapes fresh(make_engine(*problem.model, row_engine()));
  RandomCalls calls(problem, *kept, seed), same(problem, fresh, seed);
  for (int step = 0; step < 40; ++step) {
    calls.step();
    same.step();
    ASSERT_EQ(calls.numbers(), same.numbers()) << "after " << step + 1 << " windows";
  }
}

TEST(RowPlan, HasTheBitsOfNewTapesWhateverChanges) {
  for (const std::string& cell : cells_with_row_steps())
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      SCOPED_TRACE(fmt::format("{}, seed {}", cell, seed));
      ProblemSpec spec = row_spec(seed, cell);
      spec.steps = std::min(spec.steps, 12);
      expect_same_as_fresh(random_problem(spec), seed);
    }
}

TEST(RowPlan, HasThemWithOneStepAndOneUnitAndEveryHead) {
  for (const std::string& cell : cells_with_row_steps())
    for (const std::string& head : plain_heads()) {
      SCOPED_TRACE(cell + ", " + head);
      expect_same_as_fresh(random_problem(smallest_of(row_spec(7, cell), cell, head)), 3);
    }
}

/// A row that is aligned at its end reads zeros before its source begins, also where all of a window lies there. It has
/// no loss there.
TEST(RowPlan, HasThemBeforeASourceBegins) {
  for (const std::string& cell : cells_with_row_steps())
    for (const int reals : {0, 1, 2}) {
      SCOPED_TRACE(fmt::format("{}, {} reals", cell, reals));
      ProblemSpec spec = row_spec(9, cell);
      spec.model.input.reals = reals;
      spec.model.input.vocabulary = reals == 1 ? 0 : 3;
      spec.steps = 9;
      spec.zero_weights = 1;
      spec.targets = TargetLayout::per_step;
      Problem problem = random_problem(spec);
      problem.window.start[0] = -5;
      expect_same_as_fresh(problem, 5);
      expect_agreement(problem, 5);
    }
}

/// From the first window on: a tape has room for its plan, whatever windows it gets.
TEST(RowPlan, AllocatesNothing) {
  ProblemSpec spec = row_spec(4, "gru");
  spec.steps = 10;
  spec.zero_weights = 0;
  const Problem problem = random_problem(spec);
  const auto engine = make_engine(*problem.model, row_engine());
  const auto tape = engine->make_tape({.steps = 10, .batch = 1});
  const Buffer parameters = engine->allocate(problem.parameters.size());
  engine->write(parameters, problem.parameters);
  std::array<Buffer, 2> gradients;
  for (Buffer& gradient : gradients) gradient = engine->allocate(problem.parameters.size());
  std::vector<Window> parts(10);
  for (int k = 0; k < 10; ++k) slice(problem.window, 0, 10 - k, parts[elements(k)]);
  const std::int64_t before = allocations();
  for (const Window& part : parts)
    for (const Buffer gradient : gradients) {
      engine->unroll({.window = part, .parameters = parameters, .tape = *tape});
      engine->pull_back({.tape = *tape, .window = part, .parameters = parameters, .gradient = gradient});
    }
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace throughtime::testing
