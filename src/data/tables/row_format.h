#pragma once

#include "throughtime/choice.h"

namespace throughtime {

/// How the rows of a stream are written: lines of CSV, JSON objects line by line, or blocks of 32-bit floats.
enum class RowFormat { csv, jsonl, raw };
constexpr auto names_of(RowFormat) { return choice_names("csv", "jsonl", "raw"); }

}  // namespace throughtime
