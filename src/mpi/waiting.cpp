#include "mpi/waiting.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace throughtime {
namespace {

constexpr std::chrono::milliseconds between_looks(100);

}  // namespace

Waiting::Waiting(int rank) : rank_(rank), thread_([this] { watch(); }) {}

Waiting::~Waiting() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  end_.notify_all();
  thread_.join();
}

void Waiting::watch() {
  std::uint64_t seen = 0;
  std::int64_t looks = 0;  // at the same call
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, between_looks, [this] { return ends_; })) {
    const std::uint64_t call = calls_;
    looks = call == seen && call % 2 == 1 ? looks + 1 : 0;
    seen = call;
    const double waited = static_cast<double>(looks) * std::chrono::duration<double>(between_looks).count();
    if (const double patience = patience_; patience > 0 && waited >= patience) give_up(waited);
  }
}

/// MPI_Abort is no choice: another thread of this process is within a call of MPI.
void Waiting::give_up(double seconds) const {
  fmt::print(
      stderr,
      "throughtime: rank {}: has waited {:.0f} s for the other ranks (run.rank_timeout); one of them has stopped "
      "or hangs, and the run ends: its last checkpoint resumes\n",
      rank_, seconds);
  std::fflush(stderr);
  std::_Exit(1);
}

}  // namespace throughtime
