#include "bench/report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace throughtime::bench {
namespace {

nlohmann::ordered_json number_or_null(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  return rounded(*value);
}

nlohmann::ordered_json time_or_null(const std::optional<PeerTime>& peer) {
  return peer ? number_or_null(peer->milliseconds) : nullptr;
}

nlohmann::ordered_json threads_or_null(const std::optional<PeerTime>& peer) {
  if (!peer) return nullptr;
  return peer->threads;
}

}  // namespace

double rounded(double value) { return std::stod(fmt::format("{:.5g}", value)); }

std::string json_line(const CaseResult& result) {
  const nlohmann::ordered_json line = {
      {"case", result.name},
      {"engine", result.engine},
      {"threads", result.threads},
      {"time", name_of(result.time)},
      {"ours_ms", number_or_null(result.ours_ms)},
      {"peer_ms", time_or_null(result.peer)},
      {"ratio", number_or_null(result.ratio())},
      {"tuned_peer_ms", time_or_null(result.tuned_peer)},
      {"tuned_ratio", number_or_null(result.tuned_ratio())},
      {"floor_ms", number_or_null(result.floor_ms)},
      {"floor_ratio", number_or_null(result.floor_ratio)},
      {"onednn_ms", number_or_null(result.onednn_ms)},
      {"onednn_ratio", number_or_null(result.onednn_ratio)},
      {"onednn_1_thread_ms", number_or_null(result.onednn_1_thread_ms)},
      {"onednn_1_thread_ratio", number_or_null(result.onednn_1_thread_ratio)},
      {"activation_bytes", result.activation_bytes},
      {"ours_1_thread_ms", number_or_null(result.ours_1_thread_ms)},
      {"scaling", number_or_null(result.scaling)},
      {"floor_scaling", number_or_null(result.floor_scaling)},
      {"update_share", number_or_null(result.update_share)},
      {"weight_drop_share", number_or_null(result.weight_drop_share)},
      {"updates_per_second", number_or_null(result.updates_per_second)},
      {"updates_per_cpu_second", number_or_null(result.updates_per_cpu_second)},
      {"general_ms", number_or_null(result.general_ms)},
      {"general_ratio", number_or_null(result.general_ratio)},
      {"peer_threads", threads_or_null(result.peer)},
      {"tuned_peer_threads", threads_or_null(result.tuned_peer)},
      {"peer_blas", result.peer_blas ? nlohmann::ordered_json(*result.peer_blas) : nullptr},
  };
  return line.dump();
}

}  // namespace throughtime::bench
