#include "data/arrays/npy.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "data/files.h"

namespace throughtime {
namespace {

using testing::big;
using testing::corpus;
using testing::little;
using testing::stream_of;
using testing::text_of;
using Shape = std::vector<std::size_t>;
using Values = std::vector<float>;

std::string npy(const std::string& header, const std::string& values, int version = 1) {
  return "\x93NUMPY" + little(static_cast<std::uint64_t>(version), 1) + little(0, 1) +
         little(header.size(), version == 1 ? 2 : 4) + header + values;
}

std::string header(const std::string& type, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape +
         ", } \n";
}

std::string floats(const Values& values) {
  std::string bytes;
  for (const float value : values) bytes += little(std::bit_cast<std::uint32_t>(value), 4);
  return bytes;
}

Values values_of(const std::string& file) { return read_npy(*stream_of(file)).values; }

TEST(Npy, ReadsEveryTypeInBothByteOrders) {
  EXPECT_EQ(values_of(npy(header("<f4", "(2,)"), floats({1.5f, -2}))), (Values{1.5f, -2}));
  EXPECT_EQ(values_of(npy(header(">f4", "(1,)"), big(std::bit_cast<std::uint32_t>(1.5f), 4))), (Values{1.5f}));
  EXPECT_EQ(values_of(npy(header("<f8", "(1,)"), little(std::bit_cast<std::uint64_t>(-0.25), 8))), (Values{-0.25f}));
  EXPECT_EQ(values_of(npy(header(">f8", "(1,)"), big(std::bit_cast<std::uint64_t>(-0.25), 8))), (Values{-0.25f}));
  EXPECT_EQ(values_of(npy(header("<i4", "(2,)"), little(-3u, 4) + little(7, 4))), (Values{-3, 7}));
  EXPECT_EQ(values_of(npy(header(">i4", "(1,)"), big(-3u, 4))), (Values{-3}));
  EXPECT_EQ(values_of(npy(header("<i8", "(1,)"), little(-3ull, 8))), (Values{-3}));
  EXPECT_EQ(values_of(npy(header(">i8", "(1,)"), big(5, 8))), (Values{5}));
  EXPECT_EQ(values_of(npy(header("|u1", "(3,)"), {'\0', '\x7f', '\xff'})), (Values{0, 127, 255}));
  EXPECT_EQ(values_of(npy(header("|i1", "(2,)"), {'\x7f', '\xff'})), (Values{127, -1}));
  EXPECT_EQ(values_of(npy(header("|b1", "(2,)"), {'\0', '\x01'})), (Values{0, 1}));
  EXPECT_EQ(values_of(npy(header("<i2", "(2,)"), little(0xffff, 2) + little(500, 2))), (Values{-1, 500}));
  EXPECT_EQ(values_of(npy(header(">u2", "(1,)"), big(0xffff, 2))), (Values{65535}));
  EXPECT_EQ(values_of(npy(header("<u4", "(1,)"), little(0xffffffff, 4))), (Values{4294967296.0f}));
  EXPECT_EQ(values_of(npy(header("<u8", "(1,)"), little(1ull << 63, 8))), (Values{9223372036854775808.0f}));
}

TEST(Npy, ReadsVersionsAndShapes) {
  for (const int version : {1, 2, 3}) {
    const std::string file = npy(header("<f4", "(1, 2)"), floats({1, 2}), version);
    EXPECT_EQ(read_npy(*stream_of(file)).shape, (Shape{1, 2}));
  }
  const std::string scalar = npy(header("<f4", "()"), floats({4}));
  EXPECT_EQ(read_npy(*stream_of(scalar)).shape, Shape{});
  EXPECT_EQ(read_npy(*stream_of(scalar)).values, Values{4});
}

TEST(Npy, TurnsFortranOrderIntoCOrder) {
  const std::string file = npy(header("<f4", "(2, 3)", true), floats({0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values_of(file), (Values{0, 1, 2, 3, 4, 5}));
  // NumPy's own: arange(24).reshape(2, 3, 4) in Fortran order.
  const NumberArray cube = read_npy(corpus("npy/fortran.npy"));
  ASSERT_EQ(cube.shape, (Shape{2, 3, 4}));
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(cube.values[i], static_cast<float>(i));
}

TEST(Npy, RefusesEveryBeginningOfAFile) {
  testing::expect_beginnings_refused(npy(header("<f4", "(3,)"), floats({1, 2, 3})),
                                     [](ByteStream& stream) { read_npy(stream); });
}

TEST(Npy, RefusesWhatItCannotRead) {
  const auto refused = [](const std::string& header) { return read_npy(*stream_of(npy(header, "12345678"))); };
  EXPECT_REFUSED(read_npy(*stream_of("no numbers here")), "[npy] file, byte 0: no NPY file");
  EXPECT_REFUSED(read_npy(*stream_of(npy("", "", 4))), "byte 6: version must be 1, 2 or 3, is 4");
  EXPECT_REFUSED(refused(header("<f2", "(4,)")), "type '<f2' is not supported; save the array as f4");
  EXPECT_REFUSED(refused(header("|i2", "(4,)")), "type '|i2' is not supported");
  EXPECT_REFUSED(refused(header("<i3", "(4,)")), "type '<i3' is not supported");
  EXPECT_REFUSED(refused(header("<b2", "(4,)")), "type '<b2' is not supported");
  EXPECT_REFUSED(refused(header("|O", "(4,)")), "type '|O' is not supported");
  EXPECT_REFUSED(refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}"), "arrays of records");
  EXPECT_REFUSED(refused(header("<f4", "(3,)")), "the file ends within its numbers: 2 of 3");
  EXPECT_REFUSED(refused(header("<f4", "(1,)")), "the file goes on");
  EXPECT_REFUSED(refused(header("<f4", "(0,)")), "the array is empty");
  EXPECT_REFUSED(refused(header("<f4", "(99999999999999999999,)")), "an impossible shape");
  EXPECT_REFUSED(refused(header("<f4", "(4294967296, 4294967296)")), "an impossible shape");
  EXPECT_REFUSED(refused(header("<f4", "(9223372036854775807,)")), "2 of 9223372036854775807");
  EXPECT_REFUSED(refused(header("<f4", "(2 3)")), "byte 63: in the header: ')' was expected");
  EXPECT_REFUSED(refused("{'descr': '<f4', 'fortran_order': False}"), "must all be there");
  EXPECT_REFUSED(refused("{'descr': '<f4', 'descr': '<f4'}"), "unexpected key 'descr'");
  EXPECT_REFUSED(refused("{'descr': '<f4"), "a quoted word does not end");
  EXPECT_REFUSED(read_npy(*stream_of("\x93NUMPY\x02" + little(0, 1) + little(0xffffffff, 4))), "byte 8: a header of");
}

TEST(Npy, RefusesNumbersThatAreNotFinite) {
  const std::string start = header("<f4", "(2,)");
  EXPECT_REFUSED(values_of(npy(start, floats({1, std::bit_cast<float>(0x7fc00000u)}))),
                 fmt::format("byte {}: number 1 (from 0) is not finite", 10 + start.size() + 4));
  EXPECT_REFUSED(values_of(npy(header("<f8", "(1,)"), little(std::bit_cast<std::uint64_t>(1e300), 8))), "not finite");
}

TEST(Npy, KeepsGapsWhereThatIsAsked) {
  const auto kept = [](float value) {
    return read_npy(*stream_of(npy(header("<f4", "(2,)"), floats({1, value}))), Gaps::kept).values;
  };
  EXPECT_TRUE(std::isnan(kept(NAN)[1]));
  EXPECT_EQ(kept(NAN)[0], 1);
  EXPECT_REFUSED(kept(INFINITY), "number 1 (from 0) is not finite");
}

TEST(Npy, WhatIsWrittenIsRead) {
  const std::vector<double> numbers = {1, -2.5, 1e-3, 4, 5, 6};
  const std::string bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  for (const std::size_t columns : {1, 2, 6}) {
    const std::string header = npy_header(6 / columns, columns);
    EXPECT_EQ(header.size() % 64, 0u);
    const NumberArray array = read_npy(*stream_of(header + bytes));
    EXPECT_EQ(array.shape,
              columns == 1 ? (std::vector<std::size_t>{6}) : (std::vector<std::size_t>{6 / columns, columns}));
    EXPECT_EQ(array.values, (std::vector<float>(numbers.begin(), numbers.end())));
  }
  EXPECT_EQ(npy_header(123456789012345, 1000000).size() % 64, 0u);
}

TEST(Npz, ReadsStoredAndDeflatedMembers) {
  for (const char* name : {"npz/stored.npz", "npz/deflated.npz", "npz/streamed.npz"}) {
    const NumberArray x = read_npz(corpus(name), "x"), y = read_npz(corpus(name), "y");
    EXPECT_EQ(x.shape, (Shape{2, 3})) << name;
    EXPECT_EQ(x.values, (Values{0, 1, 2, 3, 4, 5})) << name;
    EXPECT_EQ(y.values, (Values{-1.5f})) << name;
    EXPECT_EQ(read_npz(corpus(name), "y.npy").values, y.values);
  }
}

TEST(Npz, RefusesAnUnknownArrayWithTheNearestName) {
  EXPECT_REFUSED(read_npz(corpus("npz/stored.npz"), "xx"), "unknown array 'xx'; did you mean 'x'? known: x, y");
}

TEST(Npz, RefusesArchivesThatAreCutOff) {
  for (const char* name : {"npz/stored.npz", "npz/deflated.npz", "npz/streamed.npz"}) {
    const std::string good = text_of(corpus(name));
    // The members end where the directory begins; numpy reads that, we do not need it.
    const std::size_t members = good.find("PK\x01\x02");
    testing::expect_beginnings_refused(good.substr(0, members), [](ByteStream& stream) { read_npz(stream, "y"); });
  }
}

TEST(Npz, RefusesADamagedMember) {
  std::string damaged = text_of(corpus("npz/stored.npz"));
  const std::size_t value = damaged.find(floats({4, 5}));
  ASSERT_NE(value, std::string::npos);
  damaged[value + 2] ^= 1;
  EXPECT_REFUSED(read_npz(*stream_of(damaged), "x"), "member 'x.npy': its checksum is wrong");
  EXPECT_REFUSED(read_npz(*stream_of("no archive"), "x"), "[npz] file, byte 0: no NPZ file");
}

}  // namespace
}  // namespace throughtime
