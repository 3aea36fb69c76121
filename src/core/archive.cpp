#include "throughtime/archive.h"

#include "throughtime/error.h"

namespace throughtime {
namespace {

std::string possible(const Range& range) { return range.text().empty() ? "a finite number" : range.text(); }

}  // namespace

void Archive::reject(const std::string& what) const {
  refuse("checkpoint", "{}: it is damaged, or was written for another configuration", what);
}

void Archive::require_length(std::string_view name, std::size_t length, const ListLength& wanted) const {
  if (length >= wanted.least && length <= wanted.most) return;
  const std::string most = wanted.most > wanted.least ? fmt::format(" to {}", wanted.most) : "";
  reject(fmt::format("'{}' must hold {}{} values, got {}", scoped(name), wanted.least, most, length));
}

void Archive::require_finite(std::string_view name, std::span<const double> values, const Engine& engine) const {
  for (const double value : values)
    if (!(engine.number_bytes() == 8 ? fits_into<double>(value) : fits_into<float>(value)))
      refuse_value(name, value, {});
}

void Archive::refuse_value(std::string_view name, std::int64_t value, const Range& range) const {
  reject(fmt::format("'{}' must be {}, got {}", scoped(name), possible(range), value));
}

void Archive::refuse_value(std::string_view name, double value, const Range& range) const {
  reject(fmt::format("'{}' must be {}, got {}", scoped(name), possible(range), value));
}

void Archive::refuse_together(std::string_view what) const { reject(fmt::format("{} ('{}...')", what, scope_)); }

}  // namespace throughtime
