#include "bench/scaling_model.h"

#include <fmt/format.h>

#include <algorithm>

namespace throughtime::bench {
namespace {

constexpr double number_bytes = 4;
constexpr int all_rows = 512;  // of the data-parallel table
constexpr int few_rows = 4;    // of the time-parallel table
constexpr int sequence_steps = 100000;

std::vector<Cluster> clusters() {
  return {{.name = "Ethernet (30 us, 1.2 GB/s)", .flops = 100e9, .latency = 30e-6, .bandwidth = 1.2e9},
          {.name = "InfiniBand (2 us, 12 GB/s)", .flops = 100e9, .latency = 2e-6, .bandwidth = 12e9}};
}

std::vector<Net> nets() {
  return {lstm_language_model(64, 100), lstm_language_model(256, 10000), lstm_language_model(1024, 10000)};
}

const std::vector<int> rank_counts = {8, 64, 512};

std::string data_table(const Cluster& cluster) {
  std::string text = fmt::format("{}: each of R ranks has {} / R rows\n\n", cluster.name, all_rows);
  text += "| net | parameters | window | 8 ranks | 64 ranks | 512 ranks |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const Net& net : nets())
    for (const int steps : {20, 200, 2000}) {
      text += fmt::format("| {} | {:.3g} M | {} |", net.name, net.parameters / 1e6, steps);
      for (const int ranks : rank_counts)
        text += fmt::format(" {:.3g} |", data_parallel_speedup(net, cluster, ranks, all_rows, steps));
      text += "\n";
    }
  return text + "\n";
}

/// The gain over data-parallel training with as many ranks as there are rows: how many more passes over the data target
/// propagation may take until it is the slower one.
std::string time_table(const Cluster& cluster) {
  std::string text = fmt::format("{}: {} sequences of {} steps\n\n", cluster.name, few_rows, sequence_steps);
  text +=
      "| net | windows of 200, at most 4 ranks | 8 ranks | 64 ranks | 512 ranks |\n| --- | --- | --- | --- | --- |\n";
  for (const Net& net : nets()) {
    double best = 1;
    for (int ranks = 1; ranks <= few_rows; ++ranks)
      best = std::max(best, data_parallel_speedup(net, cluster, ranks, few_rows, 200));
    text += fmt::format("| {} | {:.3g} |", net.name, best);
    for (const int ranks : rank_counts) {
      const double gain = time_parallel_speedup(net, cluster, ranks, few_rows, sequence_steps);
      text += fmt::format(" {:.3g} ({:.3g}) |", gain, gain / best);
    }
    text += "\n";
  }
  return text + "\n";
}

}  // namespace

Net lstm_language_model(int hidden, int words) {
  const double layer = 4.0 * hidden * (hidden + hidden), head = static_cast<double>(hidden) * words;
  return {.name = fmt::format("LSTM {}, {} words", hidden, words),
          .parameters = layer + 2 * head,
          .multiplied = layer + head,
          .state = 2.0 * hidden};
}

double compute_seconds(const Net& net, const Cluster& cluster, double row_steps) {
  return 6 * net.multiplied * row_steps / cluster.flops;
}

double all_reduce_seconds(const Net& net, const Cluster& cluster, int ranks) {
  if (ranks < 2) return 0;
  const double others = ranks - 1, bytes = number_bytes * net.parameters * others / ranks;
  return 2 * (others * cluster.latency + bytes / cluster.bandwidth);
}

double boundary_seconds(const Net& net, const Cluster& cluster, int rows) {
  return 2 * (cluster.latency + number_bytes * net.state * rows / cluster.bandwidth);
}

double data_parallel_speedup(const Net& net, const Cluster& cluster, int ranks, int rows, int steps) {
  const int working = std::min(ranks, rows);
  const int most = (rows + working - 1) / working;  // rows of the rank that all wait for
  const double alone = compute_seconds(net, cluster, static_cast<double>(rows) * steps);
  return alone /
         (compute_seconds(net, cluster, static_cast<double>(most) * steps) + all_reduce_seconds(net, cluster, working));
}

double time_parallel_speedup(const Net& net, const Cluster& cluster, int ranks, int rows, int steps) {
  const double alone = compute_seconds(net, cluster, static_cast<double>(rows) * steps);
  return alone / (alone / ranks + boundary_seconds(net, cluster, rows) + all_reduce_seconds(net, cluster, ranks));
}

std::string scaling_tables() {
  std::string text;
  for (const Cluster& cluster : clusters()) text += data_table(cluster);
  for (const Cluster& cluster : clusters()) text += time_table(cluster);
  text.pop_back();
  return text;
}

}  // namespace throughtime::bench
