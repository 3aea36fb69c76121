#include "engine/cpu/few_rows/across_window.h"

#include <algorithm>
#include <cstring>

#include "engine/cpu/few_rows/row_window.h"
#include "engine/targets.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

namespace {

constexpr int kMostNumbers = 32;     // inputs and outputs
constexpr int kMostRowSteps = 4096;  // beyond them threads would have something to share

bool has_narrow_layers(const Model& model, const std::vector<RowKernels>& rows) {
  if (!has_small_layers(model, rows) || model.outputs() > kMostNumbers || model.inputs() > kMostNumbers) return false;
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (!rows[k].across_forward || model.layers()[k].hidden > kAcrossUnits) return false;
  return true;
}

/// The row in lane `lane` of a block; where there are no more rows, the last one once more.
int row_in(int block, std::size_t lane, int batch) {
  return std::min(block * static_cast<int>(kAcross) + static_cast<int>(lane), batch - 1);
}
int rows_in(int block, int batch) {
  return std::min(static_cast<int>(kAcross), batch - block * static_cast<int>(kAcross));
}

/// Calls visit(place of tensor `tensor` in a row of [B, S], number of units, layer, tensor).
template <class Visit>
void for_each_tensor(const Model& model, const Visit& visit) {
  for (std::size_t k = 0; k < model.layers().size(); ++k)
    for (int tensor = 0; tensor < model.layers()[k].cell->shape.states; ++tensor)
      visit(elements(model.layers()[k].state_offset) + elements(tensor, model.layers()[k].hidden),
            elements(model.layers()[k].hidden), k, tensor);
}

void load_state(const Model& model, const float* from, int batch, AcrossTape& tape) {
  const std::size_t size = model.state_size();
  for_each_tensor(model, [&](std::size_t place, std::size_t units, std::size_t k, int tensor) {
    AcrossLayer& layer = tape.layers[k];
    float* to = layer.states.data() + tensor * layer.state_plane;
    if (!from) return static_cast<void>(std::memset(to, 0, layer.step * sizeof(float)));
    for (int block = 0; block < tape.blocks; ++block, to += layer.width)
      for (std::size_t lane = 0; lane < kAcross; ++lane) {
        const float* row = from + row_in(block, lane, batch) * size + place;
        for (std::size_t unit = 0; unit < units; ++unit) to[unit * kAcross + lane] = row[unit];
      }
  });
}

/// The states after `steps` steps into rows [B, S].
void store_state(const Model& model, int steps, int batch, const AcrossTape& tape, float* to) {
  const std::size_t size = model.state_size();
  for_each_tensor(model, [&](std::size_t place, std::size_t units, std::size_t k, int tensor) {
    const AcrossLayer& layer = tape.layers[k];
    const float* from = layer.states.data() + tensor * layer.state_plane + steps * layer.step;
    for (int row = 0; row < batch; ++row) {
      const float* own = from + row / kAcross * layer.width + row % kAcross;
      for (std::size_t unit = 0; unit < units; ++unit) to[row * size + place + unit] = own[unit * kAcross];
    }
  });
}

/// The inputs of all steps of one lane.
void gather_lane(const Model& model, const Window& window, int row, std::size_t step_stride, float* to) {
  const InputConfig& input = model.config().input;
  Place place = place_at(window, 0, row);
  const auto steps = static_cast<std::int64_t>(place.source->steps);
  for (int step = 0; step < window.steps; ++step, ++place.index, to += step_stride) {
    if (place.index < 0 || place.index >= steps) continue;
    if (input.vocabulary > 0) to[elements(place.token()) * kAcross] = 1.0f;
    for (int i = 0; i < input.reals; ++i) to[elements(input.vocabulary + i) * kAcross] = place.reals()[i];
  }
}

void gather_inputs(const Model& model, const Window& window, AcrossTape& tape) {
  const std::size_t width = elements(model.inputs()) * kAcross, step = elements(tape.blocks) * width;
  std::memset(tape.input.data(), 0, elements(window.steps) * step * sizeof(float));
  for (int block = 0; block < tape.blocks; ++block)
    for (std::size_t lane = 0; lane < kAcross; ++lane)
      gather_lane(model, window, row_in(block, lane, window.batch), step, tape.input.data() + block * width + lane);
}

/// The input of layer k at the first step, and the numbers to that of the next one and of the next block.
struct AcrossInput {
  const float* numbers = nullptr;
  std::size_t step = 0, width = 0;
};
AcrossInput layer_input(const Model& model, const AcrossTape& tape, std::size_t k) {
  const std::size_t width = elements(model.layers()[k].inputs) * kAcross;
  if (k == 0) return {tape.input.data(), elements(tape.blocks) * width, width};
  const AcrossLayer& below = tape.layers[k - 1];
  return {below.states.data() + below.step, below.step, width};
}

void unroll_layer(const Context& context, int steps, AcrossTape& tape, std::size_t k) {
  const Layer& layer = context.model.layers()[k];
  const PackedLayer& packed = context.packed.layers[k];
  AcrossLayer& own = tape.layers[k];
  const AcrossInput input = layer_input(context.model, tape, k);
  AcrossForward call{.steps = steps, .inputs = layer.inputs, .hidden = layer.hidden, .options = &layer.options};
  call.input_step = input.step;
  call.input_weights = packed.input.panel(0);
  call.recurrent_weights = packed.recurrent.panel(0);
  call.input_bias = packed.input_bias.data();
  call.recurrent_bias = packed.recurrent_bias.data();
  call.state_plane = own.state_plane;
  call.saved_plane = own.saved_plane;
  call.state_step = own.step;
  for (int block = 0; block < tape.blocks; ++block) {
    call.input = input.numbers + block * input.width;
    call.states = own.states.data() + block * own.width;
    call.saved = own.saved.data() + block * own.width;
    context.rows[k].across_forward(call);
  }
}

/// Numbers of all lanes from where lane l's number n is at [l * from_lane + n * from_number] to another such place. All
/// of them at once, because a register of numbers that were just written one by one would wait for them.
void turn(int numbers, const float* from, std::size_t from_lane, std::size_t from_number, float* to,
          std::size_t to_lane, std::size_t to_number) {
  for (std::size_t n = 0; n < elements(numbers); ++n)
    for (std::size_t lane = 0; lane < kAcross; ++lane)
      to[lane * to_lane + n * to_number] = from[lane * from_lane + n * from_number];
}

void assign_loss_slots(const Window& window, AcrossTape& tape) {
  tape.losses = 0;
  for (int step = 0; step < window.steps; ++step) {
    const std::span<const float> weights = weights_at(window, step);
    const bool any = std::ranges::any_of(weights, [](float weight) { return weight != 0.0f; });
    tape.loss_slot[step] = any ? tape.losses++ : -1;
  }
}

}  // namespace

AcrossWindow::AcrossWindow(const Model& model, const std::vector<RowKernels>& rows, SingleRows choice)
    : products_(across_products()), fits_(choice == SingleRows::in_one_piece && has_narrow_layers(model, rows)) {
  for (const Layer& layer : model.layers()) widest_ = std::max(widest_, layer.hidden);
}

/// Rows must fill registers at least as well as units would.
bool AcrossWindow::fits(const TapeShape& shape) const {
  const std::size_t rows = padded(elements(shape.batch)), units = padded(elements(widest_));
  return fits_ && shape.batch > 1 && rows * elements(widest_) <= units * elements(shape.batch) &&
         shape.steps <= kMostRowSteps / shape.batch && (shape.keep != Keep::nothing || shape.steps == 1);
}

bool AcrossWindow::takes(const Window& window, const CpuTape& tape) {
  return tape.across && std::ranges::all_of(window.flags, [](StepFlag flag) { return flag == StepFlag::go_on; });
}

// ---------------------------------------------------------------- forth

void AcrossWindow::unroll(const Context& context, const UnrollArrays& call, CpuTape& whole) const {
  const Model& model = context.model;
  const Window& window = call.window;
  AcrossTape& tape = *whole.across;
  for (Slice& slice : whole.slices) slice.loss = slice.correct = slice.penalties[0] = slice.penalties[1] = 0;
  load_state(model, call.initial_state, window.batch, tape);
  gather_inputs(model, window, tape);
  for (std::size_t k = 0; k < tape.layers.size(); ++k) unroll_layer(context, window.steps, tape, k);
  assign_loss_slots(window, tape);
  run_head(context, call, whole);
  const std::size_t states = elements(window.batch, model.state_size());
  for (std::size_t i = 0; i < call.state_steps.size() && call.states; ++i)
    store_state(model, call.state_steps[i], window.batch, tape, call.states + i * states);
  if (call.final_state) store_state(model, window.steps, window.batch, tape, call.final_state);
}

void AcrossWindow::run_head(const Context& context, const UnrollArrays& call, CpuTape& tape) const {
  if (call.window.targets.layout == TargetLayout::none && !call.predictions) return;
  for (int step = 0; step < call.window.steps; ++step)
    for (int block = 0; block < tape.across->blocks && tape.across->loss_slot[step] >= 0; ++block)
      look_at(context, call, tape, step, block);
}

/// Outputs, predictions and losses of a block of rows after a step; what goes back from them, and what the head's
/// gradient is made of, stays on the tape.
void AcrossWindow::look_at(const Context& context, const UnrollArrays& call, CpuTape& whole, int step,
                           int block) const {
  const Model& model = context.model;
  const auto at = [&](int number) { return context.parameters + model.parameters().block(number).offset; };
  AcrossTape& tape = *whole.across;
  const AcrossLayer& top = tape.layers.back();
  const int outputs = model.outputs(), linear = model.linear_outputs();
  const std::size_t stride = padded(elements(outputs));
  const float* h = top.states.data() + (step + 1) * top.step + block * top.width;
  float *all = tape.outputs.data(), *rows = tape.rows.data();
  products_.multiply(linear, model.top_hidden(), at(model.head_weight), at(model.head_bias), h, all);
  turn(linear, all, 1, kAcross, rows, stride, 1);
  if (model.head_constants >= 0)
    for (std::size_t lane = 0; lane < kAcross; ++lane)
      std::copy_n(at(model.head_constants), model.head().constants, rows + lane * stride + linear);
  for (int lane = 0; lane < rows_in(block, call.window.batch); ++lane)
    finish_row(context, call, whole.slices.front(), step, block * static_cast<int>(kAcross) + lane,
               rows + lane * stride);
  if (call.keep == Keep::nothing || call.window.targets.layout == TargetLayout::none) return;
  for (std::size_t lane = elements(rows_in(block, call.window.batch)); lane < kAcross; ++lane)
    std::fill_n(rows + lane * stride, outputs, 0.0f);  // no row, no loss
  const std::size_t place = elements(tape.loss_slot[step], tape.blocks) + elements(block);
  float* d_outputs = tape.d_outputs.data() + place * elements(outputs) * kAcross;
  turn(outputs, rows, stride, 1, d_outputs, 1, kAcross);
  products_.send_back(linear, model.top_hidden(), at(model.head_weight), d_outputs,
                      tape.d_top.data() + place * top.width);
  std::memcpy(tape.features.data() + place * top.width, h, top.width * sizeof(float));
}

/// Prediction and loss of a row from its outputs, which become what goes back, if anything does.
void AcrossWindow::finish_row(const Context& context, const UnrollArrays& call, Slice& sums, int step, int row,
                              float* z) {
  const Window& window = call.window;
  const int outputs = context.model.outputs();
  const std::size_t entry = elements(step, window.batch) + elements(row);
  const float weight = window.weight[entry];
  if (weight == 0.0f) return static_cast<void>(std::fill_n(z, outputs, 0.0f));
  if (call.predictions) {
    float* prediction = call.predictions + entry * elements(outputs);
    std::copy_n(z, outputs, prediction);
    context.head.predict(outputs, prediction);
  }
  if (window.targets.layout == TargetLayout::none) return;
  const RowTarget<float> target = row_target(context.model, window, step, row);
  if (call.correct && std::max_element(z, z + outputs) - z == target.label) sums.correct += weight;
  const double loss = context.head.loss(outputs, z, target, weight, call.keep != Keep::nothing ? z : nullptr);
  if (call.losses) call.losses[entry] = static_cast<float>(loss);
  sums.loss += weight * loss;
}

// ---------------------------------------------------------------- back

void AcrossWindow::pull_back(const Context& context, const PullBackArrays& call, float* gradient,
                             AcrossTape& tape) const {
  for (std::size_t k = tape.layers.size(); k-- > 0;) {
    pull_back_layer(context, call, tape, k);
    if (gradient) add_layer_gradient(context, call, tape, k, gradient);
  }
  if (gradient) add_head_gradient(context, call, tape, gradient);
}

/// Cotangents of the gates of all steps, from those that enter at the end, from the head or from the layer above; what
/// the layer below gets of them.
void AcrossWindow::pull_back_layer(const Context& context, const PullBackArrays& call, AcrossTape& tape,
                                   std::size_t k) const {
  const Model& model = context.model;
  const Layer& layer = model.layers()[k];
  const CellShape& shape = layer.cell->shape;
  AcrossLayer& own = tape.layers[k];
  const int steps = call.window.steps;
  const std::size_t size = model.state_size();
  // Calls visit(own number, its place in [B, S]) for each number of the layer's state in each row.
  const auto for_each_number = [&](const auto& visit) {
    for (int row = 0; row < call.window.batch; ++row) {
      float* first = own.cotangent.data() + row / kAcross * shape.states * own.width + row % kAcross;
      const std::size_t place = row * size + elements(layer.state_offset);
      for (std::size_t i = 0; i < elements(shape.states, layer.hidden); ++i) visit(first[i * kAcross], place + i);
    }
  };
  std::memset(own.cotangent.data(), 0, own.cotangent.bytes());
  if (call.end_cotangent)
    for_each_number([&](float& number, std::size_t place) { number = call.end_cotangent[place]; });

  AcrossBackward back{.steps = steps, .hidden = layer.hidden, .options = &layer.options};
  if (layer.weight_hh >= 0) back.weights = context.parameters + model.parameters().block(layer.weight_hh).offset;
  back.state_plane = own.state_plane;
  back.saved_plane = own.saved_plane;
  back.state_step = own.step;
  back.to_start = call.initial_cotangent != nullptr;
  const bool from_head = call.losses && tape.losses > 0;
  const float* entering = k + 1 < tape.layers.size() ? tape.d_below.data() : from_head ? tape.d_top.data() : nullptr;
  if (k + 1 == tape.layers.size()) back.entering_slot = tape.loss_slot.data();
  const std::size_t d_input_width = shape.input_rows * own.width, d_recurrent_width = shape.recurrent_rows * own.width;
  back.d_input_step = shape.input_rows * own.step;
  back.d_recurrent_step = shape.recurrent_rows * own.step;
  for (int block = 0; block < tape.blocks; ++block) {
    back.states = own.states.data() + block * own.width;
    back.saved = own.saved.data() + block * own.width;
    back.cotangent = own.cotangent.data() + block * shape.states * own.width;
    back.entering = entering ? entering + block * own.width : nullptr;
    back.d_input = own.d_input.data() + block * d_input_width;
    back.d_recurrent = own.d_recurrent.size() > 0 ? own.d_recurrent.data() + block * d_recurrent_width : nullptr;
    context.rows[k].across_backward(back);
  }
  if (call.initial_cotangent)
    for_each_number([&](float& number, std::size_t place) { call.initial_cotangent[place] = number; });
  if (k == 0) return;
  const float* weights = context.parameters + model.parameters().block(layer.weight_ih).offset;
  for (std::size_t i = 0; i < elements(steps, tape.blocks); ++i)
    products_.send_back(shape.input_rows * layer.hidden, layer.inputs, weights, own.d_input.data() + i * d_input_width,
                        tape.d_below.data() + i * elements(layer.inputs) * kAcross);
}

void AcrossWindow::add_layer_gradient(const Context& context, const PullBackArrays& call, AcrossTape& tape,
                                      std::size_t k, float* gradient) const {
  const Model& model = context.model;
  const Layer& layer = model.layers()[k];
  const CellShape& shape = layer.cell->shape;
  const AcrossLayer& own = tape.layers[k];
  const auto at = [&](int block) { return block < 0 ? nullptr : gradient + model.parameters().block(block).offset; };
  const AcrossInput input = layer_input(model, tape, k);
  AcrossGradient sums{.spans = call.window.steps * tape.blocks, .add = call.add};
  sums.rows = shape.input_rows * layer.hidden;
  sums.columns = layer.inputs;
  sums.d = own.d_input.data();
  sums.d_span = shape.input_rows * own.width;
  sums.x = input.numbers;
  sums.x_span = input.width;
  sums.gradient = at(layer.weight_ih);
  sums.bias = at(layer.bias_ih);
  sums.another = shape.joint ? at(layer.bias_hh) : nullptr;  // a joint cell's two biases receive the same
  products_.gradient(sums);
  if (shape.recurrent_rows == 0) return;
  sums.rows = shape.recurrent_rows * layer.hidden;
  sums.columns = layer.hidden;
  sums.d = shape.joint ? own.d_input.data() : own.d_recurrent.data();
  sums.d_span = shape.recurrent_rows * own.width;
  sums.x = own.states.data();
  sums.x_span = own.width;
  sums.gradient = at(layer.weight_hh);
  sums.bias = shape.joint ? nullptr : at(layer.bias_hh);
  sums.another = nullptr;
  products_.gradient(sums);
}

void AcrossWindow::add_head_gradient(const Context& context, const PullBackArrays& call, AcrossTape& tape,
                                     float* gradient) const {
  const Model& model = context.model;
  const auto at = [&](int block) { return gradient + model.parameters().block(block).offset; };
  AcrossGradient sums{.spans = call.losses ? tape.losses * tape.blocks : 0, .add = call.add};
  sums.rows = model.linear_outputs();
  sums.columns = model.top_hidden();
  sums.d = tape.d_outputs.data();
  sums.d_span = elements(model.outputs()) * kAcross;
  sums.x = tape.features.data();
  sums.x_span = tape.layers.back().width;
  sums.gradient = at(model.head_weight);
  sums.bias = at(model.head_bias);
  products_.gradient(sums);
  if (model.head_constants < 0) return;
  sums.rows = model.head().constants;
  sums.columns = 0;
  sums.d += elements(model.linear_outputs()) * kAcross;
  sums.gradient = sums.bias = at(model.head_constants);
  products_.gradient(sums);
}

// ---------------------------------------------------------------- for the general way

namespace {

/// Planes [steps][N][units][kAcross] into planes [steps][R][stride] of a slice.
void spread_plane(const Slice& slice, int steps, std::size_t units, std::size_t step_stride, const float* from,
                  std::size_t stride, float* to) {
  for (int step = 0; step < steps; ++step, from += step_stride)
    for (int r = 0; r < slice.rows; ++r, to += stride) {
      const std::size_t row = elements(slice.first + r);
      const float* own = from + row / kAcross * units * kAcross + row % kAcross;
      for (std::size_t unit = 0; unit < units; ++unit) to[unit] = own[unit * kAcross];
    }
}

}  // namespace

void AcrossWindow::spread_out(const Context& context, const Window& window, CpuTape& whole) {
  const AcrossTape& tape = *whole.across;
  for (Slice& slice : whole.slices) {
    slice.head_rows = 0;
    cpu::assign_loss_slots(window, slice);
    LayerTape& bottom = slice.layers.front();
    const std::size_t inputs = elements(context.model.inputs());
    spread_plane(slice, window.steps, inputs, elements(tape.blocks) * inputs * kAcross, tape.input.data(),
                 bottom.inputs, bottom.input.data());
    for (std::size_t k = 0; k < slice.layers.size(); ++k) {
      const Layer& layer = context.model.layers()[k];
      const AcrossLayer& own = tape.layers[k];
      LayerTape& to = slice.layers[k];
      const std::size_t units = elements(layer.hidden);
      for (int tensor = 0; tensor < layer.cell->shape.states; ++tensor)
        spread_plane(slice, window.steps + 1, units, own.step, own.states.data() + tensor * own.state_plane, to.hidden,
                     to.states.data() + tensor * to.state_plane);
      for (int number = 0; number < layer.cell->shape.saved; ++number)
        spread_plane(slice, window.steps, units, own.step, own.saved.data() + number * own.saved_plane, to.hidden,
                     to.saved.data() + number * to.saved_plane);
    }
  }
}

}  // namespace throughtime::cpu
