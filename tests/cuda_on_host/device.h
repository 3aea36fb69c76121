// A GPU that is this host: memory of the device is memory, a kernel is a loop over its body. With the files of this
// folder in place of the CUDA runtime, of cuBLAS and of the .cu files, the engine's own code (src/engine/cuda/*.cpp)
// runs where there is no GPU: which kernel is called when, with which sizes, strides and buffers, in lists and graphs.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <vector>

#include "engine/cuda/context.h"
#include "engine/cuda/kernels/group.h"
#include "throughtime/index.h"

using Work = std::vector<std::function<void()>>;

/// A stream does what it is asked for at once, unless it is captured.
struct CUstream_st {
  Work* captured = nullptr;
};

namespace throughtime::cuda {

template <class Action>
void enqueue(const Context& context, Action action) {
  if (Work* captured = context.stream->captured)
    captured->push_back(action);
  else
    action();
}

/// The loops that launch_elements, launch_cells and launch_groups are on a device.
template <class Call>
void each_element(const Context& context, const Call& call, std::size_t count) {
  enqueue(context, [=] {
    for (std::size_t i = 0; i < count; ++i) write_element(call, i);
  });
}
template <class Call>
void each_cell(const Context& context, const Call& call, std::size_t rows, int width) {
  enqueue(context, [=] {
    for (std::size_t row = 0; row < rows; ++row)
      for (int column = 0; column < width; ++column) write_cell(call, row, column);
  });
}
template <class Call>
void each_row(const Context& context, const Call& call, std::size_t rows) {
  enqueue(context, [=] {
    for (std::size_t row = 0; row < rows; ++row) work_on_row(OneLane(), call, row);
  });
}

}  // namespace throughtime::cuda
