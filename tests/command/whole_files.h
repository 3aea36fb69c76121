#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include "data/arrays/wav.h"
#include "support/scratch.h"
#include "throughtime/error.h"

namespace throughtime::testing {

/// Whether a PNG has all its chunks, each with its sum, from the header to the end, and numbers between them.
inline bool is_whole_png(const std::string& bytes) {
  if (!bytes.starts_with("\x89PNG\r\n\x1a\n")) return false;
  const auto big = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  bool pixels = false;
  for (std::size_t at = 8; at + 12 <= bytes.size();) {
    const std::size_t length = big(at);
    const std::string kind = bytes.substr(at + 4, 4);
    if (length > bytes.size() - at - 12) return false;
    const auto* const body = reinterpret_cast<const Bytef*>(bytes.data() + at + 4);
    if (crc32(0, body, static_cast<uInt>(length + 4)) != big(at + 8 + length)) return false;
    pixels |= kind == "IDAT" && length > 0;
    at += 12 + length;
    if (kind == "IEND") return pixels && at == bytes.size();
  }
  return false;
}

/// What is wrong with a file that a page promises, told by its ending; empty where nothing is.
inline std::string trouble_of(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) return "is not there";
  const std::string bytes = text_of(path), ending = path.extension().string();
  std::string trimmed = bytes;
  while (!trimmed.empty() && trimmed.back() == '\n') trimmed.pop_back();
  if (ending == ".svg" &&
      !(trimmed.find("<svg") < 200 && trimmed.ends_with("</svg>") && trimmed.find("<path") != std::string::npos))
    return "is no whole SVG with curves";
  if (ending == ".html" && !(trimmed.starts_with("<!DOCTYPE html>") && trimmed.ends_with("</html>") &&
                             trimmed.find("<svg") != std::string::npos))
    return "is no whole page with pictures";
  if (ending == ".png" && !is_whole_png(bytes)) return "is no whole PNG";
  if (ending == ".wav") try {
      const Audio audio = read_wav(path.string());
      if (audio.samples.empty()) return "has no samples";
    } catch (const InvalidInput& error) {
      return error.what();
    }
  return bytes.empty() ? "is empty" : "";
}

}  // namespace throughtime::testing
