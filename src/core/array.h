#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace throughtime {

/// A zeroed array of numbers on a cache line (on a huge page where it is large): never resized, never copied.
template <class Real>
class AlignedArray {
 public:
  AlignedArray() = default;
  explicit AlignedArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    constexpr std::size_t huge = std::size_t{2} << 20;
    const std::size_t alignment = bytes() >= huge ? huge : 64;
    const std::size_t whole = (bytes() + alignment - 1) / alignment * alignment;
    data_.reset(static_cast<Real*>(std::aligned_alloc(alignment, whole)));
    if (!data_) throw std::bad_alloc();
#if defined(__linux__)
    if (alignment == huge) madvise(data_.get(), whole, MADV_HUGEPAGE);
#endif
    std::memset(data_.get(), 0, whole);
  }

  Real* data() { return data_.get(); }
  const Real* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(Real); }

 private:
  struct Free {
    void operator()(Real* pointer) const { std::free(pointer); }
  };
  std::unique_ptr<Real, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace throughtime
