#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/names.h"
#include "throughtime/error.h"

namespace throughtime {

/// Named rows in the order of registration; a row's address never changes. `Type` has a `name`.
template <class Type>
class Registry {
 public:
  /// `what` is what errors call a row: "cell", "head".
  Registry(std::string what, std::vector<Type> rows) : what_(std::move(what)) {
    for (Type& row : rows) add(std::move(row));
  }

  const Type& find(const std::string& name) const {
    for (const Type& row : rows_)
      if (row.name == name) return row;
    std::vector<std::string> names;
    for (const Type& row : rows_) names.push_back(row.name);
    refuse_unknown("model", what_, name, names);
  }

  std::vector<const Type*> all() const {
    std::vector<const Type*> rows;
    for (const Type& row : rows_) rows.push_back(&row);
    return rows;
  }

  void add(Type row) {
    if (row.name.empty()) refuse("model", "a {} needs a name", what_);
    for (const Type& other : rows_)
      if (other.name == row.name)
        refuse("model", "there is already a {} named '{}'; choose another name", what_, row.name);
    rows_.push_back(std::move(row));
  }

 private:
  std::string what_;
  std::deque<Type> rows_;
};

}  // namespace throughtime
