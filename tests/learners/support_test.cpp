#include "learners/support.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/errors.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

TEST(SumOfWeights, IsThePlainSumBitForBit) {
  const Random random(3, Purpose::sampling);
  for (const std::size_t size : {0u, 1u, 63u, 64u, 65u, 128u, 1000u})
    for (const std::uint64_t one_in : {1u, 7u, 200u}) {
      std::vector<float> weights(size);
      double sum = 0;
      for (std::size_t i = 0; i < size; ++i) {
        if (random.below(one_in, 0, size, i) == 0) weights[i] = static_cast<float>(random.uniform(1, size, i));
        sum += weights[i];
      }
      EXPECT_EQ(sum_of_weights("test", weights), sum) << size << " " << one_in;
    }
}

TEST(SumOfWeights, RefusesLossesThatSumToNothing) {
  std::vector<float> weights(130, 0.0f);
  EXPECT_EQ(sum_of_weights("test", weights), 0);
  weights[129] = -1;
  EXPECT_REFUSED(sum_of_weights("test", weights),
                 "[test] the loss weights of a window must sum to a positive number, got -1");
  weights[0] = 1;
  EXPECT_REFUSED(sum_of_weights("test", weights), "got 0");
}

}  // namespace
}  // namespace throughtime
