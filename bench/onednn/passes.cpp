#include "bench/onednn/passes.h"

#include <algorithm>

namespace throughtime::bench {
namespace {

using dnnl::memory;
using Desc = memory::desc;
using Tag = memory::format_tag;

constexpr auto single = memory::data_type::f32;
constexpr auto training = dnnl::prop_kind::forward_training;
constexpr auto backwards = dnnl::prop_kind::backward;
constexpr auto left_to_right = dnnl::rnn_direction::unidirectional_left2right;

Desc with_any_layout(const Desc& plain) { return {plain.dims(), single, Tag::any}; }

/// Every cell's descriptors take the same arrays; c stands beside h in those of the lstm alone.
struct Arrays {
  Desc input, state, layer, iteration, bias, output;
};

template <class ForwardDescription, class BackwardDescription>
Passes passes_of(const ForwardDescription& forward, const BackwardDescription& backward) {
  return {.forward = {},
          .backward = {},
          .layer = forward.weights_layer_desc(),
          .iteration = forward.weights_iter_desc(),
          .back_layer = backward.weights_layer_desc(),
          .back_iteration = backward.weights_iter_desc(),
          .layer_gradient = backward.diff_weights_layer_desc(),
          .iteration_gradient = backward.diff_weights_iter_desc(),
          .bias_gradient = backward.diff_bias_desc(),
          .workspace = forward.workspace_desc()};
}

Passes lstm_passes(const Arrays& a, const dnnl::engine& engine) {
  const dnnl::lstm_forward::primitive_desc forward(
      {training, left_to_right, a.input, a.state, a.state, a.layer, a.iteration, a.bias, a.output, a.state, a.state},
      engine);
  const dnnl::lstm_backward::primitive_desc backward(
      {backwards, left_to_right, a.input, a.state, a.state, a.layer,     a.iteration, a.bias,   a.output, a.state,
       a.state,   a.input,       a.state, a.state, a.layer, a.iteration, a.bias,      a.output, a.state,  a.state},
      engine, forward);
  Passes passes = passes_of(forward, backward);
  passes.forward = dnnl::lstm_forward(forward);
  passes.backward = dnnl::lstm_backward(backward);
  return passes;
}

Passes gru_passes(const Arrays& a, const dnnl::engine& engine) {
  const dnnl::lbr_gru_forward::primitive_desc forward(
      {training, left_to_right, a.input, a.state, a.layer, a.iteration, a.bias, a.output, a.state}, engine);
  const dnnl::lbr_gru_backward::primitive_desc backward(
      {backwards, left_to_right, a.input, a.state, a.layer, a.iteration, a.bias, a.output, a.state, a.input, a.state,
       a.layer, a.iteration, a.bias, a.output, a.state},
      engine, forward);
  Passes passes = passes_of(forward, backward);
  passes.forward = dnnl::lbr_gru_forward(forward);
  passes.backward = dnnl::lbr_gru_backward(backward);
  return passes;
}

Passes rnn_passes(dnnl::algorithm activation, const Arrays& a, const dnnl::engine& engine) {
  const dnnl::vanilla_rnn_forward::primitive_desc forward(
      {training, activation, left_to_right, a.input, a.state, a.layer, a.iteration, a.bias, a.output, a.state}, engine);
  const dnnl::vanilla_rnn_backward::primitive_desc backward(
      {backwards, activation, left_to_right, a.input, a.state, a.layer, a.iteration, a.bias, a.output, a.state, a.input,
       a.state, a.layer, a.iteration, a.bias, a.output, a.state},
      engine, forward);
  Passes passes = passes_of(forward, backward);
  passes.forward = dnnl::vanilla_rnn_forward(forward);
  passes.backward = dnnl::vanilla_rnn_backward(backward);
  return passes;
}

}  // namespace

const OnednnCell* find_onednn_cell(std::string_view name) {
  using dnnl::algorithm;
  static const std::vector<OnednnCell> cells = {
      {.name = "lstm", .gates = 4, .biases = 4, .memory = true, .order = {0, 1, 2, 3}},  // i f g o, as ours
      {.name = "gru", .gates = 3, .biases = 4, .order = {1, 0, 2}},                      // u r o: our z r n
      {.name = "rnn_tanh", .order = {0}, .activation = algorithm::eltwise_tanh},
      {.name = "rnn_relu", .order = {0}, .activation = algorithm::eltwise_relu},
      {.name = "rnn_logistic", .order = {0}, .activation = algorithm::eltwise_logistic}};
  const auto found = std::ranges::find(cells, name, &OnednnCell::name);
  return found == cells.end() ? nullptr : &*found;
}

PlainLayouts::PlainLayouts(const OnednnCell& cell, const Case& chosen, int steps)
    : input({steps, chosen.batch, chosen.inputs}, single, Tag::tnc),
      output({steps, chosen.batch, chosen.hidden}, single, Tag::tnc),
      state({1, 1, chosen.batch, chosen.hidden}, single, Tag::ldnc),
      layer({1, 1, chosen.inputs, cell.gates, chosen.hidden}, single, Tag::ldigo),
      iteration({1, 1, chosen.hidden, cell.gates, chosen.hidden}, single, Tag::ldigo),
      bias({1, 1, cell.biases, chosen.hidden}, single, Tag::ldgo) {}

Passes make_passes(const OnednnCell& cell, const Case& chosen, int steps, const dnnl::engine& engine) {
  const PlainLayouts plain(cell, chosen, steps);
  const Arrays arrays = {.input = plain.input,
                         .state = plain.state,
                         .layer = with_any_layout(plain.layer),
                         .iteration = with_any_layout(plain.iteration),
                         .bias = plain.bias,
                         .output = plain.output};
  if (cell.memory) return lstm_passes(arrays, engine);
  if (cell.biases > cell.gates) return gru_passes(arrays, engine);
  return rnn_passes(cell.activation, arrays, engine);
}

}  // namespace throughtime::bench
