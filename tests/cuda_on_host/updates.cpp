// The updates of all rules: two passes over the bodies that the kernels call.
// Compiled alone, for formulas mean floats here (no HWY_TARGET_INCLUDE).
#define THROUGHTIME_NUMBERS "engine/cuda/numbers.h"

#include <cmath>
#include <cstring>

#include "cuda_on_host/device.h"
#include "engine/update_loop.h"
#include "optimizers/adadelta-inl.h"
#include "optimizers/adagrad-inl.h"
#include "optimizers/adam-inl.h"
#include "optimizers/anchored-inl.h"
#include "optimizers/asgd-inl.h"
#include "optimizers/momentum-inl.h"
#include "optimizers/rmsprop-inl.h"
#include "optimizers/rmsprop_tf1-inl.h"
#include "optimizers/sgd-inl.h"

namespace throughtime::cuda {

template <class Rule>
void update(const Update& call) {
  Squares squares;
  const double distance = run_update<Rule>(call, squares);
  if (call.norm) *call.norm = static_cast<float>(gradient_norm(call, *call.numbers, squares));
  if (!call.settle || !call.diagnostics) return;
  call.diagnostics[0] = static_cast<float>(std::sqrt(squares.loss));
  call.diagnostics[1] = static_cast<float>(std::sqrt(squares.regulariser));
  call.diagnostics[2] = static_cast<float>(std::sqrt(distance));
}

template <class Rule>
void issue_update(const Context& context, const Update& call) {
  enqueue(context, [=] { update<Rule>(call); });
}

IssueUpdate find_device_update(const char* name) {
  struct Row {
    const char* name;
    IssueUpdate issue;
  };
  constexpr Row updates[] = {
      {"sgd", issue_update<Sgd>},           {"momentum", issue_update<Momentum>},
      {"adam", issue_update<Adam>},         {"rmsprop", issue_update<RmsProp>},
      {"adagrad", issue_update<Adagrad>},   {"rmsprop_tf1", issue_update<RmsPropTf1>},
      {"asgd", issue_update<Asgd>},         {"adadelta", issue_update<Adadelta>},
      {"anchored", issue_update<Anchored>},
  };
  for (const Row& row : updates)
    if (std::strcmp(row.name, name) == 0) return row.issue;
  return nullptr;
}

}  // namespace throughtime::cuda
