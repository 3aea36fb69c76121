#include "bench/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/at_once_case.h"
#include "bench/case.h"
#include "bench/host_case.h"
#include "bench/online_case.h"
#include "bench/stream_case.h"

namespace throughtime::bench {

Plan plan_of(const std::vector<std::string>& names) {
  if (names.empty())
    return {.cases = default_cases(),
            .online = {"online-tbptt-lstm-b1-h32-k10", "online-tbptt-lstm-b16-h32-k10"},
            .streams = {"stream-csv-lstm-b1-h32-k10"},
            .host = {"host-fptt-lstm-b128-h128-t784-k20"},
            .batches = all_batch_cases()};
  Plan plan;
  for (const std::string& name : names) {
    if (is_batch_case(name))
      plan.batches.push_back(find_batch_case(name));
    else if (is_at_once_case(name))
      plan.at_once.push_back(parse_at_once_case(name).name);
    else if (is_host_case(name))
      plan.host.push_back(parse_host_case(name).name);
    else if (is_online_case(name))
      plan.online.push_back(parse_online_case(name).name);
    else if (is_stream_case(name))
      plan.streams.push_back(parse_stream_case(name).name);
    else
      plan.cases.push_back(parse_case(name).name);
  }
  return plan;
}

std::string map_case(const std::string& cell, int rows, int units) {
  return fmt::format("bptt-{}-b{}-h{}-t200", cell, rows, units);
}

std::vector<std::string> map_cases(const std::vector<std::string>& cells) {
  std::vector<std::string> cases;
  for (const std::string& cell : cells)
    for (const int units : map_units)
      for (const int rows : map_rows) cases.push_back(parse_case(map_case(cell, rows, units)).name);
  return cases;
}

Effort effort_of(bool quick, int repeats) {
  if (quick) return {.repeats = 3, .least = 2, .seconds = 2};
  return {.repeats = repeats, .least = std::min(repeats, 5), .seconds = 15};
}

PeerConfig with_effort(PeerConfig peer, bool quick, int repeats) {
  peer.repeats = quick ? 3 : repeats;
  peer.seconds = quick ? 1 : 8;
  return peer;
}

}  // namespace throughtime::bench
