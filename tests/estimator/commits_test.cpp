#include "scripted_time.hpp"
#include "small_start.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

struct followed {
  std::shared_ptr<memory_disk> disk = memory_disk::make();
  std::shared_ptr<scripted_time> time = std::make_shared<scripted_time>();

  void commit(int64_t step) {
    auto store = checkpoint_store::open(disk, "/run");
    REQUIRE(store);
    checkpoint_content content{.id = {step}};
    content.tensors.push_back({"w", tensor::of<float>({1}, std::vector<float>{1})});
    REQUIRE((*store)->commit(content));
  }
  void commit_at(std::chrono::nanoseconds when, int64_t step) {
    time->events.emplace(when, [this, step] { commit(step); });
  }
  commit_stream stream(commits_options options) {
    return commit_stream{std::make_unique<commit_stream::impl>(
        commit_stream::impl{.files = disk, .directory = "/run", .options = std::move(options), .time = time})};
  }
  /// The steps of all commits until the stream ends.
  static std::vector<int64_t> steps_of(commit_stream all) {
    std::vector<int64_t> steps;
    for (;;) {
      auto next = all.next();
      REQUIRE_MESSAGE(next, why(next));
      if (!*next)
        return steps;
      CHECK((*next)->prefix == "/run/model.ckpt-" + std::to_string((*next)->id.step));
      steps.push_back((*next)->id.step);
    }
  }
};

using steps_seen = std::vector<int64_t>;

}  // namespace

TEST_CASE_FIXTURE(followed,
                  "[EST-59] each commit comes once, and the deadline ends the stream, or asks whether to end") {
  commit_at(3s, 5);
  commit_at(4s, 5);  // The same again.
  commit_at(9s, 10);
  CHECK(steps_of(stream({.deadline = 20s})) == steps_seen{5, 10});
  CHECK(time->at == 29s);
  int64_t asked = 0;
  commit_at(100s, 15);
  CHECK(steps_of(stream({.deadline = 30s, .until = [&] { return ++asked == 4; }})) == steps_seen{10, 15});
  CHECK(asked == 4);  // At 59 s, 89 s; and 130 s, 160 s.
  CHECK(time->at == 160s);
}

TEST_CASE_FIXTURE(followed,
                  "[EST-59] two commits are returned no closer than the least interval, and the newest counts") {
  commit(5);
  commit_at(1s, 6);
  commit_at(2s, 7);
  commit_at(11s, 8);
  auto all = stream({.least_interval = 10s, .deadline = 30s});
  REQUIRE((*all.next())->id.step == 5);
  REQUIRE((*all.next())->id.step == 7);
  CHECK(time->at == 10s);
  REQUIRE((*all.next())->id.step == 8);
  CHECK(time->at == 20s);
  CHECK_FALSE(*all.next());
}

TEST_CASE_FIXTURE(followed,
                  "a commit is seen at once where the disk tells of it, and after five seconds where it does not") {
  commit_at(1s, 5);
  auto told = stream({});
  REQUIRE((*told.next())->id.step == 5);
  CHECK(time->at == 1s);
  commit_at(8s, 10);
  time->events.emplace(7s, [] {});
  REQUIRE((*told.next())->id.step == 10);
  CHECK(time->at == 8s);
  for (const auto w : time->waits)
    CHECK(w <= 5s);
}

TEST_CASE_FIXTURE(followed, "a path that is no directory is an error, and one that is missing is waited for") {
  REQUIRE(write_file_atomically(*disk, "/", "run", "in the way"));
  const auto wrong = stream({.deadline = 1s}).next();
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().category == errc::failed_precondition);
  disk = memory_disk::make();
  CHECK(steps_of(stream({.deadline = 12s})).empty());
  CHECK(time->at == 12s);
}

TEST_CASE("a program follows the commits of a job that runs beside it") {
  const temporary_directory here;
  const auto directory = here.path + "/run";
  auto all = commits(directory, {.deadline = std::chrono::minutes{1}});
  auto estimator = small_estimator(directory);
  estimator.config.save_checkpoints_steps = 50;
  auto running = start(estimator, small_training(200));
  REQUIRE(running);
  int64_t last = -1;
  while (last < 200) {
    const auto next = all.next();
    REQUIRE_MESSAGE(next, why(next));
    REQUIRE(next->has_value());
    CHECK((*next)->id.step > last);
    CHECK((*next)->prefix.starts_with(directory + "/model.ckpt-"));
    last = (*next)->id.step;
  }
  CHECK(running->wait(soon));
}

TEST_CASE("a stream of commits that was moved from says so") {
  auto all = commits("nowhere");
  const auto other = std::move(all);
  CHECK(all.next().error() == error{errc::state, "the handle holds no stream: it was moved from"});
}

}  // namespace troupe::test
