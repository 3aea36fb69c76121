#include "report/text.h"

#include <algorithm>

#include "data/utf8.h"
#include "throughtime/index.h"

namespace throughtime {

std::size_t text_width(const std::string& text) {
  // Bytes 10xxxxxx continue a UTF-8 character.
  return elements(std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string cut_to(const std::string& text, std::size_t width) {
  if (text_width(text) <= width) return text;
  if (width == 0) return "";
  std::size_t at = 0, columns = 0;
  while (columns < width - 1) {
    at += std::max<std::size_t>(code_point_length(std::string_view(text).substr(at)), 1);
    ++columns;
  }
  return text.substr(0, at) + "…";
}

std::string html_escaped(std::string_view text) {
  std::string escaped;
  for (const char letter : text) switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += letter;
    }
  return escaped;
}

std::string repeated(std::string_view piece, std::size_t count) {
  std::string text;
  text.reserve(piece.size() * count);
  for (std::size_t i = 0; i < count; ++i) text += piece;
  return text;
}

}  // namespace throughtime
