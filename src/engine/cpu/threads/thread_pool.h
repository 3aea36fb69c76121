#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/denormals.h"

namespace throughtime::cpu {

/// A fixed set of workers that share numbered tasks. Which thread runs a task never changes a result: tasks are cut
/// by the problem and write to places of their own.
class ThreadPool {
 public:
  /// `help`: what a worker does when no task is left (run_helped). It must return soon when there is nothing to help
  /// with, outlive the pool, and may be called at any time.
  explicit ThreadPool(int threads, std::function<void()> help = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(i) for i in [0, count), the caller helping; returns when all are done. Denormals are flushed inside.
  /// Of the exceptions thrown, the one of the lowest task number is rethrown: the same for any thread count.
  template <class Task>
  void run(int count, const Task& task) {
    if (workers_.empty() || count <= 1) return run_alone(count, task);
    run_tasks(
        count, [](const void* context, int index) { (*static_cast<const Task*>(context))(index); }, &task);
  }

  /// The same for tasks that others may help with: all workers come, and the caller does task 0. It waits for tasks
  /// alone, never for those who help.
  template <class Task>
  void run_helped(int count, const Task& task) {
    if (workers_.empty()) return run_alone(count, task);
    run_tasks(
        count, [](const void* context, int index) { (*static_cast<const Task*>(context))(index); }, &task, true);
  }

 private:
  using Call = void (*)(const void* context, int index);
  template <class Task>
  static void run_alone(int count, const Task& task) {
    const FlushDenormals flush;
    for (int i = 0; i < count; ++i) task(i);
  }
  void run_tasks(int count, Call call, const void* context, bool helped = false);
  void run_task(int index);
  void work();
  void take_tasks(std::uint64_t round);
  void keep_error(int index);

  std::function<void()> help_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  // One word holds the round and how many of its tasks nobody has taken, so that a late worker can never take a task
  // of a new round with the call of an old one: [round: 32][untaken: 32].
  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::uint64_t> round_{0};
  std::atomic<int> unfinished_{0};
  std::atomic<bool> stop_{false};

  Call call_ = nullptr;
  const void* context_ = nullptr;
  std::exception_ptr error_;
  int error_index_ = 0;
  int first_ = 0;  // task that a ticket can have
};

}  // namespace throughtime::cpu
