#include "cli/reference/guide_pages.hpp"
#include "cli/terminal/columns.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace troupe::cli;

TEST_CASE("a page is shown without the marks of Markdown, and its code as it is") {
  CHECK(page_text("# A title\n\nSee [x.md](../x.md#a) and **this**.\n") == "A title\n\nSee x.md and this.\n");
  CHECK(page_text("```sh\n# [x](y)\n\n  b\n```\n") == "    # [x](y)\n\n      b\n");
}

TEST_CASE("a link to another page of the guide is the command that prints it") {
  CHECK(page_text("[data.md](data.md#a) and [first_model.md](first_model.md).")
        == "`troupe help data` and `troupe help first_model`.\n");
  CHECK(page_text("[serving.md](../serving.md), [a class](data.md)") == "serving.md, a class\n");
}

TEST_CASE("comments of a page are not shown, and leave no second blank line") {
  CHECK(page_text("a\n\n<!-- before: x -->\n\nb\n") == "a\n\nb\n");
  CHECK(page_text("a\n<!-- of two\nlines -->\nb") == "a\nb\n");
}

TEST_CASE("a row of a table is its cells side by side") {
  CHECK(page_text("| key | about |\n| --- | --- |\n| a | [b](c) d |\n") == "key  about\na  b d\n");
  CHECK(page_text("|") == "");
}

TEST_CASE("in a window, paragraphs and items of lists are joined and wrapped, and code and rows are not joined") {
  const auto shown = [](std::string_view markdown, size_t width) {
    return page_text(markdown, [width](const std::string& line, size_t more) { return wrapped(line, width, more); });
  };
  CHECK(shown("# A title\n\none two\nthree four\nfive\n", 14) == "A title\n\none two three\nfour five\n");
  CHECK(shown("- one\n  two\n- three\n1. four\n   five", 20) == "- one two\n- three\n1. four five\n");
  CHECK(shown("```\na long line of code\nand another\n```", 10) == "    a long line of code\n    and another\n");
  CHECK(shown("| a | b |\n| --- | --- |\n| c | d |\ntext\n", 20) == "a  b\nc  d\ntext\n");
  for (const auto& page : guide_pages())
    CHECK_MESSAGE(shown(page.text, 100'000).size() <= page_text(page.text).size(), page.name);
}

TEST_CASE("the program carries every page of the guide once, each with a title") {
  std::set<std::string_view> names;
  for (const auto& page : guide_pages()) {
    CHECK_MESSAGE(names.insert(page.name).second, page.name);
    CHECK_MESSAGE(page.text.starts_with("# " + std::string{page.title} + "\n"), page.name);
    CHECK_MESSAGE(page_text(page.text).find("<!--") == std::string::npos, page.name);
  }
  CHECK(names
        == std::set<std::string_view>{"builders", "data", "embed", "experiment", "first_model", "hooks", "host_calls",
                                      "judge", "model", "operate", "roles", "scale", "search", "session", "share",
                                      "test", "text", "threads", "watch"});
}
