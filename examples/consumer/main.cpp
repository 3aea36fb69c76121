// Trains an LSTM to continue a sine wave, with truncated back-propagation over a state that is carried on. Half-way it
// saves everything, and other objects go on from the file.
#include <throughtime/throughtime.h>

#include <cmath>

using namespace throughtime;

constexpr int steps = 100, batch = 8, stretches = 29;

/// Learns from stretches `from` to `to` of a source; returns the mean loss of the last one.
double learn(Learner& learner, const Source& source, int from, int to) {
  for (int stretch = from; stretch < to; ++stretch) {
    Window window = {.steps = steps, .batch = batch, .sources = {&source, 1}, .continues = stretch > 0};
    for (int row = 0; row < batch; ++row) window.start.push_back(stretch * steps + 7 * row);
    window.weight.assign(steps * batch, 1.0f);
    learner.take_means();
    learner.learn(window, [](std::int64_t) { return 0.01; });
  }
  return learner.take_mean_loss();
}

int main() {
  std::vector<float> wave(steps * (stretches + 1)), next(wave.size());
  for (std::size_t t = 0; t < wave.size(); ++t) wave[t] = std::sin(0.1 * t), next[t] = std::sin(0.1 * (t + 1));
  const Source source = {.steps = wave.size(), .reals = 1, .target_width = 1, .values = wave, .target_values = next};

  const Model model({.input = {.reals = 1},
                     .layers = {{.cell = "lstm", .hidden = 16}},
                     .head = {.name = "regression", .outputs = 1}});
  const auto engine = make_engine(model, {.name = "cpu", .threads = 1});
  const TbpttConfig settings = {.preset = TbpttPreset::plain, .truncation = 20};
  Trainee trainee = make_trainee(*engine, initialise(model, {}, 1), {.name = "adam"}, {.norm = 1.0});
  const auto learner = make_learner(settings, trainee, {steps, batch});
  const double first = learn(*learner, source, 0, 1);
  learn(*learner, source, 1, stretches / 2);
  save_training("training.safetensors", trainee, *learner);

  Trainee other = make_trainee(*engine, initialise(model, {}, 2), {.name = "adam"}, {.norm = 1.0});
  const auto goes_on = make_learner(settings, other, {steps, batch});
  load_training("training.safetensors", other, *goes_on);
  const double last = learn(*goes_on, source, stretches / 2, stretches);
  fmt::print("loss of the first stretch {:.4f}, of the last {:.6f}\n", first, last);

  // The weights alone, with PyTorch's names and layouts.
  const std::vector<double> weights = engine->read(other.parameters);
  save_weights("weights.safetensors", model, weights);
  return last < 0.1 * first && load_weights("weights.safetensors", model) == weights ? 0 : 1;
}
