#include "bench/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "throughtime/error.h"

namespace throughtime::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Times runs by one of two clocks.
class Stopwatch {
 public:
  Stopwatch(TimeOf time, const std::function<void()>& finish)
      : clock_(time == TimeOf::cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC), finish_(finish) {}

  double seconds_of(const std::function<void()>& run, int runs) const {
    finish_();
    const double begin = microseconds_of(clock_);
    for (int i = 0; i < runs; ++i) run();
    finish_();
    return 1e-6 * (microseconds_of(clock_) - begin);
  }

 private:
  clockid_t clock_;
  const std::function<void()>& finish_;
};

/// Runs until the subject is warm; returns how many runs make a sample.
int warm_up(const std::function<void()>& run, double sample_seconds, const Stopwatch& watch) {
  constexpr int most_runs = 100'000;
  constexpr double long_run = 0.5;  // seconds: it is warm after one
  const double first = watch.seconds_of(run, 1);
  if (first > long_run) return 1;
  const double one = std::max(watch.seconds_of(run, 1), 1e-9);
  const int guess = static_cast<int>(std::clamp(std::ceil(sample_seconds / one), 1.0, double{most_runs}));
  if (guess == 1) return 1;
  const double again = std::max(watch.seconds_of(run, guess) / guess, 1e-9);
  return static_cast<int>(std::clamp(std::ceil(sample_seconds / again), 1.0, double{most_runs}));
}

}  // namespace

double microseconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
  if (values.empty()) refuse("bench", "the median of no values was asked for");
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double minimum(const std::vector<double>& values) {
  if (values.empty()) refuse("bench", "the minimum of no values was asked for");
  return *std::min_element(values.begin(), values.end());
}

double median_of_ratios(const std::vector<double>& first, const std::vector<double>& second) {
  if (first.size() != second.size())
    refuse("bench", "pairs need lists of one length, got {} and {}", first.size(), second.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < first.size(); ++i) ratios.push_back(first[i] / second[i]);
  return median(std::move(ratios));
}

std::vector<std::vector<double>> measure_in_turn(const std::vector<std::function<void()>>& subjects,
                                                 const Effort& effort, const std::function<void()>& finish) {
  std::vector<int> runs;
  const Stopwatch watch(effort.time, finish);
  for (const auto& subject : subjects) runs.push_back(warm_up(subject, effort.sample_seconds, watch));
  std::vector<std::vector<double>> milliseconds(subjects.size());
  const Clock::time_point begin = Clock::now();
  for (int round = 0; round < effort.repeats; ++round) {
    if (round >= effort.least && seconds_since(begin) > effort.seconds) break;
    for (std::size_t i = 0; i < subjects.size(); ++i)
      milliseconds[i].push_back(1e3 * watch.seconds_of(subjects[i], runs[i]) / runs[i]);
  }
  return milliseconds;
}

}  // namespace throughtime::bench
