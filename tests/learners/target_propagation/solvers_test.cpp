// Duals, first states, solvers and their order: oracles 7 to 12 of the specification, and what is refused.
#include <gtest/gtest.h>

#include "learners/scalar_problem.h"
#include "learners/state_editor.h"
#include "learners/target_propagation/duals.h"
#include "learners/target_propagation/states.h"
#include "learners/target_propagation/support.h"
#include "support/errors.h"
#include "throughtime/options.h"

namespace throughtime::testing {
namespace {

/// h' = a h + x (a rectifier that never bends here), prediction h.
Problem linear_problem(double a, std::vector<float> inputs, const std::vector<float>& targets) {
  return scalar_problem("rnn_relu", {.w = a}, std::move(inputs), targets);
}

/// A learner in batch mode, whose tables can be read and written; its parameters stay unless there is a rate.
class BatchRun {
 public:
  BatchRun(const Problem& problem, const LearnerConfig& learner, double rate = 0)
      : rate(rate),
        problem_(problem),
        engine_(make_engine(*problem.model, EngineRun::reference())),
        trainee_(make_trainee(*engine_, problem.parameters, Lesson::sgd(), {})) {
    TargetPropagationConfig config = learner.target_propagation;
    config.init = StateInit::persist;
    StretchShape shape{.steps = problem.window.steps, .batch = problem.window.batch};
    shape.stretches = 1;
    shape.row_steps = shape.steps;
    learner_ = make_learner(config, trainee_, shape);
  }
  void learn() {
    learner_->learn(problem_.window, [this](std::int64_t) { return rate; });
  }
  std::vector<double> table(const std::string& name) {
    StateEditor get;
    learner_->archive(get);
    return get.buffers.at(name);
  }
  std::vector<double> states() { return table("states.table"); }
  std::vector<double> duals() { return table("duals"); }
  std::vector<double> parameters() { return engine_->read(trainee_.parameters); }
  double rate;
  double gap() { return learner_->diagnostics().back().value; }  // spring_rms
  void put(const std::string& name, const std::vector<double>& values) {
    StateEditor put;
    put.edits[name] = values;
    learner_->archive(put);
  }

 private:
  const Problem& problem_;
  std::unique_ptr<Engine> engine_;
  Trainee trainee_;
  std::unique_ptr<Learner> learner_;
};

TEST(FreeStatesDescent, FindsTheMinimumOfAScalarModel) {
  const double a = 0.8, x1 = 0.5, x2 = 0.25, y2 = 2;
  const Problem problem = linear_problem(a, {0.5f, 0.25f}, {1.0f, 2.0f});
  for (const double lambda : {0.5, 2.0, 1e4}) {
    LearnerConfig config = propagation(1, lambda, 5000);
    config.target_propagation.solver = PropagationSolver::pm;
    config.target_propagation.state_rate = 1 / (lambda + 1);
    BatchRun run(problem, config);
    run.learn();
    const double hhat = x1;  // from h_0 = 0
    const double wanted = (lambda * hhat + a * (y2 - x2)) / (lambda + a * a);
    EXPECT_NEAR(run.states()[1], wanted, 1e-10) << lambda;
    EXPECT_NEAR(wanted, hhat, 2 / lambda) << "an infinite lambda gives hhat";
  }
}

TEST(PropagationSolver, DualsCloseTheGapAndAPenaltyLeavesOne) {
  const Problem problem = linear_problem(0.8, {0.5f, 0.25f, 0.5f, 1.0f}, {1.0f, 2.0f, 1.5f, 3.0f});
  const auto gap = [&](PropagationSolver solver, double lambda) {
    LearnerConfig config = propagation(1, lambda, 200);
    config.target_propagation.solver = solver;
    config.target_propagation.state_rate = 0.5 / (2 * lambda + 1);
    config.target_propagation.dual_rate = 1 / lambda;  // u += h - hhat
    BatchRun run(problem, config);
    for (int round = 0; round < 100; ++round) run.learn();
    return run.gap();
  };
  EXPECT_LT(gap(PropagationSolver::admm, 4), 1e-9);
  const double at_20 = gap(PropagationSolver::pm, 20), at_40 = gap(PropagationSolver::pm, 40);
  EXPECT_GT(at_20, 1e-3);
  EXPECT_NEAR(at_40 / at_20, 0.5, 0.03);
}

/// Both dual steps at a consistent chain.
TEST(Duals, StayAtAFeasiblePointUnlessTakenLiterally) {
  const Problem problem = block_problem("lstm", 6, 2);
  for (const DualStep dual : {DualStep::scaled, DualStep::literal})
    for (const bool nonzero : {false, true}) {
      LearnerConfig config = propagation(2, 0.5, 0);
      config.target_propagation.dual = dual;
      config.target_propagation.dual_rate = 0.4;
      BatchRun run(problem, config);
      run.learn();  // fills the table with a consistent chain
      std::vector<double> before = nonzero ? random_numbers(run.duals().size(), 4) : run.duals();
      for (std::size_t k = 2 * 2 * 6; k < before.size(); ++k) before[k] = 0;  // the last block has no spring
      run.put("duals", before);
      run.learn();
      for (double& value : before) value *= dual == DualStep::literal ? 1 + 0.4 * 0.5 : 1;
      EXPECT_LT(distance(run.duals(), before), 1e-14) << name_of(dual);
    }
}

TEST(PropagationSolver, AJointStepMovesBothFromTheSamePoint) {
  const Problem problem = block_problem("gru", 6, 2);
  const double rate = 0.2, state_rate = 0.3;
  Definition definition(problem, 2, 0.7);
  const Variables at = random_variables(problem, definition.table(), 5);
  const Objective::Gradients gradients = Objective(problem, 2, 0.7).at(at);
  Variables wanted = at;
  for (std::size_t k = 0; k < at.theta.size(); ++k) wanted.theta[k] -= rate * gradients.theta[k];
  for (std::size_t k = definition.numbers(); k < at.states.size(); ++k)
    wanted.states[k] -= state_rate * gradients.states[k];
  for (const PropagationSolver solver : {PropagationSolver::alm, PropagationSolver::admm}) {
    LearnerConfig config = propagation(2, 0.7);
    config.target_propagation.solver = solver;
    config.target_propagation.state_rate = state_rate;
    config.target_propagation.dual_rate = 0;
    BatchRun run(problem, config);
    run.learn();  // makes the tables
    run.put("states.table", at.states);
    run.put("duals", at.duals);
    run.rate = rate;
    run.learn();
    EXPECT_LT(relative_error(run.states(), wanted.states), 1e-14) << name_of(solver);
    const double off = distance(run.parameters(), wanted.theta);
    EXPECT_EQ(off < 1e-13, solver == PropagationSolver::alm) << off;
    EXPECT_EQ(off > 1e-4, solver == PropagationSolver::admm) << off;
  }
}

/// Free states outside of a learner.
struct Free {
  Free(const Problem& problem, TargetPropagationConfig config)
      : config(with_block(config)),
        objective(problem, 2, 0.7, "reference", 0, config.init != StateInit::chain),
        states(objective.engine(), this->config, objective.blocks()),
        parameters(objective.engine().allocate(problem.parameters.size())),
        carried(objective.engine().allocate(elements(2, problem.model->state_size()))) {
    objective.engine().write(parameters, problem.parameters);
    objective.engine().write(carried, random_numbers(carried.size, 8));
  }
  static TargetPropagationConfig with_block(TargetPropagationConfig config) {
    config.block = 2;
    return config;
  }
  std::vector<double> begin() {
    states.begin(parameters, carried, objective.objective());
    return objective.engine().read(states.table());
  }
  std::vector<double> first() { return objective.engine().read(carried); }

  TargetPropagationConfig config;
  Objective objective;
  FreeStates states;
  Buffer parameters, carried;
};

TEST(FreeStates, AChainIsConsistent) {
  for (const char* cell : {"gru", "lstm"}) {
    const Problem problem = block_problem(cell, 5, 2);
    Free free(problem, {.init = StateInit::chain});
    Definition definition(problem, 2, 0.7);
    EXPECT_EQ(free.begin(), definition.chain(problem.parameters, free.first()));
  }
}

TEST(FreeStates, BlocksThatStartAtZeroMakeTargetsWithoutThePast) {
  const Problem problem = block_problem("gru", 6, 2);
  Free free(problem, {.init = StateInit::zero_start});
  const std::vector<double> table = free.begin();
  Definition definition(problem, 2, 0.7);
  const std::vector<double> zero(definition.numbers());
  EXPECT_EQ(definition.state(table, 0), free.first());
  for (int j = 0; j < 2; ++j)
    EXPECT_EQ(definition.state(table, j + 1), definition.run(problem.parameters, j, zero).state) << j;
  EXPECT_EQ(definition.state(table, 3), zero) << "the last target";
  // r_j = E_j(0) - E_j(h_j), and the carried state touches the target of no block.
  const auto residuals = free.objective.at({problem.parameters, table, std::vector<double>(table.size())}).residuals;
  const auto first_end = definition.run(problem.parameters, 0, free.first()).state;
  const auto first_target = definition.run(problem.parameters, 0, zero).state;
  for (std::size_t k = 0; k < zero.size(); ++k) EXPECT_NEAR(residuals[k], first_target[k] - first_end[k], 1e-15);
  free.objective.engine().fill(free.carried, 0);
  const std::vector<double> other = free.begin();
  EXPECT_TRUE(std::equal(other.begin() + zero.size(), other.end(), table.begin() + zero.size()));
}

TEST(FreeStates, ZerosAreZeroButForTheCarriedState) {
  const Problem problem = block_problem("gru", 6, 2);
  Free free(problem, {.init = StateInit::zeros});
  free.begin();
  const std::vector<double> table = free.begin();
  Definition definition(problem, 2, 0.7);
  EXPECT_EQ(definition.state(table, 0), free.first());
  for (int j = 1; j <= 3; ++j) EXPECT_EQ(norm(definition.state(table, j)), 0) << j;
}

TEST(FreeStates, TheFirstAdagradStepIsAsLongAsItsRate) {
  for (const bool first_free : {false, true}) {
    const Problem problem = block_problem("gru", 6, 2);
    Free free(problem, {.state_rate = 0.3, .init = StateInit::chain, .first_free = first_free});
    Engine& engine = free.objective.engine();
    const std::vector<double> before = free.begin();
    std::vector<double> gradient = random_numbers(before.size(), 6, 1e-4);
    for (int stretch = 0; stretch < 2; ++stretch) {  // the moments start again with each
      free.begin();
      engine.write(free.states.gradient(), gradient);
      free.states.descend(1);
      const std::vector<double> after = engine.read(free.states.table());
      for (std::size_t k = 0; k < before.size(); ++k) {
        const bool fixed = !first_free && k < 2 * 3;
        const double wanted = fixed ? 0 : 0.3 * std::abs(gradient[k]) / (std::abs(gradient[k]) + 1e-5);
        EXPECT_NEAR(std::abs(after[k] - before[k]), wanted, 1e-12) << k;
      }
    }
  }
}

TEST(FreeStates, ALongGradientIsClipped) {
  const Problem problem = block_problem("gru", 6, 2);
  TargetPropagationConfig config{.state_optimizer = "sgd", .state_rate = 1, .state_clip = 0.25};
  Free free(problem, config);
  Engine& engine = free.objective.engine();
  const std::vector<double> before = free.begin();
  engine.write(free.states.gradient(), random_numbers(before.size(), 6));
  free.states.descend(1);
  EXPECT_NEAR(distance(engine.read(free.states.table()), before), 0.25, 1e-5);
}

TEST(TargetPropagation, LambdaChangesBetweenEpochs) {
  const Problem problem = block_problem("gru", 6, 2);
  LearnerConfig config = propagation(2, 0.5);
  config.target_propagation.lambda_factor = 0.5;
  Lesson lesson(problem, config, 6);
  for (const double lambda : {0.5, 0.25, 0.125}) {
    lesson.learn(problem.window);
    EXPECT_EQ(lesson.learner->diagnostics().front().name, "lambda");
    EXPECT_DOUBLE_EQ(lesson.learner->diagnostics().front().value, lambda);
    lesson.learner->end_epoch();
  }
}

/// The order of the steps, seen by what an engine is asked for: updates of H (its size), theta and U.
std::string order_of(LearnerConfig config, int epochs = 0) {
  const Problem problem = block_problem("gru", 6, 2);
  Lesson lesson(problem, config, 6);
  for (int epoch = 0; epoch < epochs; ++epoch) lesson.learner->end_epoch();
  lesson.learn(problem.window);
  std::string order;
  for (const auto& update : lesson.engine.updates)
    order += update.gradient.size() == problem.parameters.size() ? 'T' : update.rate == 0.125 ? 'U' : 'H';
  return order;
}

TEST(PropagationSolver, TakesItsStepsInOrder) {
  LearnerConfig config = propagation(2, 0.5, 2);
  config.target_propagation.dual_rate = 0.125;
  EXPECT_EQ(order_of(config), "HHT") << "a dual step that nobody would read is left out";
  config.target_propagation.dual_before_theta = true;
  config.target_propagation.theta_steps = 3;
  EXPECT_EQ(order_of(config), "HHUTTT");
  config.target_propagation.first_dual_epoch = 3;
  EXPECT_EQ(order_of(config, 1), "HHTTT");
  EXPECT_EQ(order_of(config, 2), "HHUTTT");
  config.target_propagation.first_dual_epoch = 1;
  config.target_propagation.dual_before_theta = false;
  config.target_propagation.rounds = 2;
  config.target_propagation.theta_steps = 1;
  EXPECT_EQ(order_of(config), "HHTUHHT");
  config.target_propagation.solver = PropagationSolver::pm;
  EXPECT_EQ(order_of(config), "HHTHHT");
  config.target_propagation.solver = PropagationSolver::alm;
  EXPECT_EQ(order_of(config), "HTHTUHTHT");
  config.target_propagation.state_steps = 0;
  config.target_propagation.solver = PropagationSolver::admm;
  EXPECT_EQ(order_of(config), "TUT");
}

TEST(PropagationSolver, InThePapersOrderNothingReadsTheDualsOfAMinibatch) {
  const Problem problem = block_problem("gru", 6, 2);
  const auto parameters_with = [&](PropagationSolver solver, bool before_theta) {
    LearnerConfig config = propagation(2, 0.5, 2);
    config.target_propagation.solver = solver;
    config.target_propagation.dual_before_theta = before_theta;
    Lesson lesson(problem, config, 6, 0.1);
    for (int stretch = 0; stretch < 3; ++stretch) lesson.learn(problem.window);
    return lesson.parameters();
  };
  EXPECT_EQ(parameters_with(PropagationSolver::admm, false), parameters_with(PropagationSolver::pm, false));
  EXPECT_GT(distance(parameters_with(PropagationSolver::admm, true), parameters_with(PropagationSolver::pm, false)),
            1e-6);
}

TEST(PropagationSolver, MeansAreSumsWithAnotherLambda) {
  const Problem problem = block_problem("gru", 6, 2);
  double weights = 0;
  for (const float weight : problem.window.weight) weights += weight;
  const auto gradient_of = [&](LossScale scale, double lambda) {
    LearnerConfig config = propagation(2, lambda);
    config.target_propagation.init = StateInit::zero_start;
    config.target_propagation.loss_scale = scale;
    config.target_propagation.state_rate =
        scale == LossScale::mean ? 0.2 * weights : 0.2;  // of a gradient that is as many times smaller
    Lesson lesson(problem, config, 6);
    lesson.learn(problem.window);
    return lesson.engine.updates.back().gradient;
  };
  std::vector<double> sum = gradient_of(LossScale::sum, 0.3 * weights / 6), mean = gradient_of(LossScale::mean, 0.3);
  for (double& value : mean) value *= weights;
  EXPECT_LT(relative_error(mean, sum), 1e-12);
}

/// A configuration is checked before anything is made of it.
TEST(TargetPropagation, RefusesWhatCannotBe) {
  const Problem problem = block_problem("gru", 6, 2);
  const auto check = [&](auto change) {
    TargetPropagationConfig config = propagation(2, 0.5).target_propagation;
    change(config);
    check_learner(config, *problem.model, {.steps = 6, .batch = 2});
  };
  EXPECT_REFUSED(check([](auto& c) { c.block = 4; }),
                 "must divide the steps of a stretch (6, the length of the task), got 4");
  EXPECT_REFUSED(check([](auto& c) { c.block = 0; }),
                 "[target_propagation] block (B) must be between 1 and the steps of a stretch (6), got 0");
  EXPECT_REFUSED(check([](auto& c) { c.lambda = 0; }), "must be positive where there are duals (solver = admm)");
  EXPECT_REFUSED(check([](auto& c) { c.lambda = -1; }), "must be 0 or positive, got -1");
  EXPECT_REFUSED(check([](auto& c) { c.state_optimizer = "adagard"; }), "adagrad");
  EXPECT_REFUSED(check([](auto& c) { c.solver = PropagationSolver::alm, c.state_steps = 0; }),
                 "state_steps must be between 1 and");
  EXPECT_REFUSED(check([](auto& c) { c.init = StateInit::persist; }), "one stretch must be all of it");
  EXPECT_REFUSED(check([](auto& c) { c.h_solver = StateSolver::backward_sweep, c.init = StateInit::zeros; }),
                 "backward_sweep needs");
  EXPECT_REFUSED(stream_needs(propagation(2, 0.5).target_propagation), "take tbptt, or fpp");
  EXPECT_EQ(refusal_of([&] { check([](auto& c) { c.lambda = 0, c.solver = PropagationSolver::pm; }); }), "");
  EXPECT_REFUSED(Lesson(problem, propagation(4, 0.5), 6),
                 "must divide the steps of a stretch (6, the length of the task), got 4");
}

/// Tables are measured in the numbers of the engine, where there is one, and else in the smallest that there are.
TEST(TargetPropagation, RefusesTablesThatDoNotFit) {
  const Problem problem = block_problem("gru", 6, 2);
  TargetPropagationConfig config = propagation(1, 0.5).target_propagation;
  config.init = StateInit::persist;
  config.memory = 3;
  StretchShape shape{.steps = 10'000'000, .batch = 1};
  shape.stretches = 1;
  const auto engine = make_engine(*problem.model, EngineRun::reference());
  Trainee trainee = make_trainee(*engine, problem.parameters, Lesson::sgd(), {});
  EXPECT_REFUSED(make_learner(config, trainee, shape),
                 "3 tables of 10000001 states of 3 numbers need 687 MiB, and there are 3 (memory)");
  EXPECT_REFUSED(check_learner(config, *problem.model, shape),
                 "3 tables of 10000001 states of 3 numbers need 344 MiB, and there are 3 (memory)");
}

TEST(TargetPropagation, ReadsItsChoicesByName) {
  TargetPropagationConfig config;
  OptionList list;
  describe(config, list);
  for (const Option& option : list.options()) {
    if (option.key != "solver") continue;
    EXPECT_REFUSED(std::get<ChoiceField>(option.field).set({"sqp"}), "sqp");
    std::get<ChoiceField>(option.field).set({"alm"});
  }
  EXPECT_EQ(config.solver, PropagationSolver::alm);
}

TEST(TargetPropagation, SaysWhatRanksShare) {
  const StretchShape shape{.steps = 12, .batch = 2};
  TargetPropagationConfig config = propagation(3, 0.5).target_propagation;
  EXPECT_EQ(shared_work(config, shape).count, 8);
  config.shard = 3;
  EXPECT_EQ(shared_work(config, shape).count, 6);
  EXPECT_EQ(shared_work(config, shape).options,
            "train.batch, learner.target_propagation.block and learner.target_propagation.shard");
}

}  // namespace
}  // namespace throughtime::testing
