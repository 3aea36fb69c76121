#include "train/options/toml_document.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace throughtime::testing
