#include "bench/onednn.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "bench/onednn/adam.h"
#include "bench/onednn/passes.h"
#include "src/core/denormals.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime::bench {
namespace {

using dnnl::memory;
using Arguments = std::unordered_map<int, memory>;

constexpr double rate = 1e-3;
constexpr std::size_t line = 16;  // numbers of a cache line

/// Where the parts of a vector of parameters are, each at the beginning of a cache line: weights in oneDNN's layouts,
/// both biases of ours in its order of gates.
struct Places {
  std::size_t layer = 0, iteration = 0, input_bias = 0, recurrent_bias = 0, head = 0, head_bias = 0, size = 0;
};

Places places_of(const OnednnCell& cell, const Case& chosen) {
  const std::size_t hidden = elements(chosen.hidden), gates = elements(cell.gates) * hidden;
  Places places;
  const auto add = [&places](std::size_t& place, std::size_t numbers) {
    place = places.size;
    places.size += (numbers + line - 1) / line * line;
  };
  add(places.layer, elements(chosen.inputs) * gates);
  add(places.iteration, hidden * gates);
  add(places.input_bias, gates);
  add(places.recurrent_bias, gates);
  add(places.head, hidden);
  add(places.head_bias, 1);
  return places;
}

/// Names each parameter of ours (its index) and its place there.
template <class Action>
void for_pairs(const OnednnCell& cell, const Case& chosen, const Places& places, const ParameterLayout& layout,
               const Action& action) {
  const std::size_t hidden = elements(chosen.hidden), gates = elements(cell.gates);
  const auto weights = [&](const char* name, std::size_t columns, std::size_t place) {  // ours [G, H, I], its [I, G, H]
    const std::size_t ours = layout.find(name).offset;
    for (std::size_t gate = 0; gate < gates; ++gate)
      for (std::size_t unit = 0; unit < hidden; ++unit)
        for (std::size_t column = 0; column < columns; ++column)
          action(ours + (elements(cell.order[gate]) * hidden + unit) * columns + column,
                 place + (column * gates + gate) * hidden + unit);
  };
  weights("rnn.weight_ih_l0", elements(chosen.inputs), places.layer);
  weights("rnn.weight_hh_l0", hidden, places.iteration);
  const auto bias = [&](const char* name, std::size_t place) {
    for (std::size_t gate = 0; gate < gates; ++gate)
      for (std::size_t unit = 0; unit < hidden; ++unit)
        action(layout.find(name).offset + elements(cell.order[gate]) * hidden + unit, place + gate * hidden + unit);
  };
  bias("rnn.bias_ih_l0", places.input_bias);
  bias("rnn.bias_hh_l0", places.recurrent_bias);
  for (std::size_t unit = 0; unit < hidden; ++unit)
    action(layout.find("head.weight").offset + unit, places.head + unit);
  action(layout.find("head.bias").offset, places.head_bias);
}

/// Zeros, in memory that oneDNN has aligned.
memory zeros(const memory::desc& desc, const dnnl::engine& engine) {
  memory made(desc, engine);
  if (desc.get_size() > 0) std::fill_n(static_cast<char*>(made.get_data_handle()), desc.get_size(), char{0});
  return made;
}

memory vector_of(std::size_t size, const dnnl::engine& engine) {
  return zeros({{static_cast<memory::dim>(size)}, memory::data_type::f32, memory::format_tag::a}, engine);
}

float* numbers(const memory& of) { return static_cast<float*>(of.get_data_handle()); }

/// One of several arrays that lie in a vector.
memory part_of(const memory& whole, std::size_t place, const memory::desc& desc, const dnnl::engine& engine) {
  return {desc, engine, numbers(whole) + place};
}

/// The array itself where it has that layout, else another one for the same numbers.
memory in_layout(const memory& plain, const memory::desc& wanted, const dnnl::engine& engine) {
  return plain.get_desc() == wanted ? plain : zeros(wanted, engine);
}

/// Carries numbers from one layout into another, unless both are the same array.
class Translation {
 public:
  Translation(const memory& from, const memory& to) : from_(from), to_(to) {
    if (from != to) reorder_ = dnnl::reorder(from, to);
  }
  const memory& from() const { return from_; }
  const memory& to() const { return to_; }
  void run(dnnl::stream& stream) {
    if (from_ != to_) reorder_.execute(stream, from_, to_);
  }

 private:
  memory from_, to_;
  dnnl::reorder reorder_;
};

/// What all windows share: parameters and their gradient, each in one vector.
struct Shared {
  Shared(const OnednnCell& cell, const Case& chosen)
      : places(places_of(cell, chosen)),
        engine(dnnl::engine::kind::cpu, 0),
        stream(engine),
        parameters(vector_of(places.size, engine)),
        gradient(vector_of(places.size, engine)),
        bias(zeros(PlainLayouts(cell, chosen, 1).bias, engine)),
        bias_gradient(zeros(bias.get_desc(), engine)),
        numbers_of_gates(elements(cell.gates, chosen.hidden)),
        apart(elements(cell.biases - cell.gates) * elements(chosen.hidden)) {}

  /// oneDNN has one bias where two are only ever added; those of the last gate of a gru stay apart.
  void add_biases() {
    const float* input = numbers(parameters) + places.input_bias;
    const float* recurrent = numbers(parameters) + places.recurrent_bias;
    const std::size_t added = numbers_of_gates - apart;
    for (std::size_t i = 0; i < added; ++i) numbers(bias)[i] = input[i] + recurrent[i];
    std::copy_n(input + added, apart, numbers(bias) + added);
    std::copy_n(recurrent + added, apart, numbers(bias) + numbers_of_gates);
  }
  void share_bias_gradient() {
    const float* sums = numbers(bias_gradient);
    const std::size_t added = numbers_of_gates - apart;
    std::copy_n(sums, numbers_of_gates, numbers(gradient) + places.input_bias);
    std::copy_n(sums, added, numbers(gradient) + places.recurrent_bias);
    std::copy_n(sums + numbers_of_gates, apart, numbers(gradient) + places.recurrent_bias + added);
  }

  Places places;
  dnnl::engine engine;
  dnnl::stream stream;
  memory parameters, gradient;
  memory bias, bias_gradient;  // oneDNN's
  std::size_t numbers_of_gates, apart;
};

/// All that a window of one length needs, and what it does.
class WindowPasses {
 public:
  WindowPasses(const OnednnCell& cell, const Case& chosen, int steps, Shared& shared)
      : shared_(shared),
        case_(chosen),
        plain_(cell, chosen, steps),
        passes_(make_passes(cell, chosen, steps, shared.engine)),
        layer_(weights_in(passes_.layer, shared.places.layer, plain_.layer)),
        iteration_(weights_in(passes_.iteration, shared.places.iteration, plain_.iteration)),
        back_layer_(weights_in(passes_.back_layer, shared.places.layer, plain_.layer)),
        back_iteration_(weights_in(passes_.back_iteration, shared.places.iteration, plain_.iteration)),
        layer_gradient_(gradient_in(passes_.layer_gradient, shared.places.layer, plain_.layer)),
        iteration_gradient_(gradient_in(passes_.iteration_gradient, shared.places.iteration, plain_.iteration)),
        output_(zeros(plain_.output, shared.engine)),
        output_gradient_(zeros(plain_.output, shared.engine)) {
    forward_ = {{DNNL_ARG_WEIGHTS_LAYER, layer_.to()},
                {DNNL_ARG_WEIGHTS_ITER, iteration_.to()},
                {DNNL_ARG_BIAS, shared.bias},
                {DNNL_ARG_DST_LAYER, output_},
                {DNNL_ARG_WORKSPACE, zeros(passes_.workspace, shared.engine)}};
    add_states(cell.memory);
    backward_ = forward_;
    add_gradients(cell.memory);
  }

  /// x: [steps, B, D]; the state goes into and out of the arrays of `state`.
  void forward(float* x) {
    layer_.run(shared_.stream);
    iteration_.run(shared_.stream);
    shared_.add_biases();
    forward_[DNNL_ARG_SRC_LAYER] = {plain_.input, shared_.engine, x};
    passes_.forward.execute(shared_.stream, forward_);
    shared_.stream.wait();
  }

  void backward(float* x) {
    back_layer_.run(shared_.stream);
    back_iteration_.run(shared_.stream);
    backward_[DNNL_ARG_SRC_LAYER] = {plain_.input, shared_.engine, x};
    for (const int gradient : {DNNL_ARG_DIFF_WEIGHTS_LAYER, DNNL_ARG_DIFF_WEIGHTS_ITER, DNNL_ARG_DIFF_BIAS}) {
      const memory& sum = backward_.at(gradient);  // it adds to what is there
      std::fill_n(static_cast<char*>(sum.get_data_handle()), sum.get_desc().get_size(), char{0});
    }
    passes_.backward.execute(shared_.stream, backward_);
    layer_gradient_.run(shared_.stream);
    iteration_gradient_.run(shared_.stream);
    shared_.stream.wait();
    shared_.share_bias_gradient();
  }

  const float* last_output() const { return numbers(output_) + last_step(); }  // [B, H]
  float* last_output_gradient() const { return numbers(output_gradient_) + last_step(); }
  void state_from(const WindowPasses& before) {
    for (std::size_t i = 0; i < first_.size(); ++i)
      std::copy_n(numbers(before.last_[i]), state_size(), numbers(first_[i]));
  }
  void forget_state() {
    for (const memory& state : first_) std::fill_n(numbers(state), state_size(), 0.0f);
  }

 private:
  Translation weights_in(const memory::desc& wanted, std::size_t place, const memory::desc& plain) const {
    const memory held = part_of(shared_.parameters, place, plain, shared_.engine);
    return {held, in_layout(held, wanted, shared_.engine)};
  }
  Translation gradient_in(const memory::desc& wanted, std::size_t place, const memory::desc& plain) const {
    const memory held = part_of(shared_.gradient, place, plain, shared_.engine);
    return {in_layout(held, wanted, shared_.engine), held};
  }
  std::size_t state_size() const { return elements(case_.batch, case_.hidden); }
  std::size_t last_step() const { return elements(plain_.output.dims()[0] - 1) * state_size(); }

  void add_states(bool with_memory) {
    for (int i = 0; i < (with_memory ? 2 : 1); ++i) {
      first_.push_back(zeros(plain_.state, shared_.engine));
      last_.push_back(zeros(plain_.state, shared_.engine));
    }
    forward_.insert({{DNNL_ARG_SRC_ITER, first_[0]}, {DNNL_ARG_DST_ITER, last_[0]}});
    if (with_memory) forward_.insert({{DNNL_ARG_SRC_ITER_C, first_[1]}, {DNNL_ARG_DST_ITER_C, last_[1]}});
  }

  void add_gradients(bool with_memory) {
    backward_[DNNL_ARG_WEIGHTS_LAYER] = back_layer_.to();
    backward_[DNNL_ARG_WEIGHTS_ITER] = back_iteration_.to();
    backward_.insert({{DNNL_ARG_DIFF_SRC_LAYER, zeros(plain_.input, shared_.engine)},
                      {DNNL_ARG_DIFF_WEIGHTS_LAYER, layer_gradient_.from()},
                      {DNNL_ARG_DIFF_WEIGHTS_ITER, iteration_gradient_.from()},
                      {DNNL_ARG_DIFF_BIAS, shared_.bias_gradient},
                      {DNNL_ARG_DIFF_DST_LAYER, output_gradient_}});
    const auto state = [this] { return zeros(plain_.state, shared_.engine); };
    backward_.insert({{DNNL_ARG_DIFF_SRC_ITER, state()}, {DNNL_ARG_DIFF_DST_ITER, state()}});
    if (with_memory) backward_.insert({{DNNL_ARG_DIFF_SRC_ITER_C, state()}, {DNNL_ARG_DIFF_DST_ITER_C, state()}});
  }

  Shared& shared_;
  Case case_;
  PlainLayouts plain_;
  Passes passes_;
  Translation layer_, iteration_, back_layer_, back_iteration_, layer_gradient_, iteration_gradient_;
  memory output_, output_gradient_;   // [steps, B, H]
  std::vector<memory> first_, last_;  // states before and after the window
  Arguments forward_, backward_;
};

class OnednnRun final : public Onednn {
 public:
  OnednnRun(const OnednnCell& cell, const Case& chosen, const CaseNumbers& of, int threads)
      : case_(chosen),
        cell_(cell),
        layout_(of.layout),
        threads_(threads),
        shared_(cell, chosen),
        adam_(shared_.places.size),
        targets_(of.targets.begin(), of.targets.end()) {
    for (int part = 0; part < chosen.windows; ++part)
      if (const int steps = end_of(part) - end_of(part - 1); !windows_.contains(steps))
        windows_.try_emplace(steps, cell, chosen, steps, shared_);
    for_pairs(cell, chosen, shared_.places, of.layout, [&](std::size_t ours, std::size_t its) {
      numbers(shared_.parameters)[its] = static_cast<float>(of.parameters[ours]);
    });
    const std::size_t batch = elements(chosen.batch), width = elements(chosen.inputs), steps = elements(chosen.steps);
    inputs_.resize(steps * batch * width);
    for (std::size_t row = 0; row < batch; ++row)
      for (std::size_t step = 0; step < steps; ++step)
        std::copy_n(of.inputs.begin() + static_cast<std::ptrdiff_t>((row * steps + step) * width), width,
                    inputs_.begin() + static_cast<std::ptrdiff_t>((step * batch + row) * width));
  }

  void run() override {
    const FlushDenormals flush;  // as ours does
    omp_set_num_threads(threads_);
    const WindowPasses* before = nullptr;
    for (int part = 0; part < case_.windows; ++part) {
      WindowPasses& window = windows_.at(end_of(part) - end_of(part - 1));
      if (before == nullptr)
        window.forget_state();
      else
        window.state_from(*before);
      float* const x = inputs_.data() + elements(end_of(part - 1)) * elements(case_.batch, case_.inputs);
      window.forward(x);
      head(window);
      window.backward(x);
      if (case_.kind == Kind::windows) adam_.update(rate, numbers(shared_.gradient), numbers(shared_.parameters));
      before = &window;
    }
  }

  std::vector<double> gradient() const override {
    std::vector<double> ours(layout_.size());
    for_pairs(cell_, case_, shared_.places, layout_,
              [&](std::size_t mine, std::size_t its) { ours[mine] = numbers(shared_.gradient)[its]; });
    return ours;
  }
  double loss_sum() const override { return loss_sum_; }

 private:
  /// The end of a window; 0 before the first.
  int end_of(int part) const {
    return static_cast<int>(static_cast<std::int64_t>(part + 1) * case_.steps / case_.windows);
  }

  /// The mean over rows of (z - y)^2, z = w h + b at the last step, and its gradients.
  void head(WindowPasses& window) {
    const std::size_t hidden = elements(case_.hidden), batch = elements(case_.batch);
    const float* weights = numbers(shared_.parameters) + shared_.places.head;
    float* sums = numbers(shared_.gradient) + shared_.places.head;
    std::fill_n(sums, hidden, 0.0f);
    float bias_sum = 0;
    for (std::size_t row = 0; row < batch; ++row) {
      const float* h = window.last_output() + row * hidden;
      float* d_h = window.last_output_gradient() + row * hidden;
      float z = numbers(shared_.parameters)[shared_.places.head_bias];
      for (std::size_t unit = 0; unit < hidden; ++unit) z += weights[unit] * h[unit];
      const float distance = z - targets_[row], slope = 2 * distance / static_cast<float>(batch);
      loss_sum_ += static_cast<double>(distance) * distance / static_cast<double>(batch);
      bias_sum += slope;
      for (std::size_t unit = 0; unit < hidden; ++unit) {
        sums[unit] += slope * h[unit];
        d_h[unit] = slope * weights[unit];
      }
    }
    numbers(shared_.gradient)[shared_.places.head_bias] = bias_sum;
  }

  Case case_;
  const OnednnCell& cell_;
  ParameterLayout layout_;
  int threads_;
  Shared shared_;
  Adam adam_;
  std::map<int, WindowPasses> windows_;  // by their length
  std::vector<float> inputs_;            // [T, B, D]
  std::vector<float> targets_;           // [B]
  double loss_sum_ = 0;
};

}  // namespace

std::optional<std::string> onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

bool onednn_has(const Case& chosen) {
  return (chosen.kind == Kind::bptt || chosen.kind == Kind::windows) && chosen.layers == 1 &&
         find_onednn_cell(chosen.cell) != nullptr;
}

std::unique_ptr<Onednn> make_onednn(const Case& chosen, const CaseNumbers& numbers, int threads) {
  if (!onednn_has(chosen))
    refuse("bench", "oneDNN has no case {}; it has bptt and windows with one layer of lstm, gru or rnn", chosen.name);
  const FlushDenormals flush;
  omp_set_num_threads(threads);
  return std::make_unique<OnednnRun>(*find_onednn_cell(chosen.cell), chosen, numbers, threads);
}

}  // namespace throughtime::bench
