// Scenarios: recipes as TOML files. The values in a scenario hold for all of its jobs; the seed draws the others.
//
//   title = "A host is cut off, and dies while it is"
//   timeless = false            # True: turns and messages take no time.
//   [job]
//   hosts = 2
//   [[run]]                     # If the file has runs, the seed draws none.
//   [[run.trouble]]
//   what = "cut"
//   place = "host/1"
//   lasts_ms = 5000
//
// recipe_fields.hpp lists the names.
#pragma once

#include "pipeline/random_faults/recipe.hpp"

#include <troupe/error.hpp>

namespace troupe::test::random_faults {

class scenario {
 public:
  scenario() = default;
  /// Fails with invalid_argument, which names the line, the key and the expected value.
  static expected<scenario> parse(const std::string& toml, const std::string& name);
  static expected<scenario> read(const std::string& path);

  const std::string& title() const noexcept { return title_; }
  recipe draw(uint64_t seed) const;

 private:
  std::string title_ = "drawn by the seed alone", name_, text_;
  bool timeless_ = false;
};

/// The recipe as a scenario that sets every field, so that a seed draws none.
std::string to_toml(recipe r, const std::string& title);

}  // namespace troupe::test::random_faults
