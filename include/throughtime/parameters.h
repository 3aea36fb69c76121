#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "throughtime/index.h"

namespace throughtime {

/// A named part of the flat parameter vector, row-major, with PyTorch's name and layout.
struct ParameterBlock {
  std::string name;
  std::size_t offset = 0;
  std::vector<int> shape;  // [rows, columns] or [length]

  std::size_t size() const;
};

/// All trainable numbers of a model as one vector: blocks in order, without gaps.
class ParameterLayout {
 public:
  /// Appends a block and returns its index. Names are unique; every dimension is at least 1.
  int add(std::string name, std::vector<int> shape);

  const std::vector<ParameterBlock>& blocks() const { return blocks_; }
  const ParameterBlock& block(int index) const { return blocks_.at(elements(index)); }
  /// The block of that name; refuses unknown names and lists the known ones.
  const ParameterBlock& find(std::string_view name) const;
  std::size_t size() const { return size_; }

 private:
  std::vector<ParameterBlock> blocks_;
  std::size_t size_ = 0;
};

}  // namespace throughtime
