#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "throughtime/parameters.h"
#include "train/checkpoint/safetensors.h"

namespace throughtime {

/// Appends a tensor for each block of the weights, under its name: F32 where all of them are floats, else F64.
void add_weights(TensorFile& file, const ParameterLayout& layout, std::span<const double> parameters);
/// The weights of a file that has every block of a layout, in its shape, and maybe more.
std::vector<double> weights_of(const TensorFile& file, const ParameterLayout& layout, std::string_view speaker);

}  // namespace throughtime
