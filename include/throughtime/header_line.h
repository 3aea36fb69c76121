#pragma once

#include "throughtime/choice.h"

namespace throughtime {

/// Whether a table's first row names its columns; `automatic` looks at that row.
enum class HeaderLine { automatic, yes, no };
constexpr auto names_of(HeaderLine) { return choice_names("auto", "yes", "no"); }

}  // namespace throughtime
