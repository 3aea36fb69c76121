#pragma once

#include <cstddef>
#include <vector>

namespace throughtime {

/// Numbers over seeds. What needs two values is NaN where there is one.
struct Summary {
  std::size_t count = 0;
  double mean = 0;
  double deviation = 0;       // of the sample: divided by count - 1
  double standard_error = 0;  // of the mean
};
/// Values that are not finite count as any other: their mean is not finite either.
Summary summary_of(const std::vector<double>& values);

/// A difference of means (second minus first) and how likely one as large is where there is none.
struct Comparison {
  double difference = 0;
  double standard_error = 0;
  double t = 0;
  double degrees_of_freedom = 0;
  double p = 0;  // two-sided; NaN where there are fewer than two values or no spread at all
};
/// Welch's t test of two independent samples.
Comparison welch(const std::vector<double>& first, const std::vector<double>& second);
/// The t test of the differences of pairs, such as runs with the same seed.
Comparison paired(const std::vector<double>& first, const std::vector<double>& second);

/// The t test of the mean of one sample against a number.
Comparison against(const std::vector<double>& values, double number);
/// The same of a difference that is known with its standard error. One without any spread is certain (p is 0) unless it
/// is 0 (p is 1).
double p_of(double difference, double standard_error, double degrees_of_freedom);
/// The exact test of Mann and Whitney: it asks for ranks alone, so that a value may be infinite (one that is only known
/// to be larger than all others). Equal values share their ranks.
struct RankComparison {
  double difference = 0;  // of the mean ranks, second minus first
  double p = 0;           // two-sided; NaN where a sample is empty or has a NaN
};
RankComparison rank_sum(const std::vector<double>& first, const std::vector<double>& second);
/// The values of p corrected by Holm for how many they are, each where it was. One that is NaN is no test: it stays and
/// does not count.
std::vector<double> holm(const std::vector<double>& p);
/// The same for each family of tests by itself: `family` has a number for each p.
std::vector<double> holm(const std::vector<double>& p, const std::vector<int>& family);

/// I_x(a, b), the regularised incomplete beta function, for a, b > 0 and x from 0 to 1.
double incomplete_beta(double a, double b, double x);
/// P(|T| > t) of Student's distribution.
double student_two_sided(double t, double degrees_of_freedom);

}  // namespace throughtime
