#include "data/utf8.h"

#include <cstdint>

namespace throughtime {
namespace {

/// What the first byte of a code point demands: its length, and the range of the second byte (which excludes forms that
/// are too long, surrogates and what lies beyond U+10FFFF).
struct Lead {
  std::size_t length = 0;
  std::uint8_t low = 0x80, high = 0xbf;
};

Lead lead_of(std::uint8_t byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xc2 || byte > 0xf4) return {0};
  if (byte < 0xe0) return {2};
  if (byte < 0xf0)
    return {3, static_cast<std::uint8_t>(byte == 0xe0 ? 0xa0 : 0x80),
            static_cast<std::uint8_t>(byte == 0xed ? 0x9f : 0xbf)};
  return {4, static_cast<std::uint8_t>(byte == 0xf0 ? 0x90 : 0x80),
          static_cast<std::uint8_t>(byte == 0xf4 ? 0x8f : 0xbf)};
}

}  // namespace

std::size_t code_point_length(std::string_view text) {
  const auto byte = [text](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  const Lead lead = lead_of(byte(0));
  if (lead.length == 0 || lead.length > text.size()) return 0;
  if (lead.length > 1 && (byte(1) < lead.low || byte(1) > lead.high)) return 0;
  for (std::size_t i = 2; i < lead.length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return lead.length;
}

std::size_t invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = code_point_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

void append_utf8(char32_t code, std::string& text) {
  const auto later = [&](int shift) { text += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | code >> 12);
    later(6);
  } else {
    text += static_cast<char>(0xf0 | code >> 18);
    later(12);
    later(6);
  }
  if (code >= 0x80) later(0);
}

}  // namespace throughtime
