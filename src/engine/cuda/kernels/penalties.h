#pragma once

#include <cstdint>

namespace throughtime::cuda {

struct Context;

// What the penalties on outputs (engine/penalties.h) are made of.

/// sums [entries] = scale * factors * |a - b|^2 of rows [entries, width], in double.
struct RowSquares {
  int entries = 0, width = 0;
  double scale = 1;
  const float* factors = nullptr;  // [entries]; null: ones
  const float* a = nullptr;
  const float* b = nullptr;  // null: zeros
  float* sums = nullptr;
};
void issue(const Context&, const RowSquares&);

/// to += scale * factors * from, rows [entries, width].
struct AddWeighedRows {
  int entries = 0, width = 0;
  double scale = 1;
  const float* factors = nullptr;  // [entries]
  const float* from = nullptr;
  float* to = nullptr;
};
void issue(const Context&, const AddWeighedRows&);

/// What factors * |h_l - h_{l-1}|^2, summed over steps, sends to h after each of `steps` steps: of its own step, and of
/// the one behind it. `to` += both.
struct PullDifferences {
  int steps = 0, batch = 0, hidden = 0;
  int own = 1;                     // 0: of the step behind alone; `factors` and `states` have no first step then
  int behind = 0;                  // how many of the steps have one behind them
  const float* factors = nullptr;  // [steps + 1, B]: of each step, and the one behind the last where there is one
  const float* states = nullptr;   // [steps + 2, B, H]: h before each step, and so on
  float* to = nullptr;             // [steps, B, H]
};
void issue(const Context&, const PullDifferences&);

}  // namespace throughtime::cuda
