#pragma once

#include <string>

namespace throughtime::bench {

/// What another program came to.
struct Finished {
  int status = 0;  // its exit code; -1: a signal ended it
  std::string output;
};

inline constexpr int exit_no_program = 127;  // the shell's

/// One word for the shell, whatever it holds.
std::string shell_word(const std::string& text);
/// Runs a command of the shell and reads what it prints on stdout.
Finished run_and_read(const std::string& command);

}  // namespace throughtime::bench
