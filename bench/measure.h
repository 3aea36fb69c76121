#pragma once

#include <time.h>

#include <functional>
#include <vector>

namespace throughtime::bench {

/// Middle value; the mean of the two middle values of an even count. Refuses an empty list.
double median(std::vector<double> values);
/// Smallest value. Refuses an empty list.
double minimum(const std::vector<double>& values);
/// Median of first[i] / second[i]: a machine that changes its speed does not disturb lists that were measured in turn.
double median_of_ratios(const std::vector<double>& first, const std::vector<double>& second);

struct Effort {
  int repeats = 15;               // rounds
  int least = 5;                  // rounds that are done however long they take
  double seconds = 15;            // no new round after this time
  double sample_seconds = 0.005;  // a sample repeats a short run until it has taken about this long
  // The same where the work is done on a device: runs follow each other there without a wait, as in training.
  double device_sample_seconds = 0.05;
  bool processor_time = false;  // of this process, in place of the time on the wall: other programs are not counted
};

/// Microseconds since some moment, by CLOCK_MONOTONIC or CLOCK_THREAD_CPUTIME_ID.
double microseconds_of(clockid_t clock);

/// Milliseconds per run of each subject, one sample per round; in every round the subjects run one after the other.
/// A warm-up comes first and says how many runs make a sample. `finish` waits for what the subjects have asked for,
/// before every look at the clock.
std::vector<std::vector<double>> measure_in_turn(
    const std::vector<std::function<void()>>& subjects, const Effort& effort,
    const std::function<void()>& finish = [] {});

}  // namespace throughtime::bench
