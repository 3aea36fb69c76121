#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace throughtime {

/// Insertions, deletions, replacements and swaps of neighbours that turn `from` into `to`.
std::size_t edit_distance(std::string_view from, std::string_view to);

/// Whether two names differ in capital letters alone.
bool same_letters(std::string_view a, std::string_view b);
/// The known name nearest to `given`, capital letters apart; empty where even that shares too little to be meant.
std::string nearest_name(std::string_view given, const std::vector<std::string>& known);

/// Throws InvalidInput: `[model] unknown cell 'lstn'; did you mean 'lstm'? known: lstm, gru`.
[[noreturn]] void refuse_unknown(std::string_view speaker, std::string_view what, std::string_view given,
                                 const std::vector<std::string>& known);

}  // namespace throughtime
