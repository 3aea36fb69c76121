#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/files.h"
#include "throughtime/choice.h"
#include "train/predict/step_source.h"

namespace throughtime {

/// What predictions are written as.
enum class AnswerFormat { csv, jsonl, npy, wav };
constexpr auto names_of(AnswerFormat) { return choice_names("csv", "jsonl", "npy", "wav"); }
inline bool is_lines(AnswerFormat format) { return format == AnswerFormat::csv || format == AnswerFormat::jsonl; }

/// Numbers of predictions on their way into a file: an array of NumPy (float64, kept in memory until all are there), or
/// audio (float32, one channel for each output, written as it comes).
class NumberFile {
 public:
  /// `rate` of the audio; `steps`: how many there will be, where that is known. Refuses audio without a rate, and a
  /// format of lines.
  NumberFile(AnswerFormat format, OutputFile& file, std::size_t width, int rate, std::optional<std::uint64_t> steps);

  void add(std::span<const double> values);
  /// All are there.
  void finish();

 private:
  void hand_on();

  AnswerFormat format_;
  OutputFile& file_;
  std::size_t width_;
  std::vector<double> values_;  // npy: all of them
  std::string block_;           // wav: bytes that wait
};

/// The same for text: blocks of it go to the file.
class TextFile {
 public:
  explicit TextFile(OutputFile& file) : file_(file) {}
  void add(std::string_view text);
  void finish();

 private:
  OutputFile& file_;
  std::string block_;
};

}  // namespace throughtime
