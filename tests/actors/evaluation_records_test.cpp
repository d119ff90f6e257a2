#include "actors/evaluation_records.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("the checkpoint of an evaluation is told as text, whatever bytes its path has") {
  const auto records = evaluation_records({.id = {3}, .checkpoint = "/runs/\xff/model.ckpt-3"});
  REQUIRE(records.size() == 2);
  CHECK(records[1].values.at(0).text == "/runs/\xef\xbf\xbd/model.ckpt-3");
}

TEST_CASE("what an evaluation finds out about parts of its model is recorded in their directories, by plain names") {
  const evaluated x{.id = {3},
                    .metrics = {{"loss", 1}, {"a/loss", 2}, {"a/b/loss", 3}, {"ab/loss", 4}, {"global_step", 3}},
                    .arrays = {{"a/counts", tensor::of<double>({2}, {1, 2})}}};
  const auto records = evaluation_records(
      x, {{"a", "subnetwork/a"}, {"a/b", "ensemble/a/b", "| a | b |"}, {"c", "subnetwork/c"}}, "| a |");
  REQUIRE(records.size() == 1);
  const auto& r = records[0];
  const auto tags = [](const std::vector<summary_value>& values) {
    std::vector<std::string> all;
    for (const auto& v : values)
      all.push_back(v.tag);
    return all;
  };
  using texts = std::vector<std::string>;
  CHECK(tags(r.values) == texts{"ab/loss", "loss", "architecture/adanet/ensembles"});
  CHECK(r.values.back().text == "| a |");
  REQUIRE_MESSAGE(r.elsewhere.size() == 2, "nothing is known of c");
  CHECK(r.elsewhere[0].directory == "subnetwork/a");
  CHECK(tags(r.elsewhere[0].values) == texts{"loss", "counts"});
  CHECK(r.elsewhere[1].directory == "ensemble/a/b");
  CHECK(tags(r.elsewhere[1].values) == texts{"loss", "architecture/adanet/ensembles"});
  CHECK(r.elsewhere[1].values[0].scalar == 3);
  CHECK(r.elsewhere[1].values[1].text == "| a | b |");
}

}  // namespace troupe::test
