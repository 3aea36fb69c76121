// The cell of examples/own_cell, which the library does not know, on every engine.
#include <gtest/gtest.h>

#include <algorithm>

#include "minimal_gated.h"
#include "support/engine_run.h"
#include "support/errors.h"
#include "support/numeric.h"

namespace throughtime::testing {
namespace {

constexpr const char* own = "minimal_gated";

EngineConfig config_of(const std::string& engine) { return {.name = engine, .threads = 1, .communicator = nullptr}; }

class OwnCell : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const EngineType& type = find_engine(GetParam());
    if (!type.usable()) GTEST_SKIP() << type.missing();
    if (std::ranges::count(cell_names(), own) > 0) return;
    CellType cell = minimal_gated_cell();
    cell.device = cuda::minimal_gated_device_cell;
    register_cell(cell);
  }
};

/// One row, one step, one unit; widths of every division of a GPU's blocks, and one too wide for them; resets.
TEST_P(OwnCell, AgreesWithTheReference) {
  struct Size {
    std::vector<int> widths;
    int steps, batch;
  };
  for (const Size& size : {Size{{1}, 1, 1}, Size{{7, 5}, 9, 4}, Size{{33}, 6, 3}, Size{{70}, 5, 40}, Size{{130}, 4, 2},
                           Size{{260}, 3, 2}}) {
    const Problem problem = random_problem({.model = stack_of(own, size.widths),
                                            .steps = size.steps,
                                            .batch = size.batch,
                                            .resets = 0.1,
                                            .parameter_range = 0.3});
    EngineRun exact(problem), here(problem, config_of(GetParam()));
    const Unrolled wanted = exact.unroll(), got = here.unroll();
    EXPECT_LT(relative_error(got.states, wanted.states), 1e-5) << size.widths.front();
    EXPECT_LT(relative_error(here.pull_back().gradient, exact.pull_back().gradient), 1e-5) << size.widths.front();
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, OwnCell, ::testing::Values("reference", "cpu", "cuda"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace throughtime::testing
