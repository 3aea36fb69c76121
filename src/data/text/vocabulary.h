#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/byte_stream.h"

namespace throughtime {

/// Turns a line of a saved vocabulary into its token; false for an escape that none has.
bool unescape_token(std::string_view text, std::string& token);

/// Tokens and their ids 0, 1, 2 ...; a token is any UTF-8 text that is not empty. Each is stored once.
class Vocabulary {
 public:
  static constexpr std::int32_t none = -1;

  Vocabulary();

  std::size_t size() const { return ends_.size(); }
  /// The id of a token; `none` where it has none.
  std::int32_t find(std::string_view token) const;
  /// The id of a token, which gets the next one where it has none. A frozen vocabulary refuses new tokens.
  std::int32_t add(std::string_view token);
  /// Valid until the next `add`.
  std::string_view token(std::int32_t id) const;

  void freeze() { frozen_ = true; }
  bool frozen() const { return frozen_; }

  /// One token per line in the order of ids; backslash, newline and carriage return as `\\`, `\n`, `\r`.
  std::string text() const;
  void save(const std::string& path) const;
  /// The result is frozen.
  static Vocabulary load(const std::string& path);
  static Vocabulary load(ByteStream& stream);

  bool operator==(const Vocabulary& other) const { return characters_ == other.characters_ && ends_ == other.ends_; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t id = none;
  };

  std::size_t slot_of(std::string_view token, std::uint32_t hash) const;
  void grow_slots();

  std::string characters_;                // all tokens, one after the other
  std::vector<std::size_t> ends_;         // [size] end of each token in characters_
  std::vector<Slot> slots_;               // open addressing, a power of two, at most half full
  std::array<std::int32_t, 256> single_;  // ids of tokens of one byte: character files are full of them
  bool frozen_ = false;
};

}  // namespace throughtime
