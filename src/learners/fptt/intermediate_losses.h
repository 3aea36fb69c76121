#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "learners/fptt/prior_predictions.h"
#include "learners/fptt/sequence_cut.h"

namespace throughtime {

/// What an update sums the losses of: one window (fptt), or a whole sequence, which then must have losses before its
/// end (bptt with aux_losses).
enum class LossSpan { window, sequence };

/// Refuses losses and tables that sequences of this shape cannot have.
void check_intermediate(std::string_view speaker, const TerminalConfig& config, LossSpan span, const Model& model,
                        const StretchShape& shape, const SequenceCut& cut);

/// The options of these losses, for the method's own table.
void describe_intermediate(TerminalConfig& config, OptionList& list);

/// Losses at the ends of windows, for tasks that ask for one target at the end of a sequence. In window p, at time t of
/// T, the target counts with beta = t / T, both counted from where the row's own sequence begins: before that it has no
/// loss. A class then is a distribution, beta onehot + (1 - beta) Q, whose
/// cross-entropy is the paper's beta CE + (1 - beta) Div; Q is what the net predicted there before. A number keeps its
/// loss, times beta.
class IntermediateLosses {
 public:
  /// For what check_intermediate lets pass. `cut` must live as long as this.
  IntermediateLosses(std::string_view speaker, const TerminalConfig& config, LossSpan span, Engine& engine,
                     const StretchShape& shape, const SequenceCut& cut);

  /// Whether `stretch` asks for its targets only at the last step, one target per row, so that earlier windows would
  /// have no loss. Call it first for every stretch.
  bool begin(const Window& stretch);
  /// Whether a window of such a stretch is left out.
  bool skips(const Window& stretch, int window) const;
  /// Gives the steps of window number `window` (0, 1, ...) of `stretch` their weights and targets in `part`, whose
  /// first step is step `first` of the stretch.
  void write(const Window& stretch, int window, int first, Window& part);
  /// Whether targets are mixtures of labels and predictions: an engine counts no right ones among them.
  bool mixes_labels() const { return mixes_labels_; }
  /// What the weighted losses of a window are divided by: the mean is over rows, beta stays a factor.
  double divisor(const Window& stretch) const;

  /// Where an unroll of a part leaves its predictions; none: nobody asks for them.
  Buffer predictions() const { return predictions_; }
  /// Keeps for Q the predictions of `window`, whose last step is step `last` of the part that was unrolled.
  void keep(const Window& stretch, int window, int last);

  void end_epoch();
  void archive(Archive& archive);

 private:
  /// `padding`: steps of the row before its sequence begins.
  double beta(const Window& stretch, int window, int step, int padding) const;
  /// Of a row at one step: `to` [classes].
  void write_distribution(const Window& stretch, int window, int row, double beta, float* to) const;

  Engine& engine_;
  const SequenceCut& cut_;  // the learner's, which may change between sequences
  TerminalConfig config_;
  std::string_view speaker_;
  bool required_;    // not only where a stretch happens to fit
  int classes_ = 0;  // 0: the head's targets are numbers
  bool mixes_labels_ = false;
  double divergence_ = 1;  // weight of Div beside the formula's
  std::unique_ptr<PriorPredictions> prior_;
  Buffer predictions_;                 // [longest part, B, classes]
  Buffer rows_;                        // [B, classes] of a window's last step
  std::vector<std::int64_t> indices_;  // [B]
  std::vector<float> values_;          // [longest part, B, classes]
};

}  // namespace throughtime
