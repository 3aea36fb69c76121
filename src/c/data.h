#pragma once

#include <memory>

#include "c/handles.h"
#include "throughtime/arrays.h"

namespace throughtime::c {

/// Arrays of the caller.
class DataObject final : public Object {
 public:
  static constexpr const char* kind = "data";
  ArrayData arrays;
};

/// The arrays of a handle as they are now.
std::shared_ptr<const ArrayData> arrays_of(std::int64_t handle);
/// Refuses arrays that belong to another kind of model.
void require_fit(const ArrayData& arrays, int reals, int vocabulary, int outputs, bool labels);
/// Refuses inputs that are not finite and tokens that the model does not know.
void require_inputs(const ArrayData& arrays, std::span<const Source> sequences);
std::size_t part_number(std::int32_t part);

}  // namespace throughtime::c
