#pragma once

#include <string>
#include <string_view>

namespace throughtime {

// Options of several tasks.

/// What separates the fields of a CSV file, by the option `delimiter` of a task: one character, or tab.
char delimiter_of(std::string_view task, const std::string& delimiter);
/// The same by an option of another name.
char require_delimiter(std::string_view speaker, std::string_view option, const std::string& delimiter);

}  // namespace throughtime
