#pragma once

#include "data/text/text.h"
#include "throughtime/task_config.h"

namespace throughtime {

/// How a text of that configuration is cut into tokens.
TextOptions text_options(const TextConfig& config);

}  // namespace throughtime
