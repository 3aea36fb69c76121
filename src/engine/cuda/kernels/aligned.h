#pragma once

#include <cstdint>

namespace throughtime::cuda {

/// Whether four floats at once can be read and written at all of these; a null counts as aligned.
template <class... Pointers>
bool aligned_to_fours(const Pointers*... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) | ...) & 15) == 0;
}

}  // namespace throughtime::cuda
