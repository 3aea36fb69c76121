#include "stream_answers.h"
#include "terminal.h"
#include "train/predict/step_reader.h"

#include <fmt/compile.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t block_size = 4096;  // of a fast input's answers

std::string json_line(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

StreamAnswers::StreamAnswers(const std::string& format, const RunConfig& config)
    : tagged_(!config.stream.id.empty()), terminal_(isatty(STDOUT_FILENO) != 0), targets_(row_layout(config).targets) {
  const bool same = config.stream.format == RowFormat::jsonl;
  json_ = format.empty() ? same : choice_of<LineFormat>(format, "stream", "output") == LineFormat::jsonl;
}

void StreamAnswers::on_row(const StreamRow& row, std::int64_t number, const std::vector<double>& prediction) {
  if (json_) {
    Json line = {{"row", number}};
    if (tagged_) line["stream"] = row.id;
    for (std::size_t i = 0; i < targets_.size(); ++i) line["prediction"][targets_[i]] = prediction[i];
    text_.append(json_line(line));
  } else {
    for (std::size_t i = 0; i < prediction.size(); ++i) {
      if (i > 0) text_.push_back(',');
      fmt::format_to(fmt::appender(text_), FMT_COMPILE("{}"), prediction[i]);
    }
    text_.push_back('\n');
  }
  if (text_.size() >= block_size) on_idle();
}

void StreamAnswers::on_skipped(std::int64_t number, const std::string& why, bool worth_a_line) {
  if (worth_a_line) tell("[stream] row {} was skipped: {}\n", number, why);
  if (json_)
    text_.append(json_line({{"row", number}, {"error", why}}));
  else
    fmt::format_to(fmt::appender(text_), "{}\n", fmt::join(std::vector<std::string>(targets_.size(), "nan"), ","));
}

void StreamAnswers::on_news(const std::string& line) { fmt::print(stderr, "[stream] {}\n", line); }

void StreamAnswers::on_begins_again(std::int64_t rows) {
  tell("[stream] the input was replaced or cut short after row {}: reading it from its front\n", rows);
}

void StreamAnswers::on_idle() {
  std::string_view rest(text_.data(), text_.size());
  const std::string shown = terminal_ ? printable_lines(rest) : "";
  if (terminal_) rest = shown;
  while (!rest.empty() && !closed_) {
    const ssize_t count = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (count >= 0)
      rest.remove_prefix(static_cast<std::size_t>(count));
    else if (errno == EPIPE)
      closed_ = true;
    else if (errno != EINTR && errno != EAGAIN)
      fail("stream", "cannot write the predictions: {}", std::strerror(errno));
  }
  text_.clear();
}

}  // namespace throughtime
