#pragma once

#include <toml++/toml.h>

#include <string>
#include <utility>
#include <vector>

namespace throughtime {

// What every reader of our TOML files says about them in the same words; `where` is the file.

/// The tables of a text, or toml::parse_error; refuses a key of very many parts, which would exhaust the stack.
toml::table parse_toml(const std::string& text, const std::string& where);
/// The same; refuses what is no TOML with its line.
toml::table parse_document(const std::string& text, const std::string& where);
/// "file.toml:12".
std::string at_line(const std::string& where, const toml::source_region& region);
/// A value as a message shows it: `the text "x"`, `a table`, `3`.
std::string kind_text(const toml::node& node);
/// The shortest text that reads back as the same number, always recognisable as a real one.
std::string real_text(double value);
/// A value as a file would have it, numbers with as many digits as they need: `"x"`, `0.1`, `[1, 2]`.
std::string value_text(const toml::node& node);
/// All values under a table, sorted by name, tables inside it joined with dots: "train.batch".
std::vector<std::pair<std::string, const toml::node*>> values_under(const toml::table& table);
/// Like refuse_unknown, but says first where the name was read.
[[noreturn]] void refuse_name(const std::string& where, const std::string& what, const std::string& given,
                              const std::vector<std::string>& known);

}  // namespace throughtime
