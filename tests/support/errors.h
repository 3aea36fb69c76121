#pragma once

#include <gtest/gtest.h>

#include <string>

#include "throughtime/error.h"

namespace throughtime::testing {

/// The text of the InvalidInput that `call` throws; empty when it throws none.
template <class Call>
std::string refusal_of(Call&& call) {
  try {
    call();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

}  // namespace throughtime::testing

/// Expects InvalidInput whose text contains `part`.
#define EXPECT_REFUSED(expression, part)                                                         \
  do {                                                                                           \
    const std::string refusal = ::throughtime::testing::refusal_of([&] { (void)(expression); }); \
    EXPECT_NE(refusal.find(part), std::string::npos) << "said: '" << refusal << "'";             \
  } while (false)
