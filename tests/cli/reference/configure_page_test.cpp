#include "cli/reference/configure_page.hpp"

#include "cli/configuration/settings.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

namespace troupe::cli {

using test::has;

namespace {

std::string kept_page() {
  std::ifstream file{TROUPE_SOURCE_ROOT "/docs/guide/configure.md", std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The table row of a key, without the outer pipes.
std::string row(const std::string& page, const std::string& key) {
  const auto begin = page.find("| `" + key + "` |");
  REQUIRE_MESSAGE(begin != std::string::npos, key);
  return page.substr(begin + 2, page.find(" |\n", begin) - begin - 2);
}

}  // namespace

TEST_CASE("docs/guide/configure.md is what the tables of options say, byte for byte (./dev readme writes it)") {
  std::istringstream kept{kept_page()}, made{configure_page()};
  std::string a, b;
  for (int line = 1; std::getline(made, b); ++line) {  // Line by line, since one line says more than two pages.
    std::getline(kept, a);
    INFO("line ", line);
    REQUIRE(a == b);
  }
  CHECK(kept_page() == configure_page());
}

TEST_CASE("the page has every key once, with an effect, and every number with a range or a unit") {
  const auto page = configure_page();
  for (const auto& key : known_keys()) {
    const auto its = row(page, key.name);
    CHECK_MESSAGE(page.find("| `" + key.name + "` |", page.find(its)) == std::string::npos, key.name);
    CHECK_MESSAGE(!its.ends_with("–"), its);
    const bool number = !key.tables && key.kind != option_kind::text && key.kind != option_kind::texts
                        && key.kind != option_kind::boolean;
    CHECK_MESSAGE((!number || !range_text(key).empty()), its);
    CHECK_MESSAGE((key.kind != option_kind::boolean || range_text(key).starts_with("`true`, `false`")), its);
  }
}

TEST_CASE("a row has type and unit, default, range and effect, and no character of it is markup") {
  const auto page = configure_page();
  CHECK(row(page, "run.save_checkpoints_secs")
        == "`run.save_checkpoints_secs` | number, seconds | 600 | at least 0, `none` | or seconds");
  CHECK(row(page, "input.batch_size") == "`input.batch_size` | whole number | 128 | at least 1 | examples in a step");
  CHECK(row(page, "run.seed")
        == "`run.seed` | whole number | – | at least 0, `none` | of initial values, shuffles and dropout; none: 0");
  CHECK(has(row(page, "stop_early[].threshold"), "number, the metric's unit | – | finite, `none` |"));
  CHECK(has(row(page, "evaluate.name"), "eval_\\<name\\>"));
  CHECK(has(row(page, "model.layers"), "| list of tables | – | – |"));
  CHECK(has(row(page, "optimizer.name"), "`sgd`"));
  CHECK(has(row(page, "evaluate.when"), "`never`"));
}

TEST_CASE("what the page shows of --set is accepted") {
  const auto page = configure_page();
  const std::regex shown{"--set ([a-z][^=`]*=[^`]+)`"};
  int examples = 0;
  for (std::sregex_iterator i{page.begin(), page.end(), shown}, end; i != end; ++i, ++examples) {
    const auto given = parse_assignment((*i)[1].str());
    REQUIRE(given);
    const auto merged = settings::merge({}, {*given}, {});
    CHECK_MESSAGE(merged, given->key);
  }
  CHECK(examples == 3);
}

}  // namespace troupe::cli
