#include "data/arrays/wav.h"

#include <gtest/gtest.h>

#include <bit>

#include "data/arrays/raw.h"
#include "data/files.h"

namespace throughtime {
namespace {

using testing::little;
using testing::stream_of;
using Values = std::vector<float>;

std::string chunk(const std::string& name, const std::string& bytes) {
  return name + little(bytes.size(), 4) + bytes + (bytes.size() % 2 == 1 ? std::string(1, '\0') : "");
}

std::string format(int encoding, int channels, int rate, int bits, const std::string& more = "") {
  const auto number = [](int value, int size) { return little(static_cast<std::uint64_t>(value), size); };
  const int frame = channels * bits / 8;
  return chunk("fmt ", number(encoding, 2) + number(channels, 2) + number(rate, 4) + number(rate * frame, 4) +
                           number(frame, 2) + number(bits, 2) + more);
}

std::string riff(const std::string& chunks) { return "RIFF" + little(chunks.size() + 4, 4) + "WAVE" + chunks; }

Audio read(const std::string& file) { return read_wav(*stream_of(file)); }

const std::string half = little(0x4000, 2), lowest = little(0x8000, 2);

TEST(Wav, ReadsSixteenBitFrames) {
  const Audio audio = read(riff(format(1, 2, 44100, 16) + chunk("data", half + lowest + lowest + half)));
  EXPECT_EQ(audio.rate, 44100);
  EXPECT_EQ(audio.channels, 2);
  EXPECT_EQ(audio.samples, (Values{0.5f, -1, -1, 0.5f}));
}

TEST(Wav, ReadsTwentyFourBitsAndFloats) {
  const std::string wide = little(0xc00000, 3) + little(0x400000, 3) + little(1, 3);
  EXPECT_EQ(read(riff(format(1, 1, 8000, 24) + chunk("data", wide))).samples, (Values{-0.5f, 0.5f, 1.0f / (1 << 23)}));
  const std::string real =
      little(std::bit_cast<std::uint32_t>(0.3f), 4) + little(std::bit_cast<std::uint32_t>(-1.2f), 4);
  EXPECT_EQ(read(riff(format(3, 1, 8000, 32) + chunk("data", real))).samples, (Values{0.3f, -1.2f}));
}

TEST(Wav, ReadsEightBitsAboveTheirSilence) {
  const std::string bytes = little(128, 1) + little(0, 1) + little(255, 1) + little(192, 1);
  EXPECT_EQ(read(riff(format(1, 1, 8000, 8) + chunk("data", bytes))).samples, (Values{0, -1, 127.0f / 128, 0.5f}));
  EXPECT_EQ(read(riff(format(1, 2, 8000, 8) + chunk("data", bytes))).channels, 2);
}

TEST(Wav, ReadsThirtyTwoBits) {
  const std::string bytes = little(0x80000000, 4) + little(0x40000000, 4) + little(0, 4) + little(0x7fffffff, 4);
  EXPECT_EQ(read(riff(format(1, 1, 8000, 32) + chunk("data", bytes))).samples, (Values{-1, 0.5f, 0, 1}));
}

TEST(Wav, ReadsDoubles) {
  const std::string bytes =
      little(std::bit_cast<std::uint64_t>(0.1), 8) + little(std::bit_cast<std::uint64_t>(-2.5), 8);
  EXPECT_EQ(read(riff(format(3, 1, 8000, 64) + chunk("data", bytes))).samples, (Values{0.1f, -2.5f}));
  const std::string far = little(std::bit_cast<std::uint64_t>(1e300), 8);
  EXPECT_REFUSED(read(riff(format(3, 1, 8000, 64) + chunk("data", far))), "is not finite as a 32-bit float");
}

TEST(Wav, ReadsTheExtensibleFormat) {
  const std::string family = little(0x0000001000000000, 8).substr(0, 6) + std::string("\x80\0\0\xaa\0\x38\x9b\x71", 8);
  const auto extensible = [&](int encoding) {
    return format(
        0xfffe, 1, 8000, 16,
        little(22, 2) + little(16, 2) + little(0, 4) + little(static_cast<std::uint64_t>(encoding), 2) + family);
  };
  EXPECT_EQ(read(riff(extensible(1) + chunk("data", half))).samples, (Values{0.5f}));
  EXPECT_REFUSED(read(riff(extensible(2) + chunk("data", half))), "encoding 2 with 16 bits is not supported");
  EXPECT_REFUSED(read(riff(format(0xfffe, 1, 8000, 16) + chunk("data", half))), "an extensible format of unknown kind");
}

TEST(Wav, SkipsChunksThatItDoesNotKnow) {
  const std::string file =
      riff(chunk("LIST", "odd") + format(1, 1, 8000, 16) + chunk("fact", "1234") + chunk("data", half) + "trailing");
  EXPECT_EQ(read(file).samples, (Values{0.5f}));
}

TEST(Wav, ReadsStreamedDataUpToTheEnd) {
  EXPECT_EQ(read(riff(format(1, 1, 8000, 16) + "data" + little(0xffffffff, 4) + half + half)).samples.size(), 2u);
  EXPECT_REFUSED(read(riff(format(1, 1, 8000, 16) + "data" + little(0xffffffff, 4) + half + "x")), "whole numbers");
}

TEST(Wav, RefusesEveryBeginningOfAFile) {
  testing::expect_beginnings_refused(riff(chunk("junk", "1") + format(1, 1, 8000, 16) + chunk("data", half + half)),
                                     [](ByteStream& stream) { read_wav(stream); });
}

TEST(Wav, RefusesWhatItCannotRead) {
  const std::string good = format(1, 2, 8000, 16);
  EXPECT_REFUSED(read("not a sound file"), "[wav] file, byte 0: no WAV file");
  EXPECT_REFUSED(read(riff(chunk("data", half))), "byte 12: the data chunk comes before the format");
  EXPECT_REFUSED(read(riff(format(1, 1, 8000, 12) + chunk("data", half))), "encoding 1 with 12 bits is not supported");
  EXPECT_REFUSED(read(riff(format(3, 1, 8000, 16) + chunk("data", half))), "encoding 3 with 16 bits is not supported");
  EXPECT_REFUSED(read(riff(format(1, 0, 8000, 16) + chunk("data", half))), "byte 22: there must be at least 1 channel");
  EXPECT_REFUSED(read(riff(format(1, 1, 0, 16) + chunk("data", half))), "an impossible rate of 0");
  EXPECT_REFUSED(read(riff(good + chunk("data", half))), "1 samples are no whole number of frames of 2 channels");
  EXPECT_REFUSED(read(riff(good + chunk("data", "abc"))), "3 bytes are no whole number of samples of 2");
  EXPECT_REFUSED(read(riff(good + chunk("data", ""))), "there are no samples");
  EXPECT_REFUSED(read(riff(good)), "byte 36: the file ends without a data chunk");
  EXPECT_REFUSED(read(riff(good + "data" + little(0xfffffffc, 4) + half)), "1 of 2147483646");
  EXPECT_REFUSED(read(riff("fmt " + little(0x7fffffff, 4))), "the format chunk must have 16 to 4096 bytes");
  std::string frame = riff(good + chunk("data", half + half));
  frame[32] = 3;
  EXPECT_REFUSED(read(frame), "byte 32: frames must have 4 bytes, have 3");
}

TEST(Wav, InPartsItIsWhatItIsAtOnce) {
  std::string bytes;
  for (std::uint32_t i = 0; i < 14; ++i)
    bytes += little(std::bit_cast<std::uint32_t>(0.125f * static_cast<float>(i)), 4);
  for (const bool streamed : {false, true}) {
    const std::string file =
        riff(format(3, 2, 8000, 32) + "data" + little(streamed ? 0xffffffff : bytes.size(), 4) + bytes);
    for (const std::uint64_t frames : {1, 2, 3, 7, 100}) {
      const auto stream = stream_of(file);
      WavReader reader(*stream);
      EXPECT_EQ(reader.frames().value_or(0), streamed ? 0u : 7u);
      Values all;
      for (Values part = reader.read(frames); !part.empty(); part = reader.read(frames)) {
        EXPECT_LE(part.size(), 2 * frames);
        all.insert(all.end(), part.begin(), part.end());
      }
      EXPECT_EQ(all, read(file).samples) << frames;
    }
  }
}

TEST(Wav, WhatIsWrittenIsRead) {
  const Values samples = {0.5f, -3.25f, 1e-8f, 0.0f};
  std::string bytes;
  for (const float sample : samples) bytes += little(std::bit_cast<std::uint32_t>(sample), 4);
  for (const std::optional<std::uint64_t> frames : {std::optional<std::uint64_t>(2), std::optional<std::uint64_t>()}) {
    const Audio audio = read(wav_header(48000, 2, frames) + bytes);
    EXPECT_EQ(audio.rate, 48000);
    EXPECT_EQ(audio.channels, 2);
    EXPECT_EQ(audio.samples, samples);
  }
  EXPECT_EQ(wav_header(8000, 1, 1).substr(4, 4), little(40, 4));
  // More than the format counts is said to go on to the end.
  EXPECT_EQ(wav_header(8000, 1, std::uint64_t{1} << 31), wav_header(8000, 1, std::nullopt));
}

TEST(Raw, ReadsFloatsAndRefusesParts) {
  const std::string one = little(std::bit_cast<std::uint32_t>(1.25f), 4);
  EXPECT_EQ(read_float32(*stream_of(one + one)), (Values{1.25f, 1.25f}));
  EXPECT_REFUSED(read_float32(*stream_of(one + "abc")), "[raw] file, byte 4: the file must hold whole numbers of 4");
  EXPECT_REFUSED(read_float32(*stream_of(one + little(0x7f800000, 4))), "byte 4: number 1 (from 0) is not finite");
  EXPECT_REFUSED(read_float32(*stream_of("")), "the file is empty");
}

TEST(Raw, ReadsMoreThanOneBlock) {
  std::string bytes;
  for (std::uint32_t i = 0; i < 20000; ++i) bytes += little(std::bit_cast<std::uint32_t>(static_cast<float>(i)), 4);
  const Values values = read_float32(*stream_of(bytes));
  ASSERT_EQ(values.size(), 20000u);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<float>(i));
}

}  // namespace
}  // namespace throughtime
