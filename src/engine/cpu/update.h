#pragma once

#include <vector>

#include "engine/cpu/products.h"
#include "engine/cpu/threads/thread_pool.h"
#include "engine/host_engine.h"
#include "optimizers/dynamic_regulariser.h"

namespace throughtime::cpu {

/// The buffers of an UpdateCall, resolved; null: absent. All but `norm` [1] and `diagnostics` [3] have `size` numbers.
struct UpdateArrays {
  std::size_t size = 0;
  float* gradient = nullptr;
  float* weights = nullptr;
  float* norm = nullptr;
  float* average = nullptr;
  float* multiplier = nullptr;
  float* diagnostics = nullptr;
};

/// One update of the flat vector in blocks of fixed size: a pass that makes the whole gradient and its norm, where one
/// is needed, and a pass that clips, steps and settles the regulariser while a block is in the cache. Sums over blocks
/// are added in their order: the same bits for any thread count.
class Updater {
 public:
  Updater() : products_(product_kernels()), regulariser_(fast_regulariser()) {}
  void run(const UpdateCall& call, HostOptimizer<float>& optimizer, const UpdateArrays& arrays, ThreadPool& pool);

 private:
  using Squares = RegulariserKernels<float>::Squares;

  template <class Task>
  void for_each_block(std::size_t size, ThreadPool& pool, const Task& task);
  Squares add_terms(const UpdateCall& call, const UpdateArrays& arrays, ThreadPool& pool);
  double squares(const UpdateArrays& arrays, ThreadPool& pool);
  double clip_factor(const UpdateCall& call, const UpdateArrays& arrays, double scale, double clip_value, double norm,
                     ThreadPool& pool);
  double step(const UpdateCall& call, HostOptimizer<float>& optimizer, const UpdateArrays& arrays, float factor,
              float clip_value, ThreadPool& pool);

  ProductKernels products_;
  RegulariserKernels<float> regulariser_;
  std::vector<Squares> partial_;  // of each block; grows to the longest vector once
};

}  // namespace throughtime::cpu
