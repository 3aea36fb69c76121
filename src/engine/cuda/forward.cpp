#include <algorithm>

#include "engine/checks.h"
#include "engine/cuda/engine_class.h"
#include "engine/cuda/kernels/inputs.h"
#include "engine/cuda/kernels/vectors.h"
#include "engine/cuda/steps.h"
#include "engine/dropout.h"
#include "throughtime/index.h"

namespace throughtime::cuda {

void CudaEngine::unroll(const UnrollCall& call) {
  check_unroll(model_, call);
  CudaTape& tape = own_tape("unroll", call.tape);
  const Window& window = call.window;
  const PenaltyConfig& penalties = model_.config().penalties;
  const bool penalised = call.training && penalties.any();
  const UnrollOutputs out{change_or_null(call.losses),
                          change_or_null(call.loss_sum),
                          change_or_null(call.correct_sum),
                          penalised ? change_or_null(call.penalties) : nullptr,
                          change_or_null(call.predictions),
                          change_or_null(call.states),
                          call.state_steps};
  recorder_.begin_call(staging_.bytes_of(window));
  tape.unrolled = window.steps;
  tape.training = call.training;
  tape.kept_places.clear();
  tape.parameters = call.parameters.id;
  tape.version = slot(call.parameters).version;
  const Pass pass{window, tape, numbers(call.parameters), staging_.flags(window), staging_.mask(window)};
  const StagedInputs inputs = staging_.inputs(window);
  const bool heads = out.heads();
  const StagedLosses losses = heads ? staging_.losses(window, 0, window.steps, out.scored()) : StagedLosses();
  const bool kept = tape.shape().keep != Keep::nothing;
  const float* differences = out.penalties && penalties.slowness > 0 ? staging_.difference_factors(window) : nullptr;

  map_weights(pass);
  const float* initial = numbers_or_null(call.initial_state);
  float* final_state = change_or_null(call.final_state);
  load_states(pass, initial);
  if (out.losses) add(Fill{elements(window.steps, window.batch), nullptr, out.losses});
  if (out.predictions) add(Fill{elements(window.steps, window.batch, model_.outputs()), nullptr, out.predictions});
  for (int begin = 0; begin < window.steps; begin += tape.piece()) {
    const int end = std::min(begin + tape.piece(), window.steps);
    forward_piece(pass, inputs, begin, end, begin == 0 ? initial : nullptr,
                  end == window.steps ? final_state : nullptr);
    hand_out_states(pass, begin, end, out);
    if (heads && !kept) evaluate_head(pass, losses, begin, end, begin, out);
    if (differences) sum_slowness(pass, differences, begin, end, out.penalties + 1);
    if (kept || end == window.steps) continue;
    for (std::size_t k = 0; k < cells_.size(); ++k)  // the next piece begins where this one ended
      for (int tensor = 0; tensor < model_.layers()[k].cell->shape.states; ++tensor) {
        LayerTape& layer = tape.layers[k];
        float* plane = layer.states.data() + elements(tensor) * layer.state_plane;
        const std::size_t slot = elements(window.batch, model_.layers()[k].hidden);
        add(Copy{slot, plane + elements(end - begin) * slot, plane});
      }
  }
  if (heads && kept) evaluate_head(pass, losses, 0, window.steps, 0, out);
  if (final_state) {
    const int last_begin = (window.steps - 1) / tape.piece() * tape.piece();
    for (std::size_t k = 0; k < cells_.size(); ++k)
      if (!cells_[k].whole) store_state(pass, k, tape.slot(window.steps, last_begin), final_state);
  }
  recorder_.end_call();
}

/// Of the layers that do not take them from the rows themselves.
void CudaEngine::load_states(const Pass& pass, const float* initial) {
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    if (cells_[k].whole) continue;
    LayerTape& tape = pass.tape.layers[k];
    MoveStates move = move_states(k, pass.window.batch, tape.state_plane);
    move.to_planes = 1;
    move.from = initial ? initial + model_.layers()[k].state_offset : nullptr;
    move.to = tape.states.data();
    add(move);
  }
}

void CudaEngine::store_state(const Pass& pass, std::size_t k, int slot, float* rows) {
  const Layer& layer = model_.layers()[k];
  const LayerTape& tape = pass.tape.layers[k];
  MoveStates move = move_states(k, pass.window.batch, tape.state_plane);
  move.from = tape.states.data() + elements(slot, pass.window.batch, layer.hidden);
  move.to = rows + layer.state_offset;
  add(move);
}

void CudaEngine::hand_out_states(const Pass& pass, int begin, int end, const UnrollOutputs& out) {
  const std::size_t size = elements(pass.window.batch, model_.state_size());
  for (std::size_t i = 0; i < out.state_steps.size(); ++i) {
    const int step = out.state_steps[i];
    // The state after a piece's last step is handed out with it, the one before the first step with the first piece.
    if ((step > begin || (step == 0 && begin == 0)) && step <= end)
      for (std::size_t k = 0; k < cells_.size(); ++k)
        store_state(pass, k, pass.tape.slot(step, begin), out.states + i * size);
  }
}

void CudaEngine::forward_piece(const Pass& pass, const StagedInputs& inputs, int begin, int end, const float* initial,
                               float* final_state) {
  first_input(pass, inputs, begin, end);
  for (std::size_t k = 0; k < cells_.size(); ++k)
    forward_layer(pass, k, layer_input(pass, k, begin, end), begin, end, initial, final_state);
}

void CudaEngine::first_input(const Pass& pass, const StagedInputs& inputs, int begin, int end) {
  const InputConfig& input = model_.config().input;
  const int batch = pass.window.batch, places = (end - begin) * batch;
  const std::size_t slot = elements(pass.tape.slot(begin, begin), batch), place = elements(begin, batch);
  float* x = pass.tape.layers[0].inputs.data() + slot * elements(model_.inputs());
  const bool encoded = model_.encoder_weight >= 0;
  GatherInputs gather;
  gather.places = places;
  gather.vocabulary = input.vocabulary;
  gather.embedding = input.tokens == TokenInput::embedding ? input.embedding : 0;
  gather.reals = input.reals;
  gather.table = block(pass, model_.embedding);
  gather.tokens = inputs.tokens ? inputs.tokens + place : nullptr;
  gather.values = inputs.values ? inputs.values + place * elements(input.reals) : nullptr;
  gather.x = encoded ? pass.tape.raw.data() + slot * elements(model_.raw_inputs()) : x;
  add(gather);
  if (const TokenMask mask = token_mask(pass); mask.numbers) {
    MaskTokens tokens{mask};
    tokens.entries = places;
    tokens.width = input.embedding;
    tokens.stride = model_.raw_inputs();
    tokens.tokens = gather.tokens;
    tokens.values = gather.x;
    add(tokens);
  }
  if (encoded)
    linear(pass, places, model_.raw_inputs(), model_.inputs(), gather.x, model_.encoder_weight, model_.encoder_bias, x);
  apply_mask(pass, input_dropout(model_.config().dropout), places, model_.inputs(), begin, nullptr, x);
}

const float* CudaEngine::layer_input(const Pass& pass, std::size_t k, int begin, int end) {
  const Layer& layer = model_.layers()[k];
  const int batch = pass.window.batch, slot = pass.tape.slot(begin, begin);
  LayerTape& tape = pass.tape.layers[k];
  const std::size_t at = elements(slot, batch, layer.inputs);
  if (k == 0) return tape.inputs.data() + at;
  // The state after each step of the layer below.
  const float* below = pass.tape.layers[k - 1].states.data() + elements(slot + 1, batch, layer.inputs);
  if (tape.inputs.size() == 0 || !pass.tape.training) return below;
  const int places = (end - begin) * batch;
  add(Copy{elements(places, layer.inputs), below, tape.inputs.data() + at});
  apply_mask(pass, between_dropout(model_.config().dropout, static_cast<int>(k)), places, layer.inputs, begin, nullptr,
             tape.inputs.data() + at);
  return tape.inputs.data() + at;
}

void CudaEngine::forward_layer(const Pass& pass, std::size_t k, const float* x, int begin, int end,
                               const float* initial, float* final_state) {
  const Layer& layer = model_.layers()[k];
  const CellShape& shape = layer.cell->shape;
  const int batch = pass.window.batch, steps = end - begin;
  const std::size_t slot = elements(pass.tape.slot(begin, begin), batch, layer.hidden);
  LayerTape& tape = pass.tape.layers[k];
  LayerForward call;
  call.cell = cells_[k].cell;
  call.whole = cells_[k].whole ? 1 : 0;
  call.products = pass.tape.space.products.data();
  call.steps.steps = steps;
  call.steps.batch = batch;
  call.steps.hidden = layer.hidden;
  call.steps.inputs = layer.inputs;
  call.steps.options = layer.options;
  call.steps.recurrent_weights = recurrent_weights(pass, k);
  call.steps.recurrent_bias = block(pass, layer.bias_hh);
  call.steps.flags = pass.flags ? pass.flags + elements(begin, batch) : nullptr;
  call.steps.states = tape.states.data() + slot;
  call.steps.state_plane = tape.state_plane;
  if (call.whole) {
    call.steps.state_size = model_.state_size();
    call.steps.begins = begin == 0 ? 1 : 0;
    call.steps.initial = initial ? initial + layer.state_offset : nullptr;
    call.steps.final_state = final_state ? final_state + layer.state_offset : nullptr;
  }
  call.steps.saved = tape.saved.size() > 0 ? tape.saved.data() + slot : nullptr;
  call.steps.saved_plane = tape.saved_plane;
  if (call.whole) call.steps.input_bias = block(pass, layer.bias_ih);
  if (call.whole && layer.inputs <= most_fused_inputs) {
    call.steps.x = x;
    call.steps.input_weights = block(pass, layer.weight_ih);
  } else if (call.whole) {
    linear(pass, steps * batch, layer.inputs, shape.input_rows * layer.hidden, x, layer.weight_ih, -1,
           pass.tape.space.input_gates.data());
    call.steps.input_gates = pass.tape.space.input_gates.data();
  } else {
    linear(pass, steps * batch, layer.inputs, shape.input_rows * layer.hidden, x, layer.weight_ih, layer.bias_ih,
           pass.tape.space.input_gates.data(), 0, shape.joint ? layer.bias_hh : -1);
    call.steps.input_gates = pass.tape.space.input_gates.data();
    if (shape.joint) call.steps.recurrent_bias = nullptr;
  }
  add(call);
}

}  // namespace throughtime::cuda
