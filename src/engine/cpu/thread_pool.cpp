#include "engine/cpu/thread_pool.h"

#include "core/denormals.h"

namespace throughtime::cpu {

namespace {

// A window's tasks follow each other within microseconds: a worker spins that long before it sleeps.
constexpr int kSpins = 4000;

inline void pause() {
#if defined(__SSE2__)
  _mm_pause();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_.store(true, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run_tasks(int count, Call call, const void* context) {
  const FlushDenormals flush;
  if (workers_.empty() || count <= 1) {
    for (int i = 0; i < count; ++i) call(context, i);
    return;
  }
  call_ = call;
  context_ = context;
  error_ = nullptr;
  unfinished_.store(count, std::memory_order_relaxed);
  const std::uint64_t round = round_.load(std::memory_order_relaxed) + 1;
  ticket_.store(round << 32 | static_cast<std::uint32_t>(count), std::memory_order_release);
  {
    const std::lock_guard lock(mutex_);
    round_.store(round, std::memory_order_release);
  }
  wake_.notify_all();
  take_tasks(round);
  while (unfinished_.load(std::memory_order_acquire) != 0) pause();
  if (error_) std::rethrow_exception(error_);
}

void ThreadPool::take_tasks(std::uint64_t round) {
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (ticket >> 32 == (round & 0xffffffffu)) {
    if ((ticket & 0xffffffffu) == 0) return;
    if (!ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel)) continue;
    // Having taken a task of the round, its call cannot change: the owner waits for every task of it.
    const int index = static_cast<int>(ticket & 0xffffffffu) - 1;
    try {
      call_(context_, index);
    } catch (...) {
      keep_error(index);
    }
    unfinished_.fetch_sub(1, std::memory_order_acq_rel);
    ticket = ticket_.load(std::memory_order_acquire);
  }
}

void ThreadPool::keep_error(int index) {
  const std::lock_guard lock(mutex_);
  if (error_ && error_index_ < index) return;
  error_ = std::current_exception();
  error_index_ = index;
}

void ThreadPool::work() {
  const FlushDenormals flush;
  std::uint64_t seen = 0;
  for (;;) {
    std::uint64_t round = round_.load(std::memory_order_acquire);
    for (int spin = 0; round == seen && spin < kSpins; ++spin) {
      pause();
      round = round_.load(std::memory_order_acquire);
    }
    if (round == seen) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return round_.load(std::memory_order_acquire) != seen; });
      round = round_.load(std::memory_order_acquire);
    }
    if (stop_.load(std::memory_order_relaxed)) return;
    seen = round;
    take_tasks(round);
  }
}

}  // namespace throughtime::cpu
