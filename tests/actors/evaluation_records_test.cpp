#include "actors/evaluation_records.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("the checkpoint of an evaluation is told as text, whatever bytes its path has") {
  const auto records = evaluation_records({.id = {3}, .checkpoint = "/runs/\xff/model.ckpt-3"});
  REQUIRE(records.size() == 2);
  CHECK(records[1].values.at(0).text == "/runs/\xef\xbf\xbd/model.ckpt-3");
}

}  // namespace troupe::test
