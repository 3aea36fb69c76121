#include "report/charts/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files.h"
#include "data/printable.h"
#include "report/charts/chart.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

/// The program as PATH has it; empty where it has none.
std::string find_gnuplot() {
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, end)) + "/gnuplot";
    if (end > 0 && access(candidate.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(candidate))
      return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return "";
}

/// A directory for one drawing; it goes with this object.
class DrawingRoom {
 public:
  DrawingRoom() : path_((std::filesystem::temp_directory_path() / "throughtime-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) fail("chart", "cannot make {}: {}", path_, std::strerror(errno));
  }
  DrawingRoom(const DrawingRoom&) = delete;
  DrawingRoom& operator=(const DrawingRoom&) = delete;
  ~DrawingRoom() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// The exit status of `program -d script`; -1 where it could not be started. What it says goes into a file.
int spawn_and_wait(const std::string& program, const std::string& script, const std::string& messages) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<std::string> words = {program, "-d", script};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

}  // namespace

bool gnuplot_found() { return !find_gnuplot().empty(); }

std::string gnuplot_quoted(std::string_view text) {
  // Within single quotes only the quote itself is special, and it is doubled; but not in front, where gnuplot takes two
  // of them for an empty text. Its SVG has texts in <![CDATA[...]]>, so that this end must not be in one.
  std::string quoted = "'";
  for (const char letter : printable(text)) {
    if (letter == '\'')
      quoted += quoted.size() == 1 ? "’" : "''";
    else if (letter == '>' && quoted.ends_with("]]"))
      quoted += " >";
    else
      quoted += letter;
  }
  return quoted + "'";
}

std::string run_gnuplot(const std::string& terminal, const std::string& script) {
  const std::string program = find_gnuplot();
  if (program.empty())
    fail("chart", "pictures are drawn by gnuplot, which is not in PATH; install it (Debian: apt install gnuplot-nox)");
  const DrawingRoom room;
  const std::string picture = room.file("picture"), messages = room.file("messages");
  replace_file(room.file("script"), fmt::format("set terminal {}\nset output {}\nset encoding utf8\n{}unset output\n",
                                                terminal, gnuplot_quoted(picture), script));
  const int status = spawn_and_wait(program, room.file("script"), messages);
  if (status != 0 || !std::filesystem::exists(picture)) {
    const std::string said = std::filesystem::exists(messages) ? printable(read_file(messages)) : "";
    fail("chart", "{} could not draw: {}", program, said.empty() ? "it said nothing" : said);
  }
  return read_file(picture);
}

}  // namespace throughtime
