#include "cli/configuration/arguments.hpp"

#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::cli {

using test::has;

namespace {

struct fake_command {
  std::string from, to;
  std::optional<std::string> step;
  std::vector<std::string> ways;
  bool json = false;

  expected<std::optional<std::string>> parse(const std::vector<std::string>& arguments) {
    command_arguments known{"move", "Moves things.", "It is quick."};
    known.word("FROM", from, "whence");
    known.word("TO", to, "whither");
    known.value("--step", "N", step, "which one");
    known.values("--way", "NAME", ways, "by what");
    known.flag("--json", json, "one object");
    return known.read(arguments);
  }
  std::string trouble(const std::vector<std::string>& arguments) {
    const auto help = parse(arguments);
    REQUIRE_FALSE(help);
    CHECK(help.error().category == errc::invalid_argument);
    CHECK(help.error().notes == std::vector<std::string>{"troupe move --help lists what it takes"});
    return help.error().message;
  }
};

}  // namespace

TEST_CASE("arguments are read in the order in which they are given") {
  fake_command c;
  const auto help = c.parse({"a", "--step", "3", "b", "--json"});
  REQUIRE(help);
  CHECK_FALSE(*help);
  CHECK(c.from == "a");
  CHECK(c.to == "b");
  CHECK(c.step == "3");
  CHECK(c.json);
}

TEST_CASE("help that is asked for is a text and no error, whatever else is wrong") {
  fake_command c;
  const auto help = c.parse({"--stpe", "--help"});
  REQUIRE(help);
  REQUIRE(*help);
  for (const char* part : {"Moves things.", "troupe move", "FROM", "whither", "--step N", "by what", "It is quick."})
    CHECK_MESSAGE((*help)->find(part) != std::string::npos, part);
}

TEST_CASE(
    "of a value that is given twice the last one counts, several are kept in their order, and an empty one is given") {
  fake_command c;
  REQUIRE(c.parse({"--step", "3", "--way", "road", "--step=4", "--way", "rail", "a"}));
  CHECK(c.step == "4");
  CHECK(c.ways == std::vector<std::string>{"road", "rail"});
  CHECK(c.from == "a");
  fake_command empty;
  REQUIRE(empty.parse({"--step", ""}));
  CHECK(empty.step == "");
  CHECK_FALSE(fake_command{}.step);
}

TEST_CASE("a flag that is unknown, a value that is missing and a word too many are told with what would be right") {
  fake_command c;
  CHECK(c.trouble({"a", "--stpe=3"}) == "unknown flag --stpe; did you mean --step?");
  CHECK(c.trouble({"--colour"}) == "unknown flag --colour");
  CHECK(c.trouble({"a", "b", "c"}) == "unexpected argument 'c': move takes FROM TO");
  CHECK(has(c.trouble({"--step"}), "--step"));
}

}  // namespace troupe::cli
