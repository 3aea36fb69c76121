#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "throughtime/model.h"
#include "throughtime/window.h"

namespace throughtime::testing {

/// What a random problem looks like. The model decides widths; everything drawn is a function of the seed.
struct ProblemSpec {
  ModelConfig model;
  int steps = 5;
  int batch = 3;
  int sources = 2;
  TargetLayout targets = TargetLayout::source;
  bool soft = false;        // target distributions instead of labels, for heads that take both
  double zero_weights = 0;  // share of steps and rows without a loss
  double resets = 0;        // share of steps and rows that are reset
  bool ragged = false;      // row b begins with b padding steps (all but the first row, at most L - 1), then a reset
  double parameter_range = 0.6;  // parameters are uniform in +- this
  std::uint64_t seed = 1;
};

/// A model, data, a window over them and parameters. The window's spans point into the problem: it can be moved, not
/// copied.
struct Problem {
  Problem() = default;
  Problem(Problem&&) = default;
  Problem& operator=(Problem&&) = default;

  struct Storage {
    std::vector<float> values;
    std::vector<std::int32_t> tokens;
    std::vector<std::int32_t> labels;
    std::vector<float> target_values;
  };
  std::unique_ptr<Model> model;
  std::vector<Storage> storage;  // one per source
  std::vector<Source> sources;
  std::vector<std::int32_t> labels;  // of per_step and per_row targets
  std::vector<float> target_values;
  Window window;
  std::vector<double> parameters;
};

Problem random_problem(const ProblemSpec& spec);

/// Uniform numbers in +- range.
std::vector<double> random_numbers(std::size_t size, std::uint64_t seed, double range = 1.0);

/// `reals` inputs, layers of one cell with the given widths, a regression head with two outputs.
ModelConfig stack_of(const std::string& cell, const std::vector<int>& widths, int reals = 2);

/// That model configuration with another head.
ModelConfig with_head(ModelConfig config, const std::string& head, int outputs, int hidden = 0);

std::vector<std::string> cell_names();
std::vector<std::string> head_names();
/// Those that can compute here.
std::vector<std::string> engines_here();

}  // namespace throughtime::testing
