#include "throughtime/options.h"

#include <fmt/format.h>

#include <cmath>

namespace throughtime {

bool Range::holds(double value) const {
  if (!std::isfinite(value)) return false;
  return (open_low ? value > low : value >= low) && (open_high ? value < high : value <= high);
}

std::string Range::text() const {
  const bool bounded_low = std::isfinite(low);
  const bool bounded_high = std::isfinite(high);
  const std::string lower = fmt::format("{} {}", open_low ? "above" : "at least", low);
  const std::string upper = fmt::format("{} {}", open_high ? "below" : "at most", high);
  if (bounded_low && bounded_high) {
    if (!open_low && !open_high) return fmt::format("between {} and {}", low, high);
    return lower + " and " + upper;
  }
  if (bounded_low) return lower;
  return bounded_high ? upper : "";
}

OptionList::Scope::Scope(OptionList& list, std::string_view table, std::vector<OptionUsers> users)
    : list_(list), length_(list.prefix_.size()), users_(list.users_.size()) {
  if (!table.empty()) list.prefix_.append(table).push_back('.');
  list.users_.insert(list.users_.end(), users.begin(), users.end());
}

OptionList::Scope::~Scope() {
  list_.prefix_.resize(length_);
  list_.users_.resize(users_);
}

}  // namespace throughtime
