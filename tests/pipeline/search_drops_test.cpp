// What a drop changes in a search, and that it changes neither where iterations end nor where the search does.
#include "support/killed_search.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

builder network(std::string name, float rate) {
  return {.name = std::move(name),
          .build = [](graph&, const build_context& c) -> subnetwork {
            const auto h = nn::dense(c.features["x"], {.units = 4, .activation = relu});
            return {.last_layer = h, .logits = nn::dense(h, {.units = 3}), .complexity = 1};
          },
          .optimizer = gradient_descent{.rate = rate}};
}
builder good() { return network("good", 0.1f); }
/// Its loss is not finite after a few steps.
builder bad() { return network("bad", 1e30f); }

/// A search of 3 iterations of 10 steps, with these builders from iteration `from` on.
small_search dropping(std::vector<builder> builders, int64_t from = 0) {
  small_search s;
  s.o.save_steps = 3;
  s.search.on_candidate_not_finite = candidate_not_finite::drop;
  s.search.subnetwork_generator = [=](const generator_input& in) {
    return in.iteration < from ? std::vector<builder>{good()} : builders;
  };
  return s;
}

}  // namespace

TEST_CASE(
    "an iteration that loses its last subnetwork ends where it would have, under any schedule, wherever it is killed") {
  const auto searching = [] { return dropping({bad()}, 1); };
  auto s = searching();
  simulated_job job{prepare_search(s), 1};
  CHECK(run_to_end(job).global_step == 30);
  CHECK(steps_of(job.events(), job_event::kind::grown) == steps{10, 20});
  const auto books = newest_books(s.o.files);
  CHECK(books.begins_at == 20);
  CHECK(books.tick == 30);
  REQUIRE(books.winners.size() == 2);
  CHECK(books.winners[1].spec == books.winners[0].spec);
  REQUIRE(books.subnetworks.size() == 1);
  REQUIRE(books.subnetworks[0].stop);
  CHECK(books.subnetworks[0].stop->cause == stop_cause::dropped);
  CHECK(books.subnetworks[0].step == books.subnetworks[0].stop->step);
  CHECK(books.subnetworks[0].step < 10);
  const auto whole = newest_checkpoint(s.o.files).content;
  for (uint64_t seed = 2; seed <= 10; ++seed) {
    auto other = searching();
    simulated_job again{prepare_search(other), seed};
    run_to_end(again);
    CHECK(same_state(newest_checkpoint(other.o.files).content, whole));
  }
  CHECK(places_killed(searching, 97, whole) > 3);
}

TEST_CASE("a search that loses a subnetwork reaches max_steps, however far ahead its actors were when it was heard") {
  const auto searching = [] {
    auto s = dropping({good(), bad()});
    s.o.max_steps = 40;
    s.search.max_iterations.reset();
    s.search.max_iteration_steps.reset();
    return s;
  };
  auto s = searching();
  simulated_job job{prepare_search(s), 1};
  CHECK(run_to_end(job).global_step == 40);
  CHECK(newest_books(s.o.files).tick == 40);
  const auto whole = newest_checkpoint(s.o.files).content;
  for (uint64_t seed = 2; seed <= 10; ++seed) {
    auto other = searching();
    world_conditions slow;
    slow.cost["outfeed"] = {std::chrono::milliseconds{1}, std::chrono::milliseconds{500}};  // The drop is heard late.
    simulated_job again{prepare_search(other), seed, slow};
    CHECK(run_to_end(again).global_step == 40);
    CHECK(same_state(newest_checkpoint(other.o.files).content, whole));
  }
  CHECK(places_killed(searching, 97, whole) > 3);
}

TEST_CASE("a search that loses all new subnetworks in every iteration comes to max_steps all the same") {
  auto s = dropping({bad()}, 1);
  s.o.max_steps = 45;
  s.search.max_iterations.reset();
  CHECK(run_to_end(describe_search(s)).global_step == 45);
  CHECK(newest_books(s.o.files).iteration() == 4);
}

}  // namespace troupe::test
