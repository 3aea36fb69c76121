#include "throughtime/options.h"

namespace throughtime {

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
