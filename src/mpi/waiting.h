#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace throughtime {

/// Watches the calls in which this process waits for other ranks, and ends it where one takes too long. A thread of its
/// own does: a call of MPI waits, and spins, for as long as it takes. It counts its own looks and not the time, so that
/// ranks that were all stopped and go on together are not given up.
class Waiting {
 public:
  /// Lives as long as a call.
  class Call {
   public:
    explicit Call(Waiting& waiting) : waiting_(waiting) { ++waiting_.calls_; }
    ~Call() { ++waiting_.calls_; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Waiting& waiting_;
  };

  explicit Waiting(int rank);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// Seconds; 0: for ever.
  void set_patience(double seconds) { patience_ = seconds; }

 private:
  void watch();
  [[noreturn]] void give_up(double seconds) const;

  int rank_;
  std::atomic<double> patience_ = 600;
  std::atomic<std::uint64_t> calls_ = 0;  // odd: within one
  std::mutex mutex_;
  std::condition_variable end_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace throughtime
