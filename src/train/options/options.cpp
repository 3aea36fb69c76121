#include "train/options/options.h"

#include <cmath>

#include "train/options/option_tables.h"

namespace throughtime {

bool Range::holds(double value) const {
  if (!std::isfinite(value)) return false;
  return (open_low ? value > low : value >= low) && (open_high ? value < high : value <= high);
}

const std::vector<Option>& all_options() {
  static const std::vector<Option> options = [] {
    std::vector<Option> table;
    add_task_options(table);
    add_generated_task_options(table);
    add_data_task_options(table);
    add_model_options(table);
    add_learner_options(table);
    add_fptt_options(table);
    add_terminal_options(table);
    add_fpp_options(table);
    add_target_options(table);
    add_estimate_options(table);
    add_optimizer_options(table);
    add_train_options(table);
    add_run_options(table);
    add_stream_options(table);
    return table;
  }();
  return options;
}

}  // namespace throughtime
