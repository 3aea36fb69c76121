#include "engine/cpu/cpu_engine.h"

#include <cstdlib>
#include <typeinfo>

#include "core/denormals.h"
#include "core/instructions.h"
#include "engine/checks.h"
#include "engine/cpu/collect.h"
#include "engine/cpu/few_rows/across_window.h"
#include "engine/cpu/few_rows/row_window.h"
#include "engine/cpu/passes.h"
#include "engine/cpu/sharing.h"
#include "engine/cpu/threads/thread_pool.h"
#include "engine/cpu/update.h"
#include "engine/host_engine.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

namespace {

std::vector<RowKernels> row_kernels(const Model& model) {
  std::vector<RowKernels> kernels;
  for (const Layer& layer : model.layers()) kernels.push_back(layer.cell->rows ? layer.cell->rows() : RowKernels());
  return kernels;
}

class CpuEngine final : public HostEngine<float> {
 public:
  CpuEngine(const Model& model, EngineConfig config)
      : HostEngine(model, std::move(config)),
        staff_(config_.threads, cores_here()),
        pool_(config_.threads, [this] { staff_.help(); }),
        products_(product_kernels()),
        row_products_(throughtime::cpu::row_products()),
        head_(model.head().fast()),
        packed_(model),
        rows_(row_kernels(model)),
        row_window_(model, rows_, config_.single_rows),
        across_window_(model, rows_, config_.single_rows),
        few_rows_(config_.single_rows == SingleRows::in_one_piece && has_small_layers(model, rows_)),
        collector_(model) {
    for (const Layer& layer : model.layers()) cells_.push_back(layer.cell->fast());
  }

  std::string_view name() const override { return "cpu"; }
  PackCounts packs() const { return packs_; }
  int threads() const override { return pool_.threads(); }

  std::unique_ptr<Tape> make_tape(const TapeShape& shape) override {
    check_tape_shape(shape);
    require_tape_memory(*this, shape);
    auto tape =
        std::make_unique<CpuTape>(model_, packed_, shape, pool_.threads(), few_rows_ && few_rows(model_, shape));
    if (across_window_.fits(shape)) tape->add_across(model_);
    if (row_window_.fits(shape)) tape->plan = std::make_unique<RowPlan>(model_);
    collector_.prepare(tape->slices);
    return tape;
  }

  void unroll(const UnrollCall& call) override;
  void pull_back(const PullBackCall& call) override;
  void apply_update(const UpdateCall& call) override {
    check_update(call);
    HostOptimizer<float>& optimizer = own(call.optimizer);
    UpdateArrays arrays;
    arrays.size = call.target.size;
    arrays.gradient = change(call.gradient);
    arrays.weights = change(call.target);
    arrays.norm = change_or_null(call.norm);
    for (std::size_t k = 0; k < optimizer.moments.size(); ++k) optimizer.pointers[k] = change(optimizer.moments[k]);
    if (call.regulariser) {
      arrays.average = change(call.regulariser->average);
      arrays.multiplier = change(call.regulariser->multiplier);
      arrays.diagnostics = change_or_null(call.regulariser->diagnostics);
    }
    updater_.run(call, optimizer, arrays, pool_);
  }

 private:
  CpuTape& own(Tape& tape) const {
    if (typeid(tape) != typeid(CpuTape)) refuse("cpu", "the tape was made by another engine");
    return static_cast<CpuTape&>(tape);
  }
  using HostEngine::own;

  /// Packs the weights, with the masks of the window where it has them, unless they are packed already. `whole`: not
  /// those of the layers alone.
  const Context& prepare(Buffer parameters, const Window& window, bool training, bool whole) {
    const float* values = numbers(parameters);
    packed_.share_with(whole ? &pool_ : nullptr);
    std::optional<std::uint64_t> masks;
    if (training && model_.config().dropout.recurrent > 0) masks = window.mask_key;
    if (packed_.buffer != parameters.id || packed_.version != version(parameters)) {
      packed_.pack(model_, values, masks);
      ++packs_.layers;
      packed_.buffer = parameters.id;
      packed_.version = version(parameters);
    } else if (packed_.masks != masks) {
      packed_.pack_recurrent(model_, values, masks);
      ++packs_.recurrent;
    }
    if (whole) packed_.pack_beside(model_, values);
    context_.parameters = values;
    return context_;
  }

  /// Calls task(slice, crew) for all slices, of which `steps` steps are worked on.
  template <class Task>
  void run_slices(CpuTape& tape, int steps, const Task& task) {
    staff_.run(pool_, static_cast<int>(tape.slices.size()), crowd_for(model_, steps, tape.slices.front().rows),
               [&](int i, Crew& crew) { task(tape.slices[static_cast<std::size_t>(i)], crew); });
  }

  Staff staff_;
  ThreadPool pool_;  // its workers help the staff
  ProductKernels products_;
  RowProducts row_products_;
  HeadKernels<float> head_;
  std::vector<CellKernels<float>> cells_;
  PackedModel packed_;
  PackCounts packs_;
  std::vector<RowKernels> rows_;
  RowWindow row_window_;
  AcrossWindow across_window_;
  bool few_rows_;
  GradientCollector collector_;
  Updater updater_;
  Context context_{model_, packed_, products_, row_products_, cells_, rows_, head_};
};

void CpuEngine::unroll(const UnrollCall& call) {
  check_unroll(model_, call);
  CpuTape& tape = own(call.tape);
  const bool one_piece = row_window_.takes(call.window, tape.slices.front());
  const bool across = AcrossWindow::takes(call.window, tape);
  const Context& context = prepare(call.parameters, call.window, call.training, !one_piece && !across);
  const Window& window = call.window;
  UnrollArrays arrays{window, call.training, tape.shape().keep};
  arrays.initial_state = numbers_or_null(call.initial_state);
  arrays.final_state = change_or_null(call.final_state);
  arrays.losses = change_or_null(call.losses);
  arrays.predictions = change_or_null(call.predictions);
  arrays.correct = static_cast<bool>(call.correct_sum);
  arrays.states = change_or_null(call.states);
  arrays.state_steps = call.state_steps;
  const std::size_t entries = elements(window.steps, window.batch);
  if (arrays.losses) std::fill_n(arrays.losses, entries, 0.0f);
  if (arrays.predictions) std::fill_n(arrays.predictions, entries * model_.outputs(), 0.0f);

  if (one_piece) {
    const FlushDenormals flush;
    RowWindow::unroll(context, arrays, tape.slices.front(), *tape.plan);
  } else if (across) {
    const FlushDenormals flush;
    across_window_.unroll(context, arrays, tape);
  } else {
    run_slices(tape, window.steps, [&](Slice& slice, Crew& crew) { unroll_slice(context, arrays, slice, crew); });
  }

  if (call.loss_sum) {
    double sum = 0;
    for (const Slice& slice : tape.slices) sum += slice.loss;
    *change(call.loss_sum) += static_cast<float>(sum);
  }
  if (call.correct_sum) {
    double sum = 0;
    for (const Slice& slice : tape.slices) sum += slice.correct;
    *change(call.correct_sum) += static_cast<float>(sum);
  }
  if (call.penalties)
    for (int k = 0; k < 2; ++k) {
      double sum = 0;
      for (const Slice& slice : tape.slices) sum += slice.penalties[k];
      change(call.penalties)[k] += static_cast<float>(sum);
    }
  tape.steps = window.steps;
  tape.training = call.training;
  tape.parameters = call.parameters.id;
  tape.version = packed_.version;
  tape.head_ready = tape.shape().keep != Keep::nothing;
  tape.in_one_piece = one_piece;
  tape.is_across = across;
}

void CpuEngine::pull_back(const PullBackCall& call) {
  CpuTape& tape = own(call.tape);
  const int last = check_pull_back(model_, call, tape.steps);
  if (tape.parameters != call.parameters.id || tape.version != version(call.parameters))
    refuse("cpu", "the parameters have changed since the window was unrolled; unroll it again");
  PullBackArrays arrays{call.window, tape.training, call.first, last};
  arrays.gradient = static_cast<bool>(call.gradient);
  arrays.losses = call.losses && call.window.targets.layout != TargetLayout::none;
  const bool whole = call.first == 0 && last == tape.steps;
  arrays.end_cotangent = numbers_or_null(call.end_cotangent);
  arrays.step_cotangents = numbers_or_null(call.step_cotangents);
  arrays.initial_cotangent = change_or_null(call.initial_cotangent);
  arrays.tap_norms = change_or_null(call.tap_norms);
  arrays.tap_vectors = change_or_null(call.tap_vectors);
  arrays.add = call.add;
  float* gradient = change_or_null(call.gradient);

  const FlushDenormals flush;
  if (tape.in_one_piece && RowWindow::takes(arrays)) {
    const Context& context = prepare(call.parameters, call.window, tape.training, false);
    return RowWindow::pull_back(context, arrays, gradient, tape.slices.front(), *tape.plan);
  }
  if (tape.is_across && RowWindow::takes(arrays)) {
    const Context& context = prepare(call.parameters, call.window, tape.training, false);
    return across_window_.pull_back(context, arrays, gradient, *tape.across);
  }
  const Context& context = prepare(call.parameters, call.window, tape.training, true);
  // The general way has a head of its own, and what it leaves is no longer of one piece.
  if (tape.is_across) AcrossWindow::spread_out(context, call.window, tape);
  if (tape.in_one_piece || tape.is_across) tape.in_one_piece = tape.is_across = tape.head_ready = false;
  arrays.head_ready = tape.head_ready && whole;
  // A head that goes back anew leaves gradients of its parameters only where they are asked for.
  if (arrays.losses && !arrays.head_ready)
    tape.head_ready = whole && (arrays.gradient || tape.shape().keep == Keep::state);
  arrays.in_place = tape.slices.size() == 1 ? gradient : nullptr;
  arrays.layers_in_place = arrays.in_place && tape.is_few;
  run_slices(tape, last - call.first, [&](Slice& slice, Crew& crew) { pull_back_slice(context, arrays, slice, crew); });
  if (gradient) collector_.run(context, arrays, tape.slices, call.add, pool_, gradient);
}

}  // namespace

}  // namespace throughtime::cpu

namespace throughtime {

namespace {

constexpr const char* rows_variable = "THROUGHTIME_ROWS";

/// The environment may send single rows the general way, to compare whole runs.
SingleRows single_rows(SingleRows configured) {
  const char* chosen = std::getenv(rows_variable);
  return chosen && *chosen ? choice_of<SingleRows>(chosen, "cpu", rows_variable) : configured;
}

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(const Model& model, const EngineConfig& config) {
  limit_instructions();
  EngineConfig obeyed = config;
  obeyed.single_rows = single_rows(config.single_rows);
  return std::make_unique<cpu::CpuEngine>(model, obeyed);
}

PackCounts pack_counts(const Engine& cpu_engine) { return dynamic_cast<const cpu::CpuEngine&>(cpu_engine).packs(); }

}  // namespace throughtime
