#include "ensemble/placement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace troupe::test {

namespace {

placement in_turns(bool drop_remainder) {
  return {.what = placement::kind::round_robin, .drop_remainder = drop_remainder};
}

/// The cell of a worker in the truth table: "101 T".
std::string cell(const placement& p, const worker_seat& seat) {
  std::string text;
  for (int64_t i = 0; i < seat.subnetworks; ++i)
    text += builds_subnetwork(p, seat, i) ? '1' : '0';
  text += ' ';
  text += builds_ensembles(p, seat) ? "E" : "";
  text += trains_subnetworks(p, seat) ? "T" : "";
  return text;
}

/// The row of `workers` workers, cells separated by commas.
std::string row(const placement& p, int64_t workers, int64_t subnetworks) {
  std::string text;
  for (int64_t w = 0; w < workers; ++w)
    text += (w > 0 ? ", " : "") + cell(p, {w, workers, subnetworks});
  return text;
}

struct table_row {
  int64_t workers, subnetworks;
  std::string kept, dropped;  ///< Without and with drop_remainder.
};

const std::vector<table_row> truth_table{
    {3, 1, "1 ET, 1 ET, 1 ET", "1 ET, 1 ET, 1 ET"},
    {1, 3, "111 ET", "111 ET"},
    {2, 3, "111 E, 111 T", "111 E, 100 T"},
    {2, 5, "11111 E, 11111 T", "11111 E, 10000 T"},
    {3, 3, "111 E, 101 T, 010 T", "111 E, 100 T, 010 T"},
    {4, 3, "111 E, 100 T, 010 T, 001 T", "111 E, 100 T, 010 T, 001 T"},
    {5, 3, "111 E, 100 T, 010 T, 001 T, 111 E", "111 E, 100 T, 010 T, 001 T, 111 E"},
    {6, 3, "111 E, 100 T, 010 T, 001 T, 111 E, 111 T", "111 E, 100 T, 010 T, 001 T, 111 E, 100 T"},
    {7, 3, "111 E, 100 T, 010 T, 001 T, 111 E, 101 T, 010 T", "111 E, 100 T, 010 T, 001 T, 111 E, 100 T, 010 T"},
    {8, 3, "111 E, 100 T, 010 T, 001 T, 111 E, 100 T, 010 T, 001 T",
     "111 E, 100 T, 010 T, 001 T, 111 E, 100 T, 010 T, 001 T"}};

/// "0-1 2 3": the servers of each subnetwork.
std::string servers_text(int64_t servers, int64_t subnetworks) {
  std::string text;
  for (int64_t i = 0; i < subnetworks; ++i) {
    const auto group = servers_of(in_turns(false), servers, subnetworks, i);
    text += (i > 0 ? " " : "") + std::to_string(group->first);
    if (group->count > 1)
      text += "-" + std::to_string(group->first + group->count - 1);
  }
  return text;
}

}  // namespace

TEST_CASE(
    "[ADA-22.5 placement] each worker builds and trains what the truth table says, with and without the remainder") {
  for (const auto& [workers, subnetworks, kept, dropped] : truth_table) {
    CHECK(row(in_turns(false), workers, subnetworks) == kept);
    CHECK(row(in_turns(true), workers, subnetworks) == dropped);
  }
}

TEST_CASE(
    "[ADA-22.5 placement] one to eight servers are divided among one, three and five subnetworks, the first groups "
    "larger") {
  const std::vector<std::vector<std::string>> wanted{// 1 subnetwork, 3, 5.
                                                     {"0", "0 0 0", "0 0 0 0 0"},
                                                     {"0-1", "0 1 0", "0 1 0 1 0"},
                                                     {"0-2", "0 1 2", "0 1 2 0 1"},
                                                     {"0-3", "0-1 2 3", "0 1 2 3 0"},
                                                     {"0-4", "0-1 2-3 4", "0 1 2 3 4"},
                                                     {"0-5", "0-1 2-3 4-5", "0-1 2 3 4 5"},
                                                     {"0-6", "0-2 3-4 5-6", "0-1 2-3 4 5 6"},
                                                     {"0-7", "0-2 3-5 6-7", "0-1 2-3 4-5 6 7"}};
  for (int64_t servers = 1; servers <= 8; ++servers) {
    const auto& texts = wanted[static_cast<size_t>(servers - 1)];
    CHECK(servers_text(servers, 1) == texts[0]);
    CHECK(servers_text(servers, 3) == texts[1]);
    CHECK(servers_text(servers, 5) == texts[2]);
  }
}

TEST_CASE(
    "[ADA-22.5 placement] a variable's server depends on its name alone, in whatever order variables are created") {
  using servers = std::vector<int64_t>;
  std::vector<std::string> names{"bar", "baz", "foo"};
  do {
    for (const auto& name : names) {
      const int64_t of_three = name == "foo" ? 2 : name == "bar" ? 0 : 1;
      const int64_t of_six = name == "foo" ? 2 : name == "bar" ? 3 : 4;
      CHECK(server_of(name, {0, 3}) == of_three);
      CHECK(server_of(name, {0, 6}) == of_six);
    }
  } while (std::next_permutation(names.begin(), names.end()));
  CHECK(servers{server_of("foo", {4, 3}), server_of("bar", {4, 3}), server_of("baz", {4, 3})} == servers{6, 4, 5});
  CHECK(server_of("foo", {5, 1}) == 5);
}

TEST_CASE("under replication every worker builds and trains everything, and no subnetwork has servers of its own") {
  for (int64_t w = 0; w < 5; ++w)
    CHECK(cell({}, {w, 5, 3}) == "111 ET");
  CHECK(untrained_subnetworks({}, 5, 3).empty());
  CHECK_FALSE(servers_of({}, 4, 3, 0));
  CHECK_FALSE(servers_of({.what = placement::kind::round_robin, .dedicate_parameter_servers = false}, 4, 3, 0));
  CHECK_FALSE(servers_of(in_turns(false), 0, 3, 0));
}

TEST_CASE(
    "with the remainder dropped, subnetworks for which there is no worker are known, also where one is lacking only") {
  using numbers = std::vector<int64_t>;
  CHECK(untrained_subnetworks(in_turns(true), 2, 5) == numbers{1, 2, 3, 4});
  CHECK(untrained_subnetworks(in_turns(true), 3, 3) == numbers{2});
  CHECK(untrained_subnetworks(in_turns(true), 4, 3).empty());
  CHECK(untrained_subnetworks(in_turns(true), 1, 3).empty());
  for (const auto& r : truth_table)
    CHECK(untrained_subnetworks(in_turns(false), r.workers, r.subnetworks).empty());
}

}  // namespace troupe::test
