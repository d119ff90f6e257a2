#include "compute/engine/metric_totals.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace troupe::test {

namespace {

using kind = program_output::kind;

program_output sum_of(const std::string& name, int32_t index, int32_t part, dtype type = dtype::float64,
                      const shape& dims = {}) {
  return {kind::metric_sum, name, index, part, type, dims};
}

metric_value ratio(std::span<const tensor> totals) {
  const double weight = totals[1].as<double>()[0];
  return weight != 0 ? totals[0].as<double>()[0] / weight : 0.0;
}

std::vector<tensor> numbers(std::initializer_list<double> values) {
  std::vector<tensor> all;
  for (const double x : values)
    all.push_back(tensor::scalar(x));
  return all;
}

}  // namespace

TEST_CASE("the loss is the mean over batches, and a metric the function of the totals of its sums") {
  metric_totals totals{{{}, sum_of("accuracy", 0, 0, dtype::float32), sum_of("accuracy", 0, 1, dtype::float32)},
                       {ratio}};
  CHECK(totals.results()->numbers == std::map<std::string, double>{{"loss", 0}, {"accuracy", 0}});
  totals.add(std::vector{tensor::scalar(1.0f), tensor::scalar(3.0f), tensor::scalar(4.0f)});
  totals.add(std::vector{tensor::scalar(2.0f), tensor::scalar(0.0f), tensor::scalar(2.0f)});
  CHECK(totals.batches() == 2);
  CHECK(totals.results()->numbers == std::map<std::string, double>{{"loss", 1.5}, {"accuracy", 0.5}});
  totals.clear();
  CHECK(totals.results()->numbers.at("loss") == 0);
}

TEST_CASE("a metric may have a name that looks like a part of another one") {
  metric_totals totals{
      {sum_of("a", 0, 0), sum_of("a", 0, 1), sum_of("a/0", 1, 0), sum_of("a/0", 1, 1), {kind::prediction, "loss"}},
      {ratio, ratio}};
  totals.add(numbers({1, 2, 3, 4, 9}));
  CHECK(totals.results()->numbers == std::map<std::string, double>{{"a", 0.5}, {"a/0", 0.75}});
}

TEST_CASE("sums may be arrays, and so may what a metric comes to") {
  const auto both = [](std::span<const tensor> totals) -> metric_value {
    CHECK(totals.size() == 2);
    return totals[1];
  };
  metric_totals totals{{sum_of("table", 0, 0), sum_of("table", 0, 1, dtype::float64, {2, 2})}, {both}};
  for (int batch = 0; batch < 3; ++batch)
    totals.add(std::vector{tensor::scalar(1.0), tensor::of<double>({2, 2}, {1, 2, 3, 4})});
  const auto results = totals.results();
  CHECK(results->numbers.empty());
  CHECK(results->arrays.at("table") == tensor::of<double>({2, 2}, {3, 6, 9, 12}));
}

TEST_CASE("totals do not depend on how batches are divided among parts, however much their sizes differ") {
  const auto total_of = [](int parts) {
    std::vector<metric_totals> each;
    for (int p = 0; p < parts; ++p)
      each.emplace_back(std::vector<program_output>{sum_of("x", 0, 0), sum_of("x", 0, 1)}, metric_functions{ratio});
    for (int batch = 0; batch < 4000; ++batch)
      each[static_cast<size_t>(batch % parts)].add(numbers({batch < 2000 ? 1e12 + 0.1 : -1e12, 1}));
    for (int p = 1; p < parts; ++p)
      each[0].add(each[static_cast<size_t>(p)]);
    CHECK(each[0].batches() == 4000);
    return each[0].totals();
  };
  const auto whole = total_of(1);
  CHECK(whole[1].as<double>()[0] == 4000);
  for (const int parts : {2, 4, 7}) {
    CHECK(total_of(parts)[1] == whole[1]);
    CHECK(std::abs(total_of(parts)[0].as<double>()[0] - whole[0].as<double>()[0]) <= 1e-12 * 4e15);
  }
  // An ordinary sum would round to multiples of 0.25 on the way.
  CHECK(whole[0].as<double>()[0] == doctest::Approx(2000 * ((1e12 + 0.1) - 1e12)).epsilon(1e-9));
}

TEST_CASE("what is not finite stays in a total as in an ordinary sum") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  metric_totals totals{{sum_of("x", 0, 0), sum_of("x", 0, 1)}, {ratio}};
  totals.add(numbers({inf, 1}));
  totals.add(numbers({1, 1}));
  CHECK(totals.results()->numbers.at("x") == inf);
  totals.add(numbers({-inf, 1}));
  CHECK(std::isnan(totals.results()->numbers.at("x")));
}

TEST_CASE("a function that throws, and an array of another dtype, are errors that name the metric") {
  metric_totals throws{{sum_of("mine", 0, 0)},
                       {[](std::span<const tensor>) -> metric_value { throw std::runtime_error{"no luck"}; }}};
  CHECK(throws.results().error().category == errc::state);
  CHECK(throws.results().error().message == "an exception left metric 'mine': no luck");
  metric_totals other{{sum_of("mine", 0, 0)}, {[](std::span<const tensor>) -> metric_value {
                        return tensor::of<float>({2}, {1, 2});
                      }}};
  CHECK(other.results().error().category == errc::invalid_argument);
  CHECK(
      other.results().error().message
      == "metric 'mine' must come to a number or to a float64 array of at most 4194304 elements, not to float32 of 2");
}

}  // namespace troupe::test
