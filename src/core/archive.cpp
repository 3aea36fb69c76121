#include "throughtime/archive.h"

#include "throughtime/error.h"

namespace throughtime {

void Archive::require_length(std::string_view name, std::size_t length, std::size_t wanted) const {
  if (length != wanted) refuse("archive", "'{}' must hold {} values, got {}", scoped(name), wanted, length);
}

void Archive::refuse_value(std::string_view name, std::int64_t value) const {
  refuse("archive", "'{}' cannot be {}", scoped(name), value);
}

}  // namespace throughtime
