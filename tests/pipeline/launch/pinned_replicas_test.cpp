// Replicas that are bound to processors, and the same job without.
#include "pipeline/launch/launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/mortal_engine.hpp"
#include "tests/support/has.hpp"
#include "words/affinity.hpp"

#include <doctest/doctest.h>

#include <sched.h>
#include <unistd.h>

#include <filesystem>

namespace troupe::test {

namespace {

using processors = std::vector<int32_t>;

/// The threads of this process, those of earlier tests that are about to end included.
std::set<pid_t> present_threads() {
  std::set<pid_t> all;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"})
    all.insert(static_cast<pid_t>(std::stol(task.path().filename())));
  return all;
}
int64_t threads_since(const std::set<pid_t>& before) {
  const auto now = present_threads();
  return std::count_if(now.begin(), now.end(), [&](pid_t id) { return !before.contains(id); });
}

int processors_of(pid_t thread) {
  cpu_set_t set;
  return ::sched_getaffinity(thread, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}
/// How many threads of this process may run on one processor only, although its first thread has more; if that has
/// one, none.
int64_t bound_threads() {
  const auto all = present_threads();
  return processors_of(::getpid()) == 1
             ? 0
             : std::count_if(all.begin(), all.end(), [](pid_t id) { return processors_of(id) == 1; });
}

/// Where replicas computed.
struct whereabouts {
  std::mutex guard;
  std::map<int32_t, std::set<processors>> trained;  ///< By the index of the replica.
  std::set<processors> evaluated;
  std::set<int64_t> bound;  ///< How many threads of the process were bound while one of the replicas computed.
};

class watched_engine final : public wrapped_engine {
 public:
  watched_engine(std::shared_ptr<step_engine> inner, int32_t replica, int32_t replicas,
                 std::shared_ptr<whereabouts> seen)
    : wrapped_engine(std::move(inner)), replica_(replica), replicas_(replicas), seen_(std::move(seen)) {}
  step_status gradients(int64_t step, const batch_feeds& in, int arena) override {
    auto bound = bound_threads();
    // The system may need a moment to remove the thread of a replica that has died.
    for (const auto end = std::chrono::steady_clock::now() + soon;
         bound > replicas_ && std::chrono::steady_clock::now() < end; bound = bound_threads())
      std::this_thread::yield();
    {
      std::lock_guard lock{seen_->guard};
      seen_->trained[replica_].insert(allowed_processors());
      seen_->bound.insert(bound);
    }
    return wrapped_engine::gradients(step, in, arena);
  }
  step_status evaluate(int64_t step, const batch_feeds& in, int arena) override {
    {
      std::lock_guard lock{seen_->guard};
      seen_->evaluated.insert(allowed_processors());
    }
    return wrapped_engine::evaluate(step, in, arena);
  }

 private:
  int32_t replica_, replicas_;
  std::shared_ptr<whereabouts> seen_;
};

std::shared_ptr<whereabouts> watch(prepared_job& job) {
  const auto seen = std::make_shared<whereabouts>();
  for (auto& program : job.programs) {
    const auto count = static_cast<int32_t>(program.engines.size());
    for (int32_t r = 0; r < count; ++r)
      if (auto& engine = program.engines[static_cast<size_t>(r)])
        engine = std::make_shared<watched_engine>(engine, r, count, seen);
    program.make_engine = [make = program.make_engine, count, seen](const plan_node& n) {
      return make(n).map([&](std::unique_ptr<step_engine> made) -> std::unique_ptr<step_engine> {
        return std::make_unique<watched_engine>(std::move(made), n.index, count, seen);
      });
    };
  }
  return seen;
}

/// The texts of warnings. Read once the job has ended.
class warnings_heard final : public hook {
 public:
  void on_event(const job_event& e, job_control&) override {
    if (e.what == job_event::kind::warning)
      texts.push_back(e.text);
  }
  std::vector<std::string> texts;
};

std::shared_ptr<prepared_job> prepare_pinned(const small_job_options& o, int32_t available = 1) {
  auto job = describe_small(o);
  job.basis.config.pin_replicas = true;
  job.basis.config.recovery.first_delay_secs = 0;
  job.basis.processors = available;
  auto prepared = prepare(std::move(job));
  REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
  return *prepared;
}

void train_on_threads(const std::shared_ptr<prepared_job>& job) {
  const auto result = local_launcher{}.train(job)->wait(soon);
  REQUIRE(result.has_value());
  REQUIRE_MESSAGE(result->has_value(), (*result ? "" : to_text(result->error())));
}

}  // namespace

TEST_CASE("pinned replicas train each on its processor, after a death too, and end in the bits of others") {
  const auto all = allowed_processors();
  for (const int64_t replicas : {1, 2, 3}) {
    CAPTURE(replicas);
    const auto heard = std::make_shared<warnings_heard>();
    small_job_options o{.max_steps = 60, .replicas = replicas, .evaluates = true, .recovers = 5};
    o.input = small_dataset(240).shuffle().batch(12).repeat();
    const auto expected_state = undisturbed(o);
    o.files = memory_disk::make();
    o.hooks = {heard};
    const auto prepared = prepare_pinned(o);
    CHECK(prepared->processors == all);
    const auto seen = watch(*prepared);
    const auto fate = std::make_shared<doom>();
    fate->steps = {7, 33};
    make_mortal(*prepared, fate);
    train_on_threads(prepared);
    CHECK(fate->steps.empty());
    CHECK(same_state(newest_checkpoint(o.files).content, expected_state));
    for (int32_t r = 0; r < static_cast<int32_t>(replicas); ++r)
      CHECK(seen->trained[r] == std::set<processors>{{all[static_cast<size_t>(r) % all.size()]}});
    CHECK(seen->evaluated == std::set<processors>{all});
    if (all.size() > 1)
      CHECK_MESSAGE(seen->bound == std::set<int64_t>{replicas}, "no other thread is bound");
    for (const auto& text : heard->texts)
      CHECK_FALSE_MESSAGE(has(text, "pinned"), text);
  }
}

TEST_CASE("the further threads of a pinned replica are not pinned, after a death too, and one warning says so") {
  const auto heard = std::make_shared<warnings_heard>();
  small_job_options o{.max_steps = 6, .save_steps = 2, .replicas = 2, .threads = 2, .hooks = {heard}, .recovers = 5};
  o.input = small_dataset(256).batch(64).repeat();
  o.source = wide_model();
  const auto before = present_threads();
  const auto prepared = prepare_pinned(o);
  CHECK_MESSAGE(threads_since(before) == 2, "each replica has one further thread");
  const auto seen = watch(*prepared);
  const auto fate = std::make_shared<doom>();
  fate->steps = {3};
  make_mortal(*prepared, fate);
  train_on_threads(prepared);
  if (allowed_processors().size() > 1)
    CHECK(seen->bound == std::set<int64_t>{2});
  CHECK(std::count(heard->texts.begin(), heard->texts.end(),
                   "pin_replicas pins one thread of each replica; its other one runs on any processor "
                   "(intra_op_threads = 2)")
        == 1);
}

TEST_CASE("a replica that is pinned computes with one thread unless it is told to have more") {
  small_job_options o{.replicas = 2, .threads = 0};
  o.input = small_dataset(2048).batch(2048).repeat();
  o.source = wide_model();
  const auto before = present_threads();
  const auto pinned = prepare_pinned(o, 8);
  CHECK(threads_since(before) == 0);
  auto job = describe_small(o);
  job.basis.processors = 8;
  const auto free = prepare(std::move(job));
  REQUIRE(free);
  CHECK(threads_since(before) > 0);
}

TEST_CASE("a processor that the system refuses is one warning, and the job goes on") {
  const auto heard = std::make_shared<warnings_heard>();
  small_job_options o{.max_steps = 60, .replicas = 2, .hooks = {heard}, .recovers = 5};
  const auto expected_state = undisturbed(o);
  o.files = memory_disk::make();
  const auto prepared = prepare_pinned(o);
  prepared->processors = {1023};
  const auto seen = watch(*prepared);
  const auto fate = std::make_shared<doom>();
  fate->steps = {7, 33};
  make_mortal(*prepared, fate);
  train_on_threads(prepared);
  CHECK(same_state(newest_checkpoint(o.files).content, expected_state));
  CHECK(seen->trained[0] == std::set<processors>{allowed_processors()});
  for (const std::string name : {"replica/0", "replica/1"})
    CHECK_MESSAGE(std::count(heard->texts.begin(), heard->texts.end(),
                             name + " is not pinned to processor 1023: Invalid argument")
                      == 1,
                  "started again or not");
}

TEST_CASE("a system that does not say which processors there are is one warning") {
  const auto heard = std::make_shared<warnings_heard>();
  const auto prepared = prepare_pinned({.max_steps = 3, .replicas = 2, .hooks = {heard}});
  prepared->processors.clear();
  train_on_threads(prepared);
  CHECK(std::count(heard->texts.begin(), heard->texts.end(),
                   "replicas are not pinned: the system does not say which processors the process may use")
        == 1);
}

TEST_CASE("in simulation nothing is pinned, and nothing is said of it") {
  const auto heard = std::make_shared<warnings_heard>();
  small_job_options o{.replicas = 2, .threads = 2, .hooks = {heard}};
  const auto expected_state = undisturbed(o);
  o.files = memory_disk::make();
  const auto prepared = prepare_pinned(o);
  prepared->processors = {1023};
  simulated_job job{prepared, 1};
  CHECK(same_state(state_at_end(job, o.files), expected_state));
  CHECK(heard->texts.empty());
}

}  // namespace troupe::test
