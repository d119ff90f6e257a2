#include "actors/steps/reducer.hpp"

#include "support/simulation.hpp"

#include <troupe/graph.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

struct reducer_of_four : simulation {
  std::shared_ptr<parameter_layout> layout;
  std::vector<recorder<gradient_sum, all_applied>> replicas;
  reducer_actor sums;

  reducer_of_four() {
    graph g;
    g.variable({.name = "v", .dims = {2}});
    layout = std::make_shared<parameter_layout>(*parameter_layout::of(g, gradient_descent{}));
    sums = spawn(reducer,
                 reducer_options{.sums = std::make_shared<gradient_reduction>(*gradient_reduction::plan(layout, 4))});
    for (int r = 0; r < 4; ++r)
      replicas.push_back(record<gradient_sum, all_applied>());
  }
  tensor gradient(float value) {
    std::vector<float> all(static_cast<size_t>(layout->gradient_bytes()) / 4);
    all[0] = value;
    all[1] = 1;
    return tensor::copy_of(dtype::uint8, {layout->gradient_bytes()}, std::as_bytes(std::span{all}));
  }
  void part(int32_t r, float value, int64_t step = 0, int32_t attempt = 1) {
    tell_as(replicas[static_cast<size_t>(r)].handle(), sums,
            gradient_part{attempt, step, r, step_status::ok, gradient(value), {}});
  }
  void part(int32_t r, step_status status, error cause = {}) {
    tell_as(replicas[static_cast<size_t>(r)].handle(), sums, gradient_part{1, 0, r, status, {}, std::move(cause)});
  }
  void retired_part(int32_t r, int64_t step, step_outcome made = {}) {
    tell_as(replicas[static_cast<size_t>(r)].handle(), sums,
            gradient_part{1, step, r, made.status, {}, std::move(made.cause), true});
  }
  void done(int32_t r, int64_t step = 0) {
    tell_as(replicas[static_cast<size_t>(r)].handle(), sums, applied{1, step, r});
  }
  static float first(const gradient_sum& s) { return *reinterpret_cast<const float*>(s.gradient.data()); }
};

}  // namespace

TEST_CASE_FIXTURE(reducer_of_four, "gradients are added by the fixed pairwise tree, whatever order they come in") {
  const float v[] = {1e8f, 3, -1e8f, 5};
  const float tree = (v[0] + v[1]) + (v[2] + v[3]);
  REQUIRE(tree != ((v[0] + v[1]) + v[2]) + v[3]);
  for (int32_t r : {2, 0, 3})
    part(r, v[r]);
  for (auto& r : replicas)
    CHECK_MESSAGE(r.count<gradient_sum>() == 0, "it waits for all");
  part(1, v[1]);
  for (auto& r : replicas) {
    REQUIRE(r.count<gradient_sum>() == 1);
    CHECK(first(r.last<gradient_sum>()) == tree);
    CHECK(reinterpret_cast<const float*>(r.last<gradient_sum>().gradient.data())[1] == 4);
    CHECK(r.last<gradient_sum>().status == step_status::ok);
    CHECK(r.last<gradient_sum>().step == 0);
    CHECK(r.last<gradient_sum>().attempt == 1);
  }
}

TEST_CASE_FIXTURE(reducer_of_four, "a repeated part counts once") {
  for (int i = 0; i < 5; ++i)
    part(0, 1);
  part(1, 1);
  part(2, 1);
  CHECK(replicas[0].count<gradient_sum>() == 0);
  part(3, 1);
  REQUIRE(replicas[0].count<gradient_sum>() == 1);
  CHECK(first(replicas[0].last<gradient_sum>()) == 4);
}

TEST_CASE_FIXTURE(reducer_of_four, "after a halt it says so, adds nothing of that attempt, and begins the next one") {
  auto chief = record<halted>();
  for (int32_t r : {0, 1, 2})
    part(r, 1);
  tell_as(chief.handle(), sums, halt{1});
  REQUIRE(chief.count<halted>() == 1);
  CHECK(chief.last<halted>().attempt == 1);
  for (int32_t r : {0, 1, 2, 3}) {
    part(r, 1);
    part(r, 1, 1);
  }
  for (int32_t r : {0, 1, 2, 3}) {
    CHECK(replicas[static_cast<size_t>(r)].count<gradient_sum>() == 0);
    part(r, 2, 0, 2);
  }
  REQUIRE(replicas[0].count<gradient_sum>() == 1);
  CHECK(replicas[0].last<gradient_sum>().attempt == 2);
  CHECK(first(replicas[0].last<gradient_sum>()) == 8);
}

TEST_CASE_FIXTURE(reducer_of_four, "parts of steps and attempts that have passed are dropped") {
  for (int32_t r : {0, 1, 2, 3})
    part(r, 1, 0, 2);
  for (int32_t r : {0, 1, 2, 3})
    part(r, 2, 1, 2);
  part(0, 9, 0, 2);
  for (int32_t r : {0, 1, 2, 3})
    part(r, 9, 7, 1);
  CHECK(replicas[0].count<gradient_sum>() == 2);
  SUBCASE("a new attempt begins wherever it says") {
    for (int32_t r : {0, 1, 2, 3})
      part(r, 3, 0, 3);
    REQUIRE(replicas[0].count<gradient_sum>() == 3);
    CHECK(first(replicas[0].last<gradient_sum>()) == 12);
  }
}

TEST_CASE_FIXTURE(reducer_of_four, "a step is applied everywhere when every replica has said so") {
  for (int32_t r : {0, 1, 2, 3})
    part(r, 1);
  for (int32_t r : {3, 1, 0, 0, 1})
    done(r);
  done(2, 5);
  CHECK(replicas[0].count<all_applied>() == 0);
  done(2);
  for (auto& r : replicas) {
    REQUIRE(r.count<all_applied>() == 1);
    CHECK(r.last<all_applied>().step == 0);
  }
}

TEST_CASE_FIXTURE(reducer_of_four, "the status is that of all replicas, its cause that of the worst") {
  const error ended{errc::out_of_range, "the data ended"}, nan{errc::nan_loss, "the loss is not finite"},
      bad{errc::invalid_argument, "a label"};
  SUBCASE("one that ended") {
    part(0, 1);
    part(1, step_status::ended, ended);
    part(2, 1);
    part(3, 1);
    CHECK(replicas[2].last<gradient_sum>().status == step_status::ended);
    CHECK(replicas[2].last<gradient_sum>().cause == ended);
  }
  SUBCASE("a value that is not finite outranks an end") {
    part(0, step_status::ended, ended);
    part(1, step_status::not_finite, nan);
    part(2, 1);
    part(3, step_status::ended, ended);
    CHECK(replicas[0].last<gradient_sum>().cause == nan);
  }
  SUBCASE("input that is wrong outranks both") {
    part(0, step_status::ended, ended);
    part(1, step_status::not_finite, nan);
    part(2, step_status::bad_input, bad);
    part(3, step_status::cancelled, {errc::cancelled, "cancelled"});
    CHECK(replicas[0].last<gradient_sum>().cause == bad);
    CHECK(replicas[0].last<gradient_sum>().status
          == (step_status::not_finite | step_status::cancelled | step_status::ended | step_status::bad_input));
  }
  SUBCASE("of two of one kind the lower replica's is told") {
    part(3, step_status::not_finite, {errc::nan_loss, "on three", {}, "replica/3"});
    part(1, step_status::not_finite, {errc::nan_loss, "on one"});
    part(0, 1);
    part(2, 1);
    CHECK(replicas[0].last<gradient_sum>().cause.message == "on one");
    CHECK(replicas[0].last<gradient_sum>().cause.notes == std::vector<std::string>{"so it was on replica/3: on three"});
  }
  CHECK_MESSAGE(replicas[0].last<gradient_sum>().gradient.elements() == 0, "there is nothing to apply");
}

TEST_CASE_FIXTURE(reducer_of_four,
                  "every step's sum lies in the same memory, which a part that is repeated late does not write again") {
  for (int32_t r : {0, 1, 2, 3})
    part(r, 1);
  const auto* place = replicas[0].last<gradient_sum>().gradient.data();
  part(1, 100);
  CHECK_MESSAGE(first(replicas[3].last<gradient_sum>()) == 4, "others may be reading it");
  CHECK(replicas[3].count<gradient_sum>() == 1);
  REQUIRE(replicas[1].count<gradient_sum>() == 2);
  CHECK_MESSAGE(first(replicas[1].last<gradient_sum>()) == 4, "who repeats itself is told again");
  for (int32_t r : {0, 1, 2, 3})
    part(r, 2, 1);
  CHECK(replicas[0].last<gradient_sum>().gradient.data() == place);
  CHECK(first(replicas[0].last<gradient_sum>()) == 8);
}

TEST_CASE_FIXTURE(reducer_of_four,
                  "a part of a replica that there is not is refused, and changes nothing of the step") {
  for (int32_t r : {0, 1, 2})
    part(r, 1);
  for (const int32_t stranger : {-1, 4, 1 << 30}) {
    auto from = record<gradient_sum, all_applied>();
    tell_as(from.handle(), sums, gradient_part{9, 7, stranger, step_status::ok, gradient(1), {}});
    tell_as(from.handle(), sums, applied{1, 0, stranger});
    REQUIRE(from.count<gradient_sum>() == 1);
    const auto& answer = from.last<gradient_sum>();
    CHECK(answer.status == step_status::bad_input);
    CHECK(answer.step == 7);
    CHECK(answer.attempt == 9);
    CHECK(answer.cause
          == error{errc::invalid_argument,
                   "a gradient came from replica/" + std::to_string(stranger)
                       + ", and the job has 4 replicas, from replica/0 on",
                   {},
                   "reducer",
                   7});
  }
  part(3, 1);
  REQUIRE(replicas[0].count<gradient_sum>() == 1);
  CHECK(first(replicas[0].last<gradient_sum>()) == 4);
  tell_as(replicas[0].handle(), sums, applied{1, 0, 7});
  CHECK(replicas[0].count<all_applied>() == 0);
}

TEST_CASE_FIXTURE(reducer_of_four, "word of an applied step that was never summed changes nothing") {
  tell_as(replicas[0].handle(), sums, applied{0, -1, 0});
  part(0, 1);
  for (int32_t r : {0, 1, 2, 3})
    done(r);
  CHECK(replicas[0].count<all_applied>() == 0);
}

TEST_CASE_FIXTURE(reducer_of_four, "a gradient of another size ends the step with who sent it and both sizes") {
  for (int32_t r : {0, 1, 3})
    part(r, 1);
  tell_as(replicas[2].handle(), sums, gradient_part{1, 0, 2, step_status::ok, tensor::zeros(dtype::uint8, {12}), {}});
  for (auto& r : replicas) {
    REQUIRE(r.count<gradient_sum>() == 1);
    CHECK(r.last<gradient_sum>().status == step_status::bad_input);
    CHECK(r.last<gradient_sum>().cause
          == error{errc::invalid_argument,
                   "replica/2 sent a gradient of 12 bytes as uint8, and the model's has 64 as uint8",
                   {},
                   "reducer",
                   0});
    CHECK(r.last<gradient_sum>().gradient.elements() == 0);
  }
}

TEST_CASE_FIXTURE(reducer_of_four, "of a retired group the statuses are joined, and nothing is summed or applied") {
  for (int32_t r : {0, 1, 2, 3})
    part(r, 1);
  retired_part(2, 1);
  retired_part(0, 1);
  retired_part(3, 1);
  CHECK(replicas[1].count<gradient_sum>() == 1);
  retired_part(1, 1);
  for (auto& r : replicas) {
    REQUIRE(r.count<gradient_sum>() == 2);
    CHECK(r.last<gradient_sum>().status == step_status::ok);
    CHECK(r.last<gradient_sum>().step == 1);
    CHECK(r.last<gradient_sum>().gradient.elements() == 0);
  }
  for (int32_t r : {0, 1, 2})
    retired_part(r, 2);
  retired_part(3, 2, {step_status::not_finite, {errc::nan_loss, "the loss is not finite", {}, "replica/3", 2}});
  for (auto& r : replicas) {
    CHECK(r.last<gradient_sum>().status == step_status::not_finite);
    CHECK(r.last<gradient_sum>().cause.source == "replica/3");
    CHECK(r.count<all_applied>() == 0);
  }
}

TEST_CASE_FIXTURE(reducer_of_four, "a group that has retired for some of its replicas only ends the step") {
  for (int32_t r : {0, 1, 3})
    retired_part(r, 0);
  part(2, 1);
  for (auto& r : replicas) {
    CHECK(r.last<gradient_sum>().status == step_status::bad_input);
    CHECK(r.last<gradient_sum>().cause
          == error{errc::invalid_argument,
                   "the group has retired for 3 of its 4 replicas, and the others sent gradients",
                   {},
                   "reducer",
                   0});
    CHECK(r.last<gradient_sum>().gradient.elements() == 0);
  }
}

TEST_CASE_FIXTURE(reducer_of_four, "a sum that is not finite is told as such") {
  for (int32_t r : {0, 1, 2, 3})
    part(r, 3e38f);
  CHECK(replicas[3].last<gradient_sum>().status == step_status::not_finite);
  CHECK(replicas[3].last<gradient_sum>().cause.category == errc::nan_loss);
  CHECK(replicas[3].last<gradient_sum>().cause.step == 0);
}

}  // namespace troupe::test
