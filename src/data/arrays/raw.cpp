#include "data/arrays/raw.h"

#include "data/numbers.h"

namespace throughtime {

std::vector<float> read_float32(ByteStream& stream, Gaps gaps) {
  std::vector<float> values = read_all_numbers(stream, {.gaps = gaps}, "raw");
  if (values.empty()) refuse_byte("raw", stream.name(), 0, "the file is empty");
  return values;
}

std::vector<float> read_float32(const std::string& path, Gaps gaps) {
  return read_float32(*ByteStream::open(path), gaps);
}

}  // namespace throughtime
