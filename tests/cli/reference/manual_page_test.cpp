#include "cli/reference/manual_page.hpp"

#include "cli/commands/commands.hpp"
#include "cli/configuration/keys.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

namespace troupe::cli {

using test::has;

namespace {

std::string in_roff(std::string text) {
  for (size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 2))
    text.insert(at, "\\");
  return text;
}

}  // namespace

TEST_CASE("the manual page has every command with its flags, and every key with type, range and default") {
  const auto page = manual_page(describe_commands());
  CHECK(page.starts_with(".TH TROUPE 1 \"\" \"troupe " TROUPE_VERSION "\""));
  for (const auto& command : describe_commands()) {
    const auto begin = page.find(".SS \\fBtroupe " + command.name + "\\fR");
    REQUIRE_MESSAGE(begin != std::string::npos, command.name);
    const auto section = page.substr(begin, page.find("\n.S", begin + 1) - begin);
    for (const auto& flag : command.flags)
      CHECK_MESSAGE(has(section, ".TP\n\\fB" + in_roff(flag.name) + "\\fR"), command.name);
  }
  for (const auto& key : known_keys())
    CHECK_MESSAGE(has(page, ".TP\n\\fB" + key.name + "\\fR\n"), key.name);
  CHECK(has(page, ".TP\n\\fBinput.batch_size\\fR\nexamples in a step (whole number; at least 1; default 128)\n"));
}

TEST_CASE("a line of a text is no request, a backslash none either, and examples keep their lines") {
  const command_description odd{
      .name = "odd",
      .about = ".so it begins",
      .usage = "\nA paragraph\nof two lines.\n'quoted\n\nExamples:\n  troupe odd \\n\n  troupe odd --twice\n",
      .words = {},
      .flags = {}};
  const auto page = manual_page({odd});
  const auto section = page.substr(page.find(".SS \\fBtroupe odd"),
                                   page.find(".SH CONFIGURATION") - page.find(".SS \\fBtroupe odd"));
  CHECK(section == ".SS \\fBtroupe odd\\fR [\\fIFLAG\\fR...]\n\\&.so it begins\n.PP\nA paragraph\nof two "
                   "lines.\n\\&'quoted\n"
                   ".PP\nExamples:\n.nf\n  troupe odd \\en\n  troupe odd \\-\\-twice\n.fi\n");
  std::istringstream lines{manual_page(describe_commands())};
  for (std::string line; std::getline(lines, line);)
    CHECK_MESSAGE((!line.starts_with('.') || line.starts_with(".S") || line.starts_with(".T") || line.starts_with(".P")
                   || line == ".nf" || line == ".fi" || line == ".br" || line.starts_with(".B ")
                   || line.starts_with(".I ") || line.starts_with(".RI ")),
                  line);
}

}  // namespace troupe::cli
