#include "engine/device_facts.h"

#include <fmt/format.h>

namespace throughtime {
namespace {

constexpr int oldest_major = 8;  // compute capability that the kernels are compiled for

std::string release_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

}  // namespace

std::string absence_of(const DeviceFacts& facts) {
  // Where no driver is installed its version is 0, and CUDA calls that too old.
  if (facts.driver_is_old && facts.driver > 0)
    return fmt::format("the GPU's driver knows CUDA {} at most, this build needs {}", release_text(facts.driver),
                       release_text(facts.runtime));
  if (facts.devices == 0) return "no CUDA device here";
  if (!facts.answers) return "the CUDA device does not answer";
  if (facts.major < oldest_major)
    return fmt::format("{} has compute capability {}.{}, at least {}.0 is needed", facts.name, facts.major, facts.minor,
                       oldest_major);
  return "";
}

}  // namespace throughtime
