// Loops in whole jobs: where they begin and end, what hooks are told of them, and that they change no bit.
#include "messages/block.hpp"
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/event_files.hpp"
#include "words/checkpoint_books.hpp"

#include <caf/type_erased_tuple.hpp>
#include <doctest/doctest.h>

#include <cmath>

namespace troupe::test {

namespace {

struct loops_seen : hook {
  std::vector<loop_facts> all;
  bool asks = true;
  explicit loops_seen(bool asks_ = true) : asks(asks_) {}
  needs begin(int64_t) override { return {.loops = asks}; }
  void on_loop(const loop_facts& loop, job_control&) override { all.push_back(loop); }

  std::vector<std::pair<int64_t, int64_t>> spans() const {
    std::vector<std::pair<int64_t, int64_t>> of;
    for (const auto& l : all)
      of.emplace_back(l.first, l.end);
    return of;
  }
};

using pairs = std::vector<std::pair<int64_t, int64_t>>;

/// A world in which a turn of a replica takes half a second.
world_conditions half_a_second() {
  world_conditions c;
  c.cost["replica"] = {std::chrono::milliseconds{500}, std::chrono::milliseconds{500}};
  return c;
}

void run_slowly(training_job description, uint64_t seed = 1) {
  auto prepared = prepare(std::move(description));
  REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
  simulated_job job{*prepared, seed, half_a_second()};
  run_to_end(job, std::chrono::hours{20});
}

/// All losses of a job, step by step.
struct losses_seen : hook {
  std::vector<double> all;
  needs begin(int64_t step) override { return {.steps = {{.first = step + 1, .every = 1}}}; }
  void on_step(const step_facts& facts, job_control&) override {
    all.push_back(static_cast<double>(facts.values.at("loss").as<float>()[0]));
  }
};

}  // namespace

TEST_CASE(
    "[DF-24] 10 steps in loops of 4 are loops of 4, 4 and 2, the job ends at step 10, and each replica is sent ten "
    "batches") {
  for (const int64_t replicas : {1, 2}) {
    const auto seen = std::make_shared<loops_seen>(), deaf = std::make_shared<loops_seen>(false);
    small_job_options o{.max_steps = 10, .replicas = replicas, .hooks = {seen, deaf}, .loop = 4};
    simulated_job job{prepare_small(o), 1};
    std::map<std::string, int64_t> sent;
    job.watch([&](const std::string&, const std::string& to, const caf::type_erased_tuple& content) {
      if (to.starts_with("replica/") && content.match_elements<block>())
        sent[to] += content.get_as<block>(0).count;
    });
    CHECK(run_to_end(job).global_step == 10);
    CHECK(seen->spans() == pairs{{0, 4}, {4, 8}, {8, 10}});
    CHECK(deaf->all.empty());
    CHECK(std::ssize(sent) == replicas);
    for (const auto& [replica, batches] : sent)
      CHECK_MESSAGE(batches == 10, replica);
  }
}

TEST_CASE(
    "[DF-25] a job at its last step makes no loop, and one of so many steps more that recovers within its second loop "
    "ends where it would") {
  const auto seen = std::make_shared<loops_seen>();
  small_job_options o{.max_steps = 7, .hooks = {seen}, .loop = 4};
  run_to_end(o);
  seen->all.clear();
  CHECK(run_to_end(o).global_step == 7);
  CHECK(seen->all.empty());

  small_job_options again{.max_steps = 3, .recovers = 3, .loop = 4};
  run_to_end(again);
  struct waits_at_6 : hook {
    needs begin(int64_t) override { return {.steps = {{.first = 6, .gate = true}}, .holds = {.saved = true}}; }
  };
  again.hooks = {seen, std::make_shared<waits_at_6>()};
  auto description = describe_small(again);
  description.max_steps.reset();
  description.steps = 7;
  const auto prepared = *prepare(std::move(description));
  simulated_job job{prepared, 1};
  REQUIRE(job.crank_until([&] { return job.progress().step == 6 && job.progress().committed_step == 5; }));
  REQUIRE(job.kill("replica/0"));
  CHECK(run_to_end(job).global_step == 10);
  CHECK(steps_of(job.events(), job_event::kind::recovered) == steps{5});
  REQUIRE_FALSE(seen->all.empty());
  CHECK(seen->spans().back() == std::pair<int64_t, int64_t>{8, 10});
  small_job_options whole{.max_steps = 3, .loop = 4};
  run_to_end(whole);
  auto seven_more = describe_small(whole);
  seven_more.max_steps.reset();
  seven_more.steps = 7;
  run_to_end(std::move(seven_more));
  CHECK(same_state(newest_checkpoint(again.files).content, newest_checkpoint(whole.files).content));
}

TEST_CASE("a job that resumes within a loop says from which step on it counts") {
  const auto seen = std::make_shared<loops_seen>();
  small_job_options o{.max_steps = 6, .hooks = {seen}, .loop = 4};
  run_to_end(o);
  CHECK(seen->spans() == pairs{{0, 4}, {4, 6}});
  seen->all.clear();
  o.max_steps = 10;
  run_to_end(o);
  CHECK(seen->spans() == pairs{{6, 8}, {8, 10}});
  CHECK(seen->all[0].begins == 4);
}

TEST_CASE("a loop has the loss of its last step, their mean over its steps, and of 64-bit sums") {
  const auto seen = std::make_shared<loops_seen>();
  const auto losses = std::make_shared<losses_seen>();
  small_job_options o{.max_steps = 10, .replicas = 2, .hooks = {seen, losses}, .loop = 4};
  run_to_end(o);
  REQUIRE(losses->all.size() == 10);
  REQUIRE(seen->all.size() == 3);
  for (const auto& l : seen->all) {
    double sum = 0;
    for (auto step = l.first; step < l.end; ++step)
      sum += losses->all[static_cast<size_t>(step)];
    CHECK(l.mean_loss == doctest::Approx(sum / static_cast<double>(l.end - l.first)));
    CHECK(l.last_loss == doctest::Approx(losses->all[static_cast<size_t>(l.end) - 1]));
    CHECK(l.replica_0_loss > 0);
    CHECK_FALSE(l.replica_0_loss == l.last_loss);
    CHECK_FALSE(l.ppl);
  }
}

TEST_CASE(
    "[DF-32] with log_step_count_steps 100 and loops of 30 progress is told every 100 steps; ppl is exp(loss), bpc "
    "loss / ln 2") {
  const auto seen = std::make_shared<loops_seen>();
  auto d = describe_small({.max_steps = 300, .hooks = {seen}, .loop = 30});
  d.basis.config.log_steps = 100;
  d.basis.config.log_perplexity = true;
  std::vector<job_event> events;
  run_to_end(std::move(d), 1, &events);
  CHECK(steps_of(events, job_event::kind::progress) == steps{100, 200, 300});
  for (const auto& e : events)
    if (e.what == job_event::kind::progress) {
      CHECK(e.metrics.at("ppl") == doctest::Approx(std::exp(e.loss)));
      CHECK(e.metrics.at("bpc") == doctest::Approx(e.loss / std::log(2.0)));
    }
  REQUIRE(seen->all.size() == 10);
  for (const auto& l : seen->all) {
    CHECK(*l.ppl == doctest::Approx(std::exp(l.last_loss)));
    CHECK(*l.bpc == doctest::Approx(l.last_loss / std::log(2.0)));
  }
}

TEST_CASE("[DF-20] an infeed is sent as many messages by its chief with loops of 1 step as with loops of 1,000") {
  const auto sent_with = [](int64_t loop) {
    small_job_options o{.max_steps = 200, .save_steps = 100, .loop = loop};
    simulated_job job{prepare_small(o), 1};
    std::pair<int64_t, int64_t> count{0, 0};  // Grants, and all messages.
    job.watch([&](const std::string& from, const std::string& to, const caf::type_erased_tuple& content) {
      if (from != "chief" || to != "infeed/0")
        return;
      count.first += content.match_elements<run>() ? 1 : 0;
      ++count.second;
    });
    run_to_end(job);
    return count;
  };
  const auto seldom = sent_with(1000);
  CHECK(seldom.first > 0);
  CHECK(seldom.first < 100);
  CHECK(sent_with(1) == seldom);
}

TEST_CASE("loops by steps or by time change no bit of a model that carries nothing") {
  const auto plain = state_at_end(small_job_options{});
  for (const int64_t loop : {1, 7, 1000})
    CHECK(same_state(state_at_end(small_job_options{.loop = loop}), plain));
  const auto seen = std::make_shared<loops_seen>();
  small_job_options o{.hooks = {seen}};
  auto d = describe_small(o);
  d.basis.config.loop = std::chrono::seconds{10};
  run_slowly(std::move(d));
  CHECK(same_state(newest_checkpoint(o.files).content, plain));
  int64_t next = 0;
  for (const auto& l : seen->all) {  // Loops by time cover all steps, one after the other.
    CHECK(l.first == next);
    CHECK(l.begins == l.first);
    next = l.end;
  }
  CHECK(next == 20);
  CHECK(seen->all.front().end == 1);
  CHECK(seen->all.back().end - seen->all.back().first > 1);
}

TEST_CASE("a job that is killed within a loop of a time goes on within it") {
  small_job_options o{.max_steps = 60, .save_steps = 7};
  const auto description = [&] {
    auto d = describe_small(o);
    d.basis.config.loop = std::chrono::seconds{10};
    return d;
  };
  int64_t begins = -1, steps = 0;
  {
    auto prepared = prepare(description());
    REQUIRE(prepared);
    simulated_job job{*prepared, 1, half_a_second()};
    REQUIRE(job.crank_until([&] { return job.progress().committed_step >= 28; }));
    const auto books = read_books(newest_checkpoint(o.files).content.properties);
    REQUIRE(books.loop);
    begins = books.loop->begins;
    steps = books.loop->steps;
  }
  const auto from = newest_checkpoint(o.files).content.id.step;
  const auto seen = std::make_shared<loops_seen>();
  auto again = description();
  again.hooks = {seen};
  run_slowly(std::move(again), 2);
  REQUIRE_FALSE(seen->all.empty());
  if (loop_span{begins, steps}.begins_at(from))
    CHECK(seen->all[0].begins == from);
  else
    CHECK(seen->all[0].begins == begins);
  CHECK(seen->all[0].first == from);
  CHECK(seen->all.back().end == 60);
}

TEST_CASE("loops have the rate of training: a gate's time and an evaluation's rows do not count") {
  struct slow_gate : loops_seen {
    simulated_job* job = nullptr;
    needs begin(int64_t) override { return {.steps = {{.first = 20, .gate = true}}, .loops = true}; }
    void on_step(const step_facts&, job_control&) override { job->pass(std::chrono::seconds{1000}); }
  };
  const auto seen = std::make_shared<slow_gate>();
  small_job_options o{.max_steps = 200, .save_steps = 1000, .evaluates = true, .hooks = {seen}};
  auto d = describe_small(o);
  d.basis.config.loop = std::chrono::seconds{10};
  d.evaluations.front().data.input = small_dataset().batch(16);
  auto prepared = prepare(std::move(d));
  REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
  simulated_job job{*prepared, 1, half_a_second()};
  seen->job = &job;
  run_to_end(job, std::chrono::hours{20});
  REQUIRE(seen->all.size() > 5);
  double in_loops = 0;
  for (const auto& l : seen->all) {
    REQUIRE(l.examples_per_second > 0);
    in_loops += static_cast<double>((l.end - l.first) * 4) / l.examples_per_second;
  }
  const double trained = job.events().back().seconds - 1000;
  CHECK(in_loops <= trained + 1);
  CHECK(in_loops > 0.6 * trained);
}

TEST_CASE("event files have the examples a second beside the steps a second") {
  small_job_options o{.max_steps = 40, .input = small_dataset().shuffle().batch(4).repeat()};
  auto d = describe_small(o);
  d.basis.config.summary_steps = 10;
  run_slowly(std::move(d));
  std::map<int64_t, double> steps_a_second, examples_a_second;
  for (const auto& e : events_in(*o.files, "/run"))
    for (const auto& v : e.values) {
      if (v.tag == "global_step/sec")
        steps_a_second[e.step] = v.scalar;
      if (v.tag == "examples/sec")
        examples_a_second[e.step] = v.scalar;
    }
  REQUIRE_FALSE(steps_a_second.empty());
  REQUIRE(examples_a_second.size() == steps_a_second.size());
  for (const auto& [step, rate] : steps_a_second)
    CHECK(examples_a_second.at(step) == doctest::Approx(4 * rate));
}

}  // namespace troupe::test
