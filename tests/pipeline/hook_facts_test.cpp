// The facts that hooks receive, and jobs whose hooks fail.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"

#include <troupe/nn.hpp>

#include <doctest/doctest.h>

#include <bit>

namespace troupe::test {

namespace {

/// Records the loss of every step that it sees, and stops the job at a gate if the loss is below `target`.
struct loss_watcher final : hook {
  need wants{.first = 1, .every = 1};
  double target = 0;
  std::vector<std::pair<int64_t, uint32_t>> seen;  ///< A state and the bits of the loss of the step before it.
  std::optional<int64_t> asked_at;

  needs begin(int64_t) override { return {.steps = {wants}}; }
  void on_step(const step_facts& facts, job_control& job) override {
    const float loss = facts.values.at("loss").as<float>()[0];
    seen.emplace_back(facts.step, std::bit_cast<uint32_t>(loss));
    if (loss < target && !std::exchange(asked_at, facts.step))
      job.stop();
  }
};

/// Records the values that it is shown at every step.
struct observer final : hook {
  needs wants;
  std::vector<std::map<std::string, tensor>> seen;

  explicit observer(std::vector<std::string> values) {
    wants.steps.push_back({.first = 1, .every = 1});
    wants.values = std::move(values);
  }
  needs begin(int64_t) override { return wants; }
  void on_step(const step_facts& facts, job_control&) override { seen.push_back(facts.values); }
};

/// A model that observes its input, one row for each row of the batch, and the mean of its logits.
model observed_model() {
  return model{"small", [](graph& g, const features& x, const labels& y, mode m) {
                 const auto logits = nn::dense(x["x"], {.units = 3});
                 g.observe("input", x["x"]);
                 g.observe("mean logit", reduce_mean(logits));
                 return multi_class_head{.classes = 3}.spec(
                     g, {.mode = m, .logits = logits, .labels = y, .optimizer = adam{.rate = 0.05f}});
               }};
}

/// Stops the job on the first fact of kind `what` that is about state `at` or a later one.
struct stops_on final : hook {
  job_event::kind what = job_event::kind::evaluated;
  int64_t at = 10;
  bool holds = true;
  needs begin(int64_t) override {
    return {.holds = {.saved = holds && what == job_event::kind::saved,
                      .evaluated = holds && what == job_event::kind::evaluated}};
  }
  void on_event(const job_event& e, job_control& job) override {
    if (e.what == what && e.step >= at)
      job.stop();
  }
};

/// Throws an exception in `end` or `on_abort` if the test asks for it.
struct bad_loser final : hook {
  bool in_end = false;
  std::vector<std::string>* calls = nullptr;
  void end(int64_t) override {
    calls->push_back("end");
    if (in_end)
      throw std::runtime_error{"not yet"};
  }
  void on_abort(const error&) override { calls->push_back("abort"); }
};

small_job_options watched_job(int64_t replicas, std::shared_ptr<hook> who) {
  return {.max_steps = 20,
          .replicas = replicas,
          .shards = 4,
          .input = small_dataset(64).shuffle().batch(16).repeat(),
          .hooks = {std::move(who)},
          .source = small_model(0.2, 0.05)};
}

}  // namespace

TEST_CASE(
    "a hook sees the loss of a step as the mean over all its gradient shards, the same bits whatever the replicas") {
  std::vector<std::vector<std::pair<int64_t, uint32_t>>> seen;
  std::vector<job_event> events;
  for (const int64_t replicas : {1, 2, 4}) {
    const auto watcher = std::make_shared<loss_watcher>();
    auto d = describe_small(watched_job(replicas, watcher));
    d.basis.config.log_steps = 1;
    simulated_job job{*prepare(d), 3};
    REQUIRE(job.wait(std::chrono::hours{2})->has_value());
    REQUIRE(watcher->seen.size() == 20);
    seen.push_back(watcher->seen);
    events = job.events();
  }
  CHECK(seen[1] == seen[0]);
  CHECK(seen[2] == seen[0]);
  size_t logged = 0;
  for (const auto& e : events)
    if (e.what == job_event::kind::progress) {
      CHECK(std::bit_cast<uint32_t>(static_cast<float>(e.loss)) == seen[0][logged].second);
      ++logged;
    }
  CHECK(logged == 20);
}

TEST_CASE("a gate that stops at a loss ends the job at the same step with one replica, two and four") {
  std::vector<int64_t> ends;
  double target = 0;
  // The target is a little above the loss that one replica has in the middle. All must stop at the first step whose
  // loss is below.
  {
    const auto watcher = std::make_shared<loss_watcher>();
    simulated_job job{prepare_small(watched_job(1, watcher)), 3};
    REQUIRE(job.wait(std::chrono::hours{2})->has_value());
    target = static_cast<double>(std::bit_cast<float>(watcher->seen.at(9).second)) + 1e-6;
  }
  for (const int64_t replicas : {1, 2, 4}) {
    const auto watcher = std::make_shared<loss_watcher>();
    watcher->wants.gate = true;
    watcher->target = target;
    simulated_job job{prepare_small(watched_job(replicas, watcher)), 3};
    const auto result = job.wait(std::chrono::hours{2});
    REQUIRE(result->has_value());
    CHECK((*result)->stopped);
    CHECK((*result)->global_step == watcher->asked_at);
    ends.push_back((*result)->global_step);
  }
  CHECK(ends[0] <= 10);
  CHECK(ends == std::vector<int64_t>(3, ends[0]));
}

TEST_CASE("a hook sees the observed values that it names, those of all shards of all replicas, and no others") {
  const auto input = small_dataset(64);
  std::vector<std::vector<std::map<std::string, tensor>>> seen;
  for (const int64_t replicas : {1, 2, 4}) {
    const auto all = std::make_shared<observer>(std::vector<std::string>{"mean logit", "input"});
    const auto none = std::make_shared<observer>(std::vector<std::string>{});
    simulated_job job{prepare_small({.max_steps = 6,
                                     .replicas = replicas,
                                     .shards = 4,
                                     .input = input.batch(16).repeat(),
                                     .hooks = {all, none},
                                     .source = observed_model()}),
                      3};
    REQUIRE(job.wait(std::chrono::hours{2})->has_value());
    seen.push_back(all->seen);
    REQUIRE(none->seen.size() == 6);
    for (const auto& values : none->seen)
      CHECK((values.size() == 1 && values.contains("loss")));
  }
  REQUIRE(seen[0].size() == 6);
  CHECK(seen[1] == seen[0]);
  CHECK(seen[2] == seen[0]);
  CHECK(seen[0][0].size() == 3);
  CHECK(seen[0][0].at("input").dims() == shape{16, 8});
  CHECK_MESSAGE(seen[0][0].at("input") == seen[0][4].at("input"), "an epoch is four batches, and nothing is shuffled");
  CHECK_FALSE(seen[0][0].at("input") == seen[0][1].at("input"));
  CHECK_FALSE(seen[0][0].at("mean logit") == seen[0][4].at("mean logit"));
}

TEST_CASE("a hook that asks for a value that the model does not observe fails the job, which names both") {
  simulated_job job{prepare_small({.hooks = {std::make_shared<observer>(std::vector<std::string>{"logits"})},
                                   .source = observed_model()}),
                    3};
  const auto result = job.wait(std::chrono::hours{2});
  REQUIRE_FALSE(result->has_value());
  CHECK(result->error().category == errc::invalid_argument);
  CHECK(result->error().message.starts_with("hooks[0] (troupe::test::"));
  CHECK(result->error().message.ends_with(
      "observer) asks for the value 'logits', and the model observes 'input', 'mean logit'"));
}

TEST_CASE("a hook may name the loss among its values, also where the model observes nothing") {
  for (const auto& source : {small_model(), observed_model()}) {
    const auto who = std::make_shared<observer>(std::vector<std::string>{"loss"});
    run_to_end({.max_steps = 3, .hooks = {who}, .source = source});
    REQUIRE(who->seen.size() == 3);
    for (const auto& values : who->seen)
      CHECK((values.size() == 1 && values.contains("loss")));
  }
}

TEST_CASE("observing changes no bit of what a job leaves") {
  std::vector<std::vector<tensor>> states;
  for (const bool observes : {false, true}) {
    small_job_options o{.max_steps = 10, .replicas = 2, .shards = 4, .source = observed_model()};
    if (observes)
      o.hooks = {std::make_shared<observer>(std::vector<std::string>{"mean logit"})};
    simulated_job job{prepare_small(o), 3};
    REQUIRE(job.wait(std::chrono::hours{2})->has_value());
    const auto left = (*checkpoint_store::open(o.files, "/run", {}))->restore_newest();
    REQUIRE(left);
    for (auto& all = states.emplace_back(); const auto& t : left->content.tensors)
      all.push_back(t.value);
    CHECK(states.back().size() > 3);
  }
  CHECK(states[0] == states[1]);
}

TEST_CASE("a hook that stops on a fact that it holds ends the job at exactly that state, in every order of messages") {
  bool went_on = false;
  for (const auto what : {job_event::kind::saved, job_event::kind::evaluated})
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(seed);
      const auto stop_held = [&](bool holds) {
        const auto h = std::make_shared<stops_on>();
        h->what = what;
        h->holds = holds;
        simulated_job job{
            prepare_small(
                {.max_steps = 1'000, .replicas = 2, .evaluates = true, .when = evaluation_mode::beside, .hooks = {h}}),
            seed};
        const auto result = job.wait(std::chrono::hours{2});
        REQUIRE(result->has_value());
        CHECK((*result)->stopped);
        return (*result)->global_step;
      };
      CHECK(stop_held(true) == 10);
      went_on = went_on || stop_held(false) > 10;
    }
  CHECK_MESSAGE(went_on, "a fact that nobody holds finds the job further on");
}

TEST_CASE(
    "a hook whose end throws fails the job that had ended well, and names itself; the end of all others is called") {
  std::vector<std::string> calls;
  small_job_options o;
  for (const bool throws : {false, true, false}) {
    auto h = std::make_shared<bad_loser>();
    h->in_end = throws;
    h->calls = &calls;
    o.hooks.push_back(h);
  }
  simulated_job job{prepare_small(o), 1};
  const auto result = job.wait(std::chrono::hours{2});
  REQUIRE(result.has_value());
  REQUIRE_FALSE(result->has_value());
  CHECK(result->error().category == errc::state);
  CHECK(result->error().message.starts_with("an exception left end() of hooks[1] (troupe::test::"));
  CHECK(result->error().message.ends_with("bad_loser): not yet"));
  CHECK(calls == std::vector<std::string>{"end", "end", "end"});
  CHECK(job.left().empty());
}

}  // namespace troupe::test
