// Scenarios: recipes as TOML files. What a scenario says holds for all of its jobs; the seed draws the rest.
//
//   title = "A host is cut off, and dies while it is"
//   timeless = false            # True: turns and messages take no time.
//   [job]
//   hosts = 2
//   [[run]]                     # With any run, no other is drawn.
//   [[run.trouble]]
//   what = "cut"
//   place = "host/1"
//   lasts_ms = 5000
//
// The names are those of recipe_fields.hpp.
#pragma once

#include "pipeline/random_faults/recipe.hpp"

#include <troupe/error.hpp>

namespace troupe::test::random_faults {

class scenario {
 public:
  scenario() = default;
  /// invalid_argument names the line, the key and what would be right.
  static expected<scenario> parse(const std::string& toml, const std::string& name);
  static expected<scenario> read(const std::string& path);

  const std::string& title() const noexcept { return title_; }
  recipe draw(uint64_t seed) const;

 private:
  std::string title_ = "drawn by the seed alone", name_, text_;
  bool timeless_ = false;
};

/// A scenario that says all of this recipe, whatever the seed.
std::string to_toml(recipe r, const std::string& title);

}  // namespace troupe::test::random_faults
