#include "train/predict/answer_file.h"

#include <cstring>

#include "data/arrays/npy.h"
#include "data/arrays/wav.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr std::size_t block_size = 1 << 16;

}  // namespace

NumberFile::NumberFile(AnswerFormat format, OutputFile& file, std::size_t width, int rate,
                       std::optional<std::uint64_t> steps)
    : format_(format), file_(file), width_(width) {
  if (is_lines(format)) refuse("predict", "{} is a format of lines, not of numbers", name_of(format));
  if (format != AnswerFormat::wav) return;
  if (rate <= 0) refuse("predict", "audio comes from audio: give a .wav file, whose rate the answer has");
  if (width > 65535) refuse("predict", "audio has at most 65535 channels, the model has {} outputs", width);
  block_ = wav_header(rate, static_cast<int>(width), steps);
}

void NumberFile::add(std::span<const double> values) {
  if (format_ == AnswerFormat::npy) {
    values_.insert(values_.end(), values.begin(), values.end());
    return;
  }
  for (const double value : values) {
    const auto sample = static_cast<float>(value);
    char bytes[sizeof sample];
    std::memcpy(bytes, &sample, sizeof sample);
    block_.append(bytes, sizeof sample);
  }
  if (block_.size() >= block_size) hand_on();
}

void NumberFile::hand_on() {
  file_.write(block_);
  block_.clear();
}

void NumberFile::finish() {
  if (format_ == AnswerFormat::wav) return hand_on();
  file_.write(npy_header(values_.size() / width_, width_));
  file_.write(std::as_bytes(std::span(values_)));
}

void TextFile::add(std::string_view text) {
  block_ += text;
  if (block_.size() >= block_size) finish();
}

void TextFile::finish() {
  file_.write(block_);
  block_.clear();
}

}  // namespace throughtime
