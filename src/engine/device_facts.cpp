#include "engine/device_facts.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "throughtime/model.h"

namespace throughtime {
namespace {

constexpr int oldest_major = 8;  // compute capability that the kernels are compiled for

std::string release_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

}  // namespace

std::string untried_on_devices(const Model& model) {
  const char* tried = std::getenv("THROUGHTIME_CUDA_UNTRIED");
  if (tried && std::strcmp(tried, "1") == 0) return "";
  const auto untried = [](const std::string& what) {
    return fmt::format("{} has device kernels that were not run on a GPU yet", what);
  };
  if (model.head_layers().any()) return untried(fmt::format("the {} head (model.head)", model.head().name));
  if (model.config().dropout.embedding > 0) return untried("model.dropout_embedding");
  if (model.config().penalties.activation > 0) return untried("model.activation_penalty");
  if (model.config().penalties.slowness > 0) return untried("model.slowness_penalty");
  return "";
}

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
