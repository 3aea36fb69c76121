#include "train/checkpoint/weights.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "throughtime/error.h"

namespace throughtime {

void add_weights(TensorFile& file, const ParameterLayout& layout, std::span<const double> parameters) {
  const bool narrow = std::ranges::all_of(
      parameters, [](double value) { return static_cast<double>(static_cast<float>(value)) == value; });
  for (const ParameterBlock& block : layout.blocks()) {
    const std::vector<std::int64_t> shape(block.shape.begin(), block.shape.end());
    const auto values = parameters.subspan(block.offset, block.size());
    file.tensors.push_back(narrow ? float_tensor(block.name, shape, values) : double_tensor(block.name, shape, values));
  }
}

std::vector<double> weights_of(const TensorFile& file, const ParameterLayout& layout, std::string_view speaker) {
  std::vector<double> parameters(layout.size());
  for (const ParameterBlock& block : layout.blocks()) {
    const Tensor* tensor = file.find(block.name);
    const std::vector<std::int64_t> shape(block.shape.begin(), block.shape.end());
    if (tensor == nullptr)
      refuse(speaker, "there are no weights '{}', which the model has with the shape [{}]", block.name,
             fmt::join(shape, ", "));
    if (tensor->shape != shape)
      refuse(speaker, "the weights '{}' must have the shape [{}], they have [{}]", block.name, fmt::join(shape, ", "),
             fmt::join(tensor->shape, ", "));
    const std::vector<double> values = real_values(*tensor);
    if (!std::ranges::all_of(values, [](double value) { return std::isfinite(value); }))
      refuse(speaker, "the weights '{}' hold numbers that are not finite", block.name);
    std::copy(values.begin(), values.end(), parameters.begin() + static_cast<std::ptrdiff_t>(block.offset));
  }
  return parameters;
}

}  // namespace throughtime
