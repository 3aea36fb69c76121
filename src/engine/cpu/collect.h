#pragma once

#include <vector>

#include "engine/cpu/passes.h"
#include "engine/cpu/threads/thread_pool.h"

namespace throughtime::cpu {

/// Brings the slices' shares of the gradient, padded and packed as they are, into the flat vector.
class GradientCollector {
 public:
  explicit GradientCollector(const Model& model);

  /// Notes where a new tape keeps the numbers of the gradient, where the model is small and the tape has one slice.
  void prepare(std::vector<Slice>& slices) const;
  /// gradient [P] = (add ? gradient : 0) + the slices' shares in their order, for steps [first, last) of the window.
  void run(const Context& context, const PullBackArrays& call, std::vector<Slice>& slices, bool add, ThreadPool& pool,
           float* gradient);

 private:
  enum class Kind {
    input_weights,
    recurrent_weights,
    encoder,
    inner,
    own,  // the head's own layers
    head,
    input_bias,  // this and the following: one number per row
    recurrent_bias,
    encoder_bias,
    inner_bias,
    head_bias,
    own_bias,
    head_constants,
  };

  static bool of_layers(Kind kind) {
    return kind <= Kind::recurrent_weights || kind == Kind::input_bias || kind == Kind::recurrent_bias;
  }
  static bool of_head(Kind kind) {
    return (kind >= Kind::inner && kind <= Kind::head) || kind == Kind::inner_bias || kind >= Kind::head_bias;
  }

  /// Rows of one group of gates of one block of the flat vector.
  struct Task {
    Kind kind;
    int layer = 0;
    std::size_t rows = 0, columns = 0;
    std::size_t stride = 0;         // between rows of the share: the padded width, or 1 for a bias
    std::size_t column_stride = 1;  // between its columns: more than 1 where the share lies transposed
    std::size_t from = 0, to = 0;   // where they begin in the share and in the flat vector
    bool in_place = false;          // one slice alone has written them there already
  };

  void add_block(const Model& model, Kind kind, int layer, int block, int rows, int columns);
  void add_task(Task task, std::size_t step);
  void run_task(const Task& task, const std::vector<Slice>& slices, bool losses, bool add, float* gradient,
                const float* mask = nullptr) const;
  /// The mask on a layer's recurrent weights, in the order of the flat vector; null: there was none.
  static const float* mask_of(const Context& context, const PullBackArrays& call, int layer);
  void add_mapped(const Context& context, const PullBackArrays& call, const std::vector<Slice>& slices, bool add,
                  float* gradient);
  void add_embedding(const Context& context, const PullBackArrays& call, std::vector<Slice>& slices, bool add,
                     ThreadPool& pool, float* gradient) const;
  static const float* share(const Slice& slice, const Task& task);

  ProductKernels products_;
  std::vector<Task> tasks_;
  std::size_t elements_ = 0;  // of the tasks
  bool few_ = false;          // tasks move the whole gradient, and it is short
  std::vector<int> mapped_;   // layers whose recurrent weights go through a map
  Array effective_;           // dL/d(effective weights) of the largest of them
  Array raw_;                 // dL/d(what a mask left of the raw weights), where weights are dropped
};

}  // namespace throughtime::cpu
