#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace throughtime {

/// Bytes of the code point at the front of `text`, which must not be empty; 0 where no valid one stands there (too long
/// a form, a surrogate, beyond U+10FFFF, cut off).
std::size_t code_point_length(std::string_view text);

/// Where the first byte stands that no UTF-8 text has there; npos where all is well.
std::size_t invalid_utf8(std::string_view text);

/// Appends a code point, which must be one of Unicode and no surrogate.
void append_utf8(char32_t code, std::string& text);

}  // namespace throughtime
