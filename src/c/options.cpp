#include "train/options/options.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "c/model.h"
#include "c/progress.h"
#include "train/run/environment.h"
#include "train/run/session.h"

namespace throughtime::c {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity: a side without a bound is null.
Json bound(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json option_json(const Option& option) {
  Json users = Json::array();
  for (const OptionUsers& each : option.users)
    users.push_back({{"kind", std::string(name_of(each.kind))}, {"names", each.names}});
  return {{"key", option.key},
          {"type", type_name(option)},
          {"default", value_text(option)},
          {"allowed", allowed_text(option)},
          {"names", option.names},
          {"low", bound(option.range.low)},
          {"high", bound(option.range.high)},
          {"open_low", option.range.open_low},
          {"open_high", option.range.open_high},
          {"help", option.help},
          {"users", users}};
}

std::vector<std::string> lines_of(const char* text) {
  std::vector<std::string> lines;
  std::istringstream stream(text == nullptr ? "" : text);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

}  // namespace
}  // namespace throughtime::c

using namespace throughtime;
using namespace throughtime::c;

extern "C" {

const char* tt_version(void) {
  static const std::string text = version();
  return text.c_str();
}

int tt_options(char* text, size_t capacity, size_t* length) {
  return guarded([&] {
    RunConfig config;
    const OptionList list = options_of(config);
    Json all = Json::array();
    for (const Option& option : list.options()) all.push_back(option_json(option));
    hand_out(all.dump(), text, capacity, length);
  });
}

int tt_options_read(const char* options, const char* keys) {
  return guarded([&] {
    const RunConfig config = config_of(options);
    RunConfig any;
    const OptionList list = options_of(any);
    for (const std::string& key : lines_of(require(keys, "keys")))
      require_read(find_option(list, key, "options"), config, {"train", "stream"}, "options");
  });
}

int tt_train(const char* path, const char* assignments, tt_progress progress, void* user, char* directory,
             size_t capacity, size_t* length) {
  return guarded([&] {
    require(length, "length");
    const RunConfig config = load_config(require(path, "path"), lines_of(assignments));
    ProgressCaller caller(progress, user);
    caller.tell_end(train_run(config, caller));
    hand_out(std::filesystem::absolute(run_directory(config)).string(), directory, capacity, length);
  });
}
}
