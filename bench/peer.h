#pragma once

#include <optional>
#include <string>
#include <vector>

namespace throughtime::bench {

/// Where the peer's program is and how long it may measure.
struct PeerConfig {
  std::string python = "/usr/bin/python3";
  std::string directory;   // holds torch_peer.py
  bool on_device = false;  // on the GPU instead of the processor
  int repeats = 11;
  double seconds = 8;
  bool processor_time = false;  // as Effort has it
};

struct PeerTime {
  double milliseconds = 0;
  int threads = 0;
};

enum class PeerState {
  measured,
  failed,   // this case could not be run; the peer said why on stderr
  missing,  // no Python or no torch: no case will run
};

struct PeerResult {
  PeerState state = PeerState::failed;
  std::optional<PeerTime> time;
};

/// What the peer computes with.
struct PeerDescription {
  std::string torch;            // its version
  std::string blas;             // OpenBLAS, MKL, ...
  bool reference_blas = false;  // the textbook loops: no peer, ten times slower than any other

  bool operator==(const PeerDescription&) const = default;
};

/// Asks torch_peer.py; none where there is no Python or no torch.
std::optional<PeerDescription> describe_peer(const PeerConfig& config);

/// Reads the peer's answer; none where it is no description.
std::optional<PeerDescription> parse_peer_description(const std::string& line);

/// Refuses a peer with the reference BLAS, against which every ratio would flatter us.
void require_fair(const PeerDescription& peer);

/// 1, 2, 4, ... and `most` itself.
std::vector<int> thread_counts(int most);

/// Reads the peer's line; none where it is not about this case or has no time.
std::optional<PeerTime> parse_peer_line(const std::string& line, const std::string& case_name);

/// Runs torch_peer.py on one case at each thread count and keeps the best time.
PeerResult best_peer_time(const PeerConfig& config, const std::string& case_name, const std::vector<int>& threads,
                          bool tuned);

}  // namespace throughtime::bench
