#include <algorithm>

#include "engine/cuda/engine_class.h"
#include "engine/cuda/head_rows.h"
#include "engine/cuda/kernels/few_outputs.h"
#include "engine/cuda/kernels/inputs.h"
#include "engine/cuda/kernels/vectors.h"
#include "engine/cuda/products.h"
#include "engine/dropout.h"
#include "throughtime/index.h"

namespace throughtime::cuda {

const float* CudaEngine::head_features(const Pass& pass, const HeadRows& rows) {
  const Layer& top = model_.layers().back();
  const int hidden = top.hidden, batch = pass.window.batch;
  // The state after step l is in slot l + 1.
  const float* states = pass.tape.layers.back().states.data() + Index{1 - rows.slot_begin} * batch * hidden;
  const DropoutSite site = output_dropout(model_.config().dropout);
  const bool masked = site.active() && pass.tape.training;
  if (rows.whole() && !masked) return states + elements(rows.host_places()[0], hidden);
  MovePlaces gather;
  gather.entries = rows.count;
  gather.width = hidden;
  gather.places = rows.places();
  gather.from = states;
  gather.to = pass.tape.head.features.data();
  add(gather);
  apply_mask(pass, site, rows.count, hidden, 0, rows.places(), gather.to);
  return gather.to;
}

/// Outputs z of the rows, into the tape's.
void CudaEngine::head_outputs(const Pass& pass, const HeadRows& rows, const float* features) {
  if (model_.head_layers().any()) return branch_outputs(pass, rows, features);
  const int hidden = model_.config().head.hidden, top = model_.top_hidden();
  HeadSpace& space = pass.tape.head;
  if (hidden > 0)
    linear(pass, rows.count, top, hidden, features, model_.head_inner_weight, model_.head_inner_bias,
           space.inner.data());
  linear(pass, rows.count, model_.last_width(), model_.linear_outputs(), hidden > 0 ? space.inner.data() : features,
         model_.head_weight, model_.head_bias, space.outputs.data(), model_.outputs());
  const DropoutConfig& dropout = model_.config().dropout;
  apply_mask(pass, logits_dropout(dropout), rows.count, model_.linear_outputs(), 0, rows.places(), space.outputs.data(),
             dropout.logits_always, model_.outputs());
}

void CudaEngine::score(const Pass& pass, const HeadRows& rows, bool d_z, float* losses, float* correct) {
  const StagedLosses& staged = rows.losses;
  HeadLoss loss;
  loss.entries = rows.count;
  loss.outputs = model_.outputs() * model_.head_layers().branches;
  loss.constants = model_.head_constants >= 0 ? model_.head().constants : 0;
  loss.constant_values = block(pass, model_.head_constants);
  loss.levels = static_cast<int>(levels_.size());
  loss.level_values = levels_.data();
  loss.labels = staged.labels ? staged.labels + rows.first : nullptr;
  loss.target_stride = staged.target_width;
  loss.values = staged.values;
  if (staged.value_entry)
    loss.value_entry = staged.value_entry + rows.first;
  else if (staged.values)
    loss.values += elements(rows.first, staged.target_width);
  loss.weights = rows.weights();
  loss.z = pass.tape.head.outputs.data();
  loss.d_z = d_z ? 1 : 0;
  loss.losses = losses;
  loss.correct = correct;
  if (head_->branches)
    recorder_.add<Context, BranchesLoss>(head_->branches->loss, {head_branches(pass, rows), loss});
  else
    recorder_.add<Context, HeadLoss>(head_->loss, loss);
}

void CudaEngine::evaluate_rows(const Pass& pass, const HeadRows& rows, const UnrollOutputs& out) {
  HeadSpace& space = pass.tape.head;
  const float* features = head_features(pass, rows);
  if (out.scored() || out.predictions) head_outputs(pass, rows, features);
  if (out.scored()) {
    score(pass, rows, false, space.losses.data(), out.correct_sum ? space.correct.data() : nullptr);
    if (out.losses) {
      MovePlaces scatter;
      scatter.entries = rows.count;
      scatter.width = scatter.back = 1;
      scatter.places = rows.places();
      scatter.from = space.losses.data();
      scatter.to = out.losses;
      add(scatter);
    }
    if (out.loss_sum) add(AddSum{rows.count, space.losses.data(), rows.weights(), out.loss_sum});
    if (out.correct_sum) add(AddSum{rows.count, space.correct.data(), nullptr, out.correct_sum});
  }
  const double activation = model_.config().penalties.activation;
  if (out.penalties && activation > 0) sum_activation(pass, rows, features, out.penalties);
  if (!out.predictions) return;
  if (head_->branches) return predict_branches(pass, rows, out.predictions);
  HeadPredict predict;
  predict.entries = rows.count;
  predict.outputs = model_.outputs();
  predict.constants = model_.head_constants >= 0 ? model_.head().constants : 0;
  predict.constant_values = block(pass, model_.head_constants);
  predict.z = space.outputs.data();
  recorder_.add<Context, HeadPredict>(head_->predict, predict);
  MovePlaces scatter;
  scatter.entries = rows.count;
  scatter.width = model_.outputs();
  scatter.back = 1;
  scatter.places = rows.places();
  scatter.from = space.outputs.data();
  scatter.to = out.predictions;
  add(scatter);
}

void CudaEngine::evaluate_head(const Pass& pass, const StagedLosses& losses, int begin, int end, int slot_begin,
                               const UnrollOutputs& out) {
  const auto entry = [&](int step) {
    const auto at = std::lower_bound(losses.host_places.begin(), losses.host_places.end(), step * pass.window.batch);
    return static_cast<int>(at - losses.host_places.begin());
  };
  const int most = pass.tape.head.rows, last = entry(end);
  int first = entry(begin);
  const bool at_once = last - first <= most;
  for (; first < last; first += most) {
    const HeadRows rows{losses, first, std::min(most, last - first), slot_begin};
    evaluate_rows(pass, rows, out);
    // The way back finds the outputs where they are, unless they became predictions.
    const bool made = out.scored() && !out.predictions;
    if (at_once && made && pass.tape.shape().keep != Keep::nothing)
      pass.tape.kept_places.assign(rows.host_places(), rows.host_places() + rows.count);
  }
}

void CudaEngine::pull_back_linear(const Pass& pass, const LinearBackward& back, const float* x, int weight, int bias,
                                  float* gradient) {
  float* d_weights = block_of(gradient, weight);
  float* d_bias = block_of(gradient, bias);
  if (back.outputs > most_few_outputs || back.rows > most_few_rows) {
    if (gradient) {
      add_gradient(pass.tape, back.rows, back.inputs, back.outputs, back.d_y, back.d_y_stride, x, d_weights);
      add_bias_gradient(pass.tape, back.rows, back.outputs, back.d_y, back.d_y_stride, d_bias);
    }
    return add(back);
  }
  FewOutputsBackward few;
  few.rows = back.rows;
  few.inputs = back.inputs;
  few.outputs = back.outputs;
  few.d_y_stride = back.d_y_stride;
  few.add = back.add;
  few.d_y = back.d_y;
  few.x = x;
  few.weights = back.weights;
  few.d_weights = d_weights;
  few.d_bias = d_bias;
  few.d_x = back.d_x;
  add(few);
}

void CudaEngine::pull_back_outputs(const Pass& pass, const HeadRows& rows, const float* features, float* d_features,
                                   int join, float* gradient) {
  HeadSpace& space = pass.tape.head;
  const int hidden = model_.config().head.hidden, outputs = model_.linear_outputs(), stride = model_.outputs();
  float* d_z = space.outputs.data();
  const DropoutConfig& dropout = model_.config().dropout;
  apply_mask(pass, logits_dropout(dropout), rows.count, outputs, 0, rows.places(), d_z, dropout.logits_always, stride);
  if (gradient && model_.head_constants >= 0)
    add_bias_gradient(pass.tape, rows.count, model_.head().constants, d_z + outputs, stride,
                      block_of(gradient, model_.head_constants));
  LinearBackward back;
  back.rows = rows.count;
  back.inputs = model_.last_width();
  back.outputs = outputs;
  back.d_y_stride = stride;
  back.d_y = d_z;
  back.weights = block(pass, model_.head_weight);
  back.d_x = hidden > 0 ? space.d_inner.data() : d_features;
  back.add = hidden == 0 ? join : 0;
  pull_back_linear(pass, back, hidden > 0 ? space.inner.data() : features, model_.head_weight, model_.head_bias,
                   gradient);
  if (hidden == 0) return;
  const int top = model_.top_hidden();
  if (gradient) {
    add_gradient(pass.tape, rows.count, top, hidden, space.d_inner.data(), 0, features,
                 block_of(gradient, model_.head_inner_weight));
    add_bias_gradient(pass.tape, rows.count, hidden, space.d_inner.data(), 0,
                      block_of(gradient, model_.head_inner_bias));
  }
  back = {.rows = rows.count, .inputs = top, .outputs = hidden, .add = join};
  back.d_y = space.d_inner.data();
  back.weights = block(pass, model_.head_inner_weight);
  back.d_x = d_features;
  add(back);
}

void CudaEngine::pull_back_rows(const Pass& pass, const HeadRows& rows, float* gradient) {
  HeadSpace& space = pass.tape.head;
  const int top = model_.top_hidden();
  const auto& kept = pass.tape.kept_places;
  const bool ready = elements(rows.count) == kept.size() && std::equal(kept.begin(), kept.end(), rows.host_places());
  // Features are made again where they had to be gathered: it is cheap beside the outputs.
  const float* features = head_features(pass, rows);
  if (!ready) head_outputs(pass, rows, features);
  pass.tape.kept_places.clear();
  score(pass, rows, true, nullptr, nullptr);
  const DropoutSite site = output_dropout(model_.config().dropout);
  const bool in_place = rows.whole() && !(site.active() && pass.tape.training);
  float* to = pass.tape.d_outputs.data();
  float* d_features = !in_place         ? space.d_features.data()
                      : rows.at_the_end ? pass.tape.layers.back().carry.data()
                                        : to + elements(rows.host_places()[0], top);
  // At the end they join what the state carries there, if it carries anything yet.
  int& carried = pass.tape.layers.back().carried;
  const int join = rows.at_the_end && carried > 0 ? 1 : 0;
  if (rows.at_the_end) carried = std::max(carried, 1);
  if (model_.head_layers().any())
    pull_back_branches(pass, rows, features, d_features, join, gradient);
  else
    pull_back_outputs(pass, rows, features, d_features, join, gradient);
  if (penalises(pass, model_.config().penalties.activation)) pull_back_activation(pass, rows, features, d_features);
  if (in_place) return;
  apply_mask(pass, site, rows.count, top, 0, rows.places(), d_features);
  MovePlaces scatter;
  scatter.entries = rows.count;
  scatter.width = top;
  scatter.back = 1;
  scatter.places = rows.places();
  scatter.from = d_features;
  scatter.to = to;
  add(scatter);
}

bool CudaEngine::pull_back_head(const Pass& pass, const StagedLosses& losses, const float* differences,
                                const PullBackArguments& arguments) {
  const int first = arguments.first, last = arguments.last;
  const int most = pass.tape.head.rows, batch = pass.window.batch;
  const std::size_t place = elements(first, batch), top = elements(model_.top_hidden());
  const bool masked = output_dropout(model_.config().dropout).active() && pass.tape.training;
  const bool at_the_end = !masked && !differences && losses.entries == batch && batch <= most &&
                          losses.host_places[0] == (last - 1) * batch;
  if (!at_the_end && losses.entries < (last - first) * batch)
    add(Fill{elements(last - first, batch) * top, nullptr, pass.tape.d_outputs.data() + place * top});
  for (int at = 0; at < losses.entries; at += most)
    pull_back_rows(pass, {losses, at, std::min(most, losses.entries - at), 0, at_the_end}, arguments.gradient);
  if (differences) pull_back_slowness(pass, differences, first, last);
  return !at_the_end;
}

}  // namespace throughtime::cuda
