// The penalties on outputs: engine/penalties.h says what they are.
#include "engine/cuda/kernels/penalties.h"

#include "engine/cuda/engine_class.h"
#include "engine/cuda/head_rows.h"
#include "throughtime/index.h"

namespace throughtime::cuda {

void CudaEngine::sum_activation(const Pass& pass, const HeadRows& rows, const float* features, float* sum) {
  RowSquares squares;
  squares.entries = rows.count;
  squares.width = model_.top_hidden();
  squares.scale = model_.config().penalties.activation / model_.top_hidden();
  squares.a = features;
  squares.sums = pass.tape.head.losses.data();  // which have been added up
  add(squares);
  add(AddSum{rows.count, squares.sums, rows.weights(), sum});
}

void CudaEngine::pull_back_activation(const Pass&, const HeadRows& rows, const float* features, float* d_features) {
  AddWeighedRows back;
  back.entries = rows.count;
  back.width = model_.top_hidden();
  back.scale = 2 * model_.config().penalties.activation / model_.top_hidden();
  back.factors = rows.weights();
  back.from = features;
  back.to = d_features;
  add(back);
}

void CudaEngine::sum_slowness(const Pass& pass, const float* factors, int begin, int end, float* sum) {
  const int batch = pass.window.batch, hidden = model_.top_hidden();
  RowSquares squares;
  squares.entries = (end - begin) * batch;
  squares.width = hidden;
  squares.factors = factors + elements(begin, batch);
  squares.b = pass.tape.layers.back().states.data() + elements(pass.tape.slot(begin, begin), batch, hidden);
  squares.a = squares.b + elements(batch, hidden);
  squares.sums = pass.tape.space.differences.data();
  add(squares);
  add(AddSum{squares.entries, squares.sums, nullptr, sum});
}

void CudaEngine::pull_back_slowness(const Pass& pass, const float* factors, int first, int last) {
  const int batch = pass.window.batch, hidden = model_.top_hidden();
  PullDifferences back;
  back.steps = last - first;
  back.batch = batch;
  back.hidden = hidden;
  back.behind = back.steps - 1;
  back.factors = factors + elements(first, batch);
  back.states = pass.tape.layers.back().states.data() + elements(first, batch, hidden);
  back.to = pass.tape.d_outputs.data() + elements(first, batch, hidden);
  add(back);
}

void CudaEngine::pull_back_slowness_before(const Pass& pass, const float* factors, int first) {
  const int batch = pass.window.batch, hidden = model_.top_hidden();
  PullDifferences back;
  back.steps = back.behind = 1;
  back.batch = batch;
  back.hidden = hidden;
  back.own = 0;
  back.factors = factors + elements(first - 1, batch);
  back.states = pass.tape.layers.back().states.data() + elements(first - 1, batch, hidden);
  back.to = pass.tape.layers.back().carry.data();
  add(back);
}

}  // namespace throughtime::cuda
