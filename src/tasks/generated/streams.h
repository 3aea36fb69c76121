#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tasks/sequences/sequence_set.h"
#include "throughtime/task.h"

namespace throughtime {

/// What all rows of a stream have in common.
struct StreamShape {
  int window = 0;  // steps of a batch
  InputConfig input;
  HeadConfig head;
  bool labels = false;  // targets are labels, else numbers [outputs]
};

/// Where a stream writes n steps of one row. Spans of what it does not have are empty.
struct StepSpan {
  std::span<float> values;         // [n, reals]
  std::span<std::int32_t> tokens;  // [n]
  std::span<std::int32_t> labels;  // [n]
  std::span<float> targets;        // [n, outputs]
  std::span<float> weight;         // [n]
  std::span<StepFlag> flags;       // [n]
  std::size_t steps() const { return weight.size(); }
};

/// One stream of steps per row, position 0, 1, 2, ... without end or in passes.
class StepStream {
 public:
  virtual ~StepStream() = default;
  virtual const StreamShape& shape() const = 0;
  virtual std::vector<Metric> metrics() const = 0;
  virtual double baseline() const = 0;
  /// The same on a split; of what is generated all are alike.
  virtual double baseline_of(Split) const { return baseline(); }
  virtual std::string baseline_text() const = 0;
  /// Writes the steps from position `first` on of row `row` of `rows`: a pure function of the arguments. All of
  /// `weight` is 1 and of `flags` go_on before.
  virtual void write(Split split, int row, int rows, std::int64_t first, const StepSpan& out) = 0;
  /// Steps of a row in one pass; 0: endless.
  virtual std::int64_t pass_steps(Split, int) const { return 0; }
  /// Whether a pass begins again at position 0 with a state of zero, instead of going on after the one before it.
  virtual bool starts_over() const { return false; }
  virtual bool has(Split) const { return true; }
  virtual void save(const std::string&) const {}
  virtual void load(const std::string&) {}
};

/// The task `name`, whose batches are the windows of a stream, one after the other. Keeps `history` steps before a
/// window readable for learners that look back; memory does not grow with the stream.
std::unique_ptr<Task> make_stream_task(const std::string& name, int history, std::uint64_t seed,
                                       std::unique_ptr<StepStream> stream);

/// The sequences of a set laid end to end: row b of B shows sequences b, b + B, b + 2 B, ...
std::unique_ptr<StepStream> stream_of_sequences(const SequenceLayout& layout, std::uint64_t seed,
                                                std::unique_ptr<SequenceSet> set);

/// Steps of a pass of a generated stream: all of `steps` in training, a quarter in the other splits; 0: endless.
std::int64_t generated_pass(std::int64_t steps, Split split);
/// The options of generated streams.
void describe_generated_stream(std::int64_t& steps, int& history, OptionList& list);

}  // namespace throughtime
