#pragma once

#include <string>
#include <vector>

#include "reproduce/atlas.h"

namespace throughtime::testing {

/// All pages of the atlas, one after the other.
inline std::string atlas_text(const std::vector<ResultSpec>& specs, const std::filesystem::path& results) {
  std::string text;
  for (const AtlasPage& page : atlas_of(specs, results)) text += page.text;
  return text;
}

}  // namespace throughtime::testing
