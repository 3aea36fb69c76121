#include "data/unpack.h"

#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <new>

#include "core/memory.h"

namespace throughtime {
namespace {

constexpr std::size_t block_size = 1 << 16;
constexpr std::uint64_t unwatched = 16 << 20;  // bytes that are unpacked between two looks at the memory
/// An xz header names the size of its dictionary; the largest preset needs 65 MiB.
constexpr std::uint64_t xz_memory = std::uint64_t{256} << 20;

/// The packed side: a block of input that is refilled when used up.
class PackedStream : public ByteStream {
 protected:
  PackedStream(std::string_view format, std::unique_ptr<ByteStream> packed)
      : ByteStream(packed->name()), format_(format), packed_(std::move(packed)), block_(block_size) {}

  /// The next block; empty at the end.
  std::span<std::byte> next_block() { return std::span(block_).first(packed_->read(block_)); }
  void watch_memory() { watch_.look(format_, name(), packed_->offset(), offset()); }
  [[noreturn]] void refuse_packed(std::size_t unused, std::string_view problem) const {
    refuse(format_, "{}, packed byte {}: {}", name(), packed_->offset() - unused, problem);
  }

 private:
  std::string_view format_;
  std::unique_ptr<ByteStream> packed_;
  std::vector<std::byte> block_;
  UnpackWatch watch_;
};

class GzipStream final : public PackedStream {
 public:
  explicit GzipStream(std::unique_ptr<ByteStream> packed) : PackedStream("gzip", std::move(packed)) {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&state_, gzip_only) != Z_OK) fail("gzip", "zlib cannot be started");
  }
  ~GzipStream() override { inflateEnd(&state_); }

 private:
  std::size_t take(std::span<std::byte> into) override {
    watch_memory();
    const std::size_t room = std::min<std::size_t>(into.size(), std::numeric_limits<uInt>::max());
    state_.next_out = reinterpret_cast<Bytef*>(into.data());
    state_.avail_out = static_cast<uInt>(room);
    while (state_.avail_out == room && room > 0 && more_input()) {
      const int result = inflate(&state_, Z_NO_FLUSH);
      if (result == Z_STREAM_END)
        inside_member_ = false;
      else if (result != Z_OK && result != Z_BUF_ERROR)
        refuse_packed(state_.avail_in, state_.msg != nullptr ? state_.msg : "damaged");
    }
    return room - state_.avail_out;
  }

  /// False at the end of the last member. Zeros may follow a member (tapes pad with them), and then another one.
  bool more_input() {
    while (true) {
      if (state_.avail_in == 0 && !refill()) {
        if (inside_member_) refuse_packed(0, "the file ends too early");
        return false;
      }
      if (inside_member_) return true;
      if (*state_.next_in != 0) {
        inflateReset(&state_);
        inside_member_ = true;
        return true;
      }
      ++state_.next_in;
      --state_.avail_in;
    }
  }

  bool refill() {
    const std::span<std::byte> block = next_block();
    state_.next_in = reinterpret_cast<Bytef*>(block.data());
    state_.avail_in = static_cast<uInt>(block.size());
    return !block.empty();
  }

  z_stream state_{};
  bool inside_member_ = true;
};

class XzStream final : public PackedStream {
 public:
  explicit XzStream(std::unique_ptr<ByteStream> packed) : PackedStream("xz", std::move(packed)) {
    if (lzma_stream_decoder(&state_, xz_memory, LZMA_CONCATENATED) != LZMA_OK) fail("xz", "liblzma cannot be started");
  }
  ~XzStream() override { lzma_end(&state_); }

 private:
  std::size_t take(std::span<std::byte> into) override {
    watch_memory();
    state_.next_out = reinterpret_cast<std::uint8_t*>(into.data());
    state_.avail_out = into.size();
    while (!ended_ && state_.avail_out == into.size() && !into.empty()) {
      if (state_.avail_in == 0 && !input_ended_) refill();
      advance(lzma_code(&state_, input_ended_ ? LZMA_FINISH : LZMA_RUN));
    }
    return into.size() - state_.avail_out;
  }

  void refill() {
    const std::span<std::byte> block = next_block();
    state_.next_in = reinterpret_cast<const std::uint8_t*>(block.data());
    state_.avail_in = block.size();
    input_ended_ = block.empty();
  }

  void advance(lzma_ret result) {
    if (result == LZMA_STREAM_END)
      ended_ = true;
    else if (result == LZMA_MEMLIMIT_ERROR)
      refuse_packed(state_.avail_in, "unpacking would need more than 256 MiB");
    else if (result == LZMA_BUF_ERROR)
      refuse_packed(0, "the file ends too early");
    else if (result == LZMA_MEM_ERROR)
      throw std::bad_alloc();
    else if (result != LZMA_OK)
      refuse_packed(state_.avail_in, "damaged");
  }

  lzma_stream state_ = LZMA_STREAM_INIT;
  bool input_ended_ = false;
  bool ended_ = false;
};

}  // namespace

void UnpackWatch::look(std::string_view format, const std::string& name, std::uint64_t packed, std::uint64_t unpacked) {
  if (unpacked < next_) return;
  next_ = unpacked + unwatched;
  const std::uint64_t resident = resident_memory(), left = available_memory();
  if (!looked_) first_ = resident;
  looked_ = true;
  const std::uint64_t taken = resident - std::min(resident, first_);
  if (left >= taken) return;
  refuse(format, "{}: {} packed bytes became {}, and there is more; they took {} bytes of memory, {} are left", name,
         packed, unpacked, taken, left);
}

std::unique_ptr<ByteStream> unpack_gzip(std::unique_ptr<ByteStream> packed) {
  return std::make_unique<GzipStream>(std::move(packed));
}

std::unique_ptr<ByteStream> unpack_xz(std::unique_ptr<ByteStream> packed) {
  return std::make_unique<XzStream>(std::move(packed));
}

std::string data_ending(const std::filesystem::path& path) {
  std::filesystem::path name = path.filename();
  if (name.extension() == ".gz" || name.extension() == ".xz") name = name.stem();
  std::string ending = name.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

}  // namespace throughtime
