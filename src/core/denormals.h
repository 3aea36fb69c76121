#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace throughtime {

/// Flushes denormal numbers to zero in this thread while it lives. Vanishing gradients go denormal, and a denormal
/// operand costs a hundred times a normal one. One inside another leaves the slow switch alone.
class FlushDenormals {
 public:
#if defined(__SSE2__)
  FlushDenormals() {
    if (depth_++ > 0) return;
    before_ = _mm_getcsr();
    _mm_setcsr(static_cast<unsigned>(before_) | kFlush);
  }
  ~FlushDenormals() {
    if (--depth_ == 0) _mm_setcsr(static_cast<unsigned>(before_));
  }
#elif defined(__aarch64__)
  FlushDenormals() {
    __asm__ volatile("mrs %0, fpcr" : "=r"(before_));
    __asm__ volatile("msr fpcr, %0" : : "r"(before_ | (std::uint64_t{1} << 24)));  // FZ
  }
  ~FlushDenormals() { __asm__ volatile("msr fpcr, %0" : : "r"(before_)); }
#else
  FlushDenormals() = default;
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE2__)
  static constexpr unsigned kFlush = 0x8040u;  // FTZ and DAZ
  // How many live in this thread: even a look at the switch takes as long as a small product.
  [[gnu::visibility("hidden")]] static constinit inline thread_local int depth_ = 0;
#endif
  std::uint64_t before_ = 0;
};

}  // namespace throughtime
