#include "data/byte_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "data/files.h"

namespace throughtime {
namespace {

using testing::corpus;
using testing::stream_of;
using testing::text_of;

std::string rest_of(ByteStream& stream, std::size_t piece = 1000) {
  std::string text, block(piece, ' ');
  while (const std::size_t count = stream.read(std::as_writable_bytes(std::span(block)))) {
    text += block.substr(0, count);
    EXPECT_EQ(stream.offset(), text.size());
  }
  return text;
}

const std::string lines = "one\ntwo\nthree\n";

TEST(ByteStream, ReadsPlainGzipAndXzAlike) {
  for (const char* name : {"stream/plain", "stream/packed.gz", "stream/packed.xz"}) {
    const std::unique_ptr<ByteStream> stream = ByteStream::open(corpus(name));
    EXPECT_EQ(stream->name(), corpus(name));
    EXPECT_EQ(rest_of(*stream), lines);
  }
}

TEST(ByteStream, ReadsStdin) {
  const int kept = ::dup(STDIN_FILENO), file = ::open(corpus("stream/packed.gz").c_str(), O_RDONLY);
  ASSERT_GE(::dup2(file, STDIN_FILENO), 0);
  const std::unique_ptr<ByteStream> stream = ByteStream::open("-");
  EXPECT_EQ(stream->name(), "stdin");
  EXPECT_EQ(rest_of(*stream), lines);
  ::dup2(kept, STDIN_FILENO);
  ::close(kept);
  ::close(file);
}

TEST(ByteStream, TellsTheFormatByItsBytesNotByItsName) {
  const testing::ScratchDirectory directory;
  testing::write_text(directory / "plain.gz", lines);
  testing::write_text(directory / "packed.txt", text_of(corpus("stream/packed.xz")));
  for (const char* name : {"plain.gz", "packed.txt"})
    EXPECT_EQ(rest_of(*ByteStream::open((directory / name).string())), lines);
}

/// Somebody who keeps every byte, in a process that may take so much more than it has.
TEST(ByteStream, StopsUnpackingBeforeTheMemoryIsGone) {
  const testing::ScratchDirectory directory;
  for (const char* packer : {"gzip", "xz"}) {
    const std::string path = (directory / packer).string();
    const std::string command = fmt::format("head -c 250M /dev/zero | {} -1 > {}", packer, path);
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << packer << " is not installed";
    std::ifstream pages("/proc/self/statm");
    std::size_t size = 0, resident = 0;
    pages >> size >> resident;
    const auto bound = resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (200 << 20);
    setenv("THROUGHTIME_MEMORY", std::to_string(bound).c_str(), 1);
    std::vector<char> kept;
    const std::string refusal = testing::refusal_of([&] {
      const std::unique_ptr<ByteStream> stream = ByteStream::open(path);
      for (std::vector<char> block(1 << 20);;) {
        const std::size_t count = stream->read(std::as_writable_bytes(std::span(block)));
        if (count == 0) break;
        kept.insert(kept.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count));
      }
    });
    unsetenv("THROUGHTIME_MEMORY");
    EXPECT_NE(refusal.find("packed bytes became"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("bytes of memory, "), std::string::npos) << refusal;
    EXPECT_LT(kept.size(), std::size_t{200} << 20);
  }
}

TEST(ByteStream, ReadsSeveralPackedPartsAsOneText) {
  for (const char* name : {"stream/packed.gz", "stream/packed.xz"}) {
    const std::string twice = text_of(corpus(name)) + text_of(corpus(name));
    for (const std::size_t piece : {1, 7, 100}) EXPECT_EQ(rest_of(*stream_of(twice), piece), lines + lines);
    EXPECT_EQ(rest_of(*stream_of(twice + std::string(8, '\0'))), lines + lines);
  }
}

TEST(ByteStream, RefusesPackedFilesThatAreCutOffOrDamaged) {
  for (const char* name : {"stream/packed.gz", "stream/packed.xz"}) {
    const std::string good = text_of(corpus(name));
    for (std::size_t size = 6; size < good.size(); ++size)
      EXPECT_REFUSED(rest_of(*stream_of(good.substr(0, size))), "too early");
    std::string damaged = good;
    damaged[damaged.size() / 2] ^= 0x20;
    EXPECT_REFUSED(rest_of(*stream_of(damaged)), "file, packed byte ");
    EXPECT_REFUSED(rest_of(*stream_of(good + "more")), "packed byte ");
  }
}

TEST(ByteStream, RefusesAnXzFileThatAsksForTooMuchMemory) {
  EXPECT_REFUSED(rest_of(*ByteStream::open(corpus("stream/large_dictionary.xz"))), "more than 256 MiB");
}

TEST(ByteStream, RefusesWhatCannotBeOpened) {
  EXPECT_REFUSED(ByteStream::open("no/such/file"), "cannot read no/such/file");
  EXPECT_REFUSED(ByteStream::open("/tmp"), "is a directory");
}

TEST(ByteStream, HandlesFilesShorterThanAnyMagicNumber) {
  EXPECT_EQ(rest_of(*stream_of("")), "");
  EXPECT_EQ(rest_of(*stream_of("ab")), "ab");
  EXPECT_REFUSED(rest_of(*stream_of("\x1f\x8b")), "too early");
}

TEST(ByteStream, ReadBytesNeverAllocatesWhatAHeaderClaims) {
  const std::string content(3000, 'x');
  EXPECT_EQ(read_bytes(*stream_of(content), 2999, "test", "it").size(), 2999u);
  // 2^60 bytes would be std::bad_alloc or worse.
  EXPECT_REFUSED(read_bytes(*stream_of(content), std::uint64_t{1} << 60, "test", "the values"),
                 "[test] file, byte 3000: the file ends within the values: 3000 of 1152921504606846976 bytes");
}

TEST(ByteStream, SkipsAndExpectsTheEnd) {
  const std::unique_ptr<ByteStream> stream = stream_of("abcdef");
  skip_bytes(*stream, 4, "test", "it");
  EXPECT_EQ(stream->offset(), 4u);
  EXPECT_REFUSED(expect_end(*stream, "test"), "byte 4: the file goes on");
  EXPECT_REFUSED(skip_bytes(*stream, 2, "test", "it"), "byte 6: the file ends within it: 1 of 2");
  EXPECT_NO_THROW(expect_end(*stream, "test"));
}

RC_GTEST_PROP(ByteStream, NumbersOfBothOrdersAreReadBack, (std::uint64_t value)) {
  const int size = *rc::gen::inRange(1, 9);
  if (size < 8) value &= (std::uint64_t{1} << (8 * size)) - 1;
  const std::string little = testing::little(value, size), big = testing::big(value, size);
  RC_ASSERT(little_endian(reinterpret_cast<const std::byte*>(little.data()), size) == value);
  RC_ASSERT(big_endian(reinterpret_cast<const std::byte*>(big.data()), size) == value);
}

}  // namespace
}  // namespace throughtime
