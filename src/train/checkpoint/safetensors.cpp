#include "train/checkpoint/safetensors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/files.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

using Json = nlohmann::json;  // finds a name among many at once; whoever wants an order keeps it

constexpr std::size_t length_bytes = 8;  // of the header's length, at the start of the file
constexpr std::uint64_t longest_header = std::uint64_t{100} << 20;
constexpr const char* metadata_key = "__metadata__";
constexpr const char* checksum_key = "throughtime.checksum";
constexpr const char* empty_checksum = "0000000000000000";

/// A 64-bit sum over words of eight bytes. Every step is one-to-one in the word and in the sum so far, so a change
/// within one word is always seen.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes) {
    while (bytes.size() >= 8) {
      add_word(bytes.data(), 8);
      bytes = bytes.subspan(8);
    }
    if (!bytes.empty()) add_word(bytes.data(), bytes.size());
  }
  std::string text() const { return fmt::format("{:016x}", sum_); }

 private:
  void add_word(const std::byte* bytes, std::size_t count) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, count);
    sum_ = (sum_ ^ word) * 0x9E3779B97F4A7C15u + count;
    sum_ ^= sum_ >> 32;
  }
  std::uint64_t sum_ = 0x74687275'74696D65u;
};

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Where the sixteen digits of the checksum are in a header; npos where there are none.
std::size_t checksum_position(const std::string& header) {
  const std::string key = fmt::format("\"{}\":\"", checksum_key);
  const std::size_t found = header.find(key);
  if (found == std::string::npos || found + key.size() + 16 > header.size()) return std::string::npos;
  return found + key.size();
}

std::string make_header(const TensorFile& file) {
  const auto json = [](const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); };
  Json metadata = {{checksum_key, empty_checksum}};
  for (const auto& [key, value] : file.metadata)
    if (key != checksum_key) metadata[key] = value;
  std::string text = fmt::format("{{{}:{}", json(metadata_key), json(metadata));
  std::size_t begin = 0;
  for (const Tensor& tensor : file.tensors) {
    const std::size_t end = begin + tensor.data.size();
    text += fmt::format(R"(,{}:{{"dtype":{},"shape":[{}],"data_offsets":[{},{}]}})", json(tensor.name),
                        json(tensor.type), fmt::join(tensor.shape, ","), begin, end);
    begin = end;
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

/// Hears the names of a header, in their order, and how deep it is nested.
class NameCollector final : public nlohmann::json_sax<Json> {
 public:
  explicit NameCollector(std::vector<std::string>& names) : names_(names) {}
  int deepest() const { return deepest_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    if (depth_ == 1) names_.push_back(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool enter() {
    deepest_ = std::max(deepest_, ++depth_);
    return depth_ <= 4;  // deeper than the format has, and than anybody need look
  }
  bool leave() {
    --depth_;
    return true;
  }
  std::vector<std::string>& names_;
  int depth_ = 0, deepest_ = 0;
};

/// The reader: every refusal begins with the path.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path.string()), stream_(path, std::ios::binary) {
    if (const std::string trouble = file_trouble(path); !trouble.empty())
      refuse("safetensors", "cannot read {}: {}", path_, trouble);
    std::error_code error;
    size_ = std::filesystem::file_size(path, error);
    if (!stream_ || error) refuse("safetensors", "cannot read {}: no readable file", path_);
  }

  TensorFile read(bool require_checksum) {
    read_header();
    TensorFile file;
    std::vector<std::string> names;
    const Json header = parse_header(names);
    for (const std::string& name : names) {
      if (name == metadata_key)
        read_metadata(header[name], file);
      else
        file.tensors.push_back(read_entry(name, header[name]));
    }
    check_cover(file);
    for (Tensor& tensor : file.tensors) load(tensor);
    check_sum(file, require_checksum);
    return file;
  }

  std::map<std::string, std::string> metadata() {
    read_header();
    TensorFile file;
    std::vector<std::string> names;
    const Json header = parse_header(names);
    if (header.contains(metadata_key)) read_metadata(header[metadata_key], file);
    return file.metadata;
  }

 private:
  struct Extent {
    std::uint64_t begin, end;
  };

  template <class... Args>
  [[noreturn]] void bad(fmt::format_string<Args...> message, Args&&... args) const {
    refuse("safetensors", "{}: {}", path_, fmt::format(message, std::forward<Args>(args)...));
  }

  void read_header() {
    if (size_ < length_bytes) bad("{} bytes are too few for a safetensors file", size_);
    std::uint64_t length = 0;
    stream_.read(reinterpret_cast<char*>(&length), length_bytes);
    if (!stream_) bad("cannot read the length of the header");
    if (length > size_ - length_bytes) bad("the header claims {} bytes, the file has {} in all", length, size_);
    if (length > longest_header) bad("the header claims {} bytes, more than {}", length, longest_header);
    header_.resize(length);
    stream_.read(header_.data(), static_cast<std::streamsize>(length));
    if (!stream_) bad("cannot read the header");
    data_size_ = size_ - length_bytes - length;
  }

  /// `names`: in the order of the header. Without a callback of the parser, which looks at all names before it for
  /// each.
  Json parse_header(std::vector<std::string>& names) const {
    NameCollector collector(names);
    Json::sax_parse(header_, &collector);  // what is no JSON is refused below
    if (collector.deepest() > 3) bad("the header is nested deeper than the format allows");
    std::set<std::string_view> known;
    for (const std::string& name : names)
      if (!known.insert(name).second) bad("the name '{}' occurs twice", name);
    Json header;
    try {
      header = Json::parse(header_);
    } catch (const Json::exception& error) {
      bad("the header is not JSON: {}", error.what());
    }
    if (!header.is_object()) bad("the header must be a JSON object");
    return header;
  }

  void read_metadata(const Json& value, TensorFile& file) const {
    if (!value.is_object()) bad("{} must be an object of texts", metadata_key);
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) bad("{}.{} must be a text", metadata_key, key);
      file.metadata[key] = text.get<std::string>();
    }
  }

  static bool is_count(const Json& value) {
    return value.is_number_unsigned() && value.get<std::uint64_t>() <= std::uint64_t{1} << 48;
  }

  Tensor read_entry(const std::string& name, const Json& entry) {
    const bool whole = entry.is_object() && entry.contains("dtype") && entry["dtype"].is_string() &&
                       entry.contains("shape") && entry["shape"].is_array() && entry.contains("data_offsets") &&
                       entry["data_offsets"].is_array() && entry["data_offsets"].size() == 2;
    if (!whole) bad("'{}' needs dtype, shape and two data_offsets", name);
    Tensor tensor{name, entry["dtype"].get<std::string>(), {}, {}};
    const std::size_t width = type_bytes(tensor.type);
    if (width == 0) bad("'{}' has the unknown dtype '{}'", name, tensor.type);
    std::uint64_t count = 1;
    for (const Json& length : entry["shape"]) {
      if (!is_count(length)) bad("'{}' has a shape that is no list of counts", name);
      const auto value = length.get<std::uint64_t>();
      tensor.shape.push_back(static_cast<std::int64_t>(value));
      if (value != 0 && count > (std::uint64_t{1} << 50) / value) bad("'{}' is larger than any file", name);
      count *= value;
    }
    const Json& offsets = entry["data_offsets"];
    if (!is_count(offsets[0]) || !is_count(offsets[1])) bad("'{}' has data_offsets that are no counts", name);
    const Extent extent{offsets[0].get<std::uint64_t>(), offsets[1].get<std::uint64_t>()};
    if (extent.begin > extent.end || extent.end > data_size_)
      bad("'{}' lies at bytes {} to {}, the data has {}", name, extent.begin, extent.end, data_size_);
    if (extent.end - extent.begin != count * width)
      bad("'{}' has {} bytes, its shape and dtype need {}", name, extent.end - extent.begin, count * width);
    extents_.push_back(extent);
    return tensor;
  }

  /// The tensors cover the data exactly: no overlap, no hole.
  void check_cover(const TensorFile& file) const {
    std::vector<std::size_t> order(extents_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(extents_[a].begin, extents_[a].end) < std::pair(extents_[b].begin, extents_[b].end);
    });
    std::uint64_t end = 0;
    for (const std::size_t index : order) {
      const std::string& name = file.tensors[index].name;
      if (extents_[index].begin < end) bad("'{}' overlaps another tensor", name);
      if (extents_[index].begin > end) bad("there are unused bytes before '{}'", name);
      end = extents_[index].end;
    }
    if (end != data_size_) bad("the tensors have {} bytes, the file has {} after its header", end, data_size_);
  }

  void load(Tensor& tensor) {
    const Extent& extent = extents_[loaded_++];
    tensor.data.resize(extent.end - extent.begin);
    stream_.seekg(static_cast<std::streamoff>(length_bytes + header_.size() + extent.begin));
    stream_.read(reinterpret_cast<char*>(tensor.data.data()), static_cast<std::streamsize>(tensor.data.size()));
    if (!stream_) bad("cannot read '{}'", tensor.name);
  }

  /// Tensors that we write are in the order of their offsets; whoever reorders them has made a new file.
  void check_sum(const TensorFile& file, bool required) {
    const auto given = file.metadata.find(checksum_key);
    if (given == file.metadata.end()) {
      if (required) bad("it has no checksum: it is not a checkpoint of throughtime");
      return;
    }
    const std::size_t position = checksum_position(header_);
    if (position == std::string::npos) bad("the checksum is damaged");
    header_.replace(position, 16, empty_checksum);
    Checksum sum;
    sum.add(bytes_of(header_));
    for (const Tensor& tensor : file.tensors) sum.add(tensor.data);
    if (sum.text() != given->second) bad("the file is damaged: its checksum is {}, not {}", sum.text(), given->second);
  }

  std::string path_;
  std::ifstream stream_;
  std::uint64_t size_ = 0, data_size_ = 0;
  std::string header_;
  std::vector<Extent> extents_;
  std::size_t loaded_ = 0;
};

}  // namespace

void write_tensors(OutputFile& out, const TensorFile& file) {
  std::string header = make_header(file);
  Checksum sum;
  sum.add(bytes_of(header));
  for (const Tensor& tensor : file.tensors) sum.add(tensor.data);
  header.replace(checksum_position(header), 16, sum.text());
  const std::uint64_t length = header.size();
  out.write(std::as_bytes(std::span(&length, 1)));
  out.write(header);
  for (const Tensor& tensor : file.tensors) out.write(tensor.data);
}

void write_tensors(const std::filesystem::path& path, const TensorFile& file) {
  NewFile fresh(path);
  write_tensors(fresh.file(), file);
  fresh.publish();
}

TensorFile read_tensors(const std::filesystem::path& path, bool require_checksum) {
  return Reader(path).read(require_checksum);
}

std::map<std::string, std::string> read_metadata(const std::filesystem::path& path) { return Reader(path).metadata(); }

}  // namespace throughtime
