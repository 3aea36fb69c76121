#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "terminal.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr int smallest_bar = 8, largest_bar = 40;
constexpr std::chrono::milliseconds redraw_pause{100};
constexpr std::chrono::seconds line_pause{60};

std::string bar_text(double share, int width, const Style& style) {
  const int done = static_cast<int>(share * width);
  std::string filled, rest;
  for (int i = 0; i < width; ++i) (i < done ? filled : rest) += style.unicode ? "━" : i < done ? "#" : ".";
  // Without colour the two halves need two characters.
  if (style.unicode && !style.color) {
    rest.clear();
    for (int i = done; i < width; ++i) rest += "─";
  }
  if (!style.color) return filled + rest;
  return fmt::format("\x1b[32m{}\x1b[0m\x1b[2m{}\x1b[0m", filled, rest);
}

std::string shortened(const std::string& name, std::size_t width) {
  return text_width(name) <= width ? name : name.substr(0, width);
}

}  // namespace

std::string progress_text(const ProgressState& state, const Style& style) {
  const double share = state.iterations > 0 ? static_cast<double>(state.iteration) / state.iterations : 0;
  const double rate = state.seconds > 0 ? state.iteration / state.seconds : 0;
  const double left = rate > 0 ? (state.iterations - state.iteration) / rate : 0;
  const std::string percent = fmt::format("{:3.0f}%", 100 * share);

  // In the order of the line; what matters least goes first when the line is narrow.
  struct Part {
    std::string text;
    int importance;
  };
  std::vector<Part> parts = {
      {percent, 9},
      {fmt::format("{}/{}", state.iteration, state.iterations), 2},
      {fmt::format("{:.{}f} it/s", rate,
                   rate < 10    ? 2
                   : rate < 100 ? 1
                                : 0),
       1},
      {fmt::format("loss {:.4g}", state.loss), 8},
      {fmt::format("ETA {}", rate > 0 ? duration_text(left) : "--:--"), 3},
  };
  const std::size_t limit = elements(std::max(style.width, 1));
  std::string name = state.name;
  const auto width_of_rest = [&] {
    std::size_t width = text_width(name);
    for (const Part& part : parts) width += 2 + text_width(part.text);
    return width;
  };
  while (width_of_rest() + 2 + smallest_bar > limit && parts.size() > 2)
    parts.erase(std::min_element(parts.begin(), parts.end(),
                                 [](const Part& a, const Part& b) { return a.importance < b.importance; }));
  if (width_of_rest() > limit) {
    const std::size_t others = width_of_rest() - text_width(name);
    name = shortened(name, limit > others ? limit - others : 0);
  }
  const std::size_t free = limit - std::min(limit, width_of_rest());
  std::string text = name;
  if (free >= 2 + smallest_bar)
    text += "  " + bar_text(share, static_cast<int>(std::min<std::size_t>(free - 2, largest_bar)), style);
  for (const Part& part : parts) text += "  " + part.text;
  return text;
}

ProgressBar::ProgressBar() : style_(style_of(STDERR_FILENO)), last_(Clock::now()) {
  style_.width -= 1;  // a full last column would wrap
}

void ProgressBar::show(const ProgressState& state) {
  const Clock::time_point now = Clock::now();
  if (!style_.terminal) return show_line(state, now);
  if (drawn_ && now - last_ < redraw_pause && state.iteration < state.iterations) return;
  style_.width = style_of(STDERR_FILENO).width - 1;
  fmt::print(stderr, "\r{}\x1b[K", progress_text(state, style_));
  std::fflush(stderr);
  last_ = now;
  drawn_ = true;
}

void ProgressBar::show_line(const ProgressState& state, Clock::time_point now) {
  const std::int64_t tenths = 10 * state.iteration / std::max<std::int64_t>(state.iterations, 1);
  if (tenths == shown_tenths_ && now - last_ < line_pause) return;
  fmt::print(stderr, "{}: {}/{} iterations, loss {:.4g}, {}\n", state.name, state.iteration, state.iterations,
             state.loss, duration_text(state.seconds));
  shown_tenths_ = tenths;
  last_ = now;
}

void ProgressBar::clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);  // also in a destructor: nothing is thrown where stderr is closed
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace throughtime
