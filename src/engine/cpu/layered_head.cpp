#include <algorithm>

#include "engine/cpu/passes.h"
#include "engine/cpu/sharing.h"
#include "engine/targets.h"
#include "throughtime/index.h"

// A head with layers of its own (HeadLayers): features -> y -> x of each branch -> z of each branch. The branches of
// several rows are the rows of one product with the output layer.
namespace throughtime::cpu {

namespace {

class LayeredRows {
 public:
  LayeredRows(const Context& context, const HeadPass& pass, Slice& slice, Crew& crew)
      : context_(context),
        pass_(pass),
        slice_(slice),
        crew_(crew),
        work_(slice.head),
        layers_(context.model.head_layers()),
        kernels_(context.head.layered),
        branches_(elements(layers_.branches)),
        hidden_stride_(padded(context.model.top_hidden())),
        y_stride_(work_.y_begin.back()),
        x_stride_(padded(layers_.width) + kSkew),
        z_stride_(padded(context.model.outputs()) + kSkew),
        dropout_(latent_dropout(context.model.config().dropout)) {}

  void run(int rows) {
    for (std::size_t k = 0; k < own().size(); ++k)
      share_panels(crew_, context_.products, rows, work_.hidden.data(), hidden_stride_, own()[k].forward,
                   own()[k].bias.data(), work_.y.data() + work_.y_begin[k], y_stride_);
    for (int first = 0; first < rows; first += work_.group) run_group(first, std::min(rows, first + work_.group));
    if (pass_.d_hidden) send_back(rows);
  }

 private:
  const std::vector<PackedLinear>& own() const { return context_.packed.head_layers; }
  float* x_of(int i) { return work_.x.data() + elements(i) * branches_ * x_stride_; }

  /// A gathered row, the `place`-th of its group.
  LayeredRow<float> row_at(int lane, int i, int place) {
    LayeredRow<float> row;
    row.layers = &layers_;
    row.outputs = context_.model.outputs();
    for (std::size_t k = 0; k < own().size(); ++k)
      row.y[k] = work_.y.data() + elements(i) * y_stride_ + work_.y_begin[k];
    row.x = x_of(i);
    row.x_stride = x_stride_;
    row.z = work_.outputs.data() + elements(place) * branches_ * z_stride_;
    row.z_stride = z_stride_;
    row.scratch = work_.scratch.data() + elements(lane) * work_.scratch_stride;
    return row;
  }

  /// Calls task(lane, i) for rows [first, last), in parts.
  template <class Task>
  void for_rows(int first, int last, const Task& task) {
    crew_.share(last - first, [&](Part part) {
      const auto [begin, end] = part.of(last - first);
      for (int i = first + begin; i < first + end; ++i) task(part.index, i);
    });
  }

  /// Rows [first, last) up to their losses, and back to dL/dy.
  void run_group(int first, int last) {
    const PackedLinear& outer = context_.packed.head;
    const int rows = (last - first) * layers_.branches;
    for_rows(first, last, [&](int lane, int i) {
      kernels_.spread(row_at(lane, i, i - first));
      mask(lane, i);
    });
    share_panels(crew_, context_.products, rows, x_of(first), x_stride_, outer.forward, outer.bias.data(),
                 work_.outputs.data(), z_stride_);
    for_rows(first, last, [&](int lane, int i) { finish_row(i, row_at(lane, i, i - first)); });
    if (pass_.window.targets.layout != TargetLayout::none) add_up(first, last);
    if (!pass_.d_hidden) return;
    if (pass_.d_parameters)
      crew_.share(crew_.size(), [&](Part part) {
        add_linear_gradient(part, context_.products, rows, outer, work_.outputs.data(), z_stride_, x_of(first),
                            x_stride_, slice_.head_gradient, slice_.head_rows > 0 || first > 0);
      });
    share_panels(crew_, context_.products, rows, work_.outputs.data(), z_stride_, outer.backward, x_of(first),
                 x_stride_, false);
    for_rows(first, last, [&](int lane, int i) {
      mask(lane, i);
      kernels_.collect(row_at(lane, i, i - first));
    });
  }

  /// One mask for all branches of a row, end to end.
  void mask(int lane, int i) {
    if (!pass_.training || !dropout_.active()) return;
    const auto width = elements(layers_.width);
    const std::span<float> mask(slice_.mask.data() + elements(lane) * slice_.mask_stride, branches_ * width);
    write_mask<float>(dropout_, pass_.window.mask_key,
                      mask_step_at(context_.model.config().dropout, pass_.window, work_.step[i]),
                      pass_.window.mask_row + slice_.first + work_.row[i], mask);
    float* x = x_of(i);
    for (std::size_t branch = 0; branch < branches_; ++branch)
      for (std::size_t at = 0; at < width; ++at) x[branch * x_stride_ + at] *= mask[branch * width + at];
  }

  void finish_row(int i, const LayeredRow<float>& row) {
    const Window& window = pass_.window;
    const int step = work_.step[i], batch_row = slice_.first + work_.row[i];
    const std::size_t at = elements(step, window.batch) + elements(batch_row);
    if (pass_.predictions) kernels_.predict(row, pass_.predictions + at * elements(row.outputs));
    if (window.targets.layout == TargetLayout::none) return;
    const RowTarget<float> target = row_target(context_.model, window, step, batch_row);
    const float weight = window.weight_at(step, batch_row);
    const bool counts = pass_.correct && target.label >= 0;
    std::int32_t likeliest = 0;
    const double loss = kernels_.loss(row, target, weight, pass_.d_hidden, counts ? &likeliest : nullptr);
    work_.right[elements(i)] = counts && likeliest == target.label;
    if (pass_.losses) pass_.losses[at] = static_cast<float>(loss);
    work_.loss[elements(i)] = loss;
  }

  /// What the rows come to, in their order.
  void add_up(int first, int last) {
    for (int i = first; i < last; ++i) {
      const float weight = pass_.window.weight_at(work_.step[i], slice_.first + work_.row[i]);
      if (work_.right[elements(i)]) slice_.correct += weight;
      slice_.loss += weight * work_.loss[elements(i)];
    }
  }

  /// From dL/dy to dL/d(features), with the gradients of the own layers.
  void send_back(int rows) {
    for (std::size_t k = 0; k < own().size(); ++k) {
      const float* d_y = work_.y.data() + work_.y_begin[k];
      if (pass_.d_parameters)
        crew_.share(crew_.size(), [&](Part part) {
          add_linear_gradient(part, context_.products, rows, own()[k], d_y, y_stride_, work_.hidden.data(),
                              hidden_stride_, slice_.head_layer_gradients[k], slice_.head_rows > 0);
        });
      share_panels(crew_, context_.products, rows, d_y, y_stride_, own()[k].backward, work_.d_hidden.data(),
                   hidden_stride_, k > 0);
    }
  }

  const Context& context_;
  const HeadPass& pass_;
  Slice& slice_;
  Crew& crew_;
  HeadWork& work_;
  const HeadLayers& layers_;
  const LayeredKernels<float>& kernels_;
  std::size_t branches_, hidden_stride_, y_stride_, x_stride_, z_stride_;
  DropoutSite dropout_;
};

}  // namespace

void run_layered_rows(const Context& context, const HeadPass& pass, Slice& slice, Crew& crew, int rows) {
  LayeredRows(context, pass, slice, crew).run(rows);
}

}  // namespace throughtime::cpu
