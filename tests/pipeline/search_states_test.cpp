// Searches over subnetworks that carry states from batch to batch: what a member remembers goes on in later iterations,
// and kills and other numbers of replicas change no bit.
#include "tests/support/has.hpp"
#include "tests/support/killed_search.hpp"

#include <troupe/nn.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// A recurrent subnetwork: its memory of `units` numbers a row goes on from batch to batch.
builder remembering(const std::string& name, int64_t units) {
  return {.name = name,
          .build = [units](graph& g, const build_context& c) -> subnetwork {
            const auto x = c.features["x"];
            const auto batch = x.dims().front();
            const auto before = g.state({.name = "memory", .dims = {batch, units}});
            const auto count = g.state({.name = "count", .dims = {batch}});
            const auto after = tanh(nn::dense(concat({x, before}, 1), {.units = units}));
            g.carry(before, stop_gradient(after));
            g.carry(count, count + 1);
            return {.last_layer = after, .logits = nn::dense(after, {.units = c.logits_dimension}), .complexity = 1.0};
          },
          .optimizer = adam{.rate = 0.02f}};
}

small_search remembering_search() {
  small_search s;
  s.search.subnetwork_generator = [](const generator_input& in) {
    const auto t = std::to_string(in.iteration);
    return std::vector<builder>{remembering("few" + t, 3), remembering("more" + t, 4)};
  };
  return s;
}

std::map<std::string, tensor> tensors_of(const checkpoint_content& c) {
  std::map<std::string, tensor> all;
  for (const auto& t : c.tensors)
    all[t.name] = t.value;
  return all;
}

}  // namespace

TEST_CASE("a member of the previous ensemble goes on with what it remembers, one step a tick") {
  auto s = remembering_search();
  simulated_job job{prepare_search(s), 1};
  run_to_end(job);
  const auto store = checkpoint_store::open(s.o.files, "/run", {.read_only = true});
  REQUIRE(store);
  const auto books = newest_books(s.o.files);
  for (const auto id : {checkpoint_id{10}, checkpoint_id{10, 1}, checkpoint_id{15, 1}, checkpoint_id{30, 2}}) {
    CAPTURE(to_string(id));
    const auto found = (*store)->restore(id);
    REQUIRE(found);
    const auto all = tensors_of(found->content);
    size_t counts = 0;
    for (const auto& [name, value] : all)
      if (name.ends_with("/count")) {
        CAPTURE(name);
        const auto began = name.find("iteration_0") != std::string::npos   ? 0
                           : name.find("iteration_1") != std::string::npos ? 10
                                                                           : 20;
        for (const float x : value.as<float>())
          CHECK(x == static_cast<float>(id.step - began));
        ++counts;
      }
    CHECK(counts >= 2);
  }
}

TEST_CASE("a candidate that stops where its state is saved leaves the rows that are being saved alone") {
  struct stops_at_5 : hook {
    needs begin(int64_t) override { return {.steps = {{.first = 5, .gate = true}}}; }
    void on_step(const step_facts& now, job_control& job) override {
      if (now.step == 5)
        job.stop();
    }
  };
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    auto s = remembering_search();
    s.search.subnetwork_generator = [](const generator_input& in) {
      const auto t = std::to_string(in.iteration);
      std::vector<builder> both{remembering("few" + t, 3), remembering("more" + t, 4)};
      both[0].hooks = [] { return std::vector<std::shared_ptr<hook>>{std::make_shared<stops_at_5>()}; };
      return both;
    };
    s.search.max_iterations = 1;
    simulated_job job{prepare_search(s), seed};
    job.slow_down("checkpoint_writer", 10'000);
    run_to_end(job);
    const auto store = checkpoint_store::open(s.o.files, "/run", {.read_only = true});
    REQUIRE(store);
    for (const int64_t step : {5, 10}) {
      CAPTURE(step);
      const auto found = (*store)->restore({step});
      REQUIRE(found);
      size_t counts = 0;
      for (const auto& [name, value] : tensors_of(found->content))
        if (name.ends_with("/count")) {
          CAPTURE(name);
          for (const float x : value.as<float>())
            CHECK(x == static_cast<float>(step));
          ++counts;
        }
      CHECK(counts == 2);
    }
  }
}

TEST_CASE("a search whose subnetworks carry states ends in the same bits, killed anywhere and on two replicas") {
  const auto on = [](int64_t replicas) {
    auto s = remembering_search();
    s.o.replicas = replicas;
    s.o.shards = 2;
    return s;
  };
  const auto ended = [](const small_search& s) {
    simulated_job job{prepare_search(s), 1};
    run_to_end(job);
    return newest_checkpoint(s.o.files).content;
  };
  const auto state = ended(on(1));
  CHECK(same_state(ended(on(2)), state));
  CHECK(places_killed([&] { return on(1); }, 97, state) > 5);
  CHECK(places_killed([&] { return on(2); }, 191, state) > 5);
}

}  // namespace troupe::test
