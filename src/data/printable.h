#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace throughtime {

/// What a file holds, fit for a message: quoted, cut short, control characters and bytes that are no UTF-8 escaped.
std::string excerpt(std::string_view text);

/// refuse_unknown for names that a file holds: `[csv] series.csv: unknown column 'TO'; did you mean 'OT'? known: ...`.
[[noreturn]] void refuse_unknown_in(std::string_view file, std::string_view speaker, std::string_view what,
                                    std::string_view given, const std::vector<std::string>& known);

}  // namespace throughtime
