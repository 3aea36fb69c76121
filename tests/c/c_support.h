#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "throughtime/c.h"

namespace throughtime::testing {

inline constexpr const char* small_options =
    "[model]\nhidden = 4\n[learner]\nname = \"tbptt\"\n[learner.tbptt]\npreset = \"original\"\ntruncation = 3\n"
    "[train]\nbatch = 2\nepochs = 2.0\n[task.arrays]\nlength = 10\n[run]\nthreads = 1\n";

/// A sine of `steps` steps, and its value one step later.
struct Sine {
  explicit Sine(int steps) {
    for (int step = 0; step < steps; ++step) {
      inputs.push_back(std::sin(0.3f * static_cast<float>(step)));
      targets.push_back(std::sin(0.3f * static_cast<float>(step + 1)));
    }
  }
  std::vector<float> inputs, targets;
};

inline std::int64_t new_model(const char* options = small_options, int labels = 0, int outputs = 1) {
  std::int64_t model = 0;
  EXPECT_EQ(tt_model_new(options, 1, 0, outputs, labels, &model), TT_OK) << tt_last_error();
  return model;
}

/// One recording of that sine.
inline std::int64_t new_recording(const Sine& sine) {
  std::int64_t data = 0;
  EXPECT_EQ(tt_data_new(1, 0, 1, 0, 0, 1, &data), TT_OK);
  EXPECT_EQ(tt_data_add(data, 0, static_cast<std::int64_t>(sine.inputs.size()), sine.inputs.data(), nullptr, nullptr,
                        sine.targets.data(), nullptr),
            TT_OK)
      << tt_last_error();
  return data;
}

inline std::vector<double> weights_of(std::int64_t model, std::size_t count) {
  std::vector<double> weights(count);
  EXPECT_EQ(tt_model_get_parameters(model, weights.data(), static_cast<std::int64_t>(count)), TT_OK) << tt_last_error();
  return weights;
}

inline constexpr std::size_t small_weights = 16 * 1 + 16 * 4 + 16 + 16 + 4 + 1;  // of an LSTM of 4 units and its head

inline std::string last_error() { return tt_last_error(); }

}  // namespace throughtime::testing
