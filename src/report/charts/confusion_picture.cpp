#include "report/charts/confusion_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/printable.h"
#include "report/charts/axis.h"
#include "report/text.h"

namespace throughtime {
namespace {

constexpr std::size_t most_numbered = 25;  // classes whose counts are still legible
constexpr std::size_t longest_name = 14;   // letters of a class that are shown

std::string short_name(const std::string& name) { return cut_to(printable(name), longest_name); }

std::string text_at(double x, double y, const std::string& anchor, const std::string& text,
                    const std::string& more = "") {
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}"{}>{}</text>)", x, y, anchor, more,
                     html_escaped(text));
}

}  // namespace

Confusion confusion_of(const ResultFile& result) {
  const std::string best = result.text("confusion.best_test");
  const auto names = nlohmann::json::parse(result.text("confusion.classes"), nullptr, false);
  const auto rows = nlohmann::json::parse(best.empty() ? result.text("confusion.test") : best, nullptr, false);
  if (!names.is_array() || !rows.is_array() || names.size() != rows.size()) return {};
  Confusion confusion;
  for (std::size_t label = 0; label < names.size(); ++label) {
    if (!names[label].is_string() || !rows[label].is_array() || rows[label].size() != names.size()) return {};
    confusion.classes.push_back(names[label].get<std::string>());
    for (const auto& count : rows[label]) {
      if (!count.is_number() || !(count.get<double>() >= 0)) return {};
      confusion.counts.push_back(count.get<double>());
    }
  }
  return confusion;
}

std::string confusion_svg(const Confusion& confusion) {
  const std::size_t classes = confusion.classes.size();
  const bool numbered = classes <= most_numbered;
  const double cell = std::clamp(420.0 / static_cast<double>(std::max<std::size_t>(classes, 1)), 6.0, 64.0);
  std::size_t letters = 0;  // of the longest name
  for (const std::string& name : confusion.classes) letters = std::max(letters, text_width(short_name(name)));
  const double names = numbered ? 8.0 * static_cast<double>(letters) : 0.0;
  const double left = 36 + names, top = 36 + 0.75 * names, side = cell * static_cast<double>(classes);
  std::string svg = fmt::format(
      R"(<svg class="confusion" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" )"
      R"(style="max-width: {0:.0f}px" font-family="system-ui, sans-serif" font-size="13" fill="currentColor">)",
      left + side + 70, top + side + 10);
  svg += text_at(left + side / 2, 14, "middle", "predicted class");
  svg += text_at(14, top + side / 2, "middle", "true class",
                 fmt::format(R"x( transform="rotate(-90 14 {:.1f})")x", top + side / 2));
  for (std::size_t label = 0; label < classes; ++label) {
    const double middle = (static_cast<double>(label) + 0.5) * cell;
    if (numbered) {
      svg += text_at(left - 8, top + middle + 4, "end", short_name(confusion.classes[label]));
      svg += text_at(left + middle, top - 8, "start", short_name(confusion.classes[label]),
                     fmt::format(R"x( transform="rotate(-45 {:.1f} {:.1f})")x", left + middle, top - 8));
    }
    double all = 0;
    for (std::size_t i = 0; i < classes; ++i) all += confusion.counts[label * classes + i];
    for (std::size_t predicted = 0; predicted < classes; ++predicted) {
      const double count = confusion.counts[label * classes + predicted], share = all > 0 ? count / all : 0;
      const double x = left + static_cast<double>(predicted) * cell, y = top + static_cast<double>(label) * cell;
      svg += fmt::format(R"(<g><title>{} predicted as {}: {:g} of {:g}</title>)"
                         R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="#1f5fbf" )"
                         R"(fill-opacity="{:.3f}" stroke="currentColor" stroke-opacity="0.25"/>)",
                         html_escaped(printable(confusion.classes[label])),
                         html_escaped(printable(confusion.classes[predicted])), count, all, x, y, cell, cell,
                         0.04 + 0.96 * share);
      if (numbered && count > 0)
        svg += text_at(x + cell / 2, y + cell / 2 + 4, "middle", short_number(count, 3),
                       share > 0.4 ? R"( fill="#ffffff")" : "");
      svg += "</g>";
    }
  }
  return svg + "</svg>\n";
}

}  // namespace throughtime
