#include "data/arrays/cifar.h"

#include <array>

namespace throughtime {

CifarImages read_cifar(ByteStream& stream) {
  constexpr std::string_view speaker = "cifar";
  constexpr std::size_t image_bytes = 3 * 32 * 32, record_bytes = 1 + image_bytes;
  CifarImages images;
  std::array<std::byte, record_bytes> record;
  while (const std::size_t count = read_up_to(stream, record)) {
    const std::uint64_t start = stream.offset() - count;
    if (count < record_bytes)
      refuse_byte(speaker, stream.name(), start, "the file ends within image {}: {} of {} bytes", images.labels.size(),
                  count, record_bytes);
    const auto label = static_cast<std::uint8_t>(record[0]);
    if (label > 9)
      refuse_byte(speaker, stream.name(), start, "the label of image {} must be between 0 and 9, is {}",
                  images.labels.size(), label);
    images.labels.push_back(label);
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(record.data() + 1);
    images.pixels.insert(images.pixels.end(), pixels, pixels + image_bytes);
  }
  if (images.labels.empty()) refuse_byte(speaker, stream.name(), 0, "the file is empty");
  return images;
}

CifarImages read_cifar(const std::string& path) { return read_cifar(*ByteStream::open(path)); }

}  // namespace throughtime
