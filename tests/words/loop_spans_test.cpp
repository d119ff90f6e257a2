#include "words/loop_spans.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("loops of 4 steps that began at state 3 begin at 3, 7, 11, ...") {
  const loop_span l{3, 4};
  for (int64_t step = 3; step < 20; ++step)
    CHECK(l.begins_at(step) == ((step - 3) % 4 == 0));
  CHECK(l.begin_of(9) == 7);
  CHECK(l.begin_of(11) == 11);
}

TEST_CASE("a loop without an end begins once") {
  const loop_span l{5, 0};
  CHECK(l.begins_at(5));
  CHECK_FALSE(l.begins_at(6));
  CHECK(l.begin_of(1000) == 5);
}

TEST_CASE("a length holds from where it was told, whatever was forgotten") {
  for (const int64_t forgotten : {0, 4, 9, 11}) {
    CAPTURE(forgotten);
    loop_spans all;
    all.begin({0, 5});
    all.add({10, 2});
    all.add({14, 100});
    all.forget(forgotten);
    for (int64_t step = forgotten; step < 10; ++step)
      CHECK(all.at(step) == loop_span{0, 5});
    for (int64_t step = 10; step < 14; ++step)
      CHECK(all.at(step) == loop_span{10, 2});
    CHECK(all.at(14) == loop_span{14, 100});
    CHECK(all.at(2000) == loop_span{14, 100});
    all.begin({20, 3});
    CHECK(all.at(23) == loop_span{20, 3});
  }
  CHECK(loop_spans{}.at(7) == loop_span{});
}

}  // namespace troupe::test
