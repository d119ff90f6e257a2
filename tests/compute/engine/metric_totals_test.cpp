#include "compute/engine/metric_totals.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

using kind = program_output::kind;

TEST_CASE("the loss is the mean over batches, and a metric the ratio of its sums") {
  metric_totals totals{{{}, {kind::metric_total, "accuracy"}, {kind::metric_weight, "accuracy"}}};
  CHECK(totals.results() == std::map<std::string, double>{{"loss", 0}, {"accuracy", 0}});
  totals.add(std::vector{tensor::scalar(1.0f), tensor::scalar(3.0f), tensor::scalar(4.0f)});
  totals.add(std::vector{tensor::scalar(2.0f), tensor::scalar(0.0f), tensor::scalar(2.0f)});
  CHECK(totals.batches() == 2);
  CHECK(totals.results() == std::map<std::string, double>{{"loss", 1.5}, {"accuracy", 0.5}});
  totals.clear();
  CHECK(totals.results().at("loss") == 0);
}

TEST_CASE("a metric may have a name that looks like a part of another one") {
  metric_totals totals{{{kind::metric_total, "a", 0}, {kind::metric_weight, "a", 0}, {kind::metric_total, "a/total", 1}, {kind::metric_weight, "a/total", 1},
                        {kind::prediction, "loss"}}};
  totals.add(std::vector{tensor::scalar(1.0f), tensor::scalar(2.0f), tensor::scalar(3.0f), tensor::scalar(4.0f), tensor::scalar(9.0f)});
  CHECK(totals.results() == std::map<std::string, double>{{"a", 0.5}, {"a/total", 0.75}});
}

}  // namespace troupe::test
