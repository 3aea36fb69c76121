#include <fmt/format.h>

#include "command_tree.h"
#include "train/options/options.h"
#include "train/run/environment.h"

namespace throughtime {
namespace {

/// A text as roff reads it: nothing in it is a command, and a hyphen is one.
std::string roff(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    if ((safe.empty() || safe.back() == '\n') && (letter == '.' || letter == '\'')) safe += "\\&";
    if (letter == '\\')
      safe += "\\e";
    else if (letter == '-')
      safe += "\\-";
    else
      safe += letter;
  }
  return safe;
}

/// The same for an argument of a macro.
std::string roff_argument(const std::string& text) {
  std::string safe;
  for (const char letter : roff(text)) safe += letter == '"' ? std::string("\\(dq") : std::string(1, letter);
  return '"' + safe + '"';
}

std::string flag_text(const CommandFlag& flag) {
  std::string names;
  for (const std::string& name : flag.names) names += (names.empty() ? "" : ", ") + name;
  const std::string head = flag.value.empty() || flag.by_place ? names : names + " " + flag.value;
  const std::string fallback = flag.fallback.empty() ? "" : fmt::format(" (default: {})", flag.fallback);
  return fmt::format(".TP\n.B {}\n{}\n", roff_argument(head), roff(flag.text + fallback));
}

std::string command_text(const CommandNode& node) {
  std::string text = fmt::format(".SS {}\n{}.\n", roff_argument("throughtime " + node.path), roff(node.text));
  for (const CommandFlag& flag : node.flags)
    if (flag.names.front() != "--help") text += flag_text(flag);
  if (!node.examples.empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(node.examples));
  return text;
}

std::string configuration_text() {
  RunConfig config;
  const OptionList options = options_of(config);
  std::string text;
  for (const Option& option : options.options()) {
    const std::string allowed = allowed_text(option);
    text += fmt::format(
        ".TP\n.B {}\n{}\n", roff_argument(option.key),
        roff(fmt::format("{}. Default {}{}.", option.help, value_text(option), allowed.empty() ? "" : "; " + allowed)));
  }
  return text;
}

}  // namespace

std::string manual_page(const CommandNode& root) {
  std::string text = fmt::format(".\\\" Made by throughtime help --man.\n.TH THROUGHTIME 1 \"\" {} \"User Commands\"\n",
                                 roff_argument(fmt::format("throughtime {}", version())));
  text += ".SH NAME\nthroughtime \\- train recurrent networks on sequences of any length, in the memory you choose\n";
  text += ".SH SYNOPSIS\n.B throughtime\n.I command\n.RI [ options ]\n";
  text += ".SH COMMANDS\n";
  for (const CommandNode* node : all_nodes(root))
    if (!node->path.empty()) text += command_text(*node);
  text += ".SH CONFIGURATION\nOptions of a TOML file, which\n.B \\-\\-set\n.I KEY=VALUE\noverrides.\n";
  text += configuration_text();
  text +=
      ".SH EXIT STATUS\n.TP\n.B 0\ndone\n.TP\n.B 1\nthe run went wrong\n.TP\n.B 2\nthe request cannot be\n.TP\n"
      ".B 129, 130, 143\nstopped by a signal; the run can be resumed\n";
  return text;
}

}  // namespace throughtime
