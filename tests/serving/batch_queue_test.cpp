#include "serving/batch_queue.hpp"

#include <doctest/doctest.h>

namespace troupe {

namespace {

using namespace std::chrono_literals;
using ids = std::vector<uint64_t>;

}  // namespace

TEST_CASE("without a delay whoever waits is due at once, and all that fit go together in their order") {
  batch_queue queue{{.rows_max = 8}};
  CHECK_FALSE(queue.is_due(0ns));
  CHECK_FALSE(queue.due_at());
  CHECK(queue.push(1, 3, 5ms));
  CHECK(queue.is_due(5ms));
  CHECK(queue.push(2, 4, 6ms));
  CHECK(queue.push(3, 2, 6ms));
  CHECK(queue.rows() == 9);
  CHECK(queue.oldest() == 1);
  CHECK(queue.take() == ids{1, 2});
  CHECK(queue.rows() == 2);
  CHECK(queue.take() == ids{3});
  CHECK(queue.requests() == 0);
  CHECK_FALSE(queue.oldest());
}

TEST_CASE(
    "a batch waits for others until it is full or its oldest request has waited for the delay, not a moment longer") {
  batch_queue queue{{.rows_max = 4, .delay_max = 10ms}};
  queue.push(1, 1, 100ms);
  CHECK_FALSE(queue.is_due(109ms));
  CHECK(queue.due_at() == 110ms);
  queue.push(2, 1, 109ms);
  CHECK(queue.due_at() == 110ms);  // A later request does not restart the delay.
  CHECK(queue.is_due(110ms));
  queue.push(3, 2, 109ms);
  CHECK(queue.is_due(109ms));
  CHECK(queue.due_at() == 100ms);
  CHECK(queue.take() == ids{1, 2, 3});
}

TEST_CASE("a request of more rows than a batch has is one by itself, and none overtakes another") {
  batch_queue queue{{.rows_max = 4}};
  queue.push(1, 2, 0ns);
  queue.push(2, 9, 0ns);
  queue.push(3, 1, 0ns);
  CHECK(queue.take() == ids{1});
  CHECK(queue.take() == ids{2});
  CHECK(queue.take() == ids{3});
}

TEST_CASE("no more requests wait than may, and one that gives up leaves room") {
  batch_queue queue{{.requests_max = 2}};
  CHECK(queue.push(1, 5, 0ns));
  CHECK(queue.push(2, 6, 0ns));
  CHECK_FALSE(queue.push(3, 1, 0ns));
  CHECK(queue.remove(1));
  CHECK_FALSE(queue.remove(1));
  CHECK(queue.rows() == 6);
  CHECK(queue.push(3, 1, 0ns));
  CHECK(queue.take() == ids{2, 3});
}

}  // namespace troupe
