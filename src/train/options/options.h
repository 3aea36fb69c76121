#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "throughtime/options.h"
#include "train/options/config.h"

namespace throughtime {

/// All options of a configuration, table by table. They point into it: it must outlive them and stay where it is.
OptionList options_of(RunConfig& config);
/// The option of that key; refuses unknown keys with the nearest known ones, beginning with `where`.
const Option& find_option(const OptionList& list, const std::string& key, const std::string& where);

/// Sets one option from `key=value`; `where` (a file and line, or `--set`) begins the error messages.
void set_option(RunConfig& config, const std::string& assignment, const std::string& where);

/// Whether a run of this configuration reads an option, under the command of that name.
bool is_used(const Option& option, const RunConfig& config, std::string_view command);
/// Refuses an option that such a run reads under none of these commands, and says who does; `where` begins the line.
void require_read(const Option& option, const RunConfig& config, const std::vector<std::string_view>& commands,
                  const std::string& where);
/// Refuses assignments to options that none of the configurations reads, and says who does.
void require_used(const std::vector<std::string>& assignments, const std::vector<RunConfig>& configs,
                  std::string_view command);

/// "integer", "text", "list of numbers", ...
std::string type_name(const Option& option);
/// What values are right: a range or the known names; empty where anything goes.
std::string allowed_text(const Option& option);
/// The value of an option as TOML text.
std::string value_text(const Option& option);

/// The listing of `help options`, and the page docs/options.md.
std::string options_text();
std::string options_markdown();

}  // namespace throughtime
