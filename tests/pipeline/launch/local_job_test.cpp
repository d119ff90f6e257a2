// Jobs on real threads: they behave as in simulation, and failures end them in time.
#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/local_world.hpp"
#include "pipeline/launch/node_maker.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "support/ended_jobs.hpp"
#include "support/threads.hpp"
#include "support/troubled_dataset.hpp"
#include "support/wrapped_engine.hpp"
#include "tests/support/has.hpp"

#include <troupe/job.hpp>

#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;
using kind = job_event::kind;

constexpr int64_t endless = int64_t{1} << 40;

/// Waits for the result, which must arrive within `soon`.
expected<train_result> result_of(running_job& job) {
  auto result = job.wait(soon);
  REQUIRE(result.has_value());
  return *result;
}

/// Waits until `there` is true. False: the job ended before, or it took longer than `soon`.
bool eventually(running_job& job, const std::function<bool()>& there) {
  const auto end = std::chrono::steady_clock::now() + soon;
  while (!there()) {
    if (job.wait(1ms) && !there())
      return false;
    if (std::chrono::steady_clock::now() > end)
      return false;
  }
  return true;
}

/// Resumes the job from its directory, and checks that it ends in the state of an undisturbed job.
void check_goes_on(const small_job_options& o) {
  const auto job = local_launcher{}.train(prepare_small(o));
  REQUIRE(result_of(*job).has_value());
  CHECK(same_state(newest_checkpoint(o.files).content, undisturbed(o)));
}

/// Records every event. Any thread may read the record.
class event_log final : public hook {
 public:
  void on_event(const job_event& e, job_control&) override {
    std::lock_guard lock{guard_};
    events_.push_back(e);
  }
  std::vector<job_event> events() const {
    std::lock_guard lock{guard_};
    return events_;
  }

 private:
  mutable std::mutex guard_;
  std::vector<job_event> events_;
};

/// Calls `inside` within step `at`.
class slow_engine final : public wrapped_engine {
 public:
  slow_engine(std::shared_ptr<step_engine> inner, int64_t at, std::function<step_status()> inside)
    : wrapped_engine(std::move(inner)), at_(at), inside_(std::move(inside)) {}
  step_status gradients(int64_t step, const batch_feeds& in, int arena) override {
    if (step == at_)
      if (const auto status = inside_(); status != step_status::ok)
        return status;
    return wrapped_engine::gradients(step, in, arena);
  }

 private:
  int64_t at_;
  std::function<step_status()> inside_;
};

dataset troubled(int64_t at, troubled_stage::trouble what) {
  return dataset{
      std::make_shared<troubled_stage>(small_dataset().shuffle().batch(4).repeat().last_stage(), at, std::move(what))};
}

}  // namespace

TEST_CASE("a run on real threads ends in the state of the simulated run, bit for bit") {
  for (const small_job_options& o :
       {small_job_options{.max_steps = 60}, small_job_options{.max_steps = 60, .replicas = 2},
        small_job_options{.max_steps = 60, .replicas = 4, .hosts = 2},
        small_job_options{.max_steps = 60, .evaluates = true}}) {
    CAPTURE(o.replicas);
    CAPTURE(o.evaluates);
    const auto job = local_launcher{}.train(prepare_small(o));
    const auto result = result_of(*job);
    REQUIRE(result.has_value());
    CHECK(result->global_step == 60);
    CHECK(job->progress().now == job_progress::phase::finished);
    CHECK(job->progress().committed_step == 60);
    CHECK(same_state(newest_checkpoint(o.files).content, undisturbed(o)));
  }
}

TEST_CASE("actors that work for long have threads of their own, the reducer too") {
  auto system = local_system::make();
  REQUIRE(system);
  const auto prepared = prepare_small({.replicas = 2, .reducers = true});
  local_world world{std::move(*system)};
  node_maker maker{world, prepared};
  const auto has_thread = [&](role what) {
    const auto node = maker.start(*prepared->plan.find(what, prepared->plan.find(role::chief, no_node)->id), {}, {});
    const bool detached = node->get()->getf(caf::abstract_actor::is_detached_flag);
    caf::anon_send_exit(node, caf::exit_reason::user_shutdown);
    return detached;
  };
  CHECK(has_thread(role::reducer));
  CHECK(has_thread(role::replica));
}

TEST_CASE("an abort frees a replica that is inside a long step, and the job ends in time") {
  std::atomic<bool> inside{false};
  const auto entered = [&inside] {
    inside = true;
    inside.notify_all();
  };
  small_job_options o{.max_steps = 40};
  const auto prepared = prepare_small(o);
  std::function<step_status()> work;
  SUBCASE("one that looks at the cancel flag ends with it") {
    work = [&, cancel = prepared->switches.at(prepared->plan.find(role::chief, no_node)->id).cancel] {
      entered();
      const auto end = std::chrono::steady_clock::now() + soon;
      while (!*cancel && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
      return *cancel ? step_status::cancelled : step_status::ok;
    };
  }
  SUBCASE("one that does not look for 300 ms ends when it is done") {
    work = [&] {
      entered();
      std::mutex guard;
      std::condition_variable nobody_calls;
      std::unique_lock lock{guard};
      nobody_calls.wait_for(lock, 300ms, [] { return false; });
      return step_status::ok;
    };
  }
  auto& engine = prepared->in(mode::train).engines[0];
  engine = std::make_shared<slow_engine>(engine, 12, work);
  const auto before = threads();
  {
    const auto job = local_launcher{}.train(prepared);
    inside.wait(false);
    while (job->progress().committed_step < 10)  // Waits for the commit, since an abort waits for no save.
      std::this_thread::yield();
    const auto asked = std::chrono::steady_clock::now();
    job->ask(request::abort);
    const auto result = result_of(*job);
    CHECK(std::chrono::steady_clock::now() - asked < 10s);  // An actor that does not end would take 30 s.
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().category == errc::cancelled);
    for (const auto& note : result.error().notes)
      CHECK_MESSAGE(!has(note, "did not end in time"), note);
  }
  CHECK(threads_fall_to(before));
  CHECK(newest_checkpoint(o.files).content.id.step == 10);
  check_goes_on(o);
}

TEST_CASE("a disk that is full ends a job on real threads with file and step; it goes on when there is room again") {
  const auto disk = faulty_file_system::around(memory_disk::make());
  disk->inject({.operation = file_operation::append, .path_contains = "model.ckpt-10"});
  small_job_options o{.max_steps = 40, .files = disk};
  {
    const auto job = local_launcher{}.train(prepare_small(o));
    const auto result = result_of(*job);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().category == errc::resource_exhausted);
    CHECK(result.error().source == "checkpoint_writer");
    CHECK_MESSAGE(result.error().step == 10, to_text(result.error()));
    CHECK(has(result.error().message, "no space left"));
    CHECK(job->progress().now == job_progress::phase::failed);
  }
  // The fault occurred once: a later save that had already begun may have succeeded.
  const auto newest = newest_checkpoint(disk).content.id.step;
  CHECK((newest == 5 || newest > 10));
  disk->heal();
  check_goes_on(o);
}

TEST_CASE(
    "[EST-20] on real threads, data that end before max_steps finish the job with a checkpoint there and say so") {
  const auto log = std::make_shared<event_log>();
  small_job_options o{.max_steps = 40, .input = small_dataset(28).batch(4), .hooks = {log}};
  const auto job = local_launcher{}.train(prepare_small(o));
  const auto result = result_of(*job);
  REQUIRE(result.has_value());
  CHECK(result->global_step == 7);
  CHECK_FALSE(result->stopped);
  CHECK(has(result->remark, "before max_steps 40"));
  CHECK(newest_checkpoint(o.files).content.id.step == 7);
  CHECK(steps_of(log->events(), kind::saved) == steps{0, 5, 7});
  CHECK(steps_of(log->events(), kind::warning) == steps{7});
}

TEST_CASE("an input that fails or throws ends a job on real threads with its words and its step") {
  small_job_options o{.max_steps = 40};
  errc category{};
  SUBCASE("an error") {
    category = errc::data_loss;
    o.input = troubled(11, []() -> expected<void> { return fail(errc::data_loss, "record 44 is damaged"); });
  }
  SUBCASE("an exception") {
    category = errc::state;
    o.input = troubled(11, []() -> expected<void> { throw std::runtime_error("record 44 is damaged"); });
  }
  {
    const auto job = local_launcher{}.train(prepare_small(o));
    const auto result = result_of(*job);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().category == category);
    CHECK(has(result.error().message, "record 44 is damaged"));
    CHECK(result.error().source == "infeed/0");
    CHECK(result.error().step == 11);
  }
  CHECK(newest_checkpoint(o.files).content.id.step == 10);
}

TEST_CASE("a stop from outside saves where it ends") {
  small_job_options o{.max_steps = endless, .save_steps = 1'000'000'000};
  const auto job = local_launcher{}.train(prepare_small(o));
  REQUIRE(eventually(*job, [&] { return job->progress().step >= 50; }));
  job->ask(request::stop);
  const auto result = result_of(*job);
  REQUIRE(result.has_value());
  CHECK(result->stopped);
  CHECK(result->global_step >= 50);
  CHECK(newest_checkpoint(o.files).content.id.step == result->global_step);
  // A job of as many steps without a stop must end in the same state.
  auto whole = o;
  whole.max_steps = result->global_step;
  auto expected_state = undisturbed(whole);
  auto state = newest_checkpoint(o.files).content;
  expected_state.properties.clear();
  CHECK(same_state(state, expected_state));
}

TEST_CASE("saves asked for by several threads at once are all answered by commits, in order") {
  const auto log = std::make_shared<event_log>();
  small_job_options o{.max_steps = endless, .save_steps = 1'000'000'000, .hooks = {log}};
  const auto job = local_launcher{}.train(prepare_small(o));
  REQUIRE(eventually(*job, [&] { return job->progress().step >= 10; }));
  {
    std::vector<std::jthread> askers;
    for (int i = 0; i < 4; ++i)
      askers.emplace_back([&] {
        for (int k = 0; k < 50; ++k) {
          job->ask(request::save);
          static_cast<void>(job->progress());
        }
      });
  }
  const auto asked = job->progress().step;
  job->ask(request::save);
  CHECK(eventually(*job, [&] { return job->progress().committed_step >= asked; }));
  job->ask(request::stop);
  REQUIRE(result_of(*job).has_value());
  const auto saved = steps_of(log->events(), kind::saved);
  CHECK(saved.size() >= 3);  // At the start, for the threads, and at the end.
  CHECK(std::is_sorted(saved.begin(), saved.end()));
  CHECK(std::adjacent_find(saved.begin(), saved.end()) == saved.end());
  CHECK(steps_of(log->events(), kind::failed).empty());
}

TEST_CASE("a wait with a deadline gives deadline_exceeded and the job goes on") {
  auto running = start(estimator{small_model(), {.seed = 7}},
                       {.input = small_dataset().batch(4).repeat(), .max_steps = endless});
  REQUIRE(running.has_value());
  const auto early = running->wait(20ms);
  REQUIRE_FALSE(early.has_value());
  CHECK(early.error().category == errc::deadline_exceeded);
  running->stop();
  const auto result = running->wait(soon);
  REQUIRE(result.has_value());
  CHECK(result->stopped);
}

TEST_CASE("two jobs in one process at once do not meet") {
  small_job_options a{.max_steps = 300, .save_steps = 20},
      b{.max_steps = 200, .save_steps = 30, .replicas = 2, .files = memory_disk::make()};
  const auto first = local_launcher{}.train(prepare_small(a)), second = local_launcher{}.train(prepare_small(b));
  REQUIRE(result_of(*first).has_value());
  REQUIRE(result_of(*second).has_value());
  CHECK(same_state(newest_checkpoint(a.files).content, undisturbed(a)));
  CHECK(same_state(newest_checkpoint(b.files).content, undisturbed(b)));
}

TEST_CASE("a job that is destroyed while it runs leaves no thread behind") {
  const auto before = threads();
  for (int64_t step : {0, 1, 40}) {
    small_job_options o{.max_steps = endless,
                        .evaluates = true,
                        .when = evaluation_mode::beside,
                        .hooks = {std::make_shared<event_log>()}};
    const auto job = local_launcher{}.train(prepare_small(o));
    REQUIRE(eventually(*job, [&] { return job->progress().step >= step; }));
    CHECK(threads() > before);
  }
  CHECK(threads_fall_to(before));
}

}  // namespace troupe::test
