// Checks tables of docs/ whose cells are outcomes of simulated jobs.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>

namespace troupe::test {

/// The outcome where a node is not there at a moment.
inline constexpr auto no_such_node = "–";

/// The different outcomes of so many seeds as a cell: " goes on or recovers |". What comes of a node is shown where it
/// is there in any of them.
inline std::string cell_of(const std::function<std::string(uint64_t seed)>& outcome, uint64_t seeds = 6) {
  std::set<std::string> seen;
  for (uint64_t seed = 1; seed <= seeds; ++seed)
    seen.insert(outcome(seed));
  if (seen.size() > 1)
    seen.erase(no_such_node);
  std::string cell;
  for (const auto& s : seen)
    cell += (cell.empty() ? " " : " or ") + s;
  return cell + " |";
}

inline void check_page(const std::string& file, const std::string& table) {
  std::ifstream in{TROUPE_SOURCE_DIR "/" + file};
  const std::string page{std::istreambuf_iterator<char>{in}, {}};
  CHECK_MESSAGE(page.find(table) != std::string::npos, file << " has another table than:\n" << table);
}

}  // namespace troupe::test
