// The last calls of hooks when the job or another hook fails.
#include "pipeline/launch/simulated_launcher.hpp"

#include "support/ended_jobs.hpp"
#include "support/troubled_dataset.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace troupe::test {

namespace {

/// Records its first and last calls in a list that several hooks share.
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
  void end(int64_t) override { sign("end"); }
  void on_abort(const error&) override { sign("abort"); }
};

error failed(simulated_job& job) {
  auto e = failure_of(job);
  CHECK(job.progress().now == job_progress::phase::failed);
  return e;
}

}  // namespace

TEST_CASE("[SUP-15] input that is not found in run 4 aborts the hooks in reverse order, ends none, and is the job's error") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    std::string book;
    const auto good = small_dataset().batch(4).repeat();
    small_job_options o{
        .input = dataset{std::make_shared<troubled_node>(good.node(), 3, [] { return expected<void>{fail(errc::not_found, "there is no part 4")}; })}};
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
    CHECK(book == "begin A, begin B, begin C, abort C, abort B, abort A, ");
  }
}

TEST_CASE("[SUP-16] where A's end throws B's is called all the same, the job fails with A's error, and its last save stands") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    std::string book;
    small_job_options o{.hooks = {std::make_shared<signer>("A", book, "end"), std::make_shared<signer>("B", book)}};
    simulated_job job{prepare_small(o), seed};
    CAPTURE(seed);
    const auto e = failed(job);
    CHECK(e.category == errc::state);
    CHECK(has(e.message, "no ink in A"));
    CHECK(book == "begin A, begin B, end A, end B, ");
    CHECK(newest_checkpoint(o.files).content.id.step == 20);
  }
}

}  // namespace troupe::test
