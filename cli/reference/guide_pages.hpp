// The pages of docs/guide, which the program carries, and how a terminal shows one.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace troupe::cli {

struct guide_page {
  std::string_view name;   ///< The topic: "judge" for docs/guide/judge.md.
  std::string_view title;  ///< The text of its first heading.
  std::string_view text;   ///< Markdown.
};

/// All pages but docs/guide/configure.md, which `configure_page` makes, in the order of reading. The texts live as long
/// as the program.
std::span<const guide_page> guide_pages();

/// Breaks one line of text into several, of which those after the first are indented by `more` columns.
using line_wrapper = std::function<std::string(const std::string& line, size_t more)>;
/// A page of Markdown as text for people: comments and the marks of links, headings and code blocks are removed, code
/// is indented by four columns, a table's row is its cells side by side. A link to another page of the guide is the
/// command that prints that page. With `wrap`, each paragraph is joined to one line and passed through it; code stays
/// as it is, so that it can be copied.
std::string page_text(std::string_view markdown, const line_wrapper& wrap = {});

}  // namespace troupe::cli
