// What both directions share: blocks of parameters, linear layers and their gradients, masks.
#include "engine/cuda/engine_class.h"
#include "engine/cuda/kernels/few_outputs.h"
#include "engine/cuda/kernels/inputs.h"
#include "engine/cuda/products.h"
#include "engine/dropout.h"
#include "throughtime/index.h"

namespace throughtime::cuda {

const float* CudaEngine::block(const Pass& pass, int index) const {
  return index < 0 ? nullptr : pass.parameters + model_.parameters().block(index).offset;
}

float* CudaEngine::block_of(float* gradient, int index) const {
  return index < 0 || !gradient ? nullptr : gradient + model_.parameters().block(index).offset;
}

MoveStates CudaEngine::move_states(std::size_t k, int batch, std::size_t plane) const {
  const Layer& layer = model_.layers()[k];
  MoveStates move;
  move.batch = batch;
  move.hidden = layer.hidden;
  move.tensors = layer.cell->shape.states;
  move.state_size = model_.state_size();
  move.plane = plane;
  return move;
}

TokenMask CudaEngine::token_mask(const Pass& pass) const {
  const DropoutSite site = embedding_dropout(model_.config().dropout);
  if (!pass.tape.training || !site.active()) return {};
  return {static_cast<std::uint32_t>(site.purpose), site.layer, site.share, pass.mask};
}

void CudaEngine::apply_mask(const Pass& pass, const DropoutSite& site, int entries, int width, int first_step,
                            const std::int32_t* places, float* values, bool always, int stride) {
  if (!(pass.tape.training || always) || !site.active()) return;
  ApplyMask mask;
  mask.entries = entries;
  mask.width = width;
  mask.batch = pass.window.batch;
  mask.stride = stride;
  mask.purpose = static_cast<std::uint32_t>(site.purpose);
  mask.layer = site.layer;
  mask.share = site.share;
  mask.per_sequence = model_.config().dropout.per_sequence ? 1 : 0;
  mask.first_step = first_step;
  mask.numbers = pass.mask;
  mask.places = places;
  mask.values = values;
  add(mask);
}

void CudaEngine::linear(const Pass& pass, int rows, int inputs, int outputs, const float* x, int weight, int bias,
                        float* y, int y_stride, int second_bias) {
  if (outputs <= most_few_outputs) {
    FewOutputs few;
    few.rows = rows;
    few.inputs = inputs;
    few.outputs = outputs;
    few.y_stride = y_stride > 0 ? y_stride : outputs;
    few.x = x;
    few.weights = block(pass, weight);
    few.bias = block(pass, bias);
    few.second = block(pass, second_bias);
    few.y = y;
    return add(few);
  }
  LinearForward product;
  if (bias >= 0 || second_bias >= 0) {
    SpreadBias spread;
    spread.rows = elements(rows);
    spread.width = outputs;
    spread.stride = y_stride;
    spread.bias = block(pass, bias >= 0 ? bias : second_bias);
    spread.second = bias >= 0 ? block(pass, second_bias) : nullptr;
    spread.to = y;
    add(spread);
    product.add = 1;
  }
  product.rows = rows;
  product.inputs = inputs;
  product.outputs = outputs;
  product.y_stride = y_stride;
  product.x = x;
  product.weights = block(pass, weight);
  product.y = y;
  add(product);
}

void CudaEngine::add_gradient(CudaTape& tape, int rows, int inputs, int outputs, const float* d_y, int d_y_stride,
                              const float* x, float* d_weights) {
  LinearGradient gradient;
  gradient.rows = rows;
  gradient.inputs = inputs;
  gradient.outputs = outputs;
  gradient.d_y_stride = d_y_stride;
  gradient.d_y = d_y;
  gradient.x = x;
  gradient.parts = tape.space.parts.data();
  gradient.d_weights = d_weights;
  add(gradient);
}

void CudaEngine::add_bias_gradient(CudaTape& tape, int rows, int outputs, const float* d_y, int stride, float* d_bias,
                                   float* d_second) {
  if (!d_bias) std::swap(d_bias, d_second);
  if (!d_bias) return;
  SumRows sum;
  sum.rows = rows;
  sum.width = outputs;
  sum.stride = stride;
  sum.from = d_y;
  sum.partial = tape.space.columns.data();
  sum.to = d_bias;
  sum.second = d_second;
  add(sum);
}

}  // namespace throughtime::cuda
