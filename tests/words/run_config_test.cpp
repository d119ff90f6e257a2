#include "tests/support/has.hpp"

#include <troupe/options/run_config_fields.hpp>

#include <doctest/doctest.h>

#include <cmath>

namespace troupe {

using test::has;

namespace {

/// The error of `validate`; empty for a valid configuration.
std::string refused(const run_config& c) {
  auto ok = validate(c);
  if (!ok)
    CHECK(ok.error().category == errc::invalid_argument);
  return ok ? "" : ok.error().message;
}

checkpoint_trigger resolved(const run_config& c) {
  auto trigger = resolve_checkpoint_trigger(c);
  REQUIRE(trigger);
  return *trigger;
}

}  // namespace

TEST_CASE("the defaults save every 600 seconds, keep 5, and summarise and log every 100 steps") {
  const run_config c;
  CHECK(refused(c) == "");
  CHECK(resolved(c) == checkpoint_trigger{.secs = 600});
  CHECK(c.keep_checkpoint_max == 5);
  CHECK(c.keep_checkpoint_every_n_hours == 10000);
  CHECK(c.save_summary_steps == 100);
  CHECK(c.log_step_count_steps == 100);
  CHECK(c.steps_per_loop == loop_length{int64_t{100}});
  CHECK(c.replicas == 1);
  CHECK_FALSE(c.model_dir);
  CHECK_FALSE(c.seed);
  CHECK_FALSE(c.gradient_shards);
}

TEST_CASE("[EST-2] mentioning one checkpoint trigger, even as none, takes the other's default away") {
  CHECK(resolved({.save_checkpoints_steps = 10}) == checkpoint_trigger{.steps = 10});
  CHECK(resolved({.save_checkpoints_secs = 5}) == checkpoint_trigger{.secs = 5});
  CHECK(resolved({.save_checkpoints_steps = 10, .save_checkpoints_secs = std::nullopt})
        == checkpoint_trigger{.steps = 10});
  CHECK(resolved({.save_checkpoints_steps = std::nullopt, .save_checkpoints_secs = 5})
        == checkpoint_trigger{.secs = 5});
  for (const auto& off :
       {run_config{.save_checkpoints_steps = std::nullopt, .save_checkpoints_secs = std::nullopt},
        run_config{.save_checkpoints_steps = std::nullopt}, run_config{.save_checkpoints_secs = std::nullopt}}) {
    CHECK(resolved(off) == checkpoint_trigger{});
    CHECK_FALSE(resolved(off).enabled());
    CHECK(refused(off) == "");
  }
  CHECK_FALSE(resolved({.save_checkpoints_steps = 0}).enabled());
  CHECK(resolved({.save_checkpoints_steps = 1}).enabled());
  CHECK(resolved({}).enabled());
}

TEST_CASE("[EST-2] two checkpoint triggers with values are refused, naming both") {
  const run_config c{.save_checkpoints_steps = 10, .save_checkpoints_secs = 2.5};
  CHECK(refused(c) == "at most one of save_checkpoints_steps (10) and save_checkpoints_secs (2.5) may have a value");
  CHECK_FALSE(resolve_checkpoint_trigger(c));
}

TEST_CASE("[EST-3] replacing one checkpoint trigger turns the other off and leaves the original as it was") {
  const run_config original;
  const auto by_steps = replace(original, [](run_config& c) { c.save_checkpoints_steps = 20; });
  REQUIRE(by_steps);
  CHECK(resolved(*by_steps) == checkpoint_trigger{.steps = 20});
  const auto by_secs = replace(*by_steps, [](run_config& c) { c.save_checkpoints_secs = 30; });
  REQUIRE(by_secs);
  CHECK(resolved(*by_secs) == checkpoint_trigger{.secs = 30});
  CHECK(resolved(*by_steps) == checkpoint_trigger{.steps = 20});
  CHECK(original == run_config{});
  const auto both = replace(original, [](run_config& c) { c.save_checkpoints_steps = 1, c.save_checkpoints_secs = 2; });
  REQUIRE_FALSE(both);
  CHECK(both.error()
        == error{errc::invalid_argument,
                 "at most one of save_checkpoints_steps (1) and save_checkpoints_secs (2) may have a value"});
  CHECK(resolved(*replace(*by_secs, [](run_config& c) { c.save_checkpoints_steps = std::nullopt; }))
        == checkpoint_trigger{.secs = 30});
}

TEST_CASE("[EST-3] replacing a field that does not exist names it and those there are") {
  const run_config original;
  const auto e = replace(original, "foo", "1").error();
  CHECK(e.category == errc::invalid_argument);
  std::string known;
  run_config any;
  each_field(any, [&](const auto& row, auto&) { known.append(known.empty() ? "" : ", ").append(row.name); });
  CHECK(has(known, "save_checkpoints_secs"));
  CHECK(e.message == "a run configuration has no field 'foo'; it has " + known);
  CHECK(original == run_config{});
}

TEST_CASE("a change is applied alone, and none is a value like others") {
  const run_config original{.model_dir = "a", .seed = 3, .keep_checkpoint_max = 2};
  const auto changed = replace(
      original, [](run_config& c) { c.seed = std::nullopt, c.keep_checkpoint_max = std::nullopt, c.replicas = 2; });
  REQUIRE(changed);
  CHECK(*changed == run_config{.model_dir = "a", .keep_checkpoint_max = std::nullopt, .replicas = 2});
  CHECK(*replace(original, [](run_config&) {}) == original);
}

TEST_CASE("a field replaced by name takes the text of a value or none, and refuses another by name") {
  const auto config = replace(run_config{}, "save_checkpoints_secs", "0.5");
  REQUIRE(config);
  CHECK(resolved(*config) == checkpoint_trigger{.secs = 0.5});
  CHECK_FALSE(resolved(*replace(run_config{}, "save_checkpoints_steps", "none")).enabled());
  CHECK(replace(run_config{}, "model_dir", "runs/a")->model_dir == "runs/a");
  CHECK(replace(run_config{}, "log_step_count_steps", "none")->log_step_count_steps == std::nullopt);
  CHECK_FALSE(run_config{}.debug_numerics);
  CHECK(replace(run_config{}, "debug_numerics", "true")->debug_numerics);
  CHECK(run_config{}.train_metrics == train_metrics::logged);
  CHECK(replace(run_config{}, "train_metrics", "all")->train_metrics == train_metrics::all);
  CHECK_FALSE(replace(run_config{}, "train_metrics", "some"));
  CHECK_FALSE(run_config{}.recompute);
  CHECK(replace(run_config{}, "recompute", "true")->recompute);
  CHECK_FALSE(replace(run_config{.debug_numerics = true}, "debug_numerics", "false")->debug_numerics);
  CHECK(replace(run_config{}, "debug_numerics", "yes").error().message
        == "debug_numerics must be true or false, not 'yes'");
  CHECK(replace(run_config{}, "intra_op_threads", "3")->intra_op_threads == 3);
  CHECK(replace(run_config{}, "pin_replicas", "true")->pin_replicas);
  CHECK(replace(run_config{}, "pin_replicas", "2").error().message == "pin_replicas must be true or false, not '2'");
  CHECK(replace(run_config{}, "intra_op_threads", "-1").error().message
        == "intra_op_threads must be in [0, 1024], not -1");
  CHECK(replace(run_config{}, "intra_op_threads", "4294967297").error().message
        == "intra_op_threads must be in [0, 1024], not 4294967297");
  CHECK(replace(run_config{}, "replicas", "two").error().message
        == "replicas must be a whole number in [1, 1024], not 'two'");
  CHECK(replace(run_config{}, "replicas", "2.5").error().message
        == "replicas must be a whole number in [1, 1024], not '2.5'");
  CHECK(replace(run_config{}, "replicas", "none").error().message
        == "replicas must be a whole number in [1, 1024], not 'none'");
  CHECK(replace(run_config{}, "replicas", "0").error().message == "replicas must be in [1, 1024], not 0");
}

TEST_CASE("[DF-1] a length of loops is a number of steps from 1 on, or seconds, minutes or hours") {
  const auto told = [](const char* text) { return replace(run_config{}, "steps_per_loop", text); };
  for (const char* text :
       {"5x", "2.5", "", "s", "1d", "1.5h", " 1", "+1", "9999999999999999h", "99999999999999999999"}) {
    CAPTURE(text);
    REQUIRE_FALSE(told(text));
    CHECK(told(text).error()
          == error{errc::invalid_argument,
                   "steps_per_loop must be a whole number of at least 1, or a time such as 90s, "
                   "2m or 1h, not '"
                       + std::string{text} + "'"});
  }
  for (const char* text : {"0", "-1"})
    CHECK(told(text).error().message == "steps_per_loop must be at least 1, not " + std::string{text});
  for (const char* text : {"0s", "-1h", "9999999999h"}) {
    REQUIRE_FALSE(told(text));
    CHECK(told(text).error().message.starts_with("steps_per_loop must be from 1 s to a hundred years, not "));
  }
  CHECK(told("90s")->steps_per_loop == loop_length{std::chrono::seconds{90}});
  CHECK(told("2m")->steps_per_loop == loop_length{std::chrono::seconds{120}});
  CHECK(told("1h")->steps_per_loop == loop_length{std::chrono::seconds{3600}});
  CHECK(told("4611686018427387904")->steps_per_loop == loop_length{int64_t{1} << 62});
  CHECK(option_text(told("2m")->steps_per_loop) == "120s");
  CHECK(refused({.steps_per_loop = std::chrono::minutes{2}}) == "");
  CHECK(refused({.steps_per_loop = std::chrono::seconds{0}})
        == "steps_per_loop must be from 1 s to a hundred years, not 0s");
}

TEST_CASE("a value that a field cannot have is refused, naming both") {
  CHECK(refused({.save_summary_steps = -1}) == "save_summary_steps must be at least 0, not -1");
  CHECK(refused({.save_checkpoints_steps = -5}) == "save_checkpoints_steps must be at least 0, not -5");
  CHECK(refused({.save_checkpoints_secs = -0.5}) == "save_checkpoints_secs must be at least 0, not -0.5");
  CHECK(refused({.save_checkpoints_secs = std::nan("")}) == "save_checkpoints_secs must be at least 0, not nan");
  CHECK(refused({.keep_checkpoint_max = -1}) == "keep_checkpoint_max must be at least 0, not -1");
  CHECK(refused({.keep_checkpoint_every_n_hours = 0}) == "keep_checkpoint_every_n_hours must be above 0, not 0");
  CHECK(refused({.log_step_count_steps = 0}) == "log_step_count_steps must be at least 1, not 0");
  CHECK(refused({.steps_per_loop = 0}) == "steps_per_loop must be at least 1, not 0");
  CHECK(refused({.save_checkpoints_secs = INFINITY}) == "save_checkpoints_secs must be finite, not inf");
  CHECK(refused({.replicas = 4294967297}) == "replicas must be in [1, 1024], not 4294967297");
  CHECK(refused({.replicas = 4294967298}) == "replicas must be in [1, 1024], not 4294967298");
  CHECK(refused({.intra_op_threads = 4294967297}) == "intra_op_threads must be in [0, 1024], not 4294967297");
  CHECK(refused({.replicas = 0}) == "replicas must be in [1, 1024], not 0");
  CHECK(refused({.save_summary_steps = 0, .keep_checkpoint_max = 0, .log_step_count_steps = std::nullopt}) == "");
}

TEST_CASE("[EST-4] numbers below the limits of their fields are refused") {
  CHECK(refused({.save_summary_steps = -1}) == "save_summary_steps must be at least 0, not -1");
  CHECK(refused({.keep_checkpoint_max = -1}) == "keep_checkpoint_max must be at least 0, not -1");
  CHECK(refused({.keep_checkpoint_every_n_hours = 0}) == "keep_checkpoint_every_n_hours must be above 0, not 0");
  CHECK(refused({.log_step_count_steps = 0}) == "log_step_count_steps must be at least 1, not 0");
  CHECK(refused({.session_creation_timeout_secs = 0})
        == "session_creation_timeout_secs must be in (0, 3000000000], not 0");
}

TEST_CASE("[EST-5] a protocol is grpc, grpc+verbs or none") {
  CHECK_FALSE(run_config{}.protocol);
  CHECK(replace(run_config{}, "protocol", "grpc")->protocol == cluster_protocol::grpc);
  const auto verbs = replace(run_config{}, "protocol", "grpc+verbs");
  REQUIRE(verbs);
  CHECK(verbs->protocol == cluster_protocol::grpc_verbs);
  CHECK_FALSE(replace(*verbs, "protocol", "none")->protocol);
  const auto http = replace(run_config{}, "protocol", "http");
  REQUIRE_FALSE(http);
  CHECK(http.error().category == errc::invalid_argument);
  CHECK(http.error().message == R"(protocol must be one of grpc, grpc+verbs, or "none", not 'http')");
}

TEST_CASE("waits and delays of a cluster are seconds in their ranges") {
  const run_config c;
  CHECK(c.session_creation_timeout_secs == 7200);
  CHECK(c.chief_wait_secs == 600);
  CHECK_FALSE(c.max_worker_delay_secs);
  CHECK(refused({.chief_wait_secs = 0, .max_worker_delay_secs = 0}) == "");
  CHECK(refused({.chief_wait_secs = -1}) == "chief_wait_secs must be in [0, 3000000000], not -1");
  CHECK(refused({.max_worker_delay_secs = -1}) == "max_worker_delay_secs must be in [0, 3000000000], not -1");
  CHECK_FALSE(replace(c, "max_worker_delay_secs", "2.5"));
}

TEST_CASE("the empty string is no directory") {
  CHECK(refused({.model_dir = ""}) == "model_dir must not be ''");
  CHECK(replace(run_config{}, "model_dir", "").error().message == "model_dir must not be ''");
}

TEST_CASE("a directory's name with a NUL is refused, since the system would take its beginning") {
  CHECK(refused({.model_dir = std::string{"runs/a\0b", 8}})
        == "model_dir must not have a NUL character, as 'runs/a?b' has");
}

TEST_CASE("gradient shards are a power of two that the replicas divide") {
  CHECK(refused({.gradient_shards = 4, .replicas = 2}) == "");
  CHECK(refused({.gradient_shards = 1}) == "");
  CHECK(refused({.gradient_shards = 6}) == "gradient_shards must be a power of two, not 6");
  CHECK(refused({.gradient_shards = 0}) == "gradient_shards must be in [1, 1048576], not 0");
  CHECK(refused({.gradient_shards = 4, .replicas = 3}) == "gradient_shards (4) must be a multiple of replicas (3)");
  CHECK(refused({.gradient_shards = int64_t{1} << 32}) == "gradient_shards must be in [1, 1048576], not 4294967296");
  CHECK(refused({.gradient_shards = 2, .replicas = 4}) == "gradient_shards (2) must be a multiple of replicas (4)");
}

}  // namespace troupe
