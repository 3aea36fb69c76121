#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/byte_stream.h"
#include "data/text/vocabulary.h"

namespace throughtime {

/// Words are what ASCII white space separates; characters are code points, without the ends of lines.
enum class TokenUnit { words, characters };
/// Of ids: as tokens appear, or the most frequent first, ties alphabetical.
enum class TokenOrder { appearance, frequency };

struct TextOptions {
  TokenUnit unit = TokenUnit::words;
  /// Token appended per line; empty: none. A last line without a newline has one too, unless it is the only line.
  std::string end_of_line;
  /// Lines without a token get no end_of_line either.
  bool skip_empty_lines = false;
  std::string unknown = "<unk>";
  /// Rarer tokens become `unknown`. 0: the vocabulary holds what the text holds, and `unknown` only if the text does.
  std::size_t minimum_count = 0;
  TokenOrder order = TokenOrder::appearance;
};

/// Tokens in order of appearance, and how often each was seen.
struct TokenCounts {
  Vocabulary tokens;
  std::vector<std::uint64_t> counts;  // [tokens.size()]
  std::uint64_t total() const;
};

/// Adds the tokens of one file.
void count_tokens(const std::string& path, const TextOptions& options, TokenCounts& counts);
void count_tokens(ByteStream& stream, const TextOptions& options, TokenCounts& counts);
/// Over all files, in their order.
TokenCounts count_tokens(const std::vector<std::string>& paths, const TextOptions& options);

/// The result is frozen.
Vocabulary build_vocabulary(const TokenCounts& counts, const TextOptions& options);

/// Ids of the tokens of one file. A frozen vocabulary reads what it does not hold as `options.unknown`, or refuses it
/// where it does not hold that either; a growing one takes it up.
std::vector<std::int32_t> encode_text(const std::string& path, const TextOptions& options, Vocabulary& vocabulary);
std::vector<std::int32_t> encode_text(ByteStream& stream, const TextOptions& options, Vocabulary& vocabulary);
/// For a frozen vocabulary.
std::vector<std::int32_t> encode_text(const std::string& path, const TextOptions& options,
                                      const Vocabulary& vocabulary);

}  // namespace throughtime
