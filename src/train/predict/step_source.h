#pragma once

#include <istream>
#include <memory>
#include <optional>
#include <string>

#include "throughtime/choice.h"
#include "train/predict/step_reader.h"

namespace throughtime {

/// What an input of steps is: lines of numbers, lines of JSON, running text, a table of events, an array of NumPy,
/// audio, or nothing but 32-bit floats.
enum class StepFormat { csv, jsonl, text, events, npy, wav, raw };
constexpr auto names_of(StepFormat) { return choice_names("csv", "jsonl", "text", "events", "npy", "wav", "raw"); }

/// What comes next: a step, the start of another sequence, nothing.
enum class StepKind { step, new_sequence, end };

/// The steps of an input, one after the other, read as training reads such a file.
class StepSource {
 public:
  virtual ~StepSource() = default;
  virtual StepKind next(Step& step) = 0;
  /// Frames per second, where the input is audio; else 0.
  virtual int rate() const { return 0; }
  /// Steps that there are, where that is known before they are read.
  virtual std::optional<std::uint64_t> steps() const { return std::nullopt; }
  /// The columns whose levels each step brings beside what the model reads (Step::levels).
  virtual const std::vector<std::string>& levels() const;
  /// What whoever gave the input should know when all of it is read; empty: nothing.
  virtual std::string note() const { return ""; }
};

/// The format of a file by the task of the run and by its name: `wave.npy`, `arrays.npz:name`, `in.wav`, packed or not;
/// csv where neither tells.
StepFormat step_format_of(const RunConfig& config, const std::string& path);

/// Opens a file for the model of a run, with the options of its task (columns, delimiter, header, channels, what a
/// token is). Refuses what the model cannot read.
std::unique_ptr<StepSource> open_steps(const RunConfig& config, const Predictor& predictor, const std::string& path,
                                       StepFormat format);
/// How the lines of such a file hold steps (csv or jsonl).
LineOptions line_options(const RunConfig& config, StepFormat format);
/// Lines of steps that come one by one (csv or jsonl), an empty line before a new sequence. Both must outlive the
/// source.
std::unique_ptr<StepSource> line_steps(const Predictor& predictor, std::istream& lines, const LineOptions& options);

}  // namespace throughtime
