#include "ensemble/loss_average.hpp"

#include "tests/support/refused.hpp"

#include <limits>

namespace troupe::test {

namespace {

std::vector<float> averages_of(float decay, std::initializer_list<float> values) {
  loss_average average;
  std::vector<float> all;
  for (const float v : values) {
    average.update(v, decay);
    all.push_back(average.value);
  }
  return all;
}

}  // namespace

TEST_CASE(
    "[ADA-22.2 moving average] the average of 1, .5 and .25 without the bias of its first value, for both decays") {
  const auto slow = averages_of(.999f, {1, .5f, .25f}), fast = averages_of(.9f, {1, .5f, .25f});
  CHECK(slow[0] == 1);
  CHECK(slow[1] == doctest::Approx(.750).epsilon(.0005));
  CHECK(slow[2] == doctest::Approx(.583).epsilon(.0005));
  CHECK(fast[0] == 1);
  CHECK(fast[1] == doctest::Approx(.7368).epsilon(.00005));
  CHECK(fast[2] == doctest::Approx(.5572).epsilon(.00005));
}

TEST_CASE("the average of one value is that value to the last bit") {
  for (const float v : {0.1f, 0.7f, 1e-30f, 3.14159274f, -2.5f})
    for (const float decay : {0.f, .5f, .9f, .99f, .999f})
      CHECK(averages_of(decay, {v})[0] == v);
}

TEST_CASE("an average of equal values stays near them, also after a thousand updates") {
  loss_average average;
  for (int i = 0; i < 1000; ++i)
    average.update(.3f, .99f);
  CHECK(average.value == doctest::Approx(.3));
  CHECK(average.count == 1000);
}

TEST_CASE("an average that has seen NaN is NaN from then on") {
  const auto all = averages_of(.9f, {1, std::numeric_limits<float>::quiet_NaN(), 1});
  CHECK(all[1] != all[1]);
  CHECK(all[2] != all[2]);
}

TEST_CASE("a decay with which the average would never change or not be defined is refused") {
  for (const float right : {0.f, .9f, .99999f})
    CHECK(check_loss_decay(right));
  for (const float wrong : {1.f, 1.5f, -.1f, std::numeric_limits<float>::quiet_NaN()})
    refused(check_loss_decay(wrong), errc::invalid_argument, "adanet_loss_decay must be in [0, 1), not");
}

}  // namespace troupe::test
