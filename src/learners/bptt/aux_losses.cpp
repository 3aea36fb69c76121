#include <algorithm>

#include "learners/bptt/forms.h"
#include "learners/fptt/intermediate_losses.h"
#include "learners/support.h"

namespace throughtime {
namespace {

/// Back-propagation through time with FPTT's intermediate losses: the whole sequence is one window with one update, of
///   (1 / K') sum over p of [beta_p CE_p + (1 - beta_p) Div_p]
/// at the ends of its K' parts. No state is held constant, and there is no regulariser.
class BpttAux final : public Learner {
 public:
  BpttAux(const BpttConfig& config, Trainee& trainee, const StretchShape& shape)
      : Learner(trainee, shape),
        cut_("bptt", {config.windows, config.window_length, config.remainder}, shape),
        intermediate_("bptt", config.terminal, LossSpan::sequence, trainee.engine, shape, cut_) {
    correct_sum_ = Buffer();  // targets are mixtures, or numbers
    const bool every_step = config.terminal.intermediate == IntermediateLoss::every_step;
    tape_ = trainee.engine.make_tape(
        {.steps = shape.steps, .batch = shape.batch, .keep = Keep::gradient, .losses = every_step ? 0 : cut_.most()});
    reserve(whole_, shape.steps, shape.batch);
  }

  std::string_view name() const override { return "bptt"; }
  std::size_t activation_bytes() const override { return tape_->activation_bytes(); }

  void learn(const Window& stretch, const RateFunction& rate) override {
    check_stretch(name(), shape_, stretch);
    intermediate_.begin(stretch);
    slice(stretch, 0, stretch.steps, whole_);
    const int windows = cut_.count(stretch.steps);
    int losses = 0;
    std::fill(whole_.weight.begin(), whole_.weight.end(), 0.0f);
    for (int window = 0; window < windows; ++window) {
      if (intermediate_.skips(stretch, window)) continue;
      intermediate_.write(stretch, window, 0, whole_);
      ++losses;
    }
    trainee_.engine.unroll({.window = whole_,
                            .parameters = trainee_.parameters,
                            .tape = *tape_,
                            .loss_sum = loss_sum_,
                            .penalties = count_penalties(whole_),
                            .predictions = intermediate_.predictions()});
    for (int window = 0; window < windows; ++window)
      intermediate_.keep(stretch, window, cut_.end(stretch.steps, window) - 1);
    const double rows = intermediate_.divisor(stretch);
    if (rows == 0) return;
    trainee_.engine.pull_back(
        {.tape = *tape_, .window = whole_, .parameters = trainee_.parameters, .gradient = trainee_.gradient});
    loss_weight_ += sum_of_weights(name(), whole_.weight);
    update(rows * losses, rate);
  }

  void end_epoch() override { intermediate_.end_epoch(); }

  void archive(Archive& archive) override {
    Learner::archive(archive);
    intermediate_.archive(archive);
  }

 private:
  SequenceCut cut_;
  IntermediateLosses intermediate_;
  std::unique_ptr<Tape> tape_;
  Window whole_;
};

}  // namespace

std::unique_ptr<Learner> make_bptt_aux(const BpttConfig& config, Trainee& trainee, const StretchShape& shape) {
  return std::make_unique<BpttAux>(config, trainee, shape);
}

}  // namespace throughtime
