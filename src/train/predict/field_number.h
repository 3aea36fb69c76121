#pragma once

#include <string>
#include <string_view>

namespace throughtime {

/// The number of a table's field; NaN where the value is missing. Refuses what is no number that a 32-bit float can
/// hold, and says what may be meant.
double field_number(std::string_view text, char delimiter);

/// What to try where a line that was cut at `delimiter` gave one field; empty: nothing.
std::string delimiter_hint(std::string_view line, char delimiter);

}  // namespace throughtime
