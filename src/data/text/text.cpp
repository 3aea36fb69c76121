#include "data/text/text.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "data/text/tokens.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "text";

/// Words are checked when they are met for the first time, which is cheaper than checking every byte.
void require_utf8(std::string_view token, std::uint64_t offset, const ByteStream& stream) {
  const std::size_t invalid = invalid_utf8(token);
  if (invalid != std::string_view::npos) refuse_byte(speaker, stream.name(), offset + invalid, "invalid UTF-8");
}

template <class Sink>
void for_each_token(ByteStream& stream, const TextOptions& options, Sink&& sink) {
  Tokenizer<Sink>(stream, options, sink).run();
}

/// Tokens of a file, for the price of reading it once more; 0 where it can be read but once. A list that grew by
/// doubling would need the room of two.
std::size_t tokens_in(const std::string& path, const TextOptions& options) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return 0;
  std::size_t count = 0;
  for_each_token(*ByteStream::open(path), options, [&count](std::string_view, std::uint64_t) { ++count; });
  return count;
}

/// `unseen(token, offset)` gives the id of a token that the vocabulary does not hold. `expected`: room for so many ids.
template <class Unseen>
std::vector<std::int32_t> encode(ByteStream& stream, const TextOptions& options, const Vocabulary& vocabulary,
                                 std::size_t expected, const Unseen& unseen) {
  std::vector<std::int32_t> ids;
  ids.reserve(expected);
  for_each_token(stream, options, [&](std::string_view token, std::uint64_t offset) {
    std::int32_t id = vocabulary.find(token);
    if (id == Vocabulary::none) {
      require_utf8(token, offset, stream);
      id = unseen(token, offset);
    }
    ids.push_back(id);
  });
  if (expected == 0) ids.shrink_to_fit();
  return ids;
}

std::vector<std::int32_t> encode_frozen(ByteStream& stream, const TextOptions& options, const Vocabulary& vocabulary,
                                        std::size_t expected) {
  const std::int32_t unknown = vocabulary.find(options.unknown);
  return encode(stream, options, vocabulary, expected, [&](std::string_view token, std::uint64_t offset) {
    if (unknown == Vocabulary::none)
      refuse_byte(speaker, stream.name(), offset, "{} is not in the vocabulary of {} tokens, and neither is {}",
                  excerpt(token), vocabulary.size(), excerpt(options.unknown));
    return unknown;
  });
}

std::vector<std::int32_t> encode_any(ByteStream& stream, const TextOptions& options, Vocabulary& vocabulary,
                                     std::size_t expected) {
  if (vocabulary.frozen()) return encode_frozen(stream, options, vocabulary, expected);
  return encode(stream, options, vocabulary, expected,
                [&](std::string_view token, std::uint64_t) { return vocabulary.add(token); });
}

}  // namespace

std::uint64_t TokenCounts::total() const { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

void count_tokens(ByteStream& stream, const TextOptions& options, TokenCounts& counts) {
  for_each_token(stream, options, [&](std::string_view token, std::uint64_t offset) {
    std::int32_t id = counts.tokens.find(token);
    if (id == Vocabulary::none) {
      require_utf8(token, offset, stream);
      id = counts.tokens.add(token);
      counts.counts.push_back(0);
    }
    ++counts.counts[id];
  });
}

void count_tokens(const std::string& path, const TextOptions& options, TokenCounts& counts) {
  count_tokens(*ByteStream::open(path), options, counts);
}

TokenCounts count_tokens(const std::vector<std::string>& paths, const TextOptions& options) {
  TokenCounts counts;
  for (const std::string& path : paths) count_tokens(path, options, counts);
  return counts;
}

Vocabulary build_vocabulary(const TokenCounts& counts, const TextOptions& options) {
  // What is too rare counts as the unknown token, which then has a place of its own even if the text never names it.
  struct Entry {
    std::string_view token;
    std::uint64_t count;
  };
  std::vector<Entry> entries;
  Entry unknown{options.unknown, 0};
  std::size_t unknown_place = std::string::npos;
  for (std::size_t id = 0; id < counts.tokens.size(); ++id) {
    const Entry entry{counts.tokens.token(static_cast<std::int32_t>(id)), counts.counts[id]};
    if (entry.token == options.unknown) unknown_place = entries.size();
    if (entry.token == options.unknown || entry.count < options.minimum_count) unknown.count += entry.count;
    if (entry.token == options.unknown || entry.count >= options.minimum_count) entries.push_back(entry);
  }
  if (unknown_place != std::string::npos)
    entries[unknown_place].count = unknown.count;
  else if (options.minimum_count > 0)
    entries.push_back(unknown);

  if (options.order == TokenOrder::frequency)
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.count != b.count ? a.count > b.count : a.token < b.token;
    });
  Vocabulary vocabulary;
  for (const Entry& entry : entries) vocabulary.add(entry.token);
  vocabulary.freeze();
  return vocabulary;
}

std::vector<std::int32_t> encode_text(ByteStream& stream, const TextOptions& options, Vocabulary& vocabulary) {
  return encode_any(stream, options, vocabulary, 0);
}

std::vector<std::int32_t> encode_text(const std::string& path, const TextOptions& options, Vocabulary& vocabulary) {
  const std::size_t expected = tokens_in(path, options);
  return encode_any(*ByteStream::open(path), options, vocabulary, expected);
}

std::vector<std::int32_t> encode_text(const std::string& path, const TextOptions& options,
                                      const Vocabulary& vocabulary) {
  if (!vocabulary.frozen()) refuse(speaker, "the vocabulary must be frozen, or open to change");
  const std::size_t expected = tokens_in(path, options);
  return encode_frozen(*ByteStream::open(path), options, vocabulary, expected);
}

}  // namespace throughtime
