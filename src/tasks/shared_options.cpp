#include "tasks/shared_options.h"

#include "throughtime/error.h"

namespace throughtime {

void describe_data_directory(std::string& data, OptionList& list) {
  list.add("data", data, "directory of the data sets; empty: $THROUGHTIME_DATA, else data");
}

char delimiter_of(std::string_view task, const std::string& delimiter) {
  if (delimiter == "tab") return '\t';
  if (delimiter.size() != 1)
    refuse(task, "task.{}.delimiter must be one character, or tab, got \"{}\"", task, delimiter);
  return delimiter.front();
}

}  // namespace throughtime
