#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "throughtime/learner.h"

namespace throughtime {

// What a configuration of target propagation asks for, without an engine.

/// Refuses settings that cannot work on stretches of that shape, whatever memory there is.
void check_settings(const TargetPropagationConfig& config, const StretchShape& shape);

/// Bytes of all tables of the size of H: H and dL/dH, moments, duals, targets of a sweep.
std::size_t table_bytes(const TargetPropagationConfig& config, const Model& model, const StretchShape& shape,
                        std::size_t number_bytes);
/// Refuses tables that take more than the configuration allows or, where it says nothing, than is `left`.
void require_room(const TargetPropagationConfig& config, const Model& model, const StretchShape& shape,
                  std::size_t number_bytes, std::uint64_t left, std::string_view whose);

}  // namespace throughtime
