#include "data/printable.h"

#include <gtest/gtest.h>

#include "data/utf8.h"

namespace throughtime {
namespace {

TEST(Printable, LeavesTextsAsTheyAre) {
  EXPECT_EQ(printable("naïve 数 \\x1b é"), "naïve 数 \\x1b é");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, EscapesEveryControlCharacter) {
  EXPECT_EQ(printable("a\nb\tc\r\x7f"), "a\\x0ab\\x09c\\x0d\\x7f");
  EXPECT_EQ(printable("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");  // C1 in UTF-8
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "\\x9b2J");                                         // C1 as a byte
  EXPECT_EQ(printable("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8"),  // turns the text around; a line's end
            "\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x80\\xa8");
  EXPECT_EQ(printable_lines("a\n\tb\x1b[2J\r\n"), "a\n\tb\\x1b[2J\\x0d\n");
}

/// Whatever two or three bytes come: what is left is valid UTF-8 without C0, DEL and C1.
TEST(Printable, LeavesNothingThatATerminalObeys) {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      const char bytes[] = {static_cast<char>(first), static_cast<char>(second), '\x80'};
      for (const std::size_t length : {1u, 2u, 3u}) {
        const std::string shown = printable(std::string_view(bytes, length));
        ASSERT_EQ(invalid_utf8(shown), std::string::npos) << first << ' ' << second;
        for (std::size_t at = 0; at < shown.size(); ++at) {
          const auto byte = static_cast<unsigned char>(shown[at]);
          ASSERT_TRUE(byte >= ' ' && byte != 0x7f) << first << ' ' << second;
          if (byte == 0xc2) ASSERT_GE(static_cast<unsigned char>(shown[at + 1]), 0xa0) << first << ' ' << second;
        }
      }
    }
}

}  // namespace
}  // namespace throughtime
