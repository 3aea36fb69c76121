#pragma once

#include <cstdint>

namespace throughtime::testing {

/// Calls of the global operator new so far, which the library `counted_new` replaces in the programs that link it.
std::int64_t allocations();

}  // namespace throughtime::testing
