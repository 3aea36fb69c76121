#include "core/names.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "throughtime/error.h"

namespace throughtime {

std::size_t edit_distance(std::string_view from, std::string_view to) {
  // Row i holds the distances from the first i letters of `from` to every beginning of `to`; two rows back serve swaps.
  std::vector<std::size_t> before_last(to.size() + 1), last(to.size() + 1), row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[to.size()];
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string nearest_name(std::string_view given, const std::vector<std::string>& known) {
  for (const std::string& name : known)
    if (same_letters(given, name)) return name;
  std::string nearest;
  std::size_t best = given.size() / 2 + 1;  // at least half of the letters must be right
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(given, name);
    if (distance < best) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

void refuse_unknown(std::string_view speaker, std::string_view what, std::string_view given,
                    const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(given, known);
  const std::string hint = nearest.empty() ? "" : fmt::format(" did you mean '{}'?", nearest);
  refuse(speaker, "unknown {} '{}';{} known: {}", what, given, hint, fmt::join(known, ", "));
}

}  // namespace throughtime
