#include "engine/cuda/cells/registry.h"

namespace throughtime::cuda {

const DeviceCell* lstm_device_cell();
const DeviceCell* gru_device_cell();
const DeviceCell* gru_reset_before_device_cell();
const DeviceCell* rnn_tanh_device_cell();
const DeviceCell* rnn_relu_device_cell();
const DeviceCell* rnn_logistic_device_cell();
const DeviceCell* rnn_linear_device_cell();
const DeviceCell* antisymmetric_device_cell();
const DeviceCell* antisymmetric_gated_device_cell();
const DeviceCell* mingru_device_cell();

const DeviceCell* find_device_cell(const std::string& name) {
  struct Entry {
    const char* name;
    const DeviceCell* (*cell)();
  };
  static constexpr Entry entries[] = {
      {"lstm", lstm_device_cell},
      {"gru", gru_device_cell},
      {"gru_reset_before", gru_reset_before_device_cell},
      {"rnn_tanh", rnn_tanh_device_cell},
      {"rnn_relu", rnn_relu_device_cell},
      {"rnn_logistic", rnn_logistic_device_cell},
      {"rnn_linear", rnn_linear_device_cell},
      {"antisymmetric", antisymmetric_device_cell},
      {"antisymmetric_gated", antisymmetric_gated_device_cell},
      {"mingru", mingru_device_cell},
  };
  for (const Entry& entry : entries)
    if (name == entry.name) return entry.cell();
  return nullptr;
}

}  // namespace throughtime::cuda
