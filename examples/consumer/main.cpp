// Trains an LSTM to continue a sine wave, with truncated back-propagation over a state that is carried on.
#include <throughtime/throughtime.h>

#include <cmath>

using namespace throughtime;

int main() {
  constexpr int steps = 100, batch = 8, stretches = 30;
  std::vector<float> wave(steps * stretches), next(wave.size());
  for (std::size_t t = 0; t < wave.size(); ++t) wave[t] = std::sin(0.1 * t), next[t] = std::sin(0.1 * (t + 1));
  const Source source = {.steps = wave.size(), .reals = 1, .target_width = 1, .values = wave, .target_values = next};

  const Model model({.input = {.reals = 1},
                     .layers = {{.cell = "lstm", .hidden = 16}},
                     .head = {.name = "regression", .outputs = 1}});
  const auto engine = make_engine(model, {.name = "cpu", .threads = 1});
  Trainee trainee = make_trainee(*engine, initialise(model, {}, 1), {.name = "adam"}, {.norm = 1.0});
  const auto learner =
      make_learner(TbpttConfig{.preset = TbpttPreset::plain, .truncation = 20}, trainee, {steps, batch});

  double first = 0, last = 0;
  for (int stretch = 0; stretch < stretches - 1; ++stretch) {
    Window window = {.steps = steps, .batch = batch, .sources = {&source, 1}, .continues = stretch > 0};
    for (int row = 0; row < batch; ++row) window.start.push_back(stretch * steps + 7 * row);
    window.weight.assign(steps * batch, 1.0f);
    learner->learn(window, [](std::int64_t) { return 0.01; });
    last = learner->take_mean_loss();
    if (stretch == 0) first = last;
  }
  fmt::print("loss of the first stretch {:.4f}, of the last {:.6f}\n", first, last);
  return last < 0.1 * first ? 0 : 1;
}
