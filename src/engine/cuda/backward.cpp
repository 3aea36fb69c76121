#include <algorithm>
#include <utility>

#include "engine/checks.h"
#include "engine/cuda/engine_class.h"
#include "engine/cuda/kernels/inputs.h"
#include "engine/cuda/kernels/narrow.h"
#include "engine/cuda/kernels/vectors.h"
#include "engine/cuda/products.h"
#include "engine/cuda/steps.h"
#include "engine/dropout.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime::cuda {

void CudaEngine::pull_back(const PullBackCall& call) {
  CudaTape& tape = own_tape("pull_back", call.tape);
  const Window& window = call.window;
  PullBackArguments arguments;
  arguments.first = call.first;
  arguments.last = check_pull_back(model_, call, tape.unrolled);
  if (tape.parameters != call.parameters.id || tape.version != slot(call.parameters).version)
    refuse("cuda", "the parameters have changed since the window was unrolled; unroll it again");
  arguments.losses = call.losses;
  arguments.gradient = change_or_null(call.gradient);
  arguments.end_cotangent = numbers_or_null(call.end_cotangent);
  arguments.step_cotangents = numbers_or_null(call.step_cotangents);
  arguments.initial_cotangent = change_or_null(call.initial_cotangent);
  arguments.taps = call.tap_vectors ? change(call.tap_vectors) : call.tap_norms ? tape.tap_space() : nullptr;

  recorder_.begin_call(staging_.bytes_of(window));
  const Pass pass{window, tape, numbers(call.parameters), staging_.flags(window), staging_.mask(window)};
  if (call.gradient && !call.add) add(Fill{call.gradient.size, nullptr, arguments.gradient});
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    const Layer& layer = model_.layers()[k];
    // Kernels of all steps begin with zero by themselves.
    const bool from_zero = cells_[k].whole && !arguments.end_cotangent && arguments.first < arguments.last;
    tape.layers[k].carried = from_zero ? 0 : layer.cell->shape.states;
    if (!from_zero) {
      MoveStates move = move_states(k, window.batch, elements(window.batch, layer.hidden));
      move.to_planes = 1;
      move.from = arguments.end_cotangent ? arguments.end_cotangent + layer.state_offset : nullptr;
      move.to = tape.layers[k].carry.data();
      add(move);
    }
    if (arguments.gradient) begin_recurrent_gradient(pass, k);
  }
  const StagedLosses losses =
      call.losses ? staging_.losses(window, arguments.first, arguments.last, true) : StagedLosses();
  const bool slow = losses.entries > 0 && penalises(pass, model_.config().penalties.slowness);
  const float* differences = slow ? staging_.difference_factors(window) : nullptr;
  arguments.losses = losses.entries > 0 && pull_back_head(pass, losses, differences, arguments);
  for (int end = arguments.last; end > arguments.first;) {
    const int begin = std::max(arguments.first, end - tape.piece());
    pull_back_piece(pass, arguments, begin, end);
    end = begin;
  }
  if (differences && arguments.first > 0) pull_back_slowness_before(pass, differences, arguments.first);
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    const Layer& layer = model_.layers()[k];
    MoveStates move = move_states(k, window.batch, elements(window.batch, layer.hidden));
    move.from = tape.layers[k].carry.data();
    for (float* rows : {arguments.initial_cotangent, arguments.taps}) {
      if (!rows) continue;
      move.to = rows + layer.state_offset;
      add(move);
    }
    if (arguments.gradient) end_recurrent_gradient(pass, k, arguments.gradient);
  }
  if (call.tap_norms)
    add(RowNorms{(arguments.last - arguments.first + 1) * window.batch, model_.state_size(), arguments.taps,
                 change(call.tap_norms)});
  recorder_.end_call();
}

void CudaEngine::pull_back_piece(const Pass& pass, const PullBackArguments& arguments, int begin, int end) {
  const int places = (end - begin) * pass.window.batch;
  PieceSpace& space = pass.tape.space;
  for (std::size_t k = cells_.size(); k-- > 0;) {
    const Layer& layer = model_.layers()[k];
    pull_back_layer(pass, arguments, k, begin, end);
    if (arguments.gradient) add_layer_gradient(pass, k, begin, end, arguments.gradient);
    const bool first_wanted = arguments.gradient && (model_.encoder_weight >= 0 || model_.embedding >= 0);
    if (k == 0 && !first_wanted) break;
    LinearBackward back;
    back.rows = places;
    back.inputs = layer.inputs;
    back.outputs = layer.cell->shape.input_rows * layer.hidden;
    back.d_y = space.input_gates.data();
    back.weights = block(pass, layer.weight_ih);
    back.d_x = space.d_inputs.data();
    add(back);
    if (k > 0)
      apply_mask(pass, between_dropout(model_.config().dropout, static_cast<int>(k)), places, layer.inputs, begin,
                 nullptr, space.d_inputs.data());
    else
      add_input_gradient(pass, begin, end, arguments.gradient);
  }
}

void CudaEngine::pull_back_layer(const Pass& pass, const PullBackArguments& arguments, std::size_t k, int begin,
                                 int end) {
  const Layer& layer = model_.layers()[k];
  const int batch = pass.window.batch, size = model_.state_size();
  const bool top = k + 1 == cells_.size();
  const std::size_t at = elements(begin, batch, layer.hidden);
  LayerTape& tape = pass.tape.layers[k];
  PieceSpace& space = pass.tape.space;
  LayerBackward call;
  call.cell = cells_[k].cell;
  call.whole = cells_[k].whole ? 1 : 0;
  call.d_gated = space.gated.data();
  StepsBackward& steps = call.steps;
  steps.steps = end - begin;
  steps.batch = batch;
  steps.hidden = layer.hidden;
  steps.state_size = size;
  steps.options = layer.options;
  steps.recurrent_weights = recurrent_weights(pass, k);
  steps.flags = pass.flags ? pass.flags + elements(begin, batch) : nullptr;
  steps.states = tape.states.data() + at;
  steps.state_plane = tape.state_plane;
  steps.saved = tape.saved.data() + at;
  steps.saved_plane = tape.saved_plane;
  const std::size_t offset = elements(layer.state_offset);
  if (arguments.step_cotangents)
    steps.step_cotangents = arguments.step_cotangents + elements(begin, batch, size) + offset;
  if (arguments.taps) steps.taps = arguments.taps + elements(begin + 1 - arguments.first, batch, size) + offset;
  if (top && arguments.losses) steps.d_outputs = pass.tape.d_outputs.data() + at;
  if (!top) steps.from_above = space.d_inputs.data();
  steps.carry = tape.carry.data();
  steps.carried = std::exchange(tape.carried, layer.cell->shape.states);
  steps.d_input_gates = space.input_gates.data();
  steps.d_recurrent_gates = layer.cell->shape.joint ? nullptr : space.recurrent_gates.data();
  add(call);
}

void CudaEngine::add_layer_gradient(const Pass& pass, std::size_t k, int begin, int end, float* gradient) {
  const Layer& layer = model_.layers()[k];
  const CellShape& shape = layer.cell->shape;
  const int batch = pass.window.batch, places = (end - begin) * batch, hidden = layer.hidden;
  const int early = (shape.recurrent_rows - shape.late_rows) * hidden, late = shape.late_rows * hidden;
  LayerTape& tape = pass.tape.layers[k];
  PieceSpace& space = pass.tape.space;
  const float* d_input = space.input_gates.data();
  const float* d_recurrent = shape.joint ? d_input : space.recurrent_gates.data();
  const std::size_t at = elements(begin, batch, hidden);

  const bool own = tape.inputs.size() > 0 && (k == 0 || pass.tape.training);
  const float* x = own ? tape.inputs.data() + elements(begin, batch, layer.inputs)
                       : pass.tape.layers[k - 1].states.data() + elements(begin + 1, batch, layer.inputs);
  const int input_rows = shape.input_rows * hidden;
  float* d_second = shape.joint ? block_of(gradient, layer.bias_hh) : nullptr;
  if (layer.inputs <= most_narrow_inputs) {
    NarrowGradient narrow;
    narrow.rows = places;
    narrow.width = input_rows;
    narrow.inputs = layer.inputs;
    narrow.d_y = d_input;
    narrow.x = x;
    narrow.partial = space.columns.data();
    narrow.d_weights = block_of(gradient, layer.weight_ih);
    narrow.d_bias = block_of(gradient, layer.bias_ih);
    narrow.d_second = d_second;
    add(narrow);
  } else {
    add_gradient(pass.tape, places, layer.inputs, input_rows, d_input, 0, x, block_of(gradient, layer.weight_ih));
    add_bias_gradient(pass.tape, places, input_rows, d_input, 0, block_of(gradient, layer.bias_ih), d_second);
  }
  if (!shape.joint)
    add_bias_gradient(pass.tape, places, shape.recurrent_rows * hidden, d_recurrent, 0,
                      block_of(gradient, layer.bias_hh));
  float* d_weights = d_recurrent_weights(pass, k, gradient);
  if (early > 0) {
    const float* before = tape.states.data() + at;
    if (pass.flags) {
      add(ZeroResets{places, hidden, pass.flags + elements(begin, batch), before, space.before.data()});
      before = space.before.data();
    }
    add_gradient(pass.tape, places, hidden, early, d_recurrent, early + late, before, d_weights);
  }
  if (late > 0)
    add_gradient(pass.tape, places, hidden, late, d_recurrent + early, early + late,
                 tape.saved.data() + elements(shape.gated) * tape.saved_plane + at,
                 d_weights + elements(early, hidden));
}

void CudaEngine::add_input_gradient(const Pass& pass, int begin, int end, float* gradient) {
  const InputConfig& input = model_.config().input;
  const int places = (end - begin) * pass.window.batch;
  PieceSpace& space = pass.tape.space;
  float* d_x = space.d_inputs.data();
  apply_mask(pass, input_dropout(model_.config().dropout), places, model_.inputs(), begin, nullptr, d_x);
  if (model_.encoder_weight >= 0) {
    const float* raw = pass.tape.raw.data() + elements(begin, pass.window.batch, model_.raw_inputs());
    add_gradient(pass.tape, places, model_.raw_inputs(), model_.inputs(), d_x, 0, raw,
                 block_of(gradient, model_.encoder_weight));
    add_bias_gradient(pass.tape, places, model_.inputs(), d_x, 0, block_of(gradient, model_.encoder_bias));
    if (model_.embedding < 0) return;
    LinearBackward back;
    back.rows = places;
    back.inputs = model_.raw_inputs();
    back.outputs = model_.inputs();
    back.d_y = d_x;
    back.weights = block(pass, model_.encoder_weight);
    back.d_x = space.d_raw.data();
    add(back);
    d_x = space.d_raw.data();
  }
  if (model_.embedding < 0) return;
  AddSortedRows sum = staging_.tokens(pass.window, begin, end);
  sum.width = input.embedding;
  sum.stride = model_.raw_inputs();
  sum.rows = d_x;
  sum.table = block_of(gradient, model_.embedding);
  sum.mask = token_mask(pass);
  add(sum);
}

}  // namespace throughtime::cuda
