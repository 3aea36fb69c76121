#include "report/downloads.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "data/tables/fields.h"
#include "report/text.h"

namespace throughtime {
namespace {

/// A number as a field; empty where it is none.
std::string field(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }

/// A text as the part of a link behind its comma.
std::string link_text(const std::string& text) {
  std::string encoded;
  for (const char letter : text) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') ||
                       std::string_view("-_.~,").find(letter) != std::string_view::npos;
    if (plain)
      encoded += letter;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  }
  return encoded;
}

}  // namespace

std::string csv_of(const std::vector<RunGroup>& groups) {
  std::vector<std::string> keys;
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs)
      for (const auto& [key, value] : run.result.entries)
        if (key != "seed" && key != "run" && std::find(keys.begin(), keys.end(), key) == keys.end())
          keys.push_back(key);
  std::string text = fmt::format("group,directory,seed,finished{}{}\n", keys.empty() ? "" : ",", fmt::join(keys, ","));
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs) {
      text += fmt::format("{},{},{},{}", csv_field(group.name), csv_field(run.directory.string()), run.seed,
                          run.finished ? "yes" : "no");
      for (const std::string& key : keys) {
        const std::string value = run.result.text(key);
        text += fmt::format(",{}", csv_field(value == "null" ? "" : value));
      }
      text += "\n";
    }
  return text;
}

std::string csv_of(const Chart& chart, std::size_t* every) {
  std::string text = "curve,x,y,low,high\n";
  if (every != nullptr) *every = 1;
  for (const Curve& curve : chart.curves) {
    const std::size_t stride = (curve.x.size() + most_csv_points - 1) / most_csv_points;
    if (every != nullptr) *every = std::max(*every, stride);
    const bool band = !curve.low.empty();
    for (std::size_t i = 0; i < curve.x.size(); i += stride)
      text += fmt::format("{},{},{},{},{}\n", csv_field(curve.label), field(curve.x[i]), field(curve.y[i]),
                          band ? field(curve.low[i]) : "", band ? field(curve.high[i]) : "");
    for (const Spot& spot : curve.chosen)
      text += fmt::format("{},{},{},,\n", csv_field(curve.label + ", " + chosen_label), field(spot.x), field(spot.y));
  }
  for (const ReferenceLine& reference : chart.references)
    text += fmt::format("{},,{},,\n", csv_field(reference.label), field(reference.y));
  return text;
}

std::string download_link(const std::string& text, const std::string& file, const std::string& words) {
  return fmt::format("<a class=\"download\" download=\"{}\" href=\"data:text/csv;charset=utf-8,{}\">{}</a>",
                     html_escaped(file), link_text(text), html_escaped(words));
}

}  // namespace throughtime
