#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include "core/launch.h"
#include "mpi/waiting.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

MPI_Datatype type_of(float) { return MPI_FLOAT; }
MPI_Datatype type_of(double) { return MPI_DOUBLE; }

/// The ranks of MPI_COMM_WORLD. MPI's own errors, a rank that is gone among them, end the process: MPI's default.
class MpiRanks final : public Communicator {
 public:
  MpiRanks() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    MPI_Comm_dup(MPI_COMM_WORLD, &meeting_);
    MPI_Comm machine;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &local_ranks_);
    MPI_Comm_free(&machine);
    counts_.resize(elements(ranks_));
    begins_.resize(counts_.size());
    waiting_.emplace(rank_);
  }
  ~MpiRanks() override { MPI_Finalize(); }

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  int local_ranks() const override { return local_ranks_; }

  void all_reduce_sum(std::span<float> values) override { sum(values, float_share_, float_all_); }
  void all_reduce_sum(std::span<double> values) override { sum(values, double_share_, double_all_); }

  void all_gather(std::span<const double> mine, std::span<const int> counts, std::span<double> all) override {
    const Waiting::Call call(*waiting_);
    set_begins(counts);
    MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.data(), counts.data(), begins_.data(),
                   MPI_DOUBLE, MPI_COMM_WORLD);
  }

  void broadcast(std::string& text) override {
    const Waiting::Call call(*waiting_);
    auto size = static_cast<std::int64_t>(text.size());
    MPI_Bcast(&size, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    text.resize(elements(size));
    MPI_Bcast(text.data(), static_cast<int>(size), MPI_CHAR, 0, MPI_COMM_WORLD);
  }

  void set_patience(double seconds) override { waiting_->set_patience(seconds); }

  bool meet(double seconds) override {
    MPI_Request everybody;
    MPI_Ibarrier(meeting_, &everybody);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (int here = 0;;) {
      MPI_Test(&everybody, &here, MPI_STATUS_IGNORE);
      if (here) return true;
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }

 private:
  static constexpr std::size_t few = 4096;  // numbers that are sent to everybody rather than in shares

  /// Sums in the order of the ranks, whatever the network does: MPI_Allreduce promises no order. Each rank gets a share
  /// of the numbers from all others, adds them up, and gives the sums to all.
  template <class Real>
  void sum(std::span<Real> values, std::vector<Real>& share, std::vector<Real>& all) {
    const Waiting::Call call(*waiting_);
    MPI_Datatype type = type_of(Real());
    const int size = static_cast<int>(values.size());
    if (values.size() <= few) {
      all.resize(values.size() * elements(ranks_));
      MPI_Allgather(values.data(), size, type, all.data(), size, type, MPI_COMM_WORLD);
      add_up(all, values);
      return;
    }
    for (int rank = 0; rank < ranks_; ++rank) counts_[rank] = share_of(size, rank, ranks_).count;
    set_begins(counts_);
    const RowShare mine = share_of(size, rank_, ranks_);
    share.resize(static_cast<std::size_t>(mine.count));
    all.resize(share.size() * elements(ranks_));
    receive_counts_.assign(counts_.size(), mine.count);
    receive_begins_.resize(counts_.size());
    for (int rank = 0; rank < ranks_; ++rank) receive_begins_[rank] = rank * mine.count;
    MPI_Alltoallv(values.data(), counts_.data(), begins_.data(), type, all.data(), receive_counts_.data(),
                  receive_begins_.data(), type, MPI_COMM_WORLD);
    add_up<Real>(all, share);
    MPI_Allgatherv(share.data(), mine.count, type, values.data(), counts_.data(), begins_.data(), type, MPI_COMM_WORLD);
  }

  /// sums <- the sum over ranks of all [ranks, sums.size()].
  template <class Real>
  void add_up(const std::vector<Real>& all, std::span<Real> sums) const {
    std::copy_n(all.begin(), sums.size(), sums.begin());
    for (int rank = 1; rank < ranks_; ++rank) {
      const Real* from = all.data() + elements(rank, sums.size());
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += from[i];
    }
  }

  void set_begins(std::span<const int> counts) {
    begins_[0] = 0;
    for (std::size_t rank = 1; rank < begins_.size(); ++rank) begins_[rank] = begins_[rank - 1] + counts[rank - 1];
  }

  int rank_ = 0, ranks_ = 1, local_ranks_ = 1;
  MPI_Comm meeting_ = MPI_COMM_NULL;  // apart from a call that others may be waiting in
  std::optional<Waiting> waiting_;
  std::vector<int> counts_, begins_, receive_counts_, receive_begins_;
  std::vector<float> float_share_, float_all_;
  std::vector<double> double_share_, double_all_;
};

}  // namespace

std::shared_ptr<Communicator> join_ranks() {
  if (launched_ranks() == 1) return nullptr;  // starting MPI takes longer than a small training run
  const auto ranks = std::make_shared<MpiRanks>();
  if (ranks->ranks() != launched_ranks())
    refuse("ranks", "{} ranks were started by another MPI than the one this program was built with ({}), which sees {}",
           launched_ranks(), mpi_text(), ranks->ranks());
  return ranks;
}

std::string mpi_text() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int size = 0;
  MPI_Get_library_version(text, &size);
  std::string name(text, elements(size));
  name = name.substr(0, name.find(','));  // "Open MPI v4.1.4, package: ..."
  return name.substr(0, name.find('\n'));
}

}  // namespace throughtime
