#include "data/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "data/unpack.h"

namespace throughtime {
namespace {

constexpr std::size_t block_size = 1 << 20;

class FileStream final : public ByteStream {
 public:
  FileStream(std::string name, int descriptor, bool owned)
      : ByteStream(std::move(name)), descriptor_(descriptor), owned_(owned) {}
  ~FileStream() override {
    if (owned_) ::close(descriptor_);
  }

 private:
  std::size_t take(std::span<std::byte> into) override {
    while (true) {
      const ssize_t count = ::read(descriptor_, into.data(), into.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) fail("data", "{}, byte {}: cannot be read: {}", name(), offset(), std::strerror(errno));
    }
  }

  int descriptor_;
  bool owned_;
};

class MemoryStream final : public ByteStream {
 public:
  MemoryStream(std::string name, std::span<const std::byte> bytes) : ByteStream(std::move(name)), rest_(bytes) {}

 private:
  std::size_t take(std::span<std::byte> into) override {
    const std::size_t count = std::min(into.size(), rest_.size());
    std::copy_n(rest_.begin(), count, into.begin());
    rest_ = rest_.subspan(count);
    return count;
  }

  std::span<const std::byte> rest_;
};

/// A stream whose first bytes have been looked at.
class ResumedStream final : public ByteStream {
 public:
  ResumedStream(std::vector<std::byte> head, std::unique_ptr<ByteStream> rest)
      : ByteStream(rest->name()), head_(std::move(head)), rest_(std::move(rest)) {}

 private:
  std::size_t take(std::span<std::byte> into) override {
    if (used_ == head_.size()) return rest_->read(into);
    const std::size_t count = std::min(into.size(), head_.size() - used_);
    std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(used_), count, into.begin());
    used_ += count;
    return count;
  }

  std::vector<std::byte> head_;
  std::size_t used_ = 0;
  std::unique_ptr<ByteStream> rest_;
};

std::unique_ptr<ByteStream> unpacked(std::unique_ptr<ByteStream> stream) {
  std::vector<std::byte> head(6);
  head.resize(read_up_to(*stream, head));
  const auto starts_with = [&head](std::string_view magic) {
    return head.size() >= magic.size() && std::memcmp(head.data(), magic.data(), magic.size()) == 0;
  };
  const bool gzip = starts_with("\x1f\x8b");
  const bool xz =
      starts_with({"\xfd"
                   "7zXZ\0",
                   6});
  auto whole = std::make_unique<ResumedStream>(std::move(head), std::move(stream));
  if (gzip) return unpack_gzip(std::move(whole));
  if (xz) return unpack_xz(std::move(whole));
  return whole;
}

}  // namespace

std::unique_ptr<ByteStream> ByteStream::open(const std::string& path) {
  if (path == "-") return unpacked(std::make_unique<FileStream>("stdin", STDIN_FILENO, false));
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) refuse("data", "cannot read {}: {}", path, std::strerror(errno));
  auto file = std::make_unique<FileStream>(path, descriptor, true);
  struct stat status;
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode))
    refuse("data", "cannot read {}: it is a directory", path);
  return unpacked(std::move(file));
}

std::unique_ptr<ByteStream> ByteStream::over(std::span<const std::byte> bytes, std::string name) {
  return unpacked(std::make_unique<MemoryStream>(std::move(name), bytes));
}

std::size_t read_up_to(ByteStream& stream, std::span<std::byte> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const std::size_t count = stream.read(into.subspan(filled));
    if (count == 0) break;
    filled += count;
  }
  return filled;
}

void read_exactly(ByteStream& stream, std::span<std::byte> into, std::string_view speaker, std::string_view what) {
  const std::size_t filled = read_up_to(stream, into);
  if (filled < into.size())
    refuse_byte(speaker, stream.name(), stream.offset(), "the file ends within {}: {} of {} bytes", what, filled,
                into.size());
}

std::vector<std::uint8_t> read_bytes(ByteStream& stream, std::uint64_t count, std::string_view speaker,
                                     std::string_view what) {
  std::vector<std::uint8_t> bytes;
  while (bytes.size() < count) {
    const std::size_t before = bytes.size();
    // At most doubled by one step: a small file that claims to be huge is found out early.
    bytes.resize(before + std::min<std::uint64_t>(count - before, std::max(before, block_size)));
    const std::size_t filled = read_up_to(stream, std::as_writable_bytes(std::span(bytes).subspan(before)));
    if (before + filled < bytes.size())
      refuse_byte(speaker, stream.name(), stream.offset(), "the file ends within {}: {} of {} bytes", what,
                  before + filled, count);
  }
  return bytes;
}

void skip_bytes(ByteStream& stream, std::uint64_t count, std::string_view speaker, std::string_view what) {
  std::vector<std::byte> block(std::min<std::uint64_t>(count, 1 << 16));
  for (std::uint64_t left = count; left > 0;) {
    const std::size_t got = stream.read(std::span(block).first(std::min<std::uint64_t>(left, block.size())));
    if (got == 0)
      refuse_byte(speaker, stream.name(), stream.offset(), "the file ends within {}: {} of {} bytes", what,
                  count - left, count);
    left -= got;
  }
}

void expect_end(ByteStream& stream, std::string_view speaker) {
  const std::uint64_t end = stream.offset();
  std::byte next;
  if (stream.read({&next, 1}) != 0)
    refuse_byte(speaker, stream.name(), end, "the file goes on after what its header announced");
}

std::uint64_t little_endian(const std::byte* bytes, int size) {
  std::uint64_t value = 0;
  for (int i = size - 1; i >= 0; --i) value = value << 8 | static_cast<std::uint64_t>(bytes[i]);
  return value;
}

std::uint64_t big_endian(const std::byte* bytes, int size) {
  std::uint64_t value = 0;
  for (int i = 0; i < size; ++i) value = value << 8 | static_cast<std::uint64_t>(bytes[i]);
  return value;
}

}  // namespace throughtime
