// The errors of a replica at a step that is not finite.
#include "actors/steps/replica.hpp"
#include "support/replica_fixture.hpp"

namespace troupe::test {

TEST_CASE_FIXTURE(replica_alone,
                  "with debug_numerics a step that is not finite is searched in the state before it, and the error "
                  "says what was found") {
  options.debug_numerics = true;
  engine->before_step = [](int64_t step) { return step == 2 ? step_status::not_finite : step_status::ok; };
  engine->fault = numeric_fault{
      .name = "layer/log", .value = "nan at [3]", .details = {"layer/log is log at model.cpp:12"}};
  SUBCASE("an operation") {
    start();
    feed(0, 5);
    grant(10);
    CHECK(engine->searched == std::vector<std::pair<int64_t, int>>{{2, 0}});
    CHECK(out.last<stream_end>().cause
          == error{errc::nan_loss,
                   "the loss is not finite; the first operation with such a result is layer/log: nan at [3]",
                   {"layer/log is log at model.cpp:12"},
                   "replica/0",
                   2});
  }
  SUBCASE("in the other arena, where a snapshot holds the first") {
    start();
    feed(0, 5);
    grant(10, {{1, mark_snapshot}});
    CHECK(engine->searched == std::vector<std::pair<int64_t, int>>{{2, 1}});
  }
  SUBCASE("a row, counted in the batch of all replicas") {
    engine->fault = numeric_fault{.what = numeric_fault::kind::feed, .name = "x", .value = "nan", .row = 1};
    start();
    tell(worker, toy_block(0, 5, 1, 1));
    grant(10);
    CHECK(out.last<stream_end>().cause.message == "the loss is not finite; row 2 of the batch has nan in component x");
  }
  SUBCASE("a variable, with the update that made it so") {
    engine->fault = numeric_fault{
        .what = numeric_fault::kind::variable, .name = "w", .value = "inf at [1]", .updated = true};
    start();
    feed(0, 5);
    grant(10);
    const auto& cause = out.last<stream_end>().cause;
    CHECK(cause.message
          == "the loss is not finite; variable w has inf at [1], which became so in the update of step 1");
    REQUIRE(cause.notes.size() == 1);
    CHECK(cause.notes[0].starts_with("the gradient of that update was finite"));
  }
  SUBCASE("a variable that no update of this run made so") {
    engine->before_step = [](int64_t) { return step_status::not_finite; };
    engine->fault = numeric_fault{
        .what = numeric_fault::kind::variable, .name = "w", .value = "inf at [1]", .updated = true};
    start();
    feed(0, 5);
    grant(10);
    CHECK(out.last<stream_end>().cause.message
          == "the loss is not finite; variable w has inf at [1] since before the first step of this run");
  }
  SUBCASE("nothing") {
    engine->fault.reset();
    start();
    feed(0, 5);
    grant(10);
    CHECK(out.last<stream_end>().cause.message == "the loss is not finite");
    CHECK(out.last<stream_end>().cause.notes.size() == 1);
  }
  CHECK(out.last<stream_end>().cause.category == errc::nan_loss);
}

TEST_CASE_FIXTURE(replica_alone, "with debug_numerics a gradient that is not finite is searched, too") {
  options.debug_numerics = true;
  engine->fault = numeric_fault{.name = "gradients/div", .value = "inf"};
  start();
  grant(10);
  tell(worker, block{1, 0_edge, 0, 1, 0, 2, {tensor::of<float>({2}, {INFINITY, 0})}});
  CHECK(out.last<stream_end>().cause.message
        == "the gradient is not finite; the first operation with such a result is gradients/div: inf");
}

}  // namespace troupe::test
