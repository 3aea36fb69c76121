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

/// Whether a terminal would obey a valid code point, or write what follows elsewhere: C0, DEL, C1, ends of lines, and
/// marks that turn the direction of a text around.
bool commands_terminal(std::string_view letter) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(letter[at]); };
  if (letter.size() == 1) return byte(0) < ' ' || byte(0) == 0x7f;
  if (letter.size() == 2) return byte(0) == 0xc2 && byte(1) < 0xa0;
  if (letter.size() == 4 || byte(0) != 0xe2) return false;
  return (byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) ||
         (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9);
}

/// `text` with the bytes of such letters, but not of those in `kept`, and of what is no UTF-8 as \xNN.
std::string escaped(std::string_view text, std::string_view kept) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = code_point_length(text);
    const std::string_view letter = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 1 && kept.find(letter[0]) != kept.npos)
      shown += letter;
    else if (length > 0 && !commands_terminal(letter))
      shown += letter;
    else
      for (const char byte : letter) shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    text.remove_prefix(letter.size());
  }
  return shown;
}

/// At most longest_text bytes of `text`, or a few more of its last letter.
std::string shortened(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && at < longest_text) at += std::max<std::size_t>(code_point_length(text.substr(at)), 1);
  return printable(text.substr(0, at)) + (at < text.size() ? "..." : "");
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, ""); }
std::string printable_lines(std::string_view text) { return escaped(text, "\n\t"); }

std::string excerpt(std::string_view text) { return fmt::format("'{}'", shortened(text)); }

void refuse_unknown_in(std::string_view file, std::string_view speaker, std::string_view what, std::string_view given,
                       const std::vector<std::string>& known) {
  std::vector<std::string> shown;
  for (const std::string& name : known) shown.push_back(shortened(name));
  const std::string nearest = nearest_name(given, shown);
  const std::string hint = nearest.empty() ? "" : fmt::format(" did you mean '{}'?", nearest);
  const std::size_t left_out = shown.size() - std::min(shown.size(), most_names);
  shown.resize(shown.size() - left_out);
  refuse(speaker, "{}: unknown {} '{}';{} known: {}{}", file, what, given, hint, fmt::join(shown, ", "),
         left_out > 0 ? fmt::format(" and {} more", left_out) : "");
}

}  // namespace throughtime
