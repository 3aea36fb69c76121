#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace throughtime::bench {

/// What a training method asks for to learn from one sequence: the rows of Table 1 of the FPTT paper, counted.
struct Costs {
  std::string method;
  int steps = 0;                    // T
  std::int64_t gradient_steps = 0;  // steps pulled back
  std::int64_t gradients = 0;       // windows pulled back
  std::int64_t updates = 0;
  std::size_t activation_bytes = 0;  // of the tape: what grows with a window
};

/// BPTT, FPTT (a window per step) and FPTT-10 on one sequence of the Add task, one LSTM of 128 units.
std::vector<Costs> costs_of(int steps);

}  // namespace throughtime::bench
