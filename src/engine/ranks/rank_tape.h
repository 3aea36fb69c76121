#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/ranks/row_window.h"
#include "throughtime/engine.h"
#include "throughtime/index.h"

namespace throughtime {

/// A tape of a whole batch, of which this rank computes its rows: the tape of those rows, and buffers in which they lie
/// end to end for the engine that computes.
class RankTape final : public Tape {
 public:
  RankTape(Engine& inner, const TapeShape& shape, RowShare share);

  std::size_t activation_bytes() const override { return tape_ ? tape_->activation_bytes() : 0; }
  std::size_t bytes() const override { return tape_ ? tape_->bytes() : 0; }

  bool idle() const { return share_.count == 0; }  // there are more ranks than rows
  Tape& own() { return *tape_; }
  const Window& cut(const Window& window) { return window_.cut(window, share_); }

  /// Room for one kind of numbers of this rank: [steps, rows, width] of [steps, B, width].
  struct Part {
    bool one_step = false;  // [rows, width], exactly
    Buffer own = {};
  };
  Part state{true}, cotangent{true}, losses, predictions, states, step_cotangents, tap_norms, tap_vectors;

  /// The part's buffer, none where `whole` is none.
  Buffer room(Part& part, Buffer whole, int width);
  /// The same, filled with the rank's rows of the first `steps` steps of `whole`.
  Buffer load(Part& part, Buffer whole, int steps, int width);
  /// Puts the rank's rows into `whole`, unless that is none.
  void store(const Part& part, Buffer whole, int steps, int width);

 private:
  std::span<const std::int64_t> rows_of(int steps) const {
    return std::span(rows_).first(elements(steps, share_.count));
  }

  Engine& inner_;
  RowShare share_;
  std::unique_ptr<Tape> tape_;      // none for an idle rank
  std::vector<std::int64_t> rows_;  // [steps + 1, rows]: where the rank's rows are in [steps + 1, B]
  RowWindow window_;
};

}  // namespace throughtime
