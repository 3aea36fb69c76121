#include "engine/cpu/threads/thread_pool.h"

#include "core/denormals.h"
#include "engine/cpu/threads/pause.h"

namespace throughtime::cpu {

namespace {

// A window's tasks follow each other within microseconds: a worker spins that long before it sleeps.
constexpr int kSpins = 4000;

}  // namespace

ThreadPool::ThreadPool(int threads, std::function<void()> help) : help_(std::move(help)) {
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

void ThreadPool::run_tasks(int count, Call call, const void* context, bool helped) {
  const FlushDenormals flush;
  call_ = call;
  context_ = context;
  error_ = nullptr;
  unfinished_.store(count, std::memory_order_relaxed);
  const std::uint64_t round = round_.load(std::memory_order_relaxed) + 1;
  // Tasks are taken from the last one on; where there is help, nobody but the caller can take the first.
  first_ = helped ? 1 : 0;
  ticket_.store(round << 32 | static_cast<std::uint32_t>(count - first_), std::memory_order_release);
  {
    const std::lock_guard lock(mutex_);
    round_.store(round, std::memory_order_release);
  }
  wake_.notify_all();
  if (helped) run_task(0);
  take_tasks(round);
  if (helped && help_ && unfinished_.load(std::memory_order_acquire) != 0) help_();
  for (int spin = 0; unfinished_.load(std::memory_order_acquire) != 0; ++spin)
    spin < kSpins ? pause_briefly() : std::this_thread::yield();
  if (error_) std::rethrow_exception(error_);
}

void ThreadPool::take_tasks(std::uint64_t round) {
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (ticket >> 32 == (round & 0xffffffffu)) {
    if ((ticket & 0xffffffffu) == 0) return;
    if (!ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel)) continue;
    // Having taken a task of the round, its call cannot change: the owner waits for every task of it.
    run_task(static_cast<int>(ticket & 0xffffffffu) - 1 + first_);
    ticket = ticket_.load(std::memory_order_acquire);
  }
}

void ThreadPool::run_task(int index) {
  try {
    call_(context_, index);
  } catch (...) {
    keep_error(index);
  }
  unfinished_.fetch_sub(1, std::memory_order_acq_rel);
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
      pause_briefly();
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
    if (help_) help_();
  }
}

}  // namespace throughtime::cpu
