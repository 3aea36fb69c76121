#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>

#include "train/checkpoint/safetensors.h"

namespace throughtime::fuzz {

/// Decisions read from the bytes of an input; zeros where they end.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes && !rest_.empty(); ++i, rest_ = rest_.subspan(1)) value = value << 8 | rest_.front();
    return value;
  }
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : number(4) % bound; }

 private:
  std::span<const std::uint8_t> rest_;
};

/// A whole number that is likely to be at an edge of something.
inline std::int64_t odd_integer(Choices& choices, std::int64_t before) {
  switch (choices.below(8)) {
    case 0:
      return std::numeric_limits<std::int64_t>::min();
    case 1:
      return std::numeric_limits<std::int64_t>::max();
    case 2:
      return -1;
    case 3:
      return before + 1;
    case 4:
      return before - 1;
    case 5:
      return static_cast<std::int64_t>(choices.number(1));
    case 6:
      return std::int64_t{1} << choices.below(63);
    default:
      return static_cast<std::int64_t>(choices.number(8));
  }
}

/// The same of a real number, in the bits of its type.
template <class Real, class Bits>
Real odd_real(Choices& choices, Real before) {
  using Limits = std::numeric_limits<Real>;
  const Real edges[] = {Limits::quiet_NaN(),
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::max(),
                        Limits::lowest(),
                        Limits::denorm_min(),
                        Real(0),
                        -before,
                        before * Real(1e6)};
  const std::size_t which = choices.below(std::size(edges) + 1);
  if (which < std::size(edges)) return edges[which];
  const Bits bits = static_cast<Bits>(choices.number(sizeof(Bits)));
  Real value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline void change_number(Tensor& tensor, Choices& choices) {
  const std::size_t size = type_bytes(tensor.type);
  if (size == 0 || tensor.data.size() < size) return;
  std::byte* place = tensor.data.data() + choices.below(tensor.data.size() / size) * size;
  const auto change = [place](auto value, auto make) {
    std::memcpy(&value, place, sizeof value);
    value = make(value);
    std::memcpy(place, &value, sizeof value);
  };
  if (tensor.type == "I64") change(std::int64_t{}, [&](std::int64_t v) { return odd_integer(choices, v); });
  if (tensor.type == "F64") change(double{}, [&](double v) { return odd_real<double, std::uint64_t>(choices, v); });
  if (tensor.type == "F32") change(float{}, [&](float v) { return odd_real<float, std::uint32_t>(choices, v); });
}

inline void change_length(Tensor& tensor, Choices& choices) {
  const std::size_t size = type_bytes(tensor.type), length = choices.below(2 * tensor.size() + 3);
  tensor.data.resize(length * size);
  tensor.shape = {static_cast<std::int64_t>(length)};
}

/// Changes a few tensors of a file, which stays a valid one: its checksum is made when it is written.
inline void mutate(TensorFile& file, Choices& choices) {
  do {
    if (file.tensors.empty()) return;
    const std::size_t at = choices.below(file.tensors.size());
    Tensor& tensor = file.tensors[at];
    switch (choices.below(16)) {
      case 0:
        change_length(tensor, choices);
        break;
      case 1:
        file.tensors.erase(file.tensors.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 2:  // the same bytes as numbers of another kind
        if (type_bytes(tensor.type) == 8) tensor.type = tensor.type == "I64" ? "F64" : "I64";
        break;
      default:
        change_number(tensor, choices);
    }
  } while (!choices.empty() && choices.below(2) == 0);
}

}  // namespace throughtime::fuzz
