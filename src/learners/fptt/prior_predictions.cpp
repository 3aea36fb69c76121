#include "learners/fptt/prior_predictions.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

class UniformPrior final : public PriorPredictions {
 public:
  explicit UniformPrior(int classes) : values_(elements(classes), 1.0f / static_cast<float>(classes)) {}
  bool wants_predictions() const override { return false; }
  void begin(const Window&) override {}
  const float* of(const Window&, int, int) const override { return values_.data(); }
  void keep(const Window&, int, Buffer) override {}
  void end_epoch() override {}
  void archive(Archive&) override {}

 private:
  std::vector<float> values_;
};

/// One row for each example and window. This epoch's predictions gather in a buffer of the engine; the host has a copy
/// of the last epoch's, which is made between epochs, so that no step waits for a number.
class ExamplePrior final : public PriorPredictions {
 public:
  ExamplePrior(Engine& engine, const PriorShape& shape)
      : engine_(engine), shape_(shape), uniform_(1.0f / static_cast<float>(shape.classes)) {
    const std::int64_t used = shape.examples * shape.windows + 1;  // the last one takes rows without an example
    rows_ = (used + chunk_rows - 1) / chunk_rows * chunk_rows;
    now_ = engine.allocate(elements(rows_, shape.classes));
    before_ = engine.allocate(elements(rows_, shape.classes));
    chunk_ = engine.allocate(elements(chunk_rows, shape.classes));
    values_.assign(elements(rows_, shape.classes), uniform_);
    numbers_.resize(elements(chunk_rows, shape.classes));
    indices_.resize(elements(std::max<std::int64_t>(chunk_rows, shape.batch)));
  }

  void begin(const Window& stretch) override {
    if (stretch.example.empty()) refuse("q", "rows need the numbers of their examples (Window::example), got none");
    for (const std::int64_t example : stretch.example)
      if (example < -1 || example >= shape_.examples)
        refuse("q", "an example's number must be below {}, or -1 for a row without one, got {}", shape_.examples,
               example);
  }

  const float* of(const Window& stretch, int row, int window) const override {
    return values_.data() + entry(stretch, row, window) * shape_.classes;
  }

  /// Every example is shown once in an epoch, so adding to zeros is storing.
  void keep(const Window& stretch, int window, Buffer rows) override {
    for (int row = 0; row < stretch.batch; ++row) indices_[row] = entry(stretch, row, window);
    engine_.scatter_add_rows(rows, shape_.classes, std::span(indices_).first(elements(stretch.batch)), now_);
  }

  void end_epoch() override {
    std::swap(now_, before_);
    engine_.fill(now_, 0);
    read_back();
  }

  void archive(Archive& archive) override {
    archive.buffer("q_now", engine_, now_);
    archive.buffer("q", engine_, before_);
    read_back();
  }

 private:
  static constexpr std::int64_t chunk_rows = 1024;

  std::int64_t entry(const Window& stretch, int row, int window) const {
    const std::int64_t example = stretch.example[row];
    return example < 0 ? shape_.examples * shape_.windows : example * shape_.windows + window;
  }

  /// The host's copy of the last epoch's table; rows that were never written are uniform.
  void read_back() {
    const int classes = shape_.classes;
    for (std::int64_t first = 0; first < rows_; first += chunk_rows) {
      const std::span<std::int64_t> rows = std::span(indices_).first(chunk_rows);
      std::iota(rows.begin(), rows.end(), first);
      engine_.gather_rows(before_, classes, rows, chunk_);
      engine_.read(chunk_, numbers_);
      float* to = values_.data() + first * classes;
      for (auto from = numbers_.begin(); from != numbers_.end(); from += classes, to += classes) {
        const bool written = std::any_of(from, from + classes, [](double value) { return value != 0; });
        for (int c = 0; c < classes; ++c) to[c] = written ? static_cast<float>(from[c]) : uniform_;
      }
    }
  }

  Engine& engine_;
  PriorShape shape_;
  float uniform_;
  std::int64_t rows_;
  Buffer now_, before_;          // [rows, classes]
  Buffer chunk_;                 // [chunk_rows, classes]
  std::vector<float> values_;    // [rows, classes]: `before_` on the host
  std::vector<double> numbers_;  // [chunk_rows, classes]
  std::vector<std::int64_t> indices_;
};

/// The released code's: one row for each class and window, from the first example of the class in the last batch that
/// the window's end classified wrongly (or rightly). Where there is none, the row stays.
class ClassPrior final : public PriorPredictions {
 public:
  ClassPrior(bool wrong, Engine& engine, const PriorShape& shape) : wrong_(wrong), engine_(engine), shape_(shape) {
    const std::size_t size = elements(shape.windows, shape.batch, shape.classes);
    table_.assign(elements(shape.classes, shape.windows, shape.classes), 1.0f / static_cast<float>(shape.classes));
    pending_ = engine.allocate(size);
    numbers_.resize(size);
    labels_.resize(elements(shape.batch));
    taken_.resize(elements(shape.classes));
    indices_.resize(elements(shape.batch));
  }

  void begin(const Window& stretch) override {
    if (stretch.targets.labels.empty()) refuse("q", "a table per class needs labels, got distributions");
    take_last_batch();
    std::copy(stretch.targets.labels.begin(), stretch.targets.labels.end(), labels_.begin());
    if (active()) engine_.fill(pending_, 0);
  }

  const float* of(const Window& stretch, int row, int window) const override {
    return table_.data() + at(stretch.targets.labels[row], window);
  }

  void keep(const Window& stretch, int window, Buffer rows) override {
    if (!active()) return;
    std::iota(indices_.begin(), indices_.end(), static_cast<std::int64_t>(window) * stretch.batch);
    engine_.scatter_add_rows(rows, shape_.classes, indices_, pending_);
    waiting_ = true;
  }

  void end_epoch() override { ++epoch_; }

  void archive(Archive& archive) override {
    take_last_batch();
    archive.number_list("q", table_, table_.size(), at_least(0));
    archive.integer("epoch", epoch_, small_count(1));
  }

 private:
  bool active() const { return epoch_ >= shape_.first_epoch; }
  /// Where the row of a label and a window begins in the table.
  Index at(std::int32_t label, int window) const {
    return (static_cast<Index>(label) * shape_.windows + window) * shape_.classes;
  }

  /// What the last batch left with the engine enters the table: the first example of each class counts.
  void take_last_batch() {
    if (!waiting_) return;
    waiting_ = false;
    engine_.read(pending_, numbers_);
    const double* predictions = numbers_.data();
    for (int window = 0; window < shape_.windows; ++window) {
      std::fill(taken_.begin(), taken_.end(), false);
      for (const std::int32_t label : labels_) {
        const double* row = predictions;
        predictions += shape_.classes;
        const double* most = std::max_element(row, row + shape_.classes);
        const bool right = most - row == label, shown = *most > 0;
        if (!shown || right == wrong_ || taken_[label]) continue;
        taken_[label] = true;
        std::transform(row, row + shape_.classes, table_.begin() + at(label, window),
                       [](double value) { return static_cast<float>(value); });
      }
    }
  }

  bool wrong_;
  Engine& engine_;
  PriorShape shape_;
  std::vector<float> table_;           // [classes, windows, classes]
  Buffer pending_;                     // [windows, B, classes] of the last batch
  bool waiting_ = false;               // it has not been taken yet
  std::vector<double> numbers_;        // the same on the host
  std::vector<std::int32_t> labels_;   // [B] of the last batch
  std::vector<bool> taken_;            // [classes]: while one window's rows are looked through
  std::vector<std::int64_t> indices_;  // [B]
  int epoch_ = 1;
};

}  // namespace

std::unique_ptr<PriorPredictions> make_prior(PriorKind kind, Engine& engine, const PriorShape& shape) {
  if (kind == PriorKind::automatic) kind = shape.examples > 0 ? PriorKind::examples : PriorKind::uniform;
  if (kind == PriorKind::examples) return std::make_unique<ExamplePrior>(engine, shape);
  if (kind == PriorKind::uniform) return std::make_unique<UniformPrior>(shape.classes);
  return std::make_unique<ClassPrior>(kind == PriorKind::class_wrong, engine, shape);
}

}  // namespace throughtime
