#pragma once

#include <vector>

namespace throughtime::bench {

/// Clipping of the whole gradient to a norm of 1 and one update of Adam, as ours are (docs/optimizers.md).
class Adam {
 public:
  explicit Adam(std::size_t size) : first_(size), second_(size) {}
  void update(double rate, const float* gradient, float* weights);

 private:
  std::vector<float> first_, second_;  // moments
  int updates_ = 0;
};

}  // namespace throughtime::bench
