#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/names.h"
#include "throughtime/error.h"

namespace throughtime {

/// The names of rows that a registry handed out.
template <class Type>
std::vector<std::string> names_of_rows(const std::vector<const Type*>& rows) {
  std::vector<std::string> names;
  for (const Type* row : rows) names.push_back(row->name);
  return names;
}

/// Named rows in the order of registration; a row's address never changes. `Type` has a `name`. There is one registry
/// each for cells, heads, learners, optimizers, tasks and engines.
template <class Type>
class Registry {
 public:
  /// `kind` is what a row is called, and who speaks in errors: "cell", "head".
  Registry(std::string kind, std::vector<Type> rows) : kind_(std::move(kind)) {
    for (Type& row : rows) add(std::move(row));
  }

  const Type& find(const std::string& name) const {
    for (const Type& row : rows_)
      if (row.name == name) return row;
    refuse_unknown(kind_, kind_, name, names());
  }

  std::vector<const Type*> all() const {
    std::vector<const Type*> rows;
    for (const Type& row : rows_) rows.push_back(&row);
    return rows;
  }

  std::vector<std::string> names() const { return names_of_rows(all()); }

  void add(Type row) {
    if (row.name.empty()) refuse(kind_, "a {} needs a name", kind_);
    for (const Type& other : rows_)
      if (other.name == row.name)
        refuse(kind_, "there is already a {} named '{}'; choose another name", kind_, row.name);
    rows_.push_back(std::move(row));
  }

 private:
  std::string kind_;
  std::deque<Type> rows_;
};

}  // namespace throughtime
