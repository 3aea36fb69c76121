#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace throughtime {

/// A text of any origin, fit for a terminal: one line of valid UTF-8. Every byte of a control character (C0, DEL, C1,
/// ends of lines, changes of direction) and every one that is no UTF-8 becomes four letters, \xNN.
std::string printable(std::string_view text);
/// The same of several lines: newlines and tabs stay.
std::string printable_lines(std::string_view text);

/// What a file holds, fit for a message: printable, quoted, cut short.
std::string excerpt(std::string_view text);

/// refuse_unknown for names that a file holds: `[csv] series.csv: unknown column 'TO'; did you mean 'OT'? known: ...`.
[[noreturn]] void refuse_unknown_in(std::string_view file, std::string_view speaker, std::string_view what,
                                    std::string_view given, const std::vector<std::string>& known);

}  // namespace throughtime
