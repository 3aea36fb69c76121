// Learns from an endless stream, one observation at a time: the next value of a noisy wave, predicted first.
#include <throughtime/throughtime.h>

#include <cmath>

using namespace throughtime;

int main() {
  const Model model({.input = {.reals = 1},
                     .layers = {{.cell = "lstm", .hidden = 32}},
                     .head = {.name = "regression", .outputs = 1}});
  const auto engine = make_engine(model, {.name = "cpu", .threads = 1});
  OnlineLearner learner(*engine, initialise(model, {}, 1),
                        {.learner = {.name = "tbptt", .tbptt = {.preset = TbpttPreset::original, .truncation = 10}},
                         .clip = {.norm = 1}});

  const Random noise(1, Purpose::task);
  const auto wave = [&](int t) { return static_cast<float>(std::sin(0.2 * t) + 0.05 * noise.normal(0, 0, t)); };
  double first = 0, last = 0;
  for (int t = 0; t < 10'000; ++t) {
    const float now = wave(t), next = wave(t + 1);
    const double error = learner.observe({&now, 1}, {&next, 1})[0] - next;
    (t < 5'000 ? first : last) += t < 100 || t >= 9'900 ? error * error / 100 : 0;
  }
  fmt::print("mean squared error of the first 100 steps {:.4f}, of the last 100 {:.4f}\n", first, last);
  return last < 0.1 * first ? 0 : 1;
}
