#include "tasks/shared_options.h"

#include "throughtime/error.h"

namespace throughtime {

char delimiter_of(std::string_view task, const std::string& delimiter) {
  if (delimiter == "tab") return '\t';
  if (delimiter.size() != 1)
    refuse(task, "task.{}.delimiter must be one character, or tab, got \"{}\"", task, delimiter);
  return delimiter.front();
}

}  // namespace throughtime
