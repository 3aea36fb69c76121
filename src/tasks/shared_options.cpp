#include "tasks/shared_options.h"

#include <fmt/format.h>

#include "throughtime/error.h"

namespace throughtime {

char delimiter_of(std::string_view task, const std::string& delimiter) {
  return require_delimiter(task, fmt::format("task.{}.delimiter", task), delimiter);
}

char require_delimiter(std::string_view speaker, std::string_view option, const std::string& delimiter) {
  if (delimiter == "tab") return '\t';
  if (delimiter.size() != 1) refuse(speaker, "{} must be one character, or tab, got \"{}\"", option, delimiter);
  return delimiter.front();
}

}  // namespace throughtime
