#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tasks/text/random_lengths.h"
#include "throughtime/task.h"

namespace throughtime {

/// How the columns of a recording are cut.
struct ColumnShape {
  int window = 0;              // steps of a batch
  int overlap = 0;             // entries at the end of a column that serve as targets only
  int evaluation_columns = 0;  // 0: as many as in training
  int longest = 0;             // of training batches whose length is random around `window`; 0: all have that length
};

/// A task over long recordings, one per split. A batch of B rows cuts the recording into B columns of equal length
/// (what is left over at its end is dropped) and reads them side by side in windows, the last of which may be shorter.
/// State is carried from window to window and starts from zero in every pass.
class ColumnTask : public Task {
 public:
  int steps() const override { return lengths_ ? std::max(window_steps_, lengths_->longest()) : window_steps_; }
  int usual_steps() const override { return window_steps_; }
  bool epochs_vary() const override { return lengths_.has_value(); }
  std::int64_t train_batches(std::int64_t epochs, int batch) const override;
  bool has(Split split) const override { return column_steps(split, 1) > 0; }
  std::int64_t batches(Split split, int batch) const override;
  const Window& make_batch(Split split, std::uint64_t iteration, int batch) override;
  const Window& make_positions(std::uint64_t draw, int columns, int rows, int steps) override;
  std::int64_t row_steps(int columns) const override { return column_steps(Split::train, columns); }
  int evaluation_batch(int batch) const override { return evaluation_columns_ > 0 ? evaluation_columns_ : batch; }

 protected:
  ColumnTask(std::string name, std::uint64_t seed, const ColumnShape& shape);

  /// The recording of a split; the task's own file fills it in.
  Source& source(Split split) { return sources_[static_cast<std::size_t>(split)]; }
  const Source& source(Split split) const { return sources_[static_cast<std::size_t>(split)]; }
  /// Where the state is zero before a step: [steps of the recording], or empty: only at the start of a column. It lives
  /// as long as the task uses it.
  std::span<const std::uint8_t>& resets(Split split) { return resets_[static_cast<std::size_t>(split)]; }

  /// Steps without a loss, in the same way.
  std::span<const std::uint8_t>& silent(Split split) { return silent_[static_cast<std::size_t>(split)]; }

  /// Steps of a column that have a target.
  std::int64_t column_steps(Split split, int batch) const { return entries(split) / batch - overlap_; }

 private:
  std::int64_t entries(Split split) const { return static_cast<std::int64_t>(source(split).steps) + overlap_; }
  void fill_resets(Split split, Window& window) const;
  void fall_silent(Split split, Window& window) const;
  /// Where batch number `iteration` lies in rows of that many steps.
  RandomLengths::Place place(Split split, std::uint64_t iteration, std::int64_t length) const;

  std::string name_;
  std::uint64_t seed_;
  int window_steps_;
  int overlap_;
  int evaluation_columns_;
  mutable std::optional<RandomLengths> lengths_;  // of training; it remembers the epoch that was asked for last
  std::array<Source, 3> sources_;
  std::array<std::span<const std::uint8_t>, 3> resets_, silent_;
  Window window_, positions_;
};

}  // namespace throughtime
