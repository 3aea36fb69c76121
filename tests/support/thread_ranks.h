#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "throughtime/communicator.h"

namespace throughtime::testing {

/// Ranks that are threads of one process: what MPI does, without it.
class ThreadRanks {
 public:
  /// Runs `work` on that many ranks at once; what one of them throws is thrown here.
  static void run(int ranks, const std::function<void(std::shared_ptr<Communicator>)>& work) {
    ThreadRanks all(ranks);
    run(all, work);
  }
  /// The same; returns how many numbers were gathered.
  static std::size_t count_gathered(int ranks, const std::function<void(std::shared_ptr<Communicator>)>& work) {
    ThreadRanks all(ranks);
    run(all, work);
    return all.gathered_;
  }

 private:
  static void run(ThreadRanks& all, const std::function<void(std::shared_ptr<Communicator>)>& work) {
    const int ranks = all.ranks_;
    std::vector<std::thread> threads;
    std::exception_ptr error;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        try {
          work(std::make_shared<Rank>(all, rank));
        } catch (...) {
          all.leave(error);
        }
      });
    for (std::thread& thread : threads) thread.join();
    if (error) std::rethrow_exception(error);
  }

  class Rank final : public Communicator {
   public:
    Rank(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int ranks() const override { return all_.ranks_; }
    int local_ranks() const override { return all_.ranks_; }
    void all_reduce_sum(std::span<float> values) override { sum(values); }
    void all_reduce_sum(std::span<double> values) override { sum(values); }
    void all_gather(std::span<const double> mine, std::span<const int> counts, std::span<double> all) override {
      show(mine.data());
      if (rank_ == 0) all_.gathered_ += all.size();
      auto to = all.begin();
      for (int rank = 0; rank < ranks(); ++rank) to = std::copy_n(shown<double>(rank), counts[rank], to);
      all_.wait();
    }
    void broadcast(std::string& text) override {
      show(&text);
      const std::string first = *shown<std::string>(0);
      all_.wait();
      text = first;
    }
    bool meet(double) override { return false; }
    void abort(int) override { std::terminate(); }

   private:
    template <class Real>
    void sum(std::span<Real> values) {
      show(values.data());
      sums_.resize(
          std::max(sums_.size(), values.size() * sizeof(Real)));  // kept, so that a second call asks for nothing
      Real* sums = reinterpret_cast<Real*>(sums_.data());
      std::fill_n(sums, values.size(), Real(0));
      for (int rank = 0; rank < ranks(); ++rank)
        for (std::size_t i = 0; i < values.size(); ++i) sums[i] += shown<Real>(rank)[i];
      all_.wait();
      std::copy_n(sums, values.size(), values.begin());
    }
    void show(const void* mine) {
      all_.shown_[static_cast<std::size_t>(rank_)] = mine;
      all_.wait();
    }
    template <class T>
    const T* shown(int rank) const {
      return static_cast<const T*>(all_.shown_[static_cast<std::size_t>(rank)]);
    }
    ThreadRanks& all_;
    int rank_;
    std::vector<std::byte> sums_;
  };

  explicit ThreadRanks(int ranks) : ranks_(ranks), shown_(static_cast<std::size_t>(ranks)) {}

  /// Until all ranks are here.
  void wait() {
    std::unique_lock lock(mutex_);
    const int round = round_;
    if (++here_ == ranks_) {
      here_ = 0;
      ++round_;
      all_here_.notify_all();
    }
    all_here_.wait(lock, [&] { return round_ != round || broken_; });
    if (round_ == round) throw std::runtime_error("another rank has failed");
  }
  void leave(std::exception_ptr& error) {
    const std::lock_guard lock(mutex_);
    if (!broken_) error = std::current_exception();
    broken_ = true;
    all_here_.notify_all();
  }

  int ranks_;
  std::vector<const void*> shown_;  // what each rank brings to a call
  std::size_t gathered_ = 0;
  std::mutex mutex_;
  std::condition_variable all_here_;
  int here_ = 0, round_ = 0;
  bool broken_ = false;
};

}  // namespace throughtime::testing
