#include "cli/reference/guide_pages.hpp"

#include <regex>

namespace troupe::cli {

namespace {

/// The line without the marks of links and bold words.
std::string plain(std::string line) {
  static const std::regex link{R"(\[([^\]]+)\]\([^)\s]+\))"}, bold{R"(\*\*([^*]+)\*\*)"};
  line = std::regex_replace(line, link, "$1");
  line = std::regex_replace(line, bold, "$1");
  return line;
}

/// "| a | b |" as "a  b"; empty for the line below a table's head.
std::string row_text(std::string_view line) {
  if (line.find_first_not_of("|-: ") == std::string_view::npos)
    return "";
  std::string text;
  for (size_t begin = 1; begin < line.size();) {
    const size_t end = std::min(line.find(" |", begin), line.size());
    std::string_view cell = line.substr(begin, end - begin);
    cell.remove_prefix(std::min(cell.find_first_not_of(' '), cell.size()));
    if (!cell.empty())
      text.append(text.empty() ? "" : "  ").append(cell);
    begin = end + 2;
  }
  std::erase(text, '`');
  return plain(std::move(text));
}

}  // namespace

std::string page_text(std::string_view markdown) {
  std::string text;
  bool code = false, comment = false, was_blank = true;
  for (size_t begin = 0; begin < markdown.size();) {
    const size_t end = std::min(markdown.find('\n', begin), markdown.size());
    const std::string_view line = markdown.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("```")) {
      code = !code;
      continue;
    }
    if (!code && (comment || line.starts_with("<!--"))) {
      comment = line.find("-->") == std::string_view::npos;
      continue;
    }
    std::string shown;
    if (code)
      shown = line.empty() ? "" : "    " + std::string{line};
    else if (line.starts_with('#'))
      shown = plain(std::string{line.substr(line.find_first_not_of("# "))});
    else if (line.starts_with('|'))
      shown = row_text(line);
    else
      shown = plain(std::string{line});
    if (shown.empty() && (was_blank || line.starts_with('|')))
      continue;  // A comment between two blank lines leaves one of them.
    was_blank = shown.empty();
    text += shown + "\n";
  }
  return text;
}

}  // namespace troupe::cli
