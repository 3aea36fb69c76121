#include <algorithm>
#include <cmath>

#include "c/data.h"
#include "c/model.h"
#include "throughtime/index.h"

namespace throughtime::c {
namespace {

constexpr int most_rows = 64;
constexpr int part_steps = 128;

/// Runs sequences from the zero state, some side by side, aligned at their ends.
class ArrayPredictor {
 public:
  ArrayPredictor(ModelObject& model, const ArrayData& arrays, std::span<const Source> sequences)
      : arrays_(arrays),
        sequences_(sequences),
        rows_(std::min(most_rows, static_cast<int>(sequences.size()))),
        engine_(make_engine(model.model(), make_engine_config(model.config().run, rows_))),
        outputs_(elements(model.model().outputs())),
        parameters_(engine_->allocate(model.model().parameters().size())),
        state_(engine_->allocate(elements(rows_, model.model().state_size()))) {
    engine_->write(parameters_, model.parameters());
    std::size_t longest = 0;
    for (const Source& source : sequences) {
      first_.push_back(places_);
      places_ += arrays.one_target ? 1 : source.steps;
      longest = std::max(longest, source.steps);
    }
    const int steps = static_cast<int>(std::min<std::size_t>(longest, part_steps));
    tape_ = engine_->make_tape({.steps = steps, .batch = rows_, .keep = Keep::nothing});
    predictions_ = engine_->allocate(elements(steps, rows_) * outputs_);
  }

  std::size_t numbers() const { return places_ * outputs_; }

  void run(double* out) {
    for (std::size_t first = 0; first < sequences_.size(); first += elements(rows_)) run_rows(first, out);
  }

 private:
  std::size_t sequence_of(std::size_t first, int row) const {
    return std::min(first + elements(row), sequences_.size() - 1);  // what is left over shows the last one again
  }

  void run_rows(std::size_t first, double* out) {
    std::size_t longest = 0;
    for (int row = 0; row < rows_; ++row) longest = std::max(longest, sequences_[sequence_of(first, row)].steps);
    const auto steps = static_cast<std::int64_t>(longest);
    engine_->fill(state_, 0);
    for (std::int64_t begin = 0; begin < steps; begin += tape_->shape().steps) {
      const int length = static_cast<int>(std::min<std::int64_t>(tape_->shape().steps, steps - begin));
      aim(first, begin - steps, length);
      engine_->unroll({.window = window_,
                       .parameters = parameters_,
                       .tape = *tape_,
                       .training = false,
                       .initial_state = state_,
                       .final_state = state_,
                       .predictions = predictions_});
      hand_out_part(first, length, out);
    }
  }

  /// A window whose first step is `from_end` (below 0) steps after the ends of the rows.
  void aim(std::size_t first, std::int64_t from_end, int length) {
    window_.steps = length;
    window_.batch = rows_;
    window_.sources = sequences_;
    window_.targets.layout = TargetLayout::none;
    window_.source.resize(elements(rows_));
    window_.start.resize(elements(rows_));
    window_.weight.assign(elements(length, rows_), 0.0f);
    window_.flags.assign(window_.weight.size(), StepFlag::go_on);
    for (int row = 0; row < rows_; ++row) {
      const std::size_t number = sequence_of(first, row);
      const auto steps = static_cast<std::int64_t>(sequences_[number].steps);
      window_.source[elements(row)] = static_cast<std::int32_t>(number);
      window_.start[elements(row)] = steps + from_end;
      for (int step = 0; step < length; ++step) {
        const std::int64_t position = steps + from_end + step;
        const auto entry = elements(step, rows_) + elements(row);
        if (position == 0) window_.flags[entry] = StepFlag::reset;
        if (position >= (arrays_.one_target ? steps - 1 : 0)) window_.weight[entry] = 1.0f;
      }
    }
  }

  void hand_out_part(std::size_t first, int length, double* out) {
    const Buffer part{predictions_.id, predictions_.size};
    const std::vector<double> values = engine_->Engine::read(part);
    for (int row = 0; row < rows_ && first + elements(row) < sequences_.size(); ++row) {
      const std::size_t number = first + elements(row);
      for (int step = 0; step < length; ++step) {
        const auto entry = elements(step, rows_) + elements(row);
        if (window_.weight[entry] == 0) continue;
        const auto place = first_[number] + (arrays_.one_target ? 0 : elements(window_.start[elements(row)] + step));
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(entry * outputs_), outputs_, out + place * outputs_);
      }
    }
  }

  const ArrayData& arrays_;
  std::span<const Source> sequences_;
  int rows_;
  std::unique_ptr<Engine> engine_;
  std::size_t outputs_;
  Buffer parameters_, state_, predictions_;
  std::vector<std::size_t> first_;  // of each sequence: its first place among the predictions
  std::size_t places_ = 0;
  std::unique_ptr<Tape> tape_;
  Window window_;
};

/// Only the inputs matter here.
ArrayData without_targets(ArrayData arrays, std::size_t part) {
  for (std::size_t other = 0; other < arrays.parts.size(); ++other)
    if (other != part) arrays.parts[other] = {};
  for (Source& source : arrays.parts[part].sequences) {
    source.labels = {};
    source.target_values = {};
    source.target_width = 0;
  }
  return arrays;
}

}  // namespace
}  // namespace throughtime::c

using namespace throughtime;
using namespace throughtime::c;

extern "C" {

int tt_model_predict(int64_t model, int64_t data, int32_t part, double* predictions, int64_t count) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    const ArrayData arrays = without_targets(*arrays_of(data), part_number(part));
    const Interface& interface = object->interface();
    require_fit(arrays, interface.reals, interface.vocabulary, interface.outputs, interface.labels);
    const std::vector<Source>& sequences = arrays.parts[part_number(part)].sequences;
    if (sequences.empty()) refuse("c", "there are no sequences in part {} of the data", part);
    require_inputs(arrays, sequences);
    ArrayPredictor predictor(*object, arrays, sequences);
    if (count != static_cast<int64_t>(predictor.numbers()))
      refuse("c", "there are {} predictions, got room for {}", predictor.numbers(), count);
    predictor.run(require(predictions, "predictions"));
    for (std::int64_t i = 0; i < count; ++i)
      if (!std::isfinite(predictions[i]))
        fail("predict", "prediction {} is {}: what was learnt has diverged, or an input is too large",
             i / interface.outputs, predictions[i]);
  });
}
}
