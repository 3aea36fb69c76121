#include "data/text/vocabulary.h"

#include <cstring>
#include <limits>

#include "core/files.h"
#include "data/printable.h"
#include "data/utf8.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "vocabulary";
constexpr std::size_t longest_line = 1 << 20;

template <class Word>
std::uint64_t word_at(const char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof(Word));
  return word;
}

/// Multiplies and folds eight bytes at a time. The last read may overlap the one before: tokens are short, and a loop
/// over single bytes would cost more than all the rest.
std::uint32_t hash_of(std::string_view token) {
  constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15;
  const char* bytes = token.data();
  const std::size_t size = token.size();
  std::uint64_t hash = size * multiplier;
  const auto mix = [&hash](std::uint64_t bits) {
    hash = (hash ^ bits) * multiplier;
    hash ^= hash >> 32;
  };
  if (size >= 8) {
    for (std::size_t at = 0; at + 8 < size; at += 8) mix(word_at<std::uint64_t>(bytes + at));
    mix(word_at<std::uint64_t>(bytes + size - 8));
  } else if (size >= 4) {
    mix(word_at<std::uint32_t>(bytes) << 32 | word_at<std::uint32_t>(bytes + size - 4));
  } else if (size > 0) {
    const auto byte = [bytes](std::size_t at) {
      return static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at]));
    };
    mix(byte(0) << 16 | byte(size / 2) << 8 | byte(size - 1));
  }
  return static_cast<std::uint32_t>(hash);
}

std::string escaped(std::string_view token) {
  std::string text;
  for (const char letter : token) {
    if (letter == '\\')
      text += "\\\\";
    else if (letter == '\n')
      text += "\\n";
    else if (letter == '\r')
      text += "\\r";
    else
      text += letter;
  }
  return text;
}

}  // namespace

bool unescape_token(std::string_view text, std::string& token) {
  token.clear();
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      token += text[at];
      continue;
    }
    if (++at == text.size()) return false;
    if (text[at] != '\\' && text[at] != 'n' && text[at] != 'r') return false;
    token += text[at] == 'n' ? '\n' : text[at] == 'r' ? '\r' : '\\';
  }
  return true;
}

Vocabulary::Vocabulary() : slots_(64) { single_.fill(none); }

std::int32_t Vocabulary::find(std::string_view token) const {
  if (token.size() == 1) return single_[static_cast<unsigned char>(token[0])];
  return slots_[slot_of(token, hash_of(token))].id;
}

std::int32_t Vocabulary::add(std::string_view token) {
  const std::uint32_t hash = hash_of(token);
  const std::size_t slot = slot_of(token, hash);
  if (slots_[slot].id != none) return slots_[slot].id;
  if (frozen_) refuse(speaker, "{} is new, but the vocabulary is frozen", excerpt(token));
  if (token.empty()) refuse(speaker, "a token must not be empty");
  if (invalid_utf8(token) != std::string_view::npos) refuse(speaker, "{} is not valid UTF-8", excerpt(token));
  if (size() == std::numeric_limits<std::int32_t>::max()) refuse(speaker, "more than {} tokens", size());
  const auto id = static_cast<std::int32_t>(size());
  slots_[slot] = {hash, id};
  if (token.size() == 1) single_[static_cast<unsigned char>(token[0])] = id;
  characters_ += token;
  ends_.push_back(characters_.size());
  if (2 * size() > slots_.size()) grow_slots();
  return id;
}

std::string_view Vocabulary::token(std::int32_t id) const {
  if (id < 0 || elements(id) >= size())
    refuse(speaker, "id must be between 0 and {}, got {}", static_cast<std::int64_t>(size()) - 1, id);
  const std::size_t at = elements(id);
  const std::size_t begin = at == 0 ? 0 : ends_[at - 1];
  return std::string_view(characters_).substr(begin, ends_[at] - begin);
}

/// Where the token stands, or the free slot where it would.
std::size_t Vocabulary::slot_of(std::string_view token, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot].id != none) {
    if (slots_[slot].hash == hash) {
      const auto id = elements(slots_[slot].id);
      const std::size_t begin = id == 0 ? 0 : ends_[id - 1];
      if (ends_[id] - begin == token.size() && std::memcmp(characters_.data() + begin, token.data(), token.size()) == 0)
        break;
    }
    slot = (slot + 1) & mask;
  }
  return slot;
}

void Vocabulary::grow_slots() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& entry : old) {
    if (entry.id == none) continue;
    std::size_t slot = entry.hash & mask;
    while (slots_[slot].id != none) slot = (slot + 1) & mask;
    slots_[slot] = entry;
  }
}

std::string Vocabulary::text() const {
  std::string text;
  for (std::size_t id = 0; id < size(); ++id) text += escaped(token(static_cast<std::int32_t>(id))) + '\n';
  return text;
}

void Vocabulary::save(const std::string& path) const { replace_file(path, text()); }

Vocabulary Vocabulary::load(const std::string& path) { return load(*ByteStream::open(path)); }

Vocabulary Vocabulary::load(ByteStream& stream) {
  Vocabulary vocabulary;
  std::string line, token;
  std::vector<char> block(1 << 16);
  const auto add_line = [&] {
    const std::uint64_t number = vocabulary.size() + 1;
    if (!unescape_token(line, token) || invalid_utf8(token) != std::string_view::npos)
      refuse_line(speaker, stream.name(), number, "{} is no token: bad escape or invalid UTF-8", excerpt(line));
    if (token.empty()) refuse_line(speaker, stream.name(), number, "the line is empty");
    if (vocabulary.find(token) != none)
      refuse_line(speaker, stream.name(), number, "{} is there twice", excerpt(token));
    vocabulary.add(token);
    line.clear();
  };
  while (const std::size_t count = stream.read(std::as_writable_bytes(std::span(block)))) {
    std::string_view rest(block.data(), count);
    while (!rest.empty()) {
      const std::size_t newline = rest.find('\n');
      line += rest.substr(0, newline);
      if (line.size() > longest_line)
        refuse_line(speaker, stream.name(), vocabulary.size() + 1, "a token of more than 1 MiB");
      if (newline == std::string_view::npos) break;
      add_line();
      rest.remove_prefix(newline + 1);
    }
  }
  if (!line.empty())
    refuse_line(speaker, stream.name(), vocabulary.size() + 1, "the file ends without a newline: is it whole?");
  vocabulary.freeze();
  return vocabulary;
}

}  // namespace throughtime
