#include "cli/reference/guide_pages.hpp"

#include <regex>

namespace troupe::cli {

namespace {

/// A link to another page of the guide becomes the command that prints that page: "`troupe help data`". Pages in other
/// folders are not in the program.
std::string with_commands(std::string line) {
  static const std::regex page{R"(\[[a-z_]+\.md\]\(([a-z_]+)\.md(#[^)]*)?\))"};
  return std::regex_replace(line, page, "`troupe help $1`");
}

/// The line without the marks of links and bold words.
std::string plain(std::string line) {
  static const std::regex link{R"(\[([^\]]+)\]\([^)\s]+\))"}, bold{R"(\*\*([^*]+)\*\*)"};
  line = std::regex_replace(with_commands(std::move(line)), link, "$1");
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

enum class line_kind : uint8_t { blank, code, alone, prose };
struct shown_line {
  line_kind kind;
  std::string text;
};

std::vector<shown_line> shown_lines(std::string_view markdown) {
  std::vector<shown_line> lines;
  bool code = false, comment = false;
  for (size_t begin = 0; begin < markdown.size();) {
    const size_t end = std::min(markdown.find('\n', begin), markdown.size());
    const std::string_view line = markdown.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("```"))
      code = !code;
    else if (!code && (comment || line.starts_with("<!--")))
      comment = line.find("-->") == std::string_view::npos;
    else if (line.empty())
      lines.push_back({line_kind::blank, ""});
    else if (code)
      lines.push_back({line_kind::code, "    " + std::string{line}});
    else if (line.starts_with('#'))
      lines.push_back(
          {line_kind::alone, plain(std::string{line.substr(std::min(line.find_first_not_of("# "), line.size()))})});
    else if (!line.starts_with('|'))
      lines.push_back({line_kind::prose, plain(std::string{line})});
    else if (auto row = row_text(line); !row.empty())
      lines.push_back({line_kind::alone, std::move(row)});
  }
  return lines;
}

/// Whether the line is the first of an item of a list.
bool begins_item(const std::string& line) {
  static const std::regex item{R"(\s*([-*]|\d+\.) )"};
  return std::regex_search(line, item, std::regex_constants::match_continuous);
}

/// Joins the lines of each paragraph and of each item of a list.
std::vector<shown_line> joined_paragraphs(std::vector<shown_line> lines) {
  std::vector<shown_line> joined;
  for (auto& line : lines)
    if (!joined.empty() && joined.back().kind == line_kind::prose && line.kind == line_kind::prose
        && !begins_item(line.text))
      joined.back().text.append(" ").append(line.text, std::min(line.text.find_first_not_of(' '), line.text.size()));
    else
      joined.push_back(std::move(line));
  return joined;
}

}  // namespace

std::string page_text(std::string_view markdown, const line_wrapper& wrap) {
  auto lines = shown_lines(markdown);
  if (wrap)
    lines = joined_paragraphs(std::move(lines));
  std::string text;
  bool was_blank = true;
  for (const auto& [kind, line] : lines) {
    if (line.empty() && was_blank)
      continue;  // A comment between two blank lines leaves one of them.
    was_blank = line.empty();
    text.append(wrap && kind != line_kind::code ? wrap(line, begins_item(line) ? 2 : 0) : line).append("\n");
  }
  return text;
}

}  // namespace troupe::cli
