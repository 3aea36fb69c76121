#include "cells/row_steps.h"

#include <string_view>

namespace throughtime {

RowKernels lstm_rows();
RowKernels gru_rows();
RowKernels rnn_tanh_rows();
RowKernels rnn_relu_rows();
RowKernels rnn_logistic_rows();
RowKernels rnn_linear_rows();

RowKernels row_kernels(const CellType& cell) {
  struct Row {
    std::string_view cell;
    RowKernels (*rows)();
  };
  static constexpr Row table[] = {{"lstm", lstm_rows},
                                  {"gru", gru_rows},
                                  {"rnn_tanh", rnn_tanh_rows},
                                  {"rnn_relu", rnn_relu_rows},
                                  {"rnn_logistic", rnn_logistic_rows},
                                  {"rnn_linear", rnn_linear_rows}};
  for (const Row& row : table)
    if (row.cell == cell.name) return row.rows();
  return {};
}

}  // namespace throughtime
