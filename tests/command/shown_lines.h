#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace throughtime::testing {

/// How close the numbers that a page shows must be to those that its commands print. The same program rounds
/// differently with other instructions, and training makes a small difference large.
///
/// `within=0.2` behind ```text: up to a fifth away; `words`: numbers are not compared. Without either a number with a
/// point is compared to `usual`. A whole number must be the same, whatever stands there.
struct Allowance {
  /// The largest difference that THROUGHTIME_ISA=avx2, sse4 and portable made in blocks without a remark was 0.005
  /// (coverage of a band). 0.01 is twice that.
  static constexpr double usual = 0.01;

  double relative = usual;
  bool words_only = false;

  /// Nothing where the text is none.
  static std::optional<Allowance> from(const std::string& text) {
    if (text.empty()) return Allowance{};
    if (text == "words") return Allowance{.words_only = true};
    const std::string begin = "within=";
    if (!text.starts_with(begin)) return std::nullopt;
    char* end = nullptr;
    const double relative = std::strtod(text.c_str() + begin.size(), &end);
    if (*end != '\0' || !(relative > 0 && relative < 1)) return std::nullopt;
    return Allowance{.relative = relative};
  }
};

/// A word or a number of a line. Punctuation and the rules of tables are none.
struct Token {
  std::string text;
  std::optional<double> number = {};
  bool left_out = false;  // a time or a number of threads: they belong to the machine; a deviation over seeds
};

inline std::vector<Token> tokens_of(const std::string& line) {
  std::string spaced = line;
  for (char& letter : spaced)
    if (std::string(",;:()=|").find(letter) != std::string::npos) letter = ' ';
  std::vector<Token> tokens;
  std::istringstream words(spaced);
  for (std::string word; words >> word;) {
    if (word.find_first_not_of('-') == std::string::npos) continue;
    Token token{.text = word};
    char* end = nullptr;
    const double number = std::strtod(word.c_str(), &end);
    if (*end == '\0' && std::isfinite(number)) token.number = number;
    tokens.push_back(token);
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string after = i + 1 < tokens.size() ? tokens[i + 1].text : "";
    const bool behind_plus_minus = i > 0 && tokens[i - 1].text == "±";
    if (tokens[i].number && (after == "s" || after.starts_with("thread") || behind_plus_minus))
      tokens[i].left_out = true;
    if (tokens[i].text.starts_with("thread")) tokens[i].left_out = true;
  }
  return tokens;
}

/// Half of the last digit that a number shows.
inline double half_a_digit(const std::string& number) {
  const std::size_t exponent = std::min(number.find_first_of("eE"), number.size());
  const std::size_t point = number.find('.');
  const double digits = point < exponent ? static_cast<double>(exponent - point - 1) : 0;
  const double scale = exponent < number.size() ? std::atof(number.c_str() + exponent + 1) : 0;
  return 0.5 * std::pow(10, scale - digits);
}

inline bool agree(const Token& shown, const Token& printed, const Allowance& allowance) {
  if (shown.left_out || printed.left_out) return shown.left_out == printed.left_out;
  if (!shown.number || !printed.number) return shown.text == printed.text;
  if (shown.text.find('.') == std::string::npos) return *shown.number == *printed.number;
  // Both may be rounded.
  const double rounded = half_a_digit(shown.text) + half_a_digit(printed.text);
  return std::abs(*shown.number - *printed.number) <=
         allowance.relative * std::max(std::abs(*shown.number), std::abs(*printed.number)) + 1.001 * rounded;
}

/// Whether a printed line has all that the shown one has, in its order. It may have more: a page may leave columns out.
inline bool shows_part_of(const std::vector<Token>& shown, const std::vector<Token>& printed,
                          const Allowance& allowance) {
  std::size_t next = 0;
  for (const Token& token : printed)
    if (next < shown.size() && agree(shown[next], token, allowance)) ++next;
  return next == shown.size();
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

/// The numbers below a head `seconds` belong to the machine, too.
inline void leave_out_seconds(const std::vector<std::string>& lines, std::vector<std::vector<Token>>& tokens) {
  constexpr std::size_t none = std::string::npos;
  std::size_t end = none;  // of the column
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool rule =
        lines[i].find("---") != std::string::npos && lines[i].find_first_not_of("- ") == std::string::npos;
    const std::size_t at = rule && i > 0 ? lines[i - 1].find("seconds") : none;
    if (rule) end = at == none ? none : at + 7;
    if (lines[i].find_first_not_of(' ') == none) end = none;
    if (end == none || rule) continue;
    std::size_t place = 0;
    for (Token& token : tokens[i]) {
      place = lines[i].find(token.text, place) + token.text.size();
      if (place == end && token.number) token.left_out = true;
    }
  }
}

/// What is wrong with a block of a page beside what its commands printed: the first line of it that was not printed,
/// in the order of the page. Empty: nothing.
inline std::string first_line_not_printed(const std::string& shown, const std::string& printed,
                                          const Allowance& allowance) {
  const std::vector<std::string> wanted = lines_of(shown), lines = lines_of(printed);
  if (allowance.words_only) {
    for (const std::string& line : wanted)
      for (const Token& token : tokens_of(line))
        if (token.text.find_first_of("0123456789") == std::string::npos &&
            printed.find(token.text) == std::string::npos)
          return token.text;
    return "";
  }
  const auto all_tokens = [](const std::vector<std::string>& from) {
    std::vector<std::vector<Token>> tokens;
    for (const std::string& line : from) tokens.push_back(tokens_of(line));
    leave_out_seconds(from, tokens);
    return tokens;
  };
  const std::vector<std::vector<Token>> wanted_tokens = all_tokens(wanted), tokens = all_tokens(lines);
  std::size_t next = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted_tokens[i].empty()) continue;
    while (next < lines.size() && !shows_part_of(wanted_tokens[i], tokens[next], allowance)) ++next;
    if (next++ >= lines.size()) return wanted[i];
  }
  return "";
}

}  // namespace throughtime::testing
