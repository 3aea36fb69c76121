#include "core/registry.h"

#include "throughtime/cell.h"

namespace throughtime {

CellType lstm_cell();
CellType gru_cell();
CellType gru_reset_before_cell();
CellType rnn_tanh_cell();
CellType rnn_relu_cell();
CellType rnn_logistic_cell();
CellType rnn_linear_cell();
CellType antisymmetric_cell();
CellType antisymmetric_gated_cell();
CellType mingru_cell();

namespace {

Registry<CellType>& cells() {
  static Registry<CellType> registry("cell", {
                                                 lstm_cell(),
                                                 gru_cell(),
                                                 gru_reset_before_cell(),
                                                 rnn_tanh_cell(),
                                                 rnn_relu_cell(),
                                                 rnn_logistic_cell(),
                                                 rnn_linear_cell(),
                                                 antisymmetric_cell(),
                                                 antisymmetric_gated_cell(),
                                                 mingru_cell(),
                                             });
  return registry;
}

template <class Real>
bool complete(const CellKernels<Real>& kernels, const CellShape& shape) {
  const bool early = shape.late_rows == 0 || (kernels.forward_early && kernels.backward_early);
  return kernels.forward && kernels.backward && early;
}

template <class Real>
bool complete(const WeightMap<Real>& map) {
  return map.apply && map.adjoint;
}

bool complete(const RowKernels& kernels) {
  return (kernels.forward == nullptr) == (kernels.backward == nullptr) &&
         (kernels.across_forward == nullptr) == (kernels.across_backward == nullptr);
}

/// An engine trusts a registered cell: whatever it would stumble over is refused here.
void check(const CellType& cell) {
  const CellShape& shape = cell.shape;
  const auto require = [&](bool right, const char* rule) {
    if (!right) refuse("cell", "'{}': {}", cell.name, rule);
  };
  require(shape.input_rows >= 1, "input_rows must be at least 1");
  require(shape.recurrent_rows >= 0, "recurrent_rows must be at least 0");
  require(shape.states >= 1, "states must be at least 1, tensor 0 is the output");
  require(shape.saved >= 0, "saved must be at least 0");
  require(shape.late_rows >= 0 && shape.late_rows <= shape.recurrent_rows,
          "late_rows must be between 0 and recurrent_rows");
  require(shape.late_rows == 0 || (shape.gated >= 0 && shape.gated < shape.saved), "gated must name a saved number");
  require(!shape.joint || shape.input_rows == shape.recurrent_rows, "a joint cell has as many input as recurrent rows");
  require(!shape.joint || shape.late_rows == 0, "a joint cell has no late rows");
  require(shape.forget_row >= -1 && shape.forget_row < shape.input_rows, "forget_row must be -1 or one of input_rows");
  require(complete(cell.reference, shape), "the reference kernels are incomplete");
  require(cell.fast && complete(cell.fast(), shape), "the fast kernels are incomplete");
  require(!cell.rows || complete(cell.rows()), "one of two row kernels is missing");
  require(shape.late_rows == 0 || !cell.rows || !(cell.rows().forward || cell.rows().across_forward),
          "a cell with late rows has no row kernels");
  const bool mapped = cell.raw_shape != nullptr;
  require(complete(cell.reference_map) == mapped && complete(cell.fast_map) == mapped,
          "raw_shape and both weight maps come together or not at all");
}

}  // namespace

const CellType& find_cell(const std::string& name) { return cells().find(name); }
std::vector<const CellType*> all_cells() { return cells().all(); }
void register_cell(CellType cell) {
  check(cell);
  cells().add(std::move(cell));
}

}  // namespace throughtime
