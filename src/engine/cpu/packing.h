#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cpu/products.h"
#include "engine/cpu/threads/thread_pool.h"
#include "throughtime/index.h"
#include "throughtime/model.h"

namespace throughtime::cpu {

/// Parameters of a model so small that its weights and gradients are moved number by number, by lists made once.
inline constexpr std::size_t kFewParameters = 256;

/// A matrix W [groups * rows, depth] as B of a product y = x W^T: panels of `units` rows of every group side by side,
/// [panel][depth][groups * units], so that the gates of a unit come out together. Missing rows are zero.
class ForwardPanels {
 public:
  ForwardPanels() = default;
  ForwardPanels(int groups, int rows, int depth, int units);
  void pack(const float* weights, ThreadPool* pool);
  /// bias [groups * rows] into the order of the panels; `bias` has size().
  void pack_bias(const float* bias, float* packed, bool add) const;

  int panels() const { return panels_; }
  int units(int panel) const;  // of this panel: a multiple of kPad
  int columns(int panel) const { return groups_ * units(panel); }
  int depth() const { return depth_; }
  std::size_t width() const { return elements(groups_, padded_rows_); }  // over all panels
  std::size_t column(int panel) const { return elements(panel, units_) * groups_; }
  const float* panel(int index) const { return data_.data() + column(index) * depth_; }
  Array& numbers() { return data_; }

 private:
  void pack_panel(const float* weights, int p);

  int groups_ = 0, rows_ = 0, depth_ = 0, units_ = 0, panels_ = 0;
  std::size_t padded_rows_ = 0;
  Array data_;
};

/// A matrix W [groups * rows, columns] as B of a product dx = dy W: panels of kPanel columns, [panel][groups * padded
/// rows][panel's columns], zero where padded. A matrix that lies like that already is read where it is.
class BackwardPanels {
 public:
  BackwardPanels() = default;
  BackwardPanels(int groups, int rows, int columns);
  void pack(const float* weights, ThreadPool* pool);

  int panels() const { return panels_; }
  int columns(int panel) const;
  int all_columns() const { return static_cast<int>(padded_columns_); }
  /// Rows to sum over: those that pad the last group are left out.
  int depth() const { return groups_ == 0 ? 0 : (groups_ - 1) * static_cast<int>(padded_rows_) + rows_; }
  const float* panel(int index) const { return from_ + elements(index, kPanel) * depth_; }
  Array& numbers() { return data_; }
  /// Whether the last matrix is read where it is.
  bool in_place() const { return from_ != data_.data(); }

 private:
  void pack_panel(const float* weights, int p);

  int groups_ = 0, rows_ = 0, columns_ = 0, panels_ = 0;
  std::size_t padded_rows_ = 0, padded_columns_ = 0, depth_ = 0;
  Array data_;
  const float* from_ = nullptr;  // data_, or the matrix itself
};

/// y = x W^T + b in both directions.
struct PackedLinear {
  PackedLinear() = default;
  PackedLinear(int outputs, int inputs);
  void pack(const float* weights, const float* bias, ThreadPool* pool);

  int outputs = 0, inputs = 0;
  ForwardPanels forward;
  BackwardPanels backward;
  Array bias;  // [padded outputs]
};

struct PackedLayer {
  PackedLayer() = default;
  PackedLayer(const Layer& layer, bool needs_input_gradient);
  /// All but the recurrent weights.
  void pack(const Layer& layer, const ParameterLayout& layout, const float* parameters, ThreadPool* pool);
  /// The recurrent weights, from the layer's raw block; `masked`: what its mask leaves of them.
  void pack_recurrent(const Layer& layer, const float* raw, bool masked, ThreadPool* pool);

  ForwardPanels input, recurrent, late;  // without panels where the cell has no such rows
  BackwardPanels input_back, recurrent_back, late_back;
  Array input_bias;      // in the order of input's panels; a joint cell's holds both biases
  Array recurrent_bias;  // per panel: early rows, then late rows
  Array effective;       // [recurrent_rows * H, H], where the cell maps its weights
  Array mask, dropped;   // of the raw recurrent block, where weights are dropped in training, and what is left of it

 private:
  void pack_biases(const Layer& layer, const ParameterLayout& layout, const float* parameters);
};

/// All weights of a model in the order that products read them; made anew when the parameters change.
struct PackedModel {
  explicit PackedModel(const Model& model);
  /// Who packs large matrices from now on; null: nobody helps.
  void share_with(ThreadPool* pool) { pool_ = pool; }
  /// The layers. What is beside them is packed when somebody asks for it.
  void pack(const Model& model, const float* parameters, const std::optional<std::uint64_t>& masks);
  /// Encoder and head, unless they are packed already.
  void pack_beside(const Model& model, const float* parameters);
  /// The recurrent weights alone, where nothing but their masks has changed.
  void pack_recurrent(const Model& model, const float* parameters, const std::optional<std::uint64_t>& masks);

  std::vector<PackedLayer> layers;
  PackedLinear encoder, head_inner, head;  // outputs = 0 where absent
  std::vector<PackedLinear> head_layers;   // of the head's own
  std::int32_t buffer = -1;                // what is packed: a buffer and its version
  std::uint64_t version = 0;
  std::optional<std::uint64_t> masks;  // the key of the masks on the recurrent weights; none: there are none

 private:
  /// Number `from` of the parameters goes to `to`.
  struct Move {
    std::uint32_t from;
    float* to;
  };
  void pack_layers(const Model& model, const float* parameters);
  void pack_linear(const Model& model, const float* parameters);
  void draw_masks(const Model& model, std::uint64_t key);
  void find_moves(const Model& model);
  static void note_numbers(Array& array, std::vector<Move>& moves);
  void note_layers(std::vector<Move>& moves);
  void note_linear(std::vector<Move>& moves);
  bool reads_in_place();

  ThreadPool* pool_ = nullptr;
  // All that packing does, number by number: for models so small that finding out what goes where costs more.
  std::vector<Move> moves_, additions_, moves_beside_;
  bool beside_ = false;                 // encoder and head are packed
  std::optional<std::uint64_t> drawn_;  // the key of the layers' masks
};

}  // namespace throughtime::cpu
