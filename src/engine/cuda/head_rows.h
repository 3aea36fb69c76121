#pragma once

#include "engine/cuda/engine_class.h"

namespace throughtime::cuda {

/// Some of the places that carry a loss, as many as the tape has room for.
struct CudaEngine::HeadRows {
  const StagedLosses& losses;
  int first = 0, count = 0;  // among the entries
  int slot_begin = 0;        // the window's step that slot 0 of the tape holds
  bool at_the_end = false;   // all places of the last step: what flows back joins the cotangent of the state there

  const std::int32_t* places() const { return losses.places + first; }
  const float* weights() const { return losses.weights + first; }
  const std::int32_t* host_places() const { return losses.host_places.data() + first; }
  /// Whether they are places without a gap: then nothing must be gathered.
  bool whole() const { return count > 0 && host_places()[count - 1] - host_places()[0] == count - 1; }
};

}  // namespace throughtime::cuda
