#include "data/printable.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/names.h"
#include "data/utf8.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr std::size_t longest_text = 40;
constexpr std::size_t most_names = 40;

/// At most longest_text bytes of `text`.
std::string printable(std::string_view text) {
  std::string shown;
  std::size_t at = 0;
  while (at < text.size() && at < longest_text) {
    const std::size_t length = code_point_length(text.substr(at));
    const auto letter = static_cast<unsigned char>(text[at]);
    if (length == 0 || letter < ' ' || letter == 0x7f)
      shown += fmt::format("\\x{:02x}", letter);
    else
      shown += text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return at < text.size() ? shown + "..." : shown;
}

}  // namespace

std::string excerpt(std::string_view text) { return fmt::format("'{}'", printable(text)); }

void refuse_unknown_in(std::string_view file, std::string_view speaker, std::string_view what, std::string_view given,
                       const std::vector<std::string>& known) {
  std::vector<std::string> shown;
  for (const std::string& name : known) shown.push_back(printable(name));
  const std::string nearest = nearest_name(given, shown);
  const std::string hint = nearest.empty() ? "" : fmt::format(" did you mean '{}'?", nearest);
  const std::size_t left_out = shown.size() - std::min(shown.size(), most_names);
  shown.resize(shown.size() - left_out);
  refuse(speaker, "{}: unknown {} '{}';{} known: {}{}", file, what, given, hint, fmt::join(shown, ", "),
         left_out > 0 ? fmt::format(" and {} more", left_out) : "");
}

}  // namespace throughtime
