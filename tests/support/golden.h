#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "throughtime/model.h"
#include "throughtime/window.h"

// The files of tests/golden, which make_golden.py wrote with PyTorch in double precision.
namespace throughtime::testing {

/// Agreement wanted of an engine, relative to the largest number of the compared tensor.
inline double golden_tolerance(const std::string& engine) { return engine == "reference" ? 1e-10 : 1e-5; }

/// A file by its name without extension.
inline nlohmann::json read_golden(const std::string& name) {
  std::ifstream file(std::string(THROUGHTIME_TEST_DIRECTORY) + "/golden/" + name + ".json");
  return nlohmann::json::parse(file);
}

/// The numbers of a nested list in row-major order.
template <class Number = double>
std::vector<Number> flatten(const nlohmann::json& value) {
  if (!value.is_array()) return {value.get<Number>()};
  std::vector<Number> all;
  for (const nlohmann::json& entry : value) {
    const std::vector<Number> part = flatten<Number>(entry);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// Inputs [L, B, D] with the rows one after the other: [B, L, D].
inline std::vector<float> inputs_by_row(const nlohmann::json& inputs) {
  std::vector<float> values;
  for (std::size_t row = 0; row < inputs[0].size(); ++row)
    for (const nlohmann::json& step : inputs) {
      const std::vector<float> part = flatten<float>(step[row]);
      values.insert(values.end(), part.begin(), part.end());
    }
  return values;
}

/// A window over the rows of a file, one after the other in `source`, whose values are `inputs` [B, L, D]. The caller
/// sets weights and targets, and keeps both where they are.
inline void set_rows(const nlohmann::json& file, const std::vector<float>& inputs, Source& source, Window& window) {
  window.steps = file["shape"]["steps"];
  window.batch = file["shape"]["batch"];
  source.steps = static_cast<std::size_t>(window.steps) * window.batch;
  source.reals = file["shape"]["inputs"];
  source.values = inputs;
  window.sources = {&source, 1};
  for (int row = 0; row < window.batch; ++row) window.start.push_back(static_cast<std::int64_t>(row) * window.steps);
}

/// The model that a file's tensors belong to.
inline ModelConfig golden_model(const nlohmann::json& file) {
  ModelConfig config;
  config.input.reals = file["shape"]["inputs"];
  for (int layer = 0; layer < file["layers"].get<int>(); ++layer)
    config.layers.push_back({.cell = file["cell"], .hidden = file["shape"]["hidden"], .options = {}});
  config.head.name = file["head"];
  config.head.outputs = file["shape"]["outputs"];
  return config;
}

/// Named tensors as one vector in this library's order.
inline std::vector<double> flat_parameters(const Model& model, const nlohmann::json& named) {
  std::vector<double> flat(model.parameters().size());
  for (const ParameterBlock& block : model.parameters().blocks()) {
    const std::vector<double> values = flatten(named.at(block.name));
    EXPECT_EQ(values.size(), block.size()) << block.name;
    std::copy(values.begin(), values.end(), flat.begin() + static_cast<std::ptrdiff_t>(block.offset));
  }
  EXPECT_EQ(model.parameters().blocks().size(), named.size());
  return flat;
}

inline void expect_close(const std::vector<double>& ours, const std::vector<double>& golden, double tolerance,
                         const std::string& what) {
  ASSERT_EQ(ours.size(), golden.size()) << what;
  double scale = 0;
  for (double value : golden) scale = std::max(scale, std::abs(value));
  ASSERT_GT(scale, 0) << what;
  for (std::size_t i = 0; i < golden.size(); ++i)
    ASSERT_NEAR(ours[i], golden[i], tolerance * scale) << what << " at " << i;
}

}  // namespace throughtime::testing
