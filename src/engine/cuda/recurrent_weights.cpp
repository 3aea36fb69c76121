// The recurrent weights that a window multiplies with, and the way of their gradient back to the raw block.
#include "engine/cuda/engine_class.h"
#include "engine/cuda/kernels/inputs.h"

namespace throughtime::cuda {

const float* CudaEngine::recurrent_weights(const Pass& pass, std::size_t k) const {
  const LayerTape& tape = pass.tape.layers[k];
  return tape.effective.size() > 0 ? tape.effective.data() : raw_weights(pass, k);
}

bool CudaEngine::drops_weights(const Pass& pass, std::size_t k) {
  return pass.tape.training && pass.tape.layers[k].dropped.size() > 0;
}

const float* CudaEngine::raw_weights(const Pass& pass, std::size_t k) const {
  return drops_weights(pass, k) ? pass.tape.layers[k].dropped.data() : block(pass, model_.layers()[k].weight_hh);
}

void CudaEngine::drop_weights(const Pass& pass, std::size_t k, const float* from, const float* base, float* to) {
  const DropoutSite site = recurrent_dropout(model_.config().dropout, static_cast<int>(k));
  DropWeights drop;
  drop.count = model_.parameters().block(model_.layers()[k].weight_hh).size();
  drop.purpose = static_cast<std::uint32_t>(site.purpose);
  drop.layer = site.layer;
  drop.share = site.share;
  drop.numbers = pass.mask;
  drop.from = from;
  drop.base = base;
  drop.to = to;
  add(drop);
}

void CudaEngine::map_weights(const Pass& pass) {
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    LayerTape& tape = pass.tape.layers[k];
    if (drops_weights(pass, k))
      drop_weights(pass, k, block(pass, model_.layers()[k].weight_hh), nullptr, tape.dropped.data());
    if (tape.effective.size() > 0) add(weight_map(k, 0, raw_weights(pass, k), tape.effective.data()));
  }
}

MapWeights CudaEngine::weight_map(std::size_t k, int adjoint, const float* from, float* to) const {
  const Layer& layer = model_.layers()[k];
  MapWeights map;
  map.cell = cells_[k].cell;
  map.options = layer.options;
  map.hidden = layer.hidden;
  map.adjoint = adjoint;
  map.from = from;
  map.to = to;
  return map;
}

float* CudaEngine::d_recurrent_weights(const Pass& pass, std::size_t k, float* gradient) const {
  LayerTape& tape = pass.tape.layers[k];
  return tape.d_effective.size() > 0 ? tape.d_effective.data() : d_raw_weights(pass, k, gradient);
}

float* CudaEngine::d_raw_weights(const Pass& pass, std::size_t k, float* gradient) const {
  return drops_weights(pass, k) ? pass.tape.layers[k].d_dropped.data()
                                : block_of(gradient, model_.layers()[k].weight_hh);
}

void CudaEngine::begin_recurrent_gradient(const Pass& pass, std::size_t k) {
  LayerTape& tape = pass.tape.layers[k];
  if (tape.d_effective.size() > 0) add(Fill{tape.d_effective.size(), nullptr, tape.d_effective.data()});
  if (drops_weights(pass, k)) add(Fill{tape.d_dropped.size(), nullptr, tape.d_dropped.data()});
}

void CudaEngine::end_recurrent_gradient(const Pass& pass, std::size_t k, float* gradient) {
  LayerTape& tape = pass.tape.layers[k];
  if (tape.d_effective.size() > 0) add(weight_map(k, 1, tape.d_effective.data(), d_raw_weights(pass, k, gradient)));
  float* block = block_of(gradient, model_.layers()[k].weight_hh);
  if (drops_weights(pass, k)) drop_weights(pass, k, tape.d_dropped.data(), block, block);
}

}  // namespace throughtime::cuda
