#include "train/checkpoint/safetensors.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "support/errors.h"
#include "support/scratch.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;
using testing::text_of;
using testing::write_text;

TensorFile sample() {
  TensorFile file;
  file.metadata = {{"note", "two \"words\"\nand a line"}};
  file.tensors.push_back(float_tensor("rnn.weight", {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 0.1}));
  file.tensors.push_back(double_tensor("precise", {2}, std::vector<double>{0.1, -1e300}));
  file.tensors.push_back(integer_tensor("count", std::vector<std::int64_t>{-7}));
  file.tensors.push_back(integer_tensor("empty", std::vector<std::int64_t>{}));
  return file;
}

/// A file with that header, its length in front, and `data` bytes after it.
std::string raw_file(const std::string& header, std::size_t data) {
  const auto length = std::bit_cast<std::array<char, 8>>(static_cast<std::uint64_t>(header.size()));
  return std::string(length.begin(), length.end()) + header + std::string(data, '\0');
}

TEST(Safetensors, ReadsBackWhatItWrote) {
  const ScratchDirectory directory;
  write_tensors(directory / "a", sample());
  const TensorFile back = read_tensors(directory / "a", true);
  ASSERT_EQ(back.tensors.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(back.tensors[i].name, sample().tensors[i].name);
    EXPECT_EQ(back.tensors[i].type, sample().tensors[i].type);
    EXPECT_EQ(back.tensors[i].shape, sample().tensors[i].shape);
    EXPECT_EQ(back.tensors[i].data, sample().tensors[i].data);
  }
  EXPECT_EQ(back.metadata.at("note"), sample().metadata.at("note"));
  EXPECT_EQ(real_values(*back.find("rnn.weight"))[5], static_cast<double>(0.1f));
  EXPECT_EQ(real_values(*back.find("precise")), (std::vector<double>{0.1, -1e300}));
  EXPECT_EQ(integer_values(*back.find("count")), std::vector<std::int64_t>{-7});
  EXPECT_EQ(back.find("nothing"), nullptr);
}

/// Minutes where a name is looked for among all others.
TEST(Safetensors, ManyTensorsKeepTheirOrder) {
  const ScratchDirectory scratch;
  TensorFile file;
  for (int i = 0; i < 100'000; ++i) {
    const double value = i;
    file.tensors.push_back(double_tensor("tensor " + std::to_string(i * 7919 % 100'000), {1}, {&value, 1}));
  }
  const std::filesystem::path path = scratch / "many.safetensors";
  write_tensors(path, file);
  const TensorFile read = read_tensors(path, true);
  ASSERT_EQ(read.tensors.size(), file.tensors.size());
  for (std::size_t i = 0; i < file.tensors.size(); i += 997) {
    EXPECT_EQ(read.tensors[i].name, file.tensors[i].name);
    EXPECT_EQ(real_values(read.tensors[i]), real_values(file.tensors[i]));
  }
}

TEST(Safetensors, HeaderIsPaddedToEightBytes) {
  const ScratchDirectory directory;
  write_tensors(directory / "a", sample());
  std::uint64_t length = 0;
  std::memcpy(&length, text_of(directory / "a").data(), 8);
  EXPECT_EQ(length % 8, 0u);
}

TEST(Safetensors, AFlippedBitInAnyByteIsRefused) {
  const ScratchDirectory directory;
  write_tensors(directory / "a", sample());
  const std::string good = text_of(directory / "a");
  for (std::size_t byte = 0; byte < good.size(); ++byte) {
    std::string bad = good;
    bad[byte] = static_cast<char>(bad[byte] ^ (1 << byte % 8));
    write_text(directory / "b", bad);
    EXPECT_THROW(read_tensors(directory / "b", true), InvalidInput) << "byte " << byte;
  }
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const ScratchDirectory directory;
  write_tensors(directory / "a", sample());
  const std::string good = text_of(directory / "a");
  for (std::size_t length = 0; length < good.size(); ++length) {
    write_text(directory / "b", good.substr(0, length));
    EXPECT_THROW(read_tensors(directory / "b", true), InvalidInput) << length;
  }
  write_text(directory / "b", good + "x");
  EXPECT_REFUSED(read_tensors(directory / "b", true), "bytes");
}

TEST(Safetensors, FilesOfOthersNeedNoChecksum) {
  const ScratchDirectory directory;
  write_text(directory / "a", raw_file(R"({"x":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})", 4));
  EXPECT_EQ(real_values(read_tensors(directory / "a").tensors.front()), (std::vector<double>{0, 0}));
  EXPECT_REFUSED(read_tensors(directory / "a", true), "no checksum");
}

TEST(Safetensors, MalformedHeadersAreRefused) {
  const ScratchDirectory directory;
  const auto refusal = [&](const std::string& header, std::size_t data) {
    write_text(directory / "a", raw_file(header, data));
    return testing::refusal_of([&] { read_tensors(directory / "a"); });
  };
  const auto says = [&](const std::string& header, std::size_t data, const std::string& part) {
    const std::string text = refusal(header, data);
    EXPECT_NE(text.find(part), std::string::npos) << header << " said: " << text;
  };
  says("{", 0, "not JSON");
  says("[]", 0, "must be a JSON object");
  says(R"({"x":1})", 0, "needs dtype, shape and two data_offsets");
  says(R"({"x":{"dtype":"F32","shape":[1]}})", 4, "needs dtype");
  says(R"({"x":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", 4, "unknown dtype 'F31'");
  says(R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "no list of counts");
  says(R"({"x":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4, "no list of counts");
  says(R"({"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})", 4, "larger than any file");
  says(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", 4, "lies at bytes 0 to 8");
  says(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "lies at bytes 4 to 0");
  says(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "need 8");
  says(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"y":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
       4, "overlaps");
  says(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "unused bytes before 'x'");
  says(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 8, "the tensors have 4 bytes");
  says(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
       1, "occurs twice");
  says(R"({"__metadata__":{"a":1}})", 0, "must be a text");
  says(R"({"__metadata__":3})", 0, "object of texts");
  says(R"({"x":)" + std::string(100000, '[') + std::string(100000, ']') + "}", 0, "deeper");
  std::string huge = raw_file("{}", 0);
  huge[6] = '\x7f';
  write_text(directory / "a", huge);
  EXPECT_REFUSED(read_tensors(directory / "a"), "the header claims");
  EXPECT_REFUSED(read_tensors(directory.path()), "it is a directory, not a file");
  EXPECT_REFUSED(read_tensors(directory / "none"), "there is no such file");
}

TEST(Safetensors, RealNumbersOfSixteenBits) {
  const auto value = [](const char* type, std::uint16_t bits) {
    Tensor tensor{"x", type, {1}, std::vector<std::byte>(2)};
    std::memcpy(tensor.data.data(), &bits, 2);
    return real_values(tensor).front();
  };
  EXPECT_EQ(value("F16", 0x3C00), 1.0);
  EXPECT_EQ(value("F16", 0xC500), -5.0);
  EXPECT_EQ(value("F16", 0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(value("F16", 0x7C00), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(value("F16", 0x7E00)));
  EXPECT_EQ(value("BF16", 0xBFC0), -1.5);
  EXPECT_REFUSED(value("U16", 1), "must hold real numbers");
}

RC_GTEST_PROP(Safetensors, RandomChangesNeverCrash, ()) {
  const ScratchDirectory directory;
  write_tensors(directory / "a", sample());
  std::string text = text_of(directory / "a");
  const auto changes = *rc::gen::inRange(1, 6);
  for (int change = 0; change < changes; ++change) {
    const auto place = static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(text.size())));
    const auto kind = *rc::gen::inRange(0, 3);
    if (kind == 0) text[place] = *rc::gen::arbitrary<char>();
    if (kind == 1) text.insert(place, 1, *rc::gen::arbitrary<char>());
    if (kind == 2 && text.size() > 1) text.erase(place, 1);
  }
  write_text(directory / "b", text);
  try {
    read_tensors(directory / "b");
  } catch (const InvalidInput&) {
  }
}

}  // namespace
}  // namespace throughtime
