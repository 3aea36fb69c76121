#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace throughtime::testing {

// NumPy's files, made without NumPy.

inline std::string little_bytes(std::uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

/// `type`: "<f4"; `shape`: "(2, 3)".
inline std::string npy_file(const std::string& type, const std::string& shape, const std::string& content) {
  const std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", } \n";
  return std::string("\x93NUMPY\x01") + '\0' + little_bytes(header.size(), 2) + header + content;
}

inline std::string npy_floats(const std::string& shape, const std::vector<float>& values) {
  std::string content;
  for (const float value : values) content += little_bytes(std::bit_cast<std::uint32_t>(value), 4);
  return npy_file("<f4", shape, content);
}

inline std::string npy_integers(const std::string& shape, const std::vector<std::int64_t>& values) {
  std::string content;
  for (const std::int64_t value : values) content += little_bytes(static_cast<std::uint64_t>(value), 8);
  return npy_file("<i8", shape, content);
}

/// Texts as NumPy keeps them: letters of four bytes, filled up with zeros.
inline std::string npy_texts(const std::vector<std::u32string>& texts) {
  std::size_t letters = 1;
  for (const auto& text : texts) letters = std::max(letters, text.size());
  std::string content;
  for (const auto& text : texts)
    for (std::size_t i = 0; i < letters; ++i) content += little_bytes(i < text.size() ? text[i] : 0, 4);
  return npy_file("<U" + std::to_string(letters), "(" + std::to_string(texts.size()) + ",)", content);
}

inline std::uint32_t checksum_of(const std::string& bytes) {
  std::uint32_t sum = 0xffffffff;
  for (const char byte : bytes) {
    sum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0u);
  }
  return ~sum;
}

/// An archive whose members are stored as they are.
inline std::string npz_file(const std::vector<std::pair<std::string, std::string>>& arrays) {
  std::string archive, index;
  for (const auto& [name, content] : arrays) {
    const std::string member = name + ".npy";
    const std::string common = little_bytes(20, 2) + little_bytes(0, 2) + little_bytes(0, 2) + little_bytes(0, 4) +
                               little_bytes(checksum_of(content), 4) + little_bytes(content.size(), 4) +
                               little_bytes(content.size(), 4) + little_bytes(member.size(), 2) + little_bytes(0, 2);
    index += "PK\x01\x02" + little_bytes(20, 2) + common + little_bytes(0, 2) + little_bytes(0, 2) +
             little_bytes(0, 2) + little_bytes(0, 4) + little_bytes(archive.size(), 4) + member;
    archive += "PK\x03\x04" + common + member + content;
  }
  const std::string end = "PK\x05\x06" + little_bytes(0, 4) + little_bytes(arrays.size(), 2) +
                          little_bytes(arrays.size(), 2) + little_bytes(index.size(), 4) +
                          little_bytes(archive.size(), 4) + little_bytes(0, 2);
  return archive + index + end;
}

}  // namespace throughtime::testing
