#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "learners/tbptt/look_back.h"
#include "learners/tbptt/plan.h"
#include "learners/tbptt/state_ring.h"
#include "throughtime/learner.h"

namespace throughtime {

/// The states that windows begin with. Windows overlap where they are longer than their stride, so the state before the
/// next one's first cell is handed out and kept while a window passes there: no window begins with a stale state. Where
/// the kept state lies before that cell (windows without a loss were skipped, a stretch was short), the gap is run
/// again. Steps are counted as in the plan of windows.
class StateKeeper {
 public:
  /// Which states go into a ring besides, so that a window can begin where the lengths before did not foresee it.
  enum class Ring {
    none,          // lengths never change
    stretch_ends,  // they change between two stretches
    everywhere,    // they change between two windows
  };

  StateKeeper(std::string_view speaker, Trainee& trainee, const StretchShape& shape, const Lengths& longest, Ring ring);

  /// A new stretch: one that does not continue begins with the zero state.
  void begin(const Window& stretch);
  /// Steps known before the stretch.
  int history() const { return look_back_.history(); }
  /// The first cell of a window that would begin at `first`: later where no state before that one is left.
  int reach(int first);
  /// Makes `state` the one before step `position`, which can be reached.
  void move_to(const Window& stretch, int position);
  Buffer state() const { return state_; }  // [B, S]

  /// Lists the steps after which an unroll of [first, end) hands out its state. Pass both on with the unroll, then call
  /// `keep`.
  void hand_out(const Window& stretch, int first, int end, std::span<const Start> starts);
  Buffer handed() const { return handed_; }  // [slots, B, S]
  std::span<const int> handed_steps() const { return handed_steps_; }
  void keep(int first, std::span<const Start> starts);

  /// Copies steps [first, first + length) of the stretch and of what was before it.
  void cut(const Window& stretch, int first, int length, Window& part) { look_back_.cut(stretch, first, length, part); }
  /// The stretch is over; the next one's first window begins at `earliest` or later.
  void finish(const Window& stretch, int earliest);

  /// Steps that were learned from, over all passes.
  std::int64_t rows() const { return rows_; }
  std::size_t activation_bytes() const { return scout_->activation_bytes(); }

  void archive(Archive& archive);
  void archive_place(Archive& archive);  // where in the data it is
  void archive_ring(Archive& archive);   // nothing where there is none

 private:
  /// A state that is known: the one before step `position`.
  struct Kept {
    int position = 0;
    int slot = in_state;  // of handed_
  };
  static constexpr int in_state = -1;  // in state_

  void keep_only(const Kept& kept);
  void run(const Window& stretch, int length);
  void fill_ring(int first);
  std::span<const std::int64_t> rows_of(std::size_t slot) const;

  Trainee& trainee_;
  Lengths longest_;
  std::size_t batch_;  // B
  int width_;          // S
  Ring ring_use_;
  LookBack look_back_;
  std::unique_ptr<Tape> scout_;  // of a gap
  Window gap_;
  Buffer state_;
  Buffer handed_;                      // what the last unroll handed out
  std::vector<int> handed_steps_;      // after how many of its steps
  std::vector<std::int64_t> indices_;  // 0, 1, ...: the rows of `handed_`
  std::array<Kept, 2> kept_ = {};      // the earlier one first
  int kept_count_ = 1;
  std::optional<StateRing> ring_;
  std::int64_t origin_ = 0;  // steps of the data before this stretch
  std::int64_t rows_ = 0;
};

}  // namespace throughtime
