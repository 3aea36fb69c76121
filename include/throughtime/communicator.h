#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace throughtime {

/// What processes that train together (ranks) tell each other; one process needs none. All ranks make the same calls in
/// the same order. Sums are taken in the order of the ranks, so every rank has the same bits, in every run.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;  // 0, 1, ..., ranks() - 1
  virtual int ranks() const = 0;
  /// Ranks on this machine, which share its cores.
  virtual int local_ranks() const = 0;

  virtual void all_reduce_sum(std::span<float> values) = 0;
  virtual void all_reduce_sum(std::span<double> values) = 0;
  /// The numbers of all ranks one after the other; `counts` [ranks] says how many each has.
  virtual void all_gather(std::span<const double> mine, std::span<const int> counts, std::span<double> all) = 0;
  /// Everybody's text becomes rank 0's.
  virtual void broadcast(std::string& text) = 0;

  /// How long a call may wait for the other ranks. After that this process ends, and whoever started the ranks ends the
  /// others: one of them has stopped, or hangs. 0: for ever.
  virtual void set_patience(double seconds) { (void)seconds; }
  /// Whether all ranks come here within that time: where one has failed, whether all have.
  virtual bool meet(double seconds) = 0;
  /// Ends the processes of all ranks.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

/// A rank's share of a batch: rows [first, first + count); the shares of all ranks differ by one row at most.
struct RowShare {
  int first = 0;
  int count = 0;
};
RowShare share_of(int rows, int rank, int ranks);
/// The rank whose share holds `row`.
int owner_of(int row, int rows, int ranks);

// The following serve one process too: without a communicator (null) there is nobody else.

/// Whether it is true on any rank.
bool on_any_rank(Communicator* ranks, bool value);
/// Does something on rank 0 alone. Where it throws there, every rank throws the same.
void on_first_rank(Communicator* ranks, const std::function<void()>& action);
/// Refuses where ranks bring different texts; `what` names them: "configuration".
void require_same(Communicator* ranks, const std::string& what, std::uint64_t fingerprint);
/// A number that tells contents apart: FNV-1a, 64 bits. `before`: of what came before them.
std::uint64_t fingerprint(std::span<const std::byte> bytes, std::uint64_t before = 14695981039346656037u);

}  // namespace throughtime
