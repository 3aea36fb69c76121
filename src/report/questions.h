#pragma once

#include <string>
#include <vector>

#include "report/groups.h"

namespace throughtime {

/// Groups that were asked the same question: their results can be compared and their curves share an axis.
struct Question {
  std::string name;   // "add", or "add (length=20)" where another question is of the same task
  bool known = true;  // no: their runs do not tell what they were asked, so that nothing may be compared
  std::vector<RunGroup> groups;
};

/// Questions in the order of their first groups. Two runs have the same one where the options of their task agree, but
/// for those that only say where the data lies and how it is read and cut into windows; a stream has another one than a
/// recording that is learned from again and again.
std::vector<Question> by_question(const std::vector<RunGroup>& groups);

}  // namespace throughtime
