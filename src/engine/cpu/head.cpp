#include <algorithm>
#include <cstring>

#include "engine/cpu/passes.h"
#include "engine/cpu/sharing.h"
#include "engine/targets.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

namespace {

/// A padded row in pieces of a fixed size: most rows are one piece, not worth a call.
inline void copy_padded(const float* from, std::size_t width, float* to) {
  for (std::size_t i = 0; i < width; i += kPad) std::memcpy(to + i, from + i, kPad * sizeof(float));
}

/// One block of at most kChunkRows weighted rows: gather, linear layers, loss, and back.
class HeadBlock {
 public:
  HeadBlock(const Context& context, const HeadPass& pass, Slice& slice, Crew& crew)
      : context_(context),
        pass_(pass),
        slice_(slice),
        crew_(crew),
        work_(slice.head),
        hidden_stride_(padded(context.model.top_hidden())),
        inner_stride_(padded(context.packed.head_inner.outputs) + kSkew),
        output_stride_(padded(context.model.outputs()) + kSkew),
        dropout_(output_dropout(context.model.config().dropout)),
        logits_dropout_(throughtime::logits_dropout(context.model.config().dropout)),
        activation_(pass.training ? context.model.config().penalties.activation / context.model.top_hidden() : 0) {}

  bool full() const { return rows_ == static_cast<int>(work_.step.size()); }

  void add(int step, int row) {
    work_.step[rows_] = step;
    work_.row[rows_] = row;
    ++rows_;
  }

  void run() {
    if (rows_ == 0) return;
    for_rows([&](Rows rows) { gather(rows); });
    if (context_.model.head_layers().any())
      run_layered();
    else
      run_linear();
    rows_ = 0;
  }

 private:
  /// Calls task for all rows of the block, in parts.
  template <class Task>
  void for_rows(const Task& task) {
    // About as much work as so many products of one number each.
    const double numbers = static_cast<double>(rows_) * static_cast<double>(hidden_stride_ + output_stride_);
    crew_.share(std::min(rows_, parts_worth(crew_, 10 * numbers)), [&](Part part) {
      const auto [begin, end] = part.of(rows_);
      task(Rows{begin, end, part.index});
    });
  }

  void gather(Rows rows) {
    const int top = static_cast<int>(slice_.layers.size()) - 1;
    for (int i = rows.begin; i < rows.end; ++i) {
      const int step = work_.step[i], row = work_.row[i];
      float* to = work_.hidden.data() + i * hidden_stride_;
      copy_padded(slice_.state(top, 0, step - pass_.base + 1) + row * hidden_stride_, hidden_stride_, to);
      if (masked()) mask(rows.lane, step, row, to);
    }
  }

  void run_layered() {
    run_layered_rows(context_, pass_, slice_, crew_, rows_);
    if (pass_.window.targets.layout != TargetLayout::none)
      for (int i = 0; i < rows_; ++i) count_activation(i);
    if (pass_.d_hidden) scatter();
  }

  void run_linear() {
    const PackedLinear& inner = context_.packed.head_inner;
    const PackedLinear& outer = context_.packed.head;
    if (inner.outputs > 0)
      share_panels(crew_, context_.products, rows_, work_.hidden.data(), hidden_stride_, inner.forward,
                   inner.bias.data(), work_.inner.data(), inner_stride_);
    share_panels(crew_, context_.products, rows_, features(), feature_stride(), outer.forward, outer.bias.data(),
                 work_.outputs.data(), output_stride_);
    for_rows([&](Rows rows) {
      for (int i = rows.begin; i < rows.end; ++i) {
        write_constants(i);
        finish_row(rows.lane, i);
      }
    });
    if (pass_.window.targets.layout != TargetLayout::none) add_up();
    if (pass_.d_hidden) send_back();
  }

  bool masked() const { return pass_.training && dropout_.active(); }
  bool logits_masked() const {
    return logits_dropout_.active() && (pass_.training || context_.model.config().dropout.logits_always);
  }
  const float* hidden(int i) const { return work_.hidden.data() + i * hidden_stride_; }
  const float* features() const { return inner_used() ? work_.inner.data() : work_.hidden.data(); }
  std::size_t feature_stride() const { return inner_used() ? inner_stride_ : hidden_stride_; }
  bool inner_used() const { return context_.packed.head_inner.outputs > 0; }

  void mask(int lane, int step, int row, float* values) {
    multiply_by_mask(context_, dropout_, pass_.window, slice_, lane, step, row, values, context_.model.top_hidden());
  }

  void mask_logits(int lane, int i, float* values) {
    const int step = work_.step[i], row = work_.row[i];
    multiply_by_mask(context_, logits_dropout_, pass_.window, slice_, lane, step, row, values,
                     context_.model.linear_outputs());
  }

  /// The outputs that no linear layer makes.
  void write_constants(int i) {
    const Model& model = context_.model;
    if (model.head_constants < 0) return;
    std::copy_n(context_.parameters + model.parameters().block(model.head_constants).offset, model.head().constants,
                work_.outputs.data() + i * output_stride_ + model.linear_outputs());
  }

  /// Prediction and loss of one row; its outputs become weight * dloss/d(outputs) where something goes back.
  void finish_row(int lane, int i) {
    const Window& window = pass_.window;
    const int outputs = context_.model.outputs();
    const int step = work_.step[i], row = slice_.first + work_.row[i];
    const std::size_t at = elements(step, window.batch) + row;
    float* z = work_.outputs.data() + i * output_stride_;
    if (logits_masked()) mask_logits(lane, i, z);
    if (pass_.predictions) {
      float* prediction = pass_.predictions + at * outputs;
      std::copy_n(z, outputs, prediction);
      context_.head.predict(outputs, prediction);
    }
    if (window.targets.layout == TargetLayout::none) return;
    const RowTarget<float> target = row_target(context_.model, window, step, row);
    const float weight = window.weight_at(step, row);
    work_.right[elements(i)] = pass_.correct && std::max_element(z, z + outputs) - z == target.label;
    const double loss = context_.head.loss(outputs, z, target, weight, pass_.d_hidden ? z : nullptr);
    if (pass_.losses) pass_.losses[at] = static_cast<float>(loss);
    work_.loss[elements(i)] = loss;
    if (pass_.d_hidden && logits_masked()) mask_logits(lane, i, z);
  }

  /// What the rows come to, in their order.
  void add_up() {
    for (int i = 0; i < rows_; ++i) {
      const float weight = pass_.window.weight_at(work_.step[i], slice_.first + work_.row[i]);
      if (work_.right[elements(i)]) slice_.correct += weight;
      slice_.loss += weight * work_.loss[elements(i)];
      count_activation(i);
    }
  }

  /// What the row adds to the penalty on the square of an output.
  void count_activation(int i) {
    if (activation_ <= 0) return;
    const float weight = pass_.window.weight_at(work_.step[i], slice_.first + work_.row[i]);
    slice_.penalties[0] +=
        weight * activation_ * context_.products.sum_of_squares(elements(context_.model.top_hidden()), hidden(i));
  }

  void send_back() {
    const PackedLinear& inner = context_.packed.head_inner;
    const PackedLinear& outer = context_.packed.head;
    if (pass_.d_parameters) {
      add_gradient(slice_.head_gradient, outer, work_.outputs.data(), output_stride_, features(), feature_stride());
    }
    if (inner_used()) {
      share_panels(crew_, context_.products, rows_, work_.outputs.data(), output_stride_, outer.backward,
                   work_.d_inner.data(), inner_stride_, false);
      if (pass_.d_parameters)
        add_gradient(slice_.head_inner_gradient, inner, work_.d_inner.data(), inner_stride_, work_.hidden.data(),
                     hidden_stride_);
      share_panels(crew_, context_.products, rows_, work_.d_inner.data(), inner_stride_, inner.backward,
                   work_.d_hidden.data(), hidden_stride_, false);
    } else {
      share_panels(crew_, context_.products, rows_, work_.outputs.data(), output_stride_, outer.backward,
                   work_.d_hidden.data(), hidden_stride_, false);
    }
    scatter();
  }

  void scatter() {
    for_rows([&](Rows rows) {
      for (int i = rows.begin; i < rows.end; ++i) scatter_row(rows.lane, i);
    });
    if (pass_.d_parameters) slice_.head_rows += rows_;
  }

  void scatter_row(int lane, int i) {
    const int step = work_.step[i], row = work_.row[i];
    float* d = work_.d_hidden.data() + i * hidden_stride_;
    if (activation_ > 0) add_activation(i, step, row, d);
    if (masked()) mask(lane, step, row, d);
    copy_padded(d, hidden_stride_, slice_.sent_back(step, row));
  }

  void add_activation(int i, int step, int row, float* d) {
    const auto factor = static_cast<float>(2 * activation_ * pass_.window.weight_at(step, slice_.first + row));
    const float* h = hidden(i);
    for (int unit = 0; unit < context_.model.top_hidden(); ++unit) d[unit] += factor * h[unit];
  }

  void add_gradient(LinearGradient& sums, const PackedLinear& linear, const float* d, std::size_t d_stride,
                    const float* x, std::size_t x_stride) {
    crew_.share(parts_worth(crew_, static_cast<double>(rows_) * linear.outputs * linear.inputs), [&](Part part) {
      add_linear_gradient(part, context_.products, rows_, linear, d, d_stride, x, x_stride, sums, slice_.head_rows > 0);
    });
  }

  const Context& context_;
  const HeadPass& pass_;
  Slice& slice_;
  Crew& crew_;
  HeadWork& work_;
  std::size_t hidden_stride_, inner_stride_, output_stride_;
  DropoutSite dropout_, logits_dropout_;
  double activation_;  // the penalty on the square of an output
  int rows_ = 0;
};

}  // namespace

void run_head(const Context& context, const HeadPass& pass, Slice& slice, Crew& crew) {
  if (!pass.losses && !pass.predictions && !pass.d_hidden && pass.window.targets.layout == TargetLayout::none) return;
  HeadBlock block(context, pass, slice, crew);
  const int batch = pass.window.batch;
  const float* weight = pass.window.weight.data() + elements(pass.first, batch) + slice.first;
  for (int step = pass.first; step < pass.last; ++step, weight += batch)
    for (int row = 0; row < slice.rows; ++row) {
      if (weight[row] == 0.0f) continue;
      block.add(step, row);
      if (block.full()) block.run();
    }
  block.run();
}

}  // namespace throughtime::cpu
