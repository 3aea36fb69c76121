#include "tasks/sequences/stratified.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "throughtime/random.h"

namespace throughtime {

std::vector<Split> stratified(std::span<const std::int32_t> groups, std::span<const double> shares,
                              std::uint64_t seed) {
  constexpr std::uint64_t of_splits = (std::uint64_t{1} << 47) + 1;  // no pass over examples has this number
  const Random random(seed, Purpose::shuffle);
  const auto share = [](double of, std::uint64_t count) {
    return static_cast<std::uint64_t>(std::llround(of * static_cast<double>(count)));
  };
  std::map<std::int32_t, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < groups.size(); ++i) members[groups[i]].push_back(i);

  std::vector<Split> splits(groups.size(), Split::train);
  std::uint64_t before = 0;
  for (auto& [group, entries] : members) {
    const auto number = static_cast<std::uint32_t>(group);
    for (std::size_t i = entries.size(); i > 1; --i)
      std::swap(entries[i - 1], entries[random.below(i, of_splits, number, i)]);
    // Of all entries so far: what one group is given too much by rounding, the next one is given less.
    const std::uint64_t after = before + entries.size();
    const std::uint64_t validation = share(shares[1], after) - share(shares[1], before);
    const std::uint64_t test = share(shares[2], after) - share(shares[2], before);
    const std::uint64_t held_out = std::min<std::uint64_t>(validation + test, entries.size() - 1);
    std::size_t next = entries.size() - held_out;
    for (std::uint64_t i = 0; i < validation && next < entries.size(); ++i) splits[entries[next++]] = Split::validation;
    while (next < entries.size()) splits[entries[next++]] = Split::test;
    before = after;
  }
  return splits;
}

}  // namespace throughtime
