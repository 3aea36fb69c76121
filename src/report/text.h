#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace throughtime {

/// Columns that a text takes on a terminal (no escape sequences, no wide characters).
std::size_t text_width(const std::string& text);
/// At most `width` columns of a text, the last of them an ellipsis where something is left out.
std::string cut_to(const std::string& text, std::size_t width);
/// A text as it stands in HTML, SVG and the values of their attributes.
std::string html_escaped(std::string_view text);
/// `piece`, `count` times.
std::string repeated(std::string_view piece, std::size_t count);

}  // namespace throughtime
