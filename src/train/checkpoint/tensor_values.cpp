#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "throughtime/error.h"
#include "throughtime/index.h"
#include "train/checkpoint/safetensors.h"

namespace throughtime {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied as they lie in memory");

template <class Stored, class Value>
Tensor make_tensor(std::string name, const char* type, std::vector<std::int64_t> shape, std::span<const Value> values) {
  Tensor tensor{std::move(name), type, std::move(shape), std::vector<std::byte>(values.size() * sizeof(Stored))};
  std::byte* out = tensor.data.data();
  for (const Value value : values) {
    const Stored stored = static_cast<Stored>(value);
    std::memcpy(out, &stored, sizeof(Stored));
    out += sizeof(Stored);
  }
  return tensor;
}

template <class Stored, class Value, class Convert>
std::vector<Value> values_of(const Tensor& tensor, Convert convert) {
  std::vector<Value> values(tensor.size());
  const std::byte* in = tensor.data.data();
  for (Value& value : values) {
    Stored stored;
    std::memcpy(&stored, in, sizeof(Stored));
    value = convert(stored);
    in += sizeof(Stored);
  }
  return values;
}

double from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

double from_float16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const double sign = bits >> 15 ? -1.0 : 1.0;
  if (exponent == 31) return mantissa ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

}  // namespace

std::size_t Tensor::size() const {
  std::size_t count = 1;
  for (const std::int64_t length : shape) count *= elements(length);
  return count;
}

std::size_t type_bytes(std::string_view type) {
  if (type == "F64" || type == "I64" || type == "U64") return 8;
  if (type == "F32" || type == "I32" || type == "U32") return 4;
  if (type == "F16" || type == "BF16" || type == "I16" || type == "U16") return 2;
  if (type == "I8" || type == "U8" || type == "BOOL") return 1;
  return 0;
}

Tensor float_tensor(std::string name, std::vector<std::int64_t> shape, std::span<const double> values) {
  return make_tensor<float>(std::move(name), "F32", std::move(shape), values);
}

Tensor double_tensor(std::string name, std::vector<std::int64_t> shape, std::span<const double> values) {
  return make_tensor<double>(std::move(name), "F64", std::move(shape), values);
}

Tensor integer_tensor(std::string name, std::span<const std::int64_t> values) {
  return make_tensor<std::int64_t>(std::move(name), "I64", {static_cast<std::int64_t>(values.size())}, values);
}

std::vector<double> real_values(const Tensor& tensor) {
  const auto same = [](auto value) { return static_cast<double>(value); };
  if (tensor.type == "F64") return values_of<double, double>(tensor, same);
  if (tensor.type == "F32") return values_of<float, double>(tensor, same);
  if (tensor.type == "F16") return values_of<std::uint16_t, double>(tensor, from_float16);
  if (tensor.type == "BF16") return values_of<std::uint16_t, double>(tensor, from_bfloat16);
  refuse("safetensors", "'{}' must hold real numbers (F64, F32, F16 or BF16), it holds {}", tensor.name, tensor.type);
}

std::vector<std::int64_t> integer_values(const Tensor& tensor) {
  if (tensor.type != "I64") refuse("safetensors", "'{}' must hold I64 numbers, it holds {}", tensor.name, tensor.type);
  return values_of<std::int64_t, std::int64_t>(tensor, [](std::int64_t value) { return value; });
}

const Tensor* TensorFile::find(std::string_view name) const {
  for (const Tensor& tensor : tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

}  // namespace throughtime
