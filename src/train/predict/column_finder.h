#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace throughtime {

/// The columns of a recording that the steps of a model are made of.
struct WantedColumns {
  std::vector<std::string> own = {};     // read as they are at the step; empty: they have no names
  std::size_t own_count = 0;             // of them, with names or without
  std::vector<std::string> known = {};   // read as they are some steps later
  std::vector<std::string> levels = {};  // not read: if they are there, changes can be added to them
  bool numbered = false;                 // training asked for columns by name or number

  /// Of all that must be there.
  std::vector<std::string> needed() const;
};

/// Where they are.
struct FoundColumns {
  std::vector<std::size_t> places = {};  // of those needed, then of the levels that are there
  std::vector<std::string> levels = {};  // the names of these
};

/// By the names in the first line of a table; where training counted columns, or the table has as many as are read,
/// also by the numbers that are their names. Refuses a table without one that is needed.
FoundColumns find_named(const WantedColumns& wanted, const std::vector<std::string>& header, char delimiter);
/// Of a table without names: as they stand where there are as many as are read, else by the numbers that are their
/// names. None: a name is no number of a column.
std::optional<FoundColumns> find_numbered(const WantedColumns& wanted, std::size_t columns);

}  // namespace throughtime
