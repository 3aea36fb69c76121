#include "throughtime/communicator.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <exception>

#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

std::vector<double> gather_one(Communicator& ranks, double value) {
  const std::vector<int> counts(elements(ranks.ranks()), 1);
  std::vector<double> all(counts.size());
  ranks.all_gather({&value, 1}, counts, all);
  return all;
}

// What rank 0 tells the others about its action.
constexpr char done = 'd', invalid_input = 'i', failure = 'f';

}  // namespace

RowShare share_of(int rows, int rank, int ranks) {
  const auto begin = [&](std::int64_t of) { return static_cast<int>(of * rows / ranks); };
  return {begin(rank), begin(rank + 1) - begin(rank)};
}

int owner_of(int row, int rows, int ranks) {
  // The largest rank whose first row, the integer part of rank * rows / ranks, is not after it.
  return static_cast<int>(((std::int64_t{row} + 1) * ranks - 1) / rows);
}

bool on_any_rank(Communicator* ranks, bool value) {
  if (ranks == nullptr) return value;
  double count = value ? 1 : 0;
  ranks->all_reduce_sum({&count, 1});
  return count > 0;
}

void on_first_rank(Communicator* ranks, const std::function<void()>& action) {
  if (ranks == nullptr) return action();
  std::string report(1, done);
  std::exception_ptr error;
  if (ranks->rank() == 0) {
    try {
      action();
    } catch (const std::exception& thrown) {
      error = std::current_exception();
      report = (dynamic_cast<const InvalidInput*>(&thrown) != nullptr ? invalid_input : failure);
      report += thrown.what();
    }
  }
  ranks->broadcast(report);
  if (error) std::rethrow_exception(error);
  if (report.front() == invalid_input) throw InvalidInput(report.substr(1));
  if (report.front() == failure) throw RunFailure(report.substr(1));
}

void require_same(Communicator* ranks, const std::string& what, std::uint64_t fingerprint) {
  if (ranks == nullptr) return;
  const std::vector<double> all = gather_one(*ranks, std::bit_cast<double>(fingerprint));
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    if (std::bit_cast<std::uint64_t>(all[rank]) != std::bit_cast<std::uint64_t>(all[0]))
      refuse("ranks", "the {} of rank {} is not that of rank 0; all ranks must train the same", what, rank);
}

std::uint64_t fingerprint(std::span<const std::byte> bytes, std::uint64_t before) {
  for (const std::byte byte : bytes) before = (before ^ static_cast<std::uint64_t>(byte)) * 1099511628211u;
  return before;
}

}  // namespace throughtime
