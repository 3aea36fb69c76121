#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace throughtime::cpu {

/// A fixed set of workers that share numbered tasks. Which thread runs a task never changes a result: tasks are cut
/// by the problem and write to places of their own.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(i) for i in [0, count), the caller helping; returns when all are done. Denormals are flushed inside.
  /// Of the exceptions thrown, the one of the lowest task number is rethrown: the same for any thread count.
  template <class Task>
  void run(int count, const Task& task) {
    run_tasks(
        count, [](const void* context, int index) { (*static_cast<const Task*>(context))(index); }, &task);
  }

 private:
  using Call = void (*)(const void* context, int index);
  void run_tasks(int count, Call call, const void* context);
  void work();
  void take_tasks(std::uint64_t round);
  void keep_error(int index);

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
};

}  // namespace throughtime::cpu
