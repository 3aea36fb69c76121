#include "train/predict/field_number.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "data/printable.h"
#include "data/tables/fields.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr const char* speaker = "predict";

/// Whether the text holds several numbers between delimiters.
bool is_list(std::string_view text, char between) {
  const std::string_view first = trimmed(text.substr(0, text.find(between)));
  return first.size() < text.size() && (number_of(first) || has_decimal_comma(first));
}

}  // namespace

double field_number(std::string_view text, char delimiter) {
  if (is_missing(text)) return std::numeric_limits<double>::quiet_NaN();
  const std::optional<double> value = number_of(text);
  if (value && std::isfinite(static_cast<float>(*value))) return *value;
  if (value) refuse(speaker, "{} is no number that a 32-bit float can hold", excerpt(text));
  if (const std::string wrong = other_notation(text); !wrong.empty()) refuse(speaker, "{} {}", excerpt(text), wrong);
  const std::string other = delimiter_in(text, delimiter);
  const bool list = !other.empty() && is_list(text, other == "tab" ? '\t' : other.front());
  refuse(speaker, "{} is not a finite number{}", excerpt(text), list ? delimiter_hint(text, delimiter) : "");
}

std::string delimiter_hint(std::string_view line, char delimiter) {
  const std::string other = delimiter_in(line, delimiter);
  return other.empty() ? "" : fmt::format("; is '{}' the delimiter? Say --delimiter '{}'", other, other);
}

}  // namespace throughtime
