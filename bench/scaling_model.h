#pragma once

#include <string>
#include <vector>

namespace throughtime::bench {

/// A rank and what lies between ranks.
struct Cluster {
  std::string name;
  double flops = 0;      // of a rank, per second
  double latency = 0;    // seconds of a message
  double bandwidth = 0;  // bytes per second into or out of a rank
};

/// A network as the model sees it.
struct Net {
  std::string name;
  double parameters = 0;  // P: numbers of a gradient
  double multiplied = 0;  // parameters that a step multiplies with: without embeddings
  double state = 0;       // S: numbers of a row's state
};

/// A layer of `hidden` LSTM units between an embedding of the same width and a softmax, both over `words`.
Net lstm_language_model(int hidden, int words);

/// Forward, and twice that back: seconds of one rank for `row_steps` steps of a row.
double compute_seconds(const Net& net, const Cluster& cluster, double row_steps);
/// Our all-reduce: shares to their ranks, sums back to all.
double all_reduce_seconds(const Net& net, const Cluster& cluster, int ranks);
/// Boundary states of `rows` rows to a neighbour and cotangents back.
double boundary_seconds(const Net& net, const Cluster& cluster, int rows);

/// How many times faster than one rank: windows of `steps` steps of `rows` rows with an update after each, where each
/// rank has some of the rows. More ranks than rows are of no use.
double data_parallel_speedup(const Net& net, const Cluster& cluster, int ranks, int rows, int steps);
/// The same for batch target propagation: `rows` sequences of `steps` steps, of which each rank has a stretch; an
/// update needs one exchange of boundary states and one all-reduce.
double time_parallel_speedup(const Net& net, const Cluster& cluster, int ranks, int rows, int steps);

/// The tables of docs/scaling.md, as Markdown.
std::string scaling_tables();

}  // namespace throughtime::bench
