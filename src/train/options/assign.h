#pragma once

#include <toml++/toml.h>

#include <string>

#include "train/options/config.h"

namespace throughtime {

/// Assigns every option that a document names, table by table; refuses unknown tables and options with their lines.
void assign_tables(RunConfig& config, const toml::table& document, const std::string& where);

}  // namespace throughtime
