#pragma once

#include <string>
#include <vector>

#include "throughtime/online.h"

namespace throughtime::bench {

/// One observation at a time through OnlineLearner, on one thread: a prediction, then an update through the last K
/// steps with Adam and clipping. Spelled out by its name: `online-tbptt-lstm-b1-h32-k10`.
struct OnlineCase {
  std::string name;
  std::string learner;
  std::string cell;
  int slots = 0;   // B
  int hidden = 0;  // H
  int window = 0;  // K
};

/// The size that the digits in a case's name are; refuses one that is not from 1 to 1000000.
int size_in(const std::string& name, const std::string& digits);

bool is_online_case(const std::string& name);
/// Takes a name apart; refuses one that is not `online-LEARNER-CELL-bB-hH-kK`.
OnlineCase parse_online_case(const std::string& name);
OnlineConfig online_config(const OnlineCase& chosen);

/// Microseconds of single observations.
struct Latency {
  double p50 = 0, p99 = 0, p999 = 0, longest = 0;
};

struct OnlineResult {
  std::string name;
  double observations_per_second = 0;      // median over batches of observations
  double observations_per_cpu_second = 0;  // the same by the thread's own clock, which stands still while others run
  double updates_per_second = 0;
  Latency latency, cpu_latency;  // by those two clocks
  // Where a row or a few have a way of their own (SingleRows): by the general way, in turns with it; by the
  // thread's clock. 0: there is none.
  double general_per_cpu_second = 0;
  double general_ratio = 0;  // median over pairs: how many times as many observations the short way makes
};

/// The value that a share of the sorted list does not exceed.
double percentile(const std::vector<double>& sorted, double share);

/// Observes for about `seconds` on one thread of that engine.
OnlineResult run_online_case(const std::string& name, const std::string& engine, double seconds);
/// One JSON object on one line.
std::string json_line(const OnlineResult& result);

}  // namespace throughtime::bench
