#include "train/options/toml_document.h"

#include <gtest/gtest.h>

#include "support/errors.h"

namespace throughtime::testing {
namespace {

std::string text_of(const std::string& value) { return value_text(*parse_document("x = " + value, "test").get("x")); }

TEST(TomlDocument, WritesValuesWithTheDigitsTheyNeed) {
  for (const std::string value : {"0.1", "1e-05", "2.0", "-3", "true", "[0.7, 0.2, 0.1]", "[[1, 2], [0.3]]", "[]"})
    EXPECT_EQ(text_of(value), value);
  EXPECT_EQ(text_of("0.30000000000000004"), "0.30000000000000004");
}

TEST(TomlDocument, WritesTextsThatCanBeReadAgain) {
  for (const std::string value : {"\"plain\"", "\"a \\\"quoted\\\" = word\""}) {
    const std::string text = text_of(value);
    EXPECT_EQ(text_of(text), text);
    EXPECT_EQ(*parse_document("x = " + text, "test")["x"].value<std::string>(),
              *parse_document("x = " + value, "test")["x"].value<std::string>());
  }
}

TEST(TomlDocument, NamesValuesBelowTables) {
  const toml::table table = parse_document("b = 1\n[a]\nz.y = 2\nx = [3]\n", "test");
  std::string seen;
  for (const auto& [name, value] : values_under(table)) seen += name + "=" + value_text(*value) + " ";
  EXPECT_EQ(seen, "a.x=[3] a.z.y=2 b=1 ");
}

TEST(TomlDocument, RefusesKeysThatGoVeryDeep) {
  std::string dots = "a";
  for (int i = 0; i < 500000; ++i) dots += i % 2 == 0 ? ".a" : " . \"a\"";
  for (const std::string& text : {dots + " = 1", "[" + dots + "]", "[[" + dots + "]]", "x = {" + dots + " = 1}"})
    EXPECT_REFUSED(parse_document(text, "test"), "[config] test:1: a key may have 32 dots at most");
  EXPECT_REFUSED(parse_document("b = 1\n" + dots + " = 1", "test"), "[config] test:2: a key may have 32 dots at most");
  // Dots that are no keys'.
  const std::string texts = "a = \"" + std::string(100, '.') + "\"\nb = '" + std::string(100, '.') + "'\nc = \"\"\"" +
                            std::string(100, '.') + "\n\"\"\" # " + std::string(100, '.') + "\n";
  std::string numbers = "d = [0.5";
  for (int i = 0; i < 100; ++i) numbers += ", 0.5";
  EXPECT_EQ(parse_document(texts + numbers + "]\n", "test").size(), 4u);
}

TEST(TomlDocument, AHeaderHasAName) {
  for (const std::string text : {"[=]", "[[.a]]", " [ {", "[\x1b[2J]", "[[ \n", "\xef\xbb\xbf[+"})
    EXPECT_REFUSED(parse_document("" + text, "test"), "[config] test:1: a table's name must follow [, such as [train]");
  EXPECT_REFUSED(parse_document("a = 1\nb = [\n[1], [-2]]\n\t[[}", "test"), "test:4: a table's name must follow [");
  // Brackets of values are none, and what is missing altogether the parser says itself.
  EXPECT_EQ(parse_document("a = [\n[{b = 1}],\n[\"c\"],\n[+1]]\n[ 'd' ]\n[[\"e\"]]", "test").size(), 3u);
  EXPECT_REFUSED(parse_document("[]", "test"), "blank bare keys");
  EXPECT_REFUSED(parse_document("[", "test"), "test:1");
}

TEST(TomlDocument, ComplainsInOneLineWhateverItQuotes) {
  EXPECT_REFUSED(parse_document("a = f\nb = 1\n", "here.toml"), "here.toml:1:");
  const std::string refusal =
      testing::refusal_of([] { static_cast<void>(parse_document("a = f\nb = 1\n", "here.toml")); });
  EXPECT_EQ(refusal.find('\n'), std::string::npos) << refusal;
}

}  // namespace
}  // namespace throughtime::testing
