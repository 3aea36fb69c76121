// The operations of src/engine/cuda/kernels as loops: over the bodies that the kernels call too, or, for those whose
// threads work together (sums, products of few rows or outputs), as they are defined.
// Compiled alone, for formulas mean floats here (no HWY_TARGET_INCLUDE).
#define THROUGHTIME_NUMBERS "engine/cuda/numbers.h"

#include <cstring>

#include "cuda_on_host/device.h"
#include "engine/cuda/kernels/few_outputs.h"
#include "engine/cuda/kernels/heads_body.h"
#include "engine/cuda/kernels/inputs_body.h"
#include "engine/cuda/kernels/mixture_body.h"
#include "engine/cuda/kernels/narrow.h"
#include "engine/cuda/kernels/penalties_body.h"
#include "engine/cuda/kernels/thin.h"
#include "engine/cuda/kernels/vectors_body.h"

namespace throughtime::cuda {

int quads(int width) { return (width + 3) / 4; }

// ---- inputs.h

void issue(const Context& context, const GatherInputs& call) {
  each_cell(context, call, elements(call.places), token_width(call) + call.reals);
}
void issue(const Context& context, const ApplyMask& call) {
  each_cell(context, make_mask_plan(call), elements(call.entries), quads(call.width));
}
void issue(const Context& context, const MaskTokens& call) {
  each_cell(context, make_mask_plan(call), elements(call.entries), quads(call.width));
}
void issue(const Context& context, const DropWeights& call) {
  each_element(context, make_mask_plan(call), (call.count + 3) / 4);
}
void issue(const Context& context, const ZeroResets& call) {
  each_cell(context, call, elements(call.places), call.hidden);
}
void issue(const Context& context, const MoveStates& call) {
  each_cell(context, call, elements(call.tensors, call.batch), call.hidden);
}
void issue(const Context& context, const SpreadBias& call) { each_cell(context, call, call.rows, call.width); }
void issue(const Context& context, const SumParts& call) { each_element(context, call, call.count); }
void issue(const Context& context, const RowNorms& call) { each_row(context, call, elements(call.entries)); }

void issue(const Context& context, const AddSortedRows& call) {
  enqueue(context, [call, mask = make_mask_plan(call.mask)] {
    for (int s = 0; s < *call.segments; ++s) {
      const float factor = call.mask.numbers ? token_factor(mask, call.target[s]) : 1.0f;
      for (int column = 0; column < call.width; ++column) {
        double sum = 0;
        for (int i = call.begin[s]; i < call.begin[s + 1]; ++i)
          sum += call.rows[elements(call.order[i], call.stride) + elements(column)];
        call.table[elements(call.target[s], call.width) + elements(column)] += factor * static_cast<float>(sum);
      }
    }
  });
}

void issue(const Context& context, const SumRows& call) {
  enqueue(context, [=] {
    for (int column = 0; column < call.width; ++column) {
      double sum = 0;
      for (int row = 0; row < call.rows; ++row)
        sum += call.from[elements(row, call.stride ? call.stride : call.width) + elements(column)];
      call.to[column] += static_cast<float>(sum);
      if (call.second) call.second[column] += static_cast<float>(sum);
    }
  });
}

// ---- vectors.h

void issue(const Context& context, const Fill& call) { each_element(context, stream_of(call), call.count); }
void issue(const Context& context, const Copy& call) { each_element(context, stream_of(call), call.count); }
void issue(const Context& context, const Scale& call) { each_element(context, stream_of(call), call.count); }
void issue(const Context& context, const Axpy& call) { each_element(context, stream_of(call), call.count); }
void issue(const Context& context, const MoveRows& call) {
  each_cell(context, call, elements(call.entries), call.width);
}
void issue(const Context& context, const Dot& call) {
  enqueue(context, [=] {
    double sum = 0;
    for (std::size_t i = 0; i < call.count; ++i) sum += static_cast<double>(call.x[i]) * call.y[i];
    *call.result = static_cast<float>(sum);
  });
}

// ---- heads.h

void issue(const Context& context, const MovePlaces& call) {
  each_cell(context, call, elements(call.entries), call.width);
}
void issue(const Context& context, const AddSum& call) {
  enqueue(context, [=] {
    double sum = 0;
    for (int i = 0; i < call.entries; ++i)
      sum += static_cast<double>(call.a[i]) * (call.weights ? call.weights[i] : 1.0f);
    *call.sum = static_cast<float>(*call.sum + sum);
  });
}

template <class Head>
constexpr DeviceHead head_of_rows = {[](const Context& context, const HeadLoss& call) {
                                       enqueue(context, [=] {
                                         for (std::size_t row = 0; row < elements(call.entries); ++row)
                                           Head::loss(OneLane(), call, row, nullptr);
                                       });
                                     },
                                     [](const Context& context, const HeadPredict& call) {
                                       enqueue(context, [=] {
                                         for (std::size_t row = 0; row < elements(call.entries); ++row)
                                           Head::predict(OneLane(), call, row, nullptr);
                                       });
                                     }};
constexpr DeviceHead mixture_head = {nullptr, nullptr, &mixture_of_softmaxes_branches};

const DeviceHead* find_device_head(const char* name) {
  struct Row {
    const char* name;
    const DeviceHead* head;
  };
  constexpr Row heads[] = {
      {"softmax", &head_of_rows<DeviceSoftmax<true>>},
      {"regression", &head_of_rows<DeviceSeparable<SquaredError>>},
      {"bernoulli", &head_of_rows<DeviceSeparable<NegativeLogLikelihood>>},
      {"point_process", &head_of_rows<DevicePointProcess>},
      {"quantile", &head_of_rows<DeviceQuantile>},
      {"gaussian", &head_of_rows<DeviceGaussian>},
      {"mixture_of_softmaxes", &mixture_head},
  };
  for (const Row& row : heads)
    if (std::strcmp(row.name, name) == 0) return row.head;
  return nullptr;
}

// ---- mixture.h, penalties.h

void issue(const Context& context, const WeighExperts& call) { each_row(context, call, elements(call.rows.entries)); }
void issue(const Context& context, const SpreadExperts& call) {
  each_cell(context, call, elements(call.rows.entries), call.rows.branches * call.rows.width);
}
void issue(const Context& context, const CollectExperts& call) {
  each_cell(context, call, elements(call.rows.entries), call.rows.branches * call.rows.width);
}
void issue(const Context& context, const MeasureExperts& call) { each_row(context, call, rows_of_experts(call.rows)); }
void issue(const Context& context, const MixExperts& mix) {
  each_cell(context, mix, elements(mix.call.rows.entries), mix.call.rows.outputs);
}
void issue(const Context& context, const MixPredictions& mix) {
  each_cell(context, mix, elements(mix.call.rows.entries), mix.call.rows.outputs);
}
void issue(const Context& context, const SettleRow& settle) {
  each_row(context, settle, elements(settle.call.rows.entries));
}
void issue(const Context& context, const SettleExpert& settle) {
  each_row(context, settle, rows_of_experts(settle.call.rows));
}
void issue(const Context& context, const PullBackExperts& back) {
  each_cell(context, back, rows_of_experts(back.call.rows), back.call.rows.outputs);
}

void issue(const Context& context, const RowSquares& call) { each_row(context, call, elements(call.entries)); }
void issue(const Context& context, const AddWeighedRows& call) {
  each_cell(context, call, elements(call.entries), call.width);
}
void issue(const Context& context, const PullDifferences& call) {
  each_cell(context, call, elements(call.steps, call.batch), call.hidden);
}

// ---- linear layers with few outputs or inputs; of few rows nothing is special here

void issue(const Context& context, const FewOutputs& call) {
  enqueue(context, [=] {
    for (int row = 0; row < call.rows; ++row)
      for (int o = 0; o < call.outputs; ++o) {
        double sum = (call.bias ? call.bias[o] : 0.0) + (call.second ? call.second[o] : 0.0);
        for (int i = 0; i < call.inputs; ++i)
          sum +=
              static_cast<double>(call.weights[o * call.inputs + i]) * call.x[elements(row, call.inputs) + elements(i)];
        call.y[elements(row, call.y_stride) + elements(o)] = static_cast<float>(sum);
      }
  });
}

void issue(const Context& context, const FewOutputsBackward& call) {
  enqueue(context, [=] {
    for (int row = 0; row < call.rows; ++row) {
      const float* d_y = call.d_y + elements(row, call.d_y_stride);
      for (int o = 0; o < call.outputs && call.d_weights; ++o) {
        if (call.d_bias) call.d_bias[o] += d_y[o];
        for (int i = 0; i < call.inputs; ++i)
          call.d_weights[o * call.inputs + i] += d_y[o] * call.x[elements(row, call.inputs) + elements(i)];
      }
      for (int i = 0; i < call.inputs; ++i) {
        float& d_x = call.d_x[elements(row, call.inputs) + elements(i)];
        double sum = call.add ? d_x : 0.0;
        for (int o = 0; o < call.outputs; ++o) sum += static_cast<double>(d_y[o]) * call.weights[o * call.inputs + i];
        d_x = static_cast<float>(sum);
      }
    }
  });
}

void issue(const Context& context, const NarrowGradient& call) {
  enqueue(context, [=] {
    for (int column = 0; column < call.width; ++column)
      for (int row = 0; row < call.rows; ++row) {
        const float d_y = call.d_y[elements(row, call.width) + elements(column)];
        for (int i = 0; i < call.inputs; ++i)
          call.d_weights[column * call.inputs + i] += d_y * call.x[elements(row, call.inputs) + elements(i)];
        if (call.d_bias) call.d_bias[column] += d_y;
        if (call.d_second) call.d_second[column] += d_y;
      }
  });
}

bool is_thin(int, int, int) { return false; }
void issue_thin(const Context&, const LinearForward&) {}
void issue_thin(const Context&, const LinearBackward&) {}

}  // namespace throughtime::cuda
