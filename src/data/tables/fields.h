#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace throughtime {

/// Without the spaces and tabs around it.
inline std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char letter) { return letter == ' ' || letter == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// A field of a CSV line as it is written: in quotes where it needs them.
inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char letter : text) field += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return field + '"';
}

/// Whether all of `text` is a number of that type, which `value` then is.
template <class Number>
bool reads_as(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// The finite number that all of `text` is.
inline std::optional<double> number_of(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  return reads_as(text, value) && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// Whether `text` is a number in groups of three digits, such as 1,234.5, 12'345 or 1.234.567: a point alone is one of
/// a fraction.
inline bool has_thousands_separators(std::string_view text) {
  const auto digits = [&text] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
  const std::size_t first = digits();
  if (first < 1 || first > 3) return false;
  int groups = 0;
  std::string_view separator;
  constexpr std::string_view separators[] = {",", ".", "'", "_", " ", "\u00a0", "\u202f", "\u2009", "\u2019"};
  while (!text.empty()) {
    std::string_view next;
    for (const std::string_view known : separators)
      if (text.starts_with(known)) next = known;
    if (next.empty()) return false;
    const bool fraction = groups > 0 && next != separator && (next == "." || next == ",");
    if (groups > 0 && next != separator && !fraction) return false;
    text.remove_prefix(next.size());
    separator = next;
    const std::size_t count = digits();
    if (fraction) return text.empty();
    if (count != 3) return false;
    ++groups;
  }
  return groups > 1 || (groups == 1 && separator != ".");
}

/// Empty, or one of the words that programs write for a value they do not have.
inline bool is_missing(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() > 4) return false;
  std::string lower(text);
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return lower == "nan" || lower == "na" || lower == "n/a" || lower == "null" || lower == "none";
}

/// Whether the first row of a table names its columns: it holds no number, or a text above a number of the second one
/// (empty where there is none).
inline bool names_columns(const std::vector<std::string_view>& first, const std::vector<std::string_view>& second) {
  bool any_number = false, text_above_number = false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::string_view text = trimmed(first[i]);
    const bool number = number_of(text).has_value();
    any_number = any_number || number;
    if (number || is_missing(text) || i >= second.size()) continue;
    text_above_number = text_above_number || number_of(trimmed(second[i]));
  }
  return !any_number || text_above_number;
}

/// "1,5": a number with a comma where its point should be.
inline bool has_decimal_comma(std::string_view text) {
  std::string with_point(text);
  if (std::ranges::count(with_point, ',') != 1) return false;
  std::ranges::replace(with_point, ',', '.');
  return number_of(with_point).has_value();
}

/// What is wrong with a number that is written in another way, and what would be right, behind the number itself;
/// empty: it is none that we know.
inline std::string other_notation(std::string_view text) {
  if (has_decimal_comma(text) && has_thousands_separators(text)) {  // 1,234 can be either
    std::string point(text), whole(text);
    std::ranges::replace(point, ',', '.');
    std::erase(whole, ',');
    return "has a comma; numbers have a decimal point and no thousands separators: write " + point + " or " + whole;
  }
  if (has_thousands_separators(text))
    return "has thousands separators; numbers are written without them, such as 1234.5";
  if (has_decimal_comma(text)) return "has a decimal comma; numbers have a point, such as 1.5";
  return "";
}

/// The delimiter in a line that was read as one field, as the option takes it: "tab" or a character; empty: none.
inline std::string delimiter_in(std::string_view line, char tried) {
  for (const char other : {',', ';', '\t', '|'})
    if (other != tried && line.find(other) != std::string_view::npos)
      return other == '\t' ? "tab" : std::string(1, other);
  return "";
}

}  // namespace throughtime
