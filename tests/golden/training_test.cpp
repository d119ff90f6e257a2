// Training gives, bit by bit, the results in tests/golden/training-x86-64-*.txt on every processor, with vectors of any
// width. Meson runs this with the widest vectors of the processor and, by TROUPE_VECTORS, with those of AVX2.
//
// A change of the arithmetic that is meant to change bits raises `numerics_version`; then, or for a new row, the file
// is made anew:
//   export TROUPE_WRITE_GOLDEN=tests/golden/training-x86-64-v3.txt
//   build/release/tests/golden/test_golden --no-skip -tc='write the golden*'
#include "compute/kernels/vectors.hpp"
#include "tests/golden/kept_lines.hpp"
#include "tests/golden/training_case.hpp"

#include <cstdlib>
#include <fstream>
#include <set>

namespace troupe {

using namespace test;

namespace {

void compare(const golden_lines& got) {
  static const auto golden = kept_lines("training-x86-64-" TROUPE_CPU_LEVEL ".txt");
  compare_to_kept(got.text, golden);
}

golden_lines of_optimizers() {
  golden_lines lines;
  for (const auto& o : golden_optimizers())
    train_with(lines, o);
  return lines;
}
golden_lines of_models() {
  golden_lines lines;
  train_everything<float>(lines, "every layer and function in float32", 200);
  train_everything<double>(lines, "every layer and function in float64", 20);
  return lines;
}
golden_lines of_beginnings() {
  golden_lines lines;
  draw_all<float>(lines, "float32");
  draw_all<double>(lines, "float64");
  follow_schedules(lines);
  return lines;
}

}  // namespace

TEST_CASE("200 steps with each optimizer come to the golden bits") {
  REQUIRE_MESSAGE(chosen_vectors(), (chosen_vectors() ? "" : to_text(chosen_vectors().error())));
  MESSAGE("vectors: " << to_string(*chosen_vectors()));
  std::set<size_t> rules;
  for (const auto& o : golden_optimizers())
    rules.insert(o.rule.index());
  CHECK(rules.size() == std::variant_size_v<update_rule>);
  compare(of_optimizers());
}

TEST_CASE("models of every layer and function come to the golden bits in both floating types") { compare(of_models()); }

TEST_CASE("initial values and rates are the golden ones, bit by bit") { compare(of_beginnings()); }

TEST_CASE("write the golden file of this CPU level" * doctest::skip()) {
  const char* to = std::getenv("TROUPE_WRITE_GOLDEN");
  REQUIRE(to);
  std::ofstream out{to};
  out << of_optimizers().text << of_models().text << of_beginnings().text;
  REQUIRE(out.flush());
}

}  // namespace troupe
