#pragma once

#include <vector>

#include "engine/cpu/few_rows/across_products.h"
#include "engine/cpu/passes.h"

namespace throughtime::cpu {

/// A window of several rows of a small net: a register holds a number of one unit for many rows, where units would
/// leave most of it empty. States, inputs and cotangents lie so through the whole window (AcrossTape); weights are
/// read, and gradients summed up, where the flat vectors have them. There is one call of the cell per layer, direction
/// and kAcross rows. Everything else goes the general way, also a part of what has been unrolled so.
class AcrossWindow {
 public:
  AcrossWindow(const Model& model, const std::vector<RowKernels>& rows, SingleRows choice);

  /// Whether tapes of that shape have room for it.
  bool fits(const TapeShape& shape) const;
  /// Whether it takes that window: no row is reset or held.
  static bool takes(const Window& window, const CpuTape& tape);
  void unroll(const Context& context, const UnrollArrays& call, CpuTape& tape) const;

  /// `gradient` [P]: null, or written, or added to.
  void pull_back(const Context& context, const PullBackArrays& call, float* gradient, AcrossTape& tape) const;

  /// The window that was unrolled last, as the general way would have left it, without what its head leaves.
  static void spread_out(const Context& context, const Window& window, CpuTape& tape);

 private:
  void run_head(const Context& context, const UnrollArrays& call, CpuTape& tape) const;
  void look_at(const Context& context, const UnrollArrays& call, CpuTape& tape, int step, int block) const;
  static void finish_row(const Context& context, const UnrollArrays& call, Slice& sums, int step, int row, float* z);
  void pull_back_layer(const Context& context, const PullBackArrays& call, AcrossTape& tape, std::size_t k) const;
  void add_layer_gradient(const Context& context, const PullBackArrays& call, AcrossTape& tape, std::size_t k,
                          float* gradient) const;
  void add_head_gradient(const Context& context, const PullBackArrays& call, AcrossTape& tape, float* gradient) const;

  AcrossProducts products_;
  bool fits_ = false;
  int widest_ = 0;  // units of the widest layer
};

}  // namespace throughtime::cpu
