#include "bench/onednn.h"

#include "throughtime/error.h"

namespace throughtime::bench {

std::optional<std::string> onednn_version() { return std::nullopt; }

bool onednn_has(const Case&) { return false; }

std::unique_ptr<Onednn> make_onednn(const Case&, const CaseNumbers&, int) {
  refuse("bench", "this build has no oneDNN; install libdnnl-dev and OpenMP, and build again");
}

}  // namespace throughtime::bench
