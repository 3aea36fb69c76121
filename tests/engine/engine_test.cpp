#include "throughtime/engine.h"

#include <gtest/gtest.h>

#include "support/engine_run.h"
#include "support/errors.h"

namespace throughtime::testing {
namespace {

TEST(MakeEngine, KnowsItsNames) {
  const Model model(stack_of("lstm", {2}));
  for (const std::string& name : engine_names()) {
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
  EXPECT_EQ(names, (std::vector<std::string>{"reference", "cpu"}));
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
