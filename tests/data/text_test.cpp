#include "data/text/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "data/files.h"

namespace throughtime {
namespace {

using testing::stream_of;
using Tokens = std::vector<std::string>;

Tokens tokens_of(const std::string& text, const TextOptions& options) {
  Vocabulary vocabulary;
  Tokens tokens;
  for (const std::int32_t id : encode_text(*stream_of(text), options, vocabulary))
    tokens.emplace_back(vocabulary.token(id));
  return tokens;
}

Tokens all(const Vocabulary& vocabulary) {
  Tokens tokens;
  for (std::size_t id = 0; id < vocabulary.size(); ++id)
    tokens.emplace_back(vocabulary.token(static_cast<std::int32_t>(id)));
  return tokens;
}

Vocabulary vocabulary_of(const std::string& text, const TextOptions& options) {
  TokenCounts counts;
  count_tokens(*stream_of(text), options, counts);
  return build_vocabulary(counts, options);
}

const TextOptions words{.end_of_line = "<eos>"};
const TextOptions characters{.unit = TokenUnit::characters};

TEST(Words, AreSplitAtWhiteSpaceWithOneEndPerLine) {
  EXPECT_EQ(tokens_of(" a bc\t d \r\n\n e\n", words), (Tokens{"a", "bc", "d", "<eos>", "<eos>", "e", "<eos>"}));
  EXPECT_EQ(tokens_of("a b\nc", {}), (Tokens{"a", "b", "c"}));
  EXPECT_EQ(tokens_of("", words), Tokens{});
}

TEST(Words, LastLineWithoutNewlineEndsUnlessItIsTheOnlyOne) {
  EXPECT_EQ(tokens_of("a b", words), (Tokens{"a", "b"}));
  EXPECT_EQ(tokens_of("a\nb", words), (Tokens{"a", "<eos>", "b", "<eos>"}));
  EXPECT_EQ(tokens_of("a\n ", words), (Tokens{"a", "<eos>", "<eos>"}));
}

TEST(Words, EmptyLinesCanBeSkipped) {
  EXPECT_EQ(tokens_of("\n a\n \n\nb\n ", {.end_of_line = "<eos>", .skip_empty_lines = true}),
            (Tokens{"a", "<eos>", "b", "<eos>"}));
}

TEST(Characters, AreCodePoints) {
  EXPECT_EQ(tokens_of("a \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", characters),
            (Tokens{"a", " ", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}));
  TextOptions lines = characters;
  lines.end_of_line = "\n";
  EXPECT_EQ(tokens_of("\xef\xbb\xbf"
                      "ab\r\nc\r\n\n\rd\n",
                      lines),
            (Tokens{"a", "b", "\n", "c", "\n", "\n", "\r", "d", "\n"}));
  lines.skip_empty_lines = true;
  EXPECT_EQ(tokens_of("\na\n\n", lines), (Tokens{"a", "\n"}));
}

TEST(Text, InvalidUtf8IsRefusedWithItsOffset) {
  for (const char* bad : {"\xff", "\x80", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xe2\x82", "\xf5\x80\x80\x80"}) {
    const std::string content = std::string("abc d") + bad;
    EXPECT_REFUSED(tokens_of(content, words), "[text] file, byte 5: invalid UTF-8");
    EXPECT_REFUSED(tokens_of(content, characters), "[text] file, byte 5: invalid UTF-8");
    EXPECT_REFUSED(tokens_of(content + " e", words), "byte 5: invalid UTF-8");
    TokenCounts counts;
    EXPECT_REFUSED(count_tokens(*stream_of(content), words, counts), "byte 5: invalid UTF-8");
  }
}

TEST(Text, WordsWithoutEndAreRefused) {
  EXPECT_REFUSED(tokens_of("a " + std::string(1 << 20, 'x'), words), "byte 2: a word of more than 32768 bytes");
  EXPECT_EQ(tokens_of(std::string(1 << 15, 'x'), words).size(), 1u);
}

/// Shifts a text over the edge of a block, so that each of its tokens is cut there once.
TEST(Text, BlocksDoNotChangeTheTokens) {
  constexpr std::size_t block = 1 << 16;
  const std::string tail = "x abc \xc3\xa4\r\n\r\n \xf0\x9f\x98\x80\xe2\x82\xac\n\nlong-word-of-many-letters \rd\r\n";
  for (TextOptions options : {words, characters}) {
    options.end_of_line = "<eos>";
    for (std::size_t before = 0; before <= tail.size(); ++before) {
      const std::size_t filler = block - before;
      Vocabulary vocabulary;
      const std::vector<std::int32_t> expected = encode_text(*stream_of("\n" + tail), options, vocabulary);
      const std::string content = std::string(filler, '\n') + tail;
      const std::vector<std::int32_t> ids = encode_text(*stream_of(content), options, vocabulary);
      ASSERT_EQ(ids.size(), filler - 1 + expected.size()) << before;
      EXPECT_TRUE(std::equal(expected.rbegin(), expected.rend(), ids.rbegin())) << before;
    }
  }
}

TEST(BuildVocabulary, OrdersByAppearanceOrFrequency) {
  const std::string content = "b a b c a b\nd\n";
  EXPECT_EQ(all(vocabulary_of(content, words)), (Tokens{"b", "a", "c", "<eos>", "d"}));
  TextOptions frequent = words;
  frequent.order = TokenOrder::frequency;
  EXPECT_EQ(all(vocabulary_of(content, frequent)), (Tokens{"b", "<eos>", "a", "c", "d"}));
}

TEST(BuildVocabulary, RareTokensBecomeTheUnknownOne) {
  TextOptions options;
  options.minimum_count = 2;
  EXPECT_EQ(all(vocabulary_of("a b a c d", options)), (Tokens{"a", "<unk>"}));
  EXPECT_EQ(all(vocabulary_of("a <unk> b a", options)), (Tokens{"a", "<unk>"}));
  options.order = TokenOrder::frequency;
  EXPECT_EQ(all(vocabulary_of("a b a c d", options)), (Tokens{"<unk>", "a"}));
  Vocabulary vocabulary = vocabulary_of("a b a c d", options);
  EXPECT_EQ(encode_text(*stream_of("a b z"), options, vocabulary), (std::vector<std::int32_t>{1, 0, 0}));
  // From 1 on the unknown token is there even if nothing is rare: other texts may need it.
  options.minimum_count = 1;
  EXPECT_EQ(vocabulary_of("a b", options).size(), 3u);
  options.minimum_count = 0;
  EXPECT_EQ(vocabulary_of("a b", options).size(), 2u);
}

TEST(EncodeText, RefusesUnknownTokensWhereNothingStandsForThem) {
  Vocabulary vocabulary = vocabulary_of("a b", {});
  EXPECT_REFUSED(encode_text(*stream_of("b a c"), {}, vocabulary),
                 "byte 4: 'c' is not in the vocabulary of 2 tokens, and neither is '<unk>'");
  const testing::ScratchDirectory directory;
  testing::write_text(directory / "text", "b a b");
  EXPECT_EQ(encode_text((directory / "text").string(), {}, std::as_const(vocabulary)),
            (std::vector<std::int32_t>{1, 0, 1}));
}

TEST(CountTokens, GoesOverSeveralFiles) {
  const testing::ScratchDirectory directory;
  testing::write_text(directory / "first", "a b\n");
  testing::write_text(directory / "second", "b c\n");
  const TokenCounts counts = count_tokens({(directory / "first").string(), (directory / "second").string()}, words);
  EXPECT_EQ(all(counts.tokens), (Tokens{"a", "b", "<eos>", "c"}));
  EXPECT_EQ(counts.counts, (std::vector<std::uint64_t>{1, 2, 2, 1}));
  EXPECT_EQ(counts.total(), 6u);
}

TEST(Vocabulary, GivesIdsInOrder) {
  Vocabulary vocabulary;
  EXPECT_EQ(vocabulary.add("x"), 0);
  EXPECT_EQ(vocabulary.add("yy"), 1);
  EXPECT_EQ(vocabulary.add("x"), 0);
  EXPECT_EQ(vocabulary.find("yy"), 1);
  EXPECT_EQ(vocabulary.find("z"), Vocabulary::none);
  EXPECT_EQ(vocabulary.find(""), Vocabulary::none);
  EXPECT_EQ(vocabulary.token(1), "yy");
  EXPECT_REFUSED(vocabulary.token(2), "id must be between 0 and 1, got 2");
  EXPECT_REFUSED(vocabulary.add(""), "must not be empty");
  EXPECT_REFUSED(vocabulary.add("\xff"), "not valid UTF-8");
  vocabulary.freeze();
  EXPECT_EQ(vocabulary.add("yy"), 1);
  EXPECT_REFUSED(vocabulary.add("z"), "frozen");
}

RC_GTEST_PROP(Vocabulary, AgreesWithAMap, (const std::vector<std::vector<bool>>& keys)) {
  Vocabulary vocabulary;
  std::map<std::string, std::int32_t> map;
  for (const std::vector<bool>& key : keys) {
    std::string token = "t";
    for (const bool bit : key) token += bit ? 'a' : 'b';
    const auto [entry, fresh] = map.emplace(token, static_cast<std::int32_t>(map.size()));
    RC_ASSERT(vocabulary.find(token) == (fresh ? Vocabulary::none : entry->second));
    RC_ASSERT(vocabulary.add(token) == entry->second);
  }
  RC_ASSERT(vocabulary.size() == map.size());
  for (const auto& [token, id] : map) RC_ASSERT(vocabulary.token(id) == token);
}

TEST(Vocabulary, KeepsThousandsOfTokens) {
  Vocabulary vocabulary;
  for (int i = 0; i < 50000; ++i) ASSERT_EQ(vocabulary.add(std::to_string(i)), i);
  for (int i = 0; i < 50000; ++i) ASSERT_EQ(vocabulary.find(std::to_string(i)), i);
}

TEST(Vocabulary, IsSavedAndLoaded) {
  Vocabulary vocabulary;
  for (const char* token : {"a", " ", "\n", "\\n", "\r", "\\", "\xc3\xa4", "b c"}) vocabulary.add(token);
  EXPECT_EQ(vocabulary.text(), "a\n \n\\n\n\\\\n\n\\r\n\\\\\n\xc3\xa4\nb c\n");
  const testing::ScratchDirectory directory;
  const std::string path = (directory / "vocabulary.txt").string();
  vocabulary.save(path);
  const Vocabulary loaded = Vocabulary::load(path);
  EXPECT_TRUE(loaded == vocabulary);
  EXPECT_TRUE(loaded.frozen());
  EXPECT_EQ(loaded.find("\n"), 2);
  EXPECT_THROW(vocabulary.save("/no/such/directory/file"), RunFailure);
}

TEST(Vocabulary, RefusesDamagedFiles) {
  EXPECT_REFUSED(Vocabulary::load(*stream_of("a\nb\na\n")), "[vocabulary] file:3: 'a' is there twice");
  EXPECT_REFUSED(Vocabulary::load(*stream_of("a\n\nb\n")), "file:2: the line is empty");
  EXPECT_REFUSED(Vocabulary::load(*stream_of("a\n\\x\n")), "file:2: '\\x' is no token");
  EXPECT_REFUSED(Vocabulary::load(*stream_of("a\n\\\n")), "file:2: '\\' is no token");
  EXPECT_REFUSED(Vocabulary::load(*stream_of("\xff\n")), "file:1: '\\xff' is no token");
  EXPECT_REFUSED(Vocabulary::load(*stream_of("a\nb")), "file:2: the file ends without a newline");
}

}  // namespace
}  // namespace throughtime
