#include <gtest/gtest.h>

#include <numeric>

#include "data/arrays/cifar.h"
#include "data/arrays/idx.h"
#include "data/files.h"

namespace throughtime {
namespace {

using testing::big;
using testing::stream_of;

std::string idx(int type, const std::vector<std::uint32_t>& shape, const std::string& values) {
  std::string file = {'\0', '\0', static_cast<char>(type), static_cast<char>(shape.size())};
  for (const std::uint32_t size : shape) file += big(size, 4);
  return file + values;
}

TEST(Idx, ReadsShapeAndValues) {
  const std::string file = idx(8, {2, 3}, {'\0', '\1', '\2', '\3', '\4', '\xff'});
  const IdxArray array = read_idx(*stream_of(file));
  EXPECT_EQ(array.shape, (std::vector<int>{2, 3}));
  EXPECT_EQ(array.values, (std::vector<std::uint8_t>{0, 1, 2, 3, 4, 255}));
}

TEST(Idx, RefusesEveryBeginningOfAFile) {
  testing::expect_beginnings_refused(idx(8, {2, 2}, "abcd"), [](ByteStream& stream) { read_idx(stream); });
}

TEST(Idx, RefusesImpossibleHeadersWithTheirPosition) {
  EXPECT_REFUSED(read_idx(*stream_of("text, no IDX file")), "[idx] file, byte 0: no IDX file");
  EXPECT_REFUSED(read_idx(*stream_of(idx(0x0d, {1}, "abcd"))), "byte 2: type 0x0d is not supported");
  EXPECT_REFUSED(read_idx(*stream_of(idx(8, {}, ""))), "byte 3: must have 1 to 8 dimensions, has 0");
  EXPECT_REFUSED(read_idx(*stream_of(idx(8, {2, 0}, ""))), "byte 8: dimension 1 has an impossible size of 0");
  EXPECT_REFUSED(read_idx(*stream_of(idx(8, {1u << 31}, ""))), "byte 4: dimension 0 has an impossible size");
  const std::uint32_t large = 0x7fffffff;
  EXPECT_REFUSED(read_idx(*stream_of(idx(8, {large, large, large}, "abc"))), "byte 12: dimension 2 has an impossible");
  EXPECT_REFUSED(read_idx(*stream_of(idx(8, {large, large}, "abc"))),
                 "byte 15: the file ends within the values: 3 of ");
  EXPECT_REFUSED(read_idx(*stream_of(idx(8, {2}, "abc"))), "byte 10: the file goes on");
}

std::string cifar_image(int label, char pixel) { return static_cast<char>(label) + std::string(3072, pixel); }

TEST(Cifar, ReadsLabelsAndPlanes) {
  const std::string file = cifar_image(3, 'a') + cifar_image(9, 'b');
  const CifarImages images = read_cifar(*stream_of(file));
  EXPECT_EQ(images.labels, (std::vector<std::uint8_t>{3, 9}));
  ASSERT_EQ(images.pixels.size(), 2u * 3072);
  EXPECT_EQ(images.pixels[3071], 'a');
  EXPECT_EQ(images.pixels[3072], 'b');
}

TEST(Cifar, RefusesPartsOfImagesAndLabelsOutOfRange) {
  const std::string good = cifar_image(1, 'a');
  EXPECT_REFUSED(read_cifar(*stream_of("")), "the file is empty");
  EXPECT_REFUSED(read_cifar(*stream_of(good + "x")), "byte 3073: the file ends within image 1: 1 of 3073 bytes");
  EXPECT_REFUSED(read_cifar(*stream_of(good + cifar_image(10, 'a'))),
                 "byte 3073: the label of image 1 must be between 0 and 9, is 10");
}

}  // namespace
}  // namespace throughtime
