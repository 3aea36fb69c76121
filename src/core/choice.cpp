#include "throughtime/choice.h"

#include <algorithm>

#include "core/names.h"
#include "throughtime/index.h"

namespace throughtime {

std::size_t find_name(const std::vector<std::string>& names, std::string_view name, std::string_view speaker,
                      std::string_view what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) refuse_unknown(speaker, what, name, names);
  return elements(found - names.begin());
}

}  // namespace throughtime
