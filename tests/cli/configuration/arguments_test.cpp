#include "cli/configuration/arguments.hpp"

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>

namespace troupe::cli {

namespace {

struct fake_command {
  std::string from, to, step;
  bool json = false;

  expected<std::optional<std::string>> parse(const std::vector<std::string>& arguments) {
    CLI::App app{"Moves things.", "troupe move"};
    app.add_option("FROM", from);
    app.add_option("TO", to);
    app.add_option("--step", step);
    app.add_flag("--json", json);
    return parse_arguments(app, "move", arguments);
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
  CHECK((*help)->find("Moves things.") != std::string::npos);
}

TEST_CASE("a flag that is unknown, a value that is missing and a word too many are told with what would be right") {
  fake_command c;
  CHECK(c.trouble({"a", "--stpe=3"}) == "unknown flag --stpe; did you mean --step?");
  CHECK(c.trouble({"--colour"}) == "unknown flag --colour");
  CHECK(c.trouble({"a", "b", "c"}) == "unexpected argument 'c': move takes FROM TO");
  CHECK(c.trouble({"--step"}).find("--step") != std::string::npos);
}

}  // namespace troupe::cli
