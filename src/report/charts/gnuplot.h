#pragma once

#include <string>
#include <string_view>

namespace throughtime {

/// A text as a string of gnuplot's language, in which nothing is interpreted.
std::string gnuplot_quoted(std::string_view text);
/// What gnuplot writes for a script whose `set terminal` line is `terminal`; fails with what gnuplot said, or with what
/// to install. No shell is involved and the user's own settings are not read.
std::string run_gnuplot(const std::string& terminal, const std::string& script);

}  // namespace throughtime
