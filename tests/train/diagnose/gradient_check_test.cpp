#include "throughtime/gradient_check.h"

#include <gtest/gtest.h>

namespace throughtime {
namespace {

TEST(GradientCheck, TellsOfEveryEngineThatCanComputeHere) {
  const std::vector<GradientError> errors = check_gradients("gru", "softmax", 3);
  const std::vector<const EngineType*> engines = usable_engines();
  ASSERT_EQ(errors.size(), engines.size());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    EXPECT_EQ(errors[i].engine, engines[i]);
    EXPECT_GT(errors[i].relative, 0) << engines[i]->name;
    EXPECT_LT(errors[i].relative, engines[i]->exact ? 1e-6 : 1e-5) << engines[i]->name;
  }
}

TEST(GradientCheck, TheExactEngineCanComputeEverywhere) {
  EXPECT_TRUE(exact_engine().exact);
  EXPECT_TRUE(exact_engine().usable());
}

}  // namespace
}  // namespace throughtime
