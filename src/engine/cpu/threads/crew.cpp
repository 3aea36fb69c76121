#include "engine/cpu/threads/crew.h"

#include <thread>

#include "engine/cpu/threads/pause.h"

namespace throughtime::cpu {

namespace {

// Pieces of a slice's work follow each other within microseconds: that long a helper looks for the next one before it
// sleeps, and a leader for the end of a part before it lets others have its core.
constexpr int kLooks = 8000;
constexpr int kManyLooks = 1000;  // such a wait is worth a look at the clock
// A wait that says that a helper has lost its core: so long, and half as long as the leader's own part, or longer. The
// pause after it, in its lengths, and the longest one.
constexpr auto kLeastStall = std::chrono::microseconds(100);
constexpr int kPauses = 10;
constexpr auto kMostPause = std::chrono::milliseconds(500);
constexpr int kLongestPause = 7;  // log2 of the pieces that a helper who was late is not asked for

}  // namespace

Crew::Crew(int seats) : seats_(static_cast<std::size_t>(seats - 1)), trust_(seats_.size()) {
  asked_.reserve(seats_.size());
}

void Crew::open(int seats, Crowd crowd) {
  every_seat_ = crowd == Crowd::every_seat;
  open_ = std::min(seats, static_cast<int>(seats_.size()) + 1);
  joined_.store(0, std::memory_order_relaxed);
  for (Seat& seat : seats_) seat.state.store(piece_ | kDone, std::memory_order_relaxed);
  for (Trust& trust : trust_) trust = {};
}

void Crew::close() {
  if (open_ == 1) return;
  for (Seat& seat : seats_) seat.state.store(kClosed, std::memory_order_release);
  wake();
}

int Crew::joined() const {
  return every_seat_ ? open_ - 1 : std::min(joined_.load(std::memory_order_relaxed), open_ - 1);
}

bool Crew::pauses() const { return paused_ && !every_seat_ && Clock::now() < pause_until_; }

int Crew::at_hand() const {
  if (pauses()) return 1;
  const int helpers = joined();
  int count = 1;
  for (int i = 0; i < helpers; ++i) count += trust_[static_cast<std::size_t>(i)].pause == 0 ? 1 : 0;
  return count;
}

/// A helper that was late comes one piece nearer to being asked again.
void Crew::forgive() {
  for (Trust& trust : trust_) trust.pause = std::max(0, trust.pause - 1);
}

void Crew::share_parts(int count, Call call, const void* context) {
  offer(count, call, context);
  std::exception_ptr error;
  const Clock::time_point begin = Clock::now();
  try {
    call(context, {0, static_cast<int>(asked_.size()) + 1});
  } catch (...) {
    error = std::current_exception();
  }
  const Clock::time_point end = Clock::now();
  bool late = false;
  for (const int i : asked_) {
    Seat& seat = seats_[static_cast<std::size_t>(i)];
    late |= finish_part(seat, trust_[static_cast<std::size_t>(i)]);
    if (!error) error = seat.error;
  }
  if (late) look_back(begin, end);
  if (error) std::rethrow_exception(error);
}

/// Parts 1, 2, ... to the helpers at hand.
void Crew::offer(int count, Call call, const void* context) {
  asked_.clear();
  const int helpers = joined();
  for (int i = 0; i < helpers; ++i) {
    if (trust_[static_cast<std::size_t>(i)].pause == 0 && static_cast<int>(asked_.size()) < count - 1)
      asked_.push_back(i);
  }
  forgive();
  piece_ += kPiece;
  const int parts = static_cast<int>(asked_.size()) + 1;
  for (int part = 1; part < parts; ++part) {
    Seat& seat = seats_[static_cast<std::size_t>(asked_[static_cast<std::size_t>(part - 1)])];
    seat.call = call;
    seat.context = context;
    seat.part = {part, parts};
    seat.error = nullptr;
    seat.state.store(piece_ | kOffered, std::memory_order_release);
  }
  wake();
}

/// Does a part that nobody has begun, or waits for its end. Returns whether that took many looks.
bool Crew::finish_part(Seat& seat, Trust& trust) {
  std::uint64_t offered = piece_ | kOffered;
  if (seat.state.load(std::memory_order_acquire) == offered &&
      seat.state.compare_exchange_strong(offered, piece_ | kTaken, std::memory_order_acq_rel)) {
    trust.missed = std::min(trust.missed + 1, kLongestPause);
    trust.pause = every_seat_ ? 0 : 1 << trust.missed;
    work(seat);
    return false;
  }
  trust.missed = 0;
  int looks = 0;
  for (; seat.state.load(std::memory_order_acquire) != (piece_ | kDone); ++looks)
    looks < kLooks ? pause_briefly() : std::this_thread::yield();
  return looks > kManyLooks;
}

/// After a wait, from `end` of the leader's own part on: parts are of one size, so a long one means that a helper had
/// no core.
void Crew::look_back(Clock::time_point begin, Clock::time_point end) {
  const Clock::duration waited = Clock::now() - end;
  if (waited < std::max<Clock::duration>(kLeastStall, (end - begin) / 2)) return;
  paused_ = true;
  pause_until_ = end + waited + std::min<Clock::duration>(kPauses * waited, kMostPause);
}

void Crew::work(Seat& seat) {
  try {
    seat.call(seat.context, seat.part);
  } catch (...) {
    seat.error = std::current_exception();
  }
  seat.state.store(seat.state.load(std::memory_order_relaxed) & ~std::uint64_t{kClosed}, std::memory_order_release);
}

/// Whoever sleeps sees the states that were written before, or is seen here: both go through the same number.
void Crew::wake() {
  if (sleeping_.fetch_add(0, std::memory_order_acq_rel) == 0) return;
  { const std::lock_guard lock(mutex_); }
  awake_.notify_all();
}

void Crew::help() {
  const int number = joined_.fetch_add(1, std::memory_order_acq_rel);
  if (number >= static_cast<int>(seats_.size())) return;
  Seat& seat = seats_[static_cast<std::size_t>(number)];
  for (int looks = 0;;) {
    std::uint64_t state = seat.state.load(std::memory_order_acquire);
    if (state == kClosed) return;
    if ((state & kClosed) == kOffered) {
      if (seat.state.compare_exchange_strong(state, (state & ~std::uint64_t{kClosed}) | kTaken,
                                             std::memory_order_acq_rel))
        work(seat);
      looks = 0;
    } else if (looks++ < kLooks) {
      pause_briefly();
    } else {
      sleep(seat);
      looks = 0;
    }
  }
}

void Crew::sleep(Seat& seat) {
  std::unique_lock lock(mutex_);
  sleeping_.fetch_add(1, std::memory_order_acq_rel);
  awake_.wait(lock, [&] {
    const std::uint64_t state = seat.state.load(std::memory_order_acquire);
    return state == kClosed || (state & kClosed) == kOffered;
  });
  sleeping_.fetch_sub(1, std::memory_order_acq_rel);
}

// ---------------------------------------------------------------- staff

Staff::Staff(int threads, int cores) : threads_(std::min(threads, cores)) {
  for (int crew = 0; threads_ > 1 && crew < threads_; ++crew)
    crews_.push_back(std::make_unique<Crew>(seats_of(0, crew + 1)));
}

/// What the slowest crew has to do decides. A crew of several loses a little by sharing.
int Staff::crews_for(int slices) const {
  if (threads_ == 1) return 0;
  int best = 0;
  double least = 1e30;
  for (int crews = std::min(slices, threads_); crews >= 1; --crews) {
    const int seats = threads_ / crews, rounds = (slices + crews - 1) / crews;
    const double lost = seats > 1 ? 0.05 : 0;
    const double time = rounds * (1.0 / seats + lost);
    if (time < 0.95 * least) best = crews, least = time;
  }
  return threads_ / best > 1 ? best : 0;
}

void Staff::help() {
  const int crews = open_crews_.load(std::memory_order_acquire);
  if (crews > 0) crews_[static_cast<std::size_t>(helpers_.fetch_add(1, std::memory_order_relaxed) % crews)]->help();
}

void Staff::open(int crews, Crowd crowd) {
  for (int crew = 0; crew < crews; ++crew) crews_[static_cast<std::size_t>(crew)]->open(seats_of(crew, crews), crowd);
  helpers_.store(0, std::memory_order_relaxed);
  open_crews_.store(crews, std::memory_order_release);
}

/// Of one thread, shared by all: nothing in it changes.
Crew& Staff::alone() {
  static Crew crew(1);
  return crew;
}

}  // namespace throughtime::cpu
