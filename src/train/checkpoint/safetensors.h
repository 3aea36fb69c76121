#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.h"

namespace throughtime {

/// One named array of a safetensors file; its numbers are little-endian, row-major.
struct Tensor {
  std::string name;
  std::string type;  // "F32", "F64", "I64", ...
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;

  std::size_t size() const;  // numbers
};

/// Bytes of one number of that type; 0 for a type that the format does not have.
std::size_t type_bytes(std::string_view type);

/// Makes a tensor from numbers: F32 (rounded), F64 or I64.
Tensor float_tensor(std::string name, std::vector<std::int64_t> shape, std::span<const double> values);
Tensor double_tensor(std::string name, std::vector<std::int64_t> shape, std::span<const double> values);
Tensor integer_tensor(std::string name, std::span<const std::int64_t> values);
/// The numbers of a tensor; refuses types that are not F64, F32, F16, BF16 (or, for integers, I64).
std::vector<double> real_values(const Tensor& tensor);
std::vector<std::int64_t> integer_values(const Tensor& tensor);

/// What a safetensors file holds. `metadata` are texts under names of the writer's choice.
struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::vector<Tensor> tensors;  // in the order of the file

  const Tensor* find(std::string_view name) const;  // null where there is none
};

/// Writes header and data, with a checksum over everything that follows the header's length, in the metadata under
/// `throughtime.checksum`.
void write_tensors(OutputFile& out, const TensorFile& file);
/// The same into a file that appears once it is whole.
void write_tensors(const std::filesystem::path& path, const TensorFile& file);

/// Reads a file that anybody may have made: sizes, types, offsets and overlaps are checked before they are used. Where
/// there is a checksum it must be right; `require_checksum` refuses files without one.
TensorFile read_tensors(const std::filesystem::path& path, bool require_checksum = false);
/// Its metadata alone; the tensors are neither read nor checked.
std::map<std::string, std::string> read_metadata(const std::filesystem::path& path);

}  // namespace throughtime
