#pragma once

#include "throughtime/task.h"

namespace throughtime {

/// The Add task: two numbers of a sequence are marked; their sum is asked for at the end.
TaskType add_task();
/// The names that `TaskConfig::markers` may have.
std::vector<std::string> marker_names();

}  // namespace throughtime
