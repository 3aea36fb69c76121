#include "data/arrays/npy.h"

#include <array>
#include <cctype>
#include <optional>

#include "data/numbers.h"
#include "data/printable.h"
#include "data/utf8.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "npy";
constexpr std::size_t most_dimensions = 32;  // NumPy's own limit

/// What the entries of an array may be.
enum class Entries { numbers, numbers_or_texts };

struct Header {
  NumberFormat format;
  std::size_t letters = 0;    // of a text; 0: entries are numbers
  int bytes_of_a_letter = 0;  // 4: one of Unicode; 1: a byte of UTF-8
  bool fortran_order = false;
  std::vector<std::size_t> shape;
  std::uint64_t count = 1;
};

/// Reads the header: a Python dictionary of 'descr', 'fortran_order' and 'shape'.
class HeaderParser {
 public:
  HeaderParser(const ByteStream& stream, std::string_view text, Entries entries)
      : name_(stream.name()), start_(stream.offset() - text.size()), text_(text), entries_(entries) {}

  Header parse() {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = word();
      expect(':');
      parse_value(key);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (at_ != text_.size()) complain("something follows the dictionary");
    if (!has_type_ || !has_order_ || !has_shape_) complain("'descr', 'fortran_order' and 'shape' must all be there");
    return header_;
  }

 private:
  void parse_value(std::string_view key) {
    if (key == "descr" && !has_type_) {
      has_type_ = true;
      parse_type();
    } else if (key == "fortran_order" && !has_order_) {
      has_order_ = true;
      header_.fortran_order = parse_truth();
    } else if (key == "shape" && !has_shape_) {
      has_shape_ = true;
      parse_shape();
    } else {
      complain(fmt::format("unexpected key {}", excerpt(key)));
    }
  }

  void parse_type() {
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '[') complain("arrays of records are not supported");
    const std::string_view type = word();
    if (entries_ == Entries::numbers_or_texts && parse_text_type(type)) return;
    using Kind = NumberFormat::Kind;
    const std::string_view kind = type.empty() ? type : type.substr(1);
    const char letter = kind.size() == 2 ? kind[0] : '?';
    const int bytes = kind.size() == 2 ? kind[1] - '0' : 0;
    const bool whole = (letter == 'i' || letter == 'u') && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
    std::optional<NumberFormat> format;
    if (kind == "f4" || kind == "f8") format = {Kind::real, bytes};
    if (whole) format = {letter == 'i' ? Kind::signed_integer : Kind::unsigned_integer, bytes};
    if (kind == "b1") format = {Kind::unsigned_integer, 1};
    const char order = type.empty() ? '?' : type[0];
    const bool ordered = order == '<' || order == '>' || (order == '|' && bytes == 1);
    if (!format || !ordered)
      complain(fmt::format("type {} is not supported; save the array as f4 or f8, or whole numbers", excerpt(type)));
    format->big_endian = order == '>';
    header_.format = *format;
  }

  /// "<U12", ">U12": letters of four bytes; "|S12": bytes.
  bool parse_text_type(std::string_view type) {
    constexpr std::size_t most_letters = 1 << 16;
    if (type.size() < 3 || (type[1] != 'U' && type[1] != 'S')) return false;
    std::size_t letters = 0;
    for (const char digit : type.substr(2)) {
      if (digit < '0' || digit > '9') return false;
      letters = letters * 10 + elements(digit - '0');
      if (letters > most_letters) complain(fmt::format("texts of more than {} letters", most_letters));
    }
    const bool ordered = type[1] == 'S' ? type[0] == '|' : type[0] == '<' || type[0] == '>';
    if (letters == 0 || !ordered) return false;
    header_.letters = letters;
    header_.bytes_of_a_letter = type[1] == 'U' ? 4 : 1;
    header_.format.big_endian = type[0] == '>';
    return true;
  }

  bool parse_truth() {
    skip_spaces();
    for (const bool value : {false, true}) {
      const std::string_view name = value ? "True" : "False";
      if (text_.substr(at_, name.size()) != name) continue;
      at_ += name.size();
      return value;
    }
    complain("'fortran_order' must be True or False");
  }

  void parse_shape() {
    expect('(');
    while (!accept(')')) {
      if (header_.shape.size() == most_dimensions) complain("more than 32 dimensions");
      const std::size_t size = number();
      if (size == 0) complain("the array is empty");
      if (__builtin_mul_overflow(header_.count, size, &header_.count)) complain("an impossible shape");
      header_.shape.push_back(size);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  std::size_t number() {
    skip_spaces();
    const std::size_t first = at_;
    std::size_t value = 0;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_)
      if (__builtin_mul_overflow(value, std::size_t{10}, &value) ||
          __builtin_add_overflow(value, elements(text_[at_] - '0'), &value))
        complain("an impossible shape");
    if (at_ == first) complain("a number was expected");
    return value;
  }

  /// A quoted text without escapes.
  std::string_view word() {
    skip_spaces();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) complain("a quoted word was expected");
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) complain("a quoted word does not end");
    const std::string_view found = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return found;
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  bool accept(char letter) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }

  void expect(char letter) {
    if (!accept(letter)) complain(fmt::format("'{}' was expected", letter));
  }

  [[noreturn]] void complain(std::string_view problem) const {
    refuse_byte(speaker, name_, start_ + at_, "in the header: {}", problem);
  }

  const std::string& name_;
  std::uint64_t start_;
  std::string_view text_;
  Entries entries_;
  std::size_t at_ = 0;
  bool has_type_ = false, has_order_ = false, has_shape_ = false;
  Header header_;
};

Header read_header(ByteStream& stream, Entries entries) {
  constexpr std::uint64_t longest = 1 << 16;
  const std::uint64_t start = stream.offset();
  std::array<std::byte, 8> magic;
  read_exactly(stream, magic, speaker, "the magic number");
  if (std::string_view(reinterpret_cast<const char*>(magic.data()), 6) != "\x93NUMPY")
    refuse_byte(speaker, stream.name(), start, "no NPY file: it must begin with \\x93NUMPY");
  const int version = static_cast<int>(magic[6]);
  if (version < 1 || version > 3)
    refuse_byte(speaker, stream.name(), start + 6, "version must be 1, 2 or 3, is {}", version);
  std::array<std::byte, 4> size;
  const int size_bytes = version == 1 ? 2 : 4;
  read_exactly(stream, std::span(size).first(elements(size_bytes)), speaker, "the header's size");
  const std::uint64_t length = little_endian(size.data(), size_bytes);
  if (length > longest)
    refuse_byte(speaker, stream.name(), start + 8, "a header of {} bytes; at most {} are read", length, longest);
  const std::vector<std::uint8_t> text = read_bytes(stream, length, speaker, "the header");
  return HeaderParser(stream, {reinterpret_cast<const char*>(text.data()), text.size()}, entries).parse();
}

/// From the first index fastest to the last index fastest.
std::vector<float> to_c_order(const std::vector<float>& values, const std::vector<std::size_t>& shape) {
  std::vector<float> ordered(values.size());
  std::vector<std::size_t> index(shape.size()), stride(shape.size());
  for (std::size_t axis = shape.size(), step = 1; axis-- > 0; step *= shape[axis]) stride[axis] = step;
  std::size_t to = 0;
  for (const float value : values) {
    ordered[to] = value;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      to += stride[axis];
      if (++index[axis] < shape[axis]) break;
      to -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return ordered;
}

/// One text of an array; NumPy fills what it has not with zeros.
std::string read_text(ByteStream& stream, const Header& header, std::vector<std::byte>& room) {
  const std::uint64_t start = stream.offset();
  const auto size = elements(header.bytes_of_a_letter);
  room.resize(header.letters * size);
  read_exactly(stream, room, speaker, "a text");
  std::size_t letters = header.letters;
  const auto code = [&](std::size_t letter) {
    const std::byte* at = room.data() + letter * size;
    const int bytes = header.bytes_of_a_letter;
    return static_cast<char32_t>(header.format.big_endian ? big_endian(at, bytes) : little_endian(at, bytes));
  };
  while (letters > 0 && code(letters - 1) == 0) --letters;
  std::string text;
  for (std::size_t i = 0; i < letters; ++i) {
    const char32_t letter = code(i);
    if (size == 1) {
      text += static_cast<char>(letter);
      continue;
    }
    if (letter > 0x10ffff || (letter >= 0xd800 && letter < 0xe000))
      refuse_byte(speaker, stream.name(), start + i * size, "{} is no letter of Unicode",
                  static_cast<std::uint32_t>(letter));
    append_utf8(letter, text);
  }
  return text;
}

}  // namespace

TextArray read_npy_texts(ByteStream& stream) {
  Header header = read_header(stream, Entries::numbers_or_texts);
  TextArray array{header.shape, {}};
  if (header.fortran_order && array.shape.size() > 1)
    refuse(speaker, "{}: names of several columns must be saved in C order (numpy.ascontiguousarray)", stream.name());
  std::vector<std::byte> room;
  if (header.letters > 0)
    for (std::uint64_t i = 0; i < header.count; ++i) array.texts.push_back(read_text(stream, header, room));
  else
    for (const float value : read_numbers(stream, header.count, header.format, speaker))
      array.texts.push_back(fmt::format("{}", value));
  expect_end(stream, speaker);
  return array;
}

NumberArray read_npy(ByteStream& stream, Gaps gaps) {
  Header header = read_header(stream, Entries::numbers);
  header.format.gaps = gaps;
  NumberArray array{std::move(header.shape), read_numbers(stream, header.count, header.format, speaker)};
  expect_end(stream, speaker);
  if (header.fortran_order && array.shape.size() > 1) array.values = to_c_order(array.values, array.shape);
  return array;
}

NumberArray read_npy(const std::string& path, Gaps gaps) { return read_npy(*ByteStream::open(path), gaps); }

std::string npy_header(std::size_t rows, std::size_t columns) {
  const std::string shape = columns == 1 ? fmt::format("({},)", rows) : fmt::format("({}, {})", rows, columns);
  std::string text = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': {}, }}", shape);
  constexpr std::size_t before = 10, boundary = 64;  // magic, version and length; the numbers begin at a multiple
  text.append(boundary - 1 - (before + text.size()) % boundary, ' ');
  text += '\n';
  const std::string length = {static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
  return std::string("\x93NUMPY\x01\x00", 8) + length + text;
}

}  // namespace throughtime
