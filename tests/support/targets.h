#pragma once

#include <hwy/targets.h>

namespace throughtime::testing {

/// Calls `body(name)` once per instruction set that was built and that this machine has, with dispatch held to it.
template <class Body>
void for_each_instruction_set(Body&& body) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace throughtime::testing
