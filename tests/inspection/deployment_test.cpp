#include "support/has.hpp"

#include <troupe/deployment.hpp>
#include <troupe/options/input_mode_names.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace troupe {

using test::has;

namespace {

using nlohmann::json;

deployment_description described(deployment_options o, int64_t batch) {
  o.train_batch = o.eval_batch = o.predict_batch = batch;
  const auto layout = describe_deployment(o);
  REQUIRE_MESSAGE(layout, (layout ? "" : layout.error().message));
  return *layout;
}

}  // namespace

TEST_CASE("a layout names host, core and replica of every core, and the rows that each replica gets") {
  const auto layout = described({.hosts = 8, .cores_per_host = 8, .input_mode = input_mode::per_replica}, 1024);
  CHECK(layout.replicas == 64);
  REQUIRE(layout.cores.size() == 64);
  CHECK(layout.cores[9].host == 1);
  CHECK(layout.cores[9].ordinal == 1);
  CHECK(layout.cores[9].replica == 9);
  REQUIRE(layout.modes.size() == 3);
  for (const auto& m : layout.modes) {
    CHECK_FALSE(m.refused);
    CHECK(m.inputs.size() == 8);
    CHECK(m.batches_per_step == 8);
    CHECK(m.input_rows == 16);
    CHECK(m.feeds[9] == deployment_description::feed{1, 1, 0, 16});
  }
  CHECK(layout.modes[0].warnings.empty());
  CHECK(layout.modes[1].warnings.size() == 1);
}

TEST_CASE("modes that feed replicas alike share a table") {
  CHECK(to_text(described({.hosts = 1, .cores_per_host = 2}, 6))
        == R"(2 replicas on 1 host of 2 cores, input mode per_host
train: 6 rows a step; 1 input reads 1 batch of 6 rows; a replica gets 3
evaluate: 6 rows a step; 1 input reads 1 batch of 6 rows; a replica gets 3
predict: 6 rows a step; 1 input reads 1 batch of 6 rows; a replica gets 3
each step of train, evaluate, predict
  host  core  replica  input  batch  rows
     0     0        0      0      0  0 to 2
     0     1        1      0      0  3 to 5
)");
}

TEST_CASE("modes that differ have a table each, and one that cannot be says why") {
  const auto text = to_text(described({.hosts = 2, .cores_per_host = 1, .input_mode = input_mode::per_core}, 2));
  CHECK(has(text, "train: 2 rows a step; 2 inputs, each reads 1 batch of 1 row; a replica gets 1\n"));
  CHECK(has(text, "cannot evaluate: input mode per_core would read the data on each of 2 hosts"));
  CHECK(has(text, "each step of train, predict\n"));
  CHECK(has(text, "     1     0        1      1      0  0\n"));
  const auto uneven = to_text(*describe_deployment({.cores_per_host = 2, .train_batch = 4, .predict_batch = 8}));
  CHECK(has(uneven, "each step of train\n"));
  CHECK(has(uneven, "cannot evaluate: replicas need the size of the batch"));
  CHECK(has(uneven, "each step of predict\n"));
}

TEST_CASE("a layout that cannot be, or a batch that training cannot divide, is an error") {
  CHECK(describe_deployment({.hosts = 0, .train_batch = 4}).error().category == errc::state);
  CHECK(describe_deployment({.cores_per_host = 4, .replicas = 2, .train_batch = 4}).error().category
        == errc::invalid_argument);
  CHECK(has(describe_deployment({.cores_per_host = 4, .train_batch = 6}).error().message,
            "train: a batch of 6 rows cannot be divided evenly among 4 replicas"));
}

TEST_CASE("one replica of many cores is laid out on one, with a warning") {
  const auto layout = described({.hosts = 2, .cores_per_host = 2, .replicas = 1}, 3);
  CHECK(layout.cores.size() == 1);
  CHECK(has(to_text(layout), "warning: replicas = 1 takes one core of one host: 3 of 4 cores are left idle\n"));
}

TEST_CASE("as JSON a layout has every feed, and a mode that is refused its error") {
  const auto j = json::parse(to_json(described({.hosts = 2, .cores_per_host = 2}, 8)));
  CHECK(j["kind"] == "deployment");
  CHECK(j["replicas"] == 4);
  CHECK(j["input_mode"] == "per_host");
  CHECK(j["modes"][0]["inputs"] == json{{{"host", 0}, {"replicas", 2}}, {{"host", 1}, {"replicas", 2}}});
  CHECK(j["modes"][0]["feeds"][3]
        == json{{"host", 1}, {"core", 1}, {"replica", 3}, {"input", 1}, {"batch", 0}, {"first_row", 2}, {"rows", 2}});
  CHECK(j["modes"][1]["refused"]["category"] == "invalid_argument");
  CHECK_FALSE(j["modes"][1].contains("feeds"));
}

TEST_CASE("the names of input modes are those that are printed") {
  for (const auto& [name, m] : option_choices<input_mode>::all)
    CHECK(to_string(m) == name);
}

}  // namespace troupe
