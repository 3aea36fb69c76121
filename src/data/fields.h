#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace throughtime {

/// Without the spaces and tabs around it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view spaces = " \t";
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

/// The finite number that all of `text` is.
inline std::optional<double> number_of(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace throughtime
