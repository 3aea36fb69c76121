#pragma once

#include <string>
#include <string_view>

namespace throughtime {

// Options of several tasks.

/// What separates the fields of a CSV file, by the option `delimiter` of a task: one character, or tab.
char delimiter_of(std::string_view task, const std::string& delimiter);

}  // namespace throughtime
