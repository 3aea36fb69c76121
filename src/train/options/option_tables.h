#pragma once

#include <limits>
#include <string>
#include <vector>

#include "train/options/options.h"

namespace throughtime {

// What the tables of options are written with; one file per table of the configuration.

using Names = std::vector<std::string>;

inline constexpr double infinity = std::numeric_limits<double>::infinity();

inline Range at_least(double low) { return {.low = low, .high = infinity}; }
inline Range above(double low) { return {.low = low, .high = infinity, .open_low = true}; }
inline Range between(double low, double high) { return {.low = low, .high = high}; }
inline Range below_one(double low) { return {.low = low, .high = 1, .open_high = true}; }
inline Range any_number() { return {.low = -infinity, .high = infinity}; }

template <class Entry>
Names names_of(const std::vector<const Entry*>& entries) {
  Names names;
  for (const Entry* entry : entries) names.push_back(entry->name);
  return names;
}

/// The field `c.PATH` of a RunConfig c, as an accessor that carries its type.
#define FIELD(TYPE, PATH) FieldOf<TYPE>([](RunConfig& c) -> TYPE& { return c.PATH; })

void add_task_options(std::vector<Option>& table);
void add_generated_task_options(std::vector<Option>& table);
void add_data_task_options(std::vector<Option>& table);
void add_model_options(std::vector<Option>& table);
void add_learner_options(std::vector<Option>& table);
void add_fptt_options(std::vector<Option>& table);
void add_terminal_options(std::vector<Option>& table);
void add_fpp_options(std::vector<Option>& table);
void add_target_options(std::vector<Option>& table);
void add_estimate_options(std::vector<Option>& table);
void add_optimizer_options(std::vector<Option>& table);
void add_train_options(std::vector<Option>& table);
void add_run_options(std::vector<Option>& table);
void add_stream_options(std::vector<Option>& table);

}  // namespace throughtime
