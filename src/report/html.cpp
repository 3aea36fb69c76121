#include <fmt/format.h>

#include <algorithm>

#include "data/printable.h"
#include "report/report.h"
#include "report/text.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr const char* style = R"(
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --paper: #ffffff; --page: #f6f8fa; --line: #d8dee4;
  --mark: #fff3c4; --warn: #9a4a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa4af; --paper: #15191e; --page: #0d1117;
  --line: #2d333b; --mark: #4a3d10; --warn: #f0a35e; } }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; }
main { max-width: 1500px; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .4rem; }
p { margin: .3rem 0 .8rem; max-width: 75em; color: var(--soft); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 560px), 1fr)); gap: 1rem; }
figure, .table, details, .troubles { margin: 0; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; }
figure { position: relative; padding: .5rem; } figure svg { width: 100%; height: auto; display: block; }
figcaption { padding: .25rem .75rem .5rem; color: var(--soft); font-size: .9rem; }
.table { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .8rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
tr:last-child td { border-bottom: 0; } th { color: var(--soft); font-weight: 600; } .text { text-align: left; }
.long { white-space: normal; min-width: 20em; }
details { padding: .5rem .9rem; margin-top: .6rem; } summary { cursor: pointer; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1.2rem; font: 13px/1.6 ui-monospace, Menlo, Consolas, monospace; }
dd { margin: 0; overflow-wrap: anywhere; } dt { color: var(--soft); } mark { background: var(--mark); color: inherit; }
.troubles { padding: .6rem 1rem; margin-top: 1rem; color: var(--warn); } .troubles ul { margin: 0; padding-left: 1.2rem; }
.cursor { position: absolute; pointer-events: none; padding: .15rem .5rem; border-radius: 4px; font-size: 12px; white-space: nowrap;
  background: var(--ink); color: var(--paper); visibility: hidden; transform: translate(-50%, -150%); }
)";

// The nearest point of a curve to the pointer, in the numbers of the axes. The SVG says where its axes are.
constexpr const char* script = R"(
for (const svg of document.querySelectorAll('.throughtime-chart')) {
  const tip = svg.parentNode.appendChild(document.createElement('div'));
  tip.className = 'cursor';
  const [left, top, right, bottom] = svg.dataset.area.split(' ').map(Number);
  const value = (axis, share) => {
    const [low, high, kind] = axis.split(' ');
    return kind === 'log' ? low * (high / low) ** share : +low + (high - low) * share;
  };
  const points = [];
  for (const group of svg.querySelectorAll('.curve')) {
    for (const path of group.querySelectorAll('path'))
      for (const [, x, y] of path.getAttribute('d').matchAll(/[ML]([-\d.]+),([-\d.]+)/g))
        points.push([+x, +y, group.dataset.label]);
    for (const mark of group.querySelectorAll('use')) {
      const [, x, y] = mark.getAttribute('transform').match(/translate\(([-\d.]+),([-\d.]+)/);
      points.push([+x, +y, group.dataset.label]);
    }
  }
  svg.addEventListener('pointermove', event => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    let best = null, distance = 1600;
    for (const point of points) {
      const d = (point[0] - at.x) ** 2 + (point[1] - at.y) ** 2;
      if (d < distance) { best = point; distance = d; }
    }
    tip.style.visibility = best ? 'visible' : 'hidden';
    if (!best) return;
    const x = value(svg.dataset.x, (best[0] - left) / (right - left));
    const y = value(svg.dataset.y, (bottom - best[1]) / (bottom - top));
    tip.textContent = `${best[2]}   x ${+x.toPrecision(4)}   y ${+y.toPrecision(4)}`;
    const place = new DOMPoint(best[0], best[1]).matrixTransform(svg.getScreenCTM());
    const frame = svg.parentNode.getBoundingClientRect();
    tip.style.left = place.x - frame.left + 'px';
    tip.style.top = place.y - frame.top + 'px';
  });
  svg.addEventListener('pointerleave', () => { tip.style.visibility = 'hidden'; });
}
)";

std::string shown(const std::string& text) { return html_escaped(printable(text)); }

/// Texts are aligned at the left, and sentences may take several lines.
const char* class_of(const std::string& cell, bool is_text) {
  constexpr std::size_t longest_word = 45;
  if (!is_text) return "";
  return text_width(cell) > longest_word ? " class=\"text long\"" : " class=\"text\"";
}

std::string table_html(const ReportTable& table) {
  const auto row = [&](const std::vector<std::string>& cells, const char* tag) {
    std::string html = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
      html += fmt::format("<{0}{1}>{2}</{0}>", tag, class_of(cells[i], i < table.text_columns), shown(cells[i]));
    return html + "</tr>\n";
  };
  std::string html = fmt::format("<h2>{}</h2>\n", shown(table.title));
  if (!table.note.empty()) html += fmt::format("<p>{}</p>\n", shown(table.note));
  html += "<div class=\"table\"><table>\n<thead>" + row(table.columns, "th") + "</thead>\n<tbody>\n";
  for (const std::vector<std::string>& cells : table.rows) html += row(cells, "td");
  return html + "</tbody></table></div>\n";
}

std::string figures_html(const std::vector<Chart>& figures) {
  if (figures.empty()) return "<h2>Curves</h2>\n<p>The runs have written no curves yet.</p>\n";
  std::string html = "<h2>Curves</h2>\n";
  if (!gnuplot_found())
    return html +
           "<p class=\"missing\">The pictures are drawn by gnuplot, which is not installed (Debian: apt install "
           "gnuplot-nox); install it and write this report again.</p>\n";
  html += "<div class=\"figures\">\n";
  for (const Chart& figure : figures) {
    const std::string caption =
        figure.caption.empty() ? "" : fmt::format("<figcaption>{}</figcaption>", shown(figure.caption));
    html += "<figure>" + svg_of(figure) + caption + "</figure>\n";
  }
  return html + "</div>\n";
}

std::string confusions_html(const std::vector<ReportPicture>& pictures) {
  if (pictures.empty()) return "";
  std::string html = "<h2>Which classes are confused</h2>\n<div class=\"figures\">\n";
  for (const ReportPicture& picture : pictures)
    html += fmt::format("<figure>{}<figcaption>{}: {}</figcaption></figure>\n", picture.svg, shown(picture.title),
                        shown(picture.caption));
  return html + "</div>\n";
}

std::string appendix_html(const ReportAppendix& appendix) {
  std::string html = fmt::format("<details><summary>{}</summary><dl>\n", shown(appendix.title));
  for (const auto& [key, value] : appendix.entries) {
    const bool marked = std::find(appendix.marked.begin(), appendix.marked.end(), key) != appendix.marked.end();
    const std::string open = marked ? "<mark>" : "", close = marked ? "</mark>" : "";
    html += fmt::format("<dt>{0}{2}{1}</dt><dd>{0}{3}{1}</dd>\n", open, close, shown(key), shown(value));
  }
  return html + "</dl></details>\n";
}

}  // namespace

std::string html_of(const Report& report) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n<p>Made by {2}.</p>\n",
      shown(report.title), style, shown(report.made_by));
  if (!report.troubles.empty()) {
    html += "<div class=\"troubles\"><ul>\n";
    for (const std::string& trouble : report.troubles) html += fmt::format("<li>{}</li>\n", shown(trouble));
    html += "</ul></div>\n";
  }
  // The results first, then what they look like, then all that explains them.
  for (std::size_t i = 0; i < report.tables.size(); ++i) {
    html += table_html(report.tables[i]);
    if (i == 0) html += confusions_html(report.confusions) + figures_html(report.figures);
  }
  html += "<h2>Configurations and environment</h2>\n";
  for (const ReportAppendix& appendix : report.appendices) html += appendix_html(appendix);
  return html + fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", script);
}

std::string markdown_of(const Report& report) {
  const auto cell = [](const std::string& text) {
    std::string escaped;
    for (const char letter : printable(text)) {
      if (std::string_view("\\|<>*_`[]").find(letter) != std::string_view::npos) escaped += '\\';
      escaped += letter;
    }
    return escaped;
  };
  const auto row = [&](const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const std::string& text : cells) line += fmt::format(" {} |", cell(text));
    return line + "\n";
  };
  std::string text = fmt::format("# {}\n\nMade by {}.\n", cell(report.title), cell(report.made_by));
  if (!report.troubles.empty()) text += "\n";
  for (const std::string& trouble : report.troubles) text += "- " + cell(trouble) + "\n";
  for (const ReportTable& table : report.tables) {
    text += fmt::format("\n## {}\n\n{}{}", cell(table.title), table.note, table.note.empty() ? "" : "\n\n");
    text += row(table.columns) + "|";
    for (std::size_t i = 0; i < table.columns.size(); ++i) text += i < table.text_columns ? " --- |" : " ---: |";
    text += "\n";
    for (const std::vector<std::string>& cells : table.rows) text += row(cells);
  }
  return text;
}

}  // namespace throughtime
