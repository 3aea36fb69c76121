#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "data/arrays/npy.h"
#include "data/printable.h"
#include "data/unpack.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "npz";
constexpr std::uint32_t local_header = 0x04034b50, central_header = 0x02014b50, archive_end = 0x06054b50,
                        descriptor = 0x08074b50;
constexpr std::uint32_t in_extra_field = 0xffffffff;

/// A file within the archive, as the header before its bytes describes it.
struct Member {
  std::string name;
  bool deflated = false;
  bool sizes_follow = false;  // after the bytes, since the writer could not go back
  bool wide = false;          // sizes of 8 bytes
  std::uint32_t checksum = 0;
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;
};

/// Sizes of 4 GiB and more stand in an extra field, the unpacked one first.
void read_wide_sizes(Member& member, const std::vector<std::uint8_t>& extra) {
  constexpr std::uint64_t wide_sizes = 1;
  const auto* bytes = reinterpret_cast<const std::byte*>(extra.data());
  for (std::size_t at = 0; at + 4 <= extra.size();) {
    const std::uint64_t kind = little_endian(bytes + at, 2), size = little_endian(bytes + at + 2, 2);
    at += 4;
    if (kind == wide_sizes && size >= 16 && at + 16 <= extra.size()) {
      member.wide = true;
      if (member.bytes == in_extra_field) member.bytes = little_endian(bytes + at, 8);
      if (member.packed_bytes == in_extra_field) member.packed_bytes = little_endian(bytes + at + 8, 8);
    }
    at += size;
  }
}

/// Reads the rest of a local header, of which the first 4 bytes have been read.
Member read_member(ByteStream& stream) {
  constexpr std::uint64_t encrypted = 1, follow = 8, stored = 0, deflated = 8;
  const std::uint64_t start = stream.offset() - 4;
  std::array<std::byte, 26> header;
  read_exactly(stream, header, speaker, "the header of a member");
  const std::uint64_t flags = little_endian(header.data() + 2, 2), method = little_endian(header.data() + 4, 2);
  Member member{.deflated = method == deflated,
                .sizes_follow = (flags & follow) != 0,
                .checksum = static_cast<std::uint32_t>(little_endian(header.data() + 10, 4)),
                .packed_bytes = little_endian(header.data() + 14, 4),
                .bytes = little_endian(header.data() + 18, 4)};
  const std::vector<std::uint8_t> name =
      read_bytes(stream, little_endian(header.data() + 22, 2), speaker, "the name of a member");
  member.name.assign(name.begin(), name.end());
  read_wide_sizes(member, read_bytes(stream, little_endian(header.data() + 24, 2), speaker, "the header of a member"));
  if ((flags & encrypted) != 0) refuse_byte(speaker, stream.name(), start, "{} is encrypted", excerpt(member.name));
  if (method != stored && method != deflated)
    refuse_byte(speaker, stream.name(), start, "{} is packed with method {}; only stored and deflated are read",
                excerpt(member.name), method);
  if (member.sizes_follow && !member.deflated)
    refuse_byte(speaker, stream.name(), start, "{} is stored without its size; save it with numpy.savez to a file",
                excerpt(member.name));
  return member;
}

/// The unpacked bytes of a member; its end checks length and checksum, and leaves the archive after the member.
class MemberStream final : public ByteStream {
 public:
  MemberStream(ByteStream& archive, const Member& member)
      : ByteStream(archive.name() + ":" + member.name), archive_(archive), member_(member), block_(1 << 15) {
    if (member.deflated && inflateInit2(&state_, -MAX_WBITS) != Z_OK) fail(speaker, "zlib cannot be started");
  }
  ~MemberStream() override {
    if (member_.deflated) inflateEnd(&state_);
  }

 private:
  std::size_t take(std::span<std::byte> into) override {
    if (into.empty() || ended_) return 0;
    into = into.first(std::min<std::size_t>(into.size(), std::numeric_limits<uInt>::max()));
    const std::size_t count = member_.deflated ? take_deflated(into) : take_stored(into);
    checksum_ = static_cast<std::uint32_t>(
        crc32(checksum_, reinterpret_cast<const Bytef*>(into.data()), static_cast<uInt>(count)));
    unpacked_ += count;
    if (count == 0) finish();
    return count;
  }

  std::size_t take_stored(std::span<std::byte> into) {
    const std::size_t count = archive_.read(into.first(std::min<std::uint64_t>(into.size(), packed_left())));
    if (count == 0 && packed_left() > 0) complain("the archive ends within it");
    used_ += count;
    return count;
  }

  std::size_t take_deflated(std::span<std::byte> into) {
    watch_.look(speaker, name(), used_, unpacked_);
    state_.next_out = reinterpret_cast<Bytef*>(into.data());
    state_.avail_out = static_cast<uInt>(into.size());
    while (!inflated_ && state_.avail_out == into.size()) {
      if (state_.avail_in == 0) refill();
      const int result = inflate(&state_, Z_NO_FLUSH);
      if (result == Z_STREAM_END)
        inflated_ = true;
      else if (result != Z_OK)
        complain(state_.msg != nullptr ? state_.msg : "damaged");
    }
    return into.size() - state_.avail_out;
  }

  /// A member of unknown size is read byte by byte, so that nothing after it is taken.
  void refill() {
    const std::uint64_t most = member_.sizes_follow ? 1 : packed_left();
    const std::size_t count = archive_.read(std::span(block_).first(std::min<std::uint64_t>(block_.size(), most)));
    if (count == 0) complain("the archive ends within it");
    used_ += count;
    state_.next_in = reinterpret_cast<Bytef*>(block_.data());
    state_.avail_in = static_cast<uInt>(count);
  }

  void finish() {
    ended_ = true;
    std::uint32_t checksum = member_.checksum;
    std::uint64_t packed_bytes = member_.packed_bytes, bytes = member_.bytes;
    if (member_.sizes_follow) {
      const std::size_t size = member_.wide ? 8 : 4;
      std::array<std::byte, 24> tail;
      read_exactly(archive_, std::span(tail).first(8 + 2 * size), speaker, "the sizes after a member");
      if (little_endian(tail.data(), 4) != descriptor) complain("the sizes after it are missing");
      checksum = static_cast<std::uint32_t>(little_endian(tail.data() + 4, 4));
      packed_bytes = little_endian(tail.data() + 8, static_cast<int>(size));
      bytes = little_endian(tail.data() + 8 + size, static_cast<int>(size));
    }
    if (used_ != packed_bytes || state_.avail_in != 0 || unpacked_ != bytes)
      complain(fmt::format("it holds {} bytes (packed {}), but {} (packed {}) are announced", unpacked_,
                           used_ - state_.avail_in, bytes, packed_bytes));
    if (checksum_ != checksum) complain("its checksum is wrong");
  }

  std::uint64_t packed_left() const { return member_.packed_bytes - used_; }
  [[noreturn]] void complain(std::string_view problem) const {
    refuse_byte(speaker, archive_.name(), archive_.offset(), "member {}: {}", excerpt(member_.name), problem);
  }

  ByteStream& archive_;
  const Member& member_;
  std::vector<std::byte> block_;
  z_stream state_{};
  std::uint64_t used_ = 0;      // packed bytes taken from the archive
  std::uint64_t unpacked_ = 0;  // bytes handed out
  UnpackWatch watch_;
  std::uint32_t checksum_ = 0;
  bool inflated_ = false;
  bool ended_ = false;
};

void skip_member(ByteStream& archive, const Member& member) {
  if (!member.sizes_follow) return skip_bytes(archive, member.packed_bytes, speaker, "a member");
  MemberStream stream(archive, member);
  std::array<std::byte, 1 << 12> block;
  while (stream.read(block) != 0) continue;
}

/// The next member of an archive; none at the end of all members.
std::optional<Member> next_member(ByteStream& stream) {
  const std::uint64_t where = stream.offset();
  std::array<std::byte, 4> signature;
  read_exactly(stream, signature, speaker, "the archive");
  const std::uint64_t kind = little_endian(signature.data(), 4);
  if (kind == central_header || kind == archive_end) return std::nullopt;
  if (kind != local_header)
    refuse_byte(speaker, stream.name(), where, "{}",
                where == 0 ? "no NPZ file: it must begin with PK" : "a member was expected");
  return read_member(stream);
}

std::string array_of(const Member& member) {
  const bool plain = member.name.ends_with(".npy");
  return plain ? member.name.substr(0, member.name.size() - 4) : member.name;
}

/// What `read` makes of the array of that name.
template <class Read>
auto read_array(ByteStream& stream, const std::string& array_name, Read&& read) {
  std::vector<std::string> known;
  while (const std::optional<Member> member = next_member(stream)) {
    if (member->name == array_name || member->name == array_name + ".npy") {
      MemberStream content(stream, *member);
      return read(content);
    }
    skip_member(stream, *member);
    known.push_back(array_of(*member));
  }
  refuse_unknown_in(stream.name(), speaker, "array", array_name, known);
}

}  // namespace

NumberArray read_npz(ByteStream& stream, const std::string& array_name, Gaps gaps) {
  return read_array(stream, array_name, [gaps](ByteStream& content) { return read_npy(content, gaps); });
}

TextArray read_npz_texts(ByteStream& stream, const std::string& array_name) {
  return read_array(stream, array_name, [](ByteStream& content) { return read_npy_texts(content); });
}

std::vector<std::string> npz_names(ByteStream& stream) {
  std::vector<std::string> names;
  while (const std::optional<Member> member = next_member(stream)) {
    skip_member(stream, *member);
    names.push_back(array_of(*member));
  }
  return names;
}

NumberArray read_npz(const std::string& path, const std::string& array_name, Gaps gaps) {
  return read_npz(*ByteStream::open(path), array_name, gaps);
}

}  // namespace throughtime
