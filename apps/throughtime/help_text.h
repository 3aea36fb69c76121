#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace throughtime {

/// How `--help` is laid out. A value is named, with its default; a terminal gets descriptions broken between words.
class HelpText final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

/// What stands behind an option in its help: "FILE", "N", "{quick,full}"; empty of a flag.
std::string value_name(const CLI::Option& option);

/// Options of a configuration file on a terminal of that width: a long meaning goes below its option.
std::string folded_options(const std::string& text, std::size_t width);

}  // namespace throughtime
