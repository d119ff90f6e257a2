// The last calls of hooks when the job or another hook fails.
#include "messages/summary.hpp"
#include "pipeline/launch/simulated_launcher.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "support/ended_jobs.hpp"
#include "support/troubled_dataset.hpp"
#include "tests/support/has.hpp"

#include <caf/type_erased_tuple.hpp>
#include <doctest/doctest.h>

#include <stdexcept>

namespace troupe::test {

namespace {

/// Adds its first and last calls to a text that several hooks share.
struct signer : hook {
  std::string name;
  std::string& book;
  std::string throws_in;

  signer(std::string n, std::string& b, std::string in = {}) : name(std::move(n)), book(b), throws_in(std::move(in)) {}
  void sign(const std::string& what) {
    book += what + " " + name + ", ";
    if (what == throws_in)
      throw std::runtime_error("no ink in " + name);
  }
  needs begin(int64_t) override {
    sign("begin");
    return {};
  }
  void on_event(const job_event& e, job_control&) override {
    if (e.what == job_event::kind::finished || e.what == job_event::kind::failed)
      sign(std::string{to_string(e.what)});
  }
  void end(int64_t) override { sign("end"); }
  void on_abort(const error&) override { sign("abort"); }
};

error failed(simulated_job& job) {
  auto e = failure_of(job);
  CHECK(job.progress().now == job_progress::phase::failed);
  return e;
}

/// Waits for its own job in the event of its first save.
struct waits_for_itself final : hook {
  running_job* own = nullptr;
  std::optional<expected<train_result>> answer;

  void on_event(const job_event& e, job_control&) override {
    if (e.what == job_event::kind::saved && own && !answer)
      answer = own->wait({});
  }
};

}  // namespace

TEST_CASE("a hook that waits for its own job is told so at once, by its name, and the job goes on") {
  const auto who = std::make_shared<waits_for_itself>();
  simulated_launcher launcher{1};
  auto job = launcher.train(prepare_small({.hooks = {who}}));
  who->own = job.get();
  const auto ended = job->wait(std::chrono::hours{2});
  job.reset();
  launcher.world().end_all();
  REQUIRE((ended && *ended));
  REQUIRE((who->answer && !*who->answer));
  CHECK(who->answer->error().category == errc::state);
  CHECK_MESSAGE(has(who->answer->error().message, "on_event() of hooks[0] ("), who->answer->error().message);
  CHECK(has(who->answer->error().message, "waits_for_itself) cannot wait for its own job"));
}

TEST_CASE(
    "[SUP-15] input that is not found in run 4 aborts the hooks in reverse order, ends none, and is the job's error") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    std::string book;
    const auto good = small_dataset().batch(4).repeat();
    small_job_options o{.input = dataset{std::make_shared<troubled_stage>(good.last_stage(), 3, [] {
                          return expected<void>{fail(errc::not_found, "there is no part 4")};
                        })}};
    for (const char* name : {"A", "B", "C"})
      o.hooks.push_back(std::make_shared<signer>(name, book));
    simulated_job job{prepare_small(o), seed};
    CAPTURE(seed);
    const auto e = failed(job);
    CHECK(e.category == errc::not_found);
    CHECK(e.message == "there is no part 4");
    CHECK(e.source == "infeed/0");
    CHECK(e.step == 3);
    CHECK(job.progress().step == 3);
    CHECK(book == "begin A, begin B, begin C, failed A, failed B, failed C, abort C, abort B, abort A, ");
  }
}

TEST_CASE(
    "[SUP-16] where A's end throws B's is called all the same, the job fails with A's error, and its last save "
    "stands") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    std::string book;
    small_job_options o{.hooks = {std::make_shared<signer>("A", book, "end"), std::make_shared<signer>("B", book)}};
    simulated_job job{prepare_small(o), seed};
    CAPTURE(seed);
    const auto e = failed(job);
    CHECK(e.category == errc::state);
    CHECK(has(e.message, "no ink in A"));
    CHECK(book == "begin A, begin B, finished A, finished B, end A, end B, ");
    CHECK(newest_checkpoint(o.files).content.id.step == 20);
  }
}

TEST_CASE(
    "an event file that cannot be closed fails the job before hooks hear of its end: they are aborted, and nobody is "
    "told that it finished") {
  for (const std::string where : {"/run/events", "/run/eval/events"})
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(where);
      CAPTURE(seed);
      std::string book;
      const auto disk = faulty_file_system::around(memory_disk::make());
      small_job_options o{.evaluates = true,
                          .files = disk,
                          .hooks = {std::make_shared<signer>("A", book), std::make_shared<signer>("B", book)}};
      auto description = describe_small(o);
      description.basis.config.summary_steps = 5;
      simulated_job job{*prepare(std::move(description)), seed};
      REQUIRE(job.crank_until([&] { return job.progress().step == 20 && job.progress().committed_step == 20; }));
      disk->inject({.operation = file_operation::sync, .path_contains = where});  // Files are synced when closed.
      CAPTURE(book);
      const auto e = failed(job);
      CHECK(disk->failures() == 1);
      CHECK(e.source == (where == "/run/events" ? "summary_writer" : "summary_writer/eval"));
      CHECK(book == "begin A, begin B, failed A, failed B, abort B, abort A, ");
      CHECK(job.events().back().what == job_event::kind::failed);
      CHECK(newest_checkpoint(o.files).content.id.step == 20);
    }
}

TEST_CASE(
    "a writer of event files that dies while it closes them fails the job, and one that hangs is named in its result "
    "after its deadline") {
  std::string book;
  small_job_options o{.hooks = {std::make_shared<signer>("A", book)}};
  auto description = describe_small(o);
  description.basis.config.summary_steps = 5;
  simulated_job job{*prepare(std::move(description)), 1};
  bool closes = false;
  job.watch([&](const auto&, const auto& to, const caf::type_erased_tuple& content) {
    closes = closes || (to == "summary_writer" && content.match_elements<finish_log>());
  });
  REQUIRE(job.crank_until([&] { return closes; }));
  SUBCASE("it dies") {
    job.kill("summary_writer");
    CHECK(failed(job).source == "summary_writer");
    CHECK(book == "begin A, failed A, abort A, ");
  }
  SUBCASE("it hangs") {
    job.hang("summary_writer");
    const auto began = job.now();
    const auto result = job.wait(std::chrono::hours{2});
    REQUIRE(result);
    REQUIRE(*result);
    CHECK((*result)->remark == "summary_writer did not end in time");
    CHECK(book == "begin A, finished A, end A, ");
    CHECK(job.now() - began >= chief_deadlines{}.stop);
    CHECK(job.now() - began < chief_deadlines{}.stop + std::chrono::seconds{1});
  }
}

TEST_CASE(
    "a hook that throws at the news of the end aborts all of them: no end() is called for a job that has failed") {
  std::string book;
  small_job_options o{.hooks = {std::make_shared<signer>("A", book, "finished"), std::make_shared<signer>("B", book)}};
  simulated_job job{prepare_small(o), 1};
  CHECK(has(failed(job).message, "no ink in A"));
  CHECK(book == "begin A, begin B, finished A, finished B, abort B, abort A, ");
}

}  // namespace troupe::test
