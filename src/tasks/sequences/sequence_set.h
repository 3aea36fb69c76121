#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "throughtime/random.h"
#include "throughtime/task.h"

namespace throughtime {

/// What all sequences of a set have in common.
struct SequenceShape {
  int length = 0;  // T, of the longest
  InputConfig input;
  HeadConfig head;
  bool labels = false;      // targets are labels, else numbers [outputs]
  bool one_target = false;  // a sequence has one target, the same at every step
  int first_loss = 0;  // steps first_loss ... T - 1 have a loss; a shorter sequence has at most as many, at its end
  bool lengths_vary = false;  // SequenceSet::length tells
};

/// Where a set writes one sequence of T steps, or of its own length. Spans of what it does not have are empty.
struct SequenceSpan {
  std::span<float> values;         // [T, reals]
  std::span<std::int32_t> tokens;  // [T]
  std::span<std::int32_t> labels;  // [T], or [1] of one target
  std::span<float> targets;        // [T, outputs], or [outputs] of one target
};

/// Separate sequences: generated without end, or a finite number of examples.
class SequenceSet {
 public:
  virtual ~SequenceSet() = default;
  virtual const SequenceShape& shape() const = 0;
  virtual std::vector<Metric> metrics() const = 0;
  virtual double baseline() const = 0;
  /// The same on a split; of generated sequences all are alike.
  virtual double baseline_of(Split) const { return baseline(); }
  virtual std::vector<double> baselines(Split split) const { return {baseline_of(split)}; }
  virtual std::string baseline_text() const = 0;
  virtual std::vector<std::string> classes() const { return {}; }
  virtual std::vector<std::string> notes() const { return {}; }
  /// What the user's data calls a sequence; empty: it has no name.
  virtual std::string name(Split, std::uint64_t) const { return ""; }
  /// Of the sequence that `write` knows by that number: 1 ... T steps.
  virtual int length(Split, std::uint64_t) const { return shape().length; }
  /// Writes a sequence, a pure function of the arguments. Generated: row `row` of batch `number`; else: example
  /// `number`.
  virtual void write(Split split, std::uint64_t number, int row, const SequenceSpan& out) const = 0;
  virtual bool endless() const { return true; }
  /// Examples of a split that is not endless.
  virtual std::int64_t size(Split) const { return 0; }
  virtual void save(const std::string&) const {}
  virtual void load(const std::string&) {}
};

/// Which sequence each row of each batch shows. A finite training split is drawn in another order in every pass, each
/// example once; the other splits keep their order.
class SequenceOrder {
 public:
  SequenceOrder(const SequenceSet& set, std::uint64_t seed) : set_(set), random_(seed, Purpose::shuffle) {}

  /// Batches of one pass with `rows` rows; 0: endless.
  std::int64_t batches(Split split, int rows) const;
  /// The `number` that the set knows the sequence of a row by; -1: none, the last batch has fewer sequences than rows.
  std::int64_t number(Split split, std::uint64_t batch, int row, int rows);

 private:
  void shuffle(std::uint64_t pass);

  const SequenceSet& set_;
  Random random_;
  std::vector<std::uint32_t> order_;  // [examples] of pass `shuffled_` over the training split
  std::uint64_t shuffled_ = 0;
};

/// The task `name`, which shows whole sequences, one per row; with layout.stream, one stream of them per row.
std::unique_ptr<Task> make_sequence_task(const std::string& name, const SequenceLayout& layout, std::uint64_t seed,
                                         std::unique_ptr<SequenceSet> set);

}  // namespace throughtime
