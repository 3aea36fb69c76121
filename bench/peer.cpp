#include "bench/peer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/program.h"
#include "throughtime/error.h"

namespace throughtime::bench {
namespace {

constexpr int exit_no_torch = 3;  // torch_peer.py's word for it

std::string program_of(const PeerConfig& config) {
  return fmt::format("{} {}", shell_word(config.python), shell_word(config.directory + "/torch_peer.py"));
}

bool is_missing(const Finished& finished) {
  return finished.status == exit_no_torch || finished.status == exit_no_program;
}

}  // namespace

std::optional<PeerDescription> parse_peer_description(const std::string& line) {
  const auto value = nlohmann::json::parse(line, nullptr, false);
  if (!value.is_object()) return std::nullopt;
  const auto torch = value.find("torch"), blas = value.find("blas"), reference = value.find("reference_blas");
  if (torch == value.end() || !torch->is_string() || blas == value.end() || !blas->is_string() ||
      reference == value.end() || !reference->is_boolean())
    return std::nullopt;
  return PeerDescription{*torch, *blas, *reference};
}

std::optional<PeerDescription> describe_peer(const PeerConfig& config) {
  const Finished finished = run_and_read(program_of(config) + " --describe");
  if (is_missing(finished)) return std::nullopt;
  std::optional<PeerDescription> description = parse_peer_description(finished.output);
  if (finished.status != 0 || !description)
    fail("bench", "the peer did not say what it computes with (exit code {}): {}", finished.status, finished.output);
  return description;
}

void require_fair(const PeerDescription& peer) {
  if (peer.reference_blas)
    refuse("bench",
           "PyTorch {} multiplies with the reference BLAS here, ten times slower than OpenBLAS: no peer to be measured "
           "against; scripts/setup --peer installs OpenBLAS",
           peer.torch);
}

std::vector<int> thread_counts(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

std::optional<PeerTime> parse_peer_line(const std::string& line, const std::string& case_name) {
  const auto value = nlohmann::json::parse(line, nullptr, false);
  if (!value.is_object() || value.value("case", nlohmann::json()) != case_name) return std::nullopt;
  const auto milliseconds = value.find("milliseconds"), threads = value.find("threads");
  if (milliseconds == value.end() || !milliseconds->is_number() || threads == value.end() ||
      !threads->is_number_integer())
    return std::nullopt;
  return PeerTime{*milliseconds, *threads};
}

PeerResult best_peer_time(const PeerConfig& config, const std::string& case_name, const std::vector<int>& threads,
                          bool tuned) {
  PeerResult result;
  for (int count : threads) {
    const Finished finished = run_and_read(
        fmt::format("{} --case {} --threads {} --repeats {} --seconds {}{}{}{}", program_of(config),
                    shell_word(case_name), count, config.repeats, config.seconds, tuned ? " --tuned" : "",
                    config.on_device ? " --device cuda" : "", config.processor_time ? " --processor-time" : ""));
    if (is_missing(finished)) return {PeerState::missing, {}};
    if (finished.status != 0) return {PeerState::failed, {}};
    const std::optional<PeerTime> time = parse_peer_line(finished.output, case_name);
    if (!time) fail("bench", "the peer's answer for {} is no JSON line with a time: {}", case_name, finished.output);
    if (!result.time || time->milliseconds < result.time->milliseconds) result.time = time;
  }
  result.state = PeerState::measured;
  return result;
}

}  // namespace throughtime::bench
