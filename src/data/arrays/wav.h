#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/byte_stream.h"
#include "data/numbers.h"

namespace throughtime {

/// How the samples of a file are written.
struct WavFormat {
  int channels = 0;
  int rate = 0;  // frames per second
  NumberFormat number = {};
  float silence = 0;  // the sample of it
  float scale = 1;    // of what is above it, so that full scale is 1
};

/// Reads RIFF audio in blocks, so that a recording of any length needs the memory of one. The stream must outlive it.
class WavReader {
 public:
  /// Reads up to the first sample; refuses a file without any.
  explicit WavReader(ByteStream& stream);
  int rate() const { return format_.rate; }
  int channels() const { return format_.channels; }
  /// Frames that are left, as the header has it; none where it was written by a program that could not go back.
  std::optional<std::uint64_t> frames() const;
  /// At most `frames` more of them: [frames, channels], full scale is -1..1. Empty at the end.
  std::vector<float> read(std::uint64_t frames);

 private:
  ByteStream& stream_;
  WavFormat format_;
  std::uint64_t start_ = 0;  // offset of the first sample
  std::uint64_t left_ = 0;   // samples that the header announces; `endless`: up to the end of the file
};

/// What stands before the samples, 32-bit floats, of a file of that many frames. None: as many as follow, which is also
/// said of more than the format can count.
std::string wav_header(int rate, int channels, std::optional<std::uint64_t> frames);

struct Audio {
  int rate = 0;  // frames per second
  int channels = 0;
  std::vector<float> samples;  // [frames, channels]; full scale is -1..1
};

/// RIFF audio: PCM of 8, 16, 24 or 32 bits, or float of 32 or 64.
Audio read_wav(const std::string& path);
Audio read_wav(ByteStream& stream);

}  // namespace throughtime
