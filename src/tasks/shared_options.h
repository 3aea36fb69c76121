#pragma once

#include <string>
#include <string_view>

#include "throughtime/options.h"

namespace throughtime {

// Options of several tasks.

/// `data`, for data_directory.
void describe_data_directory(std::string& data, OptionList& list);

/// What separates the fields of a CSV file, by the option `delimiter` of a task: one character, or tab.
char delimiter_of(std::string_view task, const std::string& delimiter);

}  // namespace throughtime
