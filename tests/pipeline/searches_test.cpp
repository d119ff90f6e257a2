// Searches, as whole jobs in simulation: they grow from iteration to iteration, and end in the same architecture and
// bits wherever they are interrupted.
#include "storage/files/faulty_file_system.hpp"
#include "support/killed_search.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

std::vector<std::string> texts_of(const std::vector<job_event>& events, job_event::kind what) {
  std::vector<std::string> all;
  for (const auto& e : events)
    if (e.what == what)
      all.push_back(e.text);
  return all;
}

const checkpoint_content& undisturbed_search() {
  static const auto content = [] {
    small_search s;
    simulated_job job{prepare_search(s), 1};
    run_to_end(job);
    return newest_checkpoint(s.o.files).content;
  }();
  return content;
}

}  // namespace

TEST_CASE("a search grows through its iterations, chooses by the averages that it saved, and ends with the last one") {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    small_search s;
    simulated_job job{prepare_search(s), seed};
    const auto result = run_to_end(job);
    CHECK(result.global_step == 30);
    CHECK((commits_of(job.events())
           == std::vector<checkpoint_id>{{0}, {5}, {10}, {10, 1}, {15, 1}, {20, 1}, {20, 2}, {25, 2}, {30, 2}}));
    CHECK(steps_of(job.events(), job_event::kind::recovered).empty());
    CHECK(steps_of(job.events(), job_event::kind::chosen) == steps{10, 20});
    CHECK(steps_of(job.events(), job_event::kind::grown) == steps{10, 20});
    const auto books = newest_books(s.o.files);
    CHECK(books.iteration() == 2);
    CHECK(books.tick == 30);
    REQUIRE(result.search);
    CHECK(result.search->iteration == 2);
    auto finished = result.search->replay_indices;
    REQUIRE(finished.size() == 3);
    CHECK(books.candidates[static_cast<size_t>(finished.back())].what.spec == result.search->spec);
    finished.pop_back();
    CHECK(finished == books.winners[1].recipe.replay_indices);
    CHECK_FALSE(result.search->winner.members.empty());
    REQUIRE(books.winners.size() == 2);
    CHECK(has(texts_of(job.events(), job_event::kind::chosen)[0], books.winners[0].spec + " wins iteration 0"));
    for (const auto& c : books.candidates)
      CHECK(c.average.count > 0);
    CHECK(same_state(newest_checkpoint(s.o.files).content, undisturbed_search()));
  }
}

TEST_CASE("the averages in the books are those of the variables in the same checkpoint") {
  small_search s;
  simulated_job job{prepare_search(s), 1};
  run_to_end(job);
  const auto store = checkpoint_store::open(s.o.files, "/run", {.read_only = true});
  REQUIRE(store);
  for (const auto id : {checkpoint_id{5}, checkpoint_id{10}, checkpoint_id{15, 1}, checkpoint_id{30, 2}}) {
    CAPTURE(to_string(id));
    const auto found = (*store)->restore(id);
    REQUIRE(found);
    const auto books = parse_books(found->content.blobs.at("search"), "books");
    REQUIRE(books);
    size_t compared = 0;
    for (const auto& c : books->candidates) {
      const auto keys = loss_average_keys_of(id.iteration, c.what.spec);
      for (const auto& t : found->content.tensors)
        if (t.name == keys.value) {
          CHECK(t.value.as<float>()[0] == c.average.value);
          ++compared;
        }
    }
    CHECK(compared == 2);
  }
}

TEST_CASE("the global step of a checkpoint is that of the search, where a subnetwork stops before the others") {
  small_search s;
  s.search.max_iterations = 1;
  s.search.subnetwork_generator = [](const generator_input& in) {
    auto all = generators::simple_dnn({.optimizer = adam{}, .layer_size = 4})(in);
    all[0].steps_max = 4;
    return all;
  };
  const auto result = run_to_end(describe_search(s));
  CHECK(result.global_step == 7);  // The mean of 4 and 10 steps.
  std::map<std::string, tensor> numbers;
  for (const auto& t : newest_checkpoint(s.o.files).content.tensors)
    if (t.value.type() == dtype::int64)
      numbers[t.name] = t.value;
  CHECK(numbers.size() == 6);
  CHECK(numbers.at("global_step") == tensor::scalar<int64_t>(7));
  CHECK(numbers.at("adanet/current_iteration") == tensor::scalar<int64_t>(0));
  CHECK(numbers.at(subnetwork_step_key(0, "linear")) == tensor::scalar<int64_t>(4));
  CHECK(numbers.at(subnetwork_step_key(0, "1_layer_dnn")) == tensor::scalar<int64_t>(10));
}

TEST_CASE("members of the previous ensemble keep their values, and losers are dropped") {
  small_search s;
  simulated_job job{prepare_search(s), 1};
  run_to_end(job);
  const auto store = checkpoint_store::open(s.o.files, "/run", {.read_only = true});
  REQUIRE(store);
  const auto before = (*store)->restore({10}), after = (*store)->restore({10, 1});
  REQUIRE(before);
  REQUIRE(after);
  const auto books = parse_books(after->content.blobs.at("search"), "books");
  REQUIRE(books);
  const auto& winner = books->winners.front().recipe.members.front();
  size_t kept = 0, lost = 0;
  for (const auto& t : after->content.tensors) {
    if (!t.name.starts_with("adanet/iteration_0/subnetwork_"))
      continue;
    t.name.starts_with(subnetwork_scope(0, winner.builder) + "/") ? ++kept : ++lost;
    for (const auto& old : before->content.tensors)
      if (old.name == t.name)
        CHECK(old.value == t.value);
  }
  CHECK(kept > 0);
  CHECK(lost == 0);
}

TEST_CASE("architectures and marks of stopped specs are files, which are written again if somebody changes them") {
  small_search s;
  s.o.max_steps = 25;
  {
    simulated_job job{prepare_search(s), 1};
    run_to_end(job);
  }
  const auto text = read_file(*s.o.files, "/run/architecture-1.json");
  REQUIRE(text);
  CHECK(*text == architecture_text(newest_books(s.o.files).winners[1].recipe));
  CHECK(read_file(*s.o.files, "/run/train_manager/t0/t0_linear.json").has_value());
  REQUIRE(write_file_atomically(*s.o.files, "/run", "architecture-1.json", "nonsense"));
  s.o.max_steps = 30;
  simulated_job job{prepare_search(s), 1};
  run_to_end(job);
  CHECK(read_file(*s.o.files, "/run/architecture-1.json") == text);
}

TEST_CASE("a search is killed at turns from its begin to its end, and ends in the same architecture and bits") {
  const bool every = std::getenv("TROUPE_GROWTH_SEEDS") != nullptr;  // Set by --all.
  CHECK(places_killed([] { return small_search{}; }, every ? 3 : 97, undisturbed_search()) > (every ? 100 : 5));
}

TEST_CASE("a search on a disk that fails ends with that error, and another process ends in the same bits") {
  const bool every = std::getenv("TROUPE_GROWTH_SEEDS") != nullptr;  // Set by --all.
  int64_t places = 0;
  for (int64_t calls = 0;; calls += every ? 3 : 41, ++places) {
    small_search s;
    const auto disk = memory_disk::make();
    const auto faulty = faulty_file_system::around(disk);
    s.o.files = faulty;
    bool failed = true;
    {
      simulated_job job{prepare_search(s), 2};
      faulty->fail_after(calls, calls % 2 == 0);
      const auto result = job.wait(std::chrono::hours{2});
      REQUIRE(result);
      failed = !result->has_value();
      CHECK((!failed || result->error().category == errc::unavailable));
    }
    CAPTURE(calls);
    s.o.files = disk;
    simulated_job next{prepare_search(s), 3};
    run_to_end(next);
    CHECK(same_state(newest_checkpoint(s.o.files).content, undisturbed_search()));
    if (!failed)
      break;
  }
  CHECK(places > 3);
}

TEST_CASE("a replay of a candidate that there is not is refused before the iteration is trained") {
  small_search s;
  s.search.replay_indices = {2};
  const auto made = prepare(describe_search(s));
  REQUIRE_FALSE(made);
  CHECK(made.error().category == errc::invalid_argument);
  CHECK(has(made.error().message, "replay index 2 of iteration 0: there are only 2 candidates"));
}

TEST_CASE("a search whose nodes die recovers to the same architecture and bits") {
  for (const auto* const who : {"t0_linear/replica/0", "t0_linear_grow_cr/replica/0", "infeed/0"})
    for (const int64_t at : {3, 7, 10}) {
      CAPTURE(who);
      CAPTURE(at);
      small_search s;
      simulated_job job{prepare_search(s), 4};
      REQUIRE(job.crank_until([&] { return job.progress().step >= at; }));
      const bool killed = job.kill(who);
      run_to_end(job);
      CHECK((killed || at == 10));
      CHECK(same_state(newest_checkpoint(s.o.files).content, undisturbed_search()));
    }
}

TEST_CASE("a search that is done trains nothing when it is started again, and says why") {
  small_search s;
  {
    simulated_job job{prepare_search(s), 1};
    run_to_end(job);
  }
  const auto before = newest_checkpoint(s.o.files).content;
  simulated_job again{prepare_search(s), 2};
  const auto result = run_to_end(again);
  CHECK(result.steps_run == 0);
  CHECK(result.global_step == 30);
  CHECK_MESSAGE(has(result.remark, "max_iterations"), result.remark);
  CHECK(same_state(newest_checkpoint(s.o.files).content, before));
}

TEST_CASE("a search that ended at max_steps goes on when that is raised, as if it had never ended") {
  small_search s;
  s.o.max_steps = 10;  // Where the first iteration is complete: nothing is chosen.
  {
    simulated_job job{prepare_search(s), 1};
    CHECK(run_to_end(job).global_step == 10);
    CHECK(newest_books(s.o.files).iteration() == 0);
  }
  s.o.max_steps = 0;
  simulated_job job{prepare_search(s), 1};
  CHECK(run_to_end(job).global_step == 30);
  CHECK(newest_books(s.o.files).winners.size() == 2);
}

TEST_CASE("an input that ends leaves the iteration open") {
  small_search s;
  s.o.input = small_dataset().batch(4);  // 12 batches.
  simulated_job job{prepare_search(s), 1};
  const auto result = run_to_end(job);
  CHECK(result.global_step == 12);
  CHECK(newest_books(s.o.files).iteration() == 1);
  CHECK(newest_books(s.o.files).tick == 12);
}

TEST_CASE("what the previous ensemble computes is kept over epochs, with the bits of a search that computes it again") {
  const auto run = [](int64_t bytes_max, int64_t expected_caches) {
    small_search s;
    s.o.input = small_dataset().shuffle().batch(12).repeat();  // Four batches an epoch.
    s.search.cache_bytes_max = bytes_max;
    std::vector<job_event> events;
    const auto job = describe_search(s);
    const auto second = planned_search(job, books_at(planned_search(job), 10, 1));
    CHECK(std::ssize(second.resources.caches) == expected_caches);
    run_to_end(job, 1, &events);
    std::vector<std::map<std::string, double>> losses;
    for (const auto& e : events)
      if (e.what == job_event::kind::progress)
        losses.push_back(e.metrics);
    return std::pair{newest_checkpoint(s.o.files).content, losses};
  };
  const auto kept = run(1 << 20, 1), again = run(0, 0), too_small = run(100, 1);
  CHECK(same_state(kept.first, again.first));
  CHECK(kept.second == again.second);
  CHECK_MESSAGE(same_state(too_small.first, again.first), "the outputs of 48 rows need more");
  CHECK(kept.second.back().contains("previous/loss"));
}

TEST_CASE("evaluations show the metrics of the candidate that leads") {
  small_search s;
  s.o.evaluates = true;
  simulated_job job{prepare_search(s), 1};
  const auto result = run_to_end(job);
  CHECK(result.metrics.contains("accuracy"));
  for (const auto& [name, value] : result.metrics)
    CHECK_MESSAGE(name.find('/') == std::string::npos, name);
  CHECK(steps_of(job.events(), job_event::kind::evaluated) == steps{5, 10, 15, 20, 25, 30});
  CHECK(same_state(newest_checkpoint(s.o.files).content, undisturbed_search()));
}

TEST_CASE("[ADA-22.6 NaN builder] a search with a subnetwork of NaN fails with nan_loss, whichever place that has") {
  const auto network = [](std::string name, float factor) {
    return builder{.name = std::move(name),
                   .build = [factor](graph& g, const build_context& c) -> subnetwork {
                     const auto h = mul(nn::dense(c.features["x"], {.units = 3}), g.constant(tensor::scalar(factor)));
                     return {.last_layer = h, .logits = h, .complexity = 1};
                   },
                   .optimizer = gradient_descent{}};
  };
  const auto nan = network("nan", std::numeric_limits<float>::quiet_NaN()), good = network("good", 1);
  for (const auto& builders : {std::vector{nan}, {nan, good}, {good, nan}}) {
    small_search s;
    s.search.subnetwork_generator = generators::list(builders);
    simulated_job job{prepare_search(s), 1};
    const auto why = failure_of(job);
    CHECK(why.category == errc::nan_loss);
    CHECK_MESSAGE(has(to_text(why), "t0_nan"), to_text(why));
  }
}

TEST_CASE("[ADA-22.8 retention] as many checkpoints remain as are to be kept, over iterations too") {
  for (const int64_t keeps : {3, 1})
    for (const int64_t iteration_steps : {3, 1}) {
      CAPTURE(keeps);
      CAPTURE(iteration_steps);
      small_search s;
      s.o.max_steps = 3;
      s.o.save_steps = 1;
      s.search.max_iteration_steps = iteration_steps;
      s.search.max_iterations.reset();
      auto job = describe_search(s);
      job.basis.config.keep_checkpoint_max = keeps;
      CHECK(run_to_end(std::move(job)).global_step == 3);
      const auto store = checkpoint_store::open(s.o.files, "/run", {.read_only = true});
      REQUIRE(store);
      CHECK((*store)->listed().size() == static_cast<size_t>(keeps));
      const auto there = s.o.files->list("/run");
      REQUIRE(there);
      CHECK(
          std::count_if(there->begin(), there->end(), [](const auto& f) { return f.name.ends_with(".manifest.json"); })
          == keeps);
    }
}

TEST_CASE("a candidate whose numbers are not finite leaves, and the others go on as without it") {
  // `bad`: its place among the builders.
  const auto with = [](std::optional<int> bad, uint64_t seed) {
    small_search s;
    s.search.on_candidate_not_finite = candidate_not_finite::drop;
    s.search.subnetwork_generator = [bad](const generator_input&) {
      const auto network = [](std::string name, double rate) {
        return builder{.name = std::move(name),
                       .build = [](graph&, const build_context& c) -> subnetwork {
                         const auto h = nn::dense(c.features["x"], {.units = 4, .activation = relu});
                         return {.last_layer = h, .logits = nn::dense(h, {.units = 3}), .complexity = 1};
                       },
                       .optimizer = gradient_descent{.rate = static_cast<float>(rate)}};
      };
      std::vector<builder> all{network("good", 0.1), network("better", 0.2)};
      if (bad)
        all.insert(all.begin() + *bad, network("bad", 1e30));
      return all;
    };
    simulated_job job{prepare_search(s), seed};
    run_to_end(job);
    return newest_checkpoint(s.o.files).content;
  };
  const auto books_of = [](const checkpoint_content& c) { return parse_books(c.blobs.at("search"), "books").value(); };
  const auto alone = with({}, 1);
  for (const int place : {0, 1, 2}) {
    CAPTURE(place);
    const auto disturbed = with(place, 1);
    for (uint64_t seed = 2; seed <= 5; ++seed)
      CHECK(same_state(with(place, seed), disturbed));
    const auto books = books_of(disturbed);
    CHECK(books.iteration() == 2);
    REQUIRE(books.subnetworks.size() == 3);
    REQUIRE(books.subnetworks[place].stop);
    CHECK(books.subnetworks[place].stop->cause == stop_cause::dropped);
    for (size_t t = 0; t < 2; ++t)
      CHECK(books.winners[t].recipe.members == books_of(alone).winners[t].recipe.members);
    size_t compared = 0;
    for (const auto& t : alone.tensors)
      for (const auto& other : disturbed.tensors)
        if (t.name == other.name && t.value.type() != dtype::int64) {  // The global step is that of all subnetworks.
          CHECK_MESSAGE(t.value == other.value, t.name);
          ++compared;
        }
    const auto steps = std::count_if(alone.tensors.begin(), alone.tensors.end(),
                                     [](const named_tensor& t) { return t.value.type() == dtype::int64; });
    CHECK(static_cast<int64_t>(compared) == std::ssize(alone.tensors) - steps);
  }
}

}  // namespace troupe::test
