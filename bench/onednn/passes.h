#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <vector>

#include "bench/case.h"

namespace throughtime::bench {

/// What oneDNN calls a cell of ours.
struct OnednnCell {
  std::string_view name;  // ours
  int gates = 1;
  int biases = 1;          // blocks of H: gru has one more, for the part behind the reset gate
  bool memory = false;     // c beside h
  std::vector<int> order;  // our gate for each of its gates
  dnnl::algorithm activation = dnnl::algorithm::undef;
};

/// Null where it has no such cell.
const OnednnCell* find_onednn_cell(std::string_view name);

/// The forward and the backward primitive of a window of so many steps, and the layouts that they want.
struct Passes {
  using Desc = dnnl::memory::desc;
  dnnl::primitive forward, backward;
  Desc layer, iteration;            // weights, forward
  Desc back_layer, back_iteration;  // weights, backward
  Desc layer_gradient, iteration_gradient, bias_gradient;
  Desc workspace;
};

/// Plain layouts: those in which the caller holds inputs, outputs, states and parameters.
struct PlainLayouts {
  using Desc = dnnl::memory::desc;
  PlainLayouts(const OnednnCell& cell, const Case& chosen, int steps);
  Desc input;             // [steps, B, D]
  Desc output;            // [steps, B, H]
  Desc state;             // [1, 1, B, H]
  Desc layer, iteration;  // [1, 1, D or H, gates, H]
  Desc bias;              // [1, 1, biases, H]
};

/// Windows take a state and hand one on, always: without a first state oneDNN 2.6 takes another one than zeros for it
/// in the gradient of the recurrent weights.
Passes make_passes(const OnednnCell& cell, const Case& chosen, int steps, const dnnl::engine& engine);

}  // namespace throughtime::bench
