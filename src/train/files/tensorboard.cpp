#include "train/files/tensorboard.h"

#include <array>
#include <bit>
#include <chrono>
#include <string_view>

namespace throughtime {
namespace {

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? value >> 1 ^ 0x82F63B78u : value >> 1;
    table[byte] = value;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> crc_table = make_crc_table();

template <class Number>
void append_bytes(std::string& out, Number value) {
  const auto bytes = std::bit_cast<std::array<char, sizeof(Number)>>(value);
  out.append(bytes.begin(), bytes.end());
}

// Protocol buffers: a field is a key (number << 3 | kind), then its value.
enum class Wire { varint = 0, bytes8 = 1, text = 2, bytes4 = 5 };

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void append_key(std::string& out, int field, Wire kind) {
  append_varint(out, static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(kind));
}

void append_text(std::string& out, int field, std::string_view text) {
  append_key(out, field, Wire::text);
  append_varint(out, text.size());
  out.append(text);
}

void append_double(std::string& out, int field, double value) {
  append_key(out, field, Wire::bytes8);
  append_bytes(out, value);
}

void append_float(std::string& out, int field, double value) {
  append_key(out, field, Wire::bytes4);
  append_bytes(out, static_cast<float>(value));
}

std::uint32_t masked_crc(const std::string& text) {
  const std::uint32_t crc = crc32c(std::as_bytes(std::span(text)));
  return std::rotr(crc, 15) + 0xA282EAD8u;
}

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const std::byte byte : bytes) crc = crc >> 8 ^ crc_table[(crc ^ static_cast<std::uint32_t>(byte)) & 0xFF];
  return ~crc;
}

EventFile::EventFile(const std::filesystem::path& path, std::uint64_t keep) : file_(path, keep) {
  if (keep > 0) return;
  std::string event;
  append_double(event, 1, now());
  append_text(event, 3, "brain.Event:2");  // the version of the format
  frame(event);
}

void EventFile::scalars(std::int64_t step, double wall_time,
                        const std::vector<std::pair<std::string, double>>& values) {
  std::string summary;
  for (const auto& [tag, number] : values) {
    std::string value;
    append_text(value, 1, tag);
    append_float(value, 2, number);
    append_text(summary, 1, value);
  }
  std::string event;
  append_double(event, 1, wall_time);
  append_key(event, 2, Wire::varint);
  append_varint(event, static_cast<std::uint64_t>(step));
  append_text(event, 5, summary);
  frame(event);
}

/// Length, its checksum, the event, its checksum; one write, so that a reader never meets half of it.
void EventFile::frame(const std::string& event) {
  std::string length;
  append_bytes(length, static_cast<std::uint64_t>(event.size()));
  std::string frame = length;
  append_bytes(frame, masked_crc(length));
  frame += event;
  append_bytes(frame, masked_crc(event));
  file_.write(frame);
}

}  // namespace throughtime
