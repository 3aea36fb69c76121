// What is special about the engine for GPUs; that it agrees with the reference is in agreement_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "support/engine_run.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "support/usable_engine.h"

namespace throughtime::testing {
namespace {

EngineConfig on(const std::string& engine) { return {.name = engine, .threads = 1, .communicator = nullptr}; }

class Cuda : public ::testing::Test {
 protected:
  void SetUp() override { skip_without("cuda"); }
};
using CudaSmall = Cuda;

constexpr const char* kernel_less = "without_kernels";  // a cell and a head that tests register

/// What updates with given gradients make of weights. A gradient that is computed would be rounded before it is divided
/// by its own size, as most rules do.
struct Updates {
  OptimizerConfig optimizer = {.name = "adam"};
  Clip clip = {};
  bool regularised = false;
  bool settle = true;

  /// Weights, W-bar, lambda, norm, diagnostics and moments.
  std::vector<std::vector<double>> run(const Problem& problem, const std::string& name, int updates = 5) const {
    EngineRun run(problem, on(name));
    Engine& engine = run.engine();
    const std::size_t size = problem.parameters.size();
    const Buffer gradient = engine.allocate(size), average = engine.allocate(size), multiplier = engine.allocate(size);
    const Buffer norm = engine.allocate(1), diagnostics = engine.allocate(3);
    engine.write(average, random_numbers(size, 3));
    const auto state = engine.make_optimizer(optimizer, run.parameters());
    const DynamicRegulariser terms{.average = average,
                                   .multiplier = multiplier,
                                   .alpha = 0.3,
                                   .settle = settle,
                                   .diagnostics = settle ? diagnostics : Buffer()};
    for (int update = 0; update < updates; ++update) {
      engine.write(gradient, random_numbers(size, static_cast<std::uint64_t>(10 + update)));
      engine.apply_update({.target = run.parameters(),
                           .gradient = gradient,
                           .optimizer = *state,
                           .rate = 0.01 * (update + 1),
                           .gradient_scale = 0.5,
                           .clip = clip,
                           .norm = norm,
                           .regulariser = regularised ? &terms : nullptr});
    }
    std::vector<std::vector<double>> numbers;
    for (const Buffer& buffer : {run.parameters(), average, multiplier, norm, diagnostics})
      numbers.push_back(engine.read(buffer));
    for (const Buffer& moment : state->moments) numbers.push_back(engine.read(moment));
    return numbers;
  }
};

/// Weights after some windows, each unrolled, pulled back and followed by an update.
std::vector<double> trained(const Problem& problem, const std::string& name, int updates = 4) {
  EngineRun run(problem, on(name));
  Engine& engine = run.engine();
  const Buffer gradient = engine.allocate(problem.parameters.size());
  const auto state = engine.make_optimizer({.name = "momentum"}, run.parameters());
  for (int update = 0; update < updates; ++update) {
    engine.unroll({.window = problem.window, .parameters = run.parameters(), .tape = run.tape()});
    engine.pull_back(
        {.tape = run.tape(), .window = problem.window, .parameters = run.parameters(), .gradient = gradient});
    engine.apply_update(
        {.target = run.parameters(), .gradient = gradient, .optimizer = *state, .rate = 0.01, .clip = {.norm = 1}});
  }
  return engine.read(run.parameters());
}

Problem some_problem(const std::string& cell = "lstm", int hidden = 20) {
  return random_problem({.model = stack_of(cell, {hidden}), .steps = 7, .batch = 5, .parameter_range = 0.2});
}

TEST_F(Cuda, UpdatesAsTheReferenceWithEveryRule) {
  const Problem problem = some_problem();
  const auto expect_same = [&](const Updates& updates) {
    const auto wanted = updates.run(problem, "reference"), got = updates.run(problem, "cuda");
    for (std::size_t k = 0; k < wanted.size(); ++k)
      EXPECT_LT(relative_error(got[k], wanted[k]), 2e-5) << "result " << k;
  };
  for (const OptimizerType* type : all_optimizers())
    for (const bool regularised : {false, true})
      for (const Clip clip : {Clip{}, Clip{.value = 0.2}, Clip{.norm = 0.1}, Clip{.value = 0.2, .norm = 0.1}}) {
        SCOPED_TRACE(fmt::format("{} regularised {} value {} norm {}", type->name, regularised, clip.value, clip.norm));
        expect_same(
            {.optimizer = {.name = type->name, .weight_decay = 0.01}, .clip = clip, .regularised = regularised});
      }
  expect_same({.regularised = true, .settle = false});
}

TEST_F(Cuda, GivesTheSameBitsTwiceAndKernelByKernel) {
  for (const char* cell : {"lstm", "gru", "gru_reset_before", "rnn_tanh", "antisymmetric"}) {
    const Problem problem = some_problem(cell, 70);
    const Updates updates{.clip = {.norm = 0.1}, .regularised = true};
    const auto first = trained(problem, "cuda", 8), second = trained(problem, "cuda", 8);
    const auto first_updates = updates.run(problem, "cuda");
    EXPECT_EQ(first, second) << cell;
    setenv("THROUGHTIME_CUDA_GRAPHS", "0", 1);
    EXPECT_EQ(first, trained(problem, "cuda", 8)) << cell;
    EXPECT_EQ(first_updates, updates.run(problem, "cuda")) << cell;
    unsetenv("THROUGHTIME_CUDA_GRAPHS");
  }
}

TEST_F(Cuda, TrainsWideLayersAsTheReferenceWithFewAndManyRows) {
  for (const char* cell : {"lstm", "gru_reset_before", "rnn_tanh"})
    for (const int hidden : {257, 300})
      for (const int batch : {1, 2, 3, 5, 9, 16, 17}) {
        const Problem problem =
            random_problem({.model = stack_of(cell, {hidden}), .steps = 3, .batch = batch, .parameter_range = 0.1});
        SCOPED_TRACE(fmt::format("{}, {} units, {} rows", cell, hidden, batch));
        EXPECT_LT(relative_error(trained(problem, "cuda", 2), trained(problem, "reference", 2)), 1e-5);
      }
}

TEST_F(Cuda, MovesRowsAndNumbersAsTheReference) {
  const Problem problem = some_problem();
  std::vector<std::vector<double>> results[2];
  const char* names[] = {"reference", "cuda"};
  for (int i = 0; i < 2; ++i) {
    const auto engine = make_engine(*problem.model, on(names[i]));
    const Buffer table = engine->allocate(21), rows = engine->allocate(15), one = engine->allocate(1);
    engine->write(table, random_numbers(21, 1));
    engine->write(rows, random_numbers(15, 2));
    const std::vector<std::int64_t> indices = {6, 0, 6, 3, 6};
    engine->scatter_add_rows(rows, 3, indices, table);
    results[i].push_back(engine->read(table));
    engine->scatter_rows(rows, 3, indices, table);
    results[i].push_back(engine->read(table));
    engine->gather_rows(table, 3, std::vector<std::int64_t>{5, 5, 1}, rows);
    engine->scale(rows, -0.5);
    engine->axpy(0.25, rows, rows);
    results[i].push_back(engine->read(rows));
    engine->dot(rows, rows, one);
    results[i].push_back(engine->read(one));
    engine->copy(one, one);
    engine->fill(table, 0.125);
    results[i].push_back(engine->read(table));
  }
  ASSERT_EQ(results[0].size(), results[1].size());
  for (std::size_t k = 0; k < results[0].size(); ++k)
    EXPECT_LT(relative_error(results[1][k], results[0][k]), 1e-6) << "result " << k;
}

/// Every kernel once, small: what compute-sanitizer looks at (scripts/test-gpu).
TEST_F(CudaSmall, EveryCellAndHead) {
  for (const std::string& cell : cell_names())
    for (const int hidden : {3, 40, 257}) {
      if (cell == kernel_less) continue;
      ProblemSpec spec{.model = stack_of(cell, {hidden, 5}), .steps = 4, .batch = 3};
      spec.resets = 0.2;
      spec.model.dropout = {.input = 0.2, .between = 0.3, .output = 0.2};
      const Problem problem = random_problem(spec);
      EXPECT_LT(relative_error(trained(problem, "cuda"), trained(problem, "reference")), 1e-5) << cell << hidden;
    }
  for (const std::string& head : head_names()) {
    const int outputs = 6 + find_head(head).beside;  // two targets of three quantiles, three of a deviation each
    ProblemSpec spec{.model = with_head(stack_of("gru", {4}), head, outputs, 3), .steps = 3};
    spec.model.input.vocabulary = 5;
    spec.model.input.tokens = TokenInput::embedding;
    spec.model.input.embedding = 3;
    spec.model.input.encoder = 4;
    const Problem problem = random_problem(spec);
    EXPECT_LT(relative_error(trained(problem, "cuda"), trained(problem, "reference")), 1e-5) << head;
  }
}

TEST_F(CudaSmall, WeightDrop) {
  for (const char* cell : {"lstm", "antisymmetric"})
    for (const int hidden : {3, 40, 257}) {
      ProblemSpec spec{.model = stack_of(cell, {hidden, 5}), .steps = 4, .batch = 3};
      spec.model.dropout.recurrent = 0.4;
      const Problem problem = random_problem(spec);
      EXPECT_LT(relative_error(trained(problem, "cuda"), trained(problem, "reference")), 1e-5) << cell << hidden;
    }
}

TEST_F(Cuda, RefusesACellWithoutDeviceKernels) {
  if (std::ranges::count(cell_names(), kernel_less) == 0) {
    CellType copy = find_cell("rnn_tanh");
    copy.name = kernel_less;
    register_cell(copy);
  }
  const Model model(stack_of(kernel_less, {2}));
  EXPECT_REFUSED(
      make_engine(model, on("cuda")),
      "[cuda] the cell 'without_kernels' has no device kernels; add its .cu (docs/cells.md) or use run.engine=cpu");
}

TEST_F(Cuda, RefusesAHeadWithoutDeviceKernels) {
  head_names();  // of the built-in ones, before there is another
  const auto known = [](const HeadType* head) { return head->name == kernel_less; };
  if (std::ranges::none_of(all_heads(), known)) {
    HeadType copy = find_head("regression");
    copy.name = kernel_less;
    register_head(copy);
  }
  const Model model(with_head(stack_of("gru", {2}), kernel_less, 6));
  EXPECT_REFUSED(make_engine(model, on("cuda")),
                 "[cuda] the head 'without_kernels' has no device kernels; use run.engine=cpu");
}

TEST_F(Cuda, RefusesATapeThatTheDeviceHasNoRoomFor) {
  const Problem problem = some_problem();
  const auto engine = make_engine(*problem.model, on("cuda"));
  EXPECT_REFUSED(engine->make_tape({.steps = 1 << 24, .batch = 1 << 12}), "of the device");
}

TEST(CudaEngine, SaysInOneLineWhyItCannotBeUsed) {
  const EngineType& type = find_engine("cuda");
  if (type.usable()) GTEST_SKIP() << "there is a CUDA device here";
  const Problem problem = some_problem();
  EXPECT_FALSE(type.missing().empty());
  EXPECT_REFUSED(make_engine(*problem.model, on("cuda")), "[cuda] " + type.missing());
}

}  // namespace
}  // namespace throughtime::testing
