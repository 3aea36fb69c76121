#include "learners/fptt/sequence_cut.h"

#include <algorithm>

#include "learners/support.h"
#include "throughtime/error.h"

namespace throughtime {

SequenceCut::SequenceCut(std::string_view speaker, const LearnerConfig& config, const StretchShape& shape)
    : windows_(config.windows), length_(config.window_length), absorb_(config.remainder == "absorb") {
  require_known(speaker, "remainder", config.remainder, {"extra", "absorb"});
  if ((windows_ == 0) == (length_ == 0))
    refuse(speaker, "give either windows (K) or window_length, got {} and {}", windows_, length_);
  if (windows_ != 0 && (windows_ < 1 || windows_ > shape.steps))
    refuse(speaker, "windows must be between 1 and the sequence length ({}), got {}", shape.steps, windows_);
  if (length_ != 0 && (length_ < 1 || length_ > shape.steps))
    refuse(speaker, "window_length must be between 1 and the sequence length ({}), got {}", shape.steps, length_);
}

int SequenceCut::omega(int steps) const {
  return length_ > 0 ? std::min(length_, steps) : std::max(1, steps / windows_);
}

int SequenceCut::count(int steps) const {
  const int whole = steps / omega(steps), left = steps % omega(steps);
  const int most = windows_ > 0 ? std::min(windows_, whole) : whole;
  return absorb_ ? most : most + (whole > most || left > 0 ? 1 : 0);
}

int SequenceCut::longest(int steps) const {
  int longest = 0;
  for (int t = std::max(1, steps - std::max(windows_, length_)); t <= steps; ++t)
    longest = std::max(longest, end(t, count(t) - 1) - begin(t, count(t) - 1));
  return std::max(longest, omega(steps));
}

}  // namespace throughtime
