// Jobs in simulation whose nodes, disks, hooks and data fail at the worst moment: each ends in time and names the right
// cause.
#include "pipeline/launch/simulated_launcher.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "support/small_job.hpp"
#include "support/troubled_dataset.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using kind = job_event::kind;
using namespace std::chrono_literals;

struct ending {
  expected<train_result> result;
  std::chrono::nanoseconds took{0};
};

/// Runs the job to its end, which it must reach within 200 virtual seconds and without leaving an actor.
ending end_of(simulated_job& job) {
  const auto began = job.now();
  auto result = job.wait(2h);
  REQUIRE(result.has_value());
  CHECK(job.now() - began <= 200s);
  CHECK(job.left().empty());
  return {*result, job.now() - began};
}

/// A dataset over `inner` whose iterators save or restore in another way.
class stubborn_stage final : public dataset_stage {
 public:
  std::function<expected<std::string>(const dataset_iterator&)> save = [](const dataset_iterator& inner) {
    return inner.save();
  };
  std::function<expected<void>(dataset_iterator&, std::string_view)> restore =
      [](dataset_iterator& inner, std::string_view state) { return inner.restore(state); };

  explicit stubborn_stage(const dataset& inner) : inner_(inner.last_stage()) {}
  element_spec spec() const override { return inner_->spec(); }
  std::string to_text() const override { return inner_->to_text() + " -> stubborn"; }
  std::optional<int64_t> source_size() const override { return inner_->source_size(); }
  std::optional<int64_t> elements(bool drop) const override { return inner_->elements(drop); }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const override {
    auto inner = inner_->iterate(options);
    if (!inner)
      return inner;
    return std::make_unique<iterator>(std::move(*inner), *this);
  }

 private:
  class iterator final : public dataset_iterator {
   public:
    iterator(std::unique_ptr<dataset_iterator> inner, const stubborn_stage& node)
      : inner_(std::move(inner)), save_(node.save), restore_(node.restore) {}
    const element_spec& spec() const noexcept override { return inner_->spec(); }
    int64_t batch_rows() const noexcept override { return inner_->batch_rows(); }
    expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
      return inner_->read(into, stop);
    }
    expected<std::string> save() const override { return save_(*inner_); }
    expected<void> restore(std::string_view state) override { return restore_(*inner_, state); }

   private:
    std::unique_ptr<dataset_iterator> inner_;
    decltype(stubborn_stage::save) save_;
    decltype(stubborn_stage::restore) restore_;
  };
  std::shared_ptr<const dataset_stage> inner_;
};

dataset small_batches() { return small_dataset().shuffle().batch(4).repeat(); }

}  // namespace

TEST_CASE(
    "when the outfeed dies and the data end before the horizon the state there is saved, and the job fails as that") {
  int saved_at_the_end = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    for (int64_t replicas : {1, 2}) {
      // 12 batches.
      small_job_options o{
          .max_steps = 400, .save_steps = 1000, .replicas = replicas, .input = small_dataset().batch(4)};
      simulated_job job{prepare_small(o), seed};
      REQUIRE(job.crank_until([&] { return job.progress().step >= 1 + static_cast<int64_t>(seed % 10); }));
      if (!job.kill("outfeed"))
        continue;
      CAPTURE(seed);
      const auto end = end_of(job);
      CHECK(end.took < 1s);
      if (end.result) {  // The job had no step left to do.
        CHECK(end.result->global_step == 12);
        continue;
      }
      CHECK(end.result.error().source == "outfeed");
      CHECK(end.result.error().category == errc::aborted);
      saved_at_the_end += newest_checkpoint(o.files).content.id.step > 0;
    }
  }
  CHECK(saved_at_the_end > 30);
}

TEST_CASE("a node that dies after a stop was asked for costs no deadline, whether its part was handed over or not") {
  int failed = 0;
  for (const char* node : {"infeed/0", "replica/0", "replica/1", "reducer"})
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      small_job_options o{
          .max_steps = 400, .save_steps = 7, .replicas = 2, .reducers = node == std::string_view{"reducer"}};
      simulated_job job{prepare_small(o), seed};
      REQUIRE(job.crank_until([&] { return job.progress().step >= 9; }));
      job.ask(request::stop);
      for (uint64_t turn = 0; turn < seed % 23; ++turn)
        job.crank();
      const bool killed = job.kill(node);
      CAPTURE(seed);
      CAPTURE(node);
      const auto end = end_of(job);
      CHECK(end.took < 1s);
      if (end.result)
        continue;
      ++failed;
      CHECK(killed);
      CHECK_MESSAGE(end.result.error().source == node, to_text(end.result.error()));
      CHECK(newest_checkpoint(o.files).content.id.step >= 0);
    }
  CHECK(failed > 40);
}

TEST_CASE(
    "a failure after a failure re-opens no save: a dead disk beside an evaluation and hooks ends at once, as the "
    "disk") {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    auto disk = faulty_file_system::around(memory_disk::make());
    small_job_options o{
        .max_steps = 400, .save_steps = 5, .evaluates = true, .when = evaluation_mode::beside, .files = disk};
    simulated_job job{prepare_small(o), seed};
    REQUIRE(job.crank_until([&] { return job.progress().step >= 6; }));
    disk->fail_after(static_cast<int64_t>(seed % 5));
    for (uint64_t turn = 0; turn < seed; ++turn)
      job.crank();
    if (seed % 2 == 0)
      job.kill("evaluator");
    CAPTURE(seed);
    const auto end = end_of(job);
    REQUIRE_FALSE(end.result);
    const auto& e = end.result.error();
    CHECK_MESSAGE((e.category == errc::unavailable || (seed % 2 == 0 && e.source == "evaluator")), to_text(e));
    CHECK(end.took < 60s);
  }
}

TEST_CASE(
    "an input that cannot go back to where it stood fails the resumed job with its own words, and a stop is heard") {
  for (const bool throws : {false, true})
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      small_job_options o{.max_steps = 4000, .input = small_batches()};
      {
        simulated_job job{prepare_small(o), seed};
        REQUIRE(job.crank_until([&] { return job.progress().committed_step >= 5; }));
        job.ask(request::stop);
        REQUIRE(end_of(job).result);
      }
      auto node = std::make_shared<stubborn_stage>(small_batches());
      node->restore = [throws](dataset_iterator&, std::string_view) -> expected<void> {
        if (throws)
          throw std::runtime_error("the index is corrupt");
        return fail(errc::failed_precondition, "the first stage that differs is batch");
      };
      o.input = dataset{node};
      const auto before = newest_checkpoint(o.files).content;
      simulated_job job{prepare_small(o), seed};
      if (seed % 2 == 0) {
        for (uint64_t turn = 0; turn < 3 * seed; ++turn)
          job.crank();
        job.ask(request::stop, stop_reason::signal);
      }
      CAPTURE(seed);
      const auto end = end_of(job);
      REQUIRE_FALSE(end.result);
      CHECK(end.result.error().source == "infeed/0");
      CHECK(has(end.result.error().message, throws ? "the index is corrupt" : "the first stage that differs is batch"));
      CHECK(end.took < 1s);
      CHECK_MESSAGE(same_state(newest_checkpoint(o.files).content, before), "what was there is as it was");
    }
}

TEST_CASE("an input that cannot be saved fails the job where its position is asked for, whoever stands there") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    auto node = std::make_shared<stubborn_stage>(small_batches());
    auto saves = std::make_shared<int>(0);
    node->save = [saves](const dataset_iterator& inner) -> expected<std::string> {
      if (++*saves > 20)
        return fail(errc::unimplemented, "the position of my_map cannot be saved");
      return inner.save();
    };
    small_job_options o{.max_steps = 400,
                        .save_steps = seed % 2 == 0 ? std::optional<int64_t>{3} : std::optional<int64_t>{1000},
                        .input = dataset{node}};
    simulated_job job{prepare_small(o), seed};
    REQUIRE(
        job.crank_until([&] { return job.progress().step >= 8 || job.progress().now == job_progress::phase::failed; }));
    job.ask(request::stop);
    CAPTURE(seed);
    const auto end = end_of(job);
    CHECK(end.took < 1s);
    if (*saves <= 20)
      continue;
    REQUIRE_FALSE(end.result);
    CHECK_MESSAGE(end.result.error().message == "the position of my_map cannot be saved", to_text(end.result.error()));
    CHECK(end.result.error().source == "infeed/0");
  }
}

TEST_CASE("the resumed line says where the data stand") {
  small_job_options o{.max_steps = 10};
  const auto started = [&](int64_t max_steps, bool stops = false) {
    o.max_steps = max_steps;
    simulated_job job{prepare_small(o), 1};
    if (stops) {
      REQUIRE(job.crank_until([&] { return job.progress().step >= 15; }));
      job.ask(request::stop);
    }
    REQUIRE(end_of(job).result);
    return job.events().front().text;
  };
  CHECK(started(10) == "a fresh start");
  CHECK(started(4000, true) == "resumed from /run/model.ckpt-10; the data begin anew, as the job had finished");
  CHECK(started(4000, true).ends_with("; the data go on where they stood"));
  const auto stands = std::to_string(newest_checkpoint(o.files).content.id.step);
  CHECK(started(1) == "resumed from /run/model.ckpt-" + stands);  // Trains nothing, so reads no data.
}

TEST_CASE("a finished job that is run again writes nothing") {
  small_job_options o{.max_steps = 10, .evaluates = true};
  {
    simulated_job job{prepare_small(o), 1};
    REQUIRE(end_of(job).result);
  }
  const auto everything = [&] {
    std::map<std::string, std::string> all;
    for (const std::string folder : {"/run", "/run/eval"}) {
      const auto files = *o.files->list(folder);
      for (const auto& file : files)
        if (!file.directory)
          all[folder + "/" + file.name] = *read_file(*o.files, folder + "/" + file.name);
    }
    return all;
  };
  const auto before = everything();
  CHECK(before.size() > 4);
  simulated_job job{prepare_small(o), 2};
  const auto end = end_of(job);
  REQUIRE(end.result);
  CHECK(end.result->metrics.contains("accuracy"));
  CHECK(everything() == before);
}

TEST_CASE("with the policy go_on an evaluation that always fails is a warning each, and the job ends") {
  for (const auto when : {evaluation_mode::waits, evaluation_mode::beside}) {
    small_job_options o{.max_steps = 20, .evaluates = true, .when = when};
    auto description = describe_small(o);
    description.evaluations.front().on_evaluator_failure = failure_policy::go_on;
    description.evaluations.front().data.input = dataset{std::make_shared<troubled_stage>(
        small_dataset(20).batch(8).last_stage(), 1,
        [] { return expected<void>{fail(errc::data_loss, "the evaluation's data are damaged")}; })};
    simulated_job job{*prepare(std::move(description)), 1};
    const auto end = end_of(job);
    REQUIRE_MESSAGE(end.result, to_text(end.result.error()));
    CHECK(end.result->global_step == 20);
    const auto warned = steps_of(job.events(), kind::warning);
    CHECK(warned.back() == 20);
    CHECK(std::adjacent_find(warned.begin(), warned.end()) == warned.end());
  }
}

TEST_CASE(
    "a checkpoint writer that dies while saves are marked ahead costs no deadline: the last save is made, and no arena "
    "stays lent") {
  for (uint64_t seed = 1; seed <= 40; ++seed)
    for (int64_t replicas : {1, 2}) {
      small_job_options o{.max_steps = 400, .save_steps = 2, .replicas = replicas};
      simulated_job job{prepare_small(o), seed};
      REQUIRE(job.crank_until([&] { return job.progress().step >= 2 + static_cast<int64_t>(seed % 7); }));
      REQUIRE(job.kill("checkpoint_writer"));
      CAPTURE(seed);
      const auto end = end_of(job);
      REQUIRE_FALSE(end.result);
      CHECK(end.result.error().source == "checkpoint_writer");
      CHECK(end.took < 1s);
      CHECK(newest_checkpoint(o.files).content.id.step >= 2);
    }
}

}  // namespace troupe::test
