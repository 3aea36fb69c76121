#pragma once

#include <string>
#include <vector>

#include "data/byte_stream.h"

namespace throughtime {

struct Audio {
  int rate = 0;  // frames per second
  int channels = 0;
  std::vector<float> samples;  // [frames, channels]; full scale is -1..1
};

/// RIFF audio: PCM of 16 or 24 bits, or float of 32.
Audio read_wav(const std::string& path);
Audio read_wav(ByteStream& stream);

}  // namespace throughtime
