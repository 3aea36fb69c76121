#include "bench/stream_case.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <vector>

#include "bench/online_case.h"
#include "throughtime/cell.h"
#include "throughtime/error.h"
#include "throughtime/random.h"

namespace throughtime::bench {
namespace {

constexpr std::string_view prefix = "stream-";
constexpr double long_run_seconds = 0.5;
constexpr int first_rows = 2000, most_rows = 200'000;
constexpr int shorter = 10;  // times

/// A folder that goes away with it.
class Folder {
 public:
  Folder() {
    std::string form = (std::filesystem::temp_directory_path() / "throughtime-bench-XXXXXX").string();
    if (mkdtemp(form.data()) == nullptr) fail("bench", "cannot make the folder {}: {}", form, std::strerror(errno));
    path_ = form;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream out(file(name), std::ios::binary);
    if (!(out << text << std::flush)) fail("bench", "cannot write {}", file(name));
  }

 private:
  std::filesystem::path path_;
};

struct Seconds {
  double wall = 0, cpu = 0;
};

[[noreturn]] void become(std::vector<std::string> words) {
  const int nowhere = open("/dev/null", O_WRONLY);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  if (nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0) execv(pointers[0], pointers.data());
  _exit(127);
}

Seconds run_program(const std::vector<std::string>& words) {
  const double begin = microseconds_of(CLOCK_MONOTONIC);
  const pid_t child = fork();
  if (child < 0) fail("bench", "could not start {}: {}", words[0], std::strerror(errno));
  if (child == 0) become(words);
  int status = 0;
  struct rusage used;
  while (wait4(child, &status, 0, &used) < 0)
    if (errno != EINTR) fail("bench", "lost {}: {}", words[0], std::strerror(errno));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("bench", "{} stream failed; it said why above", words[0]);
  const auto seconds = [](const struct timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {1e-6 * (microseconds_of(CLOCK_MONOTONIC) - begin), seconds(used.ru_utime) + seconds(used.ru_stime)};
}

/// The program on a long and a short file of rows.
class StreamWorkload {
 public:
  StreamWorkload(const StreamCase& chosen, const std::string& command, const std::string& engine)
      : case_(chosen), command_(command) {
    folder_.write("stream.toml", stream_config(chosen, engine));
    set_rows(first_rows);
    const double first = std::max(pair().cpu, 1e-6);
    set_rows(static_cast<int>(std::clamp(long_run_seconds / first * rows(), double{first_rows}, double{most_rows})));
  }

  /// Rows between a long run and a short one, and what they take.
  int rows() const { return long_ - long_ / shorter; }
  Seconds pair() const {
    const Seconds of_long = run("long"), of_short = run("short");
    return {of_long.wall - of_short.wall, of_long.cpu - of_short.cpu};
  }

 private:
  void set_rows(int rows) {
    long_ = rows;
    folder_.write("long", stream_rows(case_, rows));
    folder_.write("short", stream_rows(case_, rows / shorter));
  }
  Seconds run(const std::string& name) const {
    return run_program({command_, "stream", folder_.file("stream.toml"), "--input", folder_.file(name), "--quiet",
                        "--force", "--set", "run.directory=" + folder_.file("run")});
  }

  StreamCase case_;
  std::string command_;
  Folder folder_;
  int long_ = 0;
};

}  // namespace

bool is_stream_case(const std::string& name) { return name.starts_with(prefix); }

StreamCase parse_stream_case(const std::string& name) {
  constexpr const char* forms = "stream-FORMAT-CELL-bB-hH-kK such as stream-csv-lstm-b1-h32-k10";
  const std::size_t dash = name.find('-', prefix.size());
  if (!is_stream_case(name) || dash == std::string::npos) refuse("bench", "unknown case {}; expected {}", name, forms);
  const std::string format = name.substr(prefix.size(), dash - prefix.size());
  const auto parsed = choice_of<RowFormat>(format, "bench", "format of a stream's rows");
  static const std::regex form("stream-[a-z]+-([a-z_]+)-b([0-9]+)-h([0-9]+)-k([0-9]+)");
  std::smatch part;
  if (!std::regex_match(name, part, form)) refuse("bench", "unknown case {}; expected {}", name, forms);
  return {.name = name,
          .format = parsed,
          .cell = find_cell(part[1] == "rnn" ? "rnn_tanh" : part[1].str()).name,
          .streams = size_in(name, part[2]),
          .hidden = size_in(name, part[3]),
          .window = size_in(name, part[4])};
}

std::string stream_config(const StreamCase& chosen, const std::string& engine) {
  const bool several = chosen.streams > 1, raw = chosen.format == RowFormat::raw;
  const std::string id = raw ? "1" : "id";
  return fmt::format(
      "[task]\nname = \"series\"\nseries.inputs = [\"{}\"]\nseries.channels = {}\n[stream]\nformat = \"{}\"\n"
      "difference = true\nslots = {}\nid = \"{}\"\n[model]\ncell = \"{}\"\nhidden = {}\n[learner]\nname = \"tbptt\"\n"
      "[learner.tbptt]\npreset = \"original\"\ntruncation = {}\n[optimizer]\nclip = 1.0\n[run]\nthreads = 1\n"
      "engine = \"{}\"\n",
      raw ? "0" : "y", several ? 2 : 1, name_of(chosen.format), chosen.streams, several ? id : "", chosen.cell,
      chosen.hidden, chosen.window, engine);
}

std::string stream_rows(const StreamCase& chosen, int rows) {
  const Random random(1, Purpose::task);
  const bool several = chosen.streams > 1;
  std::string text;
  if (chosen.format == RowFormat::csv) text = several ? "y,id\n" : "y\n";
  for (int row = 0; row < rows; ++row) {
    const auto element = static_cast<std::uint64_t>(row);
    const double y = std::sin(0.1 * row / chosen.streams) + 0.1 * random.normal(0, 0, element);
    const int id = row % chosen.streams;
    if (chosen.format == RowFormat::csv)
      text += several ? fmt::format("{:.6f},{}\n", y, id) : fmt::format("{:.6f}\n", y);
    else if (chosen.format == RowFormat::jsonl)
      text +=
          several ? fmt::format("{{\"y\": {:.6f}, \"id\": \"{}\"}}\n", y, id) : fmt::format("{{\"y\": {:.6f}}}\n", y);
    else {
      const float values[] = {static_cast<float>(y), static_cast<float>(id)};
      text.append(reinterpret_cast<const char*>(values), (several ? 2 : 1) * sizeof(float));
    }
  }
  return text;
}

StreamResult run_stream_case(const std::string& name, const std::string& command, const std::string& engine,
                             const Effort& effort) {
  const StreamWorkload workload(parse_stream_case(name), command, engine);
  std::vector<double> wall, cpu;
  const double begin = microseconds_of(CLOCK_MONOTONIC);
  for (int round = 0; round < effort.repeats; ++round) {
    if (round >= effort.least && microseconds_of(CLOCK_MONOTONIC) - begin > 1e6 * effort.seconds) break;
    const Seconds pair = workload.pair();
    wall.push_back(workload.rows() / std::max(pair.wall, 1e-9));
    cpu.push_back(workload.rows() / std::max(pair.cpu, 1e-9));
  }
  return {.name = name, .rows_per_second = median(wall), .rows_per_cpu_second = median(cpu)};
}

std::string json_line(const StreamResult& result) {
  const nlohmann::ordered_json line = {{"case", result.name},
                                       {"threads", 1},
                                       {"rows_per_second", std::round(result.rows_per_second)},
                                       {"rows_per_cpu_second", std::round(result.rows_per_cpu_second)}};
  return line.dump();
}

}  // namespace throughtime::bench
