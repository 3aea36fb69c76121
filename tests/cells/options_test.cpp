#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace throughtime::testing {
namespace {

TEST(Cells, ReadTheOptionsThatTheyName) {
  const std::pair<const char*, void (*)(CellOptions&)> options[] = {
      {"step", [](CellOptions& options) { options.step = 0.7; }},
      {"diffusion", [](CellOptions& options) { options.diffusion = 0.6; }},
  };
  for (const CellType* cell : all_cells()) {
    std::vector<std::string> read;
    ProblemSpec spec;
    spec.model = stack_of(cell->name, {3});
    const Problem plain = random_problem(spec);
    const std::vector<double> states = EngineRun(plain).unroll().states;
    for (const auto& [name, change] : options) {
      ProblemSpec changed = spec;
      change(changed.model.layers[0].options);
      const Problem problem = random_problem(changed);
      if (EngineRun(problem).unroll().states != states) read.push_back(name);
    }
    EXPECT_EQ(cell->reads, read) << cell->name;
  }
}

}  // namespace
}  // namespace throughtime::testing
