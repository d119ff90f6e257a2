#include "actors/chief/learning_rates.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace troupe::test {

TEST_CASE("a factor is for the updates from its step on, and those that are set for later steps are multiplied, too") {
  learning_rates r;
  CHECK(r.at(0) == 1);
  CHECK_FALSE(r.begin(10, 0.5));
  CHECK(r.at(9) == 1);
  CHECK(r.at(10) == 0.5);
  r.multiply(20, 0.5);
  CHECK(r.at(19) == 0.5);
  CHECK(r.at(20) == 0.25);
  const auto changed = r.multiply(15, 2);
  CHECK(changed == std::vector<std::pair<int64_t, double>>{{15, 1}, {20, 0.5}});
  CHECK(r.at(14) == 0.5);
  CHECK(r.says(15));
  CHECK_FALSE(r.says(16));
}

TEST_CASE("factors of updates that no save needs are forgotten, but for the one in force and those of a correction") {
  learning_rates r;
  r.begin(0, 1);
  for (const int64_t step : {10, 20, 30, 40})
    r.multiply(step, 0.5);
  r.forget(25);
  CHECK_FALSE(r.says(10));
  CHECK(r.says(20));
  CHECK(r.at(25) == 0.25);
  CHECK(r.at(40) == 0.0625);
  r.correct({30, 0});
  r.forget(45);
  CHECK(r.at(30) == 0.125);
  CHECK(r.take_correction({30, 0}));
  r.forget(45);
  CHECK_FALSE(r.says(30));
  CHECK(r.at(45) == 0.0625);
}

TEST_CASE("a rate is above 0 and finite in float32, also after all factors before") {
  learning_rates r;
  CHECK_FALSE(r.allows(0, 1e300));
  CHECK_FALSE(r.allows(0, 1e-300));
  r.begin(0, 1e-30);
  CHECK(r.allows(0, 1e60));
  CHECK_FALSE(r.allows(0, 1e-30));
  CHECK_FALSE(r.allows(0, 0));
  CHECK_FALSE(r.allows(0, -1));
  CHECK_FALSE(r.allows(0, std::nan("")));
  CHECK_FALSE(r.allows(0, HUGE_VAL));
}

TEST_CASE(
    "an attempt that begins at the state of the last fact that hooks have answered gets their factor, and no other one "
    "does") {
  learning_rates r;
  r.begin(0, 1);
  r.answered(7, 20, 0.5);
  r.answered(7, 20, 0.5);
  SUBCASE("its checkpoint does not know it") { CHECK(r.begin(20, 1) == 0.25); }
  SUBCASE("its checkpoint knows it") { CHECK_FALSE(r.begin(20, 0.25)); }
  SUBCASE("it begins earlier, and the fact is told again") { CHECK_FALSE(r.begin(10, 1)); }
  SUBCASE("a later fact was answered") {
    r.answered(8, 30, 0.1);
    CHECK_FALSE(r.begin(20, 1));
    CHECK(r.begin(30, 1) == 0.1);
  }
}

TEST_CASE(
    "a save whose books are older than a factor for its state is corrected once it is committed, in this attempt") {
  learning_rates r;
  r.begin(0, 1);
  r.correct({10});
  CHECK_FALSE(r.take_correction({20}));
  CHECK(r.take_correction({10}));
  CHECK_FALSE(r.take_correction({10}));
  r.correct({30});
  r.begin(0, 1);
  CHECK_FALSE(r.take_correction({30}));
}

}  // namespace troupe::test
