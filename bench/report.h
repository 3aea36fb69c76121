#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bench/measure.h"
#include "bench/peer.h"

namespace throughtime::bench {

/// What was measured of a case; what was not is absent. Times are medians in milliseconds, scalings use minima.
struct CaseResult {
  std::string name;
  std::string engine;
  int threads = 1;
  TimeOf time = TimeOf::wall;
  double ours_ms = 0;
  std::optional<PeerTime> peer;  // as it comes, at its best thread count
  std::optional<PeerTime> tuned_peer;
  std::optional<std::string> peer_blas;
  std::optional<double> floor_ms;
  std::optional<double> floor_ratio;  // median over pairs of ours / floor
  std::optional<double> onednn_ms;
  std::optional<double> onednn_ratio;  // median over pairs of oneDNN / ours: how many times faster ours is
  std::optional<double> onednn_1_thread_ms, onednn_1_thread_ratio;
  std::size_t activation_bytes = 0;
  std::optional<double> ours_1_thread_ms;
  std::optional<double> scaling;  // one thread / `threads` threads
  std::optional<double> floor_scaling;
  // Where a row or a few have a way of their own (SingleRows): the same case by the general way, measured in turns with
  // it by the thread's own clock.
  std::optional<double> general_ms;
  std::optional<double> general_ratio;           // median over pairs of general / ours
  std::optional<double> update_share;            // fptt: of a run, clipping, optimizer, lambda and W-bar together
  std::optional<double> weight_drop_share;       // recipes: of a run, what one without weight drop does not take
  std::optional<double> updates_per_second;      // of the parameters, with one thread
  std::optional<double> updates_per_cpu_second;  // by the thread's own clock, which stands still while others run

  /// Time of the peer / ours: how many times faster ours is.
  std::optional<double> ratio() const { return peer ? std::optional(peer->milliseconds / ours_ms) : std::nullopt; }
  std::optional<double> tuned_ratio() const {
    return tuned_peer ? std::optional(tuned_peer->milliseconds / ours_ms) : std::nullopt;
  }
};

/// Five significant digits are more than a clock gives.
double rounded(double value);

/// One JSON object on one line; what is absent is null.
std::string json_line(const CaseResult& result);

}  // namespace throughtime::bench
