#include "report/charts/diagnosis_chart.h"

#include <gtest/gtest.h>

#include <cmath>

namespace throughtime {
namespace {

/// Gradients of two places that halve at every lag from 0 to 12; a truncation of K leaves a bias of 2^-K.
Diagnosis halving() {
  Diagnosis diagnosis{.positions = 2, .lags = 12, .tail = 10, .longest = 12, .beta = 0.5, .decays = true};
  for (int k = 0; k <= diagnosis.lags; ++k)
    diagnosis.lengths.push_back({.truncation = k,
                                 .phi = std::pow(0.5, k),
                                 .relative_bias = std::pow(0.5, k),
                                 .measured_bias = std::pow(0.4, k)});
  for (const double size : {0.5, 1.5})
    for (int k = 0; k <= diagnosis.lags; ++k) diagnosis.draws.push_back(size * std::pow(0.5, k));
  diagnosis.choices = {{.delta = 0.5, .truncation = 2, .reached = true}, {.delta = 1e-9, .truncation = 12}};
  return diagnosis;
}

TEST(DiagnosisChart, ShowsSinglePlacesTheirMeanAndTheTailThatContinuesIt) {
  const Chart chart = decay_chart(halving(), "t");
  ASSERT_EQ(chart.curves.size(), 2u + 2u);
  EXPECT_TRUE(chart.curves[0].faint && chart.curves[1].faint);
  EXPECT_EQ(chart.curves[1].y[3], 1.5 / 8);
  EXPECT_EQ(chart.curves[2].y.size(), 13u);
  EXPECT_EQ(chart.curves[3].x, (std::vector<double>{10, 11, 12}));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(chart.curves[3].y[i], chart.curves[2].y[10 + i]);
  Diagnosis broken = halving();
  broken.beta = std::nan("");
  EXPECT_EQ(decay_chart(broken, "t").curves.size(), 2u + 1u) << "no tail";
}

TEST(DiagnosisChart, ShowsTheBiasWhereItWasMeasuredToo) {
  Diagnosis diagnosis = halving();
  const Chart chart = bias_chart(diagnosis, "t");
  ASSERT_EQ(chart.curves.size(), 2u);
  EXPECT_EQ(chart.curves[1].y[2], std::pow(0.4, 2));
  ASSERT_EQ(chart.references.size(), 2u);
  EXPECT_EQ(chart.references[0].label, "below 0.5 from K = 2");
  EXPECT_EQ(chart.references[1].label, "delta = 1e-09") << "no K reaches it";
  for (TruncationFacts& facts : diagnosis.lengths) facts.measured_bias.reset();
  EXPECT_EQ(bias_chart(diagnosis, "t").curves.size(), 1u);
}

TEST(DiagnosisChart, EndsWhereTheBiasNoLongerMatters) {
  Diagnosis diagnosis = halving();
  diagnosis.choices.back().truncation = 3;
  EXPECT_EQ(last_shown_length(diagnosis), 10);  // 2^-10 is below a thousandth
  EXPECT_EQ(bias_chart(diagnosis, "t").curves[0].x.back(), 10);
}

}  // namespace
}  // namespace throughtime
