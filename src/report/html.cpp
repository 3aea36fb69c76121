#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "data/printable.h"
#include "report/downloads.h"
#include "report/page_style.h"
#include "report/report.h"
#include "report/text.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

// One picture for all screens: two side by side on wide ones, one on narrow ones, letters of 10 to 15 pixels on both.
constexpr int figure_width = 500, figure_height = 300;

std::string shown(const std::string& text) { return html_escaped(printable(text)); }

/// Texts are aligned at the left, and sentences may take several lines.
const char* class_of(const std::string& cell, bool is_text) {
  constexpr std::size_t longest_word = 45;
  if (!is_text) return "";
  return text_width(cell) > longest_word ? " class=\"text long\"" : " class=\"text\"";
}

/// A name may break behind its dots and underscores: "learner.fptt.windows".
std::string breakable(const std::string& cell) {
  if (cell.find(' ') != std::string::npos) return shown(cell);
  std::string html, word;
  for (const char letter : cell) {
    word += letter;
    if (letter != '.' && letter != '_') continue;
    html += shown(word) + "<wbr>";
    word.clear();
  }
  return html + shown(word);
}

/// A cell of numbers. On a narrow screen it may break before its spread, and nowhere else: "0.93 ± 0.02".
std::string number_cell(const std::string& cell) {
  const std::size_t spread = cell.find(" ± ");
  if (spread == std::string::npos) return fmt::format("<td>{}</td>", shown(cell));
  return fmt::format("<td class=\"spread\"><span>{}</span> <span>{}</span></td>", shown(cell.substr(0, spread)),
                     shown(cell.substr(spread + 1)));
}

std::string table_html(const ReportTable& table) {
  const auto row = [&](const std::vector<std::string>& cells, const std::string& tag) {
    std::string html = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
      html += i >= table.text_columns && tag == "td"
                  ? number_cell(cells[i])
                  : fmt::format("<{0}{1}>{2}</{0}>", tag, class_of(cells[i], i < table.text_columns),
                                i == 0 && table.text_columns > 0 ? breakable(cells[i]) : shown(cells[i]));
    return html + "</tr>\n";
  };
  std::string html = fmt::format("<h3>{}</h3>\n", shown(table.title));
  if (!table.note.empty()) html += fmt::format("<p>{}</p>\n", shown(table.note));
  html += "<div class=\"table\" tabindex=\"0\"><table>\n<thead>" + row(table.columns, "th") + "</thead>\n<tbody>\n";
  for (const std::vector<std::string>& cells : table.rows) html += row(cells, "td");
  return html + "</tbody></table></div>\n";
}

/// A name for a file: "Task: add" and "train loss" -> "add-train-loss.csv".
std::string file_name(const std::string& text) {
  std::string name;
  for (const char letter : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0;
    if (plain)
      name += letter;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return name + ".csv";
}

/// The picture of a figure without letters for its title, which only screen readers are told.
std::string silent_svg(const Chart& bare, const std::string& title) {
  std::string svg = svg_of(bare, figure_width, height_for(bare, figure_width, figure_height));
  const std::string_view empty = "<title></title>";
  if (const std::size_t at = svg.find(empty); at != std::string::npos)
    svg.replace(at, empty.size(), fmt::format("<title>{}</title>", shown(title)));
  return svg;
}

/// A figure's title and note are texts of the page, where they have room; the picture has the rest.
std::string figure_html(const Chart& figure) {
  Chart bare = figure;
  bare.title.clear();
  bare.note.clear();
  std::size_t every = 1;
  const std::string numbers = csv_of(figure, &every);
  const std::string link = download_link(numbers, file_name(figure.title),
                                         every == 1 ? "data (CSV)" : fmt::format("data (CSV, every {} points)", every));
  std::string note = figure.note;
  if (!note.empty()) note[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(note[0])));
  std::string caption;
  for (const std::string& text : {note, figure.caption})
    if (!text.empty()) caption += shown(text) + (text.ends_with('.') ? " " : ". ");
  return fmt::format("<figure><h4>{}</h4>{}<figcaption>{}{}</figcaption></figure>\n", shown(figure.title),
                     silent_svg(bare, figure.title), caption, link);
}

std::string figures_html(const std::string& title, const std::vector<Chart>& figures, const std::string& note) {
  std::string html = fmt::format("<h3>{}</h3>\n", title);
  if (!note.empty()) html += fmt::format("<p>{}</p>\n", shown(note));
  if (!gnuplot_found())
    return html +
           "<p class=\"missing\">The pictures are drawn by gnuplot, which is not installed (Debian: apt install "
           "gnuplot-nox); install it and write this report again.</p>\n";
  html += "<div class=\"figures\">\n";
  for (const Chart& figure : figures) html += figure_html(figure);
  return html + "</div>\n";
}

std::string confusions_html(const std::vector<ReportPicture>& pictures) {
  std::string html = "<h3>Which classes are confused</h3>\n<div class=\"figures\">\n";
  for (const ReportPicture& picture : pictures)
    html += fmt::format("<figure><h4>{}</h4>{}<figcaption>{}</figcaption></figure>\n", shown(picture.title),
                        picture.svg, shown(picture.caption));
  return html + "</div>\n";
}

/// The result first, then what it looks like, then all that explains it.
std::string section_html(const ReportSection& section, std::size_t number) {
  std::string html = fmt::format("<section id=\"section-{}\">\n<h2>{}</h2>\n", number, shown(section.title));
  const std::size_t first = std::min(section.first_tables, section.tables.size());
  for (std::size_t i = 0; i < first; ++i) html += table_html(section.tables[i]);
  if (!section.csv.empty())
    html += fmt::format("<p>{}</p>\n", download_link(section.csv, file_name(section.title + " results"),
                                                     "all results of each run (CSV)"));
  if (!section.confusions.empty()) html += confusions_html(section.confusions);
  if (!section.forecasts.empty()) html += figures_html("Forecasts", section.forecasts, "");
  if (!section.figures.empty()) html += figures_html("Curves", section.figures, section.not_drawn);
  for (std::size_t i = first; i < section.tables.size(); ++i) html += table_html(section.tables[i]);
  return html + "</section>\n";
}

/// What was found, of each section.
std::string findings_html(const std::vector<ReportSection>& sections) {
  std::string html;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].finding.empty()) continue;
    const std::string name =
        sections.size() == 1 ? "" : fmt::format("<a href=\"#section-{}\">{}</a>: ", i + 1, shown(sections[i].title));
    html += fmt::format("<li>{}{}</li>\n", name, shown(sections[i].finding));
  }
  return html.empty() ? "" : fmt::format("<ul class=\"found\">\n{}</ul>\n", html);
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
      "<style>{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n{2}<p>Made by {3}.</p>\n",
      shown(report.title), page_style, findings_html(report.sections), shown(report.made_by));
  if (!report.troubles.empty()) {
    html += "<div class=\"troubles\"><ul>\n";
    for (const std::string& trouble : report.troubles) html += fmt::format("<li>{}</li>\n", shown(trouble));
    html += "</ul></div>\n";
  }
  for (std::size_t i = 0; i < report.sections.size(); ++i) html += section_html(report.sections[i], i + 1);
  html += "<h2>Runs, configurations and environment</h2>\n";
  for (const ReportTable& table : report.tables) html += table_html(table);
  for (const ReportAppendix& appendix : report.appendices) html += appendix_html(appendix);
  return html + fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", page_script);
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
  const auto table_text = [&](const ReportTable& table, const char* level) {
    std::string text =
        fmt::format("\n{} {}\n\n{}{}", level, cell(table.title), cell(table.note), table.note.empty() ? "" : "\n\n");
    text += row(table.columns) + "|";
    for (std::size_t i = 0; i < table.columns.size(); ++i) text += i < table.text_columns ? " --- |" : " ---: |";
    text += "\n";
    for (const std::vector<std::string>& cells : table.rows) text += row(cells);
    return text;
  };
  std::string text = fmt::format("# {}\n\nMade by {}.\n", cell(report.title), cell(report.made_by));
  if (!report.troubles.empty()) text += "\n";
  for (const std::string& trouble : report.troubles) text += "- " + cell(trouble) + "\n";
  for (const ReportSection& section : report.sections) {
    text += fmt::format("\n## {}\n", cell(section.title));
    if (!section.finding.empty()) text += fmt::format("\n{}\n", cell(section.finding));
    for (const ReportTable& table : section.tables) text += table_text(table, "###");
  }
  for (const ReportTable& table : report.tables) text += table_text(table, "##");
  return text;
}

}  // namespace throughtime
