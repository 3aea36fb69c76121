#pragma once

#include <optional>
#include <string>
#include <vector>

namespace throughtime::bench {

/// Where the peer's program is and how long it may measure.
struct PeerConfig {
  std::string python = "/usr/bin/python3";
  std::string directory;  // holds torch_peer.py
  int repeats = 11;
  double seconds = 8;
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

/// 1, 2, 4, ... and `most` itself.
std::vector<int> thread_counts(int most);

/// Reads the peer's line; none where it is not about this case or has no time.
std::optional<PeerTime> parse_peer_line(const std::string& line, const std::string& case_name);

/// Runs torch_peer.py on one case at each thread count and keeps the best time.
PeerResult best_peer_time(const PeerConfig& config, const std::string& case_name, const std::vector<int>& threads,
                          bool tuned);

}  // namespace throughtime::bench
