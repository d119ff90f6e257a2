// What runs of a session bring: whole batches, some components of a batch, and what is refused.
#include "support/ended_jobs.hpp"
#include "support/simulated_session.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

tensor rows_of(float value, int64_t rows = 4, int64_t width = 8) {
  return tensor::of<float>({rows, width}, std::vector<float>(static_cast<size_t>(rows * width), value));
}
tensor labels_of(int32_t value, int64_t rows = 4) {
  return tensor::of<int32_t>({rows}, std::vector<int32_t>(static_cast<size_t>(rows), value));
}

/// Its loss is the mean of x.
model mean_model() {
  return model{"mean", [](graph& g, const features& x, const labels&, mode m) {
                 const symbol w = g.variable({.name = "w", .dims = {1}, .initial = init::zeros()});
                 g.observe("mean", reduce_mean(x["x"]));
                 const symbol zero = reduce_mean(mul(w, w));
                 return model_spec{
                     .mode = m, .loss = reduce_mean(x["x"]) + zero, .optimizer = gradient_descent{.rate = 0.1f}};
               }};
}

small_job_options mean_job() { return {.max_steps = 100, .save_steps = 5, .source = mean_model(), .recovers = 10}; }

double number(const tensor& x) {
  return x.type() == dtype::float32 ? static_cast<double>(x.as<float>()[0]) : x.as<double>()[0];
}

error refused(simulated_session& s, const run_request& what) {
  const auto made = s->run(what);
  REQUIRE_FALSE(made);
  return made.error();
}

}  // namespace

TEST_CASE("a component that a run feeds is that of each of its steps, and the others are the input's") {
  auto o = mean_job();
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    o.files = memory_disk::make();
    simulated_session s{o, seed, {.feeds = {"x"}}};
    for (const float value : {0.5f, 0.25f, 3.0f}) {
      const auto made = s->run({.what = {.fetches = {"loss", "mean"}, .feeds = {{"x", rows_of(value)}}}, .steps = 3});
      REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
      CHECK(number(made->values.at("loss")) == doctest::Approx(value));
      CHECK(number(made->values.at("mean")) == doctest::Approx(value));
    }
    s.close();
  }
}

TEST_CASE("a run that is made again after a death has the data that it was fed") {
  auto o = mean_job();
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    o.files = memory_disk::make();
    simulated_session s{o, seed, {.feeds = {"x"}}};
    REQUIRE(s->run({.what = {.feeds = {{"x", rows_of(1)}}}}));
    s.kill("replica/0");
    const auto made = s->run({.what = {.fetches = {"loss"}, .feeds = {{"x", rows_of(2)}}}});
    REQUIRE(made);
    CHECK(number(made->values.at("loss")) == 2);
    s.close();
  }
}

TEST_CASE("whole batches are fed where the input is rows_to_feed, and nothing else is read") {
  auto o = mean_job();
  o.input = rows_to_feed({.features = {{"x", dtype::float32, {8}}}, .labels = {{"y", dtype::int32, {}}}}, 4);
  simulated_session s{o, 1, {.feeds = {"x", "y"}}};
  const auto made = s->run(
      {.what = {.fetches = {"loss"}, .feeds = {{"x", rows_of(7)}, {"y", labels_of(1)}}}, .steps = 2});
  REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
  CHECK(number(made->values.at("loss")) == 7);
  s.close();
}

TEST_CASE("[SUP-10] what two feed is a state error that names it and both, and different tensors are merged") {
  texts book;
  const auto o = [&](run_arguments a, run_arguments b) {
    auto job = mean_job();
    job.hooks = {std::make_shared<signing_hook>("A", book, std::move(a)),
                 std::make_shared<signing_hook>("B", book, std::move(b))};
    return job;
  };
  const session_options fed{.feeds = {"x", "y"}};
  SUBCASE("two hooks") {
    simulated_session s{o({.feeds = {{"x", rows_of(1)}}}, {.feeds = {{"x", rows_of(1)}}}), 1, fed};
    const auto e = refused(s, {.what = {.feeds = {{"y", labels_of(1)}}}});
    CHECK(e.category == errc::state);
    CHECK_MESSAGE(
        e.message.find("'x' is fed by hooks[0] (troupe::test::signing_hook) and by hooks[1]") != std::string::npos,
        e.message);
  }
  SUBCASE("a hook and the caller") {
    simulated_session s{o({.feeds = {{"x", rows_of(1)}}}, {}), 1, fed};
    const auto e = refused(s, {.what = {.feeds = {{"x", rows_of(1)}, {"y", labels_of(1)}}}});
    CHECK(e.category == errc::state);
    CHECK_MESSAGE(e.message.find("'x' is fed by the caller and by hooks[0]") != std::string::npos, e.message);
  }
  SUBCASE("different ones") {
    simulated_session s{o({.feeds = {{"x", rows_of(5)}}}, {.feeds = {{"y", labels_of(2)}}}), 1, fed};
    const auto made = s->run({.what = {.fetches = {"loss"}}});
    REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
    CHECK(number(made->values.at("loss")) == 5);
    s.close();
  }
  SUBCASE("one that nobody feeds") {
    simulated_session s{o({.feeds = {{"x", rows_of(5)}}}, {}), 1, fed};
    CHECK(refused(s, {}).message.find("nobody feeds 'y'") != std::string::npos);
  }
}

TEST_CASE("feeds of another shape or dtype, of an unknown component and missing ones are refused before the run") {
  auto o = mean_job();
  simulated_session s{o, 1, {.feeds = {"x"}}};
  const auto why = [&](std::map<std::string, tensor> feeds) {
    const auto e = refused(s, {.what = {.feeds = std::move(feeds)}});
    CHECK(e.category == errc::invalid_argument);
    return e.message;
  };
  CHECK(why({{"x", rows_of(1, 3)}}) == "the caller feeds 'x' as float32[3, 8], and a batch of it is float32[4, 8]");
  CHECK(why({{"x", labels_of(1)}}) == "the caller feeds 'x' as int32[4], and a batch of it is float32[4, 8]");
  CHECK(why({{"y", labels_of(1)}}) == "the caller feeds 'y', and what is fed in this session is 'x'");
  CHECK(why({}) == "nobody feeds 'x', which each run of this session brings (session_options::feeds)");
  CHECK(s->run({.what = {.feeds = {{"x", rows_of(1)}}}})->step == 1);
  s.close();

  simulated_session none{o};
  CHECK(refused(none, {.what = {.feeds = {{"x", rows_of(1)}}}}).category == errc::invalid_argument);
  none.close();

  const simulated_session unknown{o, 1, {.feeds = {"z"}}};
  REQUIRE_FALSE(unknown.opened());
  CHECK_MESSAGE(unknown.opened().error().message.find("session_options::feeds names 'z', and the input has 'x', 'y'")
                    != std::string::npos,
                unknown.opened().error().message);
  o.hosts = 2;
  o.replicas = 2;
  const simulated_session two{o, 1, {.feeds = {"x"}}};
  REQUIRE_FALSE(two.opened());
  CHECK(two.opened().error().category == errc::unimplemented);
}

}  // namespace troupe::test
