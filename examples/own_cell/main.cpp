// Registers a cell of our own, checks its gradient by central differences in double precision, and compares the
// fast engine with the reference, and a GPU too where there is one. Exit code 1: it is wrong.
#include <throughtime/throughtime.h>

#include <algorithm>
#include <cmath>

#include "minimal_gated.h"

using namespace throughtime;

namespace {

/// One engine with a tape and the buffers of a gradient, for windows of one shape.
class Probe {
 public:
  Probe(const Model& model, const char* engine, const Window& window)
      : engine_(make_engine(model, {.name = engine, .threads = 1})),
        window_(window),
        tape_(engine_->make_tape({.steps = window.steps, .batch = window.batch})),
        parameters_(engine_->allocate(model.parameters().size())),
        gradient_(engine_->allocate(model.parameters().size())),
        loss_(engine_->allocate(1)) {}

  double loss(const std::vector<double>& parameters) {
    engine_->write(parameters_, parameters);
    engine_->fill(loss_, 0);
    engine_->unroll({.window = window_, .parameters = parameters_, .tape = *tape_, .loss_sum = loss_});
    return engine_->read(loss_)[0];
  }

  std::vector<double> gradient(const std::vector<double>& parameters) {
    loss(parameters);
    engine_->pull_back({.tape = *tape_, .window = window_, .parameters = parameters_, .gradient = gradient_});
    return engine_->read(gradient_);
  }

 private:
  std::unique_ptr<Engine> engine_;
  const Window& window_;
  std::unique_ptr<Tape> tape_;
  Buffer parameters_, gradient_, loss_;
};

std::vector<double> central_differences(Probe& probe, std::vector<double> parameters) {
  constexpr double step = 1e-5;
  std::vector<double> result(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double here = parameters[i];
    parameters[i] = here + step;
    const double above = probe.loss(parameters);
    parameters[i] = here - step;
    const double below = probe.loss(parameters);
    parameters[i] = here;
    result[i] = (above - below) / (2 * step);
  }
  return result;
}

/// |a - b| / |b|.
double relative_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double distance = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    distance += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(distance / norm);
}

bool report(const char* what, double error, double bound) {
  const bool good = error < bound;
  fmt::print("{}: relative error {:.1e} (bound {:.0e}) {}\n", what, error, bound, good ? "ok" : "WRONG");
  return good;
}

}  // namespace

int main() {
  CellType cell = minimal_gated_cell();
  cell.device = cuda::minimal_gated_device_cell;
  register_cell(cell);
  const Model model({.input = {.reals = 3},
                     .layers = {{.cell = "minimal_gated", .hidden = 7}, {.cell = "minimal_gated", .hidden = 5}},
                     .head = {.name = "regression", .outputs = 2}});

  constexpr int steps = 9, batch = 4;
  const Random random(2, Purpose::task);
  std::vector<float> inputs(steps * batch * 3), targets(steps * batch * 2);
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = static_cast<float>(random.normal(0, 0, i));
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<float>(random.normal(0, 1, i));
  const Source source = {
      .steps = steps * batch, .reals = 3, .target_width = 2, .values = inputs, .target_values = targets};
  Window window = {.steps = steps, .batch = batch, .sources = {&source, 1}};
  for (int row = 0; row < batch; ++row) window.start.push_back(row * steps);
  window.weight.assign(steps * batch, 1.0f);

  const std::vector<double> parameters = initialise(model, {}, 1);
  Probe reference(model, "reference", window), fast(model, "cpu", window);
  const std::vector<double> exact = reference.gradient(parameters);
  const bool slopes = report("reference against central differences",
                             relative_distance(exact, central_differences(reference, parameters)), 1e-7);
  const bool engines = report("cpu against reference", relative_distance(fast.gradient(parameters), exact), 1e-5);
  if (const EngineType& gpu = find_engine("cuda"); !gpu.usable()) {
    fmt::print("cuda: {}\n", gpu.missing());
    return slopes && engines ? 0 : 1;
  }
  Probe device(model, "cuda", window);
  const bool agrees = report("cuda against reference", relative_distance(device.gradient(parameters), exact), 1e-5);
  return slopes && engines && agrees ? 0 : 1;
}
