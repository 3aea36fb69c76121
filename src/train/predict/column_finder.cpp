#include "train/predict/column_finder.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/names.h"
#include "data/printable.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "train/predict/field_number.h"

namespace throughtime {
namespace {

/// The number of a column by the digits that are its name; `count` where it is none of `count` columns.
std::size_t numbered_column(const std::string& name, std::size_t count) {
  if (name.empty() || name.size() > 9 || name.find_first_not_of("0123456789") != std::string::npos) return count;
  return std::min<std::size_t>(std::stoul(name), count);
}

/// Adds the levels that are there to the places of the columns that are needed.
template <class Place>
FoundColumns with_levels(std::vector<std::size_t> places, const WantedColumns& wanted, std::size_t columns,
                         Place place_of) {
  FoundColumns found{.places = std::move(places)};
  for (const std::string& name : wanted.levels)
    if (const std::size_t place = place_of(name); place < columns) {
      found.places.push_back(place);
      found.levels.push_back(name);
    }
  return found;
}

}  // namespace

std::vector<std::string> WantedColumns::needed() const {
  std::vector<std::string> names = own;
  names.insert(names.end(), known.begin(), known.end());
  return names;
}

FoundColumns find_named(const WantedColumns& wanted, const std::vector<std::string>& header, char delimiter) {
  const std::size_t columns = header.size();
  std::vector<bool> taken(columns, false);
  const auto place_of = [&](const std::string& name) {
    std::size_t first = columns;
    for (std::size_t i = columns; i-- > 0;)
      if (header[i] == name && (first == columns || !taken[i] || taken[first])) first = i;
    const bool by_number = wanted.numbered || columns == wanted.own_count;
    return first == columns && by_number ? numbered_column(name, columns) : first;
  };
  std::vector<std::size_t> places;
  for (const std::string& name : wanted.needed()) {
    places.push_back(place_of(name));
    if (places.back() < columns) {
      taken[places.back()] = true;  // two columns of one name are read in their order
      continue;
    }
    const std::string nearest = nearest_name(name, header);
    refuse("predict", "there is no column '{}', which the model reads;{} the file has {}{}", name,
           nearest.empty() ? "" : fmt::format(" did you mean {}?", excerpt(nearest)),
           excerpt(fmt::format("{}", fmt::join(header, ", "))),
           columns == 1 ? delimiter_hint(header.front(), delimiter) : "");
  }
  return with_levels(std::move(places), wanted, columns, place_of);
}

std::optional<FoundColumns> find_numbered(const WantedColumns& wanted, std::size_t columns) {
  const bool as_they_stand = columns == wanted.own_count;
  const auto place_of = [&](const std::string& name) {
    const auto own = elements(std::ranges::find(wanted.own, name) - wanted.own.begin());
    return as_they_stand && own < wanted.own.size() ? own : numbered_column(name, columns);
  };
  std::vector<std::size_t> places;
  for (std::size_t column = 0; as_they_stand && column < columns; ++column) places.push_back(column);
  for (const std::string& name : as_they_stand ? wanted.known : wanted.needed()) places.push_back(place_of(name));
  const bool all = places.size() == wanted.own_count + wanted.known.size();
  if (!all || std::ranges::any_of(places, [&](std::size_t place) { return place >= columns; })) return std::nullopt;
  // A table of what is read alone has no room for more.
  if (as_they_stand) return FoundColumns{.places = std::move(places)};
  return with_levels(std::move(places), wanted, columns, place_of);
}

}  // namespace throughtime
