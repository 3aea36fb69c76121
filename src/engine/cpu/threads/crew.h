#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/cpu/threads/thread_pool.h"

namespace throughtime::cpu {

/// One of the parts that a piece of work is cut into.
struct Part {
  int index = 0, count = 1;

  /// Its share [first, second) of `total` things, in whole multiples of `unit` but for the last.
  std::pair<int, int> of(int total, int unit = 1) const {
    const int units = (total + unit - 1) / unit;
    const auto cut = [&](int at) { return std::min(total, static_cast<int>(std::int64_t{units} * at / count) * unit); };
    return {cut(index), cut(index + 1)};
  }
};

/// Who shares a slice: its thread alone, that thread and the helpers that are there, or (for tests) as many parts as
/// there are seats, whoever has come.
enum class Crowd { nobody, at_hand, every_seat };

/// The threads that carry one slice: a leader, which does all that is not shared, and helpers. The leader cuts a piece
/// of work into as many parts as there are helpers at hand, and waits for them; what nobody has begun when its own part
/// is done it does itself. On a machine where other programs run, a helper may lose its core in the middle of a part:
/// the crew then shares nothing for several times as long as that took. How work is cut must not change a result.
class Crew {
 public:
  /// `seats`: the leader and its helpers at most.
  explicit Crew(int seats);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Before any of its threads is there: how many there may be.
  void open(int seats, Crowd crowd = Crowd::at_hand);
  /// The leader has nothing more to share: helpers return, now or when they come.
  void close();
  /// Takes parts until the leader closes. Whoever comes too late, or stays too long, does no harm.
  void help();

  /// How many parts share() would cut into now: the leader and the helpers at hand.
  int size() const { return open_ == 1 ? 1 : at_hand(); }

  /// Calls task(part) for the parts of a piece of work that has at most `most` of them; returns when all are done.
  /// Which exception is rethrown: that of the lowest part.
  template <class Task>
  void share(int most, const Task& task) {
    if (open_ == 1) return task(Part{});
    const int count = std::min(most, at_hand());
    if (count <= 1) {
      forgive();
      return task(Part{});
    }
    share_parts(
        count, [](const void* context, Part part) { (*static_cast<const Task*>(context))(part); }, &task);
  }

 private:
  using Call = void (*)(const void* context, Part part);
  using Clock = std::chrono::steady_clock;
  // What a seat's state says in its last two bits; the others number the piece of work.
  enum : std::uint64_t { kDone = 0, kOffered = 1, kTaken = 2, kClosed = 3, kPiece = 4 };

  /// Where a helper is offered a part: a cache line of its own, which comes to it as a whole.
  struct alignas(64) Seat {
    std::atomic<std::uint64_t> state{kDone};
    Call call = nullptr;
    const void* context = nullptr;
    Part part;
    std::exception_ptr error;
  };
  /// What the leader thinks of a helper that came too late for its part: it is asked again later and later.
  struct Trust {
    int missed = 0, pause = 0;
  };

  int joined() const;
  int at_hand() const;
  void forgive();
  void share_parts(int count, Call call, const void* context);
  void offer(int count, Call call, const void* context);
  bool finish_part(Seat& seat, Trust& trust);
  void look_back(Clock::time_point begin, Clock::time_point end);
  bool pauses() const;
  void wake();
  static void work(Seat& seat);
  void sleep(Seat& seat);

  std::vector<Seat> seats_;   // of the helpers
  std::vector<Trust> trust_;  // the leader's
  std::vector<int> asked_;    // the leader's: seats of the piece at hand
  int open_ = 1;              // the leader, and seats that may be taken
  bool every_seat_ = false;   // is offered its part, whoever sits there
  std::uint64_t piece_ = 0;
  Clock::time_point pause_until_ = {};  // the leader's: nothing is shared before
  bool paused_ = false;
  std::atomic<int> joined_{0};  // helpers that have come
  std::atomic<int> sleeping_{0};
  std::mutex mutex_;
  std::condition_variable awake_;
};

/// The crews of an engine: shares numbered slices among the threads of its pool, whose workers call help().
class Staff {
 public:
  /// `cores`: threads beyond them help nobody.
  Staff(int threads, int cores);

  /// Calls task(i, crew) for i in [0, count).
  template <class Task>
  void run(ThreadPool& pool, int count, Crowd crowd, const Task& task) {
    const int crews = crowd == Crowd::nobody ? 0 : crews_for(count);
    if (crews == 0) return pool.run(count, [&](int i) { task(i, alone()); });
    open(crews, crowd);
    std::atomic<int> next{0};
    pool.run_helped(crews, [&](int place) {
      Crew& crew = *crews_[static_cast<std::size_t>(place)];
      const Closing closing{crew};
      for (int slice = next++; slice < count; slice = next++) task(slice, crew);
    });
    open_crews_.store(0, std::memory_order_release);
  }

  /// Helps one of the crews that are at work, until it needs no help any more; at once where there is none.
  void help();

  /// How many crews carry that many slices side by side; 0: a thread for each, as they come.
  int crews_for(int slices) const;
  /// Threads of each of so many crews.
  int seats_of(int crew, int crews) const { return threads_ / crews + (crew < threads_ % crews ? 1 : 0); }

 private:
  struct Closing {
    Crew& crew;
    ~Closing() { crew.close(); }
  };
  static Crew& alone();
  void open(int crews, Crowd crowd);

  int threads_;
  std::vector<std::unique_ptr<Crew>> crews_;
  std::atomic<int> open_crews_{0};
  std::atomic<int> helpers_{0};  // that have come
};

}  // namespace throughtime::cpu
