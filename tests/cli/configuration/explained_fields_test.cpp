#include "cli/configuration/explained_fields.hpp"

#include <troupe/options/run_config_fields.hpp>

#include <doctest/doctest.h>

namespace troupe {

namespace cli {

struct no_text {
  bool on = false;
};
struct no_range {
  double weight = 0;
};
struct no_range_in_a_list {
  std::optional<std::vector<int64_t>> sizes = {};
};
struct a_unit {
  double wait_secs = 0;
};
struct a_range {
  std::optional<double> weight = 0;
};
struct no_number {
  std::string name = {};
  uint64_t seed = 0;
};

}  // namespace cli

template <>
struct option_fields<cli::no_text> {
  static constexpr std::tuple all{option_field{"on", &cli::no_text::on, ""}};
};
template <>
struct option_fields<cli::no_range> {
  static constexpr std::tuple all{option_field{"weight", &cli::no_range::weight, "its factor"}};
};
template <>
struct option_fields<cli::no_range_in_a_list> {
  static constexpr std::tuple all{option_field{"sizes", &cli::no_range_in_a_list::sizes, "its sizes"}};
};
template <>
struct option_fields<cli::a_unit> {
  static constexpr std::tuple all{option_field{"wait_secs", &cli::a_unit::wait_secs, "how long"}};
};
template <>
struct option_fields<cli::a_range> {
  static constexpr std::tuple all{
      option_field{"weight", &cli::a_range::weight, "its factor", field_range::at_least(0)}};
};
template <>
struct option_fields<cli::no_number> {
  static constexpr std::tuple all{option_field{"name", &cli::no_number::name, "what it is called"},
                                  option_field{"seed", &cli::no_number::seed, "of its numbers"}};
};

namespace cli {

TEST_CASE("a table is refused for a field without a text and for a number without a range or a unit") {
  CHECK_FALSE(has_explained_fields<no_text>());
  CHECK_FALSE(has_explained_fields<no_range>());
  CHECK_FALSE(has_explained_fields<no_range_in_a_list>());
  CHECK(has_explained_fields<a_unit>());
  CHECK(has_explained_fields<a_range>());
  CHECK(has_explained_fields<no_number>());
  static_assert(has_explained_fields<run_config>());
}

TEST_CASE("the end of a name is its unit") {
  CHECK(unit_of("evaluate.throttle_secs") == "seconds");
  CHECK(unit_of("keep_checkpoint_every_n_hours") == "hours");
  CHECK(unit_of("run.save_summary_steps") == "steps");
  CHECK(unit_of("evaluate.steps") == "");  // Batches, not steps.
}

}  // namespace cli

}  // namespace troupe
