#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace throughtime::cpu {

/// For loops that wait for another thread.
inline void pause_briefly() {
#if defined(__SSE2__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace throughtime::cpu
