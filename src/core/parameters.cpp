#include "throughtime/parameters.h"

#include <fmt/ranges.h>

#include <limits>
#include <utility>

#include "core/names.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {

std::size_t ParameterBlock::size() const {
  std::size_t count = 1;
  for (const int length : shape) count *= elements(length);
  return count;
}

int ParameterLayout::add(std::string name, std::vector<int> shape) {
  if (name.empty()) refuse("parameters", "a block needs a name");
  if (shape.empty()) refuse("parameters", "block '{}' needs at least one dimension", name);
  for (const ParameterBlock& block : blocks_)
    if (block.name == name) refuse("parameters", "there is already a block named '{}'", name);

  std::size_t room = (std::numeric_limits<std::size_t>::max() - size_) / sizeof(double);
  for (const int length : shape) {
    if (length < 1)
      refuse("parameters", "every dimension of '{}' must be at least 1, got [{}]", name, fmt::join(shape, ", "));
    room /= elements(length);
  }
  if (room == 0)
    refuse("parameters", "block '{}' of shape [{}] is larger than any memory", name, fmt::join(shape, ", "));

  blocks_.push_back({std::move(name), size_, std::move(shape)});
  size_ += blocks_.back().size();
  return static_cast<int>(blocks_.size()) - 1;
}

const ParameterBlock& ParameterLayout::find(std::string_view name) const {
  std::vector<std::string> known;
  for (const ParameterBlock& block : blocks_) {
    if (block.name == name) return block;
    known.push_back(block.name);
  }
  refuse_unknown("parameters", "block", name, known);
}

}  // namespace throughtime
