#include "engine/device_facts.h"

#include <gtest/gtest.h>

namespace throughtime {
namespace {

DeviceFacts good() {
  return {.devices = 1, .driver = 13000, .runtime = 13000, .name = "NVIDIA H200", .major = 9, .minor = 0};
}

TEST(DeviceFacts, OneLineSaysWhyThereIsNoGpuToComputeWith) {
  EXPECT_EQ(absence_of(good()), "");
  DeviceFacts facts = good();
  facts.devices = 0;
  EXPECT_EQ(absence_of(facts), "no CUDA device here");

  // No driver at all: CUDA calls that one too old.
  facts.driver = 0;
  facts.driver_is_old = true;
  EXPECT_EQ(absence_of(facts), "no CUDA device here");
  facts.driver = 12040;
  EXPECT_EQ(absence_of(facts), "the GPU's driver knows CUDA 12.4 at most, this build needs 13.0");

  facts = good();
  facts.answers = false;
  EXPECT_EQ(absence_of(facts), "the CUDA device does not answer");

  facts = good();
  facts.name = "Tesla V100";
  facts.major = 7;
  EXPECT_EQ(absence_of(facts), "Tesla V100 has compute capability 7.0, at least 8.0 is needed");
  facts.major = 8;
  EXPECT_EQ(absence_of(facts), "");
}

}  // namespace
}  // namespace throughtime
