// Growth: a job goes on from one plan to the next while it runs, and ends in the same bits wherever it is interrupted.
#include "storage/files/faulty_file_system.hpp"
#include "support/ended_jobs.hpp"
#include "support/growing_job.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

const checkpoint_content& undisturbed() {
  static const auto content = [] {
    growing_options j;
    simulated_job job{prepare_growing(j), 1};
    run_to_end(job);
    return newest_checkpoint(j.o.files).content;
  }();
  return content;
}

}  // namespace

TEST_CASE(
    "a job grows from one plan into the next: its last state is committed once for each, and all goes on that the "
    "planner keeps") {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    growing_options j;
    j.o.evaluates = seed > 2;
    simulated_job job{prepare_growing(j), seed};
    const auto result = run_to_end(job);
    CHECK(result.global_step == 40);
    CHECK((commits_of(job.events())
           == std::vector<checkpoint_id>{{0}, {5}, {10}, {15}, {20}, {20, 1}, {25, 1}, {30, 1}, {35, 1}, {40, 1}}));
    CHECK(steps_of(job.events(), job_event::kind::recovered).empty());
    CHECK(steps_of(job.events(), job_event::kind::started) == steps{0});
    if (j.o.evaluates)
      CHECK(steps_of(job.events(), job_event::kind::evaluated) == steps{5, 10, 15, 20, 25, 30, 35, 40});
    const auto store = checkpoint_store::open(j.o.files, "/run", {.read_only = true});
    REQUIRE(store);
    const auto read = [&](checkpoint_id id) {
      auto found = (*store)->restore(id);
      REQUIRE(found);
      return found->content;
    };
    const auto before = read({20}), after = read({20, 1}), end = read({40, 1});
    CHECK(variables(after, "a/dense/kernel").at("a/dense/kernel")
          == variables(before, "a/dense/kernel").at("a/dense/kernel"));
    CHECK(variables(after, "mixture/a") == variables(before, "mixture/a"));
    CHECK(variables(after, "mixture/d").at("mixture/d/Momentum")
          == variables(before, "mixture/b").at("mixture/b/Momentum"));
    CHECK(variables(after, "b/").empty());
    CHECK(variables(after, "a/dense/kernel/").empty());
    CHECK(variables(after, "mixture/c").at("mixture/c") == tensor::of<float>({3}, {1, 1, 1}));
    CHECK_MESSAGE(variables(end, "a/") == variables(after, "a/"), "whoever has retired applies nothing");
    CHECK_FALSE(variables(end, "c/") == variables(after, "c/"));
    CHECK(after.blobs == before.blobs);
    CHECK(same_state(end, undisturbed()));
  }
}

TEST_CASE(
    "a job that grows is killed at turns and file calls from the end of an iteration to the second commit of the next, "
    "and ends in the same bits") {
  const bool every = std::getenv("TROUPE_GROWTH_SEEDS") != nullptr;  // Set by --all.
  const auto second_commit = [](const simulated_job& job) {
    const auto commits = commits_of(job.events());
    return std::find(commits.begin(), commits.end(), checkpoint_id{25, 1}) != commits.end();
  };
  const auto ends_alike = [](const growing_options& j) {
    simulated_job next{prepare_growing(j), 3};
    run_to_end(next);
    CHECK(same_state(newest_checkpoint(j.o.files).content, undisturbed()));
  };
  int64_t places = 0;
  SUBCASE("turns") {
    for (int64_t turns = 0;; turns += every ? 1 : 9, ++places) {
      growing_options j;
      bool over = false;
      {
        simulated_job job{prepare_growing(j), 2};
        REQUIRE(job.crank_until([&] { return job.progress().step >= 20; }));
        for (int64_t i = 0; i < turns; ++i)
          REQUIRE(job.crank());
        over = second_commit(job);
      }
      CAPTURE(turns);
      ends_alike(j);
      if (over)
        break;
    }
    CHECK(places > (every ? 200 : 20));
  }
  SUBCASE("file calls") {
    for (int64_t calls = 0;; calls += every ? 1 : 5, ++places) {
      growing_options j;
      const auto disk = memory_disk::make();
      bool over = false;
      {
        const auto faulty = faulty_file_system::around(disk);
        j.o.files = faulty;
        simulated_job job{prepare_growing(j), 2};
        REQUIRE(job.crank_until([&] { return job.progress().step >= 19; }));
        faulty->fail_after(calls, calls % 2 == 0);
        const auto result = job.wait(std::chrono::hours{2});
        REQUIRE(result);
        over = second_commit(job);
        CHECK((result->has_value() || result->error().category == errc::unavailable));
      }
      CAPTURE(calls);
      j.o.files = disk;
      ends_alike(j);
      if (over)
        break;
    }
    CHECK(places > (every ? 60 : 12));
  }
}

TEST_CASE("a growth that drops the rest leads to the same bits as one that lists what is dropped") {
  growing_options j;
  auto described = growing_job(j);
  described.planner = [planner = described.planner](const job_books& books) {
    auto planned = planner(books);
    if (planned) {
      planned->growth.dropped.clear();
      planned->growth.drops_rest = true;
    }
    return planned;
  };
  auto prepared = prepare(std::move(described));
  REQUIRE(prepared);
  simulated_job job{std::move(*prepared), 9};
  run_to_end(job);
  CHECK(same_state(newest_checkpoint(j.o.files).content, undisturbed()));
}

TEST_CASE("a job grows on threads, with two replicas, to the bits of one in simulation") {
  for (const int64_t replicas : {1, 2}) {
    CAPTURE(replicas);
    growing_options simulated, threaded;
    simulated.o.replicas = threaded.o.replicas = replicas;
    simulated_job job{prepare_growing(simulated), 1};
    run_to_end(job);
    const auto running = local_launcher{}.train(prepare_growing(threaded));
    const auto result = running->wait(soon);
    REQUIRE(result);
    REQUIRE_MESSAGE(result->has_value(), (*result ? "" : to_text(result->error())));
    CHECK(same_state(newest_checkpoint(threaded.o.files).content, newest_checkpoint(simulated.o.files).content));
  }
}

TEST_CASE("a plan that a job has grown out of is let go, with its stores and engines") {
  growing_options j;
  auto prepared = prepare_growing(j);
  const std::weak_ptr<prepared_job> before = prepared;
  const std::weak_ptr<parameter_store> store = prepared->programs.front().parameters;
  simulated_job job{std::move(prepared), 1};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 30; }));
  CHECK(before.expired());
  CHECK(store.expired());
}

TEST_CASE(
    "a planner that fails, or makes a plan that cannot follow, ends the job with an error that says so, and its last "
    "commit stands") {
  growing_options j;
  std::string says;
  errc category = errc::invalid_argument;
  SUBCASE("it throws") {
    j.on_plan = [](int64_t iteration) {
      if (iteration == 1)
        throw std::runtime_error("no idea");
    };
    says = "an exception left the planner: no idea";
    category = errc::state;
  }
  SUBCASE("a plan that does not go on from the commit") {
    j.edit = [](hand_written& w, int64_t iteration) {
      if (iteration == 1)
        w.plan.iteration = {2, 20};
    };
    says = "has made a plan of iteration 2, which does not go on from /run/model.ckpt-20";
  }
  SUBCASE("a node that lives on has another number") {
    j.edit = [](hand_written& w, int64_t iteration) {
      if (iteration == 1)
        for (auto& n : w.plan.nodes)
          if (n.what == role::callbacks)
            n.id = 77_node;
    };
    says = "'callbacks' lives on from iteration to iteration, and the next plan has nobody under its number";
  }
  SUBCASE("a variable of which the planner says nothing") {
    j.edit = [](hand_written& w, int64_t iteration) {
      if (iteration == 1)
        w.resources.models.at(3) = std::make_shared<const model>(candidate("e", 7));
    };
    says = "/run/model.ckpt-20 is a checkpoint of another model: ";
    category = errc::failed_precondition;
  }
  simulated_job job{prepare_growing(j), 4};
  const auto failed = failure_of(job);
  CHECK(failed.category == category);
  CHECK_MESSAGE(has(failed.message, says), failed.message);
  CHECK((newest_checkpoint(j.o.files).content.id == checkpoint_id{20}));
  growing_options well;
  well.o.files = j.o.files;
  simulated_job next{prepare_growing(well), 5};
  run_to_end(next);
  CHECK(same_state(newest_checkpoint(well.o.files).content, undisturbed()));
}

TEST_CASE("a preparer that does not answer ends the job after its deadline, and the error names it") {
  growing_options j;
  simulated_job job{prepare_growing(j), 6};
  job.hang("preparer");
  const auto failed = failure_of(job);
  CHECK(failed.category == errc::deadline_exceeded);
  CHECK(has(failed.message, "chief waited too long for the preparer of agent to make the plan of iteration 1"));
}

TEST_CASE(
    "a job that is stopped while its next plan is prepared stops at the first state of that, and one that is aborted "
    "ends at once") {
  growing_options j;
  simulated_job job{prepare_growing(j), 7};
  job.hang("preparer");
  REQUIRE(job.crank_until([&] { return job.node("preparer") != nullptr; }));
  SUBCASE("stopped") {
    job.ask(request::stop);
    for (int i = 0; i < 50; ++i)
      job.crank();
    job.unhang("preparer");
    const auto result = run_to_end(job);
    CHECK(result.stopped);
    CHECK(result.global_step == 20);
    CHECK((newest_checkpoint(j.o.files).content.id == checkpoint_id{20, 1}));
  }
  SUBCASE("aborted") {
    job.ask(request::abort);
    const auto failed = failure_of(job);
    CHECK(failed.category == errc::cancelled);
    CHECK((newest_checkpoint(j.o.files).content.id == checkpoint_id{20}));
  }
}

TEST_CASE("a job whose goal is the last state of an iteration ends there, and makes no other plan") {
  growing_options j;
  j.o.max_steps = 20;
  int planned = 0;
  j.on_plan = [&planned](int64_t) { ++planned; };
  simulated_job job{prepare_growing(j), 8};
  const auto result = run_to_end(job);
  CHECK(result.global_step == 20);
  CHECK((newest_checkpoint(j.o.files).content.id == checkpoint_id{20}));
  CHECK(planned == 1);
}

}  // namespace troupe::test
