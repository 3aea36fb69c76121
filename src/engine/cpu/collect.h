#pragma once

#include <vector>

#include "engine/cpu/passes.h"
#include "engine/cpu/thread_pool.h"

namespace throughtime::cpu {

/// Brings the slices' shares of the gradient, padded and packed as they are, into the flat vector.
class GradientCollector {
 public:
  explicit GradientCollector(const Model& model);

  /// gradient [P] = (add ? gradient : 0) + the slices' shares in their order, for steps [first, last) of the window.
  void run(const Context& context, const PullBackArrays& call, std::vector<Slice>& slices, bool add, ThreadPool& pool,
           float* gradient);

 private:
  enum class Kind {
    input_weights,
    recurrent_weights,
    encoder,
    inner,
    head,
    input_bias,  // this and the following: one number per row
    recurrent_bias,
    encoder_bias,
    inner_bias,
    head_bias,
    head_constants,
  };

  /// Rows [begin, end) of one block of the flat vector: [groups * rows, columns] there, padded in the slices.
  struct Task {
    Kind kind;
    int layer = 0;
    std::size_t offset = 0;
    std::size_t rows = 0, columns = 0;  // H of a group, and the width
    std::size_t stride = 0;             // between rows of the share: the padded width, or 1 for a bias
    std::size_t column_stride = 1;      // between its columns: more than 1 where the share lies transposed
    std::size_t begin = 0, end = 0;
  };

  void add_block(const Model& model, Kind kind, int layer, int block, int rows, int columns);
  void run_task(const Task& task, const std::vector<Slice>& slices, bool losses, bool add, float* gradient) const;
  void add_mapped(const Context& context, const std::vector<Slice>& slices, bool add, float* gradient);
  void add_embedding(const Context& context, const PullBackArrays& call, std::vector<Slice>& slices, bool add,
                     float* gradient) const;
  static const float* share(const Slice& slice, const Task& task, bool losses);

  std::vector<Task> tasks_;
  std::size_t elements_ = 0;
  std::vector<int> mapped_;  // layers whose recurrent weights go through a map
  Array effective_;          // dL/d(effective weights) of the largest of them
};

}  // namespace throughtime::cpu
