#pragma once

#include <string>

namespace throughtime::testing {

/// How often `part` stands in `text`, without overlap.
inline int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

}  // namespace throughtime::testing
