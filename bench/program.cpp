#include "bench/program.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>

#include "throughtime/error.h"

namespace throughtime::bench {

std::string shell_word(const std::string& text) {
  std::string result = "'";
  for (char letter : text) result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return result + "'";
}

Finished run_and_read(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) fail("bench", "could not start: {}", command);
  Finished finished;
  std::array<char, 4096> block;
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), pipe))
    finished.output.append(block.data(), count);
  const int status = pclose(pipe);
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return finished;
}

}  // namespace throughtime::bench
