#include "actors/chief/searching.hpp"

#include "ensemble/names.hpp"
#include "tests/support/has.hpp"
#include "tests/support/ids.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

search_books first_books() {
  search_books books;
  books.subnetworks = {{.builder = "a"}, {.builder = "b"}};
  books.candidates = {{.what = {"t0_a_grow_mean", {"a_grow", "mean", {{0, "a"}}, {}, 0, 0}}},
                      {.what = {"t0_b_grow_mean", {"b_grow", "mean", {{0, "b"}}, {}, 0, 0}}}};
  return books;
}

searching::blobs blobs_of(const search_books& books) { return {{std::string{search_books_blob}, books_text(books)}}; }

/// Two subnetworks, of which "b" stops after 4 steps, and two ensembles.
std::vector<plan_group> groups_of_plan() {
  return {{.id = 0_group, .name = "t0_a"},
          {.id = 1_group, .name = "t0_b", .retires_at = 4},
          {.id = 2_group, .name = "t0_a_grow_mean"},
          {.id = 3_group, .name = "t0_b_grow_mean"}};
}

searching begun(std::optional<int64_t> max_iteration_steps = 10) {
  searching s{{.limits = {.max_iteration_steps = max_iteration_steps}}};
  s.use(blobs_of(first_books()), groups_of_plan());
  REQUIRE(s.begin(std::nullopt, {}, ""));
  return s;
}

std::map<std::string, double> told(const std::string& spec, float value, int64_t count) {
  const auto keys = loss_average_keys_of(0, spec);
  return {{keys.value, value}, {keys.biased, value / 2}, {keys.count, static_cast<double>(count)}};
}

}  // namespace

TEST_CASE("a job that is no search has none, and before the first attempt no iteration follows") {
  CHECK_FALSE(searching{}.on());
  searching s{{.limits = {.max_iteration_steps = 10}}};
  CHECK(s.on());
  CHECK_FALSE(s.goes_on_after(10));
}

TEST_CASE("a subnetwork whose own data end stops there for that reason, and one that wants fewer steps for its own") {
  const auto stop_of_b = [](std::optional<int64_t> retires, std::optional<int64_t> input_ends) {
    searching s{{.limits = {.max_iteration_steps = 10}}};
    auto groups = groups_of_plan();
    groups[1].retires_at = retires;
    groups[1].input_ends_at = input_ends;
    s.use(blobs_of(first_books()), groups);
    REQUIRE(s.begin(std::nullopt, {}, ""));
    REQUIRE(s.measured(6, {}));
    const auto books = parse_books(s.blobs_at(6).at(std::string{search_books_blob}), "test");
    REQUIRE(books);
    return books->subnetworks[1].stop;
  };
  CHECK(stop_of_b(4, 4) == spec_stop{stop_cause::end_of_input, 4});
  CHECK(stop_of_b(4, {}) == spec_stop{stop_cause::complete, 4});
  CHECK(stop_of_b({}, {}) == std::nullopt);
}

TEST_CASE("training ends where all subnetworks have stopped, by the steps of their groups too") {
  CHECK(begun().ends_at() == 10);
  auto s = begun(std::nullopt);
  CHECK(s.ends_at() == std::nullopt);
  REQUIRE(s.dropped("t0_a", 6, "nan"));
  CHECK_MESSAGE(s.ends_at() == std::nullopt, "a drop ends nothing");
  REQUIRE(s.stopped("t0_a", {stop_cause::hook, 8}));
  CHECK(s.ends_at() == 8);
  CHECK(begun().goes_on_after(10));
  CHECK_FALSE(begun().goes_on_after(9));
}

TEST_CASE("an attempt from an older state than that of the plan's books begins where the iteration began") {
  auto later = first_books();
  later.tick = later.global_step = 5;
  for (auto& x : later.subnetworks)
    x.step = 5;
  later.subnetworks[1] = {.builder = "b", .step = 4, .stop = spec_stop{stop_cause::complete, 4}};
  later.candidates[0].average = {0.5f, 0.25f, 5};
  searching s{{.limits = {.max_iteration_steps = 10}}};
  s.use(blobs_of(later), groups_of_plan());
  REQUIRE(s.begin(std::nullopt, {}, ""));  // The checkpoint of step 5 was damaged.
  const auto books = parse_books(s.blobs_at(0).at("search"), "books");
  REQUIRE(books);
  CHECK(books->tick == 0);
  CHECK(books->candidates[0].average == loss_average{});
  CHECK(s.ends_at() == 10);
}

TEST_CASE("what groups tell of themselves becomes the averages of the books of that state") {
  auto s = begun();
  auto values = told("t0_a_grow_mean", 0.5f, 3);
  REQUIRE(s.measured(3, values));
  const auto books = parse_books(s.blobs_at(3).at("search"), "books");
  REQUIRE(books);
  CHECK(books->candidates[0].average == loss_average{0.5f, 0.25f, 3});
  CHECK(books->candidates[1].average == loss_average{});
  CHECK(books->tick == 3);
}

TEST_CASE("the commit of the last state leads to a choice and the books of the next iteration") {
  auto s = begun();
  auto values = told("t0_a_grow_mean", 0.5f, 10);
  values.merge(told("t0_b_grow_mean", 0.25f, 10));
  REQUIRE(s.measured(10, values));
  REQUIRE(s.committed(10));
  REQUIRE(s.grows());
  CHECK(s.grows()->chosen.winner == 1);
  const auto next = parse_books(s.grown_blobs().at("search"), "books");
  REQUIRE(next);
  CHECK(next->iteration() == 1);
  CHECK(next->begins_at == 10);
  CHECK(next->subnetworks.empty());
}

TEST_CASE("an attempt goes on with the books of its commit, and refuses a commit of its iteration without any") {
  auto s = begun();
  REQUIRE(s.measured(5, told("t0_a_grow_mean", 0.5f, 5)));
  const auto kept = s.blobs_at(5);
  auto next = begun();
  REQUIRE(next.begin(checkpoint_id{5}, kept, "model.ckpt-5"));
  CHECK(next.last_commit() == 5);
  CHECK(next.blobs_at(5) == kept);
  const auto refused = next.begin(checkpoint_id{5}, {}, "model.ckpt-5");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().category == errc::data_loss);
  CHECK(has(refused.error().message, "model.ckpt-5"));
}

TEST_CASE("the metrics of the candidate that leads are those of the job, and candidates' own stay apart") {
  auto s = begun();
  auto values = told("t0_a_grow_mean", 0.5f, 5);
  values.merge(told("t0_b_grow_mean", 0.25f, 5));
  REQUIRE(s.measured(5, values));
  REQUIRE(s.committed(5));
  const auto all = s.with_leader(5, {{"loss", 0},
                                     {"t0_a_grow_mean/accuracy", 0.1},
                                     {"t0_b_grow_mean/accuracy", 0.2},
                                     {"t0_b_grow_mean/loss", 3},
                                     {"t0_a/accuracy", 0.3}});
  CHECK(all.at("accuracy") == 0.2);
  CHECK(all.at("loss") == 3);
  CHECK((s.without_candidates(all) == std::map<std::string, double>{{"accuracy", 0.2}, {"loss", 3}}));
  const auto replaced = s.with_leader(5, {{"loss", 0}, {"t0_b_grow_mean/loss", 9}, {"t0_b_grow_mean/head_loss", 3}});
  CHECK_MESSAGE((s.without_candidates(replaced) == std::map<std::string, double>{{"loss", 3}}),
                "the loss of a job is the head's, whatever a function of metrics calls loss");
}

TEST_CASE(
    "the progress of a search has its candidates with their losses of now and their averages of the newest commit") {
  auto s = begun();
  CHECK_MESSAGE(s.candidates({}).empty(), "none has made a step");
  const std::map<std::string, group_loss> losses{
      {"t0_a_grow_mean", {1, 2}}, {"t0_b_grow_mean", {3, 4}}, {"t0_a", {5, 6}}};
  using all = std::vector<candidate_progress>;
  CHECK((s.candidates(losses)
         == all{{.spec = "t0_a_grow_mean", .loss = 2, .leads = true}, {.spec = "t0_b_grow_mean", .loss = 4}}));
  auto values = told("t0_a_grow_mean", 0.5f, 5);
  values.merge(told("t0_b_grow_mean", 0.25f, 5));
  REQUIRE(s.measured(5, values));
  REQUIRE(s.committed(5));
  CHECK((s.candidates(losses)
         == all{{.spec = "t0_a_grow_mean", .loss = 2, .average = 0.5},
                {.spec = "t0_b_grow_mean", .loss = 4, .average = 0.25, .leads = true}}));
  CHECK_MESSAGE(s.candidates({{"t0_b_grow_mean", {3, 4}}}).size() == 1, "the other has left");
}

TEST_CASE("an evaluation that ends after a later commit shows the candidate that led at its own") {
  auto s = begun();
  auto values = told("t0_a_grow_mean", 0.5f, 5);
  values.merge(told("t0_b_grow_mean", 0.25f, 5));
  REQUIRE(s.measured(5, values));
  REQUIRE(s.committed(5));
  values = told("t0_a_grow_mean", 0.125f, 6);
  values.merge(told("t0_b_grow_mean", 0.25f, 6));
  REQUIRE(s.measured(6, values));
  REQUIRE(s.committed(6));
  const std::map<std::string, double> all{{"t0_a_grow_mean/accuracy", 0.1}, {"t0_b_grow_mean/accuracy", 0.2}};
  CHECK(s.with_leader(5, all).at("accuracy") == 0.2);
  CHECK(s.with_leader(6, all).at("accuracy") == 0.1);
}

}  // namespace troupe::test
